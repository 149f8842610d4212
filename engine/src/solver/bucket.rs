//! What a place of the transposition table holds: bounds of the scores of a few positions.

use std::fmt::Debug;

/// Bounds of a score, for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KnownBounds {
    pub(super) lower: i32,
    pub(super) upper: i32,
}

impl KnownBounds {
    /// The same for the other side.
    #[inline]
    pub(super) fn flip(self) -> Self {
        Self { lower: -self.upper, upper: -self.lower }
    }

    /// What follows from both.
    pub(super) fn and(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }
}

/// Positions that share a place of the table, one cache line. A tag is what the place does not say of a position's key,
/// so that no two positions are ever taken for each other.
///
/// Any number of threads read and write at the same time and never wait: at worst something that was found out is not
/// kept, or not seen.
pub(super) trait Bucket<Tag>: Default + Debug + Send + Sync {
    /// Bits of the longest tag.
    const TAG_BITS: u32;

    /// What is known of a position; beyond all scores where nothing is.
    fn recall(&self, tag: Tag) -> KnownBounds;

    /// Takes note of a bound of a position's score: a lower one if it is above `alpha`, else an upper one. It pushes
    /// out the entry that took the least work.
    fn remember(&self, tag: Tag, score: i32, alpha: i32, work: u64);
}

/// Work is the binary logarithm of the nodes that were searched, at most 15.
pub(super) const WORK_BITS: u32 = 4;
pub(super) const WORK_MASK: u64 = (1 << WORK_BITS) - 1;

/// Nodes as they are kept.
#[inline]
pub(super) fn work_of(nodes: u64) -> u64 {
    u64::from((nodes + 1).ilog2()).min(WORK_MASK)
}
