//! `fourfold bench solver`: how fast the exact solver is, on scored positions.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use fourfold_engine::solver::{Score, SearchLimits, Solver, TableSize};
use fourfold_engine::{Game, Variant};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::app::terminal::input;
use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;

/// What is solved if no file is named: rows that the solver's tests count the nodes of, too.
const BUILT_IN: [(&str, &str, usize); 2] = [
    ("middle-medium", include_str!("../../../../tests/data/positions/middle-medium.tsv"), 40),
    ("begin-medium", include_str!("../../../../tests/data/positions/begin-medium.tsv"), 30),
];

/// Exact scores of scored positions, each with an empty table, on one thread.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold bench solver\n  fourfold bench solver --positions tests/data/positions/begin-hard.tsv --rows 50"
)]
pub(super) struct SolverBench {
    /// Files with a head line, then a list of moves, a tab and its score on each line. Two small sets are built in.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    positions: Vec<PathBuf>,
    /// Take only the first rows of each file.
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Size of the table.
    #[arg(long, value_name = "MIB", default_value_t = 4)]
    table: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The figures of one set.
#[derive(Serialize)]
struct SolverFigures {
    name: String,
    positions: usize,
    /// Positions whose score differs from that of the file.
    wrong: usize,
    /// Equal on every machine.
    nodes: u64,
    /// Time of this thread on the processor.
    cpu_seconds: f64,
    microseconds_per_position: f64,
    nanoseconds_per_node: f64,
}

/// What `--json` shows.
#[derive(Serialize)]
struct SolverReport {
    sets: Vec<SolverFigures>,
    nodes: u64,
}

impl SolverBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut sets = Vec::new();
        for (name, text, rows) in self.texts()? {
            sets.push(self.solve(name, &text, rows)?);
        }
        let report = SolverReport { nodes: sets.iter().map(|set| set.nodes).sum(), sets };
        if self.json {
            return output::print_json(&report);
        }
        let rows: Vec<_> = report.sets.iter().map(SolverFigures::row).collect();
        output::print_table(["Positions", "Rows", "Wrong", "Nodes", "us/position", "ns/node"], &rows)?;
        Ok(())
    }

    /// Name, text and number of rows of each set.
    fn texts(&self) -> anyhow::Result<Vec<(String, String, usize)>> {
        let rows = |default: usize| self.rows.unwrap_or(default);
        if self.positions.is_empty() {
            return Ok(BUILT_IN
                .map(|(name, text, count)| (name.to_owned(), text.to_owned(), rows(count)))
                .into());
        }
        let read = |path: &PathBuf| {
            let text = input::read_text(path)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, text, rows(usize::MAX)))
        };
        self.positions.iter().map(read).collect()
    }

    fn solve(&self, name: String, text: &str, rows: usize) -> anyhow::Result<SolverFigures> {
        let rows: Vec<&str> = text.lines().skip(1).take(rows).collect();
        let mut progress = ProgressLine::new(rows.len() as u64, "positions");
        let mut solver = Solver::with_table(TableSize::from_mib(self.table));
        let never = AtomicBool::new(false);
        let (mut wrong, mut nodes, mut cpu_seconds) = (0, 0, 0.0);
        for row in &rows {
            let (game, expected) =
                parse(row).with_context(|| format!("`{row}` is not moves, a tab and a score"))?;
            solver.clear();
            let began = cpu_time();
            let found = solver.score(game.position(), SearchLimits { nodes: None, stop: &never })?;
            cpu_seconds += cpu_time() - began;
            nodes += found.nodes;
            wrong += usize::from(found.value != expected);
            progress.advance(1);
        }
        Ok(SolverFigures::new(name, rows.len(), wrong, nodes, cpu_seconds))
    }
}

fn parse(row: &str) -> Option<(Game, Score)> {
    let (moves, score) = row.split_once('\t')?;
    Some((Game::from_moves(Variant::STANDARD, moves).ok()?, Score::new(score.parse().ok()?)))
}

impl SolverFigures {
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no 53 bits")]
    fn new(name: String, positions: usize, wrong: usize, nodes: u64, cpu_seconds: f64) -> Self {
        let microseconds_per_position = cpu_seconds * 1e6 / positions as f64;
        let nanoseconds_per_node = cpu_seconds * 1e9 / nodes as f64;
        Self { name, positions, wrong, nodes, cpu_seconds, microseconds_per_position, nanoseconds_per_node }
    }

    fn row(&self) -> [String; 6] {
        [
            self.name.clone(),
            self.positions.to_string(),
            self.wrong.to_string(),
            self.nodes.to_string(),
            format!("{:.1}", self.microseconds_per_position),
            format!("{:.0}", self.nanoseconds_per_node),
        ]
    }
}

/// Seconds that this thread has had the processor: other programs do not disturb it much.
#[expect(clippy::cast_precision_loss, reason = "seconds since the thread began")]
pub(super) fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        assert_eq!(parse("4444\t1").unwrap().1, Score::new(1));
        for row in ["4444", "4444\tx", "9\t1", "4444 1"] {
            assert!(parse(row).is_none(), "{row}");
        }
    }
}
