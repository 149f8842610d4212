//! What a game teaches: temporal differences, from its end backwards.

use fourfold_engine::Side;

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

/// One afterstate.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// Whose stone made it.
    mover: Side,
    /// What the network thought of it.
    value: f32,
    /// What it is worth seen from a move or two later; unset where the game ends.
    outlook: Option<Outlook>,
}

/// The value of the best that can follow a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Outlook {
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

    /// Notes the outlook of the afterstate visited last, if there is one: it is known when the next side has
    /// looked at its moves.
    pub(super) fn set_outlook(&mut self, outlook: Outlook) {
        if let Some(last) = self.visits.last_mut() {
            last.outlook = Some(outlook);
        }
    }

    /// Notes the position of `walk`, which somebody has just made, and its sum of weights.
    pub(super) fn visit(&mut self, walk: &Walk<'_>, sum: f32) {
        let mover = walk.position().side_to_move().opponent();
        self.visits.push(Visit { mover, value: squash(sum), outlook: None });
        self.indices.extend_from_slice(walk.indices());
    }

    /// Moves each value towards its lambda-return: the outlook, mixed with what came out in the end.
    ///
    /// Truncated at moves that were not the best, as in Thill, Bagheri, Koch and Konen, "Temporal Difference
    /// Learning with Eligibility Traces for the Game Connect Four" (2014); there such positions are not learnt
    /// from, here they learn from the move that would have been best. The step does without the slope of the
    /// squashing function: that is the gradient of the cross entropy, and a sure error is not slow to mend.
    pub(super) fn learn(&self, network: &Network, result: f32, lambda: f32, step: f32) {
        let features = network.layout.features();
        let mut target = result;
        for (visit, indices) in self.visits.iter().zip(self.indices.chunks_exact(features)).rev() {
            target = match visit.outlook {
                None => result,
                Some(Outlook { value, is_missed: true }) => value,
                Some(Outlook { value, is_missed: false }) => value + lambda * (target - value),
            };
            network.table(visit.mover).add(indices, step * (target - visit.value));
        }
    }
}
