//! The transposition table.

use super::geometry::Geometry;

const SLOTS: usize = 8;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Bucket([u64; SLOTS]);

/// score bounds of what is known
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) lower: i32,
    pub(super) upper: i32,
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
        Self { buckets: vec![Bucket([0; SLOTS]); 1 << bits], bits }
    }
    pub(super) fn clear(&mut self) {
        self.buckets.fill(Bucket([0; SLOTS]));
    }

    #[inline(always)]
    pub(super) fn place<G: Geometry>(&self, g: G, mine: u64, mask: u64) -> Place {
        let key = mine + mask;
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
    pub(super) fn recall(&self, place: Place) -> Known {
        let bucket = &self.buckets[place.bucket];
        let mut hit = 0;
        for &entry in &bucket.0 {
            if entry >> DATA_BITS == place.tag {
                hit |= entry;
            }
        }
        Known { lower: (hit & 63) as i32 - 32, upper: 31 - (hit >> 6 & 63) as i32 }
    }

    #[inline(always)]
    pub(super) fn remember(&mut self, place: Place, known: Known, work: u64) {
        let bucket = &mut self.buckets[place.bucket];
        let work = ((work + 1).ilog2() as u64).min(15);
        let mut slot = 0;
        let mut least = u64::MAX;
        for (index, &entry) in bucket.0.iter().enumerate() {
            let rank = if entry >> DATA_BITS == place.tag { 0 } else { 1 + (entry >> 12 & 15) };
            if rank < least {
                least = rank;
                slot = index;
            }
        }
        let lower = (known.lower + 32) as u64;
        let upper = (31 - known.upper) as u64;
        bucket.0[slot] = place.tag << DATA_BITS | work << 12 | upper << 6 | lower;
    }
}
