//! Which column is searched first.

use rand::Rng;
use rand::seq::SliceRandom;

use super::guide::{Finding, Guide, Moves, Recalled};
use super::table::Table;
use super::threats::{Tactics, winning_cells};
use super::window::Window;
use crate::board::{Bitboard, Column, Position, Variant};

/// The columns of a board in a fixed order of search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnOrder {
    columns: Vec<Column>,
}

impl ColumnOrder {
    /// From left to right.
    pub fn ascending(variant: Variant) -> Self {
        Self { columns: variant.columns().collect() }
    }

    /// From the centre outwards, of two equally far the left one first: 4 3 5 2 6 1 7. More lines run through
    /// the centre, so good moves come early and cut off the rest.
    pub fn centre_first(variant: Variant) -> Self {
        let mut columns: Vec<Column> = variant.columns().collect();
        // Twice the distance from the centre, which lies between two columns if the width is even.
        columns.sort_by_key(|column| (2 * column.index() + 1).abs_diff(usize::from(variant.width())));
        Self { columns }
    }

    /// At random.
    pub fn shuffled(variant: Variant, rng: &mut impl Rng) -> Self {
        let mut columns: Vec<Column> = variant.columns().collect();
        columns.shuffle(rng);
        Self { columns }
    }

    /// The columns that are not full, in this order.
    pub fn open_columns(&self, position: &Position) -> impl Iterator<Item = Column> {
        self.columns.iter().copied().filter(|&column| position.is_open(column))
    }
}

/// The plain guide: every open column, always in this order.
impl Guide for ColumnOrder {
    #[inline]
    fn moves(&mut self, position: &Position, _depth: u32, _best_before: Option<Column>) -> Moves {
        self.open_columns(position).collect()
    }
}

/// The guide of strong searches: looks two plies ahead for wins, searches moves that make many threats first,
/// and remembers positions.
///
/// For valuations that count no win higher than one with the next stone, and no loss lower than one with the
/// opponent's next.
#[derive(Clone, Debug)]
pub struct ThreatGuide {
    order: ColumnOrder,
    pub table: Table,
}

impl ThreatGuide {
    pub fn new(variant: Variant, table: Table) -> Self {
        Self { order: ColumnOrder::centre_first(variant), table }
    }

    /// The moves that land in one of `cells`, most threats first, then those nearer to the centre.
    fn by_threats(&self, position: &Position, cells: Bitboard, best_before: Option<Column>) -> Moves {
        let (mine, mask, variant) = (position.mine(), position.mask(), position.variant());
        let mut moves = Moves::NONE;
        let mut ranks = [0; Variant::MAX_WIDTH as usize];
        for column in self.order.open_columns(position) {
            let stone = cells & Bitboard::column(column, variant);
            if stone.is_empty() {
                continue;
            }
            let rank = if best_before == Some(column) {
                u32::MAX
            } else {
                winning_cells(mine | stone, mask | stone, variant).count()
            };
            moves.insert_by_rank(column, rank, &mut ranks);
        }
        moves
    }
}

impl Guide for ThreatGuide {
    const NULL_WINDOWS: bool = true;

    #[inline]
    fn recall(&mut self, position: &Position, depth: u32, window: Window) -> Recalled {
        self.table.recall(position, depth, window)
    }

    fn moves(&mut self, position: &Position, depth: u32, best_before: Option<Column>) -> Moves {
        match Tactics::of(position) {
            // A search of one ply does not see the opponent's win.
            Tactics::Lost(_) | Tactics::Safe(_) if depth == 1 => {
                self.by_threats(position, position.playable(), best_before)
            }
            Tactics::Win(column) | Tactics::Lost(column) => Moves::from_iter([column]),
            Tactics::Safe(cells) => self.by_threats(position, cells, best_before),
        }
    }

    #[inline]
    fn remember(&mut self, position: &Position, finding: Finding) {
        self.table.remember(position, finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;
    use crate::notation::print_moves;
    use crate::search::Reuse;

    #[track_caller]
    fn check_centre_first(variant: &str, moves: &str, expected: &str) {
        let game = Game::from_moves(variant.parse().unwrap(), moves).unwrap();
        let order = ColumnOrder::centre_first(game.variant());
        assert_eq!(print_moves(&order.open_columns(game.position()).collect::<Vec<_>>()), expected);
    }

    #[track_caller]
    fn check_guided(moves: &str, depth: u32, expected: &str) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut guide = ThreatGuide::new(game.variant(), Table::new(2, Reuse::SameDepth));
        let guided = guide.moves(game.position(), depth, Column::from_number(7));
        assert_eq!(print_moves(guided.as_slice()), expected);
    }

    #[test]
    fn the_best_before_and_moves_with_threats_come_first() {
        check_guided("", 2, "7435261");
        // X . . . . . .   A third stone on the others threatens to win.
        // X O O . . . .
        check_guided("1213", 2, "7143526");
    }

    #[test]
    fn only_moves_that_matter_are_searched() {
        check_guided("121213", 4, "1"); // wins
        check_guided("12121", 4, "1"); // parries
        check_guided("12121", 1, "7243561"); // too shallow to see the need, but column 2 threatens
    }

    #[test]
    fn the_centre_comes_first() {
        check_centre_first("7x6", "", "4352617");
        check_centre_first("8x7", "", "45362718");
        check_centre_first("7x6", "444444", "352617");
    }
}
