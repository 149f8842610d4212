//! What can be proven of a score without looking ahead.
//!
//! Both rules are strategies of *following up*: one side answers each stone with a stone in the same column. They need
//! columns of even height, so that the board has an even number of cells, and the first side moves when an even number
//! is empty. Rows count from 1, the bottom one. The ideas are Allis' claim-even and odd threat ("A Knowledge-Based
//! Approach of Connect-Four", 1988); the bounds of the distance and the second rule's second half are ours.
//!
//! Mean nodes on rows 1 to 30 of begin-medium with the rules 121.0 thousand, without 214.6. Tried and lost: leaving out
//! of the first rule the cells that the first side cannot reach before the window closes (0 %, and it costs time).

use super::bucket::KnownBounds;
use super::geometry::Geometry;
use super::node::Node;
use super::word::Word;

/// Bounds of the score of a position in which the side to move does not win at once and has a move that does not lose
/// at once, for that side.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the innermost loop")]
pub(super) fn of<G: Geometry>(geometry: G, node: &Node<G::Word>) -> KnownBounds {
    // The earliest wins: the side to move with its second stone from now, the other with its second too.
    let earliest = geometry.win(node.ply + 3);
    let lower = -geometry.win(node.ply + 4);
    let upper = if !geometry.height().is_multiple_of(2) {
        None
    } else if (geometry.cells() - node.ply).is_multiple_of(2) {
        second_follows_up(geometry, node)
    } else {
        first_threatens_an_odd_cell(geometry, node)
    };
    KnownBounds { lower, upper: upper.map_or(earliest, |upper| upper.min(earliest)) }
}

/// An upper bound of the score of the first side, which is to move: the second follows up.
///
/// **Strategy.** The second side answers in the same column. If the stone was on an even row, the column had an odd
/// number of stones; then it plays in another such column. There is one: with the first side to move, the number of
/// stones is even, so that of columns with an odd number of stones is even too. After each answer the first side is to
/// move again, and the columns that were touched have an even number of stones.
///
/// **What it gets.** A cell on an even row that is not playable now becomes playable by a stone of the first side on
/// the odd row below: the second side plays on odd rows only in the columns of the opening position's odd rows ..
/// never, as each of its stones is an answer on an even row. So the second side *owns* these cells, and the first side
/// has at most its stones, the empty cells of odd rows, and the playable ones.
///
/// **The bound.** If the first side has no line among those, it does not win: at most 0. If the second has a line
/// among its stones and its own cells, it wins at the latest when the board is full: at most -1. If it needs one such
/// cell in a column, on row r, the cells above are nobody's, and the column ends with a win. As long as it can, the
/// first side plays elsewhere: all columns but those with such a cell are full then, and these are full up to row
/// r - 2. It plays on row r - 1 of one of them, the second side wins on row r. In that column h - r cells stay empty,
/// in the others h - r + 2 each; counted in stones of the winner, one for each even row from r on, in all such
/// columns.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the innermost loop")]
fn second_follows_up<G: Geometry>(geometry: G, node: &Node<G::Word>) -> Option<i32> {
    let empty = geometry.full() & !node.mask;
    let even = geometry.even_rows();
    let owned = empty & even & !geometry.playable(node.mask);
    let wins = node.their_wins & owned;
    let beyond = geometry.above(wins);
    if geometry.has_line(node.mine | (empty & !owned & !beyond)) {
        return None;
    }
    if wins != G::Word::ZERO {
        return Some(-stones_spared(even & (wins | beyond)));
    }
    Some(if geometry.has_line(node.theirs() | owned) { -1 } else { 0 })
}

/// An upper bound of the score of the second side, which is to move: the first has a winning cell on an odd row, which
/// is not playable, and follows up everywhere else.
///
/// Let w be that cell, on row r of column c.
///
/// **Strategy, if c has an odd number of stones.** The number of stones is odd, so that of *other* columns with an odd
/// number is even. The first side answers in the same column, in c as well; if that is full or the stone was on an
/// even row of another column, it plays in another column, not c, with an odd number of stones, of which there is one.
/// In c the second side has then the even rows and the first the odd ones, w among them: when all other columns are
/// full, the second side has to play in c.
///
/// **If c has an even number of stones**, that of other columns with an odd number is odd. A stone on an odd row of
/// another column is answered above it. A stone in c is answered in another column with an odd number of stones, and a
/// stone on an even row of another column in a third one; if there is none, in c. Either way c has an odd number of
/// stones from then on, the second side is to move, and the first strategy goes on.
///
/// **What the second side gets.** Outside c: odd rows, and cells playable now. In c: the cell that is playable now, and
/// even rows. Nothing from w on, and nothing above a cell of an even row outside c, not playable now, with which the
/// first side wins: it owns these as in [`second_follows_up`].
///
/// **The bound.** If the second side has no line among these cells and its stones, the game cannot be drawn, as the
/// first takes w before the board is full. The distance is counted as there, w's column like the others.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the innermost loop")]
fn first_threatens_an_odd_cell<G: Geometry>(geometry: G, node: &Node<G::Word>) -> Option<i32> {
    let empty = geometry.full() & !node.mask;
    let playable = geometry.playable(node.mask);
    let even = geometry.even_rows();
    let mut best: Option<i32> = None;
    let mut candidates = node.their_wins & !even & !playable;
    while candidates != G::Word::ZERO {
        // The lowest of each column.
        let cell = candidates.lowest();
        let column = geometry.column_of(cell);
        candidates &= !column;
        let owned = empty & even & !playable & !column;
        let wins = cell | (node.their_wins & owned);
        let beyond = geometry.above(wins);
        let inside = column & (even | playable);
        let outside = !column & (!even | playable);
        if !geometry.has_line(node.mine | (empty & (inside | outside) & !beyond)) {
            let upper = -stones_spared(even & (wins | beyond));
            best = Some(best.map_or(upper, |best| best.min(upper)));
        }
    }
    best
}

/// A distance in stones of the winner: one for each of these cells.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the innermost loop")]
fn stones_spared<W: Word>(cells: W) -> i32 {
    cells.count_ones().cast_signed()
}
