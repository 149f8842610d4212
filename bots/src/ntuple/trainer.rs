//! A training run: games of a network against itself on all cores.

use std::sync::Arc;

use fourfold_engine::rng;

use super::average::Average;
use super::network::Network;
use super::self_play::{Method, SelfPlay};
use super::shape::Shape;
use super::weights::Weights;

/// What a run is, from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// Tuples of the network.
    pub tuples: usize,
    /// Cells of a tuple.
    pub cells: u32,
    /// Games over which the steps shrink, geometrically; after that they stay small.
    pub games: u64,
    /// Draws the tuples and the games.
    pub seed: u64,
}

impl Plan {
    /// What was best for five minutes on one core.
    pub const DEFAULT: Self = Self { tuples: 100, cells: 8, games: 1_000_000, seed: 1 };

    /// The sum of all steps of a visited position in the first and in the last game: each of its weights, two for
    /// each tuple, takes its share.
    const STEPS: [f64; 2] = [0.8, 0.16];

    /// The step of each weight in the game of this number.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a step may be rounded")]
    fn step(&self, game: u64) -> f32 {
        let [first, last] = Self::STEPS;
        let done = (game as f64 / self.games.max(1) as f64).min(1.0);
        (first * (last / first).powf(done) / (2 * self.tuples) as f64) as f32
    }

    fn method(&self, game: u64) -> Method {
        Method { exploration: 0.1, lambda: 0.7, step: self.step(game), look_ahead: false }
    }
}
