//! A position inside the search, and the forced lines that are played out before it counts as one.

use super::geometry::Geometry;
use super::word::Word;

/// A position with what the search wants to know of it again and again.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Node<W> {
    /// Stones of the side to move.
    pub(super) mine: W,
    /// Stones of both sides.
    pub(super) mask: W,
    /// The empty cells, playable or not, with which the side to move completes a line.
    pub(super) my_wins: W,
    /// The same for the other side.
    pub(super) their_wins: W,
    pub(super) ply: u32,
}

/// What forced moves lead to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Settled<W> {
    /// The score is decided; it is for the side that was to move at first.
    Known(i32),
    /// A position in which the side to move neither wins nor has to parry, and has a choice.
    Open {
        node: Node<W>,
        /// The cells that do not let the other side win at once: two or more.
        moves: W,
        /// Whether the side to move is the other than at first.
        is_flipped: bool,
    },
}

#[expect(clippy::inline_always, reason = "part of the innermost loop")]
impl<W: Word> Node<W> {
    /// A position in which nobody has a line.
    pub(super) fn new<G: Geometry<Word = W>>(geometry: G, mine: W, mask: W) -> Self {
        let empty = geometry.full() & !mask;
        let (my_wins, their_wins) = (geometry.completing(mine), geometry.completing(mask ^ mine));
        Self { mine, mask, my_wins: my_wins & empty, their_wins: their_wins & empty, ply: mask.count_ones() }
    }

    /// The key of the position and of its mirror image.
    #[inline(always)]
    pub(super) fn key<G: Geometry<Word = W>>(&self, geometry: G) -> W {
        geometry.key(self.mine, self.mask)
    }

    /// Stones of the side that moved last.
    #[inline(always)]
    pub(super) fn theirs(&self) -> W {
        self.mask ^ self.mine
    }

    /// The position after a stone on a playable cell that does not win.
    #[inline(always)]
    pub(super) fn play<G: Geometry<Word = W>>(&self, geometry: G, stone: W) -> Self {
        let mask = self.mask | stone;
        Self {
            mine: self.theirs(),
            mask,
            // A stone takes a cell away from both sides and adds winning cells for its own.
            my_wins: self.their_wins & !stone,
            their_wins: geometry.completing(self.mine | stone) & geometry.full() & !mask,
            ply: self.ply + 1,
        }
    }

    /// Plays on as long as there is no choice: the cell of a threat has to be taken, and one below a winning cell of
    /// the other side must not.
    #[inline(always)]
    pub(super) fn settle<G: Geometry<Word = W>>(mut self, geometry: G) -> Settled<W> {
        let mut is_flipped = false;
        loop {
            let known = |score: i32| Settled::Known(if is_flipped { -score } else { score });
            let playable = geometry.playable(self.mask);
            if self.my_wins & playable != W::ZERO {
                return known(geometry.win(self.ply + 1));
            }
            let threats = self.their_wins & playable;
            let candidates = if threats == W::ZERO { playable } else { threats };
            let moves = candidates & !(self.their_wins >> 1);
            if moves == W::ZERO || !is_one_or_none(threats) {
                // Whatever is played, the other side wins next. On a full board nothing is.
                return known(if playable == W::ZERO { 0 } else { -geometry.win(self.ply + 2) });
            }
            if !is_one_or_none(moves) {
                return Settled::Open { node: self, moves, is_flipped };
            }
            self = self.play(geometry, moves);
            is_flipped = !is_flipped;
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the innermost loop")]
fn is_one_or_none<W: Word>(cells: W) -> bool {
    cells.without_lowest() == W::ZERO
}
