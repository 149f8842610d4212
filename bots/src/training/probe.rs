//! How strong a bot is right now: its score against opponents that never change.

use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_engine::{
    BySide, Column, Game, Position, Side, SideResult, Variant, WinDrawLoss, openings, rng,
};
use rand::RngExt;

use crate::bot::{Bot, BotError, MoveBudget};
use crate::registry;
use crate::spec::BotSpec;

/// Nodes or playouts a move, never time, so that a probe repeats: enough for the usual settings of bots that
/// have a depth.
const NODES: u64 = 20_000;

/// One opponent, a number of games and a seed, which together give the same games every time.
#[derive(Clone, Debug)]
pub struct Probe<'a> {
    pub opponent: &'a BotSpec,
    /// Two games of a pair begin from the same balanced opening of four plies, one with each side.
    pub games: u32,
    pub seed: u64,
}

impl Probe<'_> {
    /// Plays the games on 7x6 and counts them for `candidate`, which builds the bot with a seed, anew for every
    /// game. Once `stop` is true no other game is begun, and what was counted is worth nothing.
    ///
    /// # Errors
    ///
    /// Fails if there is no such opponent or one of the bots is broken.
    pub fn play(
        &self,
        candidate: impl Fn(u64) -> Box<dyn Bot>,
        stop: &AtomicBool,
    ) -> Result<WinDrawLoss, BotError> {
        let mut score = WinDrawLoss::default();
        for number in (0..self.games).take_while(|_| !stop.load(Ordering::Relaxed)) {
            self.play_one(number, &candidate, stop, &mut score)?;
        }
        Ok(score)
    }

    fn play_one(
        &self,
        number: u32,
        candidate: &impl Fn(u64) -> Box<dyn Bot>,
        stop: &AtomicBool,
        score: &mut WinDrawLoss,
    ) -> Result<(), BotError> {
        let mut seeds = rng::seeded_stream(self.seed, number.into());
        let side = Side::BOTH[(number % 2) as usize];
        let opponent = self.opponent.clone().with_default_seed(seeds.random());
        let candidate = candidate(seeds.random());
        let opponent = registry::build(&opponent, Variant::STANDARD)?;
        let mut bots = match side {
            Side::First => BySide { first: candidate, second: opponent },
            Side::Second => BySide { first: opponent, second: candidate },
        };
        let opening = openings::draw(Variant::STANDARD, self.seed, u64::from(number / 2));
        let opening = opening.expect("7x6 has balanced openings").game(Variant::STANDARD);
        score.count(SideResult::of(side, play_on(&mut bots, opening.expect("openings are legal"), stop)?));
        Ok(())
    }
}

/// What a bot plays with the effort that probes allow.
pub(super) fn choose(bot: &mut dyn Bot, position: &Position, stop: &AtomicBool) -> Result<Column, BotError> {
    let budget = MoveBudget { nodes: Some(NODES), time: None };
    Ok(bot.choose(position, budget, stop)?.column)
}

/// Plays a game to its end and returns the winner.
fn play_on(
    bots: &mut BySide<Box<dyn Bot>>,
    mut game: Game,
    stop: &AtomicBool,
) -> Result<Option<Side>, BotError> {
    loop {
        if let Some(outcome) = game.outcome() {
            return Ok(outcome.winner());
        }
        let side = game.position().side_to_move();
        let column = choose(bots[side].as_mut(), game.position(), stop)?;
        let illegal = |_| BotError::Broken { bot: "a bot", reason: format!("it chose column {column}") };
        game.play(column).map_err(illegal)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(candidate: &str, opponent: &str, games: u32, seed: u64) -> WinDrawLoss {
        let (candidate, opponent): (BotSpec, BotSpec) =
            (candidate.parse().unwrap(), opponent.parse().unwrap());
        let build =
            |seed| registry::build(&candidate.clone().with_default_seed(seed), Variant::STANDARD).unwrap();
        Probe { opponent: &opponent, games, seed }.play(build, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn the_better_bot_scores_more_from_either_view() {
        let (one, other) = (probe("negamax", "random", 40, 1), probe("random", "negamax", 40, 1));
        assert!(one.wins >= 38 && other.losses >= 38, "{one:?}, {other:?}");
        assert_eq!(one.games(), 40);
    }

    #[test]
    fn who_is_told_to_stop_begins_no_other_game() {
        let random: BotSpec = "random".parse().unwrap();
        let build = |_| registry::build(&random, Variant::STANDARD).unwrap();
        let probe = Probe { opponent: &random, games: u32::MAX, seed: 1 };
        assert_eq!(probe.play(build, &AtomicBool::new(true)).unwrap(), WinDrawLoss::default());
    }

    #[test]
    fn a_seed_repeats_a_probe() {
        assert_eq!(probe("random", "random", 50, 3), probe("random", "random", 50, 3));
        assert_ne!(probe("random", "random", 50, 3), probe("random", "random", 50, 4));
    }

    #[test]
    fn equal_bots_that_do_not_draw_share_every_pair() {
        let WinDrawLoss { wins, draws: _, losses } = probe("negamax:depth=2", "negamax:depth=2", 30, 5);
        assert_eq!(wins, losses);
    }
}
