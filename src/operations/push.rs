//! Has browsers show people something while they are not on the site, by Web Push (RFC 8030).
//!
//! A browser that wants to be told gives an address at its maker's push service, and keys: what is sent there only
//! the browser can read ([`encryption`]), and it says who sends it ([`request`]). Whoever tells, [`actor`], waits for
//! nobody: each notice to each browser is a task of its own, tried again for a while. What waits is in memory: a
//! restart forgets it. A browser that is gone, as its push service says, is forgotten, and no other.

pub(crate) mod actor;
mod encryption;
mod notice;
mod request;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use self::encryption::BrowserKey;
pub(crate) use self::encryption::InvalidBrowserKey;
pub(crate) use self::notice::Notice;
pub(crate) use self::request::Sender;
use self::request::text_of;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::operations::outgoing::{Posting, Target, may_reach, post};
use crate::storage::pushes::StoredPush;
use crate::storage::store::{StoreError, Write};
use crate::storage::webhooks::Outcome;
use crate::storage::writer::WriteError;
use crate::storage::{Store, Writer};
use crate::system::config::IpNetwork;
use crate::system::metrics::Metrics;
use crate::system::shares::{Held, Payer, Refusal, Share, Shares};
use crate::system::tasks::Tasks;

/// Connections to push services at the same time, each for ten seconds at most: a file of the process each. Whoever
/// finds none free waits.
const SENDING_MAX: usize = 32;

/// When a notice that was not taken is sent again, as long as it is worth knowing.
pub(crate) const RETRIES: [Duration; 3] =
    [Duration::from_secs(10), Duration::from_mins(1), Duration::from_mins(10)];

/// Characters of the address of a browser at its push service: the longest known ones have some 600.
pub(crate) const ENDPOINT_CHARS_MAX: usize = 1_024;

/// What is shown, in the language of whoever reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    pub(crate) title: String,
    pub(crate) body: String,
}

/// Who knows the languages.
pub(crate) trait NoticeWords: Debug + Send + Sync {
    /// What a notice says in the language of a tag.
    fn words(&self, language: &str, notice: &Notice) -> Shown;
}

/// What it is built from.
#[derive(Debug)]
pub(crate) struct PushDeps {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    /// How push services know us.
    pub(crate) sender: Sender,
    pub(crate) words: Arc<dyn NoticeWords>,
    /// How much each account may have sent.
    pub(crate) shares: Shares,
    pub(crate) metrics: Arc<Metrics>,
    /// Networks beside the Internet in which push services are, reached without encryption: those of tests.
    pub(crate) allowed: Vec<IpNetwork>,
    pub(crate) tasks: Tasks,
    pub(crate) stop: CancellationToken,
    /// After how long a notice that was not taken is sent again.
    pub(crate) retries: Vec<Duration>,
}

/// Has browsers show notices; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Pusher {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    deps: PushDeps,
    sending: Semaphore,
}

/// A browser as it describes itself.
#[derive(Debug)]
pub(crate) struct NewBrowser {
    pub(crate) endpoint: String,
    pub(crate) p256dh: String,
    pub(crate) auth: String,
    /// Of what it is to show, as a tag.
    pub(crate) language: String,
}

/// Why a browser is told nothing.
#[derive(Debug, Error)]
pub(crate) enum AddError {
    #[error("must be `https://HOST/PATH` of a push service, at most {ENDPOINT_CHARS_MAX} characters")]
    Endpoint,
    #[error("the push service is not on the Internet")]
    Private,
    #[error(transparent)]
    Key(#[from] InvalidBrowserKey),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Why nothing was tried.
#[derive(Debug, Error)]
pub(crate) enum TryError {
    #[error(transparent)]
    Share(#[from] Refusal),
    #[error("too many notices are under way")]
    Busy,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is to be done after an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Taken,
    /// The push service says that there is no such browser any more.
    Gone,
    /// It may go better later.
    Again,
    /// It would go as badly again.
    Refused,
}

impl Verdict {
    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answered(200..=299) => Self::Taken,
            Outcome::Answered(404 | 410) => Self::Gone,
            Outcome::Answered(429 | 500..=599) | Outcome::Failed(_) => Self::Again,
            Outcome::Answered(_) => Self::Refused,
        }
    }

    /// In figures.
    fn word(self) -> &'static str {
        match self {
            Self::Taken => "delivered",
            Self::Gone => "gone",
            Self::Again => "failed",
            Self::Refused => "refused",
        }
    }
}

impl Pusher {
    pub(crate) fn new(deps: PushDeps) -> Self {
        Self { inner: Arc::new(Inner { deps, sending: Semaphore::new(SENDING_MAX) }) }
    }

    /// The key that browsers name when they subscribe.
    pub(crate) fn public_key(&self) -> &str {
        self.inner.deps.sender.public_key()
    }

    /// A browser shows an account's notices from now on, and nobody else's.
    ///
    /// # Errors
    ///
    /// It cannot be reached as it says, or the store failed.
    pub(crate) async fn add(&self, owner: &PlayerId, browser: NewBrowser) -> Result<(), AddError> {
        let NewBrowser { endpoint, p256dh, auth, language } = browser;
        self.target(&endpoint)?;
        // That nothing can be encrypted for it would be seen by nobody later.
        BrowserKey::read(&p256dh, &auth)?.encrypt(&[]).map_err(|_| InvalidBrowserKey)?;
        let owner = owner.clone();
        let push = StoredPush { owner, endpoint, p256dh, auth, language, since: UnixMillis::now() };
        self.inner.deps.writer.write(Write::AddPush(Box::new(push))).await?;
        Ok(())
    }

    /// A browser shows an account's notices no more.
    ///
    /// # Errors
    ///
    /// It does not; or the store failed.
    pub(crate) async fn remove(&self, owner: &PlayerId, endpoint: &str) -> Result<(), WriteError> {
        let write = Write::RemovePush { owner: owner.clone(), endpoint: endpoint.to_owned() };
        self.inner.deps.writer.write(write).await.map(|_| ())
    }

    /// The browsers that show an account's notices, the oldest first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn browsers_of(&self, owner: &PlayerId) -> Result<Vec<StoredPush>, StoreError> {
        self.inner.deps.store.pushes_of(owner).await
    }

    /// Tells somebody something on all browsers that show it. Does not wait for any.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn tell(&self, owner: &PlayerId, notice: &Notice) -> Result<(), StoreError> {
        for push in self.browsers_of(owner).await? {
            let place = match self.place_of(owner) {
                Ok(place) => place,
                Err(refusal) => {
                    self.inner.deps.metrics.push_notice("missed");
                    debug!(%owner, %refusal, "somebody is not told something");
                    continue;
                }
            };
            let (this, notice) = (self.clone(), notice.clone());
            self.inner.deps.tasks.spawn(async move {
                tokio::select! {
                    biased;
                    () = this.inner.deps.stop.cancelled() => {}
                    () = this.deliver(&push, &notice) => {}
                }
                drop(place);
            });
        }
        Ok(())
    }

    /// Sends a notice that tells nothing to all browsers of an account, once, and says how many push services took it.
    ///
    /// # Errors
    ///
    /// Too much is sent, or the store failed.
    pub(crate) async fn try_out(&self, owner: &PlayerId) -> Result<usize, TryError> {
        let mut taken = 0;
        for push in self.browsers_of(owner).await? {
            let _place = self.place_of(owner)?;
            let _sending = self.inner.sending.try_acquire().map_err(|_| TryError::Busy)?;
            taken += usize::from(self.attempt(&push, &Notice::Test).await == Verdict::Taken);
        }
        Ok(taken)
    }

    /// A part of what the account may have sent.
    fn place_of(&self, owner: &PlayerId) -> Result<Held, Refusal> {
        self.inner.deps.shares.hold_and_spend(Share::Push, &Payer::account(owner))
    }

    /// Sends a notice until it is taken, not worth knowing any more, or has failed often enough.
    async fn deliver(&self, push: &StoredPush, notice: &Notice) {
        let ends = Instant::now() + notice.lasts();
        let mut pauses = self.inner.deps.retries.iter().copied();
        loop {
            let Ok(sending) = self.inner.sending.acquire().await else { return };
            let verdict = self.attempt(push, notice).await;
            drop(sending);
            if verdict != Verdict::Again {
                return;
            }
            let pause = pauses.next().filter(|pause| Instant::now() + *pause < ends);
            let Some(pause) = pause else {
                self.inner.deps.metrics.push_notice("lost");
                return;
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends a notice once, and forgets the browser if it is gone.
    async fn attempt(&self, push: &StoredPush, notice: &Notice) -> Verdict {
        let deps = &self.inner.deps;
        let verdict = match self.posting(push, notice) {
            Some((target, posting)) => {
                let outcome = post(&target, &deps.allowed, &posting).await;
                debug!(owner = %push.owner, %outcome, "a notice to a browser");
                Verdict::of(outcome)
            }
            None => Verdict::Refused,
        };
        deps.metrics.push_notice(verdict.word());
        if verdict == Verdict::Gone
            && let Err(error) = self.remove(&push.owner, &push.endpoint).await
        {
            // The next notice finds it gone again.
            debug!(owner = %push.owner, %error, "a browser that is gone is not forgotten");
        }
        verdict
    }

    /// What is sent where, unless the browser was stored by other rules.
    fn posting(&self, push: &StoredPush, notice: &Notice) -> Option<(Target, Posting)> {
        let deps = &self.inner.deps;
        let target = self.target(&push.endpoint).ok()?;
        let shown = deps.words.words(&push.language, notice);
        let text = text_of(&shown, notice, &push.language);
        let body = BrowserKey::read(&push.p256dh, &push.auth).ok()?.encrypt(text.as_bytes());
        let body = body.map_err(|error| warn!(%error, "a notice could not be encrypted")).ok()?;
        let posting = deps.sender.posting(&target, notice, body, UnixMillis::now())?;
        Some((target, posting))
    }

    /// Where a browser is reached: encrypted, and on the Internet.
    fn target(&self, endpoint: &str) -> Result<Target, AddError> {
        let target = Target::read(endpoint, ENDPOINT_CHARS_MAX).map_err(|_| AddError::Endpoint)?;
        let allowed = &self.inner.deps.allowed;
        let is_ours =
            target.address().is_some_and(|address| allowed.iter().any(|network| network.contains(address)));
        if !target.is_encrypted && !is_ours {
            return Err(AddError::Endpoint);
        }
        // Of a name it is looked up for each notice, since others say where it leads.
        if target.address().is_some_and(|address| !may_reach(address, allowed)) {
            return Err(AddError::Private);
        }
        Ok(target)
    }
}
