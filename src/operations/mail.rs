//! Writes mails to people who gave an address: the link that verifies it, one to a new password, that an account has
//! another address now, that a bot of theirs is paused, and that it is their turn in a game by correspondence.
//!
//! Mails wait in memory, few of them, and go out one after the other; what is not taken is tried again for an hour. A
//! restart forgets them: whoever misses one asks again. Nobody waits for any of this. What is written, in which words,
//! comes from whoever knows the languages.

pub(crate) mod actor;
mod letter;
mod smtp;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use rand::Rng as _;
use thiserror::Error;
use tokio::sync::mpsc;
use tracing::{debug, warn};

use self::letter::Letter;
pub(crate) use self::smtp::{Login, MailServer, SmtpError};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::mail::MailAddress;
use crate::model::secret::Secret;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::mails::StoredMail;
use crate::system::config::SiteOrigin;
use crate::system::metrics::Metrics;
use crate::system::shares::{Payer, Refusal, Share, Shares};

/// Mails that wait, each some kilobytes: a mail server that answers slowly is done with them in some minutes. What
/// is more is not sent.
const WAITING_MAX: usize = 256;

/// When a mail that was not taken is tried again. Servers that do not know us yet ask us to wait for some minutes.
pub(crate) const RETRIES: [Duration; 4] =
    [Duration::from_secs(30), Duration::from_mins(5), Duration::from_mins(15), Duration::from_mins(30)];

/// Random bytes in the id of a mail.
const ID_BYTES: usize = 15;

/// Why somebody is written to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Occasion {
    /// Somebody says that this is an account's address.
    Verify { account: PlayerName, link: MailedLink },
    /// Somebody says to have forgotten an account's password.
    Reset { account: PlayerName, link: MailedLink },
    /// An account that was written to here is not any more.
    Replaced {
        account: PlayerName,
        /// Where whoever did not do it sees to it.
        settings: String,
    },
    /// The ladder leaves a bot out for a while.
    Paused {
        bot: PlayerName,
        /// How it broke off last: time, illegal, absent or failed.
        fault: &'static str,
        until: Option<UnixMillis>,
        /// Where one sees more of it.
        page: String,
        /// Where one says that one wants no such mails.
        settings: String,
    },
    /// It is somebody's turn in a game by correspondence.
    Turn {
        opponent: PlayerName,
        /// What is left for the move.
        left: Duration,
        /// Where the game is.
        page: String,
        /// Where one says that one wants no such mails.
        settings: String,
    },
    /// Nothing happened: an operator tries how mails are sent.
    Test,
}

/// The address of a page with a secret in it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MailedLink(String);

impl MailedLink {
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As it stands in the mail.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl Debug for MailedLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// What a mail says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wording {
    pub(crate) subject: String,
    pub(crate) body: String,
}

/// Who knows the languages.
pub(crate) trait MailWords: Debug + Send + Sync {
    /// What is written on an occasion, in the language of a tag.
    fn words(&self, language: &str, occasion: &Occasion) -> Wording;
}

/// What it is built from.
#[derive(Debug)]
pub(crate) struct MailDeps {
    pub(crate) server: MailServer,
    pub(crate) from: MailAddress,
    /// Where links lead: never to where somebody says that the site is.
    pub(crate) site: SiteOrigin,
    pub(crate) words: Arc<dyn MailWords>,
    /// How many mails an account may cause.
    pub(crate) shares: Shares,
    pub(crate) metrics: Arc<Metrics>,
    /// After how long a mail that was not taken is tried again.
    pub(crate) retries: Vec<Duration>,
}

/// Writes mails; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Mailer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    deps: MailDeps,
    queue: mpsc::Sender<Posted>,
    /// A lock, for whoever asks for a mail counts it before the actor sees it; it is held for a few additions.
    standing: Mutex<MailStanding>,
}

/// A mail that waits.
#[derive(Debug)]
struct Posted {
    letter: Letter,
    /// Attempts that were made.
    tried: usize,
}

/// How mails are doing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct MailStanding {
    /// Mails that are still to be sent.
    pub(crate) waiting: usize,
    /// Since the daemon began.
    pub(crate) delivered: u64,
    /// Those given up, or not even tried.
    pub(crate) lost: u64,
    /// When the last one was taken.
    pub(crate) delivered_at: Option<UnixMillis>,
    /// Why the last attempt failed, if it did.
    pub(crate) failure: Option<String>,
}

/// Why a mail is not sent.
#[derive(Clone, Copy, Debug, Error)]
pub(crate) enum PostError {
    #[error(transparent)]
    Share(#[from] Refusal),
    #[error("too many mails wait to be sent")]
    Busy,
}

/// What goes out is read here; whoever holds a [`Mailer`] puts it in.
#[derive(Debug)]
pub(crate) struct Outgoing(mpsc::Receiver<Posted>);

impl Mailer {
    pub(crate) fn new(deps: MailDeps) -> (Self, Outgoing) {
        let (queue, outgoing) = mpsc::channel(WAITING_MAX);
        let inner = Inner { deps, queue, standing: Mutex::default() };
        (Self { inner: Arc::new(inner) }, Outgoing(outgoing))
    }

    /// Takes one of the mails that an account may cause. To be asked before a link is made for it.
    ///
    /// # Errors
    ///
    /// There were too many.
    pub(crate) fn allow(&self, owner: &PlayerId) -> Result<(), PostError> {
        Ok(self.inner.deps.shares.spend(Share::Mail, &Payer::account(owner))?)
    }

    /// Sends the link that verifies an address. Does not wait for it.
    ///
    /// # Errors
    ///
    /// Too many mails wait.
    pub(crate) fn verify(
        &self,
        to: &StoredMail,
        account: PlayerName,
        secret: &Secret,
    ) -> Result<(), PostError> {
        self.post(to, &Occasion::Verify { account, link: self.link("/account/mail", secret) })
    }

    /// Sends the link to a new password. Does not wait for it.
    ///
    /// # Errors
    ///
    /// Too many mails wait.
    pub(crate) fn reset(
        &self,
        to: &StoredMail,
        account: PlayerName,
        secret: &Secret,
    ) -> Result<(), PostError> {
        self.post(to, &Occasion::Reset { account, link: self.link("/account/reset", secret) })
    }

    /// Tells a verified address that its account has it no longer, so that nobody who found a browser signed in takes
    /// an account away unseen. Does not wait for it.
    ///
    /// # Errors
    ///
    /// Too many mails wait.
    pub(crate) fn replaced(&self, before: &StoredMail, account: PlayerName) -> Result<(), PostError> {
        let settings = format!("{}/account", self.inner.deps.site);
        self.post(before, &Occasion::Replaced { account, settings })
    }

    /// Sends a mail that says nothing, at once, and says how that went.
    ///
    /// # Errors
    ///
    /// It was not taken.
    pub(crate) async fn test(&self, to: MailAddress) -> Result<(), SmtpError> {
        self.attempt(&self.letter(to, "en", &Occasion::Test)).await
    }

    /// How mails are doing.
    pub(crate) fn standing(&self) -> MailStanding {
        self.noted().clone()
    }

    /// The secret stands behind the `#`: browsers do not send it, so that no log has it.
    fn link(&self, path: &str, secret: &Secret) -> MailedLink {
        MailedLink(format!("{}{path}#{}", self.inner.deps.site, secret.expose()))
    }

    fn post(&self, to: &StoredMail, occasion: &Occasion) -> Result<(), PostError> {
        let letter = self.letter(to.address.clone(), &to.language, occasion);
        self.noted().waiting += 1;
        self.inner.queue.try_send(Posted { letter, tried: 0 }).map_err(|_| {
            self.noted().waiting -= 1;
            self.lost("missed");
            PostError::Busy
        })
    }

    fn letter(&self, to: MailAddress, language: &str, occasion: &Occasion) -> Letter {
        let deps = &self.inner.deps;
        let Wording { subject, body } = deps.words.words(language, occasion);
        let mut bytes = [0; ID_BYTES];
        chance().fill_bytes(&mut bytes);
        Letter {
            from: deps.from.clone(),
            sender: "Fourfold".to_owned(),
            to,
            subject,
            body,
            language: language.to_owned(),
            id: BASE32_NOPAD.encode(&bytes).to_ascii_lowercase(),
            at: UnixMillis::now(),
        }
    }

    /// Hands a mail over once.
    async fn attempt(&self, letter: &Letter) -> Result<(), SmtpError> {
        let outcome = smtp::deliver(&self.inner.deps.server, letter).await;
        let mut standing = self.noted();
        match &outcome {
            Ok(()) => {
                standing.delivered += 1;
                standing.delivered_at = Some(UnixMillis::now());
                standing.failure = None;
                self.inner.deps.metrics.mail("delivered");
                debug!(to = ?letter.to, "a mail was taken");
            }
            Err(error) => {
                standing.failure = Some(error.to_string());
                self.inner.deps.metrics.mail("failed");
                warn!(to = ?letter.to, %error, "a mail was not taken");
            }
        }
        outcome
    }

    /// A mail is given up.
    fn lost(&self, outcome: &'static str) {
        self.noted().lost += 1;
        self.inner.deps.metrics.mail(outcome);
    }

    fn noted(&self) -> MutexGuard<'_, MailStanding> {
        self.inner.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
