//! One player that answers every turn with a random legal column and checks what it sees.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Column;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, ClientError, Received};
use crate::model::bounded::Bounded;
use crate::model::ids::{ChallengeId, GameId, PlayerId};
use crate::protocol::client::{Accept, ColumnField, Move, OnGame, Ping};
use crate::protocol::server::{GameEnd, Moved, Offer, Snapshot, Turn};
use crate::protocol::{ClientMessage, CloseCode, ServerMessage, WireError};

/// How long a player that leaves waits for what the server has said before.
const LAST_WORDS_MAX: Duration = Duration::from_secs(10);

/// Before a player whose connection was replaced by an earlier attempt of its own tries again.
const AFTER_REPLACED: Duration = Duration::from_millis(100);

/// Which of two players one is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Offers the games.
    Challenger,
    /// Takes them.
    Challenged,
}

/// A move that the server has acknowledged, and so promised to keep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ack {
    pub game: GameId,
    /// Stones on the board before it.
    pub ply: u32,
    pub column: u8,
    /// From sending the move to its acknowledgement.
    pub latency: Duration,
}

/// A `game_end` that came, known or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeardEnd {
    pub player: PlayerId,
    pub game: GameId,
    /// On which of the player's connections, from 0.
    pub connection: u32,
}

/// Something that should not happen.
#[derive(Clone, PartialEq, Debug)]
pub enum LoadTrouble {
    /// The server took back what it had shown.
    Rollback {
        game: GameId,
        /// What was seen before.
        known: String,
        /// What is said now.
        said: String,
    },
    /// The server refused a request.
    Refused(Box<WireError>),
    /// The session could not be resumed although a game of it is live, or the player is somebody else now.
    ///
    /// A guest without a game is forgotten after seconds, which is as it should be.
    SessionLost,
}

/// Hears what the players live through. Called from many tasks, and must be quick.
pub trait Witness: Send + Sync {
    /// Both of a pair are connected: whatever happens to their connections from now on, they make them again.
    fn connected(&self) {}
    /// A game goes on, or began.
    fn playing(&self, _game: &GameId) {}
    /// A move is about to be sent; whether it arrives is not known.
    fn sending(&self, _game: &GameId, _ply: u32, _column: Column) {}
    /// A move was acknowledged.
    fn acked(&self, ack: &Ack);
    /// A game ended; both its players say so, `role` tells which.
    fn ended(&self, role: Role, end: &GameEnd);
    /// The server said how a game of this player ended.
    fn heard_end(&self, _heard: &HeardEnd) {}
    /// The player leaves, and has heard all that the server had to say until then.
    fn heard_out(&self, _player: &PlayerId) {}
    /// A connection was lost and made again, and the server knew the session.
    fn reconnected(&self, _role: Role) {}
    /// Something that should not happen.
    fn trouble(&self, trouble: LoadTrouble);
}

/// The sent move that waits for its acknowledgement.
struct Sent {
    ply: u32,
    column: Column,
    at: Instant,
}

/// How a player waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// Before it answers a turn.
    pub(super) think: Duration,
    /// For a server that has gone; without end if left out.
    pub(super) patience: Option<Duration>,
}

/// One player.
pub(super) struct LoadPlayer {
    client: Client,
    role: Role,
    witness: Arc<dyn Witness>,
    habits: Habits,
    rng: ChaCha8Rng,
    /// Moves of each live game, as far as this player has seen them.
    known: HashMap<GameId, String>,
    sent: HashMap<GameId, Sent>,
    /// Games of which nothing was heard since the connection was made again.
    unheard: HashSet<GameId>,
    /// Games of a session that was not resumed: none of them may be live.
    forgotten: HashSet<GameId>,
    /// How often the connection was made again.
    connections: u32,
    /// Whether the connection was made again and its `synced` has not come yet.
    is_returning: bool,
    /// The turn to answer next, and when.
    due: Option<(Instant, Box<Turn>)>,
}

/// What the role of the player has to react to.
pub(super) enum Happening {
    /// The connection was made again, and the list of live games is complete.
    Back,
    /// Somebody offers a game.
    Offered(Box<Offer>),
    /// An offer of this player's came to nothing.
    OfferEnded,
    /// A game ended.
    Ended,
    /// A request that was no move was refused; whether that is trouble is for the role to say.
    Refused(Box<WireError>),
}

/// What is said of a server that does not come back.
fn gone(patience: Duration) -> ClientError {
    ClientError::Lost(format!("the server has gone and did not come back in {} s", patience.as_secs()))
}

/// Whether to go on. Nobody else plays under our players' names: one that was replaced was so by an earlier attempt of
/// its own to connect, which a busy server has only now come to.
fn is_passing(error: &ClientError) -> bool {
    let is_replaced =
        matches!(error, ClientError::Closed { code, .. } if *code == CloseCode::Replaced.number());
    error.is_passing() || is_replaced
}

impl LoadPlayer {
    pub(super) fn new(
        client: Client,
        role: Role,
        witness: Arc<dyn Witness>,
        habits: Habits,
        rng: ChaCha8Rng,
    ) -> Self {
        Self {
            client,
            role,
            witness,
            habits,
            rng,
            known: HashMap::new(),
            sent: HashMap::new(),
            unheard: HashSet::new(),
            forgotten: HashSet::new(),
            connections: 0,
            is_returning: false,
            due: None,
        }
    }

    pub(super) fn is_playing(&self) -> bool {
        !self.known.is_empty()
    }

    /// Plays on until something happens that the role must react to; `None` once `stop` is set.
    ///
    /// Lost connections are made again on the way.
    pub(super) async fn next(&mut self, stop: &CancellationToken) -> Result<Option<Happening>, ClientError> {
        loop {
            let due = self.due.as_ref().map(|(at, _)| *at);
            let received = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(None),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.answer_turn().await?;
                    continue;
                }
                received = self.client.next() => received,
            };
            match received {
                Ok(received) => {
                    if let Some(happening) = self.take(received).await? {
                        return Ok(Some(happening));
                    }
                }
                Err(error) if is_passing(&error) => {
                    if !self.reconnect(stop).await? {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a request, connecting again if need be; false if the connection had to be made again and the request
    /// must be thought over.
    pub(super) async fn send(&mut self, message: &ClientMessage) -> Result<(), ClientError> {
        match self.client.send(message).await {
            // The next read finds the loss too, and repairs it; what was not sent is asked for again by the server.
            Ok(()) => Ok(()),
            Err(error) if error.is_passing() => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn accept(&mut self, challenge: ChallengeId) -> Result<(), ClientError> {
        self.send(&ClientMessage::Accept(Accept { challenge, side: None })).await
    }

    /// Leaves, once all is heard that the server has said until now.
    pub(super) async fn leave(mut self) {
        if let Ok(Ok(())) = tokio::time::timeout(LAST_WORDS_MAX, self.hear_out()).await {
            self.witness.heard_out(&self.client.welcome().you.id);
        }
        self.client.leave().await;
    }

    async fn hear_out(&mut self) -> Result<(), ClientError> {
        self.client.send(&ClientMessage::Ping(Ping::default())).await?;
        loop {
            let received = self.client.next().await?;
            match received.message {
                ServerMessage::Pong(_) => return Ok(()),
                // Others play on.
                ServerMessage::Turn(_) => {}
                _ => {
                    if let Some(Happening::Refused(error)) = self.take(received).await? {
                        self.witness.trouble(LoadTrouble::Refused(error));
                    }
                }
            }
        }
    }

    /// Connects again; false once `stop` is set.
    async fn reconnect(&mut self, stop: &CancellationToken) -> Result<bool, ClientError> {
        let patience = self.habits.patience;
        let out_of_patience = async {
            match patience {
                Some(patience) => sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        let me = self.client.welcome().you.id.clone();
        tokio::pin!(out_of_patience);
        loop {
            let made = tokio::select! {
                () = stop.cancelled() => return Ok(false),
                made = self.client.reconnect() => made.map(|_| ()),
                () = &mut out_of_patience => return Err(gone(patience.unwrap_or_default())),
            };
            match made {
                Ok(()) => break,
                Err(error) if is_passing(&error) => sleep(AFTER_REPLACED).await,
                Err(error) => return Err(error),
            }
        }
        let welcome = self.client.welcome();
        if welcome.resumed {
            self.witness.reconnected(self.role);
        } else {
            if welcome.you.id != me {
                self.witness.trouble(LoadTrouble::SessionLost);
            }
            self.forgotten = self.known.drain().map(|(game, _)| game).collect();
        }
        self.unheard = self.known.keys().cloned().collect();
        self.is_returning = true;
        self.connections += 1;
        self.due = None; // the server asks again
        Ok(true)
    }

    async fn take(&mut self, received: Received) -> Result<Option<Happening>, ClientError> {
        match received.message {
            ServerMessage::Synced(_) => {
                self.ask_for_unheard().await?;
                return Ok(std::mem::take(&mut self.is_returning).then_some(Happening::Back));
            }
            ServerMessage::Challenge(offer) => return Ok(self.offered(offer)),
            ServerMessage::ChallengeEnd(_) => return Ok(Some(Happening::OfferEnded)),
            ServerMessage::Game(snapshot) => return Ok(self.take_snapshot(&snapshot)),
            ServerMessage::Turn(turn) => {
                self.take_view(&turn.game, &turn.moves);
                self.due = Some((Instant::now() + self.habits.think, turn));
                if self.habits.think.is_zero() {
                    self.answer_turn().await?;
                }
            }
            ServerMessage::Moved(moved) => self.take_moved(&moved).await?,
            ServerMessage::GameEnd(end) => {
                let (player, connection) = (self.client.welcome().you.id.clone(), self.connections);
                self.witness.heard_end(&HeardEnd { player, game: end.game.clone(), connection });
                return Ok(self.take_end(&end));
            }
            ServerMessage::Error(error) if error.game.is_none() => {
                return Ok(Some(Happening::Refused(error)));
            }
            ServerMessage::Error(error) => self.witness.trouble(LoadTrouble::Refused(error)),
            ServerMessage::Welcome(_)
            | ServerMessage::Ok(_)
            | ServerMessage::Notice(_)
            | ServerMessage::Ping(_)
            | ServerMessage::Pong(_)
            | ServerMessage::BotOffer(_)
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
        Ok(None)
    }

    fn offered(&self, offer: Box<Offer>) -> Option<Happening> {
        let own = offer.from.id == self.client.welcome().you.id;
        (!own).then_some(Happening::Offered(offer))
    }

    fn take_snapshot(&mut self, snapshot: &Snapshot) -> Option<Happening> {
        self.unheard.remove(&snapshot.game);
        if let Some(end) = snapshot.end() {
            return self.take_end(&end);
        }
        self.take_view(&snapshot.game, &snapshot.moves);
        self.witness.playing(&snapshot.game);
        None
    }

    /// A game ended; nothing happened if that was known, as when its end is said again.
    fn take_end(&mut self, end: &GameEnd) -> Option<Happening> {
        self.unheard.remove(&end.game);
        self.forgotten.remove(&end.game);
        self.known.contains_key(&end.game).then_some(())?;
        self.take_view(&end.game, &end.moves);
        self.known.remove(&end.game);
        self.sent.remove(&end.game);
        self.witness.ended(self.role, end);
        Some(Happening::Ended)
    }

    /// The server has told of all live games: those that it left out ended while nobody could be told.
    async fn ask_for_unheard(&mut self) -> Result<(), ClientError> {
        for game in std::mem::take(&mut self.unheard) {
            self.send(&ClientMessage::Sync(OnGame { game })).await?;
        }
        Ok(())
    }

    /// Compares what is said about a game with what was seen of it: moves may be added, never taken away.
    fn take_view(&mut self, game: &GameId, moves: &str) {
        if self.forgotten.remove(game) {
            self.witness.trouble(LoadTrouble::SessionLost);
        }
        let known = self.known.entry(game.clone()).or_default();
        if !moves.starts_with(known.as_str()) {
            let (known, said) = (known.clone(), moves.to_owned());
            self.witness.trouble(LoadTrouble::Rollback { game: game.clone(), known, said });
        }
        moves.clone_into(known);
    }

    async fn take_moved(&mut self, moved: &Moved) -> Result<(), ClientError> {
        let Some(column) = Column::from_number(moved.column) else {
            return Err(ClientError::Unreadable(format!("column {}", moved.column)));
        };
        let Some(known) = self.known.get(&moved.game) else { return Ok(()) };
        let index = moved.ply.saturating_sub(1) as usize;
        match known.chars().nth(index) {
            // Said before, as after a resumption.
            Some(digit) if digit == column.digit() => {}
            None if index == known.len() => {
                let extended = format!("{known}{}", column.digit());
                self.take_view(&moved.game, &extended);
            }
            Some(_) => {
                let said = format!("{}{}", known.get(..index).unwrap_or_default(), column.digit());
                self.take_view(&moved.game, &said);
            }
            None => self.send(&ClientMessage::Sync(OnGame { game: moved.game.clone() })).await?,
        }
        self.take_ack(moved, column);
        Ok(())
    }

    fn take_ack(&mut self, moved: &Moved, column: Column) {
        let ply = moved.ply.saturating_sub(1);
        if let Some(sent) = self.sent.get(&moved.game)
            && sent.ply == ply
            && sent.column == column
        {
            let latency = sent.at.elapsed();
            self.sent.remove(&moved.game);
            self.witness.acked(&Ack { game: moved.game.clone(), ply, column: column.number(), latency });
        }
    }

    async fn answer_turn(&mut self) -> Result<(), ClientError> {
        let Some((_, turn)) = self.due.take() else { return Ok(()) };
        if let Some(sent) = self.sent.get(&turn.game)
            && sent.ply == turn.ply
        {
            // Asked again, as after a restart: the same answer is safe whatever became of the first.
            let column = sent.column;
            return self.send_move(turn.game, turn.ply, column).await;
        }
        let drawn = self.rng.random_range(0..turn.legal.len().max(1));
        let Some(column) = turn.legal.get(drawn).copied().and_then(Column::from_number) else {
            return Err(ClientError::Unreadable(format!("a turn with the legal columns {:?}", turn.legal)));
        };
        let Turn { game, ply, .. } = *turn;
        self.witness.sending(&game, ply, column);
        self.sent.insert(game.clone(), Sent { ply, column, at: Instant::now() });
        self.send_move(game, ply, column).await
    }

    async fn send_move(&mut self, game: GameId, ply: u32, column: Column) -> Result<(), ClientError> {
        let column = ColumnField::Number(column.number().into());
        self.send(&ClientMessage::Move(Move { game, ply: Bounded::new(ply), column, info: None })).await
    }
}
