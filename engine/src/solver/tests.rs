//! The solver against plain minimax, which knows nothing but the rules.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use rand::RngExt;

use super::geometry::Geometry;
use super::meter::NodeMeter;
use super::node::{self, Node};
use super::processor::Instructions;
use super::search::Search;
use super::table::BoundsTable;
use super::*;
use crate::board::{BySide, Side};
use crate::game::Game;
use crate::rng::{self, GameRng};
use crate::search::tests::random_position;

static NEVER: AtomicBool = AtomicBool::new(false);
const FREE: SearchLimits<'static> = SearchLimits { nodes: None, stop: &NEVER };

/// The score by the rules alone, with a memory of positions.
fn minimax(position: &Position, known: &mut HashMap<u64, i32>) -> i32 {
    let variant = position.variant();
    if position.has_line_of_last_mover() {
        return Score::loss(variant, position.ply()).value();
    }
    if position.is_full() {
        return 0;
    }
    if let Some(&score) = known.get(&position.key()) {
        return score;
    }
    let scores = position.open_columns().map(|column| -minimax(&position.play_unchecked(column), known));
    let best = scores.max().expect("a column is open");
    known.insert(position.key(), best);
    best
}

/// A position of a random game with at most this many empty cells, which may be over.
fn late_position(variant: Variant, empty: u32, rng: &mut GameRng) -> Position {
    loop {
        // Drawn anew each time: where three stones win, no game fills the board.
        let plies = variant.cells() - rng.random_range(0..=empty);
        let mut position = Position::new(variant);
        while position.ply() < plies && position.outcome().is_none() {
            let open: Vec<Column> = position.open_columns().collect();
            position = position.play_unchecked(open[rng.random_range(0..open.len())]);
        }
        if position.ply() == plies {
            return position;
        }
    }
}

#[track_caller]
fn check_against_minimax(position: &Position, solver: &mut Solver) {
    let mut known = HashMap::new();
    let expected = minimax(position, &mut known);
    assert_eq!(solver.score(position, FREE).unwrap().value.value(), expected, "{position:?}");
    assert_eq!(solver.value(position, FREE).unwrap().value, Score::new(expected).sign(), "{position:?}");
    let scores = solver.column_scores(position, FREE).unwrap().value;
    for column in position.variant().columns() {
        let expected = position.play(column).ok().map(|child| -minimax(&child, &mut known));
        assert_eq!(scores.get(column).map(Score::value), expected, "{column} {position:?}");
    }
}

#[test]
fn small_boards_are_solved_as_by_minimax() {
    for variant in ["4x4", "4x4x3", "5x4", "5x4x3", "4x5x5"] {
        let variant: Variant = variant.parse().unwrap();
        check_against_minimax(&Position::new(variant), &mut Solver::new());
    }
}

#[test]
fn ends_of_games_on_all_boards_are_solved_as_by_minimax() {
    let mut rng = rng::seeded(31);
    for variant in [
        "7x6", "7x6x5", "6x6", "8x6", "9x6", "9x6x5", "5x5", "6x5", "7x5", "8x7", "10x5", "12x4", "4x15x8",
        "4x10",
    ] {
        let variant: Variant = variant.parse().unwrap();
        let mut solver = Solver::new();
        for _ in 0..60 {
            let empty = if variant.connect() == 3 { 34 } else { 13 };
            check_against_minimax(&late_position(variant, empty, &mut rng), &mut solver);
        }
    }
}

/// Compares what is said without searching with minimax, and counts for each side to move how often it says more than
/// how many stones a win takes.
fn check_bounds<G: Geometry<Word = u64>>(geometry: G, position: &Position, telling: &mut BySide<u32>) {
    if position.outcome().is_some() {
        return;
    }
    let root = Node::new(geometry, position.mine().bits(), position.mask().bits());
    let expected = minimax(position, &mut HashMap::new());
    match root.settle(geometry) {
        node::Settled::Known(score) => assert_eq!(score, expected, "{position:?}"),
        node::Settled::Open { node, is_flipped, .. } => {
            let score = if is_flipped { -expected } else { expected };
            let KnownBounds { lower, upper } = bounds::of(geometry, &node);
            assert!((lower..=upper).contains(&score), "{score} is not in {lower}..={upper}: {position:?}");
            telling[Side::to_move_at(node.ply)] += u32::from(upper < geometry.win(node.ply + 3));
        }
    }
}

#[test]
fn static_bounds_hold_near_the_end() {
    let mut rng = rng::seeded(32);
    let mut telling = BySide::default();
    for variant in ["7x6", "6x4", "5x6", "8x4", "6x6", "9x4x5", "4x10"] {
        let variant: Variant = variant.parse().unwrap();
        for _ in 0..1_500 {
            let position = late_position(variant, 14, &mut rng);
            check_bounds(AnySize::of(variant), &position, &mut telling);
            if variant == Variant::STANDARD {
                check_bounds(Standard, &position, &mut telling);
            }
        }
    }
    assert!(telling.first >= 100 && telling.second >= 10, "{telling:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn scores_are_one_ply_consistent_and_mirror(seed: u64) {
        let position = late_position(Variant::STANDARD, 24, &mut rng::seeded(seed));
        let score = Solver::new().score(&position, FREE).unwrap().value;
        prop_assert_eq!(Solver::new().score(&position.mirror(), FREE).unwrap().value, score);
        let scores = Solver::new().column_scores(&position, FREE).unwrap().value;
        prop_assert_eq!(scores.best(), position.outcome().is_none().then_some(score));
        for (column, of_column) in scores.iter() {
            let child = position.play_unchecked(column);
            prop_assert_eq!(Solver::new().score(&child, FREE).unwrap().value, -of_column);
        }
    }

    #[test]
    fn a_table_used_for_many_positions_changes_no_answer(seed: u64) {
        let mut rng = rng::seeded(seed);
        let mut used = Solver::new();
        for variant in [Variant::STANDARD, "6x6".parse().unwrap(), "5x5".parse().unwrap(), Variant::STANDARD] {
            let position = late_position(variant, 20, &mut rng);
            let fresh = Solver::new().score(&position, FREE).unwrap().value;
            prop_assert_eq!(used.score(&position, FREE).unwrap().value, fresh);
            prop_assert_eq!(used.value(&position, FREE).unwrap().value, fresh.sign());
        }
    }
}

#[track_caller]
fn standard(moves: &str) -> Position {
    *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
}

#[test]
fn finished_games_have_the_score_they_ended_with() {
    let mut solver = Solver::new();
    let won = standard("1212121");
    assert_eq!(solver.score(&won, FREE).unwrap().value, Score::new(-18));
    assert_eq!(solver.value(&won, FREE).unwrap().value, Value::Loss);
    assert_eq!(solver.column_scores(&won, FREE).unwrap().value.best(), None);
    let drawn = late_position("4x4".parse().unwrap(), 0, &mut rng::seeded(1));
    let expected = minimax(&drawn, &mut HashMap::new());
    assert_eq!(solver.score(&drawn, FREE).unwrap().value.value(), expected);
}

#[test]
fn an_interrupted_search_tells_what_it_has_proven() {
    let position = standard("4444");
    let exact = 1;
    let mut solver = Solver::new();
    for nodes in [0, 1, 1_000, 100_000] {
        solver.clear();
        let limits = SearchLimits { nodes: Some(nodes), stop: &NEVER };
        let unsolved = solver.score(&position, limits).unwrap_err();
        assert!(unsolved.nodes <= nodes, "{unsolved:?}");
        let (lower, upper) = (unsolved.lower.value(), unsolved.upper.value());
        assert!((lower..=upper).contains(&exact), "{unsolved:?}");
        assert!(upper - lower < 38, "{unsolved:?}");
    }
    let stop = AtomicBool::new(true);
    let unsolved = solver.value(&position, SearchLimits { nodes: None, stop: &stop }).unwrap_err();
    assert_eq!((unsolved.nodes, unsolved.lower.value(), unsolved.upper.value()), (0, -1, 1));
}

#[test]
fn a_budget_can_be_spent_in_parts() {
    // What was found out stays in the table, so that asking again goes on.
    let position = standard("4444");
    let mut solver = Solver::new();
    let limits = SearchLimits { nodes: Some(200_000), stop: &NEVER };
    let tries = (0..1_000).find(|_| solver.score(&position, limits).is_ok());
    assert!(tries.is_some_and(|tries| tries > 0), "{tries:?}");
}

#[test]
fn threads_find_the_same() {
    let mut rng = rng::seeded(33);
    let mut parallel = Solver::new().with_threads(NonZeroUsize::new(4).unwrap());
    for _ in 0..40 {
        let position = late_position(Variant::STANDARD, 28, &mut rng);
        let expected = Solver::new().score(&position, FREE).unwrap().value;
        assert_eq!(parallel.score(&position, FREE).unwrap().value, expected, "{position:?}");
    }
}

/// What a search with these instructions says of all windows in turn, and its nodes.
fn searched<G: Geometry<Word = u64>>(
    geometry: G,
    position: &Position,
    instructions: Instructions,
) -> Vec<(i32, u64)> {
    let root = Node::new(geometry, position.mine().bits(), position.mask().bits());
    let node::Settled::Open { node, moves, .. } = root.settle(geometry) else { return Vec::new() };
    let table = BoundsTable::new(TableSize::DEFAULT, geometry.key_bits());
    let meter = NodeMeter { limits: FREE, is_done: &NEVER, nodes: 0 };
    let mut search = Search::new(geometry, &table, meter, 0).with_instructions(instructions);
    [-4, -1, 0, 3].map(|alpha| (search.search(&node, moves, alpha).unwrap(), search.meter.nodes)).to_vec()
}

/// Where the processor has none but the common ones there is nothing to compare.
#[test]
fn all_instructions_find_the_same_in_the_same_nodes() {
    let mut rng = rng::seeded(36);
    let mut nodes = 0;
    for variant in ["7x6", "6x5", "5x6x3", "8x5"] {
        let variant: Variant = variant.parse().unwrap();
        for _ in 0..60 {
            let position = late_position(variant, 22, &mut rng);
            let any = AnySize::of(variant);
            let common = searched(any, &position, Instructions::Common);
            assert_eq!(searched(any, &position, Instructions::best()), common, "{position:?}");
            if variant == Variant::STANDARD {
                for instructions in [Instructions::Common, Instructions::best()] {
                    assert_eq!(searched(Standard, &position, instructions), common, "{position:?}");
                }
            }
            nodes += common.last().map_or(0, |(_, nodes)| *nodes);
        }
    }
    assert!(nodes > 10_000, "{nodes} nodes");
}

#[test]
fn guesses_change_no_answer() {
    let mut rng = rng::seeded(35);
    for _ in 0..20 {
        let position = late_position(Variant::STANDARD, 22, &mut rng);
        let expected = Solver::new().score(&position, FREE).unwrap().value;
        for guess in [expected, -expected, Score::DRAW, Score::new(18), Score::new(-40)] {
            assert_eq!(
                Solver::new().score_near(&position, guess, FREE).unwrap().value,
                expected,
                "{position:?}"
            );
        }
    }
}

#[test]
fn equal_searches_expand_equally_many_positions() {
    let mut solver = Solver::new();
    let mut nodes = || {
        solver.clear();
        ["44", "4444", "35333571", "2252576253462244111563365343671351441"]
            .map(|moves| solver.value(&standard(moves), SearchLimits { nodes: Some(50_000), stop: &NEVER }))
            .map(|found| found.map_or_else(|unsolved| unsolved.nodes, |solved| solved.nodes))
    };
    assert_eq!(nodes(), nodes());
}

#[test]
fn any_position_may_be_asked_for() {
    // Random ones, which may be over, of the smallest and the largest boards, with little time.
    let mut rng = rng::seeded(34);
    for variant in ["4x4", "4x4x3", "12x4", "4x15", "4x15x8", "8x7", "9x6", "10x5x3", "7x6x6"] {
        let variant: Variant = variant.parse().unwrap();
        let mut solver = Solver::new();
        for _ in 0..20 {
            let position = random_position(variant, &mut rng);
            let limits = SearchLimits { nodes: Some(2_000), stop: &NEVER };
            if let Err(unsolved) = solver.score(&position, limits) {
                assert!(unsolved.lower < unsolved.upper, "{unsolved:?}");
            }
        }
    }
}
