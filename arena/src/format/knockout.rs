//! Knockout: whoever loses a meeting is out. Who stands equal after the pairs of a meeting plays further pairs.

use super::History;
use crate::plan::{Pairing, Plan};

/// Further pairs at most; then the one who entered earlier goes on. Deterministic bots may repeat themselves for ever.
const EXTRA_PAIRS_MAX: u64 = 16;

/// A meeting as it stands.
enum MeetingStanding {
    /// Decided: who goes on, `None` if neither takes part any more.
    Done(Option<usize>),
    /// So many pairs are missing, from this one on.
    Due { a: usize, b: usize, from: u64, pairs: u64 },
}

/// The pairs that the current round still needs; the first of the next round if it needs none.
pub(super) fn next(plan: &Plan, history: &History<'_>) -> Vec<Pairing> {
    let mut places = bracket(plan.entrants.len());
    while places.len() > 1 {
        let standings: Vec<MeetingStanding> = meetings(plan, history, &places).collect();
        let due: Vec<Pairing> = standings.iter().flat_map(pairings).collect();
        if !due.is_empty() {
            return due;
        }
        places = standings.iter().map(winner).collect();
    }
    Vec::new()
}

/// How far everybody came: the number of meetings won, byes included.
pub fn stages(plan: &Plan, history: &History<'_>) -> Vec<u32> {
    let mut stages = vec![0; plan.entrants.len()];
    let mut places = bracket(plan.entrants.len());
    while places.len() > 1 {
        let standings: Vec<MeetingStanding> = meetings(plan, history, &places).collect();
        places = standings.iter().map(winner).collect();
        places.iter().flatten().for_each(|&entrant| stages[entrant] += 1);
    }
    stages
}

fn meetings<'a>(
    plan: &'a Plan,
    history: &'a History<'a>,
    places: &'a [Option<usize>],
) -> impl Iterator<Item = MeetingStanding> + 'a {
    places.chunks_exact(2).map(|pair| standing(plan, history, pair[0], pair[1]))
}

fn winner(standing: &MeetingStanding) -> Option<usize> {
    match standing {
        MeetingStanding::Done(winner) => *winner,
        MeetingStanding::Due { .. } => None,
    }
}

fn pairings(standing: &MeetingStanding) -> Vec<Pairing> {
    match *standing {
        MeetingStanding::Done(_) => Vec::new(),
        MeetingStanding::Due { a, b, from, pairs } => {
            (from..from + pairs).map(|opening| Pairing { a, b, opening }).collect()
        }
    }
}

fn standing(plan: &Plan, history: &History<'_>, a: Option<usize>, b: Option<usize>) -> MeetingStanding {
    let present = |entrant: Option<usize>| entrant.filter(|&entrant| history.active[entrant]);
    let (Some(a), Some(b)) = (present(a), present(b)) else {
        return MeetingStanding::Done(present(a).or(present(b)));
    };
    let is_theirs = |x: usize, y: usize| (x, y) == (a, b) || (x, y) == (b, a);
    let played: Vec<u8> = history
        .pairs
        .iter()
        .filter(|pair| is_theirs(pair.a, pair.b))
        .filter_map(|pair| pair.half_points_of(a))
        .collect();
    let pairs = played.len() as u64;
    let points: u64 = played.iter().map(|&points| u64::from(points)).sum();
    if pairs < plan.pairs {
        MeetingStanding::Due { a, b, from: pairs, pairs: plan.pairs - pairs }
    } else if points == 2 * pairs && pairs < plan.pairs + EXTRA_PAIRS_MAX {
        MeetingStanding::Due { a, b, from: pairs, pairs: 1 }
    } else if points == 2 * pairs {
        MeetingStanding::Done(Some(a.min(b)))
    } else {
        MeetingStanding::Done(Some(if points > 2 * pairs { a } else { b }))
    }
}

/// The places of a bracket, so that the first two entrants can meet in the last round only, the first four in the last
/// two, and so on. Places that nobody takes are byes of the first entrants.
fn bracket(entrants: usize) -> Vec<Option<usize>> {
    let mut places = vec![0];
    while places.len() < entrants {
        let size = places.len() * 2;
        places = places.iter().flat_map(|&seed| [seed, size - 1 - seed]).collect();
    }
    places.into_iter().map(|seed| Some(seed).filter(|&seed| seed < entrants)).collect()
}
