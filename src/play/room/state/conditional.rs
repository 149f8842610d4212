//! Conditional moves in a game by correspondence: what was said in advance is played as if the player had sent it.

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};

use super::{Effects, Play, RoomState};
use crate::model::conditional::ConditionalMoves;
use crate::model::time::UnixMillis;

impl RoomState {
    /// The same game, for which this was said in an earlier process.
    #[must_use = "the game goes in and comes out"]
    pub(crate) fn with_conditional(self, conditional: BySide<Option<ConditionalMoves>>) -> Self {
        Self { conditional, ..self }
    }

    /// A side says what it answers from now on, or takes all of it back.
    pub(crate) fn set_conditional(&mut self, side: Side, moves: Option<ConditionalMoves>) {
        self.conditional[side] = moves;
    }

    /// Plays the answer of the side to move, if it has said one. It takes no time: the clock is charged what passed
    /// since the opponent's move, which is nothing unless nobody had the game then.
    pub(crate) fn play_conditional(&mut self, now: Instant, at: UnixMillis) -> Effects {
        if self.end.is_some() || self.is_storing() || !self.is_correspondence() {
            return Vec::new();
        }
        let side = self.side_to_move();
        let answer = self.conditional[side].as_ref().and_then(|moves| moves.answer(self.game.moves()));
        let Some(column) = answer else { return Vec::new() };
        if self.position().play(column).is_err() {
            // It was checked when it was said; should it not fit all the same, the player decides.
            self.conditional[side] = None;
            return Vec::new();
        }
        let play = Play {
            ply: self.game.ply(),
            column: Ok(column),
            forgiven: 0,
            info: None,
            said: None,
            received: now,
            round_trip: Duration::ZERO,
        };
        let (_played, effects) = self.play(side, &play, at);
        effects
    }
}
