//! Which positions need an entry in the book, and which speak for themselves.

use crate::board::{Bitboard, Cell, Column, Position};
use crate::search::{Score, Tactics};

/// What becomes of a position while there is nothing to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SettledEntry {
    /// It is won or lost at once.
    Known(Score),
    /// Its score is that of this position, which has an entry, for the same side to move or for the other.
    Entry { position: Position, is_same_side: bool },
}

/// Follows forced moves within the first `plies` plies. The game goes on in `position`, which has no more stones.
pub(super) fn settle(position: &Position, plies: u32) -> SettledEntry {
    let variant = position.variant();
    let mut position = *position;
    let mut is_same_side = true;
    loop {
        let for_asker = |score: Score| SettledEntry::Known(if is_same_side { score } else { -score });
        match Tactics::of(&position) {
            Tactics::Win(_) => return for_asker(Score::win(variant, position.ply() + 1)),
            Tactics::Lost(_) => return for_asker(Score::loss(variant, position.ply() + 2)),
            Tactics::Safe(cells) if cells.count() == 1 && position.ply() < plies => {
                let cell = cells.cells(variant).next().expect("there is one");
                position = position.play_unchecked(cell.column());
                is_same_side = !is_same_side;
            }
            Tactics::Safe(_) => return SettledEntry::Entry { position, is_same_side },
        }
    }
}

/// Whether the position has an entry of its own in a book of `plies` plies.
pub(super) fn is_entry(position: &Position, plies: u32) -> bool {
    matches!(settle(position, plies), SettledEntry::Entry { position: entry, is_same_side: _ } if entry == *position)
}

/// Whether there is something to choose: no win at hand, none of the opponent's to parry, and two columns or more that
/// do not lose at once. The game goes on in `position`.
pub fn is_quiet(position: &Position) -> bool {
    match Tactics::of(position) {
        Tactics::Win(_) | Tactics::Lost(_) => false,
        Tactics::Safe(cells) => cells.count() > 1,
    }
}

/// Whether the sides, playing in turns, can put the stones there. For positions of few stones: tries all orders.
pub(super) fn is_reachable(position: &Position) -> bool {
    let stones_of_mover = position.ply() / 2;
    position.mine().count() == stones_of_mover && can_be_taken_apart(*position)
}

fn can_be_taken_apart(position: Position) -> bool {
    position.ply() == 0
        || last_moves(&position).any(|column| can_be_taken_apart(position.take_back_unchecked(column)))
}

/// The columns whose topmost stone is of the side that moved last.
fn last_moves(position: &Position) -> impl Iterator<Item = Column> {
    let (variant, theirs) = (position.variant(), position.theirs());
    // A stone is topmost if the cell above it is the lowest free one of its column, or the guard of a full column.
    let above = position.mask().tops(Bitboard::bottom_row(variant));
    let tops = Bitboard::from_bits(above.bits() >> 1) & theirs;
    tops.cells(variant).map(Cell::column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Variant;
    use crate::game::Game;
    use crate::notation::board42;
    use crate::openings;

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    #[test]
    fn wins_and_losses_at_hand_are_known() {
        let win = Score::win(Variant::STANDARD, 7);
        assert_eq!(settle(&position("121212"), 8), SettledEntry::Known(win));
        let lost = Score::loss(Variant::STANDARD, 7); // three in the middle, open on both sides
        assert_eq!(settle(&position("31415"), 8), SettledEntry::Known(lost));
    }

    #[test]
    fn forced_replies_are_followed_up_to_the_last_ply() {
        let forced = position("12131");
        assert_eq!(
            settle(&position("12121"), 8),
            SettledEntry::Entry { position: position("121211"), is_same_side: false }
        );
        assert_eq!(
            settle(&position("12121"), 5),
            SettledEntry::Entry { position: position("12121"), is_same_side: true }
        );
        assert!(!is_entry(&forced, 8) && is_entry(&forced, 5));
    }

    #[test]
    fn entries_are_as_many_as_others_have_counted() {
        // The positions of 8 plies without a win and without a forced move are those of the UCI data set Connect-4.
        let free = |ply| {
            let openings = openings::enumerate(Variant::STANDARD, ply);
            let games = openings.iter().map(|opening| opening.game(Variant::STANDARD).unwrap());
            games.filter(|game| is_quiet(game.position())).count()
        };
        assert_eq!([free(0), free(4), free(6), free(8)], [1, 568, 7120, 67_557]);
    }

    #[test]
    fn stones_that_no_game_puts_there_are_told_apart() {
        let board = |stones: &str| board42::parse(stones, board42::RowOrder::Bottom).unwrap();
        assert!(is_reachable(&position("44353")));
        assert!(is_reachable(&Position::new(Variant::STANDARD)));
        assert!(is_reachable(&position("11111122")));
        assert!(!is_reachable(&board("Y")), "the side to move has one stone, the other none");
        assert!(!is_reachable(&board("R      Y")), "two stones on each other, the second side's below");
    }
}
