//! Games of a network against itself.

use fourfold_engine::rng::GameRng;
use fourfold_engine::search::Tactics;
use fourfold_engine::{Bitboard, Position};
use rand::RngExt;

use super::layout::VARIANT;
use super::network::{Network, squash};
use super::trace::{Outlook, Trace};
use super::walk::{Walk, sign};

/// How games against oneself are played and learnt from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Method {
    /// Share of moves that are drawn. Less makes the second player worse.
    pub(super) exploration: f32,
    /// Weight of what comes out later against the next value.
    pub(super) lambda: f32,
    /// Size of a step, for each weight.
    pub(super) step: f32,
}

/// Plays and learns. One for each thread.
#[derive(Debug)]
pub(super) struct SelfPlay<'n> {
    network: &'n Network,
    walk: Walk<'n>,
    trace: Trace,
}

impl<'n> SelfPlay<'n> {
    pub(super) fn new(network: &'n Network) -> Self {
        Self { network, walk: Walk::new(network), trace: Trace::new() }
    }

    /// Plays a game from the empty board and learns from it. Returns the result, 1 if the first player wins.
    ///
    /// Wins in one and parries are played unseen, as the bot does: weights are for what that rule cannot tell.
    pub(super) fn play(&mut self, method: Method, rng: &mut GameRng) -> f32 {
        self.walk.set(Position::new(VARIANT));
        self.trace.clear();
        let result = loop {
            if self.walk.position().is_full() {
                break 0.0;
            }
            let side = self.walk.position().side_to_move();
            match Tactics::of(self.walk.position()) {
                Tactics::Win(_) => break sign(side),
                Tactics::Lost(_) => break -sign(side),
                Tactics::Safe(cells) => self.play_move(cells, method, rng),
            }
        };
        self.trace.learn(self.network, result, method.lambda, method.step);
        result
    }

    fn play_move(&mut self, cells: Bitboard, method: Method, rng: &mut GameRng) {
        let sign = sign(self.walk.position().side_to_move());
        let valued = self.walk.value_moves(cells);
        let (best, sum) = valued.best();
        let moves = valued.as_slice();
        let (column, played) = if moves.len() > 1 && rng.random::<f32>() < method.exploration {
            moves[rng.random_range(0..moves.len())]
        } else {
            (best, sum)
        };
        self.trace.set_outlook(Outlook { value: squash(sum) * sign, is_missed: column != best });
        self.walk.play(column);
        self.trace.visit(&self.walk, played * sign);
    }
}
