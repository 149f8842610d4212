//! The curve of a run: what the bot scores against opponents that never change, at more and more games.

mod files;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_bots::BotSpec;
use fourfold_bots::training::TrainingRun;
use fourfold_bots::training::decisions::Decisions;
use fourfold_bots::training::probe::Probe;
use serde::Serialize;

pub(super) use self::files::CurveFiles;
use crate::app::terminal::progress::ProgressLine;

/// One point of the curve.
#[derive(Serialize)]
pub(super) struct Point {
    /// Learnt from so far.
    pub(super) games: u64,
    /// Points of all points, 0 to 1, by opponent.
    pub(super) scores: BTreeMap<String, f64>,
    /// Of positions with a right and a wrong move that the run has drawn, the share in which it finds a right one; null
    /// if not measured.
    pub(super) decision: Option<f64>,
    /// Where the run stands, in the course's own words.
    pub(super) summary: String,
}

/// Measures a bot and prints a line each time.
pub(super) struct Curve<'a, W> {
    pub(super) opponents: Vec<BotSpec>,
    /// Of each point, against each opponent.
    pub(super) games: u32,
    /// The same games at each point, so that only the bot changes.
    pub(super) seed: u64,
    /// Solved positions, `None` to leave that measure out.
    pub(super) decisions: Option<Decisions>,
    /// Once it is true, nothing is measured any more.
    pub(super) stop: &'a AtomicBool,
    pub(super) json: bool,
    pub(super) out: W,
    /// Where the curve is kept.
    pub(super) files: CurveFiles,
}

/// Widest number of games that the table is made for: a billion.
const GAMES_WIDTH: usize = 10;

/// Of `decision`, which is wider than `100.0 %`.
const DECISION_WIDTH: usize = 8;

impl<W: Write> Curve<'_, W> {
    pub(super) fn print_head(&mut self) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        write!(self.out, "{:>GAMES_WIDTH$}", "Games")?;
        for opponent in &self.opponents {
            write!(self.out, "  {opponent}")?;
        }
        if self.decisions.is_some() {
            write!(self.out, "  {:>DECISION_WIDTH$}", "decision")?;
        }
        writeln!(self.out, "  State")
    }

    /// Plays the games, prints the line and keeps the point, unless it is told to stop meanwhile. Learning took so many
    /// CPU seconds until now.
    pub(super) fn measure(&mut self, course: &dyn TrainingRun, cpu_seconds: f64) -> anyhow::Result<()> {
        let mut progress = ProgressLine::new(self.opponents.len() as u64, "opponents measured");
        let mut scores = BTreeMap::new();
        for opponent in &self.opponents {
            let probe = Probe { opponent, games: self.games, seed: self.seed };
            let score = probe.play(|seed| course.bot(seed), self.stop)?;
            scores.extend(score.share().map(|share| (opponent.to_string(), share)));
            progress.advance(1);
        }
        drop(progress);
        let mut bot = course.bot(self.seed);
        let rate = |decisions: &Decisions| decisions.rate(bot.as_mut(), self.stop);
        let decision = self.decisions.as_ref().map(rate).transpose()?.flatten();
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let point = Point { games: course.games(), scores, decision, summary: course.summary() };
        self.print(&point)?;
        self.files.add(&point, cpu_seconds)
    }

    fn print(&mut self, point: &Point) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut self.out, point)?;
            writeln!(self.out)?;
            return self.out.flush();
        }
        write!(self.out, "{:>GAMES_WIDTH$}", point.games)?;
        for opponent in self.opponents.iter().map(ToString::to_string) {
            let score = point.scores.get(&opponent).map_or_else(|| "-".to_owned(), |&score| percent(score));
            write!(self.out, "  {score:>width$}", width = opponent.chars().count())?;
        }
        if self.decisions.is_some() {
            let decision = point.decision.map_or_else(|| "-".to_owned(), percent);
            write!(self.out, "  {decision:>DECISION_WIDTH$}")?;
        }
        writeln!(self.out, "  {}", point.summary)?;
        self.out.flush()
    }
}

fn percent(score: f64) -> String {
    format!("{:.1} %", 100.0 * score)
}

/// Games after which to measure next: 1, 2, 5, 10, 20, 50 and so on, so that the fast beginning shows and a long run
/// has few lines.
pub(super) fn next_point(games: u64) -> u64 {
    let mut decade: u64 = 1;
    loop {
        for step in [1, 2, 5] {
            let point = decade.saturating_mul(step);
            if point > games || point == u64::MAX {
                return point;
            }
        }
        decade = decade.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::training::teachers::Training;

    use super::super::saved::RunTerms;
    use super::*;

    #[test]
    fn points_lie_evenly_on_a_logarithmic_scale() {
        let mut points = vec![0];
        while points.len() < 10 {
            points.push(next_point(points[points.len() - 1]));
        }
        assert_eq!(points, [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]);
        assert_eq!(next_point(u64::MAX), u64::MAX);
    }

    fn curve(json: bool, stop: &AtomicBool) -> String {
        let course = Training::begin(&"memory".parse().unwrap(), "", &[], 1).unwrap();
        let opponents = vec!["random".parse().unwrap(), "negamax:depth=2".parse().unwrap()];
        let decisions = Some(Decisions::draw(10, 1, &AtomicBool::new(false)));
        let terms = RunTerms { bot: "memory".into(), seed: 1, options: String::new() };
        let files = CurveFiles::new(&[], &terms, Vec::new()).unwrap();
        let out = Vec::new();
        let mut curve = Curve { opponents, games: 10, seed: 1, decisions, stop, json, out, files };
        curve.print_head().unwrap();
        curve.measure(&course, 0.0).unwrap();
        String::from_utf8(curve.out).unwrap()
    }

    #[test]
    fn a_point_is_a_row_under_its_head() {
        let text = curve(false, &AtomicBool::new(false));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "     Games  random  negamax:depth=2  decision  State");
        assert!(lines[1].starts_with("         0  "), "{text}");
        assert!(lines[1].ends_with("  0 patterns"), "{text}");
        assert_eq!(lines[0].find("  State"), lines[1].find("  0 patterns"));
    }

    #[test]
    fn who_is_told_to_stop_prints_no_point() {
        assert_eq!(curve(true, &AtomicBool::new(true)), "");
    }

    #[test]
    fn a_point_is_an_object_for_programs() {
        let point: serde_json::Value = serde_json::from_str(&curve(true, &AtomicBool::new(false))).unwrap();
        assert_eq!(point["games"], 0);
        assert!((0.0..=1.0).contains(&point["scores"]["random"].as_f64().unwrap()));
        assert!((0.0..=1.0).contains(&point["decision"].as_f64().unwrap()));
        assert_eq!(point["summary"], "0 patterns");
    }
}
