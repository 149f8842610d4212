//! A static value by open lines: the segment weights of the engine tournament.
//!
//! A line with stones of both sides is dead; of the others each counts for its owner by the number of its
//! stones. Lines one stone short count 4, two stones short 1, others nothing, a full line decides. On boards
//! where four stones win those are the published weights 0, 1 and 4 for one, two and three stones; for other
//! lengths they are carried over by what is missing.

mod parity;

pub use parity::evaluate_with_parity;

use super::negamax::Valuation;
use crate::board::{Bitboard, Direction, Position, Variant};

/// Weight of a full line. The published weight is infinite; a finite one can be multiplied by zero lines.
pub const FULL_LINE: i32 = 1_000_000;
/// Weight of a line that lacks one stone.
pub const ONE_SHORT: i32 = 4;
/// Weight of a line that lacks two stones.
pub const TWO_SHORT: i32 = 1;

/// Values a position by its open lines. All wins are alike.
#[derive(Clone, Copy, Debug)]
pub struct OpenLines;

impl Valuation for OpenLines {
    #[inline]
    fn horizon(&mut self, position: &Position) -> i32 {
        evaluate(position)
    }

    #[inline]
    fn loss(&self, _position: &Position) -> i32 {
        -FULL_LINE
    }
}

/// Numbers of one side's open lines, by what they lack.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct LineCounts {
    pub three_short: u32,
    pub two_short: u32,
    pub one_short: u32,
    pub full: u32,
}

impl LineCounts {
    /// Counts the lines that have no stones of `other`, by how many of `own` they lack, as far as three. On boards
    /// where three stones win, lines that lack three are empty and count for both.
    #[inline]
    pub fn of(own: Bitboard, other: Bitboard, variant: Variant) -> Self {
        // With the variant known the compiler folds all strides, which more than halves the time.
        if variant == Variant::STANDARD {
            Self::of_folded(own, other, Variant::STANDARD)
        } else {
            Self::of_folded(own, other, variant)
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the strides are folded only where the variant is a constant")]
    fn of_folded(own: Bitboard, other: Bitboard, variant: Variant) -> Self {
        let open = Bitboard::full(variant).without(other);
        let mut counts = Self::default();
        for direction in Direction::ALL {
            let missing = Missing::count(own, open, direction, variant);
            counts.full += missing.exactly([false, false]).count();
            counts.one_short += missing.exactly([true, false]).count();
            counts.two_short += missing.exactly([false, true]).count();
            counts.three_short += missing.exactly([true, true]).count();
        }
        counts
    }

    /// What these lines are worth to their owner.
    pub fn weight(self) -> i32 {
        self.two_short.cast_signed() * TWO_SHORT
            + self.one_short.cast_signed() * ONE_SHORT
            + self.full.cast_signed() * FULL_LINE
    }
}

/// For the open lines of one direction, by the cell they start from: how many stones they lack, as far as 3.
///
/// All lines are counted at once, one bit of each number to a bitboard.
struct Missing {
    /// Starts of open lines.
    starts: Bitboard,
    ones: Bitboard,
    twos: Bitboard,
    /// Three or more are missing.
    many: Bitboard,
}

impl Missing {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the strides are folded only where the variant is a constant")]
    fn count(own: Bitboard, open: Bitboard, direction: Direction, variant: Variant) -> Self {
        let starts = open.line_starts(direction, variant);
        let [mut ones, mut twos, mut many] = [Bitboard::EMPTY; 3];
        for step in 0..u32::from(variant.connect()) {
            let stones = Bitboard::from_bits(own.bits().unbounded_shr(step * direction.stride(variant)));
            let missing = starts.without(stones);
            let carry = ones & missing;
            ones = ones ^ missing;
            many |= twos & carry;
            twos = twos ^ carry;
        }
        Self { starts, ones, twos, many }
    }

    /// Starts of the lines whose number of missing stones has these binary digits, the lowest first.
    #[inline]
    fn exactly(&self, [one, two]: [bool; 2]) -> Bitboard {
        let with = |digit: bool, plane: Bitboard| if digit { plane } else { self.starts.without(plane) };
        (with(one, self.ones) & with(two, self.twos)).without(self.many)
    }
}

/// The value of a position for the side to move: its lines less the opponent's.
pub fn evaluate(position: &Position) -> i32 {
    let (mine, theirs, variant) = (position.mine(), position.theirs(), position.variant());
    LineCounts::of(mine, theirs, variant).weight() - LineCounts::of(theirs, mine, variant).weight()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Line, Side};
    use crate::game::Game;

    #[test]
    fn the_published_example_is_minus_two() {
        // Lines with one, two, three and four stones: 1, 3, 0, 0 against 1, 1, 1, 0. Single stones count
        // nothing.
        let mine = LineCounts { three_short: 1, two_short: 3, one_short: 0, full: 0 };
        let theirs = LineCounts { three_short: 1, two_short: 1, one_short: 1, full: 0 };
        assert_eq!(mine.weight() - theirs.weight(), -2);
    }

    /// Counts line by line.
    fn count_slowly(own: Bitboard, other: Bitboard, variant: Variant) -> LineCounts {
        let mut counts = LineCounts::default();
        for line in Line::all(variant).map(|line| line.bitboard(variant)) {
            if (line & other).is_empty() {
                match u32::from(variant.connect()) - (line & own).count() {
                    0 => counts.full += 1,
                    1 => counts.one_short += 1,
                    2 => counts.two_short += 1,
                    3 => counts.three_short += 1,
                    _ => {}
                }
            }
        }
        counts
    }

    #[test]
    fn counting_all_at_once_is_counting_line_by_line() {
        for variant in ["7x6", "9x6", "8x7", "4x4x3", "9x6x5", "10x5", "4x15x8", "12x4x7"] {
            let variant: Variant = variant.parse().unwrap();
            let mut position = Position::new(variant);
            // A fixed walk over the columns; the game goes on after wins, to count full lines too.
            for step in 0..3 * usize::from(variant.width()) {
                let open: Vec<_> = position.open_columns().collect();
                position = position.play_unchecked(open[step * step % open.len()]);
                let (mine, theirs) = (position.mine(), position.theirs());
                assert_eq!(LineCounts::of(mine, theirs, variant), count_slowly(mine, theirs, variant));
            }
        }
    }

    #[test]
    fn values_are_for_the_side_to_move() {
        // O . . . . . .   First: c1 to f1 and d1 to g1 lack one stone, b1 to e1 two: 4 + 4 + 1.
        // O . . X X X .   Second: a1 to a4 lacks two: 1.
        let game = Game::from_moves(Variant::STANDARD, "41516").unwrap();
        assert_eq!(game.position().side_to_move(), Side::Second);
        assert_eq!(evaluate(game.position()), 1 - 9);
    }
}
