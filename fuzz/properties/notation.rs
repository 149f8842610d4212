//! Moves and diagrams: reading never panics, and what was read reads back the same.

use fourfold_engine::notation::{parse_diagram, print_diagram};
use fourfold_engine::{Game, Variant};

pub(crate) fn hold(input: (&str, &str)) {
    let (board, text) = input;
    let variant = board.parse().unwrap_or(Variant::STANDARD);
    if let Ok(game) = Game::from_moves(variant, text) {
        assert_eq!(Game::from_moves(variant, &game.notation()).unwrap().position(), game.position());
    }
    if let Ok(position) = parse_diagram(variant, text) {
        assert_eq!(parse_diagram(variant, &print_diagram(&position)).unwrap(), position);
    }
}
