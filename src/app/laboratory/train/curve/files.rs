//! The curve of a run as files: CSV for programs, SVG to look at. They are written anew at each point.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;

use super::Point;
use crate::app::laboratory::train::saved::RunTerms;
use crate::app::terminal::exit::Exit;
use crate::system::files;

/// Columns of the CSV before those of the opponents.
const COLUMNS: [&str; 6] = ["bot", "seed", "options", "games", "cpu_seconds", "decision"];

/// Where a curve is kept, and all of it.
pub(in crate::app::laboratory::train) struct CurveFiles {
    paths: Vec<(PathBuf, Form)>,
    terms: RunTerms,
    opponents: Vec<String>,
    rows: Vec<CurveRow>,
}

/// What a file is, by the end of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    Svg,
}

/// A point as it is kept: rates from 0 to 1, and empty where nothing was measured.
#[derive(Clone, PartialEq, Debug)]
struct CurveRow {
    games: u64,
    cpu_seconds: f64,
    decision: Option<f64>,
    /// In the order of the opponents.
    scores: Vec<Option<f64>>,
}

impl CurveFiles {
    /// Files by these names; none if there are no names.
    ///
    /// # Errors
    ///
    /// A name ends neither in `.csv` nor in `.svg`, or its directory is not there.
    pub(in crate::app::laboratory::train) fn new(
        paths: &[PathBuf],
        terms: &RunTerms,
        opponents: Vec<String>,
    ) -> Result<Self, Exit> {
        let form = |path: &PathBuf| match path.extension().and_then(|ending| ending.to_str()) {
            _ if !files::directory(path).is_dir() => {
                Err(Exit::usage(format!("--curve {}: there is no such directory", path.display())))
            }
            Some("csv") => Ok((path.clone(), Form::Csv)),
            Some("svg") => Ok((path.clone(), Form::Svg)),
            _ => Err(Exit::usage(format!("--curve {}: the name must end in .csv or .svg", path.display()))),
        };
        let paths = paths.iter().map(form).collect::<Result<_, _>>()?;
        Ok(Self { paths, terms: terms.clone(), opponents, rows: Vec::new() })
    }

    /// Takes up what a CSV file has of the same run, up to where the run stands. Gives the CPU seconds until then.
    ///
    /// # Errors
    ///
    /// A file cannot be read. One that is of another run, or none, is begun anew.
    pub(in crate::app::laboratory::train) fn take_up(&mut self, games: u64) -> anyhow::Result<f64> {
        let is_csv = |(path, form): &(PathBuf, Form)| (*form == Form::Csv).then(|| path.clone());
        let Some(path) = self.paths.iter().find_map(is_csv).filter(|_| games > 0) else { return Ok(0.0) };
        let read = files::read_if_there(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = String::from_utf8(read.unwrap_or_default()).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some(self.head().as_str()) {
            return Ok(0.0);
        }
        let rows = lines.map_while(|line| self.parse(line));
        self.rows = rows.take_while(|row| row.games <= games).collect();
        let seconds = self.rows.last().map_or(0.0, |row| row.cpu_seconds);
        // The point where it stands is measured again.
        self.rows.retain(|row| row.games < games);
        Ok(seconds)
    }

    /// Adds a point and writes all files.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub(in crate::app::laboratory::train) fn add(
        &mut self,
        point: &Point,
        cpu_seconds: f64,
    ) -> anyhow::Result<()> {
        let scores = self.opponents.iter().map(|opponent| point.scores.get(opponent).copied()).collect();
        self.rows.push(CurveRow { games: point.games, cpu_seconds, decision: point.decision, scores });
        for (path, form) in &self.paths {
            let text = match form {
                Form::Csv => self.csv(),
                Form::Svg => self.svg(),
            };
            files::replace(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    fn head(&self) -> String {
        let columns = COLUMNS.iter().map(|column| (*column).to_owned());
        columns.chain(self.opponents.iter().map(|opponent| quoted(opponent))).collect::<Vec<_>>().join(",")
    }

    fn csv(&self) -> String {
        let mut text = self.head() + "\n";
        for row in &self.rows {
            let rate = |rate: &Option<f64>| rate.map_or_else(String::new, |rate| format!("{rate:.4}"));
            let run = self.run_columns();
            let first = [row.games.to_string(), format!("{:.2}", row.cpu_seconds), rate(&row.decision)];
            let fields = run.into_iter().chain(first).chain(row.scores.iter().map(rate));
            text += &fields.collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        text
    }

    /// What all rows of a run begin with.
    fn run_columns(&self) -> [String; 3] {
        let RunTerms { bot, seed, options } = &self.terms;
        [quoted(bot), seed.to_string(), quoted(options)]
    }

    /// Reads a row of the same run.
    fn parse(&self, line: &str) -> Option<CurveRow> {
        let rest = line.strip_prefix(&(self.run_columns().join(",") + ","))?;
        let mut fields = rest.split(',');
        let games = fields.next()?.parse().ok()?;
        let cpu_seconds = fields.next()?.parse().ok()?;
        let rate = |field: &str| {
            (!field.is_empty()).then(|| field.parse().ok()).map_or(Some(None), |it| it.map(Some))
        };
        let mut rates = fields.map(rate);
        let decision = rates.next()??;
        let scores = rates.collect::<Option<Vec<_>>>()?;
        (scores.len() == self.opponents.len()).then_some(CurveRow { games, cpu_seconds, decision, scores })
    }
}

/// A field of a CSV line.
fn quoted(field: &str) -> String {
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

// ---- the drawing ----

/// Width and height, in pixels at its own size.
const SIZE: (f64, f64) = (760.0, 380.0);
/// Room around the lines for numbers and names: left, below, above, right.
const ROOM: (f64, f64, f64, f64) = (56.0, 40.0, 48.0, 190.0);
/// Of the lines, told apart on light and on dark ground and by those who see red and green alike.
const COLOURS: [&str; 6] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b8860b", "#56b4e9"];
/// Text and axes look the same on light and on dark ground.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#777}path{fill:none;stroke:#777;stroke-opacity:.3}\
                     polyline{fill:none;stroke-width:2.5;stroke-linejoin:round}.title{font-weight:600}";

impl CurveFiles {
    /// Rates in percent over games, on a logarithmic axis.
    fn svg(&self) -> String {
        let (width, height) = SIZE;
        let RunTerms { bot, seed, options } = &self.terms;
        let seconds = self.rows.last().map_or(0.0, |row| row.cpu_seconds);
        let title = escaped(format!("{bot}, seed {seed} {options}").trim_end());
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}\"><style>{STYLE}</style>\
             <text class=\"title\" x=\"{}\" y=\"20\">{title}: {seconds:.1} CPU s</text>",
            ROOM.0
        );
        self.draw_axes(&mut svg);
        let decision: Vec<Option<f64>> = self.rows.iter().map(|row| row.decision).collect();
        let opponents = self.opponents.iter().enumerate().map(|(number, opponent)| {
            (format!("v {opponent}"), self.rows.iter().map(|row| row.scores[number]).collect::<Vec<_>>())
        });
        let lines = std::iter::once(("decision".to_owned(), decision)).chain(opponents);
        for (number, (name, rates)) in lines.enumerate() {
            self.draw_line(&mut svg, number, &name, &rates);
        }
        svg + "</svg>\n"
    }

    fn draw_axes(&self, svg: &mut String) {
        let (left, right, top, bottom) = frame();
        for percent in (0_u8..=100).step_by(20) {
            let y = place_of_rate(f64::from(percent) / 100.0);
            let line = format!(
                "<path d=\"M{left} {y:.1}H{right}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>",
                left - 6.0,
                y + 4.0
            );
            *svg += &line;
        }
        let most = self.most();
        let decades = std::iter::successors(Some(1_u64), |games| games.checked_mul(10));
        for games in std::iter::once(0).chain(decades.take_while(|games| *games <= most)) {
            let x = place_of_games(games, most);
            let line = format!(
                "<path d=\"M{x:.1} {top}V{bottom}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{games}</text>",
                bottom + 18.0
            );
            *svg += &line;
        }
        let _ =
            write!(svg, "<text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">games</text>", bottom + 34.0);
    }

    fn draw_line(&self, svg: &mut String, number: usize, name: &str, rates: &[Option<f64>]) {
        let most = self.most();
        let point = |(row, rate): (&CurveRow, &Option<f64>)| {
            rate.map(|rate| format!("{:.1},{:.1}", place_of_games(row.games, most), place_of_rate(rate)))
        };
        let points: Vec<String> = self.rows.iter().zip(rates).filter_map(point).collect();
        if points.is_empty() {
            return;
        }
        let colour = COLOURS[number % COLOURS.len()];
        let (_, right, top, _) = frame();
        #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
        let y = top + 14.0 + 22.0 * number as f64;
        let _ = write!(
            svg,
            "<polyline stroke=\"{colour}\" points=\"{}\"/><polyline stroke=\"{colour}\" points=\"{:.1},{:.1} {:.1},{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            points.join(" "),
            right + 14.0,
            y - 4.0,
            right + 34.0,
            y - 4.0,
            right + 40.0,
            escaped(name)
        );
    }

    fn most(&self) -> u64 {
        self.rows.iter().map(|row| row.games).max().unwrap_or(0).max(10)
    }
}

/// Left, right, top and bottom of where lines are drawn.
fn frame() -> (f64, f64, f64, f64) {
    (ROOM.0, SIZE.0 - ROOM.3, ROOM.2, SIZE.1 - ROOM.1)
}

fn place_of_rate(rate: f64) -> f64 {
    let (_, _, top, bottom) = frame();
    bottom - rate * (bottom - top)
}

fn place_of_games(games: u64, most: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a drawing")]
    let log = |games: u64| (games as f64 + 1.0).ln();
    let (left, right, _, _) = frame();
    left + log(games) / log(most) * (right - left)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    fn terms() -> RunTerms {
        RunTerms { bot: "memory:rule=literal".into(), seed: 7, options: "--teacher a<b,c".into() }
    }

    fn files(dir: &Path, names: &[&str]) -> CurveFiles {
        let paths: Vec<PathBuf> = names.iter().map(|name| dir.join(name)).collect();
        CurveFiles::new(&paths, &terms(), vec!["random".into(), "mcts:ms=5,nodes=9".into()]).unwrap()
    }

    fn point(games: u64, decision: Option<f64>) -> Point {
        let scores = BTreeMap::from([("random".to_owned(), 0.75)]);
        Point { games, scores, decision, summary: String::new() }
    }

    #[test]
    fn a_curve_goes_on_where_it_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let mut whole = files(dir.path(), &["whole.csv", "whole.svg"]);
        let mut parts = files(dir.path(), &["parts.csv"]);
        for (games, seconds) in [(0, 0.0), (10, 0.5)] {
            whole.add(&point(games, None), seconds).unwrap();
            parts.add(&point(games, None), seconds).unwrap();
        }
        let mut parts = files(dir.path(), &["parts.csv"]);
        assert!((parts.take_up(10).unwrap() - 0.5).abs() < f64::EPSILON);
        for (games, seconds) in [(10, 0.5), (100, 2.25)] {
            parts.add(&point(games, (games > 10).then_some(0.5)), seconds).unwrap();
        }
        whole.add(&point(100, Some(0.5)), 2.25).unwrap();
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("parts.csv"), read("whole.csv"));
        let expected = "bot,seed,options,games,cpu_seconds,decision,random,\"mcts:ms=5,nodes=9\"\n\
                        memory:rule=literal,7,\"--teacher a<b,c\",0,0.00,,0.7500,\n\
                        memory:rule=literal,7,\"--teacher a<b,c\",10,0.50,,0.7500,\n\
                        memory:rule=literal,7,\"--teacher a<b,c\",100,2.25,0.5000,0.7500,\n";
        assert_eq!(read("whole.csv"), expected);
        let svg = read("whole.svg");
        assert!(svg.contains("a&lt;b,c: 2.2 CPU s") && svg.contains("v random"), "{svg}");
        assert!(!svg.contains("v mcts"), "nothing was measured against it");
    }

    #[test]
    fn curves_of_other_runs_are_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        for text in
            ["", "rubbish", "bot,seed,options,games,cpu_seconds,decision,random\nmemory,1,,5,1,,0.5\n"]
        {
            std::fs::write(dir.path().join("c.csv"), text).unwrap();
            let mut curve = files(dir.path(), &["c.csv"]);
            assert_eq!((curve.take_up(5).unwrap(), curve.rows.len()), (0.0, 0), "{text}");
        }
    }

    #[test]
    fn only_names_of_known_forms_are_taken() {
        for name in ["curve", "curve.png", ".csv"] {
            assert!(CurveFiles::new(&[name.into()], &terms(), Vec::new()).is_err(), "{name}");
        }
    }
}
