//! Cells that would complete a line.

use crate::board::{Bitboard, Cell, Column, Direction, Position, Variant};

/// The empty cells, playable or not, with which `own` would have a line.
#[inline]
pub fn winning_cells(own: Bitboard, mask: Bitboard, variant: Variant) -> Bitboard {
    // With the variant known the compiler folds all strides, which makes it several times as fast.
    if variant == Variant::STANDARD {
        winning_cells_folded(own, mask, Variant::STANDARD)
    } else {
        winning_cells_folded(own, mask, variant)
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the strides are folded only where the variant is a constant")]
fn winning_cells_folded(own: Bitboard, mask: Bitboard, variant: Variant) -> Bitboard {
    let mut completing = 0;
    for direction in Direction::ALL {
        let stride = direction.stride(variant);
        for gap in 0..u32::from(variant.connect()) {
            // Starts of lines with all their stones but the one at the gap. The guards keep the stones of a
            // line together; where only the gap is off the board, the last step drops it.
            let mut starts = u64::MAX;
            for step in (0..u32::from(variant.connect())).filter(|&step| step != gap) {
                starts &= own.bits().unbounded_shr(step * stride);
            }
            completing |= starts.unbounded_shl(gap * stride);
        }
    }
    Bitboard::from_bits(completing) & Bitboard::full(variant).without(mask)
}

/// The cells in which the side to move would land below a cell with which the opponent wins.
#[inline]
pub(super) fn cells_below(cells: Bitboard) -> Bitboard {
    // A column's lowest cell goes to the guard of the column before, where nothing lands.
    Bitboard::from_bits(cells.bits() >> 1)
}

/// What the next two plies hold for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tactics {
    /// A stone in this column wins.
    Win(Column),
    /// The opponent wins with his next stone, whatever is played. The column is as good as any.
    Lost(Column),
    /// Stones in these cells, one or more, do not let the opponent win with his next stone; all others do.
    Safe(Bitboard),
}

impl Tactics {
    /// Looks at a position in which the game goes on.
    ///
    /// # Panics
    ///
    /// Panics if the board is full.
    #[inline]
    pub fn of(position: &Position) -> Self {
        let (mask, variant, playable) = (position.mask(), position.variant(), position.playable());
        let first_column = |cells: Bitboard| cells.cells(variant).next().map(Cell::column);
        if let Some(column) = first_column(winning_cells(position.mine(), mask, variant) & playable) {
            return Self::Win(column);
        }
        let threats = winning_cells(position.theirs(), mask, variant);
        let parries = threats & playable;
        let safe = playable.without(cells_below(threats));
        match parries.count() {
            0 if !safe.is_empty() => Self::Safe(safe),
            1 if !(parries & safe).is_empty() => Self::Safe(parries),
            0 => Self::Lost(first_column(playable).expect("the game goes on")),
            _ => Self::Lost(first_column(parries).expect("there are parries")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use crate::search::tests::random_position;

    const VARIANTS: [&str; 8] = ["7x6", "9x6", "8x7", "4x4x3", "9x6x5", "10x5", "4x15x8", "12x4x7"];

    #[test]
    fn winning_cells_are_those_with_which_there_is_a_line() {
        let mut rng = rng::seeded(11);
        for variant in VARIANTS {
            let variant: Variant = variant.parse().unwrap();
            for _ in 0..200 {
                let position = random_position(variant, &mut rng);
                let (mine, mask) = (position.mine(), position.mask());
                let empty = Bitboard::full(variant).without(mask);
                let winning = empty
                    .cells(variant)
                    .map(|cell| Bitboard::cell(cell, variant))
                    .filter(|&cell| (mine | cell).has_line(variant))
                    .fold(Bitboard::EMPTY, |set, cell| set | cell);
                assert_eq!(winning_cells(mine, mask, variant), winning, "{position:?}");
            }
        }
    }

    /// The opponent's next stone wins after the side to move plays `column`.
    fn is_answered_by_a_win(position: &Position, column: Column) -> bool {
        position.play_unchecked(column).winning_columns().next().is_some()
    }

    #[test]
    fn tactics_are_what_two_plies_of_play_show() {
        let mut rng = rng::seeded(12);
        let mut seen = [0; 3];
        for variant in VARIANTS {
            let variant: Variant = variant.parse().unwrap();
            for _ in 0..300 {
                let position = random_position(variant, &mut rng);
                if position.outcome().is_some() {
                    continue;
                }
                let safe: Bitboard = position
                    .legal_columns()
                    .filter(|&column| !is_answered_by_a_win(&position, column))
                    .filter_map(|column| position.landing_cell(column))
                    .fold(Bitboard::EMPTY, |set, cell| set | Bitboard::cell(cell, variant));
                match Tactics::of(&position) {
                    Tactics::Win(column) => {
                        seen[0] += 1;
                        assert_eq!(position.winning_columns().next(), Some(column));
                    }
                    Tactics::Lost(column) => {
                        seen[1] += 1;
                        assert!(safe.is_empty() && position.is_legal(column), "{position:?}");
                    }
                    Tactics::Safe(cells) => {
                        seen[2] += 1;
                        assert_eq!(cells, safe, "{position:?}");
                    }
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }
}
