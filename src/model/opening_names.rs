//! Names of first moves on the standard board: a table of our own. A name belongs to a position, so another order of
//! the same moves has it too, and so has the mirror image. Pure; the words in all languages are the pages'.

use std::collections::HashMap;
use std::sync::LazyLock;

use fourfold_engine::{Game, Position, Side, Variant};

/// A beginning that has a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NamedOpening {
    /// Stays the same for ever; texts are found by it.
    pub(crate) key: &'static str,
    /// One order of its moves, of which no other makes the same position.
    pub(crate) moves: &'static str,
    /// Who wins from there if both play perfectly, `None` for nobody. A test asks the solver.
    pub(crate) winner: Option<Side>,
}

/// The last name that a game has earned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReachedOpening {
    pub(crate) named: &'static NamedOpening,
    /// Stones on the board when it came to that.
    pub(crate) ply: u32,
}

const fn named(key: &'static str, moves: &'static str, winner: Option<Side>) -> NamedOpening {
    NamedOpening { key, moves, winner }
}

const FIRST: Option<Side> = Some(Side::First);
const SECOND: Option<Side> = Some(Side::Second);

/// All of them, the shorter ones first.
pub(crate) const NAMED_OPENINGS: [NamedOpening; 32] = [
    named("edge", "1", SECOND),
    named("wing", "2", SECOND),
    named("flank", "3", None),
    named("centre", "4", FIRST),
    named("edge_tower", "11", FIRST),
    named("edge_centre", "14", SECOND),
    named("edge_both", "17", FIRST),
    named("wing_tower", "22", None),
    named("wing_centre", "24", None),
    named("wing_both", "26", FIRST),
    named("flank_tower", "33", None),
    named("flank_centre", "34", None),
    named("flank_both", "35", None),
    named("flank_outside", "32", FIRST),
    named("centre_tower", "44", FIRST),
    named("centre_beside", "43", FIRST),
    named("centre_wide", "42", FIRST),
    named("centre_edge", "41", FIRST),
    named("tower_three", "444", FIRST),
    named("two_in_centre", "434", None),
    named("row_cut", "435", SECOND),
    named("tower_edge", "441", SECOND),
    named("tower_wide", "442", SECOND),
    named("tower_beside", "443", SECOND),
    named("tower_four", "4444", FIRST),
    named("two_towers", "4433", FIRST),
    named("two_walls", "4343", FIRST),
    named("tower_three_edge", "4441", FIRST),
    named("tower_three_wide", "4442", FIRST),
    named("tower_five", "44444", FIRST),
    named("full_centre", "444444", FIRST),
    named("tower_five_wide", "444442", FIRST),
];

/// Stones of the fullest position that has a name; a test counts.
const PLIES_MAX: usize = 6;

/// The names by the keys of their positions, which mirror images share.
static BY_POSITION: LazyLock<HashMap<u64, &'static NamedOpening>> = LazyLock::new(|| {
    let position = |named: &NamedOpening| Game::from_moves(Variant::STANDARD, named.moves).ok();
    let keyed = |named: &'static NamedOpening| Some((position(named)?.position().canonical_key(), named));
    NAMED_OPENINGS.iter().filter_map(keyed).collect()
});

/// The name of a position, if it has one.
pub(crate) fn name_of(position: &Position) -> Option<&'static NamedOpening> {
    if position.variant() != Variant::STANDARD {
        return None;
    }
    BY_POSITION.get(&position.canonical_key()).copied()
}

/// The name of the fullest position of a game that has one.
pub(crate) fn deepest(game: &Game) -> Option<ReachedOpening> {
    let mut position = Position::new(game.variant());
    let mut reached = None;
    for (column, ply) in game.moves().iter().take(PLIES_MAX).zip(1..) {
        position = position.play_unchecked(*column);
        reached = name_of(&position).map(|named| ReachedOpening { named, ply }).or(reached);
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use fourfold_engine::solver::book::Book;

    use super::*;

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    fn key_after(moves: &str) -> Option<(&'static str, u32)> {
        deepest(&game(moves)).map(|reached| (reached.named.key, reached.ply))
    }

    #[test]
    fn each_named_opening_has_the_value_that_the_solver_gives_it() {
        for named in &NAMED_OPENINGS {
            let game = game(named.moves);
            let score = Book::embedded().score(game.position()).unwrap();
            let mover = game.position().side_to_move();
            let winner = match score.value() {
                0 => None,
                value if value > 0 => Some(mover),
                _ => Some(mover.opponent()),
            };
            assert_eq!(winner, named.winner, "{}: {}", named.key, score.value());
        }
    }

    #[test]
    fn no_two_names_are_of_one_position() {
        assert_eq!(BY_POSITION.len(), NAMED_OPENINGS.len());
        let keys: HashSet<_> = NAMED_OPENINGS.iter().map(|named| named.key).collect();
        assert_eq!(keys.len(), NAMED_OPENINGS.len());
        let longest = NAMED_OPENINGS.iter().map(|named| named.moves.len()).max();
        assert_eq!(longest, Some(PLIES_MAX));
        assert!(NAMED_OPENINGS.is_sorted_by_key(|named| named.moves.len()));
    }

    #[test]
    fn mirror_images_and_other_orders_have_the_same_name() {
        assert_eq!(key_after("444444"), Some(("full_centre", 6)));
        assert_eq!(key_after("45"), Some(("centre_beside", 2)));
        assert_eq!(key_after("455"), key_after("45"), "what follows has no name of its own");
        assert_eq!((key_after("453"), key_after("354")), (Some(("row_cut", 3)), Some(("row_cut", 3))));
        assert_eq!(key_after("3344"), Some(("two_towers", 4)), "another order of 4433");
    }

    #[test]
    fn the_last_name_stays_and_other_boards_have_none() {
        assert_eq!(key_after(""), None);
        assert_eq!(key_after("4444411223"), Some(("tower_five", 5)));
        let wide = Game::from_moves("8x7".parse().unwrap(), "44").unwrap();
        assert_eq!(deepest(&wide), None);
    }
}
