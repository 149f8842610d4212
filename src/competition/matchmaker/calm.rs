//! When there is little left to learn of the bots of the house, and the ladder gets by with next to nothing. Pure.
//!
//! What a pair tells for a second of a core falls with the fourth power of the error: four times the games cost four
//! times as much and tell a sixteenth. So there is a clear end, for bots that search long before the others, and beyond
//! it no rush: then one pair at a time plays, at the pace of people, so that there is always a game to watch.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::budget::CalmClasses;
use super::choose::{PairCandidate, PairQuestion};
use crate::model::ids::PlayerId;

/// What a second of a core must tell to be spent in a hurry, in squared Elo points. Between equals it tells less once
/// the error of their difference is under some 20 points for bots that answer at once, 70 where one of them searches
/// for a tenth of a second.
const WORTH_MIN: f64 = 120.0;

/// How long a bot is new, after which nothing about it is urgent any more, however long it thinks: some five hundred
/// games for each of the house. Versions of learners come to the ladder until the 10,000th game of a new arena, which
/// is some 25 minutes old then, and are new as well.
const NEW_FOR: Duration = Duration::from_mins(20);

/// Who is new, and for which bots there is no hurry.
#[derive(Debug, Default)]
pub(crate) struct Calm {
    /// Since when bots of the house are on the ladder, as far as this process has seen.
    since: HashMap<PlayerId, Instant>,
    classes: CalmClasses,
}

impl Calm {
    /// Looks at all pairs of the house that may meet, whoever plays just now.
    pub(crate) fn look(&mut self, question: &PairQuestion<'_>) {
        let house = || question.field.iter().filter(|bot| bot.house);
        for bot in house() {
            self.since.entry(bot.identity.id.clone()).or_insert(question.now);
        }
        let mut classes = CalmClasses { quick: true, slow: true };
        for (place, one) in house().enumerate() {
            for other in house().skip(place + 1) {
                let class = one.class.with(other.class);
                if classes.is_calm(class) && self.is_urgent(question, one, other) {
                    classes.wake(class);
                }
            }
        }
        self.classes = classes;
    }

    /// For which pairs there is no hurry.
    pub(crate) fn classes(&self) -> CalmClasses {
        self.classes
    }

    fn is_urgent(&self, question: &PairQuestion<'_>, one: &PairCandidate, other: &PairCandidate) -> bool {
        (self.is_new(one, question.now) || self.is_new(other, question.now))
            && question.worth(one, other) >= WORTH_MIN
            && question.may_meet_today(one, other)
    }

    fn is_new(&self, bot: &PairCandidate, now: Instant) -> bool {
        self.since.get(&bot.identity.id).is_none_or(|since| now.saturating_duration_since(*since) < NEW_FOR)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::budget::{Activity, Budget, BudgetClass, cost_of_pair};
    use super::super::choose::{ChosenPair, choose, tests as choosing};
    use super::super::meetings::Meetings;
    use super::*;
    use crate::model::clock::now;

    fn candidate(name: &str, error: f64, per_move: Duration) -> PairCandidate {
        let class = BudgetClass::of(Some(per_move));
        PairCandidate {
            class,
            cost: cost_of_pair(Some(per_move)),
            ..choosing::candidate(name, true, 1500.0, error)
        }
    }

    const QUICK: Duration = Duration::from_micros(200);
    const SLOW: Duration = Duration::from_millis(100);

    #[track_caller]
    fn check_calm(calm: &mut Calm, field: &[PairCandidate], now: Instant, expected: [bool; 2]) {
        let meetings = Meetings::default();
        calm.look(&PairQuestion { now, ..choosing::question(field, &meetings) });
        let [quick, slow] = expected;
        assert_eq!(calm.classes(), CalmClasses { quick, slow });
    }

    #[test]
    fn a_known_field_is_calm_and_those_who_search_are_known_earlier() {
        let (mut calm, now) = (Calm::default(), now());
        for (error, expected) in [(200.0, [false, false]), (30.0, [false, true]), (15.0, [true, true])] {
            let field = [("q1", QUICK), ("q2", QUICK), ("s1", SLOW), ("s2", SLOW)]
                .map(|(name, per_move)| candidate(name, error, per_move));
            check_calm(&mut calm, &field, now, expected);
        }
        check_calm(&mut calm, &[], now, [true, true]);
    }

    #[test]
    fn nobody_is_new_for_ever_and_a_newcomer_wakes_it() {
        let (mut calm, start) = (Calm::default(), now());
        let mut field = vec![candidate("q1", 200.0, QUICK), candidate("q2", 200.0, QUICK)];
        check_calm(&mut calm, &field, start, [false, true]);
        check_calm(&mut calm, &field, start + NEW_FOR, [true, true]);
        field.push(candidate("q3", 200.0, QUICK));
        check_calm(&mut calm, &field, start + NEW_FOR, [false, true]);
        check_calm(&mut calm, &field, start + 2 * NEW_FOR, [true, true]);
    }

    #[test]
    fn whoever_has_met_enough_today_is_not_urgent() {
        let (mut calm, mut meetings, now) = (Calm::default(), Meetings::default(), now());
        let field = [candidate("q1", 200.0, QUICK), candidate("q2", 200.0, QUICK)];
        meetings.learn(&field[0].identity.id, &field[1].identity.id, 10, now);
        calm.look(&PairQuestion { now, ..choosing::question(&field, &meetings) });
        assert!(calm.classes().is_complete());
    }

    #[test]
    fn bots_that_are_playing_just_now_count_too() {
        let mut field = [candidate("q1", 200.0, QUICK), candidate("q2", 200.0, QUICK)];
        field[0].is_taken = true;
        check_calm(&mut Calm::default(), &field, now(), [false, true]);
    }

    /// The line-up of the house as it is, by what a move costs.
    fn line_up() -> Vec<PairCandidate> {
        let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        let moves = [
            0.01, 0.01, 0.05, 0.05, 0.01, 0.02, 0.5, 20.0, 0.05, 200.0, 0.2, 1.0, 50.0, 5.0, 5.0, 100.0,
            100.0, 1.0, 10.0, 0.05, 0.05,
        ];
        let bot = |(number, &cost): (usize, &f64)| {
            let mut bot = candidate(&format!("b{number}"), 350.0, ms(cost));
            #[expect(clippy::cast_precision_loss, reason = "a few bots")]
            let elo = 1_000.0 + 60.0 * number as f64;
            bot.strength.elo = elo;
            bot
        };
        moves.iter().enumerate().map(bot).collect()
    }

    /// Plays pairs of a field one after the other, as soon as the budget lets them; each game that a bot plays makes it
    /// better known. Says how many seconds of a core each of some hours took, and how many pairs were played.
    fn simulate(hours: usize) -> Vec<(f64, u32)> {
        let field = RefCell::new(line_up());
        let (mut calm, mut budget) = (Calm::default(), Budget::new(2, 25, 3));
        let (start, mut used) = (now(), vec![(0.0, 0); hours]);
        // When the calm pair under way ends.
        let mut watched_until = start;
        let mut meetings = Meetings::default();
        for second in 0..hours * 3_600 {
            let now = start + Duration::from_secs(second as u64);
            if second % 86_400 == 0 {
                meetings = Meetings::default();
            }
            let ask =
                |house| PairQuestion { now, house, pairs_per_day: 100, ..choosing::question(&[], &meetings) };
            let at = field.borrow();
            calm.look(&PairQuestion { field: &at, ..ask([true, true]) });
            budget.pass(Duration::from_secs(1), Activity::Alone, calm.classes());
            let may = [BudgetClass::Quick, BudgetClass::Slow].map(|class| {
                budget.allows(class) && (!calm.classes().is_calm(class) || now >= watched_until)
            });
            let chosen = choose(&PairQuestion { field: &at, ..ask(may) });
            drop(at);
            let Some(ChosenPair { a, b, class: Some(class), .. }) = chosen else { continue };
            let mut at = field.borrow_mut();
            let cost = at[a].cost + at[b].cost;
            budget.spend(class, Duration::from_secs_f64(cost));
            used[second / 3_600].0 += cost;
            used[second / 3_600].1 += 1;
            if calm.classes().is_calm(class) {
                watched_until = now + Duration::from_mins(2);
            }
            meetings.add(&at[a].identity.id, &at[b].identity.id);
            for place in [a, b] {
                // What two games between equals tell about a rating.
                let variance = at[place].strength.error.powi(2);
                at[place].strength.error = (variance / (1.0 + variance * 1.65e-5)).sqrt();
                at[place].strength.is_new = false;
            }
        }
        used
    }

    #[test]
    fn a_new_arena_is_calm_after_an_hour() {
        let hours = simulate(4);
        assert!(hours[0].0 > 200.0 && hours[0].1 > 500, "it finds out in the first: {hours:?}");
        for (cost, pairs) in &hours[1..] {
            assert!(*cost <= 0.03 * 3_600.0 * 1.02, "three hundredths of a core: {hours:?}");
            assert!((10..=30).contains(pairs), "there is a game to watch: {hours:?}");
        }
    }
}
