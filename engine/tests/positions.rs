//! The solver on scored positions: `tests/data/positions` of the repository, whose README says where they come from.
//!
//! A slice of them runs always. All of them, in some minutes:
//!
//! ```sh
//! cargo test --release -p fourfold-engine --test positions -- --ignored
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use fourfold_engine::solver::wide::{WidePosition, WideSolver};
use fourfold_engine::solver::{Score, SearchLimits, Solver, TableSize};
use fourfold_engine::{Column, Game, Position, Variant};

static NEVER: AtomicBool = AtomicBool::new(false);
const FREE: SearchLimits<'static> = SearchLimits { nodes: None, stop: &NEVER };

const CLASSES: [&str; 6] =
    ["end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard"];

/// The rows of one file: move lists, and the other columns.
fn rows(name: &str) -> Vec<(String, Vec<String>)> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/positions").join(format!("{name}.tsv"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let row = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        (cells.next().unwrap(), cells.collect())
    };
    text.lines().skip(1).map(row).collect()
}

fn position(moves: &str) -> Position {
    *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
}

/// Solves rows of a class, each with an empty table, and returns the nodes of all.
fn check_rows(solver: &mut Solver, class: &str, chosen: impl Fn(usize, &str) -> bool) -> u64 {
    let mut nodes = 0;
    for (index, (moves, cells)) in rows(class).into_iter().enumerate() {
        if !chosen(index, &moves) {
            continue;
        }
        let expected = Score::new(cells[0].parse().unwrap());
        solver.clear();
        let found = solver.score(&position(&moves), FREE).unwrap();
        assert_eq!(found.value, expected, "{class} {moves}");
        nodes += found.nodes;
        let sign = solver.value(&position(&moves), FREE).unwrap().value;
        assert_eq!(sign, expected.sign(), "{class} {moves}");
    }
    nodes
}

fn check_columns(solver: &mut Solver, chosen: impl Fn(usize, &str) -> bool) {
    for (index, (moves, cells)) in rows("columns").into_iter().enumerate() {
        if !chosen(index, &moves) {
            continue;
        }
        let scores = solver.column_scores(&position(&moves), FREE).unwrap().value;
        for (index, cell) in cells.iter().enumerate() {
            let expected = (cell != ".").then(|| Score::new(cell.parse().unwrap()));
            assert_eq!(
                scores.get(Column::from_index(index).unwrap()),
                expected,
                "column {} of {moves}",
                index + 1
            );
        }
    }
}

#[test]
fn a_slice_of_all_classes_is_solved_exactly() {
    let mut solver = Solver::new();
    for (class, step, stones_min) in [
        ("end-easy", 4, 0),
        ("middle-easy", 5, 0),
        ("middle-medium", 25, 0),
        ("begin-easy", 25, 0),
        ("begin-medium", 100, 8),
        ("begin-hard", 100, 9),
    ] {
        check_rows(&mut solver, class, |index, moves| index % step == 0 && moves.len() >= stones_min);
    }
}

#[test]
fn a_slice_of_column_scores_is_exact() {
    check_columns(&mut Solver::new(), |index, moves| index % 5 == 0 && moves.len() >= 9);
}

/// A refactoring must not move this number; a change of the search gives the new one in its commit.
#[test]
fn node_counts_are_those_of_before() {
    let nodes = check_rows(&mut Solver::new(), "middle-medium", |index, _| index < 40);
    assert_eq!(nodes, MIDDLE_MEDIUM_40);
    let nodes = check_rows(&mut Solver::new(), "begin-medium", |index, _| index < 30);
    assert_eq!(nodes, BEGIN_MEDIUM_30);
    assert!(nodes <= 30 * 175_000, "more than the best solver before");
}

const MIDDLE_MEDIUM_40: u64 = 265_730;
const BEGIN_MEDIUM_30: u64 = 3_630_388;

#[test]
#[ignore = "takes minutes: 6000 positions, some of them with one stone"]
fn all_scored_positions_are_solved_exactly() {
    // Large, for the rows with few stones.
    let mut solver = Solver::with_table(TableSize::from_mib(64));
    for class in CLASSES {
        let nodes = check_rows(&mut solver, class, |_, _| true);
        println!("{class}: {nodes} nodes");
    }
}

#[test]
#[ignore = "takes a minute or two: some of the 300 positions have few stones"]
fn all_column_scores_are_exact() {
    check_columns(&mut Solver::with_table(TableSize::from_mib(64)), |_, _| true);
}

/// Scores of the empty board, by the tables of who wins and with which move on the board sizes that John Tromp and
/// Christophe Steininger solved (readme of ChristopheSteininger/c4): by both sizes of a word.
#[track_caller]
fn check_published(scores: &[(&str, i32)]) {
    let size = TableSize::from_mib(64);
    for &(text, score) in scores {
        let variant: Variant = text.parse().unwrap();
        let found = Solver::with_table(size).score(&Position::new(variant), FREE).unwrap();
        assert_eq!(found.value.value(), score, "{text}");
        let position = WidePosition::new(variant.into());
        let found = WideSolver::with_table(size).score(&position, FREE).unwrap();
        assert_eq!(found.value.value(), score, "{text} in 128 bits");
    }
}

#[test]
fn published_values_of_small_boards() {
    check_published(&[
        ("4x4", 0),
        ("5x4", 0),
        ("4x5", 0),
        ("5x5", 0),
        ("6x4", -1), // the second side wins with the last stone
        ("7x4", 0),
        ("4x7", 0),
        ("5x6", 0),
        ("6x5", 0),
    ]);
}

#[test]
#[ignore = "takes some minutes: from the empty board, twice each"]
fn published_values_of_other_boards() {
    check_published(&[("8x4", -1), ("6x6", -1), ("5x7", 0), ("7x5", 0), ("7x6", 1)]);
}
