//! Games of bots against themselves, from which they learn.

use fourfold_engine::{BySide, Column, Position, Side, Variant};

/// Plays a game from the empty board and returns the winner, `None` for a draw. Each side's function names a
/// legal column.
pub(crate) fn play(variant: Variant, mut choose: BySide<impl FnMut(&Position) -> Column>) -> Option<Side> {
    play_by(variant, |position| choose[position.side_to_move()](position))
}

/// The same with one function for both sides.
pub(crate) fn play_by(variant: Variant, mut choose: impl FnMut(&Position) -> Column) -> Option<Side> {
    let mut position = Position::new(variant);
    loop {
        if let Some(outcome) = position.outcome() {
            return outcome.winner();
        }
        position = position.play_unchecked(choose(&position));
    }
}
