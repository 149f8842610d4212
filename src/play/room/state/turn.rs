//! A stone is played: repeated, stale, early, illegal, too late, or stored.

use std::time::{Duration, Instant};

use fourfold_engine::{Column, Side};

use super::ending::{ending_of, flagged, lost};
use super::{Effects, PlayedMove, RoomState, millis};
use crate::model::clock::{FlagFell, GameClock, Spent};
use crate::model::result::EndReason;
use crate::play::room::refusal::RoomRefusal;
use crate::protocol::client::ColumnField;
use crate::storage::record::{EventKind, StoredEvent, StoredMove};

use crate::model::time::UnixMillis;

/// Illegal moves after which a side has lost: two are forgiven.
const ILLEGAL_MOVES_MAX: u8 = 3;

/// A move as it reaches the room.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveRequest {
    /// Whose.
    pub side: Side,
    /// The ply the sender believes it is.
    pub ply: u32,
    /// As the sender wrote it.
    pub column: ColumnField,
    /// What a bot thought.
    pub info: Option<Box<str>>,
    /// When the frame was read.
    pub received: Instant,
    /// The same moment by the wall clock.
    pub at: UnixMillis,
    /// What the server's pings measured.
    pub round_trip: Duration,
}

impl RoomState {
    /// A player plays `column` at `ply`. `received` is when the frame was read, `round_trip` what its pings measured.
    ///
    /// # Errors
    ///
    /// See [`RoomRefusal`]. An illegal or malformed column for the ply that is due is counted; the third one comes
    /// with the effects that end the game, so a refusal and effects may come together.
    pub fn play(&mut self, request: &MoveRequest) -> (Result<Option<PlayedMove>, RoomRefusal>, Effects) {
        match self.check_ply(request) {
            Ok(Some(repeated)) => (Ok(Some(repeated)), Vec::new()),
            Ok(None) => self.play_due(request),
            Err(refusal) => (Err(refusal), Vec::new()),
        }
    }

    /// A move for an earlier ply is the same move again or stale; one for a later ply is too early.
    fn check_ply(&self, request: &MoveRequest) -> Result<Option<PlayedMove>, RoomRefusal> {
        let ply = self.game.ply();
        if request.ply < ply {
            let column = self.game.moves()[request.ply as usize];
            let opening = (ply as usize) - self.moves_played();
            let played = (request.ply as usize).checked_sub(opening).map(|index| self.history[index]);
            return match played {
                Some(played) if request.column == ColumnField::Number(column.number().into()) => {
                    Ok(Some(played))
                }
                _ => Err(RoomRefusal::StalePly { ply, stale: request.ply, column: column.number() }),
            };
        }
        self.check_open()?;
        if request.ply > ply || request.side != self.side_to_move() {
            return Err(RoomRefusal::NotYourTurn { ply });
        }
        Ok(None)
    }

    fn play_due(&mut self, request: &MoveRequest) -> (Result<Option<PlayedMove>, RoomRefusal>, Effects) {
        let column = match self.legal_column(request.column) {
            Ok(column) => column,
            Err(refusal) => {
                let (refusal, effects) = self.count_illegal(request, refusal);
                return (Err(refusal), effects);
            }
        };
        self.thaw_for(request.side, request.received);
        let credit = self.lag[request.side].credit(request.round_trip);
        let mut clock = self.clock.clone();
        match clock.finish_turn(request.side, request.received, credit) {
            Err(FlagFell) => {
                let effects = self.stage_end(flagged(request.side), request.received, request.at);
                (Ok(None), effects)
            }
            Ok(spent) => (Ok(None), self.stage_move(request, column, clock, spent)),
        }
    }

    fn legal_column(&self, field: ColumnField) -> Result<Column, RoomRefusal> {
        let width = self.spec.variant.width();
        let ColumnField::Number(number) = field else {
            return Err(RoomRefusal::Malformed { width, retries_left: Some(0) });
        };
        let column = u8::try_from(number).ok().and_then(Column::from_number);
        let Some(column) = column.filter(|column| self.spec.variant.has_column(*column)) else {
            let message = format!("column {number} is not on a board of {width} columns");
            return Err(RoomRefusal::Illegal { message, retries_left: 0 });
        };
        match self.position().play(column) {
            Ok(_) => Ok(column),
            Err(cause) => Err(RoomRefusal::Illegal { message: cause.to_string(), retries_left: 0 }),
        }
    }

    fn count_illegal(&mut self, request: &MoveRequest, refusal: RoomRefusal) -> (RoomRefusal, Effects) {
        let counted = &mut self.illegal[request.side];
        *counted = counted.saturating_add(1);
        let retries_left = ILLEGAL_MOVES_MAX.saturating_sub(*counted);
        let refusal = match refusal {
            RoomRefusal::Malformed { width, .. } => {
                RoomRefusal::Malformed { width, retries_left: Some(retries_left) }
            }
            RoomRefusal::Illegal { message, .. } => RoomRefusal::Illegal { message, retries_left },
            other => other,
        };
        let effects = if retries_left == 0 {
            self.stage_end(lost(request.side, EndReason::Illegal), request.received, request.at)
        } else {
            Vec::new()
        };
        (refusal, effects)
    }

    fn stage_move(
        &mut self,
        request: &MoveRequest,
        column: Column,
        clock: GameClock,
        spent: Spent,
    ) -> Effects {
        let mut lag = self.lag;
        lag[request.side].spend(spent.credited);
        let clock_ms = clock.both(request.received).map(millis);
        let played = StoredMove {
            column,
            spent_ms: millis(spent.elapsed),
            credited_ms: millis(spent.credited),
            info: request.info.clone(),
        };
        let mut events =
            vec![StoredEvent { seq: self.seq + 1, kind: EventKind::Move(played), clock_ms, at: request.at }];
        let after = self.position().play_unchecked(column);
        if let Some(outcome) = after.outcome() {
            let kind = EventKind::Finished(ending_of(outcome));
            events.push(StoredEvent { seq: self.seq + 2, kind, clock_ms, at: request.at });
        }
        self.stage(events, clock, lag)
    }
}
