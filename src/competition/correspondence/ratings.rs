//! What results by correspondence make of ratings: pure, from the first to the last.

use std::collections::{HashMap, VecDeque};

use fourfold_engine::{BySide, Game, Side, SideResult, Variant};

use crate::model::ids::PlayerId;
use crate::model::rating::eligibility::{GameFingerprint, REMEMBERED_GAMES, unrated_because};
use crate::model::rating::elo;
use crate::model::result::EndReason;
use crate::storage::published::CorrespondenceResult;
use crate::storage::record::RatingRow;

/// Two players, the one with the lesser id first, and the board.
type Pair = (PlayerId, PlayerId, Variant);

/// Everybody's ratings after some games. Each begins as that of a newcomer to live games does.
#[derive(Clone, Debug, Default)]
pub(super) struct Ratings {
    rows: HashMap<(PlayerId, Variant), RatingRow>,
    /// The last games of two players that counted.
    remembered: HashMap<Pair, VecDeque<GameFingerprint>>,
}

impl Ratings {
    /// A player's ratings, that on the standard board first.
    pub(super) fn of(&self, player: &PlayerId) -> Vec<(Variant, RatingRow)> {
        let own = self.rows.iter().filter(|((owner, _), _)| owner == player);
        let mut own: Vec<(Variant, RatingRow)> = own.map(|((_, variant), row)| (*variant, *row)).collect();
        own.sort_by_key(|(variant, _)| (*variant != Variant::STANDARD, variant.to_string()));
        own
    }

    /// Counts one more game, unless what holds for live games leaves it out: too short, or the same moves again.
    pub(super) fn add(&mut self, result: &CorrespondenceResult) {
        let CorrespondenceResult { variant, players, moves, .. } = result;
        let course =
            GameFingerprint { first: players.first.clone(), moves: moves.clone(), result: result.result };
        // The reason matters only where a line ended the game early, and the board shows that.
        let is_decided = Game::from_moves(*variant, moves).is_ok_and(|game| game.outcome().is_some());
        let reason = if is_decided { EndReason::Four } else { EndReason::Resign };
        let remembered = self.remembered.entry(pair_of(players, *variant)).or_default();
        if unrated_because(&course, reason, remembered.make_contiguous()).is_some() {
            return;
        }
        if remembered.len() == REMEMBERED_GAMES as usize {
            remembered.pop_back();
        }
        remembered.push_front(course);
        let row = |player: &PlayerId| self.rows.get(&(player.clone(), *variant)).copied().unwrap_or_default();
        let rows = players.as_ref().map(row);
        let winner = result.result.winner();
        let entries = elo::settle(rows.first.standing, rows.second.standing, winner);
        for side in Side::BOTH {
            let after = rows[side].after(entries[side], SideResult::of(side, winner));
            self.rows.insert((players[side].clone(), *variant), after);
        }
    }
}

fn pair_of(players: &BySide<PlayerId>, variant: Variant) -> Pair {
    let BySide { first, second } = players.clone();
    if first < second { (first, second, variant) } else { (second, first, variant) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::GameResult;

    fn result(number: u64, players: [&str; 2], moves: &str, result: GameResult) -> CorrespondenceResult {
        let [first, second] = players.map(|player| player.parse().unwrap());
        let players = BySide { first, second };
        CorrespondenceResult { number, variant: Variant::STANDARD, players, moves: moves.to_owned(), result }
    }

    fn elo_of(ratings: &Ratings, player: &str) -> Vec<(i32, u64)> {
        let rows = ratings.of(&player.parse().unwrap());
        rows.into_iter().map(|(_, row)| (row.standing.rating.to_elo(), row.standing.games)).collect()
    }

    #[test]
    fn who_wins_gains_what_the_other_loses() {
        let mut ratings = Ratings::default();
        ratings.add(&result(1, ["ada", "bob"], "1212121", GameResult::First));
        assert_eq!((elo_of(&ratings, "ada"), elo_of(&ratings, "bob")), (vec![(770, 1)], vec![(730, 1)]));
        ratings.add(&result(2, ["bob", "ada"], "4445566", GameResult::Draw));
        assert_eq!((elo_of(&ratings, "ada"), elo_of(&ratings, "bob")), (vec![(768, 2)], vec![(732, 2)]));
        assert_eq!(elo_of(&ratings, "eve"), []);
    }

    #[test]
    fn presents_and_repetitions_count_for_nothing() {
        let mut ratings = Ratings::default();
        ratings.add(&result(1, ["ada", "bob"], "445566", GameResult::First));
        assert_eq!(elo_of(&ratings, "ada"), [], "given up before the seventh stone");
        let game = result(2, ["ada", "bob"], "1212121", GameResult::First);
        ratings.add(&game);
        ratings.add(&game);
        assert_eq!(elo_of(&ratings, "ada"), [(770, 1)]);
        for moves in ["4455667", "3344556", "2233445"] {
            ratings.add(&result(3, ["ada", "bob"], moves, GameResult::First));
        }
        ratings.add(&game);
        assert_eq!(elo_of(&ratings, "ada")[0].1, 5, "only the last three are remembered");
        ratings.add(&result(9, ["ada", "bob"], "", GameResult::Void));
        assert_eq!(elo_of(&ratings, "ada")[0].1, 5);
    }
}
