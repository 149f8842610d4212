//! Games of a network against itself.

use fourfold_engine::rng::GameRng;
use fourfold_engine::search::Tactics;
use fourfold_engine::{Bitboard, Column, Position};
use rand::RngExt;

use super::layout::VARIANT;
use super::network::{Network, squash};
use super::trace::{Outlook, Trace};
use super::walk::{Walk, sign};

/// How games against oneself are played and learnt from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Method {
    /// Share of moves that are drawn. Less makes the second player worse.
    pub exploration: f32,
    /// Weight of what comes out later against the next value.
    pub lambda: f32,
    /// Size of a step, for each weight.
    pub step: f32,
    /// Whether moves are valued by the best reply, which is five times as slow.
    pub look_ahead: bool,
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
        let valued = if method.look_ahead {
            self.walk.value_moves_by_replies(cells)
        } else {
            self.walk.value_moves(cells)
        };
        let (best, sum) = valued.best();
        let moves = valued.as_slice();
        let played: (Column, f32) = if moves.len() > 1 && rng.random::<f32>() < method.exploration {
            moves[rng.random_range(0..moves.len())]
        } else {
            (best, sum)
        };
        self.trace.set_outlook(Outlook { value: squash(sum) * sign, is_missed: played.0 != best });
        self.walk.play(played.0);
        let sum = if method.look_ahead { self.walk.sum() } else { played.1 * sign };
        self.trace.visit(&self.walk, sum);
    }

    /// The values that the positions of the last game had, each after a move.
    pub(super) fn values(&self) -> impl DoubleEndedIterator<Item = f32> + ExactSizeIterator {
        self.trace.values()
    }
}
