//! Owns one room: takes commands one at a time, has events stored, and tells the members.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};
use tokio::sync::{mpsc, oneshot};
use tracing::{Instrument, debug, error, info_span, warn};

use super::directory::{Directory, PublicGame, shown_crowd};
use super::handle::{
    Action, Command, Connection, INBOX_MAX, MemberId, Play, Recipient, ReplyTo, RoomHandle, Seated,
};
use super::members::Members;
use super::refusal::RoomRefusal;
use super::state::{Effect, MoveRequest, RoomState, StoreRequest};
use super::view::SeatedPlayer;
use crate::clock::now;
use crate::ids::PlayerId;
use crate::metrics::Metrics;
use crate::protocol::server::{
    Crowd, Done, Frame, GameEnd, Offered, OpponentGone, Reaction, Snapshot, Urgency,
};
use crate::protocol::terms::PlayerKind;
use crate::protocol::{REACTIONS, ServerMessage};
use crate::storage::Writer;
use crate::storage::record::{GameSpec, Settlement, UnixMillis};
use crate::storage::store::{StoreError, Write, Written};
use crate::storage::writer::{WriteError, WriteResult};

/// How long a room outlives its game if people play in it: time to agree on a rematch.
const LINGER_PEOPLE: Duration = Duration::from_mins(1);
/// The same between bots: time for a late repetition of the last move.
const LINGER_BOTS: Duration = Duration::from_secs(5);
/// At most one `crowd` in this time.
const CROWD_EVERY: Duration = Duration::from_secs(1);
/// When the disk stands still, flags are looked at again after this time.
const STALL_RECHECK: Duration = Duration::from_millis(500);
/// Commands that wait for a commit; more are refused as busy. Two players have no use for more.
const DEFERRED_MAX: usize = 64;

/// What a room tells the one who started it.
#[derive(Clone, Debug)]
pub enum RoomNews {
    /// The game has ended and is stored.
    Finished {
        /// Which game.
        public: Arc<PublicGame>,
        /// How.
        end: GameEnd,
    },
    /// Both players want another game.
    RematchAgreed {
        /// The game that is over.
        spec: GameSpec,
    },
}

/// Why a room has closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a game that goes on needs a room"]
pub enum Closed {
    /// Its game is over, or the daemon stops.
    Done,
    /// The store refused an event: what is stored differs from what the room believes, and the store is right.
    OutOfStep,
}

/// What a step of the room leads to.
type Step = std::ops::ControlFlow<Closed>;

/// What a room needs from the rest of the daemon.
#[derive(Clone, Debug)]
pub struct RoomDeps {
    /// Makes events durable.
    pub writer: Writer,
    /// Where the room is listed.
    pub directory: Directory,
    /// Who hears of ends and rematches.
    pub news: mpsc::Sender<RoomNews>,
    /// Counts moves.
    pub metrics: Arc<Metrics>,
}

/// Owns one room.
pub struct RoomActor {
    state: RoomState,
    players: BySide<SeatedPlayer>,
    public: Arc<PublicGame>,
    members: Members,
    deps: RoomDeps,
    inbox: mpsc::Receiver<Command>,
    deferred: VecDeque<Command>,
    /// The writer's answer to what is being stored.
    stored: Option<oneshot::Receiver<WriteResult>>,
    /// Who asked for what is being stored.
    asker: Option<ReplyTo>,
    /// When the move that is being stored was received.
    received: Option<Instant>,
    /// The daemon stops: the room closes as soon as its clocks are stored.
    pausing: Option<oneshot::Sender<()>>,
    crowd_due: Option<Instant>,
    crowd_told: Option<Instant>,
    closes_at: Option<Instant>,
}

impl std::fmt::Debug for RoomActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RoomActor").field("game", &self.state.spec().id).finish_non_exhaustive()
    }
}

impl RoomActor {
    /// Makes a room and lists it in the directory. The caller runs the actor.
    #[must_use]
    pub fn new(state: RoomState, players: BySide<SeatedPlayer>, deps: RoomDeps) -> (RoomHandle, Self) {
        let (commands, inbox) = mpsc::channel(INBOX_MAX);
        let handle = RoomHandle::new(state.spec().id.clone(), commands);
        let moves = state.game().notation();
        let public = Arc::new(PublicGame::new(state.spec().clone(), players.clone(), moves));
        deps.directory.insert(handle.clone(), Arc::clone(&public));
        let actor = Self {
            state,
            players,
            public,
            members: Members::default(),
            deps,
            inbox,
            deferred: VecDeque::new(),
            stored: None,
            asker: None,
            received: None,
            pausing: None,
            crowd_due: None,
            crowd_told: None,
            closes_at: None,
        };
        (handle, actor)
    }

    /// Seats a connection before the room runs. One that is away may still come back.
    pub fn seat(&mut self, side: Side, member: MemberId, recipient: Arc<dyn Recipient>) {
        self.members.sit(side, member, recipient);
    }

    /// Tells both players of the game, starts the first turn and runs until the room closes.
    pub async fn run(mut self) -> Closed {
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
    }

    /// Waits for the next thing to happen and deals with it.
    async fn step(&mut self) -> Step {
        if self.pausing.is_some() && !self.state.is_storing() {
            return Step::Break(Closed::Done);
        }
        let deadline = self.next_deadline();
        tokio::select! {
            biased;
            result = answer_of(&mut self.stored) => self.store_answered(result).await,
            command = self.inbox.recv() => match command {
                Some(command) => {
                    self.take(command).await;
                    Step::Continue(())
                }
                None => Step::Break(Closed::Done),
            },
            () = sleep_until(deadline) => self.deadline_passed().await,
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let mut alarm = self.state.next_deadline();
        if let Some(at) = alarm
            && self.deps.writer.is_stalled(now())
        {
            alarm = Some(at.max(now() + STALL_RECHECK));
        }
        [alarm, self.crowd_due, self.closes_at].into_iter().flatten().min()
    }

    async fn deadline_passed(&mut self) -> Step {
        let now = now();
        if self.crowd_due.is_some_and(|due| due <= now) {
            self.tell_crowd(now).await;
        }
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
    async fn take(&mut self, command: Command) {
        if !self.state.is_storing() {
            return self.execute(command).await;
        }
        match command {
            // These come once in the life of a room.
            Command::Fail { .. } | Command::Pause { .. } => self.deferred.push_back(command),
            Command::Play(_) | Command::Act { .. } if self.deferred.len() < DEFERRED_MAX => {
                self.deferred.push_back(command);
            }
            Command::Play(play) => self.refuse(&play.reply, &RoomRefusal::Busy),
            Command::Act { reply, .. } => self.refuse(&reply, &RoomRefusal::Busy),
            Command::Sit { .. }
            | Command::Prompt { .. }
            | Command::Connected { .. }
            | Command::Leave { .. }
            | Command::Watch { .. }
            | Command::Unwatch { .. }
            | Command::Sync { .. }
            | Command::Look { .. } => self.execute(command).await,
        }
    }

    async fn execute(&mut self, command: Command) {
        match command {
            Command::Play(play) => self.play(*play).await,
            Command::Act { player, action, reply } => self.act(&player, action, reply).await,
            Command::Fail { side } => {
                if let Ok(effects) = self.state.fail(side, now(), UnixMillis::now()) {
                    self.carry_out(effects, None).await;
                }
            }
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
            Command::Sync { player, reply, skipped } => {
                let side = player.and_then(|player| self.side_of(&player));
                if let Some(side) = side {
                    self.take_seat(side, &reply).await;
                }
                reply.send(&self.snapshot_frame(side, skipped));
            }
            Command::Look { answer } => {
                // A page that stopped waiting needs no answer.
                let _ = answer.send(self.snapshot(None));
            }
            Command::Pause { done } => {
                self.pausing = Some(done);
                let effects = self.state.pause(now(), UnixMillis::now());
                self.carry_out(effects, None).await;
            }
        }
    }

    fn side_of(&self, player: &PlayerId) -> Option<Side> {
        let spec = self.state.spec();
        [Side::First, Side::Second].into_iter().find(|side| spec.players[*side] == *player)
    }

    async fn play(&mut self, play: Play) {
        let Some(side) = self.side_of(&play.player) else {
            self.refuse_move(&play.reply, &RoomRefusal::NotAPlayer);
            return;
        };
        let request = MoveRequest {
            side,
            ply: play.ply,
            column: play.column,
            info: play.info,
            received: play.received,
            at: UnixMillis::now(),
            round_trip: play.round_trip,
        };
        let (verdict, effects) = self.state.play(&request);
        match verdict {
            Ok(Some(repeated)) => {
                play.reply.send(&Frame::new(ServerMessage::Moved(self.state.moved(&repeated))));
            }
            Ok(None) => self.received = Some(play.received),
            Err(refusal) => self.refuse_move(&play.reply, &refusal),
        }
        self.carry_out(effects, Some(play.reply)).await;
    }

    async fn act(&mut self, player: &PlayerId, action: Action, reply: ReplyTo) {
        let Some(side) = self.side_of(player) else {
            self.refuse(&reply, &RoomRefusal::NotAPlayer);
            return;
        };
        self.take_seat(side, &reply).await;
        let (now, at) = (now(), UnixMillis::now());
        let verdict = match action {
            Action::Resign => self.state.resign(side, now, at),
            Action::Abort => self.state.abort(side, now, at),
            Action::Claim => self.state.claim(side, now, at),
            Action::Rematch => {
                self.look_around(now);
                self.state.ask_rematch(side)
            }
            Action::Takeback => self.state.ask_takeback(side),
            Action::TakebackAnswer { yes } => self.state.answer_takeback(side, yes, now, at),
            Action::React { emoji } => {
                self.react(side, emoji, &reply).await;
                return;
            }
        };
        match verdict {
            Err(refusal) => self.refuse(&reply, &refusal),
            Ok(effects) => {
                let answers_itself = effects.iter().any(|effect| !matches!(effect, Effect::RematchAgreed));
                if !answers_itself {
                    reply.send(&Frame::new(ServerMessage::Ok(Done {})));
                }
                self.carry_out(effects, Some(reply)).await;
            }
        }
    }

    /// Books who is still at the table after the game: news of connections come to live games only.
    fn look_around(&mut self, now: Instant) {
        if self.state.end().is_some() {
            for side in Side::BOTH {
                // What it changes concerns rematches alone, so there is nothing to tell.
                let _none = self.state.presence_changed(side, self.members.is_here(side), false, now);
            }
        }
    }

    async fn react(&mut self, side: Side, emoji: String, reply: &ReplyTo) {
        if !REACTIONS.contains(&emoji.as_str()) {
            let error = crate::protocol::WireError::bad_field("emoji", "emoji is one of the list in welcome");
            reply.send(&error.in_game(&self.state.spec().id).into());
            return;
        }
        let game = self.state.spec().id.clone();
        let frame = Frame::new(ServerMessage::Reaction(Reaction { game, by: side.into(), emoji }));
        self.members.tell_players(side, &frame, Some(reply));
        self.members.tell_watchers(&frame, Urgency::Droppable).await;
    }

    fn refuse(&self, reply: &ReplyTo, refusal: &RoomRefusal) {
        reply.send(&refusal.to_wire(&self.state.spec().id).into());
    }

    fn refuse_move(&self, reply: &ReplyTo, refusal: &RoomRefusal) {
        reply.refuse_move(refusal.to_wire(&self.state.spec().id));
    }

    async fn sit(
        &mut self,
        player: &PlayerId,
        member: MemberId,
        recipient: Arc<dyn Recipient>,
    ) -> Option<Seated> {
        let side = self.side_of(player)?;
        if self.members.unwatch(member) {
            self.crowd_changed();
        }
        self.members.sit(side, member, Arc::clone(&recipient));
        recipient.deliver(&self.snapshot_frame(Some(side), None), None, Urgency::Must);
        let live = self.state.end().is_none();
        let your_turn = live && self.state.side_to_move() == side;
        // The session asks for its prompt itself, after it has said which games wait.
        let here = self.members.is_here(side);
        let mut effects = self.state.presence_changed(side, here, false, now());
        effects.retain(|effect| !matches!(effect, Effect::Prompt(_)));
        self.carry_out(effects, None).await;
        Some(Seated { your_turn, live })
    }

    fn prompt(&self, member: MemberId) {
        let Some(side) = self.members.side_of(member) else { return };
        let waits = self.state.end().is_none() && !self.state.is_storing();
        if waits && self.state.side_to_move() == side {
            let turn = self.state.turn(self.members.round_trip(side), now());
            self.members.tell_member(member, &Frame::new(ServerMessage::Turn(Box::new(turn))), Urgency::Must);
        }
    }

    async fn presence_changed(&mut self, side: Side, on_purpose: bool) {
        let here = self.members.is_here(side);
        let effects = self.state.presence_changed(side, here, on_purpose, now());
        self.carry_out(effects, None).await;
    }

    async fn leave(&mut self, member: MemberId) {
        let side = self.members.side_of(member);
        if self.members.leave(member) {
            self.crowd_changed();
        }
        if let Some(side) = side {
            self.presence_changed(side, false).await;
        }
    }

    async fn watch(&mut self, player: &PlayerId, reply: ReplyTo) {
        let side = self.side_of(player);
        reply.send(&self.snapshot_frame(side, None));
        if let Some(side) = side {
            self.take_seat(side, &reply).await;
        } else {
            self.members.watch(reply.member, reply.recipient);
            self.crowd_changed();
        }
    }

    /// Seats a connection of a player that came after the game had ended, so that it hears of a rematch. Before the
    /// end all connections have their seats anyway.
    async fn take_seat(&mut self, side: Side, reply: &ReplyTo) {
        if self.members.side_of(reply.member).is_none() {
            self.members.sit(side, reply.member, Arc::clone(&reply.recipient));
            self.presence_changed(side, false).await;
        }
    }

    fn crowd_changed(&mut self) {
        self.public.set_watching(self.members.watching());
        if self.crowd_due.is_none() {
            let earliest = self.crowd_told.map_or_else(now, |told| told + CROWD_EVERY);
            self.crowd_due = Some(earliest.max(now()));
        }
    }

    async fn tell_crowd(&mut self, now: Instant) {
        self.crowd_due = None;
        self.crowd_told = Some(now);
        let watching = shown_crowd(self.members.watching());
        let crowd = Crowd { game: self.state.spec().id.clone(), watching };
        let frame = Frame::new(ServerMessage::Crowd(crowd));
        for side in [Side::First, Side::Second] {
            self.members.tell_side(side, &frame, None);
        }
        self.members.tell_watchers(&frame, Urgency::Droppable).await;
    }

    fn snapshot(&self, you: Option<Side>) -> Snapshot {
        self.state.snapshot(you, &self.players, shown_crowd(self.members.watching()), now())
    }

    fn snapshot_frame(&self, you: Option<Side>, skipped: Option<u64>) -> Frame {
        let snapshot = Snapshot { skipped, ..self.snapshot(you) };
        Frame::new(ServerMessage::Game(Box::new(snapshot)))
    }

    /// The writer has answered.
    async fn store_answered(&mut self, result: WriteResult) -> Step {
        self.stored = None;
        let asker = self.asker.take();
        let received = self.received.take();
        match result {
            Ok(written) => {
                let effects = self.state.stored(settlement_of(written), now());
                self.carry_out(effects, asker).await;
                if let Some(received) = received {
                    self.deps.metrics.moved(now().saturating_duration_since(received));
                }
            }
            Err(WriteError::Busy) => {
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
            self.execute(command).await;
        }
        Step::Continue(())
    }

    /// Carries out effects: first everything for the players, then the same for the watchers.
    async fn carry_out(&mut self, effects: Vec<Effect>, asker: Option<ReplyTo>) {
        let mut crowd = Vec::new();
        for effect in effects {
            match effect {
                Effect::Store(request) => self.store(request, asker.clone()),
                Effect::Moved(played) => {
                    let frame = Frame::new(ServerMessage::Moved(self.state.moved(&played)));
                    self.members.tell_players(played.by, &frame, asker.as_ref());
                    self.public.set_progress(self.state.game().notation(), false);
                    crowd.push(frame);
                }
                Effect::Prompt(side) => {
                    let turn = self.state.turn(self.members.round_trip(side), now());
                    let frame = Frame::new(ServerMessage::Turn(Box::new(turn)));
                    self.members.tell_side(side, &frame, None);
                }
                Effect::Resnapshot => {
                    for side in [Side::First, Side::Second] {
                        let frame = self.snapshot_frame(Some(side), None);
                        self.members.tell_side(side, &frame, asker.as_ref());
                    }
                    self.public.set_progress(self.state.game().notation(), false);
                    crowd.push(self.snapshot_frame(None, None));
                }
                Effect::Ended => crowd.extend(self.ended(asker.as_ref()).await),
                Effect::Presence { side, here, claim_in } => {
                    let frame = self.presence_frame(side, here, claim_in);
                    self.members.tell_side(side.opponent(), &frame, None);
                    crowd.push(frame);
                }
                Effect::RematchOffered(side) => {
                    let offered = Offered { game: self.state.spec().id.clone(), by: side.into() };
                    let frame = Frame::new(ServerMessage::RematchOffer(offered));
                    self.members.tell_players(side, &frame, asker.as_ref());
                }
                Effect::RematchAgreed => {
                    let spec = self.state.spec().clone();
                    self.tell_host(RoomNews::RematchAgreed { spec }).await;
                }
                Effect::TakebackOffered(side) => {
                    let offered = Offered { game: self.state.spec().id.clone(), by: side.into() };
                    let frame = Frame::new(ServerMessage::TakebackOffer(offered));
                    self.members.tell_players(side, &frame, asker.as_ref());
                }
            }
        }
        for frame in crowd {
            self.members.tell_watchers(&frame, Urgency::Droppable).await;
        }
    }

    fn presence_frame(&self, side: Side, here: bool, claim_in: Option<Duration>) -> Frame {
        Frame::new(ServerMessage::OpponentGone(OpponentGone {
            game: self.state.spec().id.clone(),
            by: side.into(),
            gone: !here,
            claim_ms: claim_in.map(super::state::millis),
        }))
    }

    fn store(&mut self, request: StoreRequest, asker: Option<ReplyTo>) {
        self.asker = asker;
        let game = self.state.spec().id.clone();
        let write = if request.finishes {
            Write::Finish { game, events: request.events }
        } else {
            Write::Append { game, events: request.events }
        };
        let (reply, answer) = oneshot::channel();
        self.stored = Some(answer);
        self.deps.writer.submit(write, move |result| {
            // The room may be gone; the event stands all the same.
            let _ = reply.send(result);
        });
    }

    /// The game is over: frees the players, tells everybody, and lets the room linger.
    async fn ended(&mut self, asker: Option<&ReplyTo>) -> Option<Frame> {
        let end = self.state.game_end(now())?;
        let people = self.players.as_ref().map(|player| player.identity.kind != PlayerKind::Bot);
        let linger = if people.first || people.second { LINGER_PEOPLE } else { LINGER_BOTS };
        self.closes_at = Some(now() + linger);
        self.public.set_progress(end.moves.clone(), true);
        self.deps.directory.release_players(&self.public);
        let frame = Frame::new(ServerMessage::GameEnd(Box::new(end.clone())));
        self.members.tell_players(Side::First, &frame, asker);
        self.tell_host(RoomNews::Finished { public: Arc::clone(&self.public), end }).await;
        Some(frame)
    }

    async fn tell_host(&self, news: RoomNews) {
        // The host is gone only while the daemon stops.
        let _ = self.deps.news.send(news).await;
    }
}

fn settlement_of(written: Written) -> Option<Settlement> {
    match written {
        Written::Settled(settlement) => Some(settlement),
        Written::Done | Written::Revoked(_) => None,
    }
}

/// The writer's answer, if one is awaited.
async fn answer_of(stored: &mut Option<oneshot::Receiver<WriteResult>>) -> WriteResult {
    match stored {
        Some(answer) => answer.await.unwrap_or_else(|_| Err(WriteError::Store(Arc::new(StoreError::Closed)))),
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
