//! How the work of a search grows with its depth: the table of the engine-tournament post, made again.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use fourfold_engine::search::{ColumnOrder, Negamax, NodeCounter, SearchLimits, TieBreak, Window, eval};
use fourfold_engine::{Position, Variant};
use serde::Serialize;

use crate::app::terminal::output;

/// Seconds that the post gives for its depths 1 to 4.
const POSTED_SECONDS: [f64; 4] = [0.03, 0.22, 1.82, 15.48];

/// Beyond, the search that looks at everything takes minutes.
const PLAIN_DEPTH_MAX: u32 = 8;

/// What `--json` shows: a row for each depth.
#[derive(Serialize)]
struct GrowthTable {
    depths: Vec<GrowthRow>,
}

#[derive(Serialize)]
struct GrowthRow {
    depth: u32,
    /// The post's search, which looks at every move of every position; null beyond depth 8.
    plain: Option<Effort>,
    /// The same choice by alpha-beta.
    pruned: Effort,
    /// What the post says of its own program.
    post_seconds: Option<f64>,
}

/// What one search took.
#[derive(Clone, Copy, Serialize)]
struct Effort {
    /// Equal on every machine.
    nodes: u64,
    seconds: f64,
}

impl Effort {
    fn new(nodes: u64, took: Duration) -> Self {
        Self { nodes, seconds: took.as_secs_f64() }
    }
}

/// Prints the rows of the depths up to `depth`.
pub(super) fn print(depth: u32, json: bool) -> anyhow::Result<()> {
    let depths = (1..=depth).map(row).collect::<anyhow::Result<Vec<_>>>()?;
    if json {
        return output::print_json(&GrowthTable { depths });
    }
    let rows: Vec<_> = depths
        .iter()
        .enumerate()
        .map(|(place, row)| cells(row, place.checked_sub(1).map(|before| &depths[before])))
        .collect();
    let head =
        ["Depth", "Plain nodes", "Growth", "Seconds", "Pruned nodes", "Growth", "Seconds", "Post, seconds"];
    Ok(output::print_table(head, &rows)?)
}

fn row(depth: u32) -> anyhow::Result<GrowthRow> {
    let start = Position::new(Variant::STANDARD);
    let plain = (depth <= PLAIN_DEPTH_MAX).then(|| {
        let (began, mut nodes) = (Instant::now(), 0);
        plain_value(&start, depth, &mut nodes);
        Effort::new(nodes, began.elapsed())
    });
    let never = AtomicBool::new(false);
    let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &never });
    let guide = ColumnOrder::centre_first(Variant::STANDARD);
    let mut negamax = Negamax { valuation: eval::OpenLines, guide, ties: TieBreak::FirstSearched };
    let began = Instant::now();
    negamax.search(&start, depth, Window::FULL, &mut counter)?;
    let pruned = Effort::new(counter.nodes(), began.elapsed());
    let post_seconds = POSTED_SECONDS.get(depth as usize - 1).copied();
    Ok(GrowthRow { depth, plain, pruned, post_seconds })
}

/// The post's negamax: every move, no window.
fn plain_value(position: &Position, depth: u32, nodes: &mut u64) -> i32 {
    *nodes += 1;
    if position.has_line_of_last_mover() {
        return -eval::FULL_LINE;
    }
    if depth == 0 {
        return eval::evaluate(position);
    }
    let children = position.open_columns().map(|column| position.play_unchecked(column));
    children.map(|child| -plain_value(&child, depth - 1, nodes)).max().unwrap_or(0)
}

/// A row, with how many times the effort of the row before.
fn cells(row: &GrowthRow, before: Option<&GrowthRow>) -> [String; 8] {
    let growth = |now: Option<Effort>, before: Option<Effort>| match (now, before) {
        (Some(now), Some(before)) => format!("{:.1}", ratio(now.nodes, before.nodes)),
        (Some(_), None) | (None, _) => "-".to_owned(),
    };
    let nodes =
        |effort: Option<Effort>| effort.map_or_else(|| "-".to_owned(), |effort| effort.nodes.to_string());
    let seconds =
        |seconds: Option<f64>| seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.4}"));
    let pruned = Some(row.pruned);
    [
        row.depth.to_string(),
        nodes(row.plain),
        growth(row.plain, before.and_then(|before| before.plain)),
        seconds(row.plain.map(|effort| effort.seconds)),
        nodes(pruned),
        growth(pruned, before.map(|before| before.pruned)),
        seconds(pruned.map(|effort| effort.seconds)),
        row.post_seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.2}")),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "a ratio needs no 53 bits")]
fn ratio(now: u64, before: u64) -> f64 {
    now as f64 / before as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_negamax_looks_at_everything_and_finds_the_same() {
        let start = Position::new(Variant::STANDARD);
        let mut nodes = 0;
        let value = plain_value(&start, 3, &mut nodes);
        assert_eq!(nodes, 1 + 7 + 49 + 343);
        let never = AtomicBool::new(false);
        let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &never });
        let guide = ColumnOrder::centre_first(Variant::STANDARD);
        let mut negamax = Negamax { valuation: eval::OpenLines, guide, ties: TieBreak::FirstSearched };
        assert_eq!(negamax.search(&start, 3, Window::FULL, &mut counter).unwrap().value, value);
        assert!(counter.nodes() < nodes);
    }

    #[test]
    fn a_row_says_how_the_work_grows() {
        let rows = [row(1).unwrap(), row(2).unwrap()];
        let cells = cells(&rows[1], Some(&rows[0]));
        assert_eq!(cells[..3], ["2", "57", "7.1"]);
        assert_eq!(cells[7], "0.22");
    }
}
