//! The transposition table: bounds of scores by position.
//!
//! A position's key is its own and is stored in full, part of it as the place: no two positions are ever taken for each
//! other. What is asked together lies together: a bucket has 64 bytes, one cache line. Any number of threads share a
//! table without waiting; how, the buckets say.

use super::bucket::{Bucket, KnownBounds};
use super::plain_bucket::PlainBucket;
use super::processor;
use super::word::Word;

/// Memory for a transposition table, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableSize {
    bytes: usize,
}

impl TableSize {
    /// 4 MiB, which is also the least. From about five stones on, more makes no search of 7x6 faster.
    pub const DEFAULT: Self = Self { bytes: size_of::<PlainBucket>() << BUCKET_BITS_MIN };

    /// A size in units of 2^20 bytes. The greatest power of two that is not larger is used, but no less than
    /// [`TableSize::DEFAULT`].
    pub fn from_mib(mib: u32) -> Self {
        Self { bytes: (mib as usize).saturating_mul(1 << 20).max(Self::DEFAULT.bytes) }
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }
}

impl Default for TableSize {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The least table has 2^16 places, which leave 48 bits of the longest keys of 64 bits for the tags, and 92 of those of
/// 108 bits, the longest of wide boards.
const BUCKET_BITS_MIN: u32 = 16;

/// Where the entry of a position belongs.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place<W> {
    bucket: usize,
    /// The bits of the key that `bucket` does not say.
    tag: W,
}

/// A table for the positions of one variant.
#[derive(Debug)]
pub(super) struct BoundsTable<W: Word> {
    /// A power of two.
    buckets: Vec<W::Bucket>,
    bucket_bits: u32,
    key_bits: u32,
}

impl<W: Word> BoundsTable<W> {
    /// A table for keys of `key_bits` bits.
    pub(super) fn new(size: TableSize, key_bits: u32) -> Self {
        debug_assert!(
            key_bits <= W::Bucket::TAG_BITS + BUCKET_BITS_MIN,
            "the key would not be stored in full"
        );
        let fitting = (size.bytes / size_of::<W::Bucket>()).ilog2();
        let bucket_bits = fitting.min(key_bits - 1);
        let buckets = std::iter::repeat_with(W::Bucket::default).take(1 << bucket_bits).collect();
        Self { buckets, bucket_bits, key_bits }
    }

    /// Whether the table is for these keys.
    pub(super) fn is_for(&self, key_bits: u32) -> bool {
        self.key_bits == key_bits
    }

    pub(super) fn clear(&mut self) {
        self.buckets.fill_with(W::Bucket::default);
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<W::Bucket>()
    }

    /// The place of a position by its key, which has `key_bits`: those of the table, which the compiler may know.
    #[inline]
    pub(super) fn place(&self, key: W, key_bits: u32) -> Place<W> {
        let mixed = key.wrapping_mul(W::SPREAD) & (W::ALL >> (W::BITS - key_bits));
        let tag_bits = key_bits - self.bucket_bits;
        let bucket = (mixed >> tag_bits).to_index();
        Place { bucket, tag: mixed & (W::ONE << tag_bits).wrapping_sub(W::ONE) }
    }

    /// Has the bucket brought near, for [`BoundsTable::recall`].
    #[inline]
    pub(super) fn prefetch(&self, place: Place<W>) {
        processor::prefetch(&self.buckets[place.bucket]);
    }

    /// What is known of a position.
    #[inline]
    pub(super) fn recall(&self, place: Place<W>) -> KnownBounds {
        self.buckets[place.bucket].recall(place.tag)
    }

    /// Takes note of a bound of a position's score: a lower one if it is above `alpha`, else an upper one. It pushes
    /// out the entry that took the least work.
    #[inline]
    pub(super) fn remember(&self, place: Place<W>, score: i32, alpha: i32, work: u64) {
        self.buckets[place.bucket].remember(place.tag, score, alpha, work);
    }
}
