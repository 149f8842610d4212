//! Owns one room: takes commands one at a time, has events stored, and tells the members.

mod alarm;
mod live_value;
mod requests;
mod screen;
mod telling;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};
use tokio::sync::{mpsc, oneshot};
use tracing::{Instrument, debug, error, info_span, warn};

use self::alarm::Alarm;
use self::live_value::WatchedValue;
use self::screen::Screen;
pub(crate) use self::screen::delay_between;
use super::command::{Command, Connection, INBOX_MAX, Inbox, MemberId, Recipient, ReplyTo, SeatWait};
use super::directory::{Directory, PublicGame};
use super::handle::RoomHandle;
use super::members::Members;
use super::pacing::CrowdPace;
use super::refusal::RoomRefusal;
use super::state::{Effect, RoomState, Standstill, StoreRequest};
use super::view::SeatedPlayer;
use crate::accounts::blocks::Blocks;
use crate::model::clock::now;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::PlayerId;
use crate::protocol::server::GameEnd;
use crate::storage::Writer;
use crate::storage::record::{GameSpec, Settlement};
use crate::system::metrics::Metrics;
use crate::system::pauses::{PauseListener, Pauses};

use crate::analysis::live_value::LiveValues;
use crate::model::time::UnixMillis;
use crate::storage::store::{StoreError, Write, Written};
use crate::storage::writer::{WriteError, WriteResult};

/// When the disk stands still, flags are looked at again after this time.
const STALL_RECHECK: Duration = Duration::from_millis(500);
/// Commands that wait for a commit; more are refused as busy. Two players have no use for more.
const DEFERRED_MAX: usize = 64;

/// What a room tells the one who started it.
#[derive(Clone, Debug)]
pub(crate) enum RoomNews {
    /// The game has ended and is stored.
    Finished { public: Arc<PublicGame>, end: GameEnd },
    /// Both players want another game.
    RematchAgreed {
        /// The game that is over.
        spec: GameSpec,
    },
}

/// Why a room has closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a game that goes on needs a room"]
pub(crate) enum Closed {
    /// Its game is over, or the daemon stops.
    Done,
    /// The store refused an event: what is stored differs from what the room believes, and the store is right.
    OutOfStep,
}

/// What a step of the room leads to.
type Step = std::ops::ControlFlow<Closed>;

/// What a room needs from the rest of the daemon.
#[derive(Clone, Debug)]
pub(crate) struct RoomDeps {
    pub(crate) writer: Writer,
    /// Where the room is listed.
    pub(crate) directory: Directory,
    /// Who hears of ends and rematches.
    pub(crate) news: mpsc::Sender<RoomNews>,
    pub(crate) metrics: Arc<Metrics>,
    /// Says what the game is worth.
    pub(crate) live_values: LiveValues,
    /// Says when the daemon stood still.
    pub(crate) pauses: Pauses,
    /// How much later than the players watchers see games of people.
    pub(crate) watch_delay: Duration,
    /// Says who blocks whom.
    pub(crate) blocks: Blocks,
}

/// What is being stored.
struct Storing {
    /// The writer's answer to it.
    answer: oneshot::Receiver<WriteResult>,
    /// Who asked for it.
    asker: Option<ReplyTo>,
    /// When it was received, if it is a move.
    received: Option<Instant>,
}

/// Owns one room.
pub(crate) struct RoomActor {
    state: RoomState,
    /// What others know of the game, and who plays it.
    public: Arc<PublicGame>,
    members: Members,
    deps: RoomDeps,
    inbox: Inbox,
    deferred: VecDeque<Box<Command>>,
    storing: Option<Storing>,
    /// The daemon stops: the room closes as soon as its clocks are stored.
    pausing: Option<oneshot::Sender<()>>,
    crowd_due: Option<Instant>,
    crowd_told: Option<Instant>,
    pace: CrowdPace,
    value: WatchedValue,
    /// What watchers see if they see it late.
    screen: Option<Box<Screen>>,
    closes_at: Option<Instant>,
    alarm: Alarm,
    pauses: PauseListener,
}

impl std::fmt::Debug for RoomActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RoomActor").field("game", &self.state.spec().id).finish_non_exhaustive()
    }
}

impl RoomActor {
    /// Makes a room and lists it in the directory. The caller runs the actor.
    ///
    /// It is boxed, for each future through which it would be handed on has room for it twice.
    pub(crate) fn new(
        state: RoomState,
        players: BySide<SeatedPlayer>,
        deps: RoomDeps,
    ) -> (RoomHandle, Box<Self>) {
        let (commands, inbox) = mpsc::channel(INBOX_MAX);
        let handle = RoomHandle::new(state.spec().id.clone(), commands);
        let moves = state.game().notation();
        let public = PublicGame::new(state.spec().clone(), players, moves);
        let public = Arc::new(public.with_series(state.series()));
        deps.directory.insert(handle.clone(), Arc::clone(&public));
        let mut actor = Box::new(Self {
            pauses: deps.pauses.listen(),
            state,
            public,
            members: Members::default(),
            deps,
            inbox,
            deferred: VecDeque::new(),
            storing: None,
            pausing: None,
            crowd_due: None,
            crowd_told: None,
            pace: CrowdPace::default(),
            value: WatchedValue::default(),
            screen: None,
            closes_at: None,
            alarm: Alarm::default(),
        });
        actor.set_up_screen();
        (handle, actor)
    }

    /// Seats a connection before the room runs. One that is away may still come back.
    pub(crate) fn seat(&mut self, side: Side, member: MemberId, recipient: Arc<dyn Recipient>) {
        self.members.sit(side, member, recipient);
    }

    /// Tells both players of the game, starts the first turn and runs until the room closes.
    pub(crate) async fn run(mut self: Box<Self>) -> Closed {
        let span = info_span!("room", id = %self.state.spec().id);
        self.serve().instrument(span).await
    }

    async fn serve(&mut self) -> Closed {
        self.open().await;
        let closed = loop {
            if let Step::Break(closed) = self.step().await {
                break closed;
            }
        };
        self.deps.directory.remove(&self.public);
        if let Some(paused) = self.pausing.take() {
            // The daemon may have stopped waiting.
            let _ = paused.send(());
        }
        debug!(?closed, "room closed");
        closed
    }

    /// Shows the game to its players and starts the first turn.
    async fn open(&mut self) {
        for side in [Side::First, Side::Second] {
            let frame = self.snapshot_frame(Some(side), None);
            self.members.tell_side(side, &frame, None);
        }
        let mut effects = Vec::new();
        for side in [Side::First, Side::Second] {
            // Nobody needs to be told that the players of a new game are there.
            let here = self.members.is_here(side);
            effects.extend(self.state.presence_changed(side, here, false, now()));
        }
        effects.retain(|effect| !matches!(effect, Effect::Presence { here: true, .. }));
        if self.state.frozen_for(now()).is_none() && !effects.iter().any(|e| matches!(e, Effect::Prompt(_))) {
            effects.extend(self.state.begin(now()));
        }
        self.carry_out(effects, None).await;
        self.play_conditional().await;
    }

    /// Waits for the next thing to happen and deals with it.
    async fn step(&mut self) -> Step {
        if self.pausing.is_some() && !self.state.is_storing() {
            return Step::Break(Closed::Done);
        }
        let deadline = self.next_deadline();
        self.alarm.set(deadline);
        tokio::select! {
            biased;
            (result, storing) = answer_of(&mut self.storing) => self.store_answered(result, storing).await,
            command = self.inbox.recv() => match command {
                Some(command) => {
                    self.heed_pauses().await;
                    self.take(command).await;
                    Step::Continue(())
                }
                None => Step::Break(Closed::Done),
            },
            value = self.value.answer() => {
                self.tell_value(value).await;
                Step::Continue(())
            }
            () = self.pauses.paused() => {
                self.heed_pauses().await;
                Step::Continue(())
            }
            () = self.alarm.rings() => self.deadline_passed().await,
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let mut alarm = self.state.next_deadline();
        if let Some(at) = alarm
            && self.deps.writer.is_stalled(now())
        {
            alarm = Some(at.max(now() + STALL_RECHECK));
        }
        let screen = self.screen.as_ref().and_then(|screen| screen.due());
        [alarm, self.crowd_due, self.pace.due(), screen, self.closes_at].into_iter().flatten().min()
    }

    /// Gives back what passed of the players' time while the daemon stood still. Whatever acts upon time comes after
    /// this: the timers of flags may fire before the heartbeat's.
    async fn heed_pauses(&mut self) {
        for pause in self.pauses.take(now()) {
            let effects = self.state.give_back(pause);
            self.carry_out(effects, None).await;
        }
    }

    async fn deadline_passed(&mut self) -> Step {
        self.heed_pauses().await;
        let now = now();
        if self.crowd_due.is_some_and(|due| due <= now) {
            self.tell_crowd(now).await;
        }
        if self.pace.due().is_some_and(|due| due <= now) {
            self.catch_watchers_up().await;
        }
        self.show_due().await;
        if self.closes_at.is_some_and(|due| due <= now) {
            return Step::Break(Closed::Done);
        }
        if !self.deps.writer.is_stalled(now) {
            let effects = self.state.wake(now, UnixMillis::now());
            self.carry_out(effects, None).await;
        }
        Step::Continue(())
    }

    /// Takes a command, or keeps it until the event that is being stored is public.
    async fn take(&mut self, command: Box<Command>) {
        if !self.state.is_storing() {
            return self.execute(command).await;
        }
        match &*command {
            // These come once in the life of a room, or once a turn.
            Command::Fail { .. }
            | Command::Expel { .. }
            | Command::Vacation { .. }
            | Command::StandStill(_)
            | Command::Wait { .. }
            | Command::Pause { .. } => self.deferred.push_back(command),
            Command::Play { .. } | Command::Act { .. } if self.deferred.len() < DEFERRED_MAX => {
                self.deferred.push_back(command);
            }
            Command::Play { reply, .. } | Command::Act { reply, .. } => {
                self.refuse(reply, &RoomRefusal::Busy);
            }
            Command::Sit { .. }
            | Command::Prompt { .. }
            | Command::Conditional { .. }
            | Command::Connected { .. }
            | Command::Leave { .. }
            | Command::Watch { .. }
            | Command::Unwatch { .. }
            | Command::Sync { .. }
            | Command::Look { .. } => self.execute(command).await,
        }
    }

    async fn execute(&mut self, command: Box<Command>) {
        match *command {
            Command::Play { player, play, reply } => self.play(&player, &play, reply).await,
            Command::Act { player, action, reply } => self.act(&player, action, reply).await,
            Command::Fail { side } => {
                let effects = self.state.fail(side, now(), UnixMillis::now()).unwrap_or_default();
                self.carry_out(effects, None).await;
            }
            Command::Expel { player } => self.expel(&player).await,
            Command::Vacation { player, lasts } => self.take_vacation(&player, lasts).await,
            Command::StandStill(standstill) => self.stand_still(standstill).await,
            Command::Conditional { player, moves } => self.take_conditional(&player, moves).await,
            Command::Wait { side, wait } => self.seat_waits(side, wait).await,
            Command::Sit { player, member, recipient, seated } => {
                let answer = self.sit(&player, member, recipient).await;
                // Whoever asked may have gone; the seat is kept all the same until it leaves.
                let _ = seated.send(answer);
            }
            Command::Prompt { member } => self.prompt(member),
            Command::Connected { member, connection } => {
                if let Some(side) = self.members.side_of(member) {
                    self.presence_changed(side, connection == Connection::Left).await;
                }
            }
            Command::Leave { member } => self.leave(member).await,
            Command::Watch { player, reply } => self.watch(&player, reply).await,
            Command::Unwatch { member } => {
                if self.members.unwatch(member) {
                    self.crowd_changed();
                }
            }
            Command::Sync { player, reply, skipped } => self.sync(player, &reply, skipped).await,
            Command::Look { player, answer } => {
                let side = player.and_then(|player| self.side_of(&player));
                // A page that stopped waiting needs no answer.
                let _ = answer.send(self.seen_by(side));
            }
            Command::Pause { done } => {
                self.pausing = Some(done);
                let effects = self.state.pause(now(), UnixMillis::now());
                self.carry_out(effects, None).await;
            }
        }
    }

    async fn stand_still(&mut self, standstill: Standstill) {
        let effects = self.state.stand_still(standstill, now());
        self.carry_out(effects, None).await;
    }

    async fn take_vacation(&mut self, player: &PlayerId, lasts: Option<Duration>) {
        let Some(side) = self.side_of(player) else { return };
        let effects = self.state.take_vacation(side, lasts, now());
        self.carry_out(effects, None).await;
    }

    /// A player says what it answers, which may be due already. While a move is being stored it is played after it.
    async fn take_conditional(&mut self, player: &PlayerId, moves: Option<ConditionalMoves>) {
        let Some(side) = self.side_of(player) else { return };
        self.state.set_conditional(side, moves);
        self.play_conditional().await;
    }

    /// Plays what the side to move has said in advance, if it has.
    async fn play_conditional(&mut self) {
        if self.pausing.is_none() {
            let effects = self.state.play_conditional(now(), UnixMillis::now());
            self.carry_out(effects, None).await;
        }
    }

    /// An operator has sent a player away, who loses.
    async fn expel(&mut self, player: &PlayerId) {
        let Some(side) = self.side_of(player) else { return };
        let effects = self.state.resign(side, now(), UnixMillis::now()).unwrap_or_default();
        self.carry_out(effects, None).await;
    }

    async fn sync(&mut self, player: Option<PlayerId>, reply: &ReplyTo, skipped: Option<u64>) {
        let side = player.and_then(|player| self.side_of(&player));
        if let Some(side) = side {
            self.take_seat(side, reply).await;
        }
        reply.send(&self.snapshot_frame(side, skipped));
        if side.is_none() {
            self.repeat_value(&*reply.recipient);
        }
    }

    /// The server keeps a seat waiting, or does so no longer.
    async fn seat_waits(&mut self, side: Side, wait: SeatWait) {
        let effects = match wait {
            SeatWait::Begins => self.state.hold(side, now()),
            SeatWait::Ends => self.state.release(side, now()),
        };
        self.carry_out(effects, None).await;
    }

    /// The writer has answered.
    async fn store_answered(&mut self, result: WriteResult, storing: Storing) -> Step {
        let Storing { asker, received, answer: _ } = storing;
        match result {
            Ok(written) => {
                let effects = self.state.stored(settlement_of(written), now());
                self.carry_out(effects, asker).await;
                if let Some(received) = received {
                    self.deps.metrics.moved(now().saturating_duration_since(received));
                }
            }
            // Of what goes on nothing is refused because of an obstacle: it waits.
            Err(WriteError::Busy | WriteError::Obstructed(_)) => {
                warn!("too much waits to be stored, the move is refused");
                let effects = self.state.not_stored(now());
                if let Some(asker) = asker {
                    self.refuse(&asker, &RoomRefusal::Busy);
                }
                self.carry_out(effects, None).await;
            }
            Err(WriteError::Refused(refused)) => {
                error!(error = %refused, "the store knows this game otherwise, the room closes");
                return Step::Break(Closed::OutOfStep);
            }
            Err(WriteError::Store(error)) => {
                // The daemon stops: the writer has said why.
                debug!(error = %error, "an event could not be stored, the room closes");
                return Step::Break(Closed::Done);
            }
        }
        while !self.state.is_storing() && self.pausing.is_none() {
            let Some(command) = self.deferred.pop_front() else { break };
            // Boxed, for most answers have nobody behind them.
            Box::pin(self.execute(command)).await;
        }
        self.play_conditional().await;
        Step::Continue(())
    }

    fn store(&mut self, request: StoreRequest, asker: Option<ReplyTo>) {
        let game = self.state.spec().id.clone();
        let write = if request.finishes {
            Write::Finish { game, events: request.events }
        } else {
            Write::Append { game, events: request.events }
        };
        let (reply, answer) = oneshot::channel();
        self.storing = Some(Storing { answer, asker, received: request.received });
        self.deps.writer.submit(write, move |result| {
            // The room may be gone; the event stands all the same.
            let _ = reply.send(result);
        });
    }
}

fn settlement_of(written: Written) -> Option<Settlement> {
    match written {
        Written::Settled(settlement) => Some(settlement),
        Written::Done | Written::Revoked(_) => None,
    }
}

/// The writer's answer to what is being stored, if something is; it is so no longer.
async fn answer_of(storing: &mut Option<Storing>) -> (WriteResult, Storing) {
    let Some(awaited) = storing.as_mut() else { return std::future::pending().await };
    let answer = (&mut awaited.answer).await;
    let result = answer.unwrap_or_else(|_| Err(WriteError::Store(Arc::new(StoreError::Closed))));
    match storing.take() {
        Some(stored) => (result, stored),
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
