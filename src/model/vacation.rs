//! Vacations of people who play by correspondence: their clocks stand meanwhile. Pure.

use std::time::Duration;

use super::time::UnixMillis;

/// Days of vacation that somebody has within a year: four weeks, as people have from work.
pub(crate) const DAYS_A_YEAR: u32 = 28;

const DAY: Duration = Duration::from_hours(24);
/// What counts as a year: the time before the end of a vacation, so that nobody begins anew on a date.
const YEAR: Duration = Duration::from_hours(365 * 24);

/// How far back vacations are looked at when games are taken up: longer than a turn can last, with all the vacation
/// there is.
pub(crate) const LOOK_BACK: Duration = Duration::from_hours(60 * 24);

/// A time in which somebody's clocks stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vacation {
    pub(crate) from: UnixMillis,
    /// When it ends, or has ended.
    pub(crate) until: UnixMillis,
}

impl Vacation {
    /// One of so many days that begins now.
    pub(crate) fn of_days(days: u32, now: UnixMillis) -> Self {
        Self { from: now, until: now.later(DAY * days) }
    }

    /// The same if it ends now, unless it has ended.
    #[must_use = "the vacation goes in and comes out"]
    pub(crate) fn ended(self, now: UnixMillis) -> Self {
        Self { until: self.until.min(now).max(self.from), ..self }
    }

    /// Whether it goes on.
    pub(crate) fn holds(self, now: UnixMillis) -> bool {
        self.from <= now && now < self.until
    }

    /// The part of it between two moments.
    pub(crate) fn within(self, from: UnixMillis, until: UnixMillis) -> Duration {
        self.until.min(until).after(self.from.max(from))
    }
}

/// The one of these vacations that goes on.
pub(crate) fn current(taken: &[Vacation], now: UnixMillis) -> Option<Vacation> {
    taken.iter().copied().find(|vacation| vacation.holds(now))
}

/// How much of these vacations is between two moments.
pub(crate) fn within(vacations: &[Vacation], from: UnixMillis, until: UnixMillis) -> Duration {
    vacations.iter().map(|vacation| vacation.within(from, until)).sum()
}

/// Whole days that may still be taken after these.
pub(crate) fn days_left(taken: &[Vacation], now: UnixMillis) -> u32 {
    let used = within(taken, now.before(YEAR), UnixMillis(i64::MAX));
    let left = (DAY * DAYS_A_YEAR).saturating_sub(used);
    u32::try_from(left.as_secs() / DAY.as_secs()).unwrap_or(DAYS_A_YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: UnixMillis = UnixMillis(1_795_000_000_000);

    fn days(days: u64) -> Duration {
        Duration::from_hours(24 * days)
    }

    #[test]
    fn four_weeks_are_there_within_a_year() {
        assert_eq!(days_left(&[], NOON), 28);
        let ten = Vacation::of_days(10, NOON);
        assert_eq!(days_left(&[ten], NOON), 18);
        let cut = Vacation { until: NOON.later(Duration::from_hours(30)), ..ten };
        assert_eq!(days_left(&[cut], NOON.later(days(3))), 26, "one that was ended early costs what it was");
        assert_eq!(ten.ended(NOON.later(Duration::from_hours(30))), cut);
        assert_eq!((cut.ended(ten.until), ten.ended(NOON.before(days(1))).until), (cut, NOON));
        assert_eq!(days_left(&[ten, Vacation::of_days(28, NOON)], NOON), 0);
        assert_eq!(days_left(&[ten], NOON.later(days(365 + 5))), 23, "half of it is a year ago");
        assert_eq!(days_left(&[ten], NOON.later(days(400))), 28);
    }

    #[test]
    fn only_what_lies_between_counts() {
        let week = Vacation::of_days(7, NOON);
        assert_eq!(week.within(NOON.before(days(1)), NOON.later(days(3))), days(3));
        assert_eq!(week.within(NOON.later(days(5)), NOON.later(days(30))), days(2));
        assert_eq!(week.within(NOON.later(days(8)), NOON.later(days(30))), Duration::ZERO);
        assert!(week.holds(NOON) && !week.holds(week.until) && !week.holds(NOON.before(days(1))));
    }
}
