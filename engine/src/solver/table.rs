//! The transposition table.

use std::sync::atomic::{AtomicU64, Ordering};

use super::geometry::Geometry;
use super::node::Node;
use super::processor;

const SLOTS: usize = 8;

#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Bucket([AtomicU64; SLOTS]);

/// What is known of a score.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) lower: i32,
    pub(super) upper: i32,
}

impl Known {
    #[inline(always)]
    pub(super) fn flip(self) -> Self {
        Self { lower: -self.upper, upper: -self.lower }
    }
}

#[derive(Debug)]
pub(super) struct Table {
    buckets: Vec<Bucket>,
    bits: u32,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    bucket: usize,
    tag: u64,
}

const BOUND_BITS: u32 = 6;
const WORK_BITS: u32 = 4;
const DATA_BITS: u32 = 2 * BOUND_BITS + WORK_BITS;

impl Table {
    pub(super) fn new(bytes: usize) -> Self {
        let bits = (bytes / 64).ilog2();
        Self { buckets: std::iter::repeat_with(Bucket::default).take(1 << bits).collect(), bits }
    }
    pub(super) fn clear(&mut self) {
        for bucket in &mut self.buckets {
            *bucket = Bucket::default();
        }
    }

    #[inline(always)]
    pub(super) fn place<G: Geometry>(&self, g: G, node: &Node) -> Place {
        let key = node.mine + node.mask;
        let mirrored = g.mirror(key);
        let key = key.min(mirrored);
        let width = g.key_bits();
        let all = u64::MAX >> (64 - width);
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) & all;
        let bucket = (mixed >> (width - self.bits)) as usize;
        let tag = mixed & ((1 << (width - self.bits)) - 1);
        Place { bucket, tag }
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, place: Place) {
        if let Some(bucket) = self.buckets.get(place.bucket) {
            processor::prefetch(bucket);
        }
    }

    #[inline(always)]
    pub(super) fn recall(&self, place: Place) -> Known {
        let bucket = &self.buckets[place.bucket];
        let mut hit = 0;
        for entry in &bucket.0 {
            let entry = entry.load(Ordering::Relaxed);
            if entry >> DATA_BITS == place.tag {
                hit |= entry;
            }
        }
        Known { lower: (hit & 63) as i32 - 32, upper: 31 - (hit >> 6 & 63) as i32 }
    }

    #[inline(always)]
    pub(super) fn remember(&self, place: Place, score: i32, alpha: i32, work: u64) {
        let bucket = &self.buckets[place.bucket];
        let work = ((work + 1).ilog2() as u64).min(15);
        let mut slot = 0;
        let mut least = u64::MAX;
        let mut old = 0;
        for (index, entry) in bucket.0.iter().enumerate() {
            let entry = entry.load(Ordering::Relaxed);
            let is_same = entry >> DATA_BITS == place.tag;
            if is_same {
                old = entry;
            }
            let rank = if is_same { 0 } else { 1 + (entry >> 12 & 15) };
            if rank < least {
                least = rank;
                slot = index;
            }
        }
        let (lower, upper) = if score > alpha {
            ((score + 32) as u64, old >> 6 & 63)
        } else {
            (old & 63, (31 - score) as u64)
        };
        bucket.0[slot].store(place.tag << DATA_BITS | work << 12 | upper << 6 | lower, Ordering::Relaxed);
    }
}
