//! Boards above 64 bits against the naive board, and against the solver of the others where both know a board.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::solver::wide::{WidePosition, WideSolver, WideVariant};
use fourfold_engine::solver::{Score, SearchLimits, Solver, Unsolved};
use fourfold_engine::{Column, Game, IllegalMove, Variant};
use proptest::prelude::*;
use rand::RngExt;

use crate::naive::NaiveBoard;

static NEVER: AtomicBool = AtomicBool::new(false);
const FREE: SearchLimits<'static> = SearchLimits { nodes: None, stop: &NEVER };

/// Boards above 64 bits: the least and the largest, odd and even ones, short lines and long ones.
const WIDE: [&str; 14] = [
    "8x8", "8x8x5", "9x7", "9x8", "10x6", "10x7", "10x8", "11x8", "12x5", "12x8", "12x8x8", "5x12", "6x15",
    "8x12x6",
];

fn size(variant: WideVariant) -> [u8; 3] {
    [variant.width(), variant.height(), variant.connect()]
}

fn column(index: usize) -> Column {
    Column::from_index(index).unwrap()
}

/// A game without a line, as moves and as a board, until so many cells are empty: each stone is drawn from those that
/// complete nothing.
fn undecided(variant: WideVariant, empty: usize, rng: &mut GameRng) -> (NaiveBoard, Vec<Column>) {
    let cells = usize::from(variant.width()) * usize::from(variant.height());
    loop {
        let (mut board, mut moves) = (NaiveBoard::of_size(size(variant)), Vec::new());
        while moves.len() < cells - empty {
            let mut open: Vec<usize> =
                (0..usize::from(variant.width())).filter(|&c| board.is_open(c)).collect();
            let found = std::iter::from_fn(|| {
                let last = open.len().checked_sub(1)?;
                Some(open.swap_remove(rng.random_range(0..=last)))
            })
            .find(|&column| {
                board.play(column);
                let is_quiet = !board.is_line_at_top_of(column);
                if !is_quiet {
                    board.take_back(column);
                }
                is_quiet
            });
            match found {
                Some(index) => moves.push(column(index)),
                None => break, // whatever is played completes a line
            }
        }
        if moves.len() == cells - empty {
            return (board, moves);
        }
    }
}

fn position(variant: WideVariant, moves: &[Column]) -> WidePosition {
    moves.iter().fold(WidePosition::new(variant), |position, &column| position.play(column).unwrap())
}

/// The score of each open column by the naive board.
fn naive_scores(board: &mut NaiveBoard, width: u8) -> Vec<Option<i32>> {
    let mut score = |column| {
        if !board.is_open(column) {
            return None;
        }
        let side = board.to_move;
        board.play(column);
        let score = if board.is_line_at_top_of(column) { board.win_of(side) } else { -board.score(-99, 99) };
        board.take_back(column);
        Some(score)
    };
    (0..usize::from(width)).map(&mut score).collect()
}

#[track_caller]
fn check_against_naive(
    variant: WideVariant,
    empty: usize,
    solver: &mut WideSolver,
    rng: &mut GameRng,
) -> bool {
    let (mut board, moves) = undecided(variant, empty, rng);
    let position = position(variant, &moves);
    let expected = naive_scores(&mut board, variant.width());
    let scores = solver.column_scores(&position, FREE).unwrap().value;
    let found: Vec<Option<i32>> =
        (0..expected.len()).map(|index| scores.get(column(index)).map(Score::value)).collect();
    assert_eq!(found, expected, "{variant} {moves:?}");
    let best = expected.iter().flatten().max().copied().unwrap_or(0);
    assert_eq!(solver.score(&position, FREE).unwrap().value.value(), best, "{variant} {moves:?}");
    assert_eq!(solver.value(&position, FREE).unwrap().value, Score::new(best).sign());
    best != 0
}

#[test]
fn ends_of_games_on_wide_boards_are_solved_as_by_a_naive_search() {
    let mut rng = rng::seeded(61);
    let mut decided = 0;
    for variant in WIDE.map(|text| text.parse::<WideVariant>().unwrap()) {
        let mut solver = WideSolver::new();
        for round in 0..40 {
            decided += usize::from(check_against_naive(variant, round % 12, &mut solver, &mut rng));
        }
    }
    assert!(decided > 100, "{decided} of the positions are no draws");
}

/// A position of a random game with so many empty cells, on a board that fits 64 bits.
fn random_game(variant: Variant, empty: usize, rng: &mut GameRng) -> Game {
    let cells = usize::from(variant.width()) * usize::from(variant.height());
    loop {
        let mut game = Game::new(variant);
        while game.outcome().is_none() && game.moves().len() < cells - empty {
            let open: Vec<Column> = game.position().legal_columns().collect();
            game.play(open[rng.random_range(0..open.len())]).unwrap();
        }
        if game.outcome().is_none() {
            return game;
        }
    }
}

#[track_caller]
fn check_both_words(game: &Game, solver: &mut Solver, wide: &mut WideSolver) {
    let position = WidePosition::from_moves(game.variant().into(), &game.notation()).unwrap();
    let notation = game.notation();
    let expected = solver.column_scores(game.position(), FREE).unwrap().value;
    assert_eq!(wide.column_scores(&position, FREE).unwrap().value, expected, "{} {notation}", game.variant());
    let expected = solver.value(game.position(), FREE).unwrap().value;
    assert_eq!(wide.value(&position, FREE).unwrap().value, expected, "{} {notation}", game.variant());
}

#[test]
fn words_of_64_and_of_128_bits_give_the_same_scores() {
    let mut rng = rng::seeded(62);
    for (variant, empty_max) in [
        ("4x4", 16),
        ("4x4x3", 16),
        ("5x4", 20),
        ("4x5", 20),
        ("5x4x3", 20),
        ("5x5", 20),
        ("4x5x5", 20),
        ("6x4", 20),
        ("6x5", 20),
        ("7x5", 20),
        ("7x6", 24),
        ("7x6x5", 20),
        ("8x6", 20),
        ("8x7", 20),
        ("9x6", 20),
        ("10x5", 18),
        ("12x4", 18),
        ("4x15", 20),
        ("9x6x5", 18),
        ("4x15x8", 20),
        ("12x4x7", 16),
    ] {
        let variant: Variant = variant.parse().unwrap();
        let (mut solver, mut wide) = (Solver::new(), WideSolver::new());
        for round in 0..16 {
            let empty = empty_max - round % 12;
            check_both_words(&random_game(variant, empty, &mut rng), &mut solver, &mut wide);
        }
    }
}

#[test]
fn small_boards_from_the_start_have_one_score() {
    for variant in ["4x4", "4x4x3", "5x4", "4x5", "5x5x3", "6x4x3", "7x6x3"] {
        let variant: Variant = variant.parse().unwrap();
        check_both_words(&Game::new(variant), &mut Solver::new(), &mut WideSolver::new());
    }
    for (variant, score) in [("4x4", 0), ("4x4x3", 4), ("5x4x3", 6)] {
        // The naive board takes its time from the start.
        let variant: WideVariant = variant.parse().unwrap();
        let found = WideSolver::new().score(&WidePosition::new(variant), FREE).unwrap().value.value();
        let naive = NaiveBoard::of_size(size(variant)).score(-99, 99);
        assert_eq!((found, naive), (score, score), "{variant}");
    }
}

#[test]
fn three_in_a_line_on_wide_boards_from_the_start() {
    // The first side wins with its fifth stone, and not before.
    for (variant, stones) in [("8x8x3", 32), ("12x8x3", 48), ("9x7x3", 32), ("10x9x3", 45)] {
        let variant: WideVariant = variant.parse().unwrap();
        let found = WideSolver::new().score(&WidePosition::new(variant), FREE).unwrap().value.value();
        assert_eq!(found, stones - 5 + 1, "{variant}");
        if variant.width() == 8 {
            assert_eq!(NaiveBoard::of_size(size(variant)).score(found - 1, found + 1), found);
        }
    }
}

#[test]
fn the_last_cells_of_the_largest_board() {
    let variant: WideVariant = "12x8".parse().unwrap();
    let mut rng = rng::seeded(63);
    let (_, moves) = undecided(variant, 0, &mut rng);
    let full = position(variant, &moves);
    assert!(full.is_over() && full.ply() == 96 && full.legal_columns().next().is_none());
    assert_eq!(WideSolver::new().score(&full, FREE).unwrap().value, Score::DRAW);
    assert_eq!(WideSolver::new().column_scores(&full, FREE).unwrap().value.best(), None);
    assert_eq!(full.play(moves[0]), Err(IllegalMove::GameOver));
    let last = position(variant, &moves[..95]);
    let columns: Vec<Column> = last.legal_columns().collect();
    assert_eq!(columns, moves[95..]);
    assert_eq!(
        last.play(column((moves[95].index() + 1) % 12)),
        Err(IllegalMove::ColumnFull { column: column((moves[95].index() + 1) % 12) })
    );
}

/// A game that the first side wins with its last move, and the score of that.
#[track_caller]
fn check_won(variant: &str, moves: &str, score: i32) {
    let variant: WideVariant = variant.parse().unwrap();
    let won = WidePosition::from_moves(variant, moves).unwrap();
    assert!(won.is_over() && won.legal_columns().next().is_none(), "{moves}");
    assert_eq!(WideSolver::new().score(&won, FREE).unwrap().value, Score::new(-score));
    let before = WidePosition::from_moves(variant, &moves[..moves.len() - 1]).unwrap();
    assert!(!before.is_over(), "{moves}");
    assert_eq!(WideSolver::new().score(&before, FREE).unwrap().value, Score::new(score));
}

#[test]
fn lines_in_corners_win() {
    check_won("12x8", "c1c1c1c", 45);
    check_won("12x8", "91a1b1c", 45); // along the bottom, to the last column
    check_won("8x8", "88888181818", 27); // up to the top of the last column
    check_won("6x15", "1666666666666161616", 36);
}

#[test]
fn mirror_images_share_what_is_known() {
    let mut rng = rng::seeded(64);
    let (mut first, mut second) = (0, 0);
    for variant in WIDE.map(|text| text.parse::<WideVariant>().unwrap()) {
        let mut solver = WideSolver::new();
        for _ in 0..8 {
            let (_, moves) = undecided(variant, 20, &mut rng);
            let mirrored: Vec<Column> =
                moves.iter().map(|&c| column(usize::from(variant.width()) - 1 - c.index())).collect();
            let found = solver.score(&position(variant, &moves), FREE).unwrap();
            let again = solver.score(&position(variant, &mirrored), FREE).unwrap();
            assert_eq!(again.value, found.value, "{variant} {moves:?}");
            (first, second) = (first + found.nodes, second + again.nodes);
        }
    }
    assert!(second * 100 < first, "{second} nodes for what {first} have shown");
}

#[test]
fn threads_find_the_same_on_wide_boards() {
    let mut rng = rng::seeded(65);
    let mut parallel = WideSolver::new().with_threads(NonZeroUsize::new(4).unwrap());
    for variant in ["8x8", "12x8", "9x7"].map(|text| text.parse::<WideVariant>().unwrap()) {
        for _ in 0..8 {
            let (_, moves) = undecided(variant, 22, &mut rng);
            let position = position(variant, &moves);
            let expected = WideSolver::new().column_scores(&position, FREE).unwrap().value;
            assert_eq!(
                parallel.column_scores(&position, FREE).unwrap().value,
                expected,
                "{variant} {moves:?}"
            );
        }
    }
}

#[test]
fn limits_leave_what_is_proven() {
    for variant in WIDE.map(|text| text.parse::<WideVariant>().unwrap()) {
        let position = WidePosition::new(variant);
        let limits = SearchLimits { nodes: Some(5_000), stop: &NEVER };
        let Unsolved { lower, upper, nodes } = WideSolver::new().score(&position, limits).unwrap_err();
        assert!(lower < upper && nodes == 5_000, "{variant}: {lower} {upper} {nodes}");
        let Unsolved { lower, upper, .. } = WideSolver::new().value(&position, limits).unwrap_err();
        assert!(-1 <= lower.value() && lower < upper && upper.value() <= 1, "{variant}: {lower} {upper}");
        let unsolved = WideSolver::new().column_scores(&position, limits).unwrap_err();
        assert!(unsolved.lower < unsolved.upper);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn games_on_wide_boards_follow_the_naive_rules(
        variant in prop::sample::select(&WIDE[..]),
        attempts in prop::collection::vec(0..12_usize, 0..160),
    ) {
        let variant: WideVariant = variant.parse().unwrap();
        let (mut position, mut board) = (WidePosition::new(variant), NaiveBoard::of_size(size(variant)));
        let mut is_over = false;
        for index in attempts {
            let open: Vec<usize> = (0..usize::from(variant.width())).filter(|&c| board.is_open(c)).collect();
            let legal: Vec<usize> = position.legal_columns().map(Column::index).collect();
            prop_assert_eq!(&legal, if is_over { &[][..] } else { &open[..] });
            prop_assert_eq!(position.is_over(), is_over);
            let column = column(index);
            let expected = if is_over {
                Err(IllegalMove::GameOver)
            } else if index >= usize::from(variant.width()) {
                Err(IllegalMove::NoSuchColumn { column, width: variant.width() })
            } else if board.is_open(index) {
                Ok(())
            } else {
                Err(IllegalMove::ColumnFull { column })
            };
            let played = position.play(column);
            prop_assert_eq!(played.map(|_| ()), expected);
            if let Ok(played) = played {
                position = played;
                board.play(index);
                is_over = board.is_line_at_top_of(index) || board.is_full();
            }
        }
    }
}
