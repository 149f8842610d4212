//! In which order moves are searched: the sooner a good one comes, the fewer are.

use super::geometry::Geometry;
use super::node::Node;

/// What the ranks of the moves of one position have in common.
pub(super) struct Order {
    /// For each direction, the cells in a row of four that has one stone of the side to move and none of the other.
    promising: [u64; 4],
}

/// Threats of the side that just moved; those above a cell with which the other side wins come too late.
#[inline(always)]
pub(super) fn threats<G: Geometry>(geometry: G, played: &Node) -> i32 {
    let too_late = geometry.above(played.my_wins & !geometry.playable(played.mask));
    (played.their_wins & !too_late).count_ones().cast_signed()
}

impl Order {
    #[inline(always)]
    pub(super) fn new<G: Geometry>(geometry: G, node: &Node) -> Self {
        let own = node.mine;
        let open = own | (geometry.full() & !node.mask);
        let [falling, level, rising] = geometry.strides();
        let promising = [1, falling, level, rising].map(|stride| {
            let pairs = open & (open >> stride);
            let starts = pairs & (pairs >> (2 * stride));
            let (two, three, four) = (own >> stride, own >> (2 * stride), own >> (3 * stride));
            let odd = own ^ two ^ three ^ four;
            let one = starts & odd & !((own & two) | (three & four));
            let half = one | one << stride;
            half | half << (2 * stride)
        });
        Self { promising }
    }

    #[inline(always)]
    pub(super) fn rank<G: Geometry>(&self, geometry: G, stone: u64, threats: i32) -> i32 {
        let bit = stone.trailing_zeros();
        let (column, row) = (bit / geometry.stride(), bit % geometry.stride());
        let off_centre = (2 * column).abs_diff(geometry.width() - 1).cast_signed();
        let promising: i32 = self.promising.iter().map(|cells| i32::from(cells & stone != 0)).sum();
        64 * threats + 6 * promising + 2 * row.cast_signed() - 5 * off_centre
    }
}
