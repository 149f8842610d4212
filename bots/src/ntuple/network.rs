//! The weights while they learn.

use std::sync::atomic::{AtomicU32, Ordering};

use fourfold_engine::Side;

use super::codec::{ByteSource, CodecError, Sink, read_exact, write_exact};
use super::layout::{Drop, Layout, PackedStones};
use super::shape::NetworkShape;

/// Values of positions from tables of weights: one table for positions that the first player made with his
/// last stone, one for those of the second player.
///
/// The value of such an *afterstate* is the sum of one weight for each tuple and each mirror image, squashed to
/// -1 (the second player wins) to 1 (the first player wins). Weights are words that threads share: a step that
/// another thread overwrites at the same moment is lost, which learning by many small steps does not notice.
#[derive(Debug)]
pub struct Network {
    pub(super) shape: NetworkShape,
    pub(super) layout: Layout,
    /// The first player's table, then the second's.
    weights: Vec<AtomicU32>,
}

impl Network {
    /// A network that knows nothing: all weights are 0.
    pub fn new(shape: NetworkShape) -> Self {
        let layout = Layout::new(&shape);
        let weights = (0..2 * layout.weights()).map(|_| AtomicU32::new(0)).collect();
        Self { shape, layout, weights }
    }

    pub fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// Number of weights of both sides.
    pub fn weight_count(&self) -> usize {
        self.weights.len()
    }

    /// All weights, the first player's table first, tuple by tuple.
    pub fn weights(&self) -> impl ExactSizeIterator<Item = f32> {
        self.weights.iter().map(|weight| f32::from_bits(weight.load(Ordering::Relaxed)))
    }

    /// Replaces all weights, of which there must be [`Network::weight_count`].
    pub(super) fn set_weights(&self, weights: impl IntoIterator<Item = f32>) {
        for (weight, value) in self.weights.iter().zip(weights) {
            weight.store(value.to_bits(), Ordering::Relaxed);
        }
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        write_exact(sink, self.weights());
    }

    pub(super) fn read(source: &mut ByteSource<'_>, shape: NetworkShape) -> Result<Self, CodecError> {
        let network = Self::new(shape);
        network.set_weights(read_exact(source, network.weight_count())?);
        Ok(network)
    }

    /// The table of positions that `side` made with its last stone.
    #[inline]
    pub(super) fn table(&self, side: Side) -> WeightTable<'_> {
        let (first, second) = self.weights.split_at(self.layout.weights());
        WeightTable(match side {
            Side::First => first,
            Side::Second => second,
        })
    }
}

/// One side's weights.
#[derive(Clone, Copy)]
pub(super) struct WeightTable<'n>(&'n [AtomicU32]);

impl WeightTable<'_> {
    #[inline]
    pub(super) fn weight(self, index: u32) -> f32 {
        f32::from_bits(self.0[index as usize].load(Ordering::Relaxed))
    }

    /// Adds to the weights at these indices.
    #[inline]
    pub(super) fn add(self, indices: &[u32], step: f32) {
        for &index in indices {
            let weight = &self.0[index as usize];
            let sum = f32::from_bits(weight.load(Ordering::Relaxed)) + step;
            weight.store(sum.to_bits(), Ordering::Relaxed);
        }
    }

    /// The sum of the weights at these indices.
    #[inline]
    pub(super) fn sum(self, indices: &[u32]) -> f32 {
        // Four sums, so that additions need not wait for each other.
        let mut sums = [0.0; 4];
        let (fours, rest) = indices.as_chunks::<4>();
        for four in fours {
            for (sum, &index) in sums.iter_mut().zip(four) {
                *sum += self.weight(index);
            }
        }
        for (sum, &index) in sums.iter_mut().zip(rest) {
            *sum += self.weight(index);
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }
}

/// A position with the indices of its weights, which moves cheaply to positions after it.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    pub(super) indices: Vec<u32>,
    /// Scratch: the weights at the indices, in the table of the side to move.
    current: Vec<f32>,
}

impl Cursor {
    pub(super) fn new(layout: &Layout) -> Self {
        Self { indices: vec![0; layout.features()], current: vec![0.0; layout.features()] }
    }

    pub(super) fn set(&mut self, layout: &Layout, stones: PackedStones) {
        layout.index(stones, &mut self.indices);
    }

    /// Gets ready for [`Cursor::sum_after`] with stones of `side`: one lookup for each feature, which is then
    /// spared where a stone changes nothing.
    pub(super) fn look(&mut self, table: WeightTable<'_>) -> f32 {
        let mut sums = [0.0; 4];
        let (fours, _) = self.indices.as_chunks::<4>();
        let (current, _) = self.current.as_chunks_mut::<4>();
        for (four, current) in fours.iter().zip(current) {
            for ((sum, &index), current) in sums.iter_mut().zip(four).zip(current) {
                *current = table.weight(index);
                *sum += *current;
            }
        }
        let done = fours.len() * 4;
        for ((sum, &index), current) in
            sums.iter_mut().zip(&self.indices[done..]).zip(&mut self.current[done..])
        {
            *current = table.weight(index);
            *sum += *current;
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// The sum of weights after a stone, given that of [`Cursor::look`] before it.
    #[inline]
    pub(super) fn sum_after(&self, layout: &Layout, table: WeightTable<'_>, drop: Drop, before: f32) -> f32 {
        let (features, changes) = layout.changes(drop);
        let mut sums = [before, 0.0];
        for (number, (&feature, &change)) in features.iter().zip(changes).enumerate() {
            let feature = usize::from(feature);
            let index = self.indices[feature].wrapping_add(change);
            sums[number % 2] += table.weight(index) - self.current[feature];
        }
        sums[0] + sums[1]
    }

    /// Plays a stone.
    #[inline]
    pub(super) fn drop(&mut self, layout: &Layout, drop: Drop) {
        let (features, changes) = layout.changes(drop);
        for (&feature, &change) in features.iter().zip(changes) {
            let index = &mut self.indices[usize::from(feature)];
            *index = index.wrapping_add(change);
        }
    }
}

/// Squashes a sum of weights to -1 to 1, much like the hyperbolic tangent. It is the tangent's Padé approximant of
/// third over second degree, cut off where it reaches 1: weights learnt from the same games must be equal to the bit
/// on all machines, and the libraries' tangents are not.
#[inline]
pub(super) fn squash(sum: f32) -> f32 {
    let sum = sum.clamp(-3.0, 3.0);
    let square = sum * sum;
    sum * (27.0 + square) / (27.0 + 9.0 * square)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Position, Variant};

    use super::*;

    #[test]
    fn squashing_is_much_like_the_hyperbolic_tangent() {
        for tenth in -40_i8..=40 {
            let sum = f32::from(tenth) / 10.0;
            assert!((squash(sum) - sum.tanh()).abs() < 0.025, "{sum}");
        }
        let bits = |sum: f32| squash(sum).to_bits();
        assert_eq!([bits(-9.0), bits(0.0), bits(9.0)], [-1.0, 0.0, 1.0_f32].map(f32::to_bits));
    }

    #[test]
    fn sums_after_a_stone_are_those_of_the_position_after_it() {
        let network = Network::new(NetworkShape::draw(9, 7, 2));
        network
            .set_weights((0_u16..).map(|number| f32::from(number % 31) - 15.0).take(network.weight_count()));
        let layout = &network.layout;
        let mut position = Position::new(Variant::STANDARD);
        let mut cursor = Cursor::new(layout);
        cursor.set(layout, PackedStones::of(&position));
        for column in [3, 3, 2, 3, 4, 5, 1] {
            let column = fourfold_engine::Column::from_index(column).unwrap();
            let side = position.side_to_move();
            let drop = Drop::new(PackedStones::of(&position), column.index(), side);
            let before = cursor.look(network.table(side));
            let sum = cursor.sum_after(layout, network.table(side), drop, before);
            cursor.drop(layout, drop);
            position = position.play_unchecked(column);
            let fresh = network.table(side).sum(&cursor.indices);
            assert_eq!(sum.to_bits(), fresh.to_bits(), "small whole numbers add up exactly");
            let mut fresh = Cursor::new(layout);
            fresh.set(layout, PackedStones::of(&position));
            assert_eq!(cursor.indices, fresh.indices);
        }
    }
}
