//! The search.

use super::bounds;
use super::geometry::Geometry;
use super::node::{Node, Settled};
use super::table::{Known, Place, Table};
use crate::search::{Interrupted, NodeCounter};

pub(super) struct Search<'a, G> {
    pub(super) g: G,
    pub(super) table: &'a mut Table,
    pub(super) counter: NodeCounter<'a>,
}

#[derive(Clone, Copy, Default)]
struct Child {
    node: Node,
    moves: u64,
    /// Whether the side to move is the opponent of the parent's.
    flipped: bool,
    rank: i32,
    place: Place,
}

/// Lower and upper bounds of an open position.
#[inline(always)]
pub(super) fn static_bounds<G: Geometry>(g: G, node: &Node) -> Known {
    let lower = -g.win(node.ply + 4);
    let upper = g.win(node.ply + 3).min(bounds::upper(g, node));
    Known { lower, upper }
}

impl<G: Geometry> Search<'_, G> {
    /// `node` is open. Result ≤ alpha is an upper bound, else a lower bound.
    pub(super) fn search(&mut self, node: &Node, moves: u64, alpha: i32) -> Result<i32, Interrupted> {
        let g = self.g;
        self.counter.begin_node()?;
        let before = self.counter.nodes();
        let place = self.table.place(g, node.mine, node.mask);
        let mut children = [Child::default(); 12];
        let mut count = 0;
        let mut best = -64;
        let mut rest = moves;
        while rest != 0 {
            let cell = rest & rest.wrapping_neg();
            rest &= rest - 1;
            let played = node.play(g, cell);
            let rank = self.rank(&played, cell);
            match played.settle(g) {
                Settled::Known(score) => {
                    let score = -score;
                    if score > alpha {
                        return Ok(score);
                    }
                    best = best.max(score);
                }
                Settled::Open { node: child, moves, flipped } => {
                    let flipped = !flipped;
                    let known = static_bounds(g, &child);
                    let known =
                        if flipped { Known { lower: -known.upper, upper: -known.lower } } else { known };
                    if known.lower > alpha {
                        return Ok(known.lower);
                    }
                    if known.upper <= alpha {
                        best = best.max(known.upper);
                        continue;
                    }
                    let place = self.table.place(g, child.mine, child.mask);
                    children[count] = Child { node: child, moves, flipped, rank, place };
                    count += 1;
                }
            }
        }
        let mut kept = 0;
        for index in 0..count {
            let child = children[index];
            let known = self.table.recall(child.place);
            let known =
                if child.flipped { Known { lower: -known.upper, upper: -known.lower } } else { known };
            if known.lower > alpha {
                return Ok(known.lower);
            }
            if known.upper <= alpha {
                best = best.max(known.upper);
                continue;
            }
            let mut at = kept;
            while at > 0 && children[at - 1].rank < child.rank {
                children[at] = children[at - 1];
                at -= 1;
            }
            children[at] = child;
            kept += 1;
        }
        for index in 0..kept {
            let child = children[index];
            if index > 0 {
                let known = self.table.recall(child.place);
                let known =
                    if child.flipped { Known { lower: -known.upper, upper: -known.lower } } else { known };
                if known.lower > alpha {
                    best = known.lower;
                    break;
                }
                if known.upper <= alpha {
                    best = best.max(known.upper);
                    continue;
                }
            }
            let score = if child.flipped {
                -self.search(&child.node, child.moves, -alpha - 1)?
            } else {
                self.search(&child.node, child.moves, alpha)?
            };
            best = best.max(score);
            if best > alpha {
                break;
            }
        }
        let work = self.counter.nodes() - before;
        let old = self.table.recall(place);
        let known = if best > alpha {
            Known { lower: best, upper: old.upper }
        } else {
            Known { lower: old.lower, upper: best }
        };
        self.table.remember(place, known, work);
        Ok(best)
    }

    #[inline(always)]
    fn rank(&self, played: &Node, cell: u64) -> i32 {
        let g = self.g;
        let column = cell.trailing_zeros() / g.stride();
        let off = (2 * column as i32 - (g.width() as i32 - 1)).abs();
        let threats = played.their_wins.count_ones() as i32;
        threats * 64 - off
    }
}
