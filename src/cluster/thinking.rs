//! Moves that are thought of elsewhere: a node asks over the bus, and one of those who listen answers.
//!
//! A question goes to one of the listeners, by chance; one who has no thread to spare says so at once. Nothing rests on
//! the answer: whoever asked looks whether it is a move at all, and thinks for itself when none comes in time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, Request, Subject, SubscribeError, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Listeners of one cluster share this name, so that each question goes to one of them.
const GROUP: &str = "thinkers";

/// Longest question and answer, in bytes: settings of a bot, a game, and what it says of its move. All else is
/// somebody's mistake.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// So many listeners are asked for one move while each has no thread: the next is found by chance.
const ASKED_MAX: u32 = 3;

/// Where nobody listens, nobody is asked again before.
const UNHEARD_PAUSE: Duration = Duration::from_secs(1);

/// How long the last answers may take to leave.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// A move to be thought of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The bot's name with its settings.
    pub(crate) bot: String,
    /// The board, as `7x6`.
    pub(crate) variant: String,
    /// The game so far, a digit a move.
    pub(crate) moves: String,
    /// How long it may think.
    pub(crate) time_ms: u64,
}

/// A move that was thought of, as it is on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Thought {
    /// Its column, from 1.
    pub(crate) column: u8,
    /// What the search found, if the bot searches.
    pub(crate) found: Option<Found>,
    /// What speaks for which column, in the words of reasons.
    pub(crate) reasons: Vec<String>,
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    /// In the bot's own unit.
    pub(crate) score: i32,
    /// Plies that it looked ahead.
    pub(crate) depth: u32,
    pub(crate) nodes: u64,
    /// The best line, a digit a move.
    pub(crate) pv: String,
}

/// What a listener says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Thought(Thought),
    /// Every thread thinks: somebody else may be asked.
    Busy,
    /// It cannot: the bot, the game or the board is none that it knows.
    Unable(String),
}

/// Why no move came from elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum NoThought {
    #[error("nobody listens")]
    Nobody,
    #[error("everybody is busy")]
    Busy,
    #[error("nobody has answered in time")]
    Late,
    #[error("it was not understood: {0}")]
    Unable(String),
    #[error("the answer is none: {0}")]
    Unreadable(String),
}

/// Those who think for others. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Thinkers {
    client: Client,
    subject: Subject,
    /// When nobody listened for the last time; held for a look.
    unheard: Arc<Mutex<Option<Instant>>>,
}

impl Thinkers {
    /// Those who listen on this bus for a cluster.
    pub(crate) fn new(client: Client, cluster: &str) -> Self {
        let subject = format!("ff.{cluster}.think").into();
        Self { client, subject, unheard: Arc::default() }
    }

    /// Whether it is worth asking.
    pub(crate) fn may_listen(&self) -> bool {
        let since = self.unheard.lock().unwrap_or_else(PoisonError::into_inner).map(|at| at.elapsed());
        since.is_none_or(|since| since >= UNHEARD_PAUSE) && self.client.connection_state() == State::Connected
    }

    /// Asks until somebody has thought, for so long at most.
    ///
    /// # Errors
    ///
    /// See [`NoThought`].
    pub(crate) async fn ask(&self, question: &Question, patience: Duration) -> Result<Thought, NoThought> {
        let payload = Bytes::from(encode(question));
        let asking = async {
            for _ in 0..ASKED_MAX {
                match self.ask_one(payload.clone(), patience).await? {
                    Answer::Thought(thought) => return Ok(thought),
                    Answer::Unable(why) => return Err(NoThought::Unable(why)),
                    Answer::Busy => {}
                }
            }
            Err(NoThought::Busy)
        };
        tokio::time::timeout(patience, asking).await.unwrap_or(Err(NoThought::Late))
    }

    /// Ends when all that was said is on its way, or never will be.
    pub(crate) async fn flush(&self) {
        let _ = tokio::time::timeout(FLUSH_MAX, self.client.flush()).await;
    }

    async fn ask_one(&self, payload: Bytes, patience: Duration) -> Result<Answer, NoThought> {
        let request = Request::new().payload(payload).timeout(Some(patience));
        let reply = match self.client.send_request(self.subject.clone(), request).await {
            Ok(reply) => reply,
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {
                *self.unheard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                return Err(NoThought::Nobody);
            }
            Err(_) => return Err(NoThought::Late),
        };
        decode(&reply.payload).map_err(NoThought::Unreadable)
    }

    /// Listens from now on.
    ///
    /// # Errors
    ///
    /// The connection is closed for good.
    pub(crate) async fn listen(&self) -> Result<Questions, SubscribeError> {
        let subscriber = self.client.queue_subscribe(self.subject.clone(), GROUP.to_owned()).await?;
        Ok(Questions { client: self.client.clone(), subscriber })
    }
}

/// Questions as they come.
#[derive(Debug)]
pub(crate) struct Questions {
    client: Client,
    subscriber: Subscriber,
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What was asked, or why it cannot be read.
    pub(crate) question: Result<Question, String>,
    client: Client,
    reply: Subject,
}

impl Questions {
    /// The next one; `None` once the connection is closed for good.
    pub(crate) async fn next(&mut self) -> Option<Asked> {
        loop {
            let message = self.subscriber.next().await?;
            // Whoever wants no answer asks nothing.
            let Some(reply) = message.reply else { continue };
            let question = decode(&message.payload);
            return Some(Asked { question, client: self.client.clone(), reply });
        }
    }
}

impl Asked {
    /// Says it to whoever asked. They may be gone, or have lost patience: then it is heard by nobody.
    pub(crate) async fn answer(self, answer: &Answer) {
        let _ = self.client.publish(self.reply, encode(answer).into()).await;
    }
}

fn encode(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("plain fields have a form in JSON")
}

fn decode<'m, T: Deserialize<'m>>(payload: &'m [u8]) -> Result<T, String> {
    if payload.len() > MESSAGE_BYTES_MAX {
        return Err(format!("{} bytes, {MESSAGE_BYTES_MAX} are allowed", payload.len()));
    }
    serde_json::from_slice(payload).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_or_no_message_is_not_read() {
        let question = Question {
            bot: "negamax:depth=4".to_owned(),
            variant: "7x6".to_owned(),
            moves: "44".to_owned(),
            time_ms: 100,
        };
        assert_eq!(decode::<Question>(&encode(&question)), Ok(question.clone()));
        let long = Question { moves: "4".repeat(MESSAGE_BYTES_MAX), ..question };
        assert!(decode::<Question>(&encode(&long)).unwrap_err().contains("are allowed"));
        for odd in [&b""[..], b"{}", b"\xff", b"{\"thought\":{\"column\":300}}", b"\"thought\""] {
            assert!(decode::<Answer>(odd).is_err(), "{}", String::from_utf8_lossy(odd));
        }
        assert_eq!(decode::<Answer>(b"\"busy\""), Ok(Answer::Busy));
    }
}
