//! The ladder: always the pairs that tell most about the order of the field.

use super::History;
use crate::plan::{Pairing, Plan};
use crate::stats::elo::expected_score;
use crate::stats::fit::{DRAW, Fit, FitMeeting, LOSS, WIN};

/// Pairs for everybody who is free, most informative first, as far as the run's number of pairs goes.
///
/// What a pair tells is the information of a game at the expected score, `p (1 - p)`, times how unsure the difference
/// is. Newcomers are most unsure and come first; who is far stronger or weaker tells little.
pub(super) fn next(plan: &Plan, history: &History<'_>) -> Vec<Pairing> {
    let entrants = plan.entrants.len();
    let meetings = meetings(entrants, history);
    let fit = Fit::new(entrants, &meetings, &[]);
    let mut gains: Vec<(f64, usize, usize)> = Vec::new();
    for a in (0..entrants).filter(|&a| history.active[a]) {
        for b in (a + 1..entrants).filter(|&b| history.active[b]) {
            let p = expected_score(fit.elo[a] - fit.elo[b]);
            gains.push((p * (1.0 - p) * fit.error_between(a, b).powi(2), a, b));
        }
    }
    // Stable and with ties in the order of entry, so that the choice is the same everywhere.
    gains.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut is_free = history.active.to_vec();
    let left = plan.pairs.saturating_sub(history.pairs.len() as u64);
    let mut wave = Vec::new();
    for (_, a, b) in gains {
        if (wave.len() as u64) < left && is_free[a] && is_free[b] {
            (is_free[a], is_free[b]) = (false, false);
            let met = meetings.iter().find(|meeting| (meeting.a, meeting.b) == (a, b));
            let opening = met.map_or(0, |meeting| meeting.pairs.iter().flatten().sum());
            wave.push(Pairing { a, b, opening });
        }
    }
    wave
}

/// The pairs so far, each as two games of which the score alone is known.
fn meetings(entrants: usize, history: &History<'_>) -> Vec<FitMeeting> {
    let mut table = vec![FitMeeting::default(); entrants * entrants];
    for pair in history.pairs {
        let (a, b) = (pair.a.min(pair.b), pair.a.max(pair.b));
        let half_points = pair.half_points_of(a).unwrap_or_default();
        let (own, other) = match half_points {
            0 => (LOSS, LOSS),
            1 => (DRAW, LOSS),
            2 => (WIN, LOSS),
            3 => (WIN, DRAW),
            _ => (WIN, WIN),
        };
        let meeting = &mut table[a * entrants + b];
        (meeting.a, meeting.b) = (a, b);
        meeting.pairs[own][other] += 1;
    }
    table.retain(|meeting| meeting.a != meeting.b);
    table
}
