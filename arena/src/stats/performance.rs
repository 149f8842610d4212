//! The rating of one player from its games against players whose ratings are known.

use super::elo::{POINTS, expected_score};

/// Farther from the strongest or weakest opponent than this no performance is claimed: a perfect score has none.
const BEYOND: f64 = 800.0;

/// Halvings of the search interval.
const HALVINGS: u32 = 60;

/// A game against a known opponent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AgainstKnown {
    pub opponent: f64,
    /// Points that the player's side was worth: the advantage of the first move, or less it.
    pub advantage: f64,
    /// 0, 1/2 or 1.
    pub points: f64,
}

/// A performance with its standard error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Performance {
    pub elo: f64,
    /// As if the opponents' ratings were exact.
    pub error: f64,
}

/// The rating at which the games' points are what was expected. `None` without games.
pub fn performance(games: &[AgainstKnown]) -> Option<Performance> {
    let strongest = games.iter().map(|game| game.opponent).reduce(f64::max)?;
    let weakest = games.iter().map(|game| game.opponent).reduce(f64::min)?;
    let points: f64 = games.iter().map(|game| game.points).sum();
    let expected = |game: &AgainstKnown, elo: f64| expected_score(elo - game.opponent + game.advantage);
    let (mut low, mut high) = (weakest - BEYOND, strongest + BEYOND);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let sum: f64 = games.iter().map(|game| expected(game, middle)).sum();
        if sum < points { low = middle } else { high = middle }
    }
    let elo = f64::midpoint(low, high);
    let information: f64 = games.iter().map(|game| expected(game, elo)).map(|p| p * (1.0 - p)).sum();
    Some(Performance { elo, error: POINTS / information.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(opponent: f64, points: f64) -> AgainstKnown {
        AgainstKnown { opponent, advantage: 0.0, points }
    }

    #[test]
    fn three_of_four_points_are_191_above_equal_opponents() {
        let games = [game(100.0, 1.0), game(100.0, 1.0), game(100.0, 0.5), game(100.0, 0.5)];
        let found = performance(&games).unwrap();
        assert!((found.elo - 290.848_5).abs() < 1e-3, "{found:?}");
        // c / sqrt(4 * 3/4 * 1/4)
        assert!((found.error - 200.589).abs() < 1e-2, "{found:?}");
    }

    #[test]
    fn the_first_move_is_worth_its_points() {
        let games = [AgainstKnown { advantage: 50.0, ..game(0.0, 0.5) }];
        assert!((performance(&games).unwrap().elo + 50.0).abs() < 1e-6);
    }

    #[test]
    fn perfect_scores_are_bounded() {
        let found = performance(&[game(0.0, 1.0), game(200.0, 1.0)]).unwrap();
        assert!((found.elo - 1_000.0).abs() < 1e-3 && found.error.is_finite(), "{found:?}");
        assert_eq!(performance(&[]), None);
    }
}
