//! Exact skill: what a bot plays, held against the solver.
//!
//! Two questions, neither of which depends on who else takes part: how often does a bot keep the value of a position
//! from real play, and how many points does it make against the perfect player? The positions are those by which
//! learners are compared: plies 10 to 27, no win at hand, half of them from random games, half from games of a bot that
//! looks three plies ahead and errs now and then.
//!
//! [`decisions`] are such positions solved beforehand, to measure at once where there is no time for the solver;
//! [`classes`] are others, by how far the game has come. The [`ladder`] is of opponents that err but never change.

pub mod classes;
pub mod decisions;
pub mod ladder;
pub mod solved;
pub mod subject;
pub mod traps;

use std::sync::atomic::AtomicBool;

use fourfold_bots::{Bot, BotError, BotSpec, MoveBudget, registry};
use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::{Column, Game, Position, Side, SideResult, Variant};
use rand::RngExt;
use rand::seq::IteratorRandom;

/// Stones on the board of the positions, at least and at most.
pub const PLIES: (u32, u32) = (10, 27);

/// Who plays the games that are not random.
const PLAYER: &str = "negamax:depth=3";

/// How often that one errs.
const ERROR_RATE: f64 = 0.25;

/// Positions from games on the 7x6 board; equal seeds give equal ones.
///
/// # Panics
///
/// Never: the bot that plays them is in the registry.
pub fn positions(count: u32, seed: u64) -> Vec<Position> {
    games(count, seed).iter().map(|game| *game.position()).collect()
}

/// The same with the moves that led there.
///
/// # Panics
///
/// As [`positions`].
pub fn games(count: u32, seed: u64) -> Vec<Game> {
    let mut player = registry::build(&spec(PLAYER), Variant::STANDARD).expect("the bot is in the registry");
    let mut rng = rng::seeded(seed);
    let mut games = Vec::with_capacity(count as usize);
    while games.len() < count as usize {
        let is_random = games.len() % 2 == 0;
        games.extend(game(&mut *player, if is_random { 1.0 } else { ERROR_RATE }, &mut rng));
    }
    games
}

/// A game up to some ply; `None` if it was over before, or is won at once.
fn game(player: &mut dyn Bot, error_rate: f64, rng: &mut GameRng) -> Option<Game> {
    let ply = rng.random_range(PLIES.0..=PLIES.1);
    let mut game = Game::new(Variant::STANDARD);
    while game.ply() < ply {
        let column = if rng.random_bool(error_rate) {
            game.position().legal_columns().choose(rng)?
        } else {
            player.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false)).ok()?.column
        };
        game.play(column).ok()?;
    }
    let is_open = game.outcome().is_none() && game.position().winning_columns().next().is_none();
    is_open.then_some(game)
}

/// Plays a game from the empty board against the perfect player, in which the bot has `side`; `choose` asks it for its
/// moves. Returns its points: 1 for a win, a half for a draw.
///
/// # Errors
///
/// A bot failed, or played what is not legal.
pub fn points_against_perfect(
    side: Side,
    seed: u64,
    stop: &AtomicBool,
    choose: impl FnMut(&Position) -> Result<Column, BotError>,
) -> Result<f64, BotError> {
    let mut perfect = registry::build(&spec("perfect").with("seed", seed), Variant::STANDARD)?;
    let mut game = Game::new(Variant::STANDARD);
    Ok(match play_out(&mut game, side, &mut *perfect, stop, choose)? {
        SideResult::Win => 1.0,
        SideResult::Draw => 0.5,
        SideResult::Loss => 0.0,
    })
}

/// Plays a game to its end: `choose` is asked for the moves of `side`, `opponent` for the others. Returns what it came
/// to for `side`.
///
/// # Errors
///
/// A bot failed, or played what is not legal.
fn play_out(
    game: &mut Game,
    side: Side,
    opponent: &mut dyn Bot,
    stop: &AtomicBool,
    mut choose: impl FnMut(&Position) -> Result<Column, BotError>,
) -> Result<SideResult, BotError> {
    loop {
        let column = if game.position().side_to_move() == side {
            choose(game.position())?
        } else {
            opponent.choose(game.position(), MoveBudget::default(), stop)?.column
        };
        let illegal =
            |error: fourfold_engine::IllegalMove| BotError::Broken { bot: "bot", reason: error.to_string() };
        if let Some(outcome) = game.play(column).map_err(illegal)? {
            return Ok(SideResult::of(side, outcome.winner()));
        }
    }
}

fn spec(text: &str) -> BotSpec {
    text.parse().expect("the text is a bot")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_of_the_middle_of_the_game_and_repeat() {
        let sample = positions(60, 7);
        assert_eq!(sample.len(), 60);
        assert_eq!(sample, positions(60, 7));
        assert_ne!(sample, positions(60, 8));
        for position in &sample {
            assert!((PLIES.0..=PLIES.1).contains(&position.ply()), "{position:?}");
            assert_eq!(position.winning_columns().count(), 0);
            assert_eq!(position.outcome(), None);
        }
    }

    #[test]
    fn whoever_plays_leftmost_loses_to_the_perfect_player() {
        let stop = AtomicBool::new(false);
        let leftmost = |position: &Position| position.legal_columns().next().ok_or(BotError::GameOver);
        assert_eq!(points_against_perfect(Side::Second, 1, &stop, leftmost), Ok(0.0));
    }

    #[test]
    fn an_illegal_move_ends_the_measuring() {
        let stop = AtomicBool::new(false);
        let column = Column::from_number(9).unwrap();
        let points = points_against_perfect(Side::First, 1, &stop, |_| Ok(column));
        let error = points.unwrap_err().to_string();
        assert_eq!(error, "bot is broken: column 9 is not on a board of 7 columns");
    }
}
