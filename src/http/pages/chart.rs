//! A curve over games learnt, as SVG that reads without script: a logarithmic axis of games, a line through what was
//! measured, and how sure each point is.

use askama::Template;
use askama::filters::HtmlSafe;

/// The drawing is so wide and high, in units of its own.
const SIZE: (f64, f64) = (640.0, 260.0);
/// Room for the numbers of the axes: left, below, above, right.
const ROOM: (f64, f64, f64, f64) = (52.0, 30.0, 12.0, 16.0);

/// One point to draw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Datum {
    pub(super) games: u64,
    pub(super) y: f64,
    /// Half the width of the range in which it lies with 95 percent.
    pub(super) pm95: f64,
}

/// A point in the drawing.
#[derive(Clone, Debug)]
struct Dot {
    x: String,
    y: String,
    /// Ends of the bar.
    low: String,
    high: String,
    label: String,
}

/// A number beside an axis, and its line.
#[derive(Clone, Debug)]
struct ChartTick {
    at: String,
    label: String,
}

/// The whole drawing.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/chart.html")]
pub(super) struct Chart {
    title: String,
    x_title: String,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
    /// Through the frozen versions.
    line: String,
    dots: Vec<Dot>,
    /// Of the live learner.
    live: String,
    /// Where the live learner stands.
    now: Option<Dot>,
    x_ticks: Vec<ChartTick>,
    y_ticks: Vec<ChartTick>,
}

impl HtmlSafe for Chart {}

impl Chart {
    /// Draws frozen versions as dots with bars, the live learner as a thin line with a ring at its end. `None` if there
    /// is nothing to draw.
    pub(super) fn new(title: &str, x_title: &str, frozen: &[Datum], live: &[Datum]) -> Option<Self> {
        let all = || frozen.iter().chain(live);
        let most = all().map(|value| value.games).max()?.max(10);
        let lows = all().map(|value| value.y - value.pm95);
        let highs = all().map(|value| value.y + value.pm95);
        let step = nice_step(highs.clone().fold(f64::MIN, f64::max) - lows.clone().fold(f64::MAX, f64::min));
        let low = (lows.fold(f64::MAX, f64::min) / step).floor() * step;
        let high = (highs.fold(f64::MIN, f64::max) / step).ceil() * step;
        let high = if high > low { high } else { low + step };
        let (left, bottom, top, right) = (ROOM.0, SIZE.1 - ROOM.1, ROOM.2, SIZE.0 - ROOM.3);
        let x = |games: u64| left + log(games) / log(most) * (right - left);
        let y = |value: f64| bottom - (value - low) / (high - low) * (bottom - top);
        let points = |values: &[Datum]| {
            let point = |value: &Datum| format!("{:.1},{:.1}", x(value.games), y(value.y));
            values.iter().map(point).collect::<Vec<_>>().join(" ")
        };
        let dot = |value: &Datum| Dot {
            x: format!("{:.1}", x(value.games)),
            y: format!("{:.1}", y(value.y)),
            low: format!("{:.1}", y(value.y - value.pm95)),
            high: format!("{:.1}", y(value.y + value.pm95)),
            label: format!("{}: {:.0} ± {:.0}", value.games, value.y, value.pm95),
        };
        // Where a version has just been frozen, its dot says the same.
        let now = live.last().filter(|last| frozen.iter().all(|value| value.games != last.games));
        let decades = std::iter::successors(Some(10_u64), |games| games.checked_mul(10));
        let x_marks = std::iter::once(0).chain(decades.take_while(|games| *games <= most));
        let y_marks = std::iter::successors(Some(low), |value| Some(value + step));
        Some(Self {
            title: title.to_owned(),
            x_title: x_title.to_owned(),
            width: SIZE.0,
            height: SIZE.1,
            left,
            right,
            bottom,
            top,
            line: points(frozen),
            dots: frozen.iter().map(dot).collect(),
            live: points(live),
            now: now.map(dot),
            x_ticks: x_marks
                .map(|games| ChartTick { at: format!("{:.1}", x(games)), label: games.to_string() })
                .collect(),
            y_ticks: y_marks
                .take_while(|value| *value <= high + step / 2.0)
                .map(|value| ChartTick { at: format!("{:.1}", y(value)), label: format!("{value:.0}") })
                .collect(),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a drawing")]
fn log(games: u64) -> f64 {
    (games as f64 + 1.0).log10()
}

/// A step that makes three to seven ticks: 1, 2 or 5 times a power of ten.
fn nice_step(range: f64) -> f64 {
    let rough = (range / 5.0).max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(games: u64, value: f64) -> Datum {
        Datum { games, y: value, pm95: 50.0 }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(Chart::new("Elo", "games", &[], &[]).is_none());
    }

    #[test]
    fn more_is_higher_and_later_is_further_right() {
        let chart = Chart::new("Elo", "games", &[value(0, 1_200.0), value(100, 1_350.0)], &[]).unwrap();
        let number = |text: &str| text.parse::<f64>().unwrap();
        let [first, second] = chart.dots.as_slice() else { panic!("{:?}", chart.dots) };
        assert!(number(&first.x) < number(&second.x) && number(&first.y) > number(&second.y));
        assert!(
            chart.dots.iter().all(|dot| number(&dot.high) >= chart.top && number(&dot.low) <= chart.bottom)
        );
        let labels: Vec<&str> = chart.x_ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["0", "10", "100"]);
        assert!(chart.render().unwrap().contains("1350 ± 50"));
    }

    #[test]
    fn the_live_learner_has_a_ring_where_no_version_stands() {
        let frozen = [value(0, 1_200.0), value(100, 1_350.0)];
        let at =
            |games| Chart::new("Elo", "games", &frozen, &[frozen[1], value(games, 1_400.0)]).unwrap().now;
        assert!(at(100).is_none());
        assert_eq!(at(130).unwrap().label, "130: 1400 ± 50");
    }

    #[test]
    fn steps_are_round() {
        for (range, step) in [(0.0, 1.0), (3.0, 1.0), (7.0, 2.0), (240.0, 50.0), (1_000.0, 200.0)] {
            assert!((nice_step(range) - step).abs() < 1e-9, "{range}: {}", nice_step(range));
        }
    }
}
