//! What balancers ask each node in plain HTTP, also where players speak TLS: whether it lives, and whether players
//! should enter by it.

use std::io;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a peer may take to say the first word: all do at once, in HTTP and in TLS.
const FIRST_WORD_MAX: Duration = Duration::from_secs(10);

/// What is read of a question at most; the rest of it is not looked at either.
const HEAD_BYTES_MAX: usize = 2 * 1024;

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
}

/// Answers a question that was asked, and hangs up.
///
/// # Errors
///
/// The connection is broken, or the question has no end.
pub(super) async fn answer(mut stream: TcpStream, status: StatusCode, body: &str) -> io::Result<()> {
    timeout(FIRST_WORD_MAX, read_head(&mut stream)).await??;
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads a question to its end: what is unread when a connection is closed resets it, and the answer may get lost.
async fn read_head(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = Vec::with_capacity(HEAD_BYTES_MAX);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX || stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
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
