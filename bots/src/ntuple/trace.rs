//! What a game teaches: temporal differences, from its end backwards.

use fourfold_engine::{Position, Side};

use super::layout::VARIANT;
use super::network::{Network, squash};
use super::walk::Walk;

/// The afterstates of a game and how well they turned out, all from the first player's view.
#[derive(Debug)]
pub(super) struct Trace {
    visits: Vec<Visit>,
    /// The indices of all visits, one after the other.
    indices: Vec<u32>,
}

/// A side with a value beyond this, of 1, has an advantage.
const ADVANTAGE: f32 = 0.5;

/// One afterstate.
#[derive(Clone, Copy, Debug)]
struct Visit {
    position: Position,
    /// What the network thought of it.
    value: f32,
    /// What it is worth seen from a move or two later; unset where the game ends.
    best_value: Option<BestValue>,
}

/// The value of the best that can follow a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct BestValue {
    pub(super) value: f32,
    /// Whether something else was played, so that the rest of the game says nothing about the position.
    pub(super) is_missed: bool,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self { visits: Vec::with_capacity(VARIANT.cells() as usize), indices: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.visits.clear();
        self.indices.clear();
    }

    /// Notes the best value after the afterstate visited last, if there is one: it is known when the next side has
    /// looked at its moves.
    pub(super) fn set_best(&mut self, best_value: BestValue) {
        if let Some(last) = self.visits.last_mut() {
            last.best_value = Some(best_value);
        }
    }

    /// Notes the position of `walk`, which somebody has just made, and its sum of weights.
    pub(super) fn visit(&mut self, walk: &Walk<'_>, sum: f32) {
        self.visits.push(Visit { position: *walk.position(), value: squash(sum), best_value: None });
        self.indices.extend_from_slice(walk.indices());
    }

    /// Moves each value towards its lambda-return: the best value, mixed with what came out in the end.
    ///
    /// Truncated at moves that were not the best, as in Thill, Bagheri, Koch and Konen, "Temporal Difference
    /// Learning with Eligibility Traces for the Game Connect Four" (2014); there such positions are not learnt
    /// from, here they learn from the move that would have been best. The step does without the slope of the
    /// squashing function: that is the gradient of the cross entropy, and a sure error is not slow to mend.
    pub(super) fn learn(&self, network: &Network, result: f32, lambda: f32, step: f32) {
        let features = network.layout.features();
        let mut target = result;
        for (visit, indices) in self.visits.iter().zip(self.indices.chunks_exact(features)).rev() {
            target = match visit.best_value {
                None => result,
                Some(BestValue { value, is_missed: true }) => value,
                Some(BestValue { value, is_missed: false }) => value + lambda * (target - value),
            };
            network.table(visit.mover()).add(indices, step * (target - visit.value));
        }
    }

    /// The last position in which a side had an advantage and yet did not win, if the game went on from there, and only
    /// by moves that seemed best.
    pub(super) fn lost_advantage(&self, result: f32) -> Option<Position> {
        let seemed_best = |visit: &&Visit| visit.best_value.is_none_or(|best_value| !best_value.is_missed);
        let is_lost = |visit: &&Visit| {
            visit.value.abs() >= ADVANTAGE && visit.value * result <= 0.0 && !visit.position.is_full()
        };
        let lost = self.visits.iter().rev().take_while(seemed_best).find(is_lost);
        lost.map(|visit| visit.position)
    }
}

impl Visit {
    /// Whose stone made it.
    fn mover(&self) -> Side {
        self.position.side_to_move().opponent()
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::super::shape::NetworkShape;
    use super::*;

    /// A game of 4, 5, 6 ... with these sums of weights, and whether a drawn move followed each position.
    fn trace(sums: &[(f32, bool)]) -> Trace {
        let network = Network::new(NetworkShape::draw(3, 4, 1));
        let mut walk = Walk::new(&network);
        let mut trace = Trace::new();
        for (number, &(sum, is_missed)) in sums.iter().enumerate() {
            walk.set(position(number + 1));
            trace.visit(&walk, sum);
            if number + 1 < sums.len() {
                trace.set_best(BestValue { value: 0.0, is_missed });
            }
        }
        trace
    }

    fn position(stones: usize) -> Position {
        *Game::from_moves(VARIANT, &"445566"[..stones]).unwrap().position()
    }

    #[track_caller]
    fn check_lost(sums: &[(f32, bool)], result: f32, stones: Option<usize>) {
        assert_eq!(trace(sums).lost_advantage(result), stones.map(position));
    }

    #[test]
    fn the_last_advantage_that_was_not_won_is_found() {
        let game = [(0.1, false), (2.0, false), (1.0, false), (-0.1, false)];
        check_lost(&game, -1.0, Some(3));
        check_lost(&game, 0.0, Some(3));
        check_lost(&game, 1.0, None);
        check_lost(&[(0.1, false), (-2.0, false), (0.2, false)], 1.0, Some(2));
        check_lost(&[(0.1, false), (-0.2, false)], 1.0, None);
        check_lost(&[], 1.0, None);
    }

    #[test]
    fn an_advantage_lost_by_a_drawn_move_tells_nothing() {
        check_lost(&[(2.0, false), (2.0, true), (-0.1, false)], -1.0, None);
        check_lost(&[(2.0, true), (2.0, false), (-0.1, false)], -1.0, Some(2));
    }
}
