//! A player of the arena, mostly a program over standard streams, as a remote bot of a running daemon.
//!
//! One task speaks with the server; every move is thought about on a thread of its own, so games at the same time do
//! not wait for each other. A player that fails resigns that game, and a new one plays the next.

mod report;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use fourfold_arena::entrant::{Answer, Entrant, EntrantFault, GameStart, Player, Turn as Question};
use fourfold_arena::stop::Stop;
use fourfold_arena::time::Clock;
use fourfold_engine::{BySide, Column, Game, Side};
use thiserror::Error;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(crate) use self::report::BridgeSummary;
use crate::client::{Client, ClientError, Introduction, Received, game_time};
use crate::model::bounded::Bounded;
use crate::model::clock::{self, TimeControl};
use crate::model::ids::GameId;
use crate::model::opening::{OpeningKind, SideChoice};
use crate::protocol::client::{
    Accept, Bye, Challenge, ColumnField, Decline, DeclineReason, Move, PlayBot, ProgramFault,
    ProgramFaultKind, Resign,
};
use crate::protocol::server::{
    ChallengeEnd, ChallengeOutcome, GameEnd, Moved, Notice, NoticeCode, Offer, Snapshot, Synced, Turn,
    TurnClock,
};
use crate::protocol::terms::{SERIES_MAX, SeriesLength, Terms, WireOpening, WireVariant};
use crate::protocol::{ClientMessage, ServerMessage, WireError};

/// Kept back from the time for a move, beside the way to the server and back.
const RESERVE: Duration = Duration::from_millis(10);

/// Games in a row that the player may lose by its own fault before the bridge gives up.
const FAULTS_MAX: u32 = 3;

/// How much of a fault the server is told, in characters: a line of a list.
const NOTE_CHARS_MAX: usize = 200;

/// What the server says when everything was said.
const CLOSED_NORMALLY: u16 = 1000;

/// What a bridge does.
#[derive(Debug)]
pub(crate) struct BridgePlan {
    /// How it introduces itself.
    pub(crate) introduction: Introduction,
    /// Games that it begins by itself, one after the other.
    pub(crate) invitations: VecDeque<PlayBot>,
    /// Leaves after so many games.
    pub(crate) games_max: Option<u64>,
    /// Whom it asks for games, over and over.
    pub(crate) opponent: Option<Practice>,
}

/// Games with somebody whom the bridge asks for them.
#[derive(Clone, Debug)]
pub(crate) struct Practice {
    pub(crate) opponent: String,
    pub(crate) rated: bool,
}

/// The `id` of the bridge's own challenges.
const CHALLENGE: &str = "challenge";

/// How long until an opponent is asked again that is busy, or whose games a lost session may have ended.
const ASK_AGAIN: Duration = Duration::from_secs(3);

/// Time of the games that the bridge asks for: a minute, and half a second for each move on top.
const PRACTICE_TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None };

/// Something that whoever runs the bridge wants to know.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Note {
    /// The session is open.
    Connected {
        /// The bot's name there.
        name: String,
    },
    /// The connection was lost and is there again.
    Reconnected,
    /// A game has ended.
    Ended {
        /// Its end as the server told it.
        end: Box<GameEnd>,
        side: Side,
    },
    /// The player failed, and resigned.
    Failed { game: GameId, fault: EntrantFault },
    /// The ladder has no games for this bot for so long.
    Paused(Duration),
    /// The server refused something.
    Refused(Box<WireError>),
}

/// Why a bridge ends before its time.
#[derive(Debug, Error)]
pub(crate) enum BridgeError {
    /// The player cannot be started.
    #[error("{0}")]
    CannotStart(EntrantFault),
    /// The server cannot be reached, or refuses.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Too many faults in a row.
    #[error("{0} games in a row were lost by a fault, the last by this: {1}")]
    Broken(u32, EntrantFault),
    /// Whoever is asked for games does not play.
    #[error("{0} does not play: {1}")]
    NotTaken(String, String),
}

/// A game under way.
struct BridgedGame {
    side: Side,
    time: TimeControl,
    /// `None` before the first move, and while a thread has it.
    player: Option<Box<dyn Player>>,
    /// The ply that is thought about.
    thinking: Option<u32>,
    /// The last answer, for a server that asks again.
    answered: Option<(u32, Column)>,
    sent: Option<Instant>,
    has_failed: bool,
}

/// What a thread brings back.
struct BridgeThought {
    game: GameId,
    ply: u32,
    /// `None` after a fault.
    player: Option<Box<dyn Player>>,
    answer: Result<Answer, EntrantFault>,
}

struct Bridge<'a> {
    client: Client,
    entrant: Arc<dyn Entrant>,
    plan: BridgePlan,
    places: HashMap<GameId, BridgedGame>,
    free: Vec<Box<dyn Player>>,
    thoughts: JoinSet<BridgeThought>,
    /// Ends the thinking when the bridge is dropped.
    halt: Stop,
    summary: BridgeSummary,
    faults_in_a_row: u32,
    is_draining: bool,
    /// Games of the bridge's challenge that have not begun, while it stands.
    owed: u32,
    /// Games that have begun.
    begun: u64,
    /// When to ask for games again.
    ask_at: Option<Instant>,
    tell: &'a mut (dyn FnMut(&Note) + Send),
}

/// Plays until the plan is fulfilled, `stop` is set, or nothing more can be done. When it is stopped, games under way
/// are played to their end.
///
/// # Errors
///
/// The player cannot be started or fails again and again, or the server refuses for good.
pub(crate) async fn run(
    plan: BridgePlan,
    entrant: Arc<dyn Entrant>,
    stop: &CancellationToken,
    tell: &mut (dyn FnMut(&Note) + Send),
) -> Result<BridgeSummary, BridgeError> {
    let ours = Arc::clone(&entrant);
    let player = tokio::task::spawn_blocking(move || ours.player()).await;
    let player = player.unwrap_or_else(|error| Err(EntrantFault::Broken(error.to_string())));
    let player = player.map_err(BridgeError::CannotStart)?;
    let client = Client::connect(plan.introduction.clone()).await?;
    tell(&Note::Connected { name: client.welcome().you.name.to_string() });
    let mut bridge = Bridge {
        client,
        entrant,
        plan,
        places: HashMap::new(),
        free: vec![player],
        thoughts: JoinSet::new(),
        halt: Stop::default(),
        summary: BridgeSummary::default(),
        faults_in_a_row: 0,
        is_draining: false,
        owed: 0,
        begun: 0,
        ask_at: None,
        tell,
    };
    let result = bridge.play(stop).await;
    bridge.halt.set();
    while bridge.thoughts.join_next().await.is_some() {}
    let Bridge { client, free, summary, .. } = bridge;
    client.leave().await;
    // Programs may take a moment to end.
    let ended = tokio::task::spawn_blocking(move || drop(free)).await;
    debug_assert!(ended.is_ok(), "dropping players does not panic");
    result.map(|()| summary)
}

impl Bridge<'_> {
    async fn play(&mut self, stop: &CancellationToken) -> Result<(), BridgeError> {
        loop {
            let received = tokio::select! {
                () = stop.cancelled(), if !self.is_draining => {
                    self.drain().await?;
                    continue;
                }
                Some(thought) = self.thoughts.join_next(), if !self.thoughts.is_empty() => {
                    // A player that panics takes its game with it: the server ends that by the clock.
                    if let Ok(thought) = thought {
                        self.take_thought(thought).await?;
                    }
                    continue;
                }
                () = sleep_until(self.ask_at.unwrap_or_else(Instant::now)), if self.ask_at.is_some() => {
                    self.ask_for_games().await?;
                    continue;
                }
                received = self.client.next() => received,
            };
            match received {
                Ok(received) => self.take(received).await?,
                Err(ClientError::Closed { code: CLOSED_NORMALLY, .. }) if self.is_draining => return Ok(()),
                Err(error) if error.is_passing() => {
                    if !self.client.reconnect().await?.resumed {
                        self.owed = 0;
                    }
                    (self.tell)(&Note::Reconnected);
                }
                Err(error) => return Err(error.into()),
            }
            if self.is_draining && self.places.is_empty() {
                return Ok(());
            }
        }
    }

    /// Plays what is under way and nothing more.
    async fn drain(&mut self) -> Result<(), ClientError> {
        self.is_draining = true;
        self.plan.invitations.clear();
        self.send(&ClientMessage::Bye(Bye { drain: true })).await
    }

    /// A lost connection is found by the next read, and the server asks again for what was not sent.
    async fn send(&mut self, message: &ClientMessage) -> Result<(), ClientError> {
        match self.client.send(message).await {
            Err(error) if !error.is_passing() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    async fn take(&mut self, received: Received) -> Result<(), BridgeError> {
        match received.message {
            ServerMessage::Synced(synced) => self.take_synced(&synced).await?,
            ServerMessage::ChallengeEnd(end) => self.take_challenge_end(&end)?,
            ServerMessage::Error(error) if received.re.as_deref() == Some(CHALLENGE) => {
                self.not_taken(error.message.clone(), error.retry_ms.is_some())?;
            }
            ServerMessage::Challenge(offer) => self.take_offer(*offer).await?,
            ServerMessage::Game(snapshot) => self.take_snapshot(&snapshot).await?,
            ServerMessage::Turn(turn) => self.take_turn(*turn).await?,
            ServerMessage::Moved(moved) => self.take_moved(&moved),
            ServerMessage::GameEnd(end) => self.take_end(end).await?,
            ServerMessage::Ping(ping) => self.send(&ClientMessage::Pong(ping)).await?,
            ServerMessage::Notice(Notice { code: NoticeCode::Paused, in_ms, .. }) => {
                (self.tell)(&Note::Paused(Duration::from_millis(in_ms)));
            }
            ServerMessage::Error(error) => {
                self.summary.refusals += 1;
                (self.tell)(&Note::Refused(error));
            }
            ServerMessage::Welcome(_)
            | ServerMessage::BotOffer(_)
            | ServerMessage::Ok(_)
            | ServerMessage::Notice(_)
            | ServerMessage::Pong(_)
            | ServerMessage::RematchOffer(_)
            | ServerMessage::TakebackOffer(_)
            | ServerMessage::TakebackRefused(_)
            | ServerMessage::Reaction(_)
            | ServerMessage::OpponentGone(_)
            | ServerMessage::Crowd(_)
            | ServerMessage::Truth(_)
            | ServerMessage::Lobby(_)
            | ServerMessage::Tv(_)
            | ServerMessage::Ladder(_)
            | ServerMessage::Result(_) => {}
        }
        Ok(())
    }

    async fn invite(&mut self) -> Result<(), ClientError> {
        match self.plan.invitations.pop_front() {
            Some(invitation) => self.send(&ClientMessage::PlayBot(invitation)).await,
            None => Ok(()),
        }
    }

    async fn take_synced(&mut self, synced: &Synced) -> Result<(), ClientError> {
        if synced.games == 0 {
            self.invite().await?;
        }
        // The games of before may go on by themselves.
        let wait = if self.begun == 0 { Duration::ZERO } else { ASK_AGAIN };
        self.ask_at = Some(Instant::now() + wait);
        Ok(())
    }

    /// How long the server took to acknowledge a move.
    fn take_moved(&mut self, moved: &Moved) {
        let place = self.places.get_mut(&moved.game);
        let sent =
            place.filter(|place| Side::from(moved.by) == place.side).and_then(|place| place.sent.take());
        self.summary.latencies.extend(sent.map(|sent| sent.elapsed()));
    }

    /// Challenges the opponent of the plan, unless games go on, or are still to come.
    async fn ask_for_games(&mut self) -> Result<(), ClientError> {
        self.ask_at = None;
        let Some(Practice { opponent, rated }) = self.plan.opponent.clone() else { return Ok(()) };
        if self.is_draining || !self.places.is_empty() || self.owed > 0 {
            return Ok(());
        }
        let left = self.plan.games_max.map(|max| max.saturating_sub(self.begun));
        let left = left.and_then(|left| u32::try_from(left).ok()).unwrap_or(SERIES_MAX).min(SERIES_MAX);
        self.owed = if left > 1 { left - left % 2 } else { 1 }; // the protocol has one game, or pairs
        // Pairs begin from drawn positions: two bots that draw no lots would repeat themselves.
        let balanced = WireOpening { kind: OpeningKind::Balanced, moves: String::new() };
        let challenge = Challenge {
            to: opponent,
            terms: Terms {
                time: game_time(PRACTICE_TIME)?,
                rated,
                variant: WireVariant::default(),
                opening: (self.owed > 1).then_some(balanced),
                games: SeriesLength::checked(self.owed).unwrap_or_default(),
                side: SideChoice::Random,
                load: false,
                private: false,
            },
            key: None,
        };
        match self.client.send_with_id(&ClientMessage::Challenge(challenge), Some(CHALLENGE)).await {
            Err(error) if !error.is_passing() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn take_challenge_end(&mut self, end: &ChallengeEnd) -> Result<(), BridgeError> {
        if self.owed == 0 || !self.places.is_empty() || end.how == ChallengeOutcome::Accepted {
            return Ok(());
        }
        let in_time = matches!(end.reason, Some(DeclineReason::Later | DeclineReason::Busy));
        let words = end.reason.map_or_else(|| format!("{:?}", end.how), |reason| format!("{reason:?}"));
        self.not_taken(words.to_lowercase(), in_time)
    }

    /// Asks again later, if that can help.
    fn not_taken(&mut self, why: String, in_time: bool) -> Result<(), BridgeError> {
        self.owed = 0;
        if in_time {
            self.ask_at = Some(Instant::now() + ASK_AGAIN);
            return Ok(());
        }
        let opponent = self.plan.opponent.as_ref().map(|practice| practice.opponent.clone());
        Err(BridgeError::NotTaken(opponent.unwrap_or_default(), why))
    }

    async fn take_offer(&mut self, offer: Offer) -> Result<(), ClientError> {
        let is_own = offer.from.id == self.client.welcome().you.id;
        if is_own || self.is_draining {
            return Ok(());
        }
        if self.plan.opponent.is_some() {
            let decline = Decline { challenge: offer.challenge, reason: DeclineReason::Later };
            return self.send(&ClientMessage::Decline(decline)).await;
        }
        self.send(&ClientMessage::Accept(Accept { challenge: offer.challenge, side: None })).await
    }

    async fn take_snapshot(&mut self, snapshot: &Snapshot) -> Result<(), BridgeError> {
        let Some(side) = snapshot.you.map(Side::from) else { return Ok(()) };
        if let Some(end) = snapshot.end() {
            return self.take_end(Box::new(end)).await;
        }
        let time = snapshot.time;
        self.place(&snapshot.game, side, time).time = time;
        Ok(())
    }

    /// The place of a game, which begins if it is not known.
    fn place(&mut self, game: &GameId, side: Side, time: TimeControl) -> &mut BridgedGame {
        if !self.places.contains_key(game) {
            self.begun += 1;
            self.owed = self.owed.saturating_sub(1);
        }
        self.places.entry(game.clone()).or_insert_with(|| BridgedGame::new(side, time))
    }

    async fn take_turn(&mut self, turn: Turn) -> Result<(), BridgeError> {
        let unreadable = |why: String| ClientError::Unreadable(format!("a turn of {}: {why}", turn.game));
        let game =
            Game::from_moves(turn.variant.0, &turn.moves).map_err(|error| unreadable(error.to_string()))?;
        let side = game.position().side_to_move();
        let place = self.place(&turn.game, side, TimeControl::default());
        match (place.answered, place.thinking) {
            (Some((ply, column)), _) if ply == turn.ply => {
                return Ok(self.send_move(turn.game, ply, column).await?);
            }
            (_, Some(ply)) if ply == turn.ply => return Ok(()),
            (_, Some(_)) => return Ok(()), // a turn of the past
            (_, None) if place.has_failed => return Ok(()),
            (_, None) => {}
        }
        place.thinking = Some(turn.ply);
        let known = place.player.take();
        let start = GameStart { variant: turn.variant.0, side, time: place.time, seed: 0 };
        let task = BridgeTask {
            is_new: known.is_none(),
            player: known.or_else(|| self.free.pop()),
            entrant: Arc::clone(&self.entrant),
            start,
            game,
            turn,
            asked: clock::now(),
            halt: self.halt.clone(),
        };
        self.thoughts.spawn_blocking(|| task.think());
        Ok(())
    }

    async fn take_thought(&mut self, thought: BridgeThought) -> Result<(), BridgeError> {
        let BridgeThought { game, ply, player, answer } = thought;
        let Some(place) = self.places.get_mut(&game) else {
            self.free.extend(player); // the game ended meanwhile
            return Ok(());
        };
        place.thinking = None;
        match answer {
            Ok(Answer { column, .. }) => {
                place.player = player;
                place.answered = Some((ply, column));
                Ok(self.send_move(game, ply, column).await?)
            }
            Err(fault) => {
                place.has_failed = true;
                self.summary.faults += 1;
                self.faults_in_a_row += 1;
                (self.tell)(&Note::Failed { game: game.clone(), fault: fault.clone() });
                let resign = Resign { game, fault: Some(program_fault(&fault)) };
                self.send(&ClientMessage::Resign(resign)).await?;
                if self.faults_in_a_row >= FAULTS_MAX {
                    return Err(BridgeError::Broken(self.faults_in_a_row, fault));
                }
                Ok(())
            }
        }
    }

    async fn send_move(&mut self, game: GameId, ply: u32, column: Column) -> Result<(), ClientError> {
        if let Some(place) = self.places.get_mut(&game) {
            place.sent = Some(Instant::now());
        }
        let column = ColumnField::Number(column.number().into());
        self.send(&ClientMessage::Move(Move { game, ply: Bounded::new(ply), column, info: None })).await
    }

    async fn take_end(&mut self, end: Box<GameEnd>) -> Result<(), BridgeError> {
        let Some(place) = self.places.remove(&end.game) else { return Ok(()) };
        self.free.extend(place.player);
        if !place.has_failed {
            self.faults_in_a_row = 0;
        }
        self.summary.count(end.result, place.side);
        (self.tell)(&Note::Ended { end, side: place.side });
        let is_enough = self.plan.games_max.is_some_and(|max| self.summary.score.games() >= max);
        if is_enough && !self.is_draining {
            return Ok(self.drain().await?);
        }
        self.invite().await?;
        Ok(self.ask_for_games().await?)
    }
}

/// What the server is told, for the list of faults on the bot's page: what a program prints is cut and cleaned.
fn program_fault(fault: &EntrantFault) -> ProgramFault {
    let kind = match fault {
        EntrantFault::Late => ProgramFaultKind::Time,
        EntrantFault::Illegal(_) => ProgramFaultKind::Illegal,
        EntrantFault::Broken(_) | EntrantFault::Gone(_) => ProgramFaultKind::Left,
    };
    let printable = |letter: char| if (' '..='~').contains(&letter) { letter } else { '?' };
    let note = fault.to_string().chars().map(printable).take(NOTE_CHARS_MAX).collect();
    ProgramFault { kind, note }
}

impl BridgedGame {
    fn new(side: Side, time: TimeControl) -> Self {
        Self { side, time, player: None, thinking: None, answered: None, sent: None, has_failed: false }
    }
}

/// All that a thread needs to ask a player.
struct BridgeTask {
    /// `None` if one must be started.
    player: Option<Box<dyn Player>>,
    /// Whether the game is new to the player.
    is_new: bool,
    entrant: Arc<dyn Entrant>,
    start: GameStart,
    game: Game,
    turn: Turn,
    asked: std::time::Instant,
    halt: Stop,
}

impl BridgeTask {
    fn think(mut self) -> BridgeThought {
        let (player, answer) = match self.answer() {
            Ok((player, answer)) => (Some(player), Ok(answer)),
            Err(fault) => (None, Err(fault)),
        };
        BridgeThought { game: self.turn.game, ply: self.turn.ply, player, answer }
    }

    /// Gives the player back unless it failed.
    fn answer(&mut self) -> Result<(Box<dyn Player>, Answer), EntrantFault> {
        let mut player = match self.player.take() {
            Some(player) => player,
            None => self.entrant.player()?,
        };
        if self.is_new {
            player.begin(&self.start)?;
        }
        let answer = player.choose(&self.question())?;
        // In the words of the board, which the self-test uses too.
        let legal = self.game.clone().play(answer.column);
        legal.map_err(|error| EntrantFault::Illegal(error.to_string()))?;
        Ok((player, answer))
    }

    fn question(&self) -> Question<'_> {
        let limit = Duration::from_millis(self.turn.budget_ms.saturating_sub(self.turn.network_ms));
        let used = clock::now().duration_since(self.asked);
        let budget = limit.saturating_sub(RESERVE.min(limit / 4)).saturating_sub(used);
        let TurnClock { you, opponent } = self.turn.clock;
        let left = |ms: u64| Duration::from_millis(ms);
        let remaining = match self.start.side {
            Side::First => BySide { first: left(you), second: left(opponent) },
            Side::Second => BySide { first: left(opponent), second: left(you) },
        };
        let clock = Clock::restore(self.start.time, remaining);
        Question {
            game: &self.game,
            budget: Some(budget),
            allotment: clock.allotment(self.start.side).map(|allotment| allotment.min(budget)),
            margin: Duration::ZERO,
            remaining_ms: clock.remaining_ms(),
            nodes: None,
            stop: &self.halt,
        }
    }
}
