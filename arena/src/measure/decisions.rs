//! Decisions: positions in which some move keeps the result and another throws it away, solved beforehand.
//!
//! The solver takes minutes for a thousand positions, a learner's answer takes microseconds. So the positions come with
//! the program, and each version of a learner is measured in a moment. They are [`super::games`] of [`SEED`], as
//! `cargo run --example decisions` writes them: nobody trains on that seed or chooses by it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_bots::{Bot, BotError, MoveBudget};
use fourfold_engine::Game;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::Solver;

use super::solved::SolvedPosition;

/// Draws the positions that ship with the program.
pub const SEED: u64 = 2004;

/// The positions that ship with the program: a line of moves, and the columns that keep the result.
static SHIPPED: &str = include_str!("../../data/decisions.txt");

/// Nodes of a bot that would otherwise search for as long as it may.
const NODES: u64 = 20_000;

/// The decisions that ship with the program, about a thousand.
///
/// # Panics
///
/// Panics if the program was built with a broken file, which a test rules out.
pub fn shipped() -> &'static [SolvedPosition] {
    static DECISIONS: OnceLock<Vec<SolvedPosition>> = OnceLock::new();
    DECISIONS.get_or_init(|| {
        let lines = SHIPPED.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| SolvedPosition::parse(line).expect("the file is part of the program and was tested"))
            .collect()
    })
}

/// The share of decisions, in thousandths, in which a bot keeps the result. `None` if it is told to stop, or there are
/// no decisions.
///
/// # Errors
///
/// The bot is broken.
pub fn rate(
    decisions: &[SolvedPosition],
    bot: &mut dyn Bot,
    stop: &AtomicBool,
) -> Result<Option<u16>, BotError> {
    let budget = MoveBudget { nodes: Some(NODES), time: None };
    let mut kept = 0;
    for decision in decisions {
        let choice = bot.choose(decision.position(), budget, stop)?;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        kept += usize::from(decision.is_good(choice.column));
    }
    let thousandths = (kept * 1_000 + decisions.len() / 2).checked_div(decisions.len());
    Ok(thousandths.and_then(|thousandths| u16::try_from(thousandths).ok()))
}

/// The decisions among so many games of [`SEED`], with their games.
pub fn draw(games: u32) -> Vec<(Game, SolvedPosition)> {
    let mut judge = Judge::new(Solver::new());
    let games = super::games(games, SEED).into_iter();
    let solved =
        games.filter_map(|game| SolvedPosition::solve(&game, &mut judge).map(|solved| (game, solved)));
    solved.filter(|(_, solved)| solved.is_decision()).collect()
}

#[cfg(test)]
mod tests {
    use fourfold_bots::registry;
    use fourfold_engine::Variant;

    use super::*;

    fn rated(spec: &str) -> u16 {
        let mut bot = registry::build(&spec.parse().unwrap(), Variant::STANDARD).unwrap();
        rate(shipped(), bot.as_mut(), &AtomicBool::new(false)).unwrap().unwrap()
    }

    #[test]
    fn what_ships_is_what_the_solver_says() {
        let games = 40;
        let drawn = draw(games);
        let known = &shipped()[..drawn.len()];
        for ((game, decision), known) in drawn.iter().zip(known) {
            assert_eq!(decision, known, "{}", game.notation());
            assert_eq!(SolvedPosition::parse(&decision.line(game)).as_ref(), Some(known));
        }
        assert!(drawn.len() > 10 && shipped().len() > 900, "{} {}", drawn.len(), shipped().len());
    }

    #[test]
    fn the_stronger_the_more_is_kept() {
        let [random, one, four] = ["random", "negamax:depth=1", "negamax:depth=4"].map(rated);
        assert!((300..420).contains(&random) && random + 100 < one && one < four, "{random} {one} {four}");
    }

    #[test]
    fn whoever_is_told_to_stop_has_no_figure() {
        let mut bot = registry::build(&"random".parse().unwrap(), Variant::STANDARD).unwrap();
        assert_eq!(rate(shipped(), bot.as_mut(), &AtomicBool::new(true)), Ok(None));
        assert_eq!(rate(&[], bot.as_mut(), &AtomicBool::new(false)), Ok(None));
    }
}
