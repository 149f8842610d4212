//! Positions and games against the naive board, move by move, on boards of many sizes.

use fourfold_engine::{Cell, Column, Game, IllegalMove, Outcome, Position, Variant, notation};
use proptest::prelude::*;

use crate::naive::NaiveBoard;

const VARIANTS: [&str; 12] =
    ["7x6", "9x6", "8x7", "4x4", "9x6x5", "10x5", "12x4", "4x15", "4x15x8", "6x6x3", "8x7x7", "5x5x5"];

/// A variant and columns to try in turn; a column may be full, or off the board.
fn attempts() -> impl Strategy<Value = (Variant, Vec<Column>)> {
    let variant = prop::sample::select(&VARIANTS[..]).prop_map(|text| text.parse::<Variant>().unwrap());
    variant.prop_flat_map(|variant| {
        // Now and then a column that the board does not have.
        let index =
            prop_oneof![40 => 0..usize::from(variant.width()), 1 => 0..usize::from(Variant::MAX_WIDTH)];
        let column = index.prop_map(|index| Column::from_index(index).unwrap());
        (Just(variant), prop::collection::vec(column, 0..120))
    })
}

fn assert_same_stones(position: &Position, board: &NaiveBoard) {
    let variant = position.variant();
    for column in variant.columns() {
        for row in 0..usize::from(variant.height()) {
            let stone = position.stone_at(Cell::new(column, row).unwrap());
            assert_eq!(stone, board.stone_at((column.index(), row)), "{column} {row}");
        }
    }
}

fn assert_same_outcome(outcome: Option<Outcome>, board: &NaiveBoard) {
    let last = board.to_move.opponent();
    let lines = board.lines(last);
    match outcome {
        Some(Outcome::Win { by, line }) => {
            assert_eq!(by, last);
            let places: Vec<_> = line.cells().map(|cell| (cell.column().index(), cell.row_index())).collect();
            assert!(lines.contains(&places), "{places:?} not in {lines:?}");
        }
        Some(Outcome::Draw) => assert!(lines.is_empty() && board.is_full()),
        None => assert!(lines.is_empty() && !board.is_full()),
    }
    assert!(board.lines(board.to_move).is_empty(), "only the last stone completes a line");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn games_follow_the_naive_rules((variant, attempts) in attempts()) {
        let mut game = Game::new(variant);
        let mut board = NaiveBoard::new(variant);
        for column in attempts {
            let legal: Vec<usize> = game.position().legal_columns().map(Column::index).collect();
            let is_over = game.outcome().is_some();
            let open: Vec<usize> = (0..usize::from(variant.width())).filter(|&c| board.is_open(c)).collect();
            prop_assert_eq!(&legal, if is_over { &[][..] } else { &open[..] });
            prop_assert_eq!(game.position().is_legal(column), legal.contains(&column.index()));

            let expected = if is_over {
                Err(IllegalMove::GameOver)
            } else if column.index() >= usize::from(variant.width()) {
                Err(IllegalMove::NoSuchColumn { column, width: variant.width() })
            } else if board.is_open(column.index()) {
                Ok(())
            } else {
                Err(IllegalMove::ColumnFull { column })
            };
            let before = game.clone();
            let played = game.play(column);
            prop_assert_eq!(played.map(|_| ()), expected);
            if played.is_err() {
                prop_assert_eq!(&game, &before, "a refused move changes nothing");
                continue;
            }
            board.play(column.index());
            prop_assert_eq!(game.position().side_to_move(), board.to_move);
            prop_assert_eq!(played, Ok(game.outcome()));
            assert_same_stones(game.position(), &board);
            assert_same_outcome(game.outcome(), &board);
        }
    }

    #[test]
    fn undo_leads_back_move_by_move((variant, attempts) in attempts()) {
        let mut game = Game::new(variant);
        let mut history = vec![game.clone()];
        for column in attempts {
            if game.play(column).is_ok() {
                history.push(game.clone());
            }
        }
        while let Some(expected) = history.pop() {
            prop_assert_eq!(&game, &expected);
            prop_assert_eq!(game.undo(), expected.moves().last().copied());
        }
    }

    #[test]
    fn notation_leads_to_the_same_game((variant, attempts) in attempts()) {
        let mut game = Game::new(variant);
        for column in attempts {
            let _ = game.play(column); // refused moves are left out
        }
        prop_assert_eq!(&Game::from_moves(variant, &game.notation()).unwrap(), &game);
        let diagram = notation::print_diagram(game.position());
        prop_assert_eq!(&notation::parse_diagram(variant, &diagram).unwrap(), game.position());
        prop_assert_eq!(variant.to_string().parse::<Variant>().unwrap(), variant);
    }

    #[test]
    fn mirrored_games_are_mirror_images((variant, attempts) in attempts()) {
        let (mut game, mut mirrored) = (Game::new(variant), Game::new(variant));
        let mut board = NaiveBoard::new(variant);
        for column in attempts.into_iter().filter(|&column| variant.has_column(column)) {
            if game.play(column).is_ok() {
                mirrored.play(column.mirror(variant)).unwrap();
                board.play(column.index());
            }
        }
        let (position, image) = (game.position(), mirrored.position());
        prop_assert_eq!(&position.mirror(), image);
        prop_assert_eq!(&image.mirror(), position);
        prop_assert_eq!(position.canonical_key(), image.canonical_key());
        prop_assert_eq!(position.key() == image.key(), position == image);
        prop_assert_eq!(game.outcome().map(Outcome::winner), mirrored.outcome().map(Outcome::winner));
        assert_same_stones(image, &board.mirror());
    }

    #[test]
    fn winning_columns_are_those_that_win((variant, attempts) in attempts()) {
        let mut game = Game::new(variant);
        for column in attempts {
            let wins: Vec<Column> = game.position().winning_columns().collect();
            let wins_at_once = |column: &Column| {
                let outcome = game.position().play(*column).ok().and_then(|position| position.outcome());
                matches!(outcome, Some(Outcome::Win { .. }))
            };
            prop_assert_eq!(wins, variant.columns().filter(wins_at_once).collect::<Vec<_>>());
            let _ = game.play(column); // a refused move leaves the position as it was
        }
    }
}
