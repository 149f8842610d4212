//! The rules of one table: pure. The actor says what happened and when, and carries out the effects.
//!
//! An event is public only once it is stored. So whatever changes the game goes through two steps: a request is
//! checked and becomes [`Effect::Store`], and [`RoomState::stored`] applies it after the commit. In between the clock
//! stands, and nothing else may change the game ([`RoomState::is_storing`]): it would be refused as busy.

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Column, Game, IllegalMove, Outcome, Position, ReplayError, Side};
use thiserror::Error;

use super::lag::LagAllowance;
use super::refusal::RoomRefusal;
use crate::clock::{FlagFell, GameClock, Spent};
use crate::protocol::client::ColumnField;
use crate::protocol::server::{EndReason, GameResult};
use crate::protocol::terms::PlayerKind;
use crate::storage::record::{
    Ending, EventKind, GameSpec, Settlement, StoredEvent, StoredGame, StoredMove, UnixMillis,
};

/// Illegal moves after which a side has lost: two are forgiven.
const ILLEGAL_MOVES_MAX: u8 = 3;
/// How long a bot may be away while it is its turn.
const BOT_ABSENCE_MAX: Duration = Duration::from_secs(30);
/// How long a person who left on purpose may be away.
const LEFT_ON_PURPOSE_MAX: Duration = Duration::from_secs(10);
/// How long a person may be away in a fast game; slower games give more.
const PERSON_ABSENCE_MIN: Duration = Duration::from_secs(30);
/// How long a person may take for the first move before the game is void.
const FIRST_MOVE_MAX: Duration = Duration::from_secs(30);
/// How long the clocks stand still after a restart if the side to move does not come back.
const RESTART_FREEZE_MAX: Duration = Duration::from_mins(1);
/// What both sides get after a restart.
const RESTART_BONUS: Duration = Duration::from_secs(10);

/// A stored move as it is told again to whoever asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayedMove {
    /// Its number among the public events.
    pub seq: u32,
    /// Stones on the board before it.
    pub ply: u32,
    /// Where.
    pub column: Column,
    /// Whose.
    pub by: Side,
    /// What each side had left after it, in milliseconds.
    pub clock_ms: BySide<u64>,
    /// From the turn's start to the receipt, in milliseconds.
    pub spent_ms: u64,
    /// The part given back for the network.
    pub credited_ms: u64,
}

/// What the actor has to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Store these events, then call [`RoomState::stored`].
    Store(StoreRequest),
    /// Tell everybody of the last move.
    Moved(PlayedMove),
    /// Ask the side to move for its move.
    Prompt(Side),
    /// Send everybody a fresh snapshot.
    Resnapshot,
    /// Tell everybody that the game is over.
    Ended,
    /// Tell everybody that a side is gone or back, and when its opponent may claim the win.
    Presence {
        /// Which side.
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
}

/// Events to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreRequest {
    /// In order; the last one is `Finished` if the game ends.
    pub events: Vec<StoredEvent>,
    /// Whether the game ends.
    pub finishes: bool,
}

/// Whether a seat's player is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Presence {
    Here,
    Away { since: Instant, on_purpose: bool },
}

/// What waits for its commit.
#[derive(Clone, Debug)]
struct Staged {
    events: Vec<StoredEvent>,
    clock: GameClock,
    lag: BySide<LagAllowance>,
}

/// The time since the daemon's start during which clocks wait for players who have not come back yet.
#[derive(Clone, Copy, Debug)]
struct Freeze {
    until: Instant,
    returned: BySide<bool>,
    bonus_given: bool,
}

/// What happens at the next deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Alarm {
    Flag(Side),
    FirstMove(Side),
    BotLeft(Side),
    Thaw,
}

/// One game and who sits at it.
#[derive(Clone, Debug)]
pub struct RoomState {
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
    takeback: Option<Side>,
    rematch: BySide<bool>,
    end: Option<(Ending, Settlement)>,
}

type Effects = Vec<Effect>;

/// Why a game cannot begin with these moves on the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum UnplayableOpening {
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
    pub fn new(spec: GameSpec, kinds: BySide<PlayerKind>, now: Instant) -> Result<Self, UnplayableOpening> {
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
            takeback: None,
            rematch: BySide { first: false, second: false },
            end: None,
            spec,
        })
    }

    /// Takes up a live game after a restart: clocks wait for the players to come back.
    ///
    /// # Errors
    ///
    /// Says why the stored events cannot be, or cannot go on.
    pub fn restore(stored: StoredGame, kinds: BySide<PlayerKind>, now: Instant) -> Result<Self, String> {
        let mut state = Self::replayed(stored, kinds, now)?;
        if state.end.is_none() && state.game.outcome().is_some() {
            return Err("the board is decided, but the game has no end".into());
        }
        let returned = BySide { first: false, second: false };
        state.freeze = Some(Freeze { until: now + RESTART_FREEZE_MAX, returned, bonus_given: false });
        Ok(state)
    }

    /// A stored game as it stands after its last event, live or over.
    ///
    /// # Errors
    ///
    /// Says why the stored events cannot be.
    pub fn replayed(stored: StoredGame, kinds: BySide<PlayerKind>, now: Instant) -> Result<Self, String> {
        let mut state = Self::new(stored.spec, kinds, now).map_err(|error| error.to_string())?;
        for event in stored.events {
            state.replay(&event)?;
        }
        if let (Some((_, settlement)), Some(stored)) = (&mut state.end, stored.settlement) {
            *settlement = stored;
        }
        Ok(state)
    }

    fn replay(&mut self, event: &StoredEvent) -> Result<(), String> {
        if event.seq != self.seq + 1 {
            return Err(format!("event {} follows event {}", event.seq, self.seq));
        }
        if self.end.is_some() {
            return Err(format!("event {} follows the end of the game", event.seq));
        }
        if let EventKind::Takeback { plies } = event.kind
            && plies as usize > self.moves_played()
        {
            return Err(format!("{plies} moves are taken back and {} were played", self.moves_played()));
        }
        if let EventKind::Finished(ending) = event.kind {
            self.end = Some((ending, Settlement::default()));
        }
        self.clock = GameClock::restore(self.spec.time, event.clock_ms.map(Duration::from_millis));
        self.record(event).map_err(|error| error.to_string())
    }

    /// Applies a stored event to board and history.
    fn record(&mut self, event: &StoredEvent) -> Result<(), IllegalMove> {
        self.seq = event.seq;
        self.event_seq += u32::from(is_public(&event.kind));
        match event.kind {
            EventKind::Move(StoredMove { column, spent_ms, credited_ms, .. }) => {
                let (by, ply) = (self.side_to_move(), self.game.ply());
                self.game.play(column)?;
                self.history.push(PlayedMove {
                    seq: self.event_seq,
                    ply,
                    column,
                    by,
                    clock_ms: event.clock_ms,
                    spent_ms,
                    credited_ms,
                });
            }
            EventKind::Takeback { plies } => {
                for _ in 0..plies {
                    self.history.pop();
                    self.game.undo();
                }
            }
            EventKind::Paused | EventKind::Finished(_) => {}
        }
        Ok(())
    }

    /// What was fixed when the game began.
    #[must_use]
    pub fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// The moves so far.
    #[must_use]
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The position on the board.
    #[must_use]
    pub fn position(&self) -> &Position {
        self.game.position()
    }

    /// Who is to move, or would be if the game were not over.
    #[must_use]
    pub fn side_to_move(&self) -> Side {
        self.position().side_to_move()
    }

    /// The number of the last public event: without holes, 0 before the first.
    #[must_use]
    pub fn event_seq(&self) -> u32 {
        self.event_seq
    }

    /// How the game ended, once it has.
    #[must_use]
    pub fn end(&self) -> Option<&(Ending, Settlement)> {
        self.end.as_ref()
    }

    /// Whether an event waits for its commit, so that nothing else may change the game.
    #[must_use]
    pub fn is_storing(&self) -> bool {
        self.staged.is_some()
    }

    /// What each side has left.
    #[must_use]
    pub fn clock(&self, now: Instant) -> BySide<Duration> {
        self.shown_clock().both(now)
    }

    /// What is left of the hard limit for the current move.
    #[must_use]
    pub fn budget(&self, now: Instant) -> Duration {
        self.clock.budget_left(self.side_to_move(), now)
    }

    /// How long the clocks still stand after a restart, if they do.
    #[must_use]
    pub fn frozen_for(&self, now: Instant) -> Option<Duration> {
        self.frozen_until().map(|until| until.saturating_duration_since(now))
    }

    fn shown_clock(&self) -> &GameClock {
        self.staged.as_ref().map_or(&self.clock, |staged| &staged.clock)
    }

    fn frozen_until(&self) -> Option<Instant> {
        let freeze = self.freeze?;
        (self.end.is_none() && self.clock.turn_started().is_none() && !freeze.returned[self.side_to_move()])
            .then_some(freeze.until)
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

    // --- what happens at the table ---

    /// Starts the first turn. Called once, when both seats have been told of the game.
    pub fn begin(&mut self, now: Instant) -> Effects {
        self.start_turn(now)
    }

    /// Starts the turn of the side to move, unless it has not come back since a restart.
    fn start_turn(&mut self, now: Instant) -> Effects {
        let side = self.side_to_move();
        if let Some(freeze) = &mut self.freeze {
            if !freeze.returned[side] && now < freeze.until {
                self.clock.freeze();
                return vec![Effect::Prompt(side)];
            }
            if !freeze.bonus_given {
                freeze.bonus_given = true;
                self.clock.add_to_both(RESTART_BONUS);
            }
        }
        self.clock.start(side, now);
        let mut effects = vec![Effect::Prompt(side)];
        if !self.is_here(side) {
            effects.push(self.presence_effect(side, now));
        }
        effects
    }

    /// A player's connection came or went. Several connections of one player count as one.
    pub fn presence_changed(&mut self, side: Side, here: bool, on_purpose: bool, now: Instant) -> Effects {
        if here == self.is_here(side) {
            return Vec::new();
        }
        self.presence[side] = if here { Presence::Here } else { Presence::Away { since: now, on_purpose } };
        if self.end.is_some() {
            return Vec::new();
        }
        let mut effects = vec![self.presence_effect(side, now)];
        if here && let Some(freeze) = &mut self.freeze {
            freeze.returned[side] = true;
            let waits = self.clock.turn_started().is_none() && !self.is_storing();
            if waits && self.side_to_move() == side {
                effects.extend(self.start_turn(now));
            }
        }
        effects
    }

    fn is_here(&self, side: Side) -> bool {
        self.presence[side] == Presence::Here
    }

    fn presence_effect(&self, side: Side, now: Instant) -> Effect {
        let claim_in = self.absence_ends(side).map(|at| at.saturating_duration_since(now));
        Effect::Presence { side, here: self.is_here(side), claim_in }
    }

    /// When `side`'s absence has lasted too long. The timer runs only while it is its turn.
    fn absence_ends(&self, side: Side) -> Option<Instant> {
        let Presence::Away { since, on_purpose } = self.presence[side] else { return None };
        if self.check_open().is_err() || self.side_to_move() != side {
            return None;
        }
        let turn = self.clock.turn_started()?;
        Some(since.max(turn) + self.absence_allowed(side, on_purpose))
    }

    fn absence_allowed(&self, side: Side, on_purpose: bool) -> Duration {
        match self.kinds[side] {
            PlayerKind::Bot => BOT_ABSENCE_MAX,
            PlayerKind::Human | PlayerKind::Guest if on_purpose => LEFT_ON_PURPOSE_MAX,
            PlayerKind::Human | PlayerKind::Guest => PERSON_ABSENCE_MIN * self.pace(),
        }
    }

    /// 1 for fast games, 2 for medium, 4 for slow ones, by the time of a side for twenty moves.
    fn pace(&self) -> u32 {
        let time = self.spec.time;
        let expected = time.bank_ms.map_or(20 * u64::from(time.move_ms.unwrap_or(0)), |bank| {
            u64::from(bank) + 20 * u64::from(time.increment_ms)
        });
        match expected {
            0..=120_000 => 1,
            120_001..=480_000 => 2,
            _ => 4,
        }
    }

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

    /// Whoever moves is back, even if the news of the connection comes later.
    fn thaw_for(&mut self, side: Side, now: Instant) {
        if self.frozen_until().is_some() {
            if let Some(freeze) = &mut self.freeze {
                freeze.returned[side] = true;
            }
            // The prompt is answered already.
            let _prompt = self.start_turn(now);
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

    fn stage_end(&mut self, ending: Ending, now: Instant, at: UnixMillis) -> Effects {
        let mut clock = self.clock.clone();
        match (ending.reason, ending.by) {
            (EndReason::Time, Some(side)) => clock.run_out(side),
            _ => clock.stop(now),
        }
        let clock_ms = clock.both(now).map(millis);
        let event = StoredEvent { seq: self.seq + 1, kind: EventKind::Finished(ending), clock_ms, at };
        let lag = self.lag;
        self.stage(vec![event], clock, lag)
    }

    fn stage(&mut self, events: Vec<StoredEvent>, clock: GameClock, lag: BySide<LagAllowance>) -> Effects {
        debug_assert!(self.staged.is_none(), "one event of a game is stored at a time");
        let finishes = matches!(events.last().map(|event| &event.kind), Some(EventKind::Finished(_)));
        self.staged = Some(Staged { events: events.clone(), clock, lag });
        vec![Effect::Store(StoreRequest { events, finishes })]
    }

    /// The staged events are durable: they become public. `settlement` is there if the game has ended.
    ///
    /// # Panics
    ///
    /// Never: what is staged was checked, and while it waits nothing else may change the game.
    #[expect(clippy::needless_pass_by_value, reason = "the room keeps it")]
    pub fn stored(&mut self, settlement: Option<Settlement>, now: Instant) -> Effects {
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
    pub fn not_stored(&mut self, now: Instant) -> Effects {
        self.staged = None;
        if self.end.is_some() || self.frozen_until().is_some() {
            return Vec::new();
        }
        if self.clock.turn_started().is_none() {
            // The side to move has come back after a restart while the event was waiting.
            return self.start_turn(now);
        }
        vec![Effect::Prompt(self.side_to_move())]
    }

    /// A side gives up.
    ///
    /// # Errors
    ///
    /// The game is over.
    pub fn resign(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.end_by(lost(side, EndReason::Resign), now, at)
    }

    /// Ends the game for a side that cannot go on: a broken house bot.
    ///
    /// # Errors
    ///
    /// The game is over.
    pub fn fail(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.end_by(lost(side, EndReason::BotFailed), now, at)
    }

    /// A side ends the game before it began in earnest.
    ///
    /// # Errors
    ///
    /// The game is over, or both sides have moved.
    pub fn abort(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        if self.end.is_none() && self.has_moved(Side::First) && self.has_moved(Side::Second) {
            return Err(RoomRefusal::TooLateToAbort);
        }
        self.end_by(void(side), now, at)
    }

    /// A side takes the win after its opponent's absence.
    ///
    /// # Errors
    ///
    /// The game is over, or the opponent is there or not away for long enough.
    pub fn claim(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        match self.absence_ends(side.opponent()) {
            Some(at_earliest) if now >= at_earliest => {
                self.end_by(lost(side.opponent(), EndReason::Left), now, at)
            }
            ends => {
                let wait = ends.map(|at_earliest| at_earliest.saturating_duration_since(now));
                Err(RoomRefusal::NothingToClaim { wait })
            }
        }
    }

    fn end_by(&mut self, ending: Ending, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        Ok(self.stage_end(ending, now, at))
    }

    /// A side asks for its last move back.
    ///
    /// # Errors
    ///
    /// Only casual games between people have takebacks, and the side must have moved.
    pub fn ask_takeback(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        if self.spec.rated {
            return Err(RoomRefusal::NoTakeback("rated games have no takebacks"));
        }
        if self.kinds.first == PlayerKind::Bot || self.kinds.second == PlayerKind::Bot {
            return Err(RoomRefusal::NoTakeback("only people can give moves back"));
        }
        if !self.has_moved(side) {
            return Err(RoomRefusal::NoTakeback("you have not moved yet"));
        }
        let is_repeated = self.takeback.replace(side) == Some(side);
        Ok(if is_repeated { Vec::new() } else { vec![Effect::TakebackOffered(side)] })
    }

    /// The other side answers.
    ///
    /// # Errors
    ///
    /// Nobody asked.
    pub fn answer_takeback(
        &mut self,
        side: Side,
        agrees: bool,
        now: Instant,
        at: UnixMillis,
    ) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        if self.takeback != Some(side.opponent()) {
            return Err(RoomRefusal::NoTakeback("your opponent did not ask for a move back"));
        }
        self.takeback = None;
        if !agrees {
            return Ok(Vec::new());
        }
        let plies = if self.side_to_move() == side { 1 } else { 2 };
        let mut clock = self.clock.clone();
        clock.stop(now);
        let clock_ms = clock.both(now).map(millis);
        let event = StoredEvent { seq: self.seq + 1, kind: EventKind::Takeback { plies }, clock_ms, at };
        let lag = self.lag;
        Ok(self.stage(vec![event], clock, lag))
    }

    /// A side wants another game with sides swapped.
    ///
    /// # Errors
    ///
    /// The game goes on.
    pub fn ask_rematch(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        if self.end.is_none() {
            return Err(RoomRefusal::NotOver);
        }
        if self.spec.pair.is_some() {
            return Err(RoomRefusal::NotAllowed("games of a series have no rematch"));
        }
        let opponent = side.opponent();
        if !self.is_here(opponent) {
            // An offer to play on goes with whoever made it.
            self.rematch[opponent] = false;
        }
        if std::mem::replace(&mut self.rematch[side], true) {
            return Ok(Vec::new());
        }
        if self.rematch[opponent] {
            Ok(vec![Effect::RematchAgreed])
        } else {
            Ok(vec![Effect::RematchOffered(side)])
        }
    }

    /// The daemon stops as planned: the clocks are stored as they stand.
    pub fn pause(&mut self, now: Instant, at: UnixMillis) -> Effects {
        if self.end.is_some() || self.is_storing() {
            return Vec::new();
        }
        let mut clock = self.clock.clone();
        clock.stop(now);
        let clock_ms = clock.both(now).map(millis);
        let event = StoredEvent { seq: self.seq + 1, kind: EventKind::Paused, clock_ms, at };
        let lag = self.lag;
        self.stage(vec![event], clock, lag)
    }

    // --- deadlines ---

    /// When [`Self::wake`] should be called next, if nothing happens before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.next_alarm().map(|(at, _)| at)
    }

    fn next_alarm(&self) -> Option<(Instant, Alarm)> {
        if self.end.is_some() || self.is_storing() {
            return None;
        }
        if let Some(until) = self.frozen_until() {
            return Some((until, Alarm::Thaw));
        }
        let side = self.side_to_move();
        let flag = self.clock.flag_at(self.lag[side].limit()).map(|at| (at, Alarm::Flag(side)));
        let first_move = self.first_move_ends(side).map(|at| (at, Alarm::FirstMove(side)));
        let left = self.bot_absence_ends(side).map(|at| (at, Alarm::BotLeft(side)));
        [flag, first_move, left].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// People get a limited time for their first move; bots have their clock and their absence.
    fn first_move_ends(&self, side: Side) -> Option<Instant> {
        let waits = self.kinds[side] != PlayerKind::Bot && !self.has_moved(side);
        waits.then_some(())?;
        Some(self.clock.turn_started()? + FIRST_MOVE_MAX)
    }

    fn bot_absence_ends(&self, side: Side) -> Option<Instant> {
        (self.kinds[side] == PlayerKind::Bot).then_some(())?;
        self.absence_ends(side)
    }

    /// A deadline may have passed.
    pub fn wake(&mut self, now: Instant, at: UnixMillis) -> Effects {
        let Some((_, alarm)) = self.next_alarm().filter(|(due, _)| *due <= now) else { return Vec::new() };
        match alarm {
            Alarm::Flag(side) => self.stage_end(flagged(side), now, at),
            Alarm::FirstMove(side) => self.stage_end(void(side), now, at),
            Alarm::BotLeft(side) => self.stage_end(lost(side, EndReason::Left), now, at),
            Alarm::Thaw => self.start_turn(now),
        }
    }
}

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

/// Whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Whether players and watchers hear of an event.
fn is_public(kind: &EventKind) -> bool {
    match kind {
        EventKind::Move(_) | EventKind::Takeback { .. } | EventKind::Finished(_) => true,
        EventKind::Paused => false,
    }
}

fn win_of(side: Side) -> GameResult {
    match side {
        Side::First => GameResult::First,
        Side::Second => GameResult::Second,
    }
}

fn ending_of(outcome: Outcome) -> Ending {
    match outcome {
        Outcome::Win { by, .. } => Ending { result: win_of(by), reason: EndReason::Four, by: None },
        Outcome::Draw => Ending { result: GameResult::Draw, reason: EndReason::Full, by: None },
    }
}

fn lost(side: Side, reason: EndReason) -> Ending {
    Ending { result: win_of(side.opponent()), reason, by: Some(side) }
}

fn flagged(side: Side) -> Ending {
    lost(side, EndReason::Time)
}

fn void(side: Side) -> Ending {
    Ending { result: GameResult::Void, reason: EndReason::Aborted, by: Some(side) }
}

#[cfg(test)]
mod tests;
