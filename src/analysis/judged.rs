//! Every move of a game judged by the exact solver.

use std::sync::atomic::AtomicBool;

use fourfold_engine::review::{Judge, Review};
use fourfold_engine::solver::{ColumnScores, SearchLimits};
use fourfold_engine::{Game, Position};

use crate::analysis::values::is_beyond_reach;

/// Positions that the solver may expand for one game: a few seconds of one thread. Games on the standard board take a
/// third of a second on average, so this ends only what begins where nobody can solve it.
const NODES_MAX: u64 = 20_000_000;

/// A game judged move by move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Judged {
    pub(crate) game: Game,
    /// Plies before the first move that was judged: the opening is nobody's merit.
    pub(crate) from_ply: u32,
    /// The scores of all columns before each move from there on.
    pub(crate) scores: Vec<ColumnScores>,
    pub(crate) review: Review,
}

/// Judges the moves of a game after the first `opening` ones. `None` if its positions are too hard, or `stop` is set.
pub(crate) fn judge_moves(game: Game, opening: u32, judge: &mut Judge, stop: &AtomicBool) -> Option<Judged> {
    let from_ply = opening.min(game.ply());
    if is_too_hard(&game, from_ply, judge) {
        return None;
    }
    let limits = SearchLimits { nodes: Some(NODES_MAX), stop };
    let scores = judge.scores(&game, from_ply, limits).ok()?.value;
    let review = Review::from_ply(&game, from_ply, &scores);
    Some(Judged { game, from_ply, scores, review })
}

/// Whether the first position that is to be judged is beyond the book and the solver; then the game is not begun.
fn is_too_hard(game: &Game, from_ply: u32, judge: &Judge) -> bool {
    let mut position = Position::new(game.variant());
    let played = game.moves().iter().copied();
    for (_, column) in (0..from_ply).zip(played) {
        position = position.play_unchecked(column);
    }
    game.ply() > from_ply && is_beyond_reach(&position) && judge.known_columns(&position).is_none()
}
