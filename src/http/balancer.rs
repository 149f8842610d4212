//! What balancers ask each node in plain HTTP, also where players speak TLS: whether it lives, and whether players
//! should enter by it.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, sink};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tracing::debug;

use super::error::{ApiCode, ApiError};
use super::proxy_protocol::{self, BadHeader};

/// How long a peer may take to say the first word: all do at once, in HTTP and in TLS.
const FIRST_WORD_MAX: Duration = Duration::from_secs(10);

/// How long a balancer that finds no place may take to ask. Its header and its question come together.
const ASKED_WITHIN: Duration = Duration::from_secs(1);

/// How long the rest of a question may take, and how long whoever asked may take to hang up. It has its answer anyhow.
const REST_MAX: Duration = Duration::from_secs(1);

/// What is read at most of a question, and after the answer: cookies of a browser and what a proxy adds are some KiB.
const READ_BYTES_MAX: u64 = 16 * 1024;

/// What a question ends with.
const END: &[u8] = b"\r\n\r\n";

/// As much as has to be seen of any question.
const SEEN_BYTES: usize = Question::PLAYERS_ENTER.len();

/// What a balancer wants to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Whether the node lives.
    Lives,
    /// Whether players should enter by it.
    PlayersEnter,
}

impl Question {
    const LIVES: &[u8] = b"GET /healthz ";
    const PLAYERS_ENTER: &[u8] = b"GET /healthz/players ";

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Lives => "/healthz",
            Self::PlayersEnter => "/healthz/players",
        }
    }

    fn of(first: &[u8]) -> Option<Self> {
        let is = |question| first.starts_with(question);
        let enter = is(Self::PLAYERS_ENTER).then_some(Self::PlayersEnter);
        enter.or_else(|| is(Self::LIVES).then_some(Self::Lives))
    }

    /// The question that a connection begins with; none if it begins with something else, or in pieces. It stays to be
    /// read.
    ///
    /// # Errors
    ///
    /// The connection is broken, or nothing is said.
    pub(super) async fn asked_by(stream: &TcpStream) -> io::Result<Option<Self>> {
        let mut first = [0; SEEN_BYTES];
        let seen = timeout(FIRST_WORD_MAX, stream.peek(&mut first)).await??;
        Ok(Self::of(&first[..seen]))
    }

    /// The same of a balancer that speaks for itself, where there is no place for whom it would speak for.
    ///
    /// # Errors
    ///
    /// As before, or it says no header.
    pub(super) async fn asked_without_a_place(stream: &mut TcpStream) -> Result<Option<Self>, BadHeader> {
        let asked = async {
            match proxy_protocol::client_of(stream).await? {
                Some(_player) => Ok(None),
                None => Ok(Self::asked_by(stream).await?),
            }
        };
        timeout(ASKED_WITHIN, asked).await.unwrap_or(Err(BadHeader::Late))
    }
}

/// What a balancer is told.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The JSON of an answer to everybody.
    pub(super) body: Cow<'static, str>,
}

impl Answer {
    pub(super) const YES: Self = Self { status: StatusCode::OK, body: Cow::Borrowed(r#"{"status":"ok"}"#) };

    /// Players should enter elsewhere, for this reason. Those who are here may stay.
    pub(super) fn elsewhere(why: &str) -> Self {
        let error = ApiError::new(ApiCode::NotFound, why);
        Self { status: error.code.status(), body: serde_json::to_string(&error).unwrap_or_default().into() }
    }

    /// The same where all places are taken, if that was the question.
    pub(super) fn without_a_place(self, question: Question) -> Self {
        match question {
            Question::Lives => self,
            Question::PlayersEnter => Self::elsewhere("this node has as many connections as it takes"),
        }
    }
}

/// Answers a question that was asked, whatever else is said with it, and hangs up. A balancer that does not hear the
/// answer asks again.
pub(super) async fn answer(stream: TcpStream, answer: &Answer) {
    let answered = write_answer(stream, answer).await;
    drop(answered.inspect_err(|error| debug!(%error, "a balancer did not hear the answer")));
}

async fn write_answer(mut stream: TcpStream, answer: &Answer) -> io::Result<()> {
    // What has no end in time is answered all the same: its first line said everything.
    let _ends = timeout(REST_MAX, read_head(&mut stream)).await;
    let Answer { status, body } = answer;
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await?;
    // A connection that is closed with something unread is reset, and the answer may get lost.
    let _rest = timeout(REST_MAX, copy(&mut stream.take(READ_BYTES_MAX), &mut sink())).await;
    Ok(())
}

async fn read_head(stream: &mut TcpStream) -> io::Result<()> {
    let mut stream = stream.take(READ_BYTES_MAX);
    let mut head = Vec::new();
    while !head.windows(END.len()).any(|window| window == END) {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_known_by_their_whole_path() {
        for (first, question) in [
            ("GET /healthz HTTP/1.1", Some(Question::Lives)),
            ("GET /healthz/players ", Some(Question::PlayersEnter)),
            ("GET /healthz/players", None),
            ("GET /healthz/player ", None),
            ("GET /healthzz ", None),
            ("GET /healthz", None),
            ("HEAD /healthz ", None),
            ("\u{16}\u{3}\u{1}", None),
            ("", None),
        ] {
            assert_eq!(Question::of(first.as_bytes()), question, "{first:?}");
        }
    }
}
