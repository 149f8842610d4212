//! Who meets whom in an arena: pure, time and chance come as arguments.

use std::cmp::Reverse;
use std::collections::HashSet;

use fourfold_engine::BySide;
use rand::{Rng, RngExt};

use crate::model::time::UnixMillis;

/// So many ranks apart two meet at once: near enough that both know whom they play for.
const REACH: u64 = 8;

/// So many ranks it becomes wider with each second that one of them waits, so that nobody waits for long.
const REACH_GROWS: u64 = 4;

/// For so long whoever has just met waits for somebody else, in milliseconds: others end their games meanwhile, but a
/// long game of theirs is no reason to sit idle.
const PATIENCE_MS: i64 = 20_000;

/// At so many who take part there is nobody else to wait for.
const ALONE: usize = 2;

/// Somebody who is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiting {
    /// Their place among the entrants.
    pub(super) place: usize,
    /// How many have more points; equals share it.
    pub(super) rank: u64,
    /// Since when they have been free.
    pub(super) since: UnixMillis,
    /// Whom they met last, by place.
    pub(super) last_met: Option<usize>,
    /// Games that they began more often than the opponent did.
    pub(super) begun_more: i64,
}

/// The games that can begin now, `present` being how many take part and are there, those who play among them.
///
/// Whoever waits longest is served first, with the nearest in rank within reach, and not with whom they have just met
/// unless both have waited long for another. No two are left over who may meet, nor two for whom a pair would change.
pub(super) fn pairings(
    waiting: &[Waiting],
    present: usize,
    now: UnixMillis,
    rng: &mut impl Rng,
) -> Vec<BySide<usize>> {
    // Equals stand by lot, so that the first round is drawn.
    let mut order: Vec<(Waiting, u64)> = waiting.iter().map(|one| (*one, rng.random())).collect();
    order.sort_by_key(|(one, lot)| (one.since, *lot));
    let field = Field { present, now };
    let mut pairs: Vec<[Waiting; 2]> = Vec::new();
    let mut left: Vec<Waiting> = Vec::new();
    let mut taken = HashSet::new();
    for (place, (one, _)) in order.iter().enumerate() {
        if !taken.insert(one.place) {
            continue;
        }
        let others = order[place + 1..].iter();
        let eligible =
            others.filter(|(other, _)| !taken.contains(&other.place) && field.may_meet(one, other));
        match eligible.min_by_key(|(other, lot)| (one.rank.abs_diff(other.rank), *lot)) {
            Some((other, _)) => {
                taken.insert(other.place);
                pairs.push([*one, *other]);
            }
            None => left.push(*one),
        }
    }
    while field.mend(&mut pairs, &mut left) {}
    pairs.into_iter().map(|[one, other]| seats(&one, &other, rng)).collect()
}

/// What holds for all who wait.
struct Field {
    /// How many take part and are there.
    present: usize,
    now: UnixMillis,
}

impl Field {
    fn waited_ms(&self, one: &Waiting) -> i64 {
        (self.now.0 - one.since.0).max(0)
    }

    fn may_meet(&self, one: &Waiting, other: &Waiting) -> bool {
        let [least, most] = {
            let waited = [self.waited_ms(one), self.waited_ms(other)];
            [waited[0].min(waited[1]), waited[0].max(waited[1])]
        };
        let reach = REACH + REACH_GROWS * (most / 1_000).cast_unsigned();
        let have_just_met = one.last_met == Some(other.place) || other.last_met == Some(one.place);
        let may_repeat = self.present <= ALONE || least >= PATIENCE_MS;
        one.rank.abs_diff(other.rank) <= reach && (!have_just_met || may_repeat)
    }

    /// Parts one pair for two who are left over and may each meet one of it; the nearest of those in rank. False if
    /// there is none.
    fn mend(&self, pairs: &mut Vec<[Waiting; 2]>, left: &mut Vec<Waiting>) -> bool {
        let mut best: Option<(u64, usize, [usize; 2])> = None;
        for (at, [one, other]) in pairs.iter().enumerate() {
            for (a, first) in left.iter().enumerate() {
                for (b, second) in left.iter().enumerate() {
                    if a == b || !self.may_meet(one, first) || !self.may_meet(other, second) {
                        continue;
                    }
                    let distance = one.rank.abs_diff(first.rank) + other.rank.abs_diff(second.rank);
                    if best.is_none_or(|(least, ..)| distance < least) {
                        best = Some((distance, at, [a, b]));
                    }
                }
            }
        }
        let Some((_, at, mut places)) = best else { return false };
        let [one, other] = pairs[at];
        let [first, second] = places.map(|place| left[place]);
        pairs[at] = [one, first];
        pairs.push([other, second]);
        places.sort_by_key(|place| Reverse(*place));
        for place in places {
            left.remove(place);
        }
        true
    }
}

/// Whoever has begun more often is second; a lot decides between equals.
fn seats(one: &Waiting, other: &Waiting, rng: &mut impl Rng) -> BySide<usize> {
    let one_begins = match one.begun_more.cmp(&other.begun_more) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Equal => rng.random(),
    };
    let [first, second] = if one_begins { [one, other] } else { [other, one] }.map(|seat| seat.place);
    BySide { first, second }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::*;

    const NOW: UnixMillis = UnixMillis(1_000_000);

    fn waits(place: usize, rank: u64, waited_ms: i64, last_met: Option<usize>) -> Waiting {
        Waiting { place, rank, since: UnixMillis(NOW.0 - waited_ms), last_met, begun_more: 0 }
    }

    fn pairs(waiting: &[Waiting], present: usize, seed: u64) -> Vec<[usize; 2]> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let pairs = pairings(waiting, present, NOW, &mut rng);
        let mut pairs: Vec<[usize; 2]> = pairs
            .into_iter()
            .map(|BySide { first, second }| [first.min(second), first.max(second)])
            .collect();
        pairs.sort_unstable();
        pairs
    }

    #[track_caller]
    fn check(waiting: &[Waiting], present: usize, expected: &[[usize; 2]]) {
        for seed in 0..20 {
            assert_eq!(pairs(waiting, present, seed), expected, "{waiting:?}, seed {seed}");
        }
    }

    #[test]
    fn whoever_is_free_meets_the_nearest_in_rank() {
        let field = [waits(0, 0, 9, None), waits(1, 1, 5, None), waits(2, 4, 7, None), waits(3, 6, 3, None)];
        check(&field, 9, &[[0, 1], [2, 3]]);
        check(&field[..3], 9, &[[0, 1]]);
        check(&field[..1], 9, &[]);
        check(&[], 9, &[]);
    }

    #[test]
    fn nobody_meets_the_same_one_at_once_unless_there_is_no_other() {
        let just_met = |waited| [waits(0, 0, waited, Some(1)), waits(1, 1, waited, Some(0))];
        check(&just_met(0), 3, &[]);
        check(&just_met(PATIENCE_MS - 1), 3, &[]);
        check(&just_met(PATIENCE_MS), 3, &[[0, 1]]);
        check(&just_met(0), 2, &[[0, 1]]);
        let third = [just_met(0).as_slice(), &[waits(2, 5, 0, None)]].concat();
        for seed in 0..20 {
            let found = pairs(&third, 3, seed);
            assert!(found == [[0, 2]] || found == [[1, 2]], "{found:?}");
        }
    }

    #[test]
    fn two_who_have_just_met_do_not_keep_others_apart() {
        // 0 would take 1, and leave 2 and 3, who have just met.
        let field =
            [waits(0, 0, 9, None), waits(1, 0, 1, None), waits(2, 1, 1, Some(3)), waits(3, 1, 1, Some(2))];
        for seed in 0..20 {
            assert_eq!(pairs(&field, 9, seed).len(), 2);
        }
    }

    #[test]
    fn who_is_far_in_rank_is_met_after_a_while() {
        let apart = |waited| [waits(0, 0, waited, None), waits(1, 20, 0, None)];
        check(&apart(2_000), 30, &[]);
        check(&apart(3_000), 30, &[[0, 1]]);
    }

    #[test]
    fn the_first_round_is_drawn() {
        let field: Vec<Waiting> = (0..6).map(|place| waits(place, 0, 0, None)).collect();
        let rounds: HashSet<Vec<[usize; 2]>> = (0..50).map(|seed| pairs(&field, 6, seed)).collect();
        assert!(rounds.len() > 5, "{rounds:?}");
    }

    fn somebody() -> impl Strategy<Value = (u64, i64, Option<usize>, i64)> {
        (0_u64..40, 0_i64..40_000, prop::option::of(0_usize..24), -3_i64..4)
    }

    proptest! {
        #[test]
        fn a_round_is_fair_and_leaves_nobody_who_could_play(
            field in prop::collection::vec(somebody(), 0..24),
            playing in 0_usize..5,
            seed: u64,
        ) {
            let waiting: Vec<Waiting> = field
                .iter()
                .enumerate()
                .map(|(place, (rank, waited, last_met, begun_more))| {
                    let last_met = last_met.filter(|met| *met != place);
                    Waiting { begun_more: *begun_more, ..waits(place, *rank, *waited, last_met) }
                })
                .collect();
            let present = waiting.len() + playing;
            let draw = || pairings(&waiting, present, NOW, &mut ChaCha8Rng::seed_from_u64(seed));
            let round = draw();
            prop_assert_eq!(&round, &draw(), "equal lots give equal rounds");
            let field = Field { present, now: NOW };
            let mut seated = HashSet::new();
            for BySide { first, second } in &round {
                prop_assert!(seated.insert(*first) && seated.insert(*second), "nobody sits twice");
                prop_assert!(field.may_meet(&waiting[*first], &waiting[*second]));
                prop_assert!(waiting[*first].begun_more <= waiting[*second].begun_more);
            }
            let left: Vec<&Waiting> = waiting.iter().filter(|one| !seated.contains(&one.place)).collect();
            for one in &left {
                for other in left.iter().filter(|other| other.place != one.place) {
                    prop_assert!(!field.may_meet(one, other), "{one:?} and {other:?} are left over");
                    for BySide { first, second } in &round {
                        let could = field.may_meet(one, &waiting[*first]) && field.may_meet(other, &waiting[*second]);
                        prop_assert!(!could, "{one:?} and {other:?} could play instead of one pair");
                    }
                }
            }
        }
    }
}
