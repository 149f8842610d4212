//! The network that plays: a running average of the one that learns.

use fourfold_engine::Side;

use super::codec::{ByteSource, CodecError, Sink, read_exact, write_exact};
use super::network::Network;
use super::weights::Weights;

/// How an average follows what learns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct AveragePace {
    /// Games after which it takes a step.
    pub(super) games: u64,
    /// Share of the difference by which a step closes it.
    pub(super) share: f32,
}

impl AveragePace {
    /// For games of others, which are few and each of them news: it remembers about 100.
    pub(super) const STUDY: Self = Self { games: 10, share: 0.1 };
}

/// Running averages of all weights. Single steps are noisy; their average plays better and changes slowly.
#[derive(Debug)]
pub(super) struct Average {
    weights: Vec<f32>,
    steps: u64,
}

impl Average {
    pub(super) fn new(network: &Network) -> Self {
        Self { weights: network.weights().collect(), steps: 0 }
    }

    /// Moves towards the network as it is now, if a step is due after so many games.
    pub(super) fn follow(&mut self, network: &Network, games: u64, pace: AveragePace) {
        if !games.is_multiple_of(pace.games) {
            return;
        }
        self.steps += 1;
        // At first the average is that of all so far.
        #[expect(clippy::cast_precision_loss, reason = "only small numbers count")]
        let share = pace.share.max(1.0 / self.steps as f32);
        for (average, weight) in self.weights.iter_mut().zip(network.weights()) {
            *average += share * (weight - *average);
        }
    }

    /// The average, or the network itself if none was taken yet.
    pub(super) fn round(&self, network: &Network) -> Weights {
        Weights::round_mean(&[(network, self.weights(network))])
    }

    /// The same, not rounded.
    pub(super) fn weights(&self, network: &Network) -> Vec<f32> {
        match self.steps {
            0 => network.weights().collect(),
            _ => self.weights.clone(),
        }
    }

    /// The sum of its weights at these indices, for positions that `mover` made.
    pub(super) fn sum(&self, mover: Side, indices: &[u32]) -> f32 {
        let (first, second) = self.weights.split_at(self.weights.len() / 2);
        let table = match mover {
            Side::First => first,
            Side::Second => second,
        };
        indices.iter().map(|&index| table[index as usize]).sum()
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.steps);
        write_exact(sink, self.weights.iter().copied());
    }

    pub(super) fn read(source: &mut ByteSource<'_>, network: &Network) -> Result<Self, CodecError> {
        let steps = source.varint()?;
        let weights = read_exact(source, network.weight_count())?;
        Ok(Self { weights, steps })
    }
}
