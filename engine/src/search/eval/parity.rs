//! Who profits from the threats that are left when everything else is played out.
//!
//! In the end the sides fill what is left, and somebody has to play below a threat. On boards of even height
//! the second player can always reply in the same column, so he gets the cells of even rows (2, 4, 6) and the
//! first player those of odd rows. A threat on a cell that its owner gets is therefore worth more than one on
//! a cell that the other side gets; and an odd threat of the first player turns the order of play for the
//! whole board in his favour, which beats even threats elsewhere. The rules are from L. V. Allis, "A
//! Knowledge-based Approach of Connect-Four" (1988), much simplified: these are weights for a search, not
//! proofs.

use super::LineCounts;
use crate::board::{Bitboard, BySide, Position, Side};
use crate::search::threats::winning_cells;

/// Weight of an advantage that lasts to the end of the game.
const LASTING: i32 = 24;
/// Added for every row that a lasting threat lies below the top: it bites the earlier.
const DEPTH: i32 = 3;
/// Weight of a threat that its owner will get only by the other's mistake.
const NUISANCE: i32 = 6;

/// The value of a position for the side to move: its lines less the opponent's, and what the threats of both
/// sides promise. Nobody should be able to win at once.
pub fn evaluate_with_parity(position: &Position) -> i32 {
    let variant = position.variant();
    let stones = position.stones();
    let lines =
        BySide::from_fn(|side: Side| LineCounts::of(stones[side], stones[side.opponent()], variant).weight());
    let threats = BySide::from_fn(|side: Side| winning_cells(stones[side], position.mask(), variant));
    let promise = if variant.height().is_multiple_of(2) { promise(position, threats) } else { 0 };
    let value = lines.first - lines.second + promise;
    match position.side_to_move() {
        Side::First => value,
        Side::Second => -value,
    }
}

/// Threats by who will get their cell.
#[derive(Default)]
struct Census {
    /// Columns in which the side's lowest threat that counts lies on a cell that it gets.
    lasting: BySide<i32>,
    /// What their depth adds.
    depth: BySide<i32>,
    /// Threats on cells that the other side gets.
    nuisances: BySide<i32>,
}

/// What the threats are worth for the first player, on a board of even height.
fn promise(position: &Position, threats: BySide<Bitboard>) -> i32 {
    let Census { lasting, depth, nuisances } = census(position, threats);
    let nuisance = NUISANCE * (nuisances.first - nuisances.second);
    // An odd threat of the second player takes the sting out of one of the first player's: neither can play
    // below his own.
    let odd = lasting.first - nuisances.second;
    let lasting = if odd > 0 {
        LASTING + depth.first
    } else if lasting.first == 0 && lasting.second > 0 {
        -(LASTING + depth.second)
    } else {
        depth.first - depth.second
    };
    nuisance + lasting
}

fn census(position: &Position, threats: BySide<Bitboard>) -> Census {
    let variant = position.variant();
    let mut census = Census::default();
    let mut settled = None;
    // Column by column, from the bottom up.
    for cell in (threats.first | threats.second).cells(variant) {
        if settled == Some(cell.column()) {
            continue; // nobody will get above the threat below
        }
        let owner = if cell.row_index() % 2 == 0 { Side::First } else { Side::Second };
        if threats[owner].contains(cell, variant) {
            settled = Some(cell.column());
            census.lasting[owner] += 1;
            let rows_above = usize::from(variant.height()) - 1 - cell.row_index();
            census.depth[owner] += DEPTH * i32::try_from(rows_above).expect("a board has few rows");
        } else {
            census.nuisances[owner.opponent()] += 1;
        }
    }
    census
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Variant;
    use crate::game::Game;

    fn cells(names: &str) -> Bitboard {
        let cell = |name: &str| Bitboard::cell(name.parse().unwrap(), Variant::STANDARD);
        names.split_whitespace().fold(Bitboard::EMPTY, |set, name| set | cell(name))
    }

    #[track_caller]
    fn check(first: &str, second: &str, expected: i32) {
        let position = Position::new(Variant::STANDARD);
        let threats = BySide { first: cells(first), second: cells(second) };
        assert_eq!(promise(&position, threats), expected);
    }

    #[test]
    fn threats_are_worth_most_on_cells_that_their_owner_gets() {
        check("a3", "", LASTING + 3 * DEPTH);
        check("a5", "", LASTING + DEPTH);
        check("", "a2", -LASTING - 4 * DEPTH);
        check("a2", "", NUISANCE);
        check("", "a3", -NUISANCE);
    }

    #[test]
    fn an_odd_threat_of_the_first_player_beats_even_threats_elsewhere() {
        check("a3", "b2", LASTING + 3 * DEPTH);
    }

    #[test]
    fn an_even_threat_below_wins_first() {
        check("a3", "a2", -LASTING - 4 * DEPTH);
    }

    #[test]
    fn odd_threats_of_both_sides_cancel() {
        check("a3", "g3", 3 * DEPTH - NUISANCE);
    }

    #[test]
    fn values_are_for_the_side_to_move() {
        for moves in ["", "4", "44", "4415", "43435"] {
            let position = *Game::from_moves(Variant::STANDARD, moves).unwrap().position();
            let mirrored = evaluate_with_parity(&position.mirror());
            assert_eq!(evaluate_with_parity(&position), mirrored, "{moves}");
        }
        let value =
            |moves| evaluate_with_parity(Game::from_moves(Variant::STANDARD, moves).unwrap().position());
        // e1 makes three lines of the bottom row and one diagonal lack only two stones.
        assert_eq!([value("4141"), value("41415")], [0, -4]);
    }
}
