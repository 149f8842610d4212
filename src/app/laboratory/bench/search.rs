//! `fourfold bench search`: how fast the depth-limited search of the bots is.

mod growth;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fourfold_engine::search::{ColumnOrder, Negamax, NodeCounter, SearchLimits, TieBreak, Window, eval};
use fourfold_engine::{Game, Variant};
use serde::Serialize;

use crate::app::terminal::output;

/// Middle games without a quick end.
const POSITIONS: [&str; 6] = ["", "44", "4455", "34444456", "1234567", "43543355264"];

/// Negamax over open lines from fixed positions, on one thread.
///
/// With --table the depths from 1 on from the empty board, each without and with what makes the search fast, beside the
/// times of the engine-tournament post of which the bots `greedy` and `negamax` are.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  fourfold bench search --depth 10\n  fourfold bench search --table --depth 8"
)]
pub(super) struct SearchBench {
    /// Plies to look ahead.
    #[arg(long, value_name = "PLIES", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// A row for each depth.
    #[arg(long)]
    table: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What `--json` shows.
#[derive(Serialize)]
struct SearchFigures {
    depth: u32,
    positions: usize,
    /// Equal on every machine.
    nodes: u64,
    seconds: f64,
    nanoseconds_per_node: f64,
}

impl SearchBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        if self.table {
            return growth::print(self.depth, self.json);
        }
        let never = AtomicBool::new(false);
        let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &never });
        let guide = ColumnOrder::centre_first(Variant::STANDARD);
        let mut negamax = Negamax { valuation: eval::OpenLines, guide, ties: TieBreak::FirstSearched };
        let began = Instant::now();
        for moves in POSITIONS {
            let game = Game::from_moves(Variant::STANDARD, moves)?;
            negamax.search(game.position(), self.depth, Window::FULL, &mut counter)?;
        }
        let figures = self.figures(counter.nodes(), began.elapsed().as_secs_f64());
        if self.json {
            return output::print_json(&figures);
        }
        let SearchFigures { positions, nodes, seconds, nanoseconds_per_node, .. } = figures;
        let mut out = io::stdout().lock();
        writeln!(out, "{nodes} nodes, {nanoseconds_per_node:.0} ns/node")?;
        writeln!(out, "{positions} positions, {} plies ahead, in {seconds:.2} s", self.depth)?;
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean needs no 53 bits")]
    fn figures(&self, nodes: u64, seconds: f64) -> SearchFigures {
        let nanoseconds_per_node = seconds * 1e9 / nodes as f64;
        SearchFigures { depth: self.depth, positions: POSITIONS.len(), nodes, seconds, nanoseconds_per_node }
    }
}
