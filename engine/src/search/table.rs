//! The transposition table: what was found out about positions, by key.

use super::guide::{Finding, Recalled};
use super::window::{Bound, Window};
use crate::board::{Column, Position};

/// Remembers findings of fixed number; new ones push out older or shallower ones.
///
/// Keys are stored in full and no two positions of a variant share one ([`Position::key`]), so a finding is
/// never taken for that of another position. A table serves one variant at a time, and one valuation.
#[derive(Clone, Debug)]
pub struct Table {
    /// Empty until the first finding, so that a bot that never plays costs nothing.
    buckets: Vec<Bucket>,
    /// Buckets once there are any: a power of two.
    size: usize,
    reuse: Reuse,
}

/// Which remembered values count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reuse {
    /// Those of searches of the same depth: the value is then what the search would find itself.
    SameDepth,
    /// Those of deeper searches too: they are at least as true.
    DeeperToo,
}

/// Two findings of positions whose keys fall together: the deeper of those seen, and the latest other.
#[derive(Clone, Copy, Default, Debug)]
struct Bucket {
    deeper: Slot,
    latest: Slot,
}

/// A finding in 16 bytes. The key 0 belongs to the empty board alone, so `is_used` tells.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    value: i32,
    depth: u8,
    best: Column,
    bound: Bound,
    is_used: bool,
}

impl Default for Slot {
    fn default() -> Self {
        let best = Column::new_unchecked(0);
        Self { key: 0, value: 0, depth: 0, best, bound: Bound::Exact, is_used: false }
    }
}

impl Slot {
    fn is_of(&self, key: u64) -> bool {
        self.is_used && self.key == key
    }
}

impl Table {
    /// 4 MiB. Four times as much made the searches of a tenth of a second, for which bots use it, no faster:
    /// what does not fit the processor's cache is slow to read.
    pub const DEFAULT_SLOTS: usize = 1 << 18;

    /// A table for `slots` findings of 16 bytes, rounded up to a power of two and at least two.
    pub fn new(slots: usize, reuse: Reuse) -> Self {
        Self { buckets: Vec::new(), size: slots.div_ceil(2).next_power_of_two(), reuse }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.buckets.clear();
    }

    /// Forgets everything and gives the memory back, until the next finding.
    pub fn release(&mut self) {
        self.buckets = Vec::new();
    }

    /// Memory held for findings.
    pub fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// What is known of `position` searched `depth` plies ahead, under the contract of
    /// [`super::Guide::recall`].
    #[inline]
    pub fn recall(&self, position: &Position, depth: u32, window: Window) -> Recalled {
        let key = position.key();
        let Some(bucket) = self.buckets.get(self.index(key)) else { return Recalled::default() };
        let Some(slot) = [bucket.deeper, bucket.latest].into_iter().find(|slot| slot.is_of(key)) else {
            return Recalled::default();
        };
        let is_deep_enough = match self.reuse {
            Reuse::SameDepth => u32::from(slot.depth) == depth,
            Reuse::DeeperToo => u32::from(slot.depth) >= depth,
        };
        let is_good_enough = match slot.bound {
            Bound::Exact => true,
            Bound::Lower => slot.value >= window.beta,
            Bound::Upper => slot.value <= window.alpha,
        };
        Recalled { value: (is_deep_enough && is_good_enough).then_some(slot.value), best: Some(slot.best) }
    }

    /// Takes note of a finding.
    #[inline]
    pub fn remember(&mut self, position: &Position, finding: Finding) {
        if self.buckets.is_empty() {
            self.buckets.resize(self.size, Bucket::default());
        }
        let key = position.key();
        let Finding { depth, value, bound, best } = finding;
        let depth = u8::try_from(depth).unwrap_or(u8::MAX); // more plies than any board has
        let slot = Slot { key, value, depth, best, bound, is_used: true };
        let index = self.index(key);
        let bucket = &mut self.buckets[index];
        if bucket.deeper.is_of(key) || !bucket.deeper.is_used || depth >= bucket.deeper.depth {
            if !bucket.deeper.is_of(key) {
                bucket.latest = bucket.deeper;
            }
            bucket.deeper = slot;
        } else {
            bucket.latest = slot;
        }
    }

    /// The bucket of a key: the upper bits of a product, into which all bits of the key go.
    fn index(&self, key: u64) -> usize {
        /// 2^64 divided by the golden ratio, odd: spreads neighbouring keys far apart.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let bits = self.size.trailing_zeros();
        usize::try_from(key.wrapping_mul(SPREAD).unbounded_shr(u64::BITS - bits)).expect("below the size")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Variant;

    fn finding(depth: u32, value: i32, bound: Bound) -> Finding {
        Finding { depth, value, bound, best: Column::from_number(3).unwrap() }
    }

    fn position(columns: &[u8]) -> Position {
        let start = Position::new(Variant::STANDARD);
        columns
            .iter()
            .fold(start, |position, &number| position.play_unchecked(Column::from_number(number).unwrap()))
    }

    const NARROW: Window = Window { alpha: 0, beta: 10 };

    #[track_caller]
    fn check(reuse: Reuse, found: Finding, depth: u32, expected: Option<i32>) {
        let mut table = Table::new(4, reuse);
        table.remember(&position(&[4]), found);
        let recalled = table.recall(&position(&[4]), depth, NARROW);
        assert_eq!(recalled, Recalled { value: expected, best: Column::from_number(3) });
        assert_eq!(table.recall(&position(&[5]), depth, NARROW), Recalled::default());
        table.clear();
        assert_eq!(table.recall(&position(&[4]), depth, NARROW), Recalled::default());
        assert!(table.bytes() > 0);
        table.release();
        assert_eq!((table.bytes(), table.recall(&position(&[4]), depth, NARROW)), (0, Recalled::default()));
    }

    #[test]
    fn values_count_if_deep_enough_and_good_enough() {
        check(Reuse::SameDepth, finding(5, 3, Bound::Exact), 5, Some(3));
        check(Reuse::SameDepth, finding(5, 3, Bound::Exact), 4, None);
        check(Reuse::SameDepth, finding(5, 3, Bound::Exact), 6, None);
        check(Reuse::DeeperToo, finding(5, 3, Bound::Exact), 4, Some(3));
        check(Reuse::DeeperToo, finding(5, 3, Bound::Exact), 6, None);
        check(Reuse::SameDepth, finding(5, 3, Bound::Lower), 5, None);
        check(Reuse::SameDepth, finding(5, 10, Bound::Lower), 5, Some(10));
        check(Reuse::SameDepth, finding(5, 3, Bound::Upper), 5, None);
        check(Reuse::SameDepth, finding(5, 0, Bound::Upper), 5, Some(0));
    }

    #[test]
    fn a_full_bucket_keeps_the_deepest_and_the_latest() {
        let mut table = Table::new(1, Reuse::DeeperToo);
        table.remember(&position(&[]), finding(9, 1, Bound::Exact));
        table.remember(&position(&[1]), finding(3, 2, Bound::Exact));
        table.remember(&position(&[2]), finding(4, 3, Bound::Exact));
        let value = |columns: &[u8]| table.recall(&position(columns), 0, NARROW).value;
        assert_eq!([value(&[]), value(&[1]), value(&[2])], [Some(1), None, Some(3)]);
    }

    #[test]
    fn a_position_has_one_finding() {
        let mut table = Table::new(2, Reuse::SameDepth);
        table.remember(&position(&[]), finding(9, 1, Bound::Exact));
        table.remember(&position(&[]), finding(4, 2, Bound::Exact));
        assert_eq!(table.recall(&position(&[]), 4, NARROW).value, Some(2));
    }
}
