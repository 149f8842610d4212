//! A position inside the search.

use super::geometry::Geometry;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub(super) mine: u64,
    pub(super) mask: u64,
    /// empty cells which complete a line of the side to move
    pub(super) my_wins: u64,
    pub(super) their_wins: u64,
    pub(super) ply: u32,
}

pub(super) enum Settled {
    /// score for the side to move at first
    Known(i32),
    /// free choice: node, moves, true if the side to move is the other than at first
    Open { node: Node, moves: u64, flipped: bool },
}

impl Node {
    #[inline(always)]
    pub(super) fn new<G: Geometry>(g: G, mine: u64, mask: u64) -> Self {
        let empty = g.full() & !mask;
        Self {
            mine,
            mask,
            my_wins: g.completing(mine) & empty,
            their_wins: g.completing(mask ^ mine) & empty,
            ply: mask.count_ones(),
        }
    }

    #[inline(always)]
    pub(super) fn play<G: Geometry>(&self, g: G, cell: u64) -> Self {
        let own = self.mine | cell;
        let mask = self.mask | cell;
        Self {
            mine: self.mask ^ self.mine,
            mask,
            my_wins: self.their_wins & !cell,
            their_wins: g.completing(own) & g.full() & !mask,
            ply: self.ply + 1,
        }
    }

    #[inline(always)]
    pub(super) fn settle<G: Geometry>(mut self, g: G) -> Settled {
        let mut flipped = false;
        loop {
            let playable = g.playable(self.mask);
            let sign = |score: i32| if flipped { -score } else { score };
            if self.my_wins & playable != 0 {
                return Settled::Known(sign(g.win(self.ply + 1)));
            }
            let threats = self.their_wins & playable;
            let moves = (if threats != 0 { threats } else { playable }) & !(self.their_wins >> 1);
            if moves == 0 || threats & threats.wrapping_sub(1) != 0 {
                if playable == 0 {
                    return Settled::Known(0);
                }
                return Settled::Known(sign(-g.win(self.ply + 2)));
            }
            if moves & (moves - 1) != 0 {
                return Settled::Open { node: self, moves, flipped };
            }
            self = self.play(g, moves);
            flipped = !flipped;
        }
    }
}
