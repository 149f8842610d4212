//! Swiss rounds: against whoever has as many points, and never twice against the same if that can be.

use super::History;
use crate::plan::{Pairing, Plan};

/// Steps of the search for a round without repetitions; a field that needs more repeats a meeting.
const STEPS_MAX: u32 = 100_000;

/// A round, strongest first. Each pairing plays all its pairs.
pub(super) fn round(plan: &Plan, history: &History<'_>) -> Vec<Pairing> {
    let entrants = plan.entrants.len();
    let met = Met::new(entrants, history);
    let mut order: Vec<usize> = (0..entrants).filter(|&entrant| history.active[entrant]).collect();
    let points = points(plan, history, &met);
    // Stable, so that equals stand in the order in which they entered.
    order.sort_by_key(|&entrant| std::cmp::Reverse(points[entrant]));
    if order.len() % 2 == 1 {
        let rests = bye(&order, &met);
        order.retain(|&entrant| entrant != rests);
    }
    let mut steps = 0;
    let pairings = search(&order, &met, &mut steps).unwrap_or_else(|| neighbours(&order));
    let round = u64::from(history.waves) * plan.pairs;
    let openings = (0..plan.pairs).map(|pair| round + pair);
    openings.flat_map(|opening| pairings.iter().map(move |&(a, b)| Pairing { a, b, opening })).collect()
}

/// Who met whom, and how many rounds everybody was without an opponent.
struct Met {
    entrants: usize,
    pairs: Vec<bool>,
    rounds_played: Vec<u32>,
}

impl Met {
    fn new(entrants: usize, history: &History<'_>) -> Self {
        let mut met =
            Self { entrants, pairs: vec![false; entrants * entrants], rounds_played: vec![0; entrants] };
        for pair in history.pairs {
            if !std::mem::replace(&mut met.pairs[pair.a * entrants + pair.b], true) {
                met.pairs[pair.b * entrants + pair.a] = true;
                met.rounds_played[pair.a] += 1;
                met.rounds_played[pair.b] += 1;
            }
        }
        met
    }

    fn have(&self, a: usize, b: usize) -> bool {
        self.pairs[a * self.entrants + b]
    }
}

/// Half points of everybody. A round without an opponent counts as won, one before somebody came as nothing.
fn points(plan: &Plan, history: &History<'_>, met: &Met) -> Vec<u64> {
    let byes = |entrant: usize| {
        let absent = met.rounds_played[entrant] + history.missed[entrant];
        u64::from(history.waves.saturating_sub(absent))
    };
    let mut points: Vec<u64> = (0..met.entrants).map(|entrant| byes(entrant) * plan.pairs * 4).collect();
    for pair in history.pairs {
        points[pair.a] += u64::from(pair.half_points);
        points[pair.b] += u64::from(4 - pair.half_points);
    }
    points
}

/// Who rests: the last among those who rested least.
fn bye(order: &[usize], met: &Met) -> usize {
    let most = order.iter().map(|&entrant| met.rounds_played[entrant]).max().unwrap_or_default();
    let last = order.iter().rev().find(|&&entrant| met.rounds_played[entrant] == most);
    *last.expect("an odd number of entrants is not zero")
}

/// Pairs the first with the nearest below whom it has not met, then the rest likewise; goes back where that fails.
fn search(order: &[usize], met: &Met, steps: &mut u32) -> Option<Vec<(usize, usize)>> {
    let Some((&first, rest)) = order.split_first() else { return Some(Vec::new()) };
    for (place, &opponent) in rest.iter().enumerate() {
        *steps += 1;
        if *steps > STEPS_MAX {
            return None;
        }
        if met.have(first, opponent) {
            continue;
        }
        let others: Vec<usize> = [&rest[..place], &rest[place + 1..]].concat();
        if let Some(mut pairings) = search(&others, met, steps) {
            pairings.insert(0, (first, opponent));
            return Some(pairings);
        }
    }
    None
}

/// Pairs neighbours, whether they met or not.
fn neighbours(order: &[usize]) -> Vec<(usize, usize)> {
    order.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}
