//! Entries of more than one word: for wide boards, whose keys alone are longer than 64 bits.
//!
//! No processor that Rust knows everywhere reads 14 bytes at once, so a bucket has a version, as a *sequence lock* has
//! (H. Boehm, "Can seqlocks get along with programming language memory models?", 2012). It is odd while one thread
//! writes. Who reads looks at it before and after, and if it was odd or has changed, knows nothing; who wants to write
//! while another does lets it be. So nobody waits, and nobody sees half of one entry and half of another:
//!
//! - The second look of a reader is behind a fence that acquires, the first store of a writer behind one that releases
//!   the odd version. Whoever has read anything of that writer therefore sees at least its odd version, and drops it.
//! - The first look acquires what the even version has released: all that was written before it.
//! - The version has 64 bits and only grows, so that it cannot come round while a reader stands still.
//!
//! A word of each entry mixed into the other, as chess programs do, would be faster and only nearly always right.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use super::bucket::{Bucket, KnownBounds, WORK_BITS, WORK_MASK, work_of};

/// Entries in a cache line.
const SLOTS: usize = 4;

/// Four entries of 14 bytes, each in three parts, and their version. Bounds of 0 say nothing of any position.
#[derive(Default, Debug)]
#[repr(C, align(64))]
pub(super) struct VersionedBucket {
    version: AtomicU64,
    /// The lowest 64 bits of the tag.
    low: [AtomicU64; SLOTS],
    /// The work, and above it the rest of the tag.
    high: [AtomicU32; SLOTS],
    /// From the lowest bit the lower bound and the upper bound.
    bounds: [AtomicU16; SLOTS],
}

/// No score on 96 cells is as far from 0 as this.
const SCORE_LIMIT: i32 = 64;
const BOUND_BITS: u32 = 7;
const BOUND_MASK: u16 = (1 << BOUND_BITS) - 1;

/// A tag in two parts, as it is stored.
#[derive(Clone, Copy)]
struct SplitTag {
    low: u64,
    high: u32,
}

impl SplitTag {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a tag has no more bits than both parts")]
    fn new(tag: u128) -> Self {
        Self { low: tag as u64, high: (tag >> u64::BITS) as u32 }
    }
}

#[inline]
fn pack(known: KnownBounds) -> u16 {
    let lower = u16::try_from(known.lower + SCORE_LIMIT).unwrap_or(0);
    let upper = u16::try_from(SCORE_LIMIT - 1 - known.upper).unwrap_or(0);
    upper << BOUND_BITS | lower
}

#[inline]
fn unpack(bounds: u16) -> KnownBounds {
    let lower = i32::from(bounds & BOUND_MASK) - SCORE_LIMIT;
    let upper = SCORE_LIMIT - 1 - i32::from(bounds >> BOUND_BITS);
    KnownBounds { lower, upper }
}

impl VersionedBucket {
    #[inline]
    fn is_of(&self, slot: usize, tag: SplitTag) -> bool {
        let high = self.high[slot].load(Ordering::Relaxed) >> WORK_BITS;
        self.low[slot].load(Ordering::Relaxed) == tag.low && high == tag.high
    }

    #[inline]
    fn work(&self, slot: usize) -> u64 {
        u64::from(self.high[slot].load(Ordering::Relaxed)) & WORK_MASK
    }

    /// The bounds in the slot of the tag, 0 if there is none.
    #[inline]
    fn find(&self, tag: SplitTag) -> u16 {
        let slot = (0..SLOTS).find(|&slot| self.is_of(slot, tag));
        slot.map_or(0, |slot| self.bounds[slot].load(Ordering::Relaxed))
    }

    /// What is to be written over: the slot of the tag, or that of the least work.
    #[inline]
    fn slot_for(&self, tag: SplitTag) -> (usize, KnownBounds) {
        let (mut at, mut least) = (0, u64::MAX);
        for slot in 0..SLOTS {
            if self.is_of(slot, tag) {
                return (slot, unpack(self.bounds[slot].load(Ordering::Relaxed)));
            }
            if self.work(slot) < least {
                (at, least) = (slot, self.work(slot));
            }
        }
        (at, unpack(0))
    }

    /// Begins to write, unless another thread does; the version that ends it.
    #[inline]
    fn begin(&self) -> Option<u64> {
        let version = self.version.load(Ordering::Relaxed);
        if !version.is_multiple_of(2) {
            return None;
        }
        self.version.compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed).ok()?;
        fence(Ordering::Release);
        Some(version + 2)
    }
}

impl Bucket<u128> for VersionedBucket {
    const TAG_BITS: u32 = u64::BITS + u32::BITS - WORK_BITS;

    #[inline]
    fn recall(&self, tag: u128) -> KnownBounds {
        let version = self.version.load(Ordering::Acquire);
        let found = self.find(SplitTag::new(tag));
        fence(Ordering::Acquire);
        let is_whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        unpack(if is_whole { found } else { 0 })
    }

    #[inline]
    fn remember(&self, tag: u128, score: i32, alpha: i32, work: u64) {
        let Some(after) = self.begin() else { return };
        let tag = SplitTag::new(tag);
        let (slot, mut known) = self.slot_for(tag);
        if score > alpha {
            known.lower = score;
        } else {
            known.upper = score;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a few bits")]
        let high = tag.high << WORK_BITS | work_of(work) as u32;
        self.low[slot].store(tag.low, Ordering::Relaxed);
        self.high[slot].store(high, Ordering::Relaxed);
        self.bounds[slot].store(pack(known), Ordering::Relaxed);
        self.version.store(after, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: KnownBounds = KnownBounds { lower: -SCORE_LIMIT, upper: SCORE_LIMIT - 1 };

    #[test]
    fn a_cache_line_has_four_entries_and_their_version() {
        assert_eq!(size_of::<VersionedBucket>(), 64);
    }

    #[test]
    fn tags_that_differ_in_one_bit_are_two_positions() {
        let tag = (1 << VersionedBucket::TAG_BITS) - 1;
        for bit in 0..VersionedBucket::TAG_BITS {
            let bucket = VersionedBucket::default();
            bucket.remember(tag, 48, 0, 1);
            bucket.remember(tag, -48, 0, 1);
            assert_eq!(bucket.recall(tag), KnownBounds { lower: 48, upper: -48 });
            assert_eq!(bucket.recall(tag ^ 1 << bit), NOTHING, "{bit}");
        }
    }

    #[test]
    fn the_entry_of_the_least_work_is_pushed_out() {
        let bucket = VersionedBucket::default();
        for (tag, work) in [(1, 900), (2, 70), (3, 8), (4, 5_000), (5, 60)] {
            bucket.remember(tag, 2, 1, work);
        }
        let is_known = [1, 2, 3, 4, 5].map(|tag| bucket.recall(tag) != NOTHING);
        assert_eq!(is_known, [true, true, false, true, true]);
    }

    #[test]
    fn while_one_writes_others_know_nothing_and_write_nothing() {
        let bucket = VersionedBucket::default();
        bucket.remember(9, 3, 0, 1);
        let after = bucket.begin().unwrap();
        assert_eq!(bucket.recall(9), NOTHING);
        bucket.remember(9, 5, 0, 1);
        bucket.version.store(after, Ordering::Release);
        assert_eq!(bucket.recall(9).lower, 3);
    }

    #[test]
    fn threads_that_write_at_once_make_no_entry_of_two() {
        // Every tag has a score of its own; a mixture of two entries would show another one's.
        const TAGS: u128 = 12;
        let score = |tag: u128| i32::try_from(tag).unwrap() - 6;
        let spread = |tag: u128| tag << 64 | (tag * 5 % TAGS); // parts of several tags are parts of another
        let bucket = VersionedBucket::default();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let bucket = &bucket;
                scope.spawn(move || {
                    for round in 0..30_000_u128 {
                        let tag = (round * 7 + thread) % TAGS;
                        bucket.remember(spread(tag), score(tag), -100, 1);
                        let tag = (round * 5 + thread) % TAGS;
                        let lower = bucket.recall(spread(tag)).lower;
                        assert!(lower == score(tag) || lower == NOTHING.lower, "{tag}: {lower}");
                    }
                });
            }
        });
    }
}
