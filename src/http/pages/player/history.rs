//! How a rating went, drawn by the server, with the same numbers as a table.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::http::pages::words;
use crate::http::texts::Language;
use crate::storage::record::HistoryPoint;

/// The drawing is so wide and high, in units of its own.
const SIZE: (f64, f64) = (640.0, 190.0);
/// Room for numbers: left, below, above, right.
const ROOM: (f64, f64, f64, f64) = (60.0, 30.0, 12.0, 10.0);

/// Rows of the table: the changes that anybody looks up.
const ROWS_MAX: usize = 50;

/// Games without which a line says nothing.
const GAMES_MIN: usize = 2;

/// A number at the side and its line across.
struct HistoryTick {
    at: String,
    label: i32,
}

/// A line upright, before the first game of something new, and its name.
struct HistoryMark {
    at: String,
    label: String,
}

impl HistoryMark {
    /// Marks before games, by their places in the history, at the points of the curve.
    fn all(marks: &[(usize, String)], points: &[(String, String)]) -> Vec<Self> {
        let mark = |(place, label): &(usize, String)| {
            Some(Self { at: points.get(*place)?.0.clone(), label: short(label) })
        };
        marks.iter().filter_map(mark).collect()
    }
}

/// A game in the table.
struct HistoryRow {
    game: String,
    day: String,
    after: i32,
    delta: i32,
}

/// A curve with axes, and the same as a table.
#[derive(Template)]
#[template(path = "parts/rating-history.html")]
pub(in crate::http::pages) struct RatingHistory {
    lang: Language,
    /// What it says, in words.
    label: String,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    bottom: f64,
    points: String,
    end: (String, String),
    ticks: Vec<HistoryTick>,
    marks: Vec<HistoryMark>,
    top: f64,
    from: String,
    to: String,
    changes: Vec<HistoryRow>,
}

impl HtmlSafe for RatingHistory {}

impl RatingHistory {
    /// Draws the ratings after each game, from left to right. What is stored is the live Elo, which
    /// moves game by game: the line ends at `now`, the rating that is shown everywhere. `None` if there is no line.
    pub(super) fn new(lang: Language, history: &[HistoryPoint], now: i32) -> Option<Self> {
        Self::marked(lang, history, now, &[])
    }

    /// The same with marks: each before a game, by its place in the history.
    pub(in crate::http::pages) fn marked(
        lang: Language,
        history: &[HistoryPoint],
        now: i32,
        marks: &[(usize, String)],
    ) -> Option<Self> {
        let (first, last) = (history.first()?, history.last()?);
        if history.len() < GAMES_MIN {
            return None;
        }
        let shift = now - last.after.to_elo();
        let values = values(first, history, shift);
        let (low, high) = (*values.iter().min()?, *values.iter().max()?);
        let step = step_for(high - low);
        let (bottom_value, top_value) = (low.div_euclid(step) * step, (high.div_euclid(step) + 1) * step);
        let (left, bottom, top, right) = (ROOM.0, SIZE.1 - ROOM.1, ROOM.2, SIZE.0 - ROOM.3);
        let y = |value: i32| {
            let share = f64::from(value - bottom_value) / f64::from(top_value - bottom_value);
            bottom - share * (bottom - top)
        };
        let steps = f64::from(u32::try_from(values.len() - 1).unwrap_or(u32::MAX));
        let x = |step: u32| left + f64::from(step) * (right - left) / steps;
        let place = |(step, value): (u32, &i32)| (format!("{:.1}", x(step)), format!("{:.1}", y(*value)));
        let points: Vec<(String, String)> = (0..).zip(&values).map(place).collect();
        let end = points.last()?.clone();
        let ticks = (0..=(top_value - bottom_value) / step).map(|index| bottom_value + index * step);
        let counts = [("low", low), ("high", high), ("now", now)];
        Some(Self {
            lang,
            label: lang.fill("profile.history_in_words", &counts),
            width: SIZE.0,
            height: SIZE.1,
            left,
            right,
            bottom,
            points: points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" "),
            end,
            marks: HistoryMark::all(marks, &points),
            top,
            ticks: ticks.map(|label| HistoryTick { at: format!("{:.1}", y(label)), label }).collect(),
            from: words::day(lang, first.at),
            to: words::day(lang, last.at),
            changes: rows(lang, history, shift),
        })
    }
}

impl HistoryRow {
    fn new(lang: Language, point: &HistoryPoint, shift: i32) -> Self {
        let (before, after) = (point.before.to_elo() + shift, point.after.to_elo() + shift);
        Self { game: point.game.to_string(), day: words::day(lang, point.at), after, delta: after - before }
    }
}

/// The last changes, the newest first.
fn rows(lang: Language, history: &[HistoryPoint], shift: i32) -> Vec<HistoryRow> {
    history.iter().rev().take(ROWS_MAX).map(|point| HistoryRow::new(lang, point, shift)).collect()
}

/// As much of a name as there is room for.
fn short(label: &str) -> String {
    /// Letters: the next mark may be near.
    const SHOWN_MAX: usize = 12;
    let shown: String = label.chars().take(SHOWN_MAX).collect();
    if shown == label { shown } else { format!("{shown}…") }
}

/// Before the first game and after each, so much higher.
fn values(first: &HistoryPoint, history: &[HistoryPoint], shift: i32) -> Vec<i32> {
    let after = history.iter().map(|point| point.after.to_elo());
    std::iter::once(first.before.to_elo()).chain(after).map(|elo| elo + shift).collect()
}

/// A round step that makes two to five lines.
fn step_for(range: i32) -> i32 {
    let steps = [10, 20, 50, 100, 200, 500, 1_000];
    steps.into_iter().find(|step| range / step < 4).unwrap_or(2_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rating::elo::MilliElo;
    use crate::model::time::UnixMillis;

    fn point(before: i64, after: i64) -> HistoryPoint {
        HistoryPoint {
            game: "abc".parse().expect("an id"),
            at: UnixMillis(0),
            before: MilliElo(before * 1_000),
            after: MilliElo(after * 1_000),
        }
    }

    #[test]
    fn a_curve_lies_between_its_lines() {
        let history =
            RatingHistory::new(Language::English, &[point(1_500, 1_600), point(1_600, 1_550)], 1_050)
                .expect("two games");
        assert_eq!(
            history.ticks.iter().map(|tick| tick.label).collect::<Vec<_>>(),
            [1_000, 1_050, 1_100, 1_150]
        );
        assert_eq!(history.points, "60.0,160.0 345.0,61.3 630.0,110.7");
        assert_eq!((history.changes[0].delta, history.changes[1].after), (-50, 1_100));
        let html = history.render().expect("it renders");
        assert!(html.contains("between 1000 and 1100, now 1050"), "{html}");
        assert!(html.contains("href=\"/game/abc\""), "{html}");
    }

    #[test]
    fn a_mark_stands_before_its_game() {
        let games = [point(1_500, 1_600), point(1_600, 1_550)];
        let marks = [(1, "2.0-with-a-long-name<".to_owned()), (7, "nowhere".to_owned())];
        let history = RatingHistory::marked(Language::English, &games, 1_050, &marks).expect("two games");
        let html = history.render().expect("it renders");
        assert!(
            html.contains("M345.0 ") && html.contains("2.0-with-a-l…") && !html.contains("nowhere"),
            "{html}"
        );
    }

    #[test]
    fn few_points_make_no_curve() {
        assert!(RatingHistory::new(Language::English, &[], 0).is_none());
        assert!(RatingHistory::new(Language::English, &[point(1_000, 1_010)], 0).is_none());
        assert!(
            RatingHistory::new(Language::English, &[point(1_000, 1_000), point(1_000, 1_000)], 0).is_some()
        );
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0, 39, 40, 700, 9_000].map(step_for), [10, 10, 20, 200, 2_000]);
    }
}
