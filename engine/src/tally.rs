//! How games ended as one of their players sees them, one by one and counted.

use std::fmt;
use std::ops::{Add, AddAssign};

use crate::board::Side;

/// A result from one side's view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SideResult {
    Win,
    Draw,
    Loss,
}

impl SideResult {
    /// Of a game won by `winner`, or drawn, for a side.
    pub fn of(side: Side, winner: Option<Side>) -> Self {
        match winner {
            None => Self::Draw,
            Some(winner) if winner == side => Self::Win,
            Some(_) => Self::Loss,
        }
    }
}

/// How many games a player won, drew and lost.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct WinDrawLoss {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl WinDrawLoss {
    pub fn count(&mut self, result: SideResult) {
        match result {
            SideResult::Win => self.wins += 1,
            SideResult::Draw => self.draws += 1,
            SideResult::Loss => self.losses += 1,
        }
    }

    pub fn games(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Points in halves: two for a win, one for a draw.
    pub fn half_points(self) -> u64 {
        2 * self.wins + self.draws
    }

    /// Points of all points, from 0 to 1. `None` without games.
    #[expect(clippy::cast_precision_loss, reason = "nobody plays 2^52 games")]
    pub fn share(self) -> Option<f64> {
        let half_points_max = 2 * self.games();
        (half_points_max > 0).then(|| self.half_points() as f64 / half_points_max as f64)
    }

    /// More wins than losses; draws do not matter.
    pub fn is_won(self) -> bool {
        self.wins > self.losses
    }

    /// The same games as the opponent sees them.
    pub fn flipped(self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }
}

impl Add for WinDrawLoss {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }
}

impl AddAssign for WinDrawLoss {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Prints `12 won, 3 drawn, 5 lost`.
impl fmt::Display for WinDrawLoss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wins, draws, losses } = self;
        write!(formatter, "{wins} won, {draws} drawn, {losses} lost")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_player_wins_the_other_loses() {
        let mut score = WinDrawLoss::default();
        assert_eq!(score.share(), None);
        for winner in [Some(Side::First), Some(Side::First), None, Some(Side::Second)] {
            score.count(SideResult::of(Side::First, winner));
        }
        assert_eq!(score, WinDrawLoss { wins: 2, draws: 1, losses: 1 });
        assert_eq!((score.games(), score.half_points(), score.share()), (4, 5, Some(0.625)));
        assert_eq!(score.flipped(), WinDrawLoss { wins: 1, draws: 1, losses: 2 });
        assert_eq!((score + score.flipped()).share(), Some(0.5));
        assert!(score.is_won() && !score.flipped().is_won());
    }
}
