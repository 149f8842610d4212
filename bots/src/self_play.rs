//! Games of bots against themselves, from which they learn.

use std::fmt;

use fourfold_engine::{BySide, Column, Position, Side, Variant};

/// Plays a game from the empty board and returns the winner, `None` for a draw. Each side's function names a
/// legal column.
pub(crate) fn play(variant: Variant, mut choose: BySide<impl FnMut(&Position) -> Column>) -> Option<Side> {
    play_by(variant, |position| choose[position.side_to_move()](position))
}

/// The same with one function for both sides.
pub(crate) fn play_by(variant: Variant, mut choose: impl FnMut(&Position) -> Column) -> Option<Side> {
    let mut position = Position::new(variant);
    loop {
        if let Some(outcome) = position.outcome() {
            return outcome.winner();
        }
        position = position.play_unchecked(choose(&position));
    }
}

/// Wins, draws and losses of one of two players.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
}

impl Tally {
    /// Counts a game of the player that had `side`.
    pub(crate) fn count(&mut self, side: Side, winner: Option<Side>) {
        match winner {
            None => self.draws += 1,
            Some(winner) if winner == side => self.wins += 1,
            Some(_) => self.losses += 1,
        }
    }

    pub fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points of all points, a draw being half of one, from 0 to 1. `None` without games.
    pub fn score(self) -> Option<f64> {
        let points = f64::from(self.wins) + f64::from(self.draws) / 2.0;
        (self.games() > 0).then(|| points / f64::from(self.games()))
    }

    /// More wins than losses; draws do not matter.
    pub fn is_won(self) -> bool {
        self.wins > self.losses
    }
}

/// Prints `12 won, 3 drawn, 5 lost`.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wins, draws, losses } = self;
        write!(formatter, "{wins} won, {draws} drawn, {losses} lost")
    }
}
