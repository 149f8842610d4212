//! Series of which the better wins: the best of three games, or of five. How they stand follows from their games alone.

use fourfold_engine::{BySide, Side, SideResult};

use crate::model::ids::PlayerId;
use crate::model::result::GameResult;
use crate::storage::record::{GamePair, GameSpec, StoredGame};
use crate::storage::{Store, StoreError};

/// Halves of points: two for a game won, one for a draw.
pub(crate) type HalfPoints = BySide<u32>;

/// How a series stood before one of its games, for the sides of that game; nothing of other games.
///
/// # Errors
///
/// The store failed.
pub(crate) async fn before(store: &dyn Store, spec: &GameSpec) -> Result<Option<HalfPoints>, StoreError> {
    let Some(pair) = spec.pair.as_ref().filter(|pair| pair.is_best_of()) else { return Ok(None) };
    if pair.leg == 1 {
        return Ok(Some(HalfPoints { first: 0, second: 0 }));
    }
    let games = store.games_of_series(&pair.id).await?;
    let earlier = games.iter().filter(|game| leg_of(game) < pair.leg);
    Ok(Some(spec.players.as_ref().map(|player| half_points(earlier.clone(), player))))
}

/// Whether nothing more is to be played of a series: all of its games are over, nobody can catch up, or a game came to
/// nothing, which says that somebody is not there.
pub(crate) fn is_over(pair: &GamePair, games: &[StoredGame]) -> bool {
    let Some(first) = games.first() else { return false };
    let is_void = |game: &StoredGame| game.ending().is_some_and(|ending| ending.result == GameResult::Void);
    if games.iter().any(is_void) {
        return true;
    }
    let played = games.iter().filter(|game| game.ending().is_some()).count();
    let left = pair.of.saturating_sub(u32::try_from(played).unwrap_or(u32::MAX));
    let points = first.spec.players.as_ref().map(|player| half_points(games.iter(), player));
    left == 0 || points.first.abs_diff(points.second) > 2 * left
}

fn leg_of(game: &StoredGame) -> u32 {
    game.spec.pair.as_ref().map_or(0, |pair| pair.leg)
}

fn half_points<'g>(games: impl Iterator<Item = &'g StoredGame>, player: &PlayerId) -> u32 {
    let won = |game: &StoredGame| {
        let side = Side::BOTH.into_iter().find(|side| game.spec.players[*side] == *player)?;
        let ending = game.ending().filter(|ending| ending.result != GameResult::Void)?;
        Some(match SideResult::of(side, ending.result.winner()) {
            SideResult::Win => 2,
            SideResult::Draw => 1,
            SideResult::Loss => 0,
        })
    };
    games.filter_map(won).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::EndReason;
    use crate::storage::conformance::{player_id, spec, whole_game};

    /// Games of a series of which Ada begins the first: `a` and `b` for who won, `=` and `-` for a draw and nothing.
    fn games(results: &str) -> Vec<StoredGame> {
        let game = |(index, letter)| {
            let is_swapped = index % 2 == 1;
            let players = if is_swapped { ["Bob", "Ada"] } else { ["Ada", "Bob"] };
            let result = match letter {
                '=' => GameResult::Draw,
                '-' => GameResult::Void,
                letter if (letter == 'a') != is_swapped => GameResult::First,
                _ => GameResult::Second,
            };
            StoredGame {
                spec: GameSpec { pair: Some(pair(index, 5)), ..spec("g", players[0], players[1]) },
                events: whole_game("44", result, EndReason::Resign),
                settlement: None,
            }
        };
        (0_u32..).zip(results.chars()).map(game).collect()
    }

    fn pair(index: u32, of: u32) -> GamePair {
        GamePair { id: "p".parse().unwrap(), leg: index + 1, of }
    }

    #[track_caller]
    fn check(of: u32, results: &str, expected: bool) {
        assert_eq!(is_over(&pair(0, of), &games(results)), expected, "best of {of}: {results}");
    }

    #[test]
    fn a_series_is_over_when_nobody_can_catch_up() {
        for (results, expected) in [("", false), ("a", false), ("ab", false), ("a=", false), ("==", false)] {
            check(3, results, expected);
        }
        for results in ["aa", "bb", "aba", "a=b", "===", "-", "a-"] {
            check(3, results, true);
        }
        for (results, expected) in
            [("aa", false), ("aa=", false), ("aa==", true), ("aab", false), ("a=a", false)]
        {
            check(5, results, expected);
        }
        check(5, "aaa", true);
        check(5, "ab=ab", true);
    }

    #[test]
    fn points_follow_the_player_from_side_to_side() {
        let all = games("ab=a");
        let points = ["Ada", "Bob"].map(|name| half_points(all.iter(), &player_id(name)));
        assert_eq!(points, [5, 3]);
    }
}
