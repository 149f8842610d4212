//! Entries of one word: for boards of 64 bits.
//!
//! An entry is read and written as a whole, so any number of threads may share it without locks: at worst one writes
//! over what another has found out.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bucket::{Bucket, KnownBounds, WORK_BITS, WORK_MASK, work_of};

/// Entries in a cache line.
const SLOTS: usize = 8;

#[derive(Default, Debug)]
#[repr(C, align(64))]
pub(super) struct PlainBucket([AtomicU64; SLOTS]);

/// An entry: from the lowest bit the lower bound, the upper bound, the work, and the tag.
///
/// The word 0 says nothing of any position: it has the tag of one, but bounds beyond all scores.
#[derive(Clone, Copy)]
struct Entry(u64);

/// No score on 64 bits of board is as far from 0 as this.
const SCORE_LIMIT: i32 = 32;
const BOUND_BITS: u32 = 6;
const BOUND_MASK: u64 = (1 << BOUND_BITS) - 1;
const DATA_BITS: u32 = 2 * BOUND_BITS + WORK_BITS;

impl Entry {
    #[inline]
    fn new(tag: u64, known: KnownBounds, work: u64) -> Self {
        let lower = u64::try_from(known.lower + SCORE_LIMIT).unwrap_or(0);
        let upper = u64::try_from(SCORE_LIMIT - 1 - known.upper).unwrap_or(0);
        Self(tag << DATA_BITS | work_of(work) << (2 * BOUND_BITS) | upper << BOUND_BITS | lower)
    }

    #[inline]
    fn is_of(self, tag: u64) -> bool {
        self.0 >> DATA_BITS == tag
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

impl Bucket<u64> for PlainBucket {
    const TAG_BITS: u32 = u64::BITS - DATA_BITS;

    #[inline]
    fn recall(&self, tag: u64) -> KnownBounds {
        // Without a branch for each entry. Two fit where two threads have written at the same time: each is true, but
        // what one has of one and one of the other is not.
        let found = self.0.iter().fold(0, |found, slot| {
            let entry = Entry(slot.load(Ordering::Relaxed));
            if entry.is_of(tag) { entry.0 } else { found }
        });
        Entry(found).known()
    }

    #[inline]
    fn remember(&self, tag: u64, score: i32, alpha: i32, work: u64) {
        let mut known = Entry(0).known();
        let (mut at, mut least) = (0, u64::MAX);
        for (index, slot) in self.0.iter().enumerate() {
            let entry = Entry(slot.load(Ordering::Relaxed));
            if entry.is_of(tag) {
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
        self.0[at].store(Entry::new(tag, known, work).0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_threads_have_written_of_one_position_is_not_mixed() {
        let (bucket, tag) = (PlainBucket::default(), 7);
        let entry = |lower, upper| Entry::new(tag, KnownBounds { lower, upper }, 1).0;
        // As if both had looked before either wrote, and one more position had come in between.
        for (slot, word) in bucket.0.iter().zip([entry(1, 6), entry(2, 5)]) {
            slot.store(word, Ordering::Relaxed);
        }
        let known = bucket.recall(tag);
        assert!((known.lower, known.upper) == (1, 6) || (known.lower, known.upper) == (2, 5), "{known:?}");
    }
}
