//! The network that plays: a running average of the one that learns.

use super::codec::{CodecError, Sink, Source, read_exact, write_exact};
use super::network::Network;
use super::weights::Weights;

/// Games after which the average takes a step.
pub(super) const EVERY: u64 = 1000;

/// Share of the difference by which the average follows: it remembers about 20,000 games.
const FOLLOW: f32 = 0.05;

/// Running averages of all weights. Single steps are noisy; their average plays better and changes slowly.
#[derive(Debug)]
pub(super) struct Average {
    weights: Vec<f32>,
    /// Steps taken.
    steps: u64,
}

impl Average {
    pub(super) fn new(network: &Network) -> Self {
        Self { weights: network.weights().collect(), steps: 0 }
    }

    /// To be called after each game with the number of games so far.
    pub(super) fn follow(&mut self, network: &Network, games: u64) {
        if games.is_multiple_of(EVERY) {
            self.take_step(network);
        }
    }

    /// Moves towards the network as it is now.
    pub(super) fn take_step(&mut self, network: &Network) {
        self.steps += 1;
        // At first the average is that of all so far.
        #[expect(clippy::cast_precision_loss, reason = "only small numbers count")]
        let share = FOLLOW.max(1.0 / self.steps as f32);
        for (average, weight) in self.weights.iter_mut().zip(network.weights()) {
            *average += share * (weight - *average);
        }
    }

    /// The average, or the network itself if none was taken yet.
    pub(super) fn round(&self, network: &Network) -> Weights {
        match self.steps {
            0 => Weights::round(network),
            _ => Weights::round_values(network, self.weights.iter().copied()),
        }
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.steps);
        write_exact(sink, self.weights.iter().copied());
    }

    pub(super) fn read(source: &mut Source<'_>, network: &Network) -> Result<Self, CodecError> {
        let steps = source.varint()?;
        let weights = read_exact(source, network.weight_count())?;
        Ok(Self { weights, steps })
    }
}
