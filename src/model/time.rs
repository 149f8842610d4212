//! Wall-clock time, as it is stored and shown.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thiserror::Error;

/// A pause that is twice as long each time, up to a longest one. The first of all has been doubled no time.
pub(crate) fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(longest)
}

/// What [`UnixMillis::stamp`] looks like.
const STAMP: &str = "%Y%m%dT%H%M%SZ";

/// Wall-clock time: milliseconds since 1970, UTC. A label only; no duration is ever computed from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct UnixMillis(pub(crate) i64);

impl UnixMillis {
    /// Now, by the machine's clock.
    pub fn now() -> Self {
        if let Some(simulated_ms) = super::world::simulated_wall_ms() {
            return Self(simulated_ms);
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// How long it is after another time; nothing if it is before it.
    pub(crate) fn after(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// So long before.
    #[must_use = "a moment is not moved, another one is given"]
    pub(crate) fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
    }

    /// So long after.
    #[must_use = "a moment is not moved, another one is given"]
    pub(crate) fn later(self, time: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The first moment of the year before that in which it lies, UTC.
    pub(crate) fn first_of_last_year(self) -> Self {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let last_year = time.to_zoned(jiff::tz::TimeZone::UTC).year() - 1;
        jiff::civil::Date::new(last_year, 1, 1).map_or(Self(i64::MIN), |day| Day(day).begin())
    }

    /// Its minute, for people: `2026-01-01 03:00 UTC`.
    pub(crate) fn minute(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        time.strftime("%Y-%m-%d %H:%M UTC").to_string()
    }

    /// Its second as mails have it, RFC 5322: `Thu, 01 Jan 2026 03:00:00 +0000`.
    pub(crate) fn mail_date(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
    }

    /// Its second in letters that every file name may have, which sort as times do: `20260101T030000Z`.
    pub(crate) fn stamp(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        time.strftime(STAMP).to_string()
    }

    /// The second of which this is the stamp.
    pub(crate) fn of_stamp(stamp: &str) -> Option<Self> {
        let time = jiff::civil::DateTime::strptime(STAMP, stamp).ok()?;
        let at = Self(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond());
        Some(at).filter(|at| at.stamp() == stamp)
    }
}

/// A day of the calendar, in UTC: `2026-01-31`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Day(jiff::civil::Date);

/// A text is no day.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is no day such as 2026-01-31")]
pub struct InvalidDay(String);

impl Day {
    /// That in which a moment lies; of one beyond all calendars the first of 1970.
    pub(crate) fn of(at: UnixMillis) -> Self {
        let time = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self(time.to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// So many days before it, or the first of all.
    pub(crate) fn before(self, days: i64) -> Self {
        Self(self.0.saturating_sub(jiff::ToSpan::days(days)))
    }

    /// Its first moment.
    pub(crate) fn begin(self) -> UnixMillis {
        let zoned = self.0.to_zoned(jiff::tz::TimeZone::UTC);
        UnixMillis(zoned.map_or(i64::MAX, |midnight| midnight.timestamp().as_millisecond()))
    }

    /// The first moment behind it.
    pub(crate) fn end(self) -> UnixMillis {
        self.0.tomorrow().map_or(UnixMillis(i64::MAX), |tomorrow| Self(tomorrow).begin())
    }
}

impl FromStr for Day {
    type Err = InvalidDay;

    fn from_str(text: &str) -> Result<Self, InvalidDay> {
        // In this form alone: a date may be written in others, with a time behind it.
        let day = text.parse().ok().map(Self).filter(|day: &Self| day.to_string() == text);
        day.ok_or_else(|| InvalidDay(text.to_owned()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for UnixMillis {
    /// RFC 3339, UTC, milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_year_begins_with_its_first_of_january() {
        let of = |time: i64| UnixMillis(time).first_of_last_year().to_string();
        let day = |day: &str| day.parse::<Day>().unwrap();
        assert_eq!(of(day("2026-01-01").begin().0), "2025-01-01T00:00:00.000Z");
        assert_eq!(of(day("2026-12-31").end().0 - 1), "2025-01-01T00:00:00.000Z");
        assert_eq!(of(0), "1969-01-01T00:00:00.000Z");
        for extreme in [i64::MIN, i64::MAX] {
            of(extreme);
        }
    }

    #[test]
    fn days_are_written_in_one_way_and_end_where_the_next_begins() {
        let day: Day = "2024-02-28".parse().unwrap();
        assert_eq!(day.begin().to_string(), "2024-02-28T00:00:00.000Z");
        assert_eq!(day.end(), "2024-02-29".parse::<Day>().unwrap().begin());
        for text in ["2025-02-29", "2025-2-1", "20250201", "2025-02-01T10:00:00", "today", ""] {
            assert_eq!(text.parse::<Day>(), Err(InvalidDay(text.to_owned())));
        }
    }
}
