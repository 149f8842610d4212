//! The words whose bits are the cells of a board.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr};

use super::bucket::Bucket;
use super::plain_bucket::PlainBucket;
use super::versioned_bucket::VersionedBucket;

/// An unsigned integer with room for a board: `u64` for the boards that are played, `u128` for wide ones.
///
/// The search is written once for both. Each is compiled by itself, so that boards of 64 bits pay nothing for the
/// others. With 128 bits a node takes 1.7 to 1.9 times as long (8x7 and 9x6, the same board in both).
pub(super) trait Word:
    Copy
    + Default
    + Ord
    + Debug
    + Send
    + Sync
    + From<u64>
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Add<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitAndAssign
    + BitOrAssign
{
    const BITS: u32;
    const ZERO: Self;
    const ONE: Self;
    /// All bits set.
    const ALL: Self;
    /// 2 to the number of bits divided by the golden ratio, odd: a product with it loses nothing, and its upper bits
    /// depend on all of the other factor's.
    const SPREAD: Self;
    /// Where bounds are kept of positions whose keys are such words.
    type Bucket: Bucket<Self>;

    fn wrapping_add(self, other: Self) -> Self;
    fn wrapping_sub(self, other: Self) -> Self;
    fn wrapping_mul(self, other: Self) -> Self;
    fn unbounded_shl(self, bits: u32) -> Self;
    fn unbounded_shr(self, bits: u32) -> Self;
    fn count_ones(self) -> u32;
    fn trailing_zeros(self) -> u32;
    /// The lowest bits as an index, which they are small enough for.
    fn to_index(self) -> usize;

    /// The lowest cell of the set, or none of an empty one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of the innermost loop")]
    fn lowest(self) -> Self {
        self & Self::ZERO.wrapping_sub(self)
    }

    /// The set without its lowest cell.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of the innermost loop")]
    fn without_lowest(self) -> Self {
        self & self.wrapping_sub(Self::ONE)
    }
}

/// The same lines for both: a generic implementation would need a trait of all these operations, which is this one.
macro_rules! impl_word {
    ($word:ty, $bucket:ty, $spread:expr) => {
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const ALL: Self = <$word>::MAX;
            const SPREAD: Self = $spread;
            type Bucket = $bucket;

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn wrapping_mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn unbounded_shl(self, bits: u32) -> Self {
                self.unbounded_shl(bits)
            }

            #[inline(always)]
            fn unbounded_shr(self, bits: u32) -> Self {
                self.unbounded_shr(bits)
            }

            #[inline(always)]
            fn count_ones(self) -> u32 {
                self.count_ones()
            }

            #[inline(always)]
            fn trailing_zeros(self) -> u32 {
                self.trailing_zeros()
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "the caller knows that it is small")]
            fn to_index(self) -> usize {
                self as usize
            }
        }
    };
}

impl_word!(u64, PlainBucket, 0x9E37_79B9_7F4A_7C15);
impl_word!(u128, VersionedBucket, 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
