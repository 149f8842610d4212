//! Who meets whom: pure, from the plan and what was played.
//!
//! A schedule comes in waves. Within a wave nobody waits for anybody; the next wave is a function of all pairs before
//! it, so that a resumed run goes on exactly as it would have. A match, a round robin and a gauntlet are one wave.

mod knockout;
mod ladder;
mod swiss;

use crate::plan::{Pairing, Plan};

pub use crate::plan::Format;
pub use knockout::stages;

/// A finished pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairResult {
    pub a: usize,
    pub b: usize,
    /// Of `a`: 0 to 4.
    pub half_points: u8,
}

impl PairResult {
    /// What one of its players scored, `None` for anybody else.
    fn half_points_of(&self, entrant: usize) -> Option<u8> {
        if entrant == self.a {
            Some(self.half_points)
        } else if entrant == self.b {
            Some(4 - self.half_points)
        } else {
            None
        }
    }
}

/// What has been played when a wave is due.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// In the order of the schedule.
    pub pairs: &'a [PairResult],
    /// Waves before this one.
    pub waves: u32,
    /// Who still takes part, by entrant.
    pub active: &'a [bool],
    /// Waves before somebody came, by entrant: those missed are worth nothing.
    pub missed: &'a [u32],
}

/// The next wave; empty at the end.
pub fn next_wave(plan: &Plan, history: &History<'_>) -> Vec<Pairing> {
    match plan.format {
        Format::Match | Format::RoundRobin => once(history, plan, |_, _| true),
        Format::Gauntlet { seeds } => {
            let seeds = seeds as usize;
            once(history, plan, |a, b| a < seeds && b >= seeds)
        }
        Format::Swiss { rounds } if history.waves >= rounds => Vec::new(),
        Format::Swiss { .. } => swiss::round(plan, history),
        Format::Knockout => knockout::next(plan, history),
        Format::Ladder => ladder::next(plan, history),
    }
}

/// All meetings that are wanted, in one wave. Everybody plays the same openings, and all meetings advance together.
fn once(history: &History<'_>, plan: &Plan, is_wanted: impl Fn(usize, usize) -> bool) -> Vec<Pairing> {
    if history.waves > 0 {
        return Vec::new();
    }
    let entrants = plan.entrants.len();
    let mut wave = Vec::new();
    for opening in 0..plan.pairs {
        for a in 0..entrants {
            let opponents = (a + 1..entrants).filter(|&b| is_wanted(a, b));
            wave.extend(opponents.map(|b| Pairing { a, b, opening }));
        }
    }
    wave
}

#[cfg(test)]
mod tests;
