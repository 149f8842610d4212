//! On which days of the last months somebody solved the daily puzzle: a table with words for each day.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;

use super::words;
use crate::http::texts::Language;
use crate::study::puzzles::choosing::start_of;

/// Weeks that are shown, the one of today among them: four months, as many as a phone is wide.
const WEEKS: u32 = 17;
const WEEK: u32 = 7;

/// One day.
struct CalendarDay {
    is_solved: bool,
    /// Days that are to come say nothing.
    words: Option<String>,
}

/// A row: one day of all weeks.
struct CalendarRow {
    weekday: &'static str,
    days: Vec<CalendarDay>,
}

/// The months above the weeks: the name, and how many weeks begin in it.
struct CalendarMonth {
    name: &'static str,
    weeks: usize,
}

/// The table.
#[derive(Template)]
#[template(path = "parts/calendar.html")]
pub(super) struct Calendar {
    lang: Language,
    months: Vec<CalendarMonth>,
    rows: Vec<CalendarRow>,
    summary: String,
}

impl HtmlSafe for Calendar {}

/// The first day that is shown, seen on `today`: a Monday. Day 0 was a Thursday.
pub(super) fn first_day(today: u32) -> u32 {
    let monday = today.saturating_sub((today + 3) % WEEK);
    monday.saturating_sub((WEEKS - 1) * WEEK)
}

impl Calendar {
    /// As seen on `today`, with the days that were solved, how many in a row that is now, and the most it ever was.
    pub(super) fn new(lang: Language, today: u32, solved: &[u32], (run, best): (u32, u32)) -> Self {
        let solved: BTreeSet<u32> = solved.iter().copied().collect();
        let first = first_day(today);
        let day = |day: u32| {
            let is_solved = solved.contains(&day);
            let key = if is_solved { "puzzles.calendar_solved" } else { "puzzles.calendar_open" };
            let words = || lang.fill(key, &[("day", words::day(lang, start_of(day)))]);
            CalendarDay { is_solved, words: (day <= today).then(words) }
        };
        let weekdays = lang.text("puzzles.weekdays").split(' ');
        let row = |(place, weekday): (u32, &'static str)| CalendarRow {
            weekday,
            days: (0..WEEKS).map(|week| day(first + week * WEEK + place)).collect(),
        };
        let mut months: Vec<CalendarMonth> = Vec::new();
        for week in 0..WEEKS {
            let name = words::month(lang, start_of(first + week * WEEK));
            match months.last_mut() {
                Some(month) if month.name == name => month.weeks += 1,
                _ => months.push(CalendarMonth { name, weeks: 1 }),
            }
        }
        let counts = [("n", lang.number(u64::from(run))), ("best", lang.number(u64::from(best)))];
        Self {
            lang,
            months,
            rows: (0..WEEK).zip(weekdays).map(row).collect(),
            summary: lang.fill("puzzles.calendar_now", &counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday_and_the_last_one_has_today() {
        // 2026-11-27, a Friday.
        let today = 20_784;
        let calendar = Calendar::new(Language::English, today, &[today, today - 1, today - 30], (2, 5));
        assert_eq!(first_day(today), 20_780 - 16 * 7);
        assert_eq!(
            calendar.rows.iter().map(|row| row.weekday).collect::<Vec<_>>().join(" "),
            "Mon Tue Wed Thu Fri Sat Sun"
        );
        let last = |row: usize| calendar.rows[row].days.last().unwrap();
        assert!(last(4).is_solved && last(3).is_solved && !last(2).is_solved);
        assert_eq!(last(4).words.as_deref(), Some("27 Nov 2026: solved"));
        assert_eq!(last(2).words.as_deref(), Some("25 Nov 2026: not solved"));
        assert_eq!(last(5).words, None, "tomorrow says nothing");
        assert_eq!(calendar.rows.iter().flat_map(|row| &row.days).filter(|day| day.is_solved).count(), 3);
        assert_eq!(calendar.months.iter().map(|month| month.weeks).sum::<usize>(), 17);
        assert_eq!((calendar.months[0].name, calendar.months.last().unwrap().name), ("Aug", "Nov"));
        assert_eq!(calendar.summary, "Days in a row now: 2. Best: 5.");
    }
}
