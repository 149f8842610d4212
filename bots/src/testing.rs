//! What the unit tests of several bots need.

use std::sync::atomic::AtomicBool;

use fourfold_engine::{Game, Variant};

use crate::bot::{Bot, MoveBudget};

/// Checks the column, counted from 1, that a bot plays on 7x6 after these moves.
#[track_caller]
pub(crate) fn check_choice(bot: &mut dyn Bot, moves: &str, expected: u8) {
    let game = Game::from_moves(Variant::STANDARD, moves).expect("a legal game");
    let choice = bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false));
    assert_eq!(choice.expect("the game goes on").column.number(), expected);
}
