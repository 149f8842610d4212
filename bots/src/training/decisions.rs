//! How often a bot finds the right move where there is a wrong one: the exact measure of a run.

use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::search::SearchLimits;
use fourfold_engine::solver::Solver;
use fourfold_engine::{Column, Position, Variant};
use rand::RngExt;

use super::probe;
use crate::bot::{Bot, BotError};

/// Stones on the board, at least: with fewer, some positions take seconds to solve.
const STONES_MIN: u32 = 12;
/// And at most, so that there is something left to decide.
const STONES_MAX: u32 = 34;

/// Positions of random games on 7x6 in which some moves keep what the position is worth (win, draw or loss) and others
/// throw it away, solved once.
#[derive(Clone, Debug)]
pub struct Decisions {
    positions: Vec<(Position, Vec<Column>)>,
}

impl Decisions {
    /// Draws and solves so many positions: some milliseconds each. Equal arguments give equal positions. Who is told to
    /// `stop` has fewer.
    pub fn draw(count: usize, seed: u64, stop: &AtomicBool) -> Self {
        let mut rng = rng::seeded(seed);
        let mut solver = Solver::new();
        let mut positions = Vec::new();
        while positions.len() < count && !stop.load(Ordering::Relaxed) {
            let position = random_position(&mut rng);
            positions.extend(position.and_then(|position| decision(position, &mut solver, stop)));
        }
        Self { positions }
    }

    /// The share of positions in which a bot keeps what it has, from 0 to 1. `None` without positions. Once `stop` is
    /// true the share is worth nothing.
    ///
    /// # Errors
    ///
    /// Fails if the bot is broken.
    pub fn rate(&self, bot: &mut dyn Bot, stop: &AtomicBool) -> Result<Option<f64>, BotError> {
        let mut kept: u32 = 0;
        for (position, good) in self.positions.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            kept += u32::from(good.contains(&probe::choose(bot, position, stop)?));
        }
        let count = u32::try_from(self.positions.len()).unwrap_or(u32::MAX);
        Ok((count > 0).then(|| f64::from(kept) / f64::from(count)))
    }
}

/// A position of a random game that is not over.
fn random_position(rng: &mut GameRng) -> Option<Position> {
    let mut position = Position::new(Variant::STANDARD);
    for _ in 0..rng.random_range(STONES_MIN..=STONES_MAX) {
        let legal: Vec<Column> = position.legal_columns().collect();
        position = position.play_unchecked(*legal.get(rng.random_range(0..legal.len().max(1)))?);
    }
    position.outcome().is_none().then_some(position)
}

/// The columns that keep the position's value, if others do not.
fn decision(position: Position, solver: &mut Solver, stop: &AtomicBool) -> Option<(Position, Vec<Column>)> {
    let limits = SearchLimits { nodes: None, stop };
    let value = |column| Some((column, -solver.value(&position.play_unchecked(column), limits).ok()?.value));
    let values: Vec<_> = position.legal_columns().map(value).collect::<Option<_>>()?;
    let best = values.iter().map(|&(_, value)| value).max()?;
    let good: Vec<Column> =
        values.iter().filter(|&&(_, value)| value == best).map(|&(column, _)| column).collect();
    (good.len() < values.len()).then_some((position, good))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn rate(decisions: &Decisions, spec: &str) -> f64 {
        let mut bot = registry::build(&spec.parse().unwrap(), Variant::STANDARD).unwrap();
        decisions.rate(bot.as_mut(), &NEVER).unwrap().unwrap()
    }

    #[test]
    fn who_looks_further_ahead_throws_less_away() {
        let decisions = Decisions::draw(150, 7, &NEVER);
        let [random, two, eight] =
            ["random", "negamax:depth=2", "negamax:depth=8"].map(|spec| rate(&decisions, spec));
        // Most decisions of random games are to win at once or to parry, with one right column of about six.
        assert!((0.15..0.4).contains(&random) && two > 0.7 && eight >= two, "{random} {two} {eight}");
    }

    #[test]
    fn who_is_told_to_stop_draws_and_answers_no_more() {
        let told = AtomicBool::new(true);
        assert!(Decisions::draw(usize::MAX, 1, &told).positions.is_empty());
        let decisions = Decisions::draw(5, 8, &NEVER);
        let mut bot = registry::build(&"perfect".parse().unwrap(), Variant::STANDARD).unwrap();
        assert_eq!(decisions.rate(bot.as_mut(), &told).unwrap(), Some(0.0), "it was asked nothing");
    }

    #[test]
    fn the_solver_itself_throws_nothing_away() {
        let decisions = Decisions::draw(20, 8, &NEVER);
        for (position, good) in &decisions.positions {
            let scores = Solver::new()
                .column_scores(position, SearchLimits { nodes: None, stop: &AtomicBool::new(false) })
                .unwrap()
                .value;
            assert!(scores.best_columns().all(|column| good.contains(&column)));
            assert!(good.len() < scores.iter().count());
        }
    }
}
