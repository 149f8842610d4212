//! The transposition table: bounds of scores by position.
//!
//! A position's key is its own and is stored in full, part of it as the place: no two positions are ever taken for each
//! other. What is asked together lies together: eight entries in 64 bytes, one cache line. An entry is one word that is
//! read and written as a whole, so any number of threads may share a table without locks: at worst one overwrites what
//! another has found out.

use std::sync::atomic::{AtomicU64, Ordering};

use super::geometry::Geometry;
use super::node::Node;
use super::processor;

/// Entries that share a place.
const SLOTS: usize = 8;

#[derive(Default, Debug)]
#[repr(C, align(64))]
struct SolverBucket([AtomicU64; SLOTS]);

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

/// An entry: from the lowest bit the lower bound, the upper bound, the work, and the tag.
///
/// The word 0 says nothing of any position: it has the tag of one, but bounds beyond all scores.
#[derive(Clone, Copy)]
struct Entry(u64);

/// No score on 64 bits of board is as far from 0 as this.
const SCORE_LIMIT: i32 = 32;
const BOUND_BITS: u32 = 6;
const BOUND_MASK: u64 = (1 << BOUND_BITS) - 1;
/// Work is the binary logarithm of the nodes that were searched, at most 15.
const WORK_BITS: u32 = 4;
const WORK_MASK: u64 = (1 << WORK_BITS) - 1;
const DATA_BITS: u32 = 2 * BOUND_BITS + WORK_BITS;
/// Bits of a key that the place need not say.
const TAG_BITS: u32 = u64::BITS - DATA_BITS;

impl Entry {
    #[inline]
    fn new(place: Place, known: KnownBounds, work: u64) -> Self {
        let lower = u64::try_from(known.lower + SCORE_LIMIT).unwrap_or(0);
        let upper = u64::try_from(SCORE_LIMIT - 1 - known.upper).unwrap_or(0);
        let work = u64::from((work + 1).ilog2()).min(WORK_MASK);
        Self(place.tag << DATA_BITS | work << (2 * BOUND_BITS) | upper << BOUND_BITS | lower)
    }

    #[inline]
    fn is_of(self, place: Place) -> bool {
        self.0 >> DATA_BITS == place.tag
    }

    #[inline]
    fn known(self) -> KnownBounds {
        let lower = (self.0 & BOUND_MASK) as i32 - SCORE_LIMIT;
        let upper = SCORE_LIMIT - 1 - (self.0 >> BOUND_BITS & BOUND_MASK) as i32;
        KnownBounds { lower, upper }
    }

    #[inline]
    fn work(self) -> u64 {
        self.0 >> (2 * BOUND_BITS) & WORK_MASK
    }
}

/// Where the entry of a position belongs.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    bucket: usize,
    /// The bits of the key that `bucket` does not say.
    tag: u64,
}

/// A table for the positions of one variant.
#[derive(Debug)]
pub(super) struct BoundsTable {
    /// A power of two.
    buckets: Vec<SolverBucket>,
    bucket_bits: u32,
    key_bits: u32,
}

impl BoundsTable {
    /// The least size in bytes: 2^16 places leave 48 bits of the longest keys for the tags.
    pub(super) const BYTES_MIN: usize = size_of::<SolverBucket>() << (u64::BITS - TAG_BITS);

    /// A table for keys of `key_bits` bits, at most this large or of [`BoundsTable::BYTES_MIN`].
    pub(super) fn new(bytes: usize, key_bits: u32) -> Self {
        let fitting = (bytes.max(Self::BYTES_MIN) / size_of::<SolverBucket>()).ilog2();
        let bucket_bits = fitting.min(key_bits - 1);
        let buckets = std::iter::repeat_with(SolverBucket::default).take(1 << bucket_bits).collect();
        Self { buckets, bucket_bits, key_bits }
    }

    /// Whether the table is for these keys.
    pub(super) fn is_for(&self, key_bits: u32) -> bool {
        self.key_bits == key_bits
    }

    pub(super) fn clear(&mut self) {
        self.buckets.fill_with(SolverBucket::default);
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<SolverBucket>()
    }

    /// The place of a position, which is that of its mirror image too.
    #[inline]
    pub(super) fn place<G: Geometry>(&self, geometry: G, node: &Node) -> Place {
        /// 2^64 divided by the golden ratio, odd: the product loses nothing, and its upper bits depend on all of the
        /// key's.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        // See `Position::key`.
        let key = node.mine + node.mask;
        let key = key.min(geometry.mirror(key));
        let bits = geometry.key_bits();
        let mixed = key.wrapping_mul(SPREAD) & (u64::MAX >> (u64::BITS - bits));
        let tag_bits = bits - self.bucket_bits;
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as there are buckets")]
        let bucket = (mixed >> tag_bits) as usize;
        Place { bucket, tag: mixed & ((1 << tag_bits) - 1) }
    }

    /// Has the bucket brought near, for [`BoundsTable::recall`].
    #[inline]
    pub(super) fn prefetch(&self, place: Place) {
        processor::prefetch(&self.buckets[place.bucket]);
    }

    /// What is known of a position.
    #[inline]
    pub(super) fn recall(&self, place: Place) -> KnownBounds {
        // Without a branch for each entry. Two fit where two threads have written at the same time: each is true, but
        // what one has of one and one of the other is not.
        let found = self.buckets[place.bucket].0.iter().fold(0, |found, slot| {
            let entry = Entry(slot.load(Ordering::Relaxed));
            if entry.is_of(place) { entry.0 } else { found }
        });
        Entry(found).known()
    }

    /// Takes note of a bound of a position's score: a lower one if it is above `alpha`, else an upper one. It pushes
    /// out the entry that took the least work.
    #[inline]
    pub(super) fn remember(&self, place: Place, score: i32, alpha: i32, work: u64) {
        let bucket = &self.buckets[place.bucket];
        let mut known = Entry(0).known();
        let (mut at, mut least) = (0, u64::MAX);
        for (index, slot) in bucket.0.iter().enumerate() {
            let entry = Entry(slot.load(Ordering::Relaxed));
            if entry.is_of(place) {
                (at, known) = (index, entry.known());
                break;
            }
            if entry.work() < least {
                (at, least) = (index, entry.work());
            }
        }
        if score > alpha {
            known.lower = score;
        } else {
            known.upper = score;
        }
        bucket.0[at].store(Entry::new(place, known, work).0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_threads_have_written_of_one_position_is_not_mixed() {
        let table = BoundsTable::new(BoundsTable::BYTES_MIN, 49);
        let place = Place { bucket: 0, tag: 7 };
        let entry = |lower, upper| Entry::new(place, KnownBounds { lower, upper }, 1).0;
        // As if both had looked before either wrote, and one more position had come in between.
        for (slot, word) in table.buckets[0].0.iter().zip([entry(1, 6), entry(2, 5)]) {
            slot.store(word, Ordering::Relaxed);
        }
        let known = table.recall(place);
        assert!((known.lower, known.upper) == (1, 6) || (known.lower, known.upper) == (2, 5), "{known:?}");
    }
}
