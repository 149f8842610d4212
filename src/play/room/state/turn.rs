//! A stone is played: repeated, stale, early, illegal, too late, or stored.

use std::time::{Duration, Instant};

use fourfold_engine::{Column, Side};
use serde::{Deserialize, Serialize};

use super::ending::{ending_of, flagged, lost};
use super::{Effects, PlayedMove, RoomState, millis};
use crate::model::clock::{FlagFell, GameClock, Spent};
use crate::model::result::EndReason;
use crate::play::room::refusal::RoomRefusal;
use crate::storage::record::{EventKind, StoredEvent, StoredMove};

use crate::model::time::UnixMillis;

/// A stone as a player sends it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Play {
    /// The ply the sender believes it is.
    pub(crate) ply: u32,
    /// Where. A value that is no column comes here too: it counts against the sender if the ply is due.
    pub(crate) column: Result<Column, NoColumn>,
    /// Illegal moves that this side is forgiven in a game.
    pub(crate) forgiven: u8,
    /// What a bot thought.
    pub(crate) info: Option<Box<str>>,
    /// The frame as it came, of a remote bot alone: its author is shown what was illegal.
    pub(crate) said: Option<Box<str>>,
    /// When the frame was read.
    pub(crate) received: Instant,
    /// What the server's pings measured.
    pub(crate) round_trip: Duration,
}

/// A value that is a column of no board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum NoColumn {
    /// A whole number.
    OutOfRange(i64),
    /// Something else, or nothing.
    Malformed,
}

/// A legal move in time: the column, and the clocks after it.
struct Turned {
    column: Column,
    clock: GameClock,
    spent: Spent,
}

impl RoomState {
    /// A side plays a stone. `at` is the moment of its receipt by the wall clock.
    ///
    /// # Errors
    ///
    /// See [`RoomRefusal`]. An illegal or malformed column for the ply that is due is counted; the one after those
    /// that are forgiven comes with the effects that end the game, so a refusal and effects may come together.
    pub(crate) fn play(
        &mut self,
        side: Side,
        play: &Play,
        at: UnixMillis,
    ) -> (Result<Option<PlayedMove>, RoomRefusal>, Effects) {
        match self.check_ply(side, play) {
            Ok(Some(repeated)) => (Ok(Some(repeated)), Vec::new()),
            Ok(None) => match self.check_moving(play.received) {
                Ok(()) => self.play_due(side, play, at),
                Err(refusal) => (Err(refusal), Vec::new()),
            },
            Err(refusal) => (Err(refusal), Vec::new()),
        }
    }

    /// A move for an earlier ply is the same move again or stale; one for a later ply is too early.
    fn check_ply(&self, side: Side, asked: &Play) -> Result<Option<PlayedMove>, RoomRefusal> {
        let ply = self.game.ply();
        if asked.ply < ply {
            let (stale, due) = (asked.ply, self.game.moves()[asked.ply as usize]);
            let column = due.number();
            let opening = (ply as usize) - self.moves_played();
            let played = (stale as usize).checked_sub(opening).map(|index| self.history[index]);
            return match played {
                Some(played) if asked.column == Ok(due) => Ok(Some(played)),
                Some(_) => Err(RoomRefusal::StalePly { ply, stale, column }),
                None => Err(RoomRefusal::OfOpening { ply, stale, column }),
            };
        }
        self.check_open()?;
        if asked.ply > ply || side != self.side_to_move() {
            return Err(RoomRefusal::NotYourTurn { ply });
        }
        Ok(None)
    }

    fn play_due(
        &mut self,
        side: Side,
        play: &Play,
        at: UnixMillis,
    ) -> (Result<Option<PlayedMove>, RoomRefusal>, Effects) {
        let column = match self.legal_column(play.column) {
            Ok(column) => column,
            Err(refusal) => {
                let (refusal, effects) = self.count_illegal(side, refusal, play, at);
                return (Err(refusal), effects);
            }
        };
        self.thaw_for(side, play.received);
        let credit = self.lag[side].credit(play.round_trip);
        let mut clock = self.clock.clone();
        match clock.finish_turn(side, play.received, credit) {
            Err(FlagFell) => {
                let effects = self.stage_end(flagged(side), play.received, at);
                (Ok(None), effects)
            }
            Ok(spent) => (Ok(None), self.stage_move(side, play, at, Turned { column, clock, spent })),
        }
    }

    fn legal_column(&self, column: Result<Column, NoColumn>) -> Result<Column, RoomRefusal> {
        let width = self.spec.variant.width();
        let illegal = |message: String| RoomRefusal::Illegal { message, retries_left: 0 };
        let not_here = |number: i64| illegal(format!("column {number} is not on a board of {width} columns"));
        let column = column.map_err(|no_column| match no_column {
            NoColumn::Malformed => RoomRefusal::Malformed { width, retries_left: Some(0) },
            NoColumn::OutOfRange(number) => not_here(number),
        })?;
        if !self.spec.variant.has_column(column) {
            return Err(not_here(column.number().into()));
        }
        self.position().play(column).map_err(|cause| illegal(cause.to_string()))?;
        Ok(column)
    }

    fn count_illegal(
        &mut self,
        side: Side,
        refusal: RoomRefusal,
        play: &Play,
        at: UnixMillis,
    ) -> (RoomRefusal, Effects) {
        let counted = &mut self.illegal[side];
        *counted = counted.saturating_add(1);
        let retries_left = play.forgiven.saturating_add(1).saturating_sub(*counted);
        let refusal = match refusal {
            RoomRefusal::Malformed { width, .. } => {
                RoomRefusal::Malformed { width, retries_left: Some(retries_left) }
            }
            RoomRefusal::Illegal { message, .. } => RoomRefusal::Illegal { message, retries_left },
            other => other,
        };
        let effects = if retries_left == 0 {
            self.stage_end(lost(side, EndReason::Illegal), play.received, at)
        } else {
            Vec::new()
        };
        (refusal, effects)
    }

    fn stage_move(&mut self, side: Side, play: &Play, at: UnixMillis, turned: Turned) -> Effects {
        let Turned { column, clock, spent } = turned;
        let mut lag = self.lag;
        lag[side].spend(spent.credited);
        let clock_ms = clock.both(play.received).map(millis);
        let played = StoredMove {
            column,
            spent_ms: millis(spent.elapsed),
            credited_ms: millis(spent.credited),
            info: play.info.clone(),
        };
        let mut events = vec![StoredEvent { seq: self.seq + 1, kind: EventKind::Move(played), clock_ms, at }];
        let after = self.position().play_unchecked(column);
        if let Some(outcome) = after.outcome() {
            let kind = EventKind::Finished(ending_of(outcome));
            events.push(StoredEvent { seq: self.seq + 2, kind, clock_ms, at });
        }
        self.stage(events, clock, lag, Some(play.received))
    }
}
