//! In which order moves are searched: the sooner a good one comes, the fewer are.
//!
//! Mean nodes on rows 1 to 30 of begin-medium (BM, in thousands) and on the first 40 rows of begin-hard with 8 stones
//! and more (BH) while the search grew, each line on top of the one before:
//!
//! | order | BM | BH |
//! |---|---|---|
//! | all threats, then the centre | 153.6 | not measured |
//! | threats that come too late left out | 142.1 | 404 |
//! | rows of promise, and the upper rows first | 125.6 | 341 |
//!
//! Tried and lost: a bonus or malus for threats on rows of one's parity (+1 to +3 %), for moves that force an answer
//! (+2 % and more), for pairs of threats above each other (0), counting rows of promise rather than their directions
//! (0), counting the opponent's rows that a stone breaks (+3 %), more weight for the centre (+5 %).

use super::geometry::Geometry;
use super::node::Node;
use super::word::Word;

/// What the ranks of the moves of one position have in common.
pub(super) struct Order<W> {
    /// By direction, the cells in a would-be line that has one stone of the side to move and none of the other.
    promising: [W; 4],
}

/// Weight of one threat: more than everything else together.
const THREAT: i32 = 64;
/// Weight of one direction in which the stone is the second of a would-be line.
const PROMISE: i32 = 6;
/// Weight of one row of height.
const ROW: i32 = 2;
/// Weight of half a column away from the centre, against the move.
const OFF_CENTRE: i32 = 5;

/// Number of threats of the side that just moved. A threat above a cell with which the other side wins comes too late
/// and does not count.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the innermost loop")]
pub(super) fn threats<G: Geometry>(geometry: G, played: &Node<G::Word>) -> i32 {
    let too_late = geometry.above(played.my_wins & !geometry.playable(played.mask));
    (played.their_wins & !too_late).count_ones().cast_signed()
}

#[expect(clippy::inline_always, reason = "part of the innermost loop")]
impl<W: Word> Order<W> {
    #[inline(always)]
    pub(super) fn new<G: Geometry<Word = W>>(geometry: G, node: &Node<W>) -> Self {
        let own = node.mine;
        let open = own | (geometry.full() & !node.mask);
        // A loop, for `map` of an array is a function of its own, compiled for every processor.
        let mut promising = [W::ZERO; 4];
        for (promising, stride) in promising.iter_mut().zip(geometry.strides()) {
            let steps = (0..geometry.connect()).map(|step| step * stride);
            let (mut any, mut several) = (W::ZERO, W::ZERO);
            for step in steps.clone() {
                let stones = own.unbounded_shr(step);
                several |= any & stones;
                any |= stones;
            }
            let starts = geometry.starts(open, stride) & any & !several;
            *promising = steps.fold(W::ZERO, |cells, step| cells | starts.unbounded_shl(step));
        }
        Self { promising }
    }

    /// The rank of a move: the higher, the sooner it is searched. `threats` is what [`threats`] says of it.
    #[inline(always)]
    pub(super) fn rank<G: Geometry<Word = W>>(&self, geometry: G, stone: W, threats: i32) -> i32 {
        let bit = stone.trailing_zeros();
        let (column, row) = (bit / geometry.stride(), bit % geometry.stride());
        let off_centre = (2 * column).abs_diff(geometry.width() - 1).cast_signed();
        let promising: i32 = self.promising.iter().map(|cells| i32::from(*cells & stone != W::ZERO)).sum();
        THREAT * threats + PROMISE * promising + ROW * row.cast_signed() - OFF_CENTRE * off_centre
    }
}
