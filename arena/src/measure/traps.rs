//! What a bot makes of opponents that err: games against those of the [`ladder`](super::ladder), judged by the exact
//! solver.
//!
//! Who plays well wins against them anyhow; who sets traps makes them fail more often than they do by themselves. How
//! often that is, [`usual`] says: in the [`decisions`] that ship, which nobody has set them.

use std::sync::atomic::AtomicBool;

use fourfold_bots::{BotError, registry};
use fourfold_engine::openings::Opening;
use fourfold_engine::review::{Decisions, Encounter, Judge};
use fourfold_engine::solver::{SearchLimits, Unsolved};
use fourfold_engine::{Column, Game, Position, Side, SideResult, Variant};

use super::decisions;
use super::ladder::OPPONENTS;
use crate::suite::{Orientation, Suite, SuiteError};

/// In how many of the decisions that ship each of the opponents fails. A test lets them decide again.
const USUAL_FAILURES: [u64; OPPONENTS.len()] = [231, 176, 146, 127];

/// How often each of the opponents fails by itself.
pub fn usual() -> [Decisions; OPPONENTS.len()] {
    let faced = decisions::shipped().len() as u64;
    USUAL_FAILURES.map(|failed| Decisions { faced, failed })
}

/// The openings of so many pairs of games.
///
/// # Errors
///
/// There are none, which a test rules out.
pub fn openings(pairs: u64, seed: u64) -> Result<Vec<Opening>, SuiteError> {
    let suite = Suite::balanced(Variant::STANDARD)?;
    Ok((0..pairs).map(|pair| suite.draw(seed, Orientation::Drawn, pair)).collect())
}

/// A game, as whoever is measured sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrapGame {
    pub result: SideResult,
    /// Stones on the board at its end.
    pub stones: u32,
    /// What the opponent had to decide in it.
    pub faced: Decisions,
}

impl TrapGame {
    /// Adds it to what is known of the games against the same opponent.
    pub fn add_to(&self, encounter: &mut Encounter) {
        encounter.score.count(self.result);
        if self.result == SideResult::Win {
            encounter.stones_of_wins += u64::from(self.stones);
        }
        encounter.faced.add(self.faced);
    }
}

/// No games yet against one of the opponents, with what it does by itself.
pub fn encounters() -> [Encounter; OPPONENTS.len()] {
    usual().map(|elsewhere| Encounter { elsewhere, ..Encounter::default() })
}

/// Plays a game from an opening against one of the [`OPPONENTS`], by its place among them, and judges the moves of that
/// one. Whoever is measured has `side`; `choose` asks for its moves. `None` if it is told to stop.
///
/// # Errors
///
/// A bot failed, or played what is not legal.
///
/// # Panics
///
/// Panics if there are not so many opponents, or the opening is not one of a game that goes on.
pub fn play(
    opponent: usize,
    opening: &Opening,
    side: Side,
    judge: &mut Judge,
    stop: &AtomicBool,
    choose: impl FnMut(&Position) -> Result<Column, BotError>,
) -> Result<Option<TrapGame>, BotError> {
    let mut opponent = registry::build(&super::spec(OPPONENTS[opponent]), Variant::STANDARD)?;
    let mut game = Game::new(Variant::STANDARD);
    for &column in opening.moves() {
        game.play(column).expect("the suite's openings are legal, and nobody has won in them");
    }
    let result = super::play_out(&mut game, side, &mut *opponent, stop, choose)?;
    let stones = game.ply();
    let from = u32::try_from(opening.moves().len()).unwrap_or(u32::MAX);
    // Without a limit by nodes, only who is told to stop is not judged.
    let faced = decided(game, from, side.opponent(), judge, stop).ok();
    Ok(faced.map(|faced| TrapGame { result, stones, faced }))
}

/// What a side had to decide in a game from a ply on. Only who wins is asked for, which is less work than scores, and
/// the last position first: what is found out there helps before.
fn decided(
    mut game: Game,
    from: u32,
    side: Side,
    judge: &mut Judge,
    stop: &AtomicBool,
) -> Result<Decisions, Unsolved> {
    let limits = SearchLimits { nodes: None, stop };
    let mut decisions = Decisions::default();
    let mut after = -judge.value(game.position(), limits)?.value;
    while game.ply() > from {
        game.undo();
        let position = game.position();
        let before = judge.value(position, limits)?.value;
        if position.side_to_move() == side {
            let is_failed = after != before;
            let is_faced = is_failed || judge.has_mistake(position, before, limits)?.value;
            decisions.add(Decisions { faced: is_faced.into(), failed: is_failed.into() });
        }
        after = -before;
    }
    Ok(decisions)
}

#[cfg(test)]
mod tests {
    use fourfold_bots::{Bot, MoveBudget};
    use fourfold_engine::solver::Solver;

    use super::*;
    use crate::measure::solved::SolvedPosition;

    fn bot(spec: &str) -> Box<dyn Bot> {
        registry::build(&spec.parse().unwrap(), Variant::STANDARD).unwrap()
    }

    fn trap_game(spec: &str, opponent: usize, side: Side) -> TrapGame {
        let (mut judge, mut bot) = (Judge::new(Solver::new()), bot(spec));
        let stop = AtomicBool::new(false);
        let opening = &openings(1, 1).unwrap()[0];
        let choose = |position: &Position| Ok(bot.choose(position, MoveBudget::default(), &stop)?.column);
        play(opponent, opening, side, &mut judge, &stop, choose).unwrap().unwrap()
    }

    /// In how many of the decisions that ship a bot fails.
    fn failures(mut bot: Box<dyn Bot>) -> u64 {
        let stop = AtomicBool::new(false);
        let mut fails = |decision: &&SolvedPosition| {
            let choice = bot.choose(decision.position(), MoveBudget::default(), &stop).unwrap();
            !decision.is_good(choice.column)
        };
        decisions::shipped().iter().filter(|decision| fails(decision)).count() as u64
    }

    #[test]
    fn opponents_fail_by_themselves_as_often_as_is_written() {
        let failed = OPPONENTS.map(|opponent| failures(bot(opponent)));
        assert_eq!(failed, USUAL_FAILURES);
    }

    #[test]
    fn what_was_decided_is_what_a_review_says() {
        let (mut judge, stop) = (Judge::new(Solver::new()), AtomicBool::new(false));
        for moves in ["557152711624545746362464762234657", "331736177264343142526424126654"] {
            let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
            let review = judge.review(&game, 8, SearchLimits { nodes: None, stop: &stop }).unwrap().value;
            for side in Side::BOTH {
                let found = decided(game.clone(), 8, side, &mut judge, &stop).unwrap();
                assert_eq!(found, review.skill()[side].decided(), "{moves} {side:?}");
            }
        }
    }

    #[test]
    fn whoever_loses_to_the_perfect_player_has_failed_in_a_decision() {
        let mut encounter = encounters()[0];
        for side in Side::BOTH {
            let game = trap_game("perfect", 0, side);
            assert_eq!(game.result, SideResult::Win, "a draw is given away within two plies' sight");
            assert!(game.faced.failed > 0 && game.faced.failed <= game.faced.faced, "{game:?}");
            assert_eq!(game, trap_game("perfect", 0, side), "it repeats");
            game.add_to(&mut encounter);
        }
        assert_eq!((encounter.score.wins, encounter.elsewhere), (2, usual()[0]));
        assert!(encounter.stones_of_wins >= 2 * 11, "{encounter:?}");
    }

    #[test]
    fn a_game_that_was_lost_says_nothing_of_how_fast_one_wins() {
        let mut encounter = encounters()[3];
        let game = trap_game("stupid", 3, Side::First);
        assert_eq!(game.result, SideResult::Loss);
        game.add_to(&mut encounter);
        assert_eq!((encounter.score.losses, encounter.stones_of_wins), (1, 0));
    }

    #[test]
    fn whoever_is_told_to_stop_has_no_game() {
        let (mut judge, stop) = (Judge::without_book(Solver::new()), AtomicBool::new(false));
        let opening = &openings(1, 1).unwrap()[0];
        let choose = |position: &Position| {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            position.legal_columns().next().ok_or(BotError::GameOver)
        };
        assert_eq!(play(0, opening, Side::First, &mut judge, &stop, choose).unwrap(), None);
    }
}
