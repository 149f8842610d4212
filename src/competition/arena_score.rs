//! Points of an arena, in tournaments as in classes: wins in a row count more. Pure.

use fourfold_engine::{SideResult, WinDrawLoss};

/// Points for a win and a draw. Behind [`STREAK`] wins in a row they count double, until a game is not won.
const WIN_POINTS: u64 = 2;
const DRAW_POINTS: u64 = 1;

/// Wins in a row after which points double, as arenas of chess have it.
const STREAK: u32 = 2;

/// What somebody's games came to so far.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct ArenaScore {
    pub(crate) games: WinDrawLoss,
    /// What these were worth.
    pub(crate) points: u64,
    /// Wins in a row.
    streak: u32,
}

impl ArenaScore {
    /// Counts the next game.
    pub(crate) fn count(&mut self, result: SideResult) {
        let factor = if self.is_on_streak() { 2 } else { 1 };
        self.games.count(result);
        self.points += factor
            * match result {
                SideResult::Win => WIN_POINTS,
                SideResult::Draw => DRAW_POINTS,
                SideResult::Loss => 0,
            };
        self.streak = if result == SideResult::Win { self.streak + 1 } else { 0 };
    }

    /// Whether the next game counts double.
    pub(crate) fn is_on_streak(&self) -> bool {
        self.streak >= STREAK
    }
}

#[cfg(test)]
mod tests {
    use SideResult::{Draw, Loss, Win};

    use super::*;

    #[track_caller]
    fn check(results: &[SideResult], points: u64, is_on_streak: bool) {
        let mut score = ArenaScore::default();
        for result in results {
            score.count(*result);
        }
        assert_eq!((score.points, score.is_on_streak()), (points, is_on_streak), "{results:?}");
        assert_eq!(score.games.games(), results.len() as u64);
    }

    #[test]
    fn behind_two_wins_in_a_row_points_double_until_a_game_is_not_won() {
        check(&[], 0, false);
        check(&[Win, Draw, Loss], 3, false);
        check(&[Win, Win], 4, true);
        check(&[Win, Win, Win, Win], 12, true);
        check(&[Win, Win, Draw], 6, false);
        check(&[Win, Win, Draw, Win], 8, false);
        check(&[Win, Win, Loss, Win, Win, Win], 12, true);
        check(&[Win, Loss, Win, Win], 6, true);
    }
}
