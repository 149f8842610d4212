//! The rules of one table: pure. The actor says what happened and when, and carries out the effects.
//!
//! An event is public only once it is stored. So whatever changes the game goes through two steps: a request is
//! checked and becomes [`Effect::Store`], and [`RoomState::stored`] applies it after the commit. In between the clock
//! stands, and nothing else may change the game ([`RoomState::is_storing`]): it would be refused as busy.

mod absence;
mod conditional;
mod deadline;
mod ending;
mod freeze;
mod history;
mod hold;
mod rematch;
mod standstill;
mod takeback;
mod turn;
mod vacation;

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Column, Game, Position, ReplayError, Side};
use thiserror::Error;

use self::absence::Presence;
use self::freeze::Freeze;
pub(crate) use self::standstill::Standstill;
pub(crate) use self::turn::{NoColumn, Play};
use super::lag::LagAllowance;
use super::refusal::RoomRefusal;
use crate::model::clock::GameClock;
use crate::model::conditional::ConditionalMoves;
use crate::model::pause::Pause;
use crate::model::player::PlayerKind;
use crate::play::correspondence;
use crate::play::series::HalfPoints;
use crate::storage::record::{Ending, EventKind, GameSpec, Settlement, StoredEvent};

use crate::model::time::UnixMillis;

/// A stored move as it is told again to whoever asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlayedMove {
    /// Its number among the public events.
    pub(crate) seq: u32,
    /// Stones on the board before it.
    pub(crate) ply: u32,
    pub(crate) column: Column,
    pub(crate) by: Side,
    /// What each side had left after it, in milliseconds.
    pub(crate) clock_ms: BySide<u64>,
    /// From the turn's start to the receipt, in milliseconds.
    pub(crate) spent_ms: u64,
    /// The part given back for the network.
    pub(crate) credited_ms: u64,
}

/// What the actor has to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Store these events, then call [`RoomState::stored`].
    Store(StoreRequest),
    /// Tell everybody of the last move.
    Moved(PlayedMove),
    /// Ask the side to move for its move.
    Prompt(Side),
    /// Send everybody a fresh snapshot.
    Resnapshot,
    /// Tell both sides that the daemon stood still, and that the side to move got so much time back.
    GivenBack(Duration),
    /// Tell everybody that the game is over.
    Ended,
    /// Tell everybody that a side is gone or back, and when its opponent may claim the win.
    Presence {
        side: Side,
        /// Whether it is there.
        here: bool,
        /// How long until a claim, if it is that side's turn.
        claim_in: Option<Duration>,
    },
    /// Tell both sides that one wants another game.
    RematchOffered(Side),
    /// Both want it.
    RematchAgreed,
    /// Tell both sides that one wants its last move back.
    TakebackOffered(Side),
    /// Tell both sides that this one does not give the other's move back.
    TakebackRefused(Side),
}

/// Events to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoreRequest {
    /// In order; the last one is `Finished` if the game ends.
    pub(crate) events: Vec<StoredEvent>,
    /// Whether the game ends.
    pub(crate) finishes: bool,
    /// When the move among them was received, if there is one.
    pub(crate) received: Option<Instant>,
}

/// What waits for its commit.
#[derive(Clone, Debug)]
struct Staged {
    events: Vec<StoredEvent>,
    clock: GameClock,
    lag: BySide<LagAllowance>,
}

/// One game and who sits at it.
#[derive(Clone, Debug)]
pub(crate) struct RoomState {
    spec: GameSpec,
    kinds: BySide<PlayerKind>,
    game: Game,
    clock: GameClock,
    lag: BySide<LagAllowance>,
    /// The number of the last event that is stored.
    seq: u32,
    /// The number of the last event that everybody hears of: a pause of the daemon is none.
    event_seq: u32,
    history: Vec<PlayedMove>,
    staged: Option<Staged>,
    illegal: BySide<u8>,
    presence: BySide<Presence>,
    freeze: Option<Freeze>,
    /// How long the next turn to start has lasted already: a game by correspondence goes on while no process has it.
    waited: Duration,
    /// When a player's clock stands, in a game by correspondence.
    vacation: BySide<Option<Pause>>,
    /// What a player answers if the opponent plays so.
    conditional: BySide<Option<ConditionalMoves>>,
    /// When a teacher lets it stand still.
    standstill: Option<Pause>,
    /// Since when the server keeps the side to move waiting.
    held: Option<Instant>,
    takeback: Option<Side>,
    rematch: BySide<bool>,
    end: Option<(Ending, Settlement)>,
    /// How the series stood before it, if it is one of which the better wins.
    series: Option<HalfPoints>,
}

type Effects = Vec<Effect>;

/// Why a game cannot begin with these moves on the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum UnplayableOpening {
    /// They are no moves, or break the rules.
    #[error(transparent)]
    Unreadable(#[from] ReplayError),
    /// They end the game.
    #[error("the game is over after these moves")]
    Decided,
}

impl RoomState {
    /// A new game; its event 0 is stored. Nobody's clock runs before [`Self::begin`].
    ///
    /// # Errors
    ///
    /// The opening is not a legal sequence of moves that leaves the game open.
    pub(crate) fn new(
        spec: GameSpec,
        kinds: BySide<PlayerKind>,
        now: Instant,
    ) -> Result<Self, UnplayableOpening> {
        let game = Game::from_moves(spec.variant, &spec.opening.moves)?;
        if game.outcome().is_some() {
            return Err(UnplayableOpening::Decided);
        }
        let away = Presence::Away { since: now, on_purpose: false };
        Ok(Self {
            kinds,
            game,
            clock: GameClock::new(spec.time),
            lag: kinds.map(LagAllowance::new),
            seq: 0,
            event_seq: 0,
            history: Vec::new(),
            staged: None,
            illegal: BySide { first: 0, second: 0 },
            presence: BySide { first: away, second: away },
            freeze: None,
            waited: Duration::ZERO,
            vacation: BySide { first: None, second: None },
            conditional: BySide { first: None, second: None },
            standstill: None,
            held: None,
            takeback: None,
            rematch: BySide { first: false, second: false },
            end: None,
            series: None,
            spec,
        })
    }

    /// What was fixed when the game began.
    pub(crate) fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// Whether the players have days for each move, and nobody waits at the board.
    pub(crate) fn is_correspondence(&self) -> bool {
        correspondence::is_played(self.spec.time, self.kinds)
    }

    /// How many illegal moves a side has made.
    pub(crate) fn illegal_moves(&self, side: Side) -> u8 {
        self.illegal[side]
    }

    /// The same game, in which an earlier process has counted so many illegal moves.
    #[must_use = "the game goes in and comes out"]
    pub(crate) fn with_illegal_moves(self, illegal: BySide<u8>) -> Self {
        Self { illegal, ..self }
    }

    /// The same game, of a series that stood so before it.
    #[must_use = "the game goes in and comes out"]
    pub(crate) fn with_series(self, series: Option<HalfPoints>) -> Self {
        Self { series, ..self }
    }

    /// How the series stood before the game.
    pub(crate) fn series(&self) -> Option<HalfPoints> {
        self.series
    }

    /// The moves so far.
    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// The position on the board.
    pub(crate) fn position(&self) -> &Position {
        self.game.position()
    }

    /// Who is to move, or would be if the game were not over.
    pub(crate) fn side_to_move(&self) -> Side {
        self.position().side_to_move()
    }

    /// The number of the last public event: without holes, 0 before the first.
    pub(crate) fn event_seq(&self) -> u32 {
        self.event_seq
    }

    /// How the game ended, once it has.
    pub(crate) fn end(&self) -> Option<&(Ending, Settlement)> {
        self.end.as_ref()
    }

    /// Whether an event waits for its commit, so that nothing else may change the game.
    pub(crate) fn is_storing(&self) -> bool {
        self.staged.is_some()
    }

    /// What each side has left.
    pub(crate) fn clock(&self, now: Instant) -> BySide<Duration> {
        self.shown_clock().both(now)
    }

    /// What is left of the hard limit for the current move.
    pub(crate) fn budget(&self, now: Instant) -> Duration {
        self.clock.budget_left(self.side_to_move(), now)
    }

    fn shown_clock(&self) -> &GameClock {
        self.staged.as_ref().map_or(&self.clock, |staged| &staged.clock)
    }

    /// Stones that the players themselves have played.
    fn moves_played(&self) -> usize {
        self.history.len()
    }

    fn has_moved(&self, side: Side) -> bool {
        self.history.iter().any(|played| played.by == side)
    }

    /// Whether the game can be changed now: it is neither over nor waiting for a commit.
    fn check_open(&self) -> Result<(), RoomRefusal> {
        match (&self.end, &self.staged) {
            (Some((ending, _)), _) => Err(RoomRefusal::GameOver { result: ending.result }),
            (None, Some(_)) => Err(RoomRefusal::Busy),
            (None, None) => Ok(()),
        }
    }

    /// Starts the first turn. Called once, when both seats have been told of the game.
    pub(crate) fn begin(&mut self, now: Instant) -> Effects {
        self.start_turn(now)
    }

    fn stage(
        &mut self,
        events: Vec<StoredEvent>,
        clock: GameClock,
        lag: BySide<LagAllowance>,
        received: Option<Instant>,
    ) -> Effects {
        debug_assert!(self.staged.is_none(), "one event of a game is stored at a time");
        let finishes = matches!(events.last().map(|event| &event.kind), Some(EventKind::Finished(_)));
        self.staged = Some(Staged { events: events.clone(), clock, lag });
        vec![Effect::Store(StoreRequest { events, finishes, received })]
    }

    /// The staged events are durable: they become public. `settlement` is there if the game has ended.
    ///
    /// # Panics
    ///
    /// Never: what is staged was checked, and while it waits nothing else may change the game.
    #[expect(clippy::needless_pass_by_value, reason = "the room keeps it")]
    pub(crate) fn stored(&mut self, settlement: Option<Settlement>, now: Instant) -> Effects {
        let Some(Staged { events, clock, lag }) = self.staged.take() else { return Vec::new() };
        self.clock = clock;
        self.lag = lag;
        let mut effects = Vec::new();
        let mut goes_on = true;
        for event in events {
            self.record(&event).expect("a staged move is legal, and nothing has changed the game since");
            goes_on = matches!(event.kind, EventKind::Move(_) | EventKind::Takeback { .. });
            effects.extend(self.publish(&event.kind, settlement.as_ref()));
        }
        if goes_on {
            effects.extend(self.start_turn(now));
        }
        effects
    }

    fn publish(&mut self, kind: &EventKind, settlement: Option<&Settlement>) -> Option<Effect> {
        match kind {
            EventKind::Move(_) => {
                self.takeback = None;
                self.history.last().copied().map(Effect::Moved)
            }
            EventKind::Takeback { .. } => Some(Effect::Resnapshot),
            EventKind::Paused => None,
            EventKind::Finished(ending) => {
                self.takeback = None;
                self.end = Some((*ending, settlement.cloned().unwrap_or_default()));
                Some(Effect::Ended)
            }
        }
    }

    /// The staged events could not be queued: the clock goes on as if nothing had been asked, and whoever is to move
    /// is asked again.
    pub(crate) fn not_stored(&mut self, now: Instant) -> Effects {
        self.staged = None;
        if self.end.is_some() || self.frozen_until().is_some() {
            return Vec::new();
        }
        if self.clock.turn_started().is_none() && self.held.is_none() {
            // The side to move has come back after a restart while the event was waiting.
            return self.start_turn(now);
        }
        vec![Effect::Prompt(self.side_to_move())]
    }

    /// The daemon stops as planned: the clocks are stored as they stand.
    pub(crate) fn pause(&mut self, now: Instant, at: UnixMillis) -> Effects {
        // Where a move takes days, nobody's clock stands while the daemon does.
        if self.end.is_some() || self.is_storing() || self.is_correspondence() {
            return Vec::new();
        }
        let mut clock = self.clock.clone();
        clock.stop(now);
        let clock_ms = clock.both(now).map(millis);
        let event = StoredEvent { seq: self.seq + 1, kind: EventKind::Paused, clock_ms, at };
        let lag = self.lag;
        self.stage(vec![event], clock, lag, None)
    }
}

/// Whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
