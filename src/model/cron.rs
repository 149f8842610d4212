//! When tournaments begin: the five fields of cron, in UTC. Pure.
//!
//! The fields are minute (0-59), hour (0-23), day of the month (1-31), month (1-12) and day of the week (0-7, Sunday is
//! 0 and 7), each `*`, a number, a range `1-5`, any of them with a step `*/15`, or a list of these with commas. As in
//! the Vixie cron, a day suits if either of both day fields does, unless one of them is `*`.
//!
//! The crates for this bring a second library of dates with them, and names and macros that nobody needs here.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use thiserror::Error;

use crate::model::time::UnixMillis;

/// Days that are looked at for the next moment: the 29th of February may be eight years away.
const DAYS_MAX: u32 = 366 * 8 + 2;

/// A text that is no schedule.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidCron {
    /// Not five fields.
    #[error("a schedule has five fields, such as `0 18 * * *` for every day at 18:00 UTC, this one has {0}")]
    Fields(usize),
    /// A field that cannot be.
    #[error("{field} is `{text}`, but must be *, a number from {min} to {max}, a range, or a list of these")]
    Field { field: &'static str, text: String, min: u8, max: u8 },
    /// Such as the 31st of February.
    #[error("no day is ever like that")]
    Never,
}

/// The numbers that suit one field, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CronField {
    bits: u64,
    /// Whether it is a plain `*`.
    is_any: bool,
}

impl CronField {
    fn has(self, number: i8) -> bool {
        u32::try_from(number).is_ok_and(|number| self.bits >> number & 1 == 1)
    }

    fn parse(text: &str, field: &'static str, min: u8, max: u8) -> Result<Self, InvalidCron> {
        let wrong = || InvalidCron::Field { field, text: text.to_owned(), min, max };
        let number = |text: &str| text.parse().ok().filter(|number| (min..=max).contains(number));
        let mut bits = 0_u64;
        for part in text.split(',') {
            let (range, step) = part.split_once('/').unwrap_or((part, "1"));
            let step: u8 = step.parse().ok().filter(|step| *step > 0).ok_or_else(wrong)?;
            let (from, to) = match range.split_once('-') {
                _ if range == "*" => (min, max),
                Some((from, to)) => (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?),
                None => {
                    let from = number(range).ok_or_else(wrong)?;
                    (from, if part.contains('/') { max } else { from })
                }
            };
            if from > to {
                return Err(wrong());
            }
            (from..=to).step_by(step.into()).for_each(|number| bits |= 1 << number);
        }
        Ok(Self { bits, is_any: text == "*" })
    }
}

/// Moments that come again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cron {
    text: String,
    minute: CronField,
    hour: CronField,
    day: CronField,
    month: CronField,
    weekday: CronField,
}

impl FromStr for Cron {
    type Err = InvalidCron;

    fn from_str(text: &str) -> Result<Self, InvalidCron> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(InvalidCron::Fields(fields.len()));
        };
        let mut weekday = CronField::parse(weekday, "the day of the week", 0, 7)?;
        weekday.bits |= weekday.bits >> 7 & 1; // Sunday has two numbers
        let cron = Self {
            minute: CronField::parse(minute, "the minute", 0, 59)?,
            hour: CronField::parse(hour, "the hour", 0, 23)?,
            day: CronField::parse(day, "the day of the month", 1, 31)?,
            month: CronField::parse(month, "the month", 1, 12)?,
            weekday,
            text: fields.join(" "),
        };
        let is_ever = cron.next_after(UnixMillis(0)).is_some();
        if is_ever { Ok(cron) } else { Err(InvalidCron::Never) }
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Cron {
    /// The first moment after `now`; `None` at the end of time.
    pub(crate) fn next_after(&self, now: UnixMillis) -> Option<UnixMillis> {
        let now = Timestamp::from_millisecond(now.0).ok()?.to_zoned(TimeZone::UTC).datetime();
        let mut date = now.date();
        for _ in 0..DAYS_MAX {
            let next = self.suits(date).then(|| self.first_on(date, now)).flatten();
            if let Some(moment) = next {
                let moment = moment.to_zoned(TimeZone::UTC).ok()?;
                return Some(UnixMillis(moment.timestamp().as_millisecond()));
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn suits(&self, date: Date) -> bool {
        let day = self.day.has(date.day());
        let weekday = self.weekday.has(date.weekday().to_sunday_zero_offset());
        let is_day = if self.day.is_any || self.weekday.is_any { day && weekday } else { day || weekday };
        self.month.has(date.month()) && is_day
    }

    /// The first moment of a day that is after `now`.
    fn first_on(&self, date: Date, now: DateTime) -> Option<DateTime> {
        let earliest =
            if date == now.date() { now.checked_add(1.minute()).ok()? } else { date.at(0, 0, 0, 0) };
        if earliest.date() != date {
            return None;
        }
        let minutes = (0..24).flat_map(|hour| (0..60).map(move |minute| (hour, minute)));
        minutes
            .skip_while(|&(hour, minute)| (hour, minute) < (earliest.hour(), earliest.minute()))
            .find(|&(hour, minute)| self.hour.has(hour) && self.minute.has(minute))
            .map(|(hour, minute)| date.at(hour, minute, 0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> UnixMillis {
        UnixMillis(text.parse::<Timestamp>().unwrap().as_millisecond())
    }

    #[track_caller]
    fn check(cron: &str, now: &str, expected: &str) {
        let next = cron.parse::<Cron>().unwrap().next_after(at(now)).unwrap();
        assert_eq!(next, at(expected), "{cron} after {now}: {next}");
    }

    #[test]
    fn the_next_moment_is_found() {
        check("0 18 * * *", "2026-11-20T17:59:59Z", "2026-11-20T18:00:00Z");
        check("0 18 * * *", "2026-11-20T18:00:00Z", "2026-11-21T18:00:00Z");
        check("*/15 * * * *", "2026-11-20T23:46:00Z", "2026-11-21T00:00:00Z");
        check("5,35 8-10 * * 1-5", "2026-11-20T10:40:00Z", "2026-11-23T08:05:00Z");
        check("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z");
        check("30 12 1 * 7", "2026-11-20T00:00:00Z", "2026-11-22T12:30:00Z");
        check("10/20 0 * * *", "2026-12-31T00:55:00Z", "2027-01-01T00:10:00Z");
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let error = text.parse::<Cron>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("", "five fields");
        check("0 18 * *", "has 4");
        check("60 * * * *", "the minute is `60`");
        check("* 5-3 * * *", "the hour is `5-3`");
        check("* * 0 * *", "from 1 to 31");
        check("* * * x *", "the month");
        check("*/0 * * * *", "the minute");
        check("* * * * 8", "the day of the week");
        check("0 0 31 2 *", "no day");
    }

    #[test]
    fn a_schedule_is_written_as_it_was_read() {
        assert_eq!("0  18 * *  1".parse::<Cron>().unwrap().to_string(), "0 18 * * 1");
    }
}
