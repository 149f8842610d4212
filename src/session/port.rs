//! The border between the socket and the rest of the daemon: who calls, and what answers.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use thiserror::Error;
use tokio::runtime::Handle;

use crate::accounts::AccountError;
use crate::model::ids::GameId;
use crate::model::secret::Secret;
use crate::play::presence::outbox::{Attachment, Outbox};
use crate::protocol::client::Hello;
use crate::protocol::{ClientMessage, CloseCode, ErrorCode, Request, WireError};
use crate::system::config::SiteOrigin;

/// How long a session waits for its client to come back, and how long it can have again what was sent.
pub(crate) const RESUME_WITHIN: Duration = Duration::from_mins(2);

/// The same for a guest who plays no game and has offered none: there is nothing to come back for but the messages that
/// were missed, and guests are made for nothing.
pub(crate) const IDLE_GUEST_WITHIN: Duration = Duration::from_secs(10);

/// What the upgrade carried to say who is calling.
#[derive(Clone, Debug)]
pub enum Credential {
    /// Nothing: a guest, unless `hello` carries a token.
    None,
    /// `Authorization: Bearer`, checked before the upgrade.
    Token(Secret),
    /// The site's session cookie. The `Origin` was the site's own.
    Cookie(Secret),
}

/// Who the upgrade says is calling.
#[derive(Clone, Debug)]
pub struct Caller {
    pub credential: Credential,
    /// Where it comes from; behind a trusted proxy, what the proxy says.
    pub address: IpAddr,
    /// By which address it has found the site, for links that it passes on, if it said so.
    pub site: Option<SiteOrigin>,
    /// When the upgrade was asked for.
    pub received: Instant,
}

/// A `hello` that is answered with an error and a close.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{}", error.message)]
pub struct RefusedHello {
    /// What the client is told.
    pub(crate) error: WireError,
    /// How the socket closes after that.
    pub(crate) code: CloseCode,
}

impl RefusedHello {
    /// Operators let nobody of that name, or from there, in.
    pub(crate) fn kept_out(why: &impl fmt::Display) -> Self {
        let error = WireError::new(ErrorCode::Forbidden, why.to_string()).fatal();
        Self { error, code: CloseCode::Banned }
    }
}

/// A session that is ready to be spoken with. Dropped before it is let go, as when the socket gave up in the moment in
/// which it was handed over, it lets the session go by itself: the client may come back.
pub struct Opened {
    pub(crate) session: Arc<dyn SessionPort>,
    /// This socket's hold on the session's outbox, which `welcome` is in already.
    pub(crate) attachment: Attachment,
    is_let_go: bool,
}

impl Opened {
    pub(crate) fn new(session: Arc<dyn SessionPort>, attachment: Attachment) -> Self {
        Self { session, attachment, is_let_go: false }
    }

    /// The socket is gone: tells the session.
    pub(crate) async fn let_go(&mut self, how: Disconnected) {
        self.is_let_go = true;
        self.session.outbox().detach(&self.attachment);
        self.session.disconnected(self.attachment.clone(), how).await;
    }

    /// For a test that speaks with the session itself, and tells it itself when its socket is gone.
    #[cfg(test)]
    pub(crate) fn into_parts(mut self) -> (Arc<dyn SessionPort>, Attachment) {
        self.is_let_go = true;
        (Arc::clone(&self.session), self.attachment.clone())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.is_let_go {
            return;
        }
        self.session.outbox().detach(&self.attachment);
        let Ok(runtime) = Handle::try_current() else { return };
        let (session, attachment) = (Arc::clone(&self.session), self.attachment.clone());
        // Its seats are marked as away by the session's own task, which nothing here can wait for.
        runtime.spawn(async move { session.disconnected(attachment, Disconnected::Lost).await });
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("attachment", &self.attachment).finish_non_exhaustive()
    }
}

/// How a socket ended, as far as its session cares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Disconnected {
    /// The client said `bye`, or the session ended the connection: nobody will resume.
    Bye,
    /// Everything else, a plain WebSocket close included: the session waits for the client to come back.
    Lost,
}

/// Opens sessions.
#[async_trait]
pub trait Gateway: Send + Sync + 'static {
    /// Checks a Bearer token before the upgrade: it may be none of ours, or what knows it may be out of reach.
    async fn check_token(&self, token: &Secret) -> Result<(), AccountError>;

    /// Opens or resumes a session for a `hello` with request id `id`.
    ///
    /// On success `welcome` and what follows are in the outbox already. The protocol version is checked before.
    async fn open(&self, hello: Hello, id: Option<String>, caller: Caller) -> Result<Opened, RefusedHello>;

    /// A socket sends its client an error. For whoever counts them.
    fn refused(&self, _code: ErrorCode) {}
}

/// One session, as its socket sees it.
#[async_trait]
pub(crate) trait SessionPort: Send + Sync {
    /// What waits to be sent.
    fn outbox(&self) -> &Outbox;

    /// Whether this message is exempt from the message limit: a `move` that answers an open `turn`.
    fn is_free(&self, message: &ClientMessage) -> bool;

    /// Whether the client watches and plays nothing: it may say half as much then.
    fn only_watches(&self) -> bool {
        false
    }

    /// Handles one request; answers go through the outbox.
    ///
    /// Requests of one socket are handled one after the other, in the order they came. Meanwhile the socket goes on
    /// sending, and reads and stamps a few requests ahead.
    async fn handle(&self, request: Request, received: Instant);

    /// This text of the client could not be read, and was answered by this error.
    fn misspoke(&self, text: &str, error: &WireError);

    /// A round trip that a ping of the server measured.
    fn measured(&self, round_trip: Duration);

    /// This watcher lost `skipped` messages about `game` and has caught up now: send it a fresh snapshot.
    async fn resync(&self, game: GameId, skipped: u64);

    /// The socket that held `attachment` is gone. Called once for each attachment, after its outbox was detached.
    async fn disconnected(&self, attachment: Attachment, how: Disconnected);
}
