//! Which two bots play next: the pair that tells most about the order of the field. Pure.

use std::time::Instant;

use fourfold_arena::stats::elo::{POINTS, expected_score};
use fourfold_arena::stats::normal;
use fourfold_engine::Variant;

use super::budget::BudgetClass;
use super::cadence::{Cadence, PairsPerMinute};
use super::meetings::Meetings;
use crate::competition::leaderboard::standings::Standings;
use crate::lobby::acceptance::{Proposal, check};
use crate::model::clock::TimeControl;
use crate::model::player::Identity;
use crate::protocol::terms::Accepts;

use crate::model::player::PlayerKind;

/// Games in a pair.
const GAMES: f64 = 2.0;

/// What a pair is worth whose order is known beyond doubt, beside one whose order is open: its ratings are still shown
/// with an error, which it makes smaller.
const WORTH_WITHOUT_DOUBT: f64 = 0.1;

/// How strong a bot is, as far as is known, in Elo points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct KnownStrength {
    pub(crate) elo: f64,
    pub(crate) error: f64,
    /// Whether too few games stand behind it to say anything.
    pub(crate) is_new: bool,
}

/// A bot that could play now.
#[derive(Clone, Debug)]
pub(crate) struct PairCandidate {
    pub(crate) identity: Identity,
    /// Whether the house plays it.
    pub(crate) house: bool,
    /// Whether it has a house pair under way, or is being probed in one: it can still be a remote bot's opponent.
    pub(crate) is_taken: bool,
    /// In the ladder's variant.
    pub(crate) strength: KnownStrength,
    /// The rating that everybody is shown, by which bots say whom they accept.
    pub(crate) shown_elo: i32,
    pub(crate) accepts: Accepts,
    /// Which budget pays for it; none does for remote bots.
    pub(crate) class: BudgetClass,
    /// What its part in a pair costs us, in seconds of a core.
    pub(crate) cost: f64,
}

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairQuestion<'a> {
    pub(crate) field: &'a [PairCandidate],
    /// How sure the difference of two ratings is, where there is a joint fit.
    pub(crate) fit: Option<&'a Standings>,
    /// What they have played within the day.
    pub(crate) meetings: &'a Meetings,
    /// Pairs of the same two bots within a day.
    pub(crate) pairs_per_day: u32,
    /// What remote bots have begun within the last minute, and how much that may be.
    pub(crate) cadence: &'a Cadence,
    pub(crate) per_minute: PairsPerMinute,
    /// How much time each side would have.
    pub(crate) time: TimeControl,
    pub(crate) now: Instant,
    /// Whether pairs of bots of the house may begin, by class: quick and slow.
    pub(crate) house: [bool; 2],
}

/// The pair to play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChosenPair {
    /// Two places in the field, `a` before `b`.
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// Which budget pays for it, if both are of the house.
    pub(crate) class: Option<BudgetClass>,
}

/// Chooses the pair to play next, if any two candidates may meet.
///
/// Pairs with a remote bot go before those of the house, pairs with a newcomer before others; among these the one that
/// tells most for what it costs.
pub(crate) fn choose(question: &PairQuestion<'_>) -> Option<ChosenPair> {
    let field = question.field;
    let mut best: Option<((bool, bool, f64), ChosenPair)> = None;
    for (a, one) in field.iter().enumerate() {
        for (b, other) in field.iter().enumerate().skip(a + 1) {
            if !question.may_meet(one, other) {
                continue;
            }
            let is_remote = !one.house || !other.house;
            let is_new = one.strength.is_new || other.strength.is_new;
            let worth = (is_remote, is_new, question.worth(one, other));
            if best.is_none_or(|(most, _)| worth > most) {
                let class = (!is_remote).then(|| one.class.with(other.class));
                best = Some((worth, ChosenPair { a, b, class }));
            }
        }
    }
    best.map(|(_, choice)| choice)
}

impl PairQuestion<'_> {
    /// Standard error of the difference of two ratings, in Elo points.
    fn error_between(&self, one: &PairCandidate, other: &PairCandidate) -> f64 {
        let joint = self.fit.and_then(|fit| fit.error_between(&one.identity.id, &other.identity.id));
        joint.unwrap_or_else(|| one.strength.error.hypot(other.strength.error))
    }

    /// What a pair tells for a second of a core, in squared Elo points; see [`gain`].
    pub(super) fn worth(&self, one: &PairCandidate, other: &PairCandidate) -> f64 {
        let error = self.error_between(one, other);
        gain(one.strength.elo - other.strength.elo, error) / cost(one, other)
    }

    /// Whether they have not met too often.
    pub(super) fn may_meet_today(&self, one: &PairCandidate, other: &PairCandidate) -> bool {
        let played = self.meetings.pairs(&one.identity.id, &other.identity.id, self.now).unwrap_or_default();
        played < self.pairs_per_day
    }

    fn may_meet(&self, one: &PairCandidate, other: &PairCandidate) -> bool {
        let of_house = one.house && other.house;
        let is_allowed = if of_house {
            !one.is_taken && !other.is_taken && self.may_begin(one.class.with(other.class))
        } else {
            one.identity.family() != other.identity.family()
        };
        is_allowed
            && one.identity.id != other.identity.id
            && self.may_meet_today(one, other)
            && self.keeps_pace(one, other)
            && self.keeps_pace(other, one)
            && self.accepts(one, other)
            && self.accepts(other, one)
    }

    /// Whether the one may meet the other again already; the house has measures of its own.
    fn keeps_pace(&self, one: &PairCandidate, other: &PairCandidate) -> bool {
        let (bot, opponent) = (&one.identity.id, &other.identity.id);
        one.house || self.cadence.may_meet(bot, opponent, self.per_minute, self.now)
    }

    fn may_begin(&self, class: BudgetClass) -> bool {
        let [quick, slow] = self.house;
        match class {
            BudgetClass::Quick => quick,
            BudgetClass::Slow => slow,
        }
    }

    /// Whether the one accepts a game against the other.
    fn accepts(&self, one: &PairCandidate, other: &PairCandidate) -> bool {
        let proposal = Proposal {
            time: self.time,
            rated: true,
            variant: Variant::STANDARD,
            opponent: PlayerKind::Bot,
            opponent_elo: Some(other.shown_elo),
        };
        check(&one.accepts, &proposal).is_ok()
    }
}

/// What a pair of games between two bots tells whose ratings differ by so much, with such a standard error; all in Elo
/// points.
///
/// By how much it makes the variance of their difference smaller, in squared Elo points: two games have the information
/// `2 p (1 - p)`, so who is far stronger or weaker tells little, and who is known already too. What may change the
/// order of the two counts for more.
pub(crate) fn gain(difference: f64, error: f64) -> f64 {
    let variance = error * error;
    let p = expected_score(difference);
    let information = GAMES * p * (1.0 - p) / (POINTS * POINTS);
    let smaller_by = variance * variance * information / (1.0 + variance * information);
    let stronger = normal::cdf(difference / error.max(f64::EPSILON));
    let doubt = 4.0 * stronger * (1.0 - stronger);
    smaller_by * (WORTH_WITHOUT_DOUBT + doubt)
}

/// What a pair costs us, if it is one of the house; remote bots think for themselves.
fn cost(one: &PairCandidate, other: &PairCandidate) -> f64 {
    if one.house && other.house { one.cost + other.cost } else { 1.0 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::clock::now;

    const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

    pub(in super::super) fn candidate(name: &str, house: bool, elo: f64, error: f64) -> PairCandidate {
        let identity = Identity {
            id: name.parse().unwrap(),
            name: name.parse().unwrap(),
            kind: PlayerKind::Bot,
            owner: (!house).then(|| format!("owner{name}").parse().unwrap()),
        };
        let strength = KnownStrength { elo, error, is_new: error > 100.0 };
        let (accepts, class) = (Accepts::default(), BudgetClass::Quick);
        PairCandidate {
            identity,
            house,
            is_taken: false,
            strength,
            shown_elo: 750,
            accepts,
            class,
            cost: 1.0,
        }
    }

    /// Nobody has played within the last minute.
    fn fresh() -> &'static Cadence {
        static FRESH: std::sync::LazyLock<Cadence> = std::sync::LazyLock::new(Cadence::default);
        &FRESH
    }

    pub(in super::super) fn question<'a>(
        field: &'a [PairCandidate],
        meetings: &'a Meetings,
    ) -> PairQuestion<'a> {
        PairQuestion {
            field,
            fit: None,
            meetings,
            pairs_per_day: 10,
            cadence: fresh(),
            per_minute: PairsPerMinute { all: 9, same: 1 },
            time: TIME,
            now: now(),
            house: [true, true],
        }
    }

    #[track_caller]
    fn check_choice(question: &PairQuestion<'_>, expected: Option<[&str; 2]>) {
        let name = |place: usize| question.field[place].identity.id.as_str();
        let names = choose(question).map(|choice| [name(choice.a), name(choice.b)]);
        assert_eq!(names, expected);
    }

    #[track_caller]
    fn check_field(field: &[PairCandidate], expected: Option<[&str; 2]>) {
        check_choice(&question(field, &Meetings::default()), expected);
    }

    #[test]
    fn remote_newcomers_come_first_and_meet_whoever_tells_most() {
        let field = [
            candidate("h1", true, 1400.0, 50.0),
            candidate("h2", true, 1600.0, 350.0),
            candidate("r1", false, 1500.0, 60.0),
            candidate("r2", false, 1450.0, 350.0),
        ];
        check_field(&field, Some(["h2", "r2"]));
        check_field(&field[..3], Some(["h2", "r1"]));
        check_field(&field[..2], Some(["h1", "h2"]));
    }

    #[test]
    fn close_ratings_tell_more_than_far_ones() {
        let field = [
            candidate("h1", true, 1000.0, 50.0),
            candidate("h2", true, 1500.0, 50.0),
            candidate("h3", true, 1520.0, 50.0),
            candidate("h4", true, 2400.0, 50.0),
        ];
        check_field(&field, Some(["h2", "h3"]));
    }

    #[test]
    fn what_is_unsure_tells_more_than_what_is_known() {
        assert!(gain(0.0, 92.0) > 4.0 * gain(0.0, 28.0));
        assert!(gain(0.0, 127.0) > gain(0.0, 92.0));
        assert!(gain(-1.0, 28.0) > 4.0 * gain(-100.0, 28.0), "their order is known");
        assert!((gain(60.0, 80.0) - gain(-60.0, 80.0)).abs() < 1e-9, "either way round");
        assert!(gain(-7_500.0, 28.0) >= 0.0);
        assert!(gain(0.0, 0.0).abs() < f64::EPSILON);
    }

    #[test]
    fn what_costs_less_is_played_more_often() {
        let mut field = [
            candidate("h1", true, 1500.0, 60.0),
            candidate("h2", true, 1500.0, 60.0),
            candidate("h3", true, 1500.0, 50.0),
            candidate("h4", true, 1500.0, 50.0),
        ];
        check_field(&field, Some(["h1", "h2"]));
        (field[0].cost, field[1].cost) = (3.0, 3.0);
        check_field(&field, Some(["h3", "h4"]));
        (field[2].strength.error, field[3].strength.error) = (30.0, 30.0);
        check_field(&field, Some(["h1", "h2"]));
    }

    #[test]
    fn budgets_that_are_empty_wait() {
        let mut field = [
            candidate("h1", true, 1500.0, 90.0),
            candidate("h2", true, 1500.0, 90.0),
            candidate("h3", true, 1500.0, 30.0),
        ];
        field[0].class = BudgetClass::Slow;
        let meetings = Meetings::default();
        check_choice(
            &PairQuestion { house: [true, false], ..question(&field, &meetings) },
            Some(["h2", "h3"]),
        );
        check_choice(&PairQuestion { house: [false, false], ..question(&field, &meetings) }, None);
        field[1].is_taken = true;
        check_choice(&PairQuestion { house: [true, false], ..question(&field, &meetings) }, None);
        field[2].house = false;
        field[2].identity.owner = Some("owner".parse().unwrap());
        let closed = PairQuestion { house: [false, false], ..question(&field, &meetings) };
        check_choice(&closed, Some(["h1", "h3"])); // remote bots are not made to wait
    }

    #[test]
    fn the_same_two_do_not_meet_all_day() {
        let field = [candidate("h1", true, 1500.0, 90.0), candidate("h2", true, 1500.0, 90.0)];
        let (mut meetings, now) = (Meetings::default(), now());
        let [a, b] = ["h1", "h2"].map(|id| id.parse().unwrap());
        meetings.learn(&a, &b, 9, now);
        check_choice(&PairQuestion { now, ..question(&field, &meetings) }, Some(["h1", "h2"]));
        meetings.add(&b, &a);
        check_choice(&PairQuestion { now, ..question(&field, &meetings) }, None);
    }

    #[test]
    fn a_remote_bot_does_not_meet_the_same_one_again_at_once() {
        let field = [candidate("h1", true, 1500.0, 90.0), candidate("r1", false, 1500.0, 90.0)];
        let (meetings, mut cadence, now) = (Meetings::default(), Cadence::default(), now());
        let [house, remote] = ["h1", "r1"].map(|id| id.parse().unwrap());
        let asked = |cadence: &Cadence, expected| {
            let house = [false, false];
            check_choice(&PairQuestion { cadence, now, house, ..question(&field, &meetings) }, expected);
        };
        asked(&cadence, Some(["h1", "r1"]));
        cadence.note(&house, &remote, now);
        asked(&cadence, Some(["h1", "r1"])); // the house has measures of its own
        cadence.note(&remote, &house, now);
        asked(&cadence, None);
    }

    #[test]
    fn bots_of_one_owner_do_not_meet() {
        let mut field = [candidate("r1", false, 1500.0, 350.0), candidate("r2", false, 1500.0, 350.0)];
        field[1].identity.owner = field[0].identity.owner.clone();
        check_field(&field, None);
    }

    #[test]
    fn what_a_bot_does_not_accept_is_never_chosen() {
        let mut field = [candidate("h1", true, 1500.0, 350.0), candidate("r1", false, 1500.0, 350.0)];
        field[1].accepts.rated = Some(false);
        check_field(&field, None);
        check_field(&field[1..], None);
    }
}
