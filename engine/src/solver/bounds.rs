//! Static bounds.

use super::geometry::Geometry;
use super::node::Node;
use super::table::Known;

/// Lower and upper bounds of the score of a position with a free choice.
#[inline(always)]
pub(super) fn of<G: Geometry>(g: G, node: &Node) -> Known {
    let lower = -g.win(node.ply + 4);
    let upper = g.win(node.ply + 3).min(upper(g, node));
    Known { lower, upper }
}

/// An upper bound of the score of the side to move, 64 if there is nothing to say.
#[inline(always)]
fn upper<G: Geometry>(g: G, node: &Node) -> i32 {
    if g.height() % 2 == 1 {
        return 64;
    }
    let empty = g.full() & !node.mask;
    let playable = g.playable(node.mask);
    let even = g.even_rows();
    if (g.cells() - node.ply) % 2 == 0 {
        // The other side follows up: he gets the even cells that are not playable now.
        let owned = empty & even & !playable;
        let wins = node.their_wins & owned;
        let above = g.above(wins);
        let reachable = node.mine | (empty & !owned & !above);
        if g.has_line(reachable) {
            return 64;
        }
        if wins != 0 {
            return -(((wins | above) & even).count_ones() as i32);
        }
        if g.has_line((node.mask ^ node.mine) | owned) {
            return -1;
        }
        0
    } else {
        // zugzwang
        let odd_wins = node.their_wins & !even & !playable;
        let mut best = 64;
        let mut rest = odd_wins;
        while rest != 0 {
            let win = rest & rest.wrapping_neg();
            let column = g.column_of(win);
            rest &= !column;
            let owned = empty & even & !playable & !column;
            let wins = node.their_wins & owned;
            let over = g.above(wins | win);
            let reachable = (empty & !even & !column) | (empty & playable) | (empty & even & column);
            let reachable = node.mine | (reachable & !over & !owned);
            if !g.has_line(reachable) {
                best = best.min(-(((wins | win | over) & even).count_ones() as i32));
            }
        }
        best
    }
}
