//! A small client of the protocol, typed by the same messages that the daemon speaks.
//!
//! It keeps its session over lost connections, paces itself below the server's message limit, and leaves to the caller
//! what to say. Load generator and kill test are built on it; what it knows of the server it knows from the wire.

mod address;
pub(crate) mod bridge;
pub(crate) mod http;
pub mod load;
mod pace;
mod socket;
mod transport;

use std::time::Duration;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};

use crate::model::bounded::{Bounded, BoundedLong};
use crate::model::clock::{GameTime, InvalidTimeControl, TimeControl};
use crate::model::secret::Secret;
use crate::protocol::client::{BotInfo, Bye, ClientInfo, GameCount, Hello, Resume};
use crate::protocol::server::Welcome;
use crate::protocol::terms::Accepts;
use crate::protocol::{ClientMessage, CloseCode, ServerMessage, WireError};
use pace::SendPace;
use socket::Socket;

/// How long a handshake or a `welcome` may take before it counts as failed.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// The first wait before connecting again; it doubles up to [`RETRY_WAIT_MAX`].
const RETRY_WAIT_MIN: Duration = Duration::from_millis(200);
const RETRY_WAIT_MAX: Duration = Duration::from_secs(5);

/// Checks a time control as the server would.
///
/// # Errors
///
/// The refusal that the server would give.
pub(crate) fn game_time(time: TimeControl) -> Result<GameTime, ClientError> {
    let refused = |error: InvalidTimeControl| WireError::bad_field("time", error.to_string());
    GameTime::new(time).map_err(|error| ClientError::Refused(Box::new(refused(error))))
}

/// How a client introduces itself.
#[derive(Clone, Debug, Default)]
pub struct Introduction {
    /// `ws://HOST:PORT`, or `wss://` for TLS, with the path of the socket or without it.
    pub url: String,
    /// A bot's token; without one the server makes the client a guest.
    pub token: Option<Secret>,
    /// What a bot says about itself.
    pub bot: Option<BotInfo>,
    /// Whether a bot can be challenged by everybody.
    pub open: Option<bool>,
    /// What is accepted; everything if left out.
    pub accepts: Option<Accepts>,
    /// Games at the same time.
    pub max_games: Option<u32>,
}

/// Why a client cannot go on with this connection, or at all.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The address makes no sense.
    #[error("`{0}` is not the address of a server, such as ws://127.0.0.1:4444 or wss://arena.example.org")]
    BadUrl(String),
    /// There is no encrypted connection to be had.
    #[error("no TLS: {0}")]
    Tls(String),
    /// The connection could not be made, or broke.
    #[error("connection lost: {0}")]
    Lost(String),
    /// The server closed the connection.
    #[error("closed by the server with code {code}: {reason}")]
    Closed { code: u16, reason: String },
    /// The server said nothing for too long.
    #[error("the server has been silent for {} ms", .0.as_millis())]
    Silent(Duration),
    /// The server refused the upgrade.
    #[error("the server refused the connection with {status}: {message}")]
    NoUpgrade { status: u16, message: String },
    /// The server refused `hello`.
    #[error("refused: {}", .0.message)]
    Refused(Box<WireError>),
    /// What came is not of the protocol.
    #[error("not a message of the protocol: {0}")]
    Unreadable(String),
}

impl ClientError {
    /// Whether connecting again can help.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Silent(_) => true,
            Self::Closed { code, .. } => {
                let lasting =
                    [CloseCode::Credentials, CloseCode::Banned, CloseCode::Version, CloseCode::Replaced];
                !lasting.iter().any(|lasting| lasting.number() == *code)
            }
            Self::Refused(error) => error.retry_ms.is_some(),
            Self::BadUrl(_) | Self::Tls(_) | Self::NoUpgrade { .. } | Self::Unreadable(_) => false,
        }
    }
}

/// A message with what belongs to the connection and not to the message.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Received {
    /// Its number in the session.
    pub(crate) seq: u64,
    /// The `id` of the request that it answers.
    pub(crate) re: Option<String>,
    pub(crate) message: ServerMessage,
}

/// One player's presence at the server, kept over any number of connections.
#[derive(Debug)]
pub(crate) struct Client {
    introduction: Introduction,
    socket: Option<Socket>,
    welcome: Welcome,
    /// The last message received.
    seq: u64,
    pace: SendPace,
}

impl Client {
    /// Connects and opens a session.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses.
    pub(crate) async fn connect(introduction: Introduction) -> Result<Self, ClientError> {
        let (socket, seq, welcome) = open(&introduction, None).await?;
        let pace = SendPace::new(welcome.limits.messages_per_20s);
        Ok(Self { introduction, socket: Some(socket), welcome, seq, pace })
    }

    /// Who the client is there, and what it must keep to.
    pub(crate) fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Drops the connection, if there is one, and connects again until it works, going on with the session.
    ///
    /// Waits between attempts, longer each time. Whether the session could be resumed is in the new [`Welcome`].
    ///
    /// # Errors
    ///
    /// The server refuses for good.
    pub(crate) async fn reconnect(&mut self) -> Result<&Welcome, ClientError> {
        self.socket = None;
        let mut wait = RETRY_WAIT_MIN;
        loop {
            let resume = Resume {
                session: self.welcome.session.as_str().to_owned(),
                secret: self.welcome.secret.clone(),
                // A server that counts further has not sent so many messages.
                seq: BoundedLong::checked(self.seq).unwrap_or_default(),
            };
            match open(&self.introduction, Some(resume)).await {
                Ok((socket, seq, welcome)) => {
                    self.pace = SendPace::new(welcome.limits.messages_per_20s);
                    (self.socket, self.seq, self.welcome) = (Some(socket), seq, welcome);
                    return Ok(&self.welcome);
                }
                Err(error) if error.is_passing() => {
                    // Up to half of it more, so that clients that were dropped together do not come back together.
                    let jitter = rand::rng().random_range(1.0..1.5);
                    sleep(wait.mul_f64(jitter)).await;
                    wait = (wait * 2).min(RETRY_WAIT_MAX);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a message. Moves go at once; others wait, if they must, to stay below the server's limit.
    ///
    /// # Errors
    ///
    /// The connection is lost: [`Self::reconnect`].
    pub(crate) async fn send(&mut self, message: &ClientMessage) -> Result<(), ClientError> {
        self.send_with_id(message, None).await
    }

    /// Sends a message whose answer shall carry `id`.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub(crate) async fn send_with_id(
        &mut self,
        message: &ClientMessage,
        id: Option<&str>,
    ) -> Result<(), ClientError> {
        if !matches!(message, ClientMessage::Move(_)) {
            self.pace.wait().await;
        }
        let socket = self.socket.as_mut().ok_or_else(|| ClientError::Lost("not connected".to_owned()))?;
        socket.send(&encode(message, id)).await
    }

    /// The next message. Messages of unknown types are passed over.
    ///
    /// May be dropped while waiting: nothing is lost.
    ///
    /// # Errors
    ///
    /// The connection is lost, or nothing came for 2.5 heartbeats: [`Self::reconnect`].
    pub(crate) async fn next(&mut self) -> Result<Received, ClientError> {
        // Whatever the server says of itself.
        let patience = Duration::from_millis(self.welcome.heartbeat_ms.saturating_mul(5) / 2);
        let socket = self.socket.as_mut().ok_or_else(|| ClientError::Lost("not connected".to_owned()))?;
        loop {
            let text =
                timeout(patience, socket.next()).await.map_err(|_| ClientError::Silent(patience))??;
            if let Some(received) = decode(&text)? {
                self.seq = self.seq.max(received.seq);
                return Ok(received);
            }
        }
    }

    /// Says goodbye and closes.
    pub(crate) async fn leave(mut self) {
        // Whoever leaves does not mind that the connection is gone already.
        let _ = self.send(&ClientMessage::Bye(Bye { drain: false })).await;
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
    }
}

/// Connects and says hello; gives the number of the `welcome` too.
async fn open(
    introduction: &Introduction,
    resume: Option<Resume>,
) -> Result<(Socket, u64, Welcome), ClientError> {
    let deadline = Instant::now() + ANSWER_WAIT;
    let late = |_| ClientError::Silent(ANSWER_WAIT);
    let connecting = Socket::connect(&introduction.url, introduction.token.as_ref());
    let mut socket = tokio::time::timeout_at(deadline, connecting).await.map_err(late)??;
    socket.send(&encode(&hello(introduction, resume), None)).await?;
    loop {
        let text = tokio::time::timeout_at(deadline, socket.next()).await.map_err(late)??;
        match decode(&text)? {
            Some(Received { seq, message: ServerMessage::Welcome(welcome), .. }) => {
                return Ok((socket, seq, *welcome));
            }
            Some(Received { message: ServerMessage::Error(error), .. }) => {
                return Err(ClientError::Refused(error));
            }
            Some(_) | None => {}
        }
    }
}

fn hello(introduction: &Introduction, resume: Option<Resume>) -> ClientMessage {
    let client = ClientInfo { name: "fourfold".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    ClientMessage::Hello(Box::new(Hello {
        protocol: Bounded::default(),
        token: None, // the upgrade carries it
        client,
        bot: introduction.bot.clone(),
        accepts: introduction.accepts.clone(),
        open: introduction.open,
        max_games: introduction.max_games.map(|games| GameCount::checked(games).unwrap_or(GameCount::MOST)),
        strict: None,
        needs: Vec::new(),
        resume,
    }))
}

fn encode(message: &ClientMessage, id: Option<&str>) -> String {
    #[derive(Serialize)]
    struct OutgoingRequest<'a> {
        #[serde(flatten)]
        message: &'a ClientMessage,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
    }
    serde_json::to_string(&OutgoingRequest { message, id }).expect("message types have string keys only")
}

/// Reads a frame; nothing if its type is unknown, as the protocol grows by adding.
fn decode(text: &str) -> Result<Option<Received>, ClientError> {
    #[derive(Deserialize)]
    struct ReceivedEnvelope {
        seq: u64,
        #[serde(default)]
        re: Option<String>,
    }
    let unreadable = |error: serde_json::Error| {
        let shown: String = text.chars().take(200).collect();
        ClientError::Unreadable(format!("{error} in {shown}"))
    };
    let ReceivedEnvelope { seq, re } = serde_json::from_str(text).map_err(unreadable)?;
    match serde_json::from_str(text) {
        Ok(message) => Ok(Some(Received { seq, re, message })),
        Err(error) if error.to_string().starts_with("unknown variant") => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::client::Ping;

    #[test]
    fn a_request_carries_its_id_beside_its_fields() {
        let ping = ClientMessage::Ping(Ping { n: BoundedLong::new(7) });
        assert_eq!(encode(&ping, Some("a")), r#"{"type":"ping","n":7,"id":"a"}"#);
        assert_eq!(encode(&ClientMessage::Unseek, None), r#"{"type":"unseek"}"#);
    }

    #[test]
    fn answers_say_what_they_answer() {
        let received = decode(r#"{"seq":3,"re":"a","type":"pong","n":7}"#).unwrap().unwrap();
        assert_eq!((received.seq, received.re.as_deref()), (3, Some("a")));
        assert_eq!(received.message, ServerMessage::Pong(Ping { n: BoundedLong::new(7) }));
    }

    #[test]
    fn unknown_types_are_passed_over_and_broken_ones_are_not() {
        assert!(matches!(decode(r#"{"seq":3,"type":"fireworks"}"#), Ok(None)));
        assert!(decode(r#"{"seq":3,"type":"pong","n":"x"}"#).is_err());
        assert!(decode(r#"{"type":"pong"}"#).is_err());
    }

    #[test]
    fn only_passing_troubles_are_worth_another_attempt() {
        let closed = |code: CloseCode| ClientError::Closed { code: code.number(), reason: String::new() };
        assert!(closed(CloseCode::Restart).is_passing() && closed(CloseCode::TooSlow).is_passing());
        assert!(!closed(CloseCode::Replaced).is_passing() && !closed(CloseCode::Credentials).is_passing());
        assert!(!ClientError::BadUrl(String::new()).is_passing());
    }
}
