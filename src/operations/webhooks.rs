//! Tells owners of bots at an address of theirs what happens to their bots.
//!
//! A message is signed as [Standard Webhooks](https://www.standardwebhooks.com) has it, with a key that its receiver
//! has too, and sent again after a while if it is not taken. What waits to be sent again is in memory: a restart
//! forgets it. An address that takes nothing any more is left alone until its owner sets or tries it again. Nobody
//! waits for any of this: ends of games are heard of after they are stored and told, and each message is a task of its
//! own.

pub(crate) mod actor;
mod event;
mod message;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use rand::Rng as _;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use self::event::Event;
use self::message::{Message, SigningKey};
use crate::model::ids::PlayerId;
use crate::model::player::Identity;
use crate::model::secret::Secret;
use crate::model::signing::{Purpose, Signer};
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::operations::outgoing::{InvalidTarget, Target, may_reach, post};
use crate::storage::store::{StoreError, Write};
use crate::storage::webhooks::{Delivery, DeliveryNote, NoAnswer, Outcome, StoredWebhook};
use crate::storage::writer::WriteError;
use crate::storage::{Store, Writer};
use crate::system::config::IpNetwork;
use crate::system::metrics::Metrics;
use crate::system::shares::{Held, Payer, Refusal, Share, Shares};
use crate::system::tasks::Tasks;

/// Connections to receivers at the same time, each for ten seconds at most: a file of the process each. Whoever finds
/// none free waits. One account fills a part of them only, by [`Share::Webhook`].
const SENDING_MAX: usize = 64;

/// When a message that was not taken is sent again: a receiver that is started anew hears of all that happened
/// meanwhile, one that is gone costs five attempts.
pub(crate) const RETRIES: [Duration; 4] =
    [Duration::from_secs(10), Duration::from_mins(1), Duration::from_mins(10), Duration::from_hours(1)];

/// Attempts that fail one after the other before an address is left alone: four games whose messages nobody took.
const FAILURES_MAX: u32 = 20;

/// Random bytes from which, with the key of the data directory, the key of the signatures is made.
const SALT_BYTES: usize = 16;

/// Sends messages; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Webhooks {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    deps: WebhookDeps,
    sending: Semaphore,
}

/// What it is built from.
#[derive(Debug)]
pub(crate) struct WebhookDeps {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    pub(crate) signer: Signer,
    /// How much each account may have sent.
    pub(crate) shares: Shares,
    pub(crate) metrics: Arc<Metrics>,
    /// Networks of the operator's own that messages may go to.
    pub(crate) allowed: Vec<IpNetwork>,
    pub(crate) tasks: Tasks,
    pub(crate) stop: CancellationToken,
    /// After how long a message that was not taken is sent again.
    pub(crate) retries: Vec<Duration>,
}

/// Why an address was not set.
#[derive(Debug, Error)]
pub(crate) enum SetError {
    #[error(transparent)]
    Target(#[from] InvalidTarget),
    #[error("the host is not on the Internet")]
    Private,
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Why an address was not tried.
#[derive(Debug, Error)]
pub(crate) enum PingError {
    #[error("there is no such webhook")]
    NoWebhook,
    #[error(transparent)]
    Share(#[from] Refusal),
    #[error("too many messages are under way")]
    Busy,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StoredWebhook {
    /// Whether nothing is sent there any more, for too much failed.
    pub(crate) fn is_paused(&self) -> bool {
        self.failures >= FAILURES_MAX
    }
}

impl Webhooks {
    pub(crate) fn new(deps: WebhookDeps) -> Self {
        Self { inner: Arc::new(Inner { deps, sending: Semaphore::new(SENDING_MAX) }) }
    }

    /// Sets the address of an account. What comes back is the key of its signatures.
    ///
    /// # Errors
    ///
    /// It is no address, or one of a network that messages do not go to; or the store failed.
    pub(crate) async fn set(&self, owner: &PlayerId, url: &str) -> Result<Secret, SetError> {
        let target: Target = url.parse()?;
        // Of a name it is looked up for each message, since others say where it leads.
        if target.address().is_some_and(|address| !may_reach(address, &self.inner.deps.allowed)) {
            return Err(SetError::Private);
        }
        let mut bytes = [0; SALT_BYTES];
        chance().fill_bytes(&mut bytes);
        let webhook = StoredWebhook {
            owner: owner.clone(),
            url: url.to_owned(),
            salt: BASE32_NOPAD.encode(&bytes),
            since: UnixMillis::now(),
            failures: 0,
            last: None,
        };
        let secret = self.key_of(&webhook).shown();
        self.inner.deps.writer.write(Write::SetWebhook(webhook)).await?;
        Ok(secret)
    }

    /// Takes the address of an account away.
    ///
    /// # Errors
    ///
    /// There is none; or the store failed.
    pub(crate) async fn remove(&self, owner: &PlayerId) -> Result<(), WriteError> {
        self.inner.deps.writer.write(Write::RemoveWebhook { owner: owner.clone() }).await.map(|_| ())
    }

    /// The address of an account, if it has one.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn of(&self, owner: &PlayerId) -> Result<Option<StoredWebhook>, StoreError> {
        self.inner.deps.store.webhook(owner).await
    }

    /// Tells the owner of a bot something, if it wants to hear. Does not wait for anybody.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn tell(&self, owner: &PlayerId, event: &Event) -> Result<(), StoreError> {
        let Some(webhook) = self.of(owner).await?.filter(|webhook| !webhook.is_paused()) else {
            return Ok(());
        };
        let place = match self.place_of(owner) {
            Ok(place) => place,
            Err(refusal) => {
                self.missed(1);
                debug!(%owner, %refusal, "the owner of a bot is not told something");
                return Ok(());
            }
        };
        let (this, message) = (self.clone(), Message::about(event));
        self.inner.deps.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = this.inner.deps.stop.cancelled() => {}
                () = this.deliver(webhook, message) => {}
            }
            drop(place);
        });
        Ok(())
    }

    /// Sends the owner of an address a message that says nothing, once, and says how that went. One that is taken ends
    /// the pause of an address.
    ///
    /// # Errors
    ///
    /// There is no address, or too much is sent; or the store failed.
    pub(crate) async fn ping(&self, owner: &Identity) -> Result<Outcome, PingError> {
        let webhook = self.of(&owner.id).await?.ok_or(PingError::NoWebhook)?;
        let _place = self.place_of(&owner.id)?;
        let _sending = self.inner.sending.try_acquire().map_err(|_| PingError::Busy)?;
        let message = Message::about(&Event::Ping { account: owner.name.clone() });
        let outcome = self.attempt(&webhook, &message).await;
        // It is shown all the same if it cannot be noted.
        let _noted = self.note(&webhook, outcome).await;
        Ok(outcome)
    }

    /// A part of what the account may have sent.
    fn place_of(&self, owner: &PlayerId) -> Result<Held, Refusal> {
        self.inner.deps.shares.hold_and_spend(Share::Webhook, &Payer::account(owner))
    }

    /// Sends a message until it is taken, its address is another one or left alone, or it has failed often enough.
    async fn deliver(&self, webhook: StoredWebhook, message: Message) {
        let mut pauses = self.inner.deps.retries.iter().copied();
        loop {
            let Ok(sending) = self.inner.sending.acquire().await else { return };
            let outcome = self.attempt(&webhook, &message).await;
            drop(sending);
            let noted = self.note(&webhook, outcome).await;
            if outcome.is_delivered() || matches!(noted, Err(WriteError::Refused(_))) {
                return;
            }
            let Some(pause) = pauses.next() else { return };
            tokio::time::sleep(pause).await;
            let is_wanted = |now: &StoredWebhook| now.salt == webhook.salt && !now.is_paused();
            if !self.of(&webhook.owner).await.is_ok_and(|now| now.as_ref().is_some_and(is_wanted)) {
                return;
            }
        }
    }

    /// Sends a message once.
    async fn attempt(&self, webhook: &StoredWebhook, message: &Message) -> Outcome {
        let deps = &self.inner.deps;
        let signed = message.signed(&self.key_of(webhook), UnixMillis::now());
        let outcome = match webhook.url.parse::<Target>() {
            Ok(target) => post(&target, &deps.allowed, &signed.posting()).await,
            Err(_) => Outcome::Failed(NoAnswer::UnknownHost), // by the rules of an earlier version
        };
        deps.metrics.webhook_message(if outcome.is_delivered() { "delivered" } else { "failed" }, 1);
        debug!(owner = %webhook.owner, %outcome, "a message to the owner of a bot");
        outcome
    }

    async fn note(&self, webhook: &StoredWebhook, outcome: Outcome) -> Result<(), WriteError> {
        let delivery = Delivery { at: UnixMillis::now(), outcome };
        let note = DeliveryNote { owner: webhook.owner.clone(), salt: webhook.salt.clone(), delivery };
        self.inner.deps.writer.write(Write::NoteDelivery(note)).await.map(|_| ())
    }

    /// So many messages were not even tried.
    fn missed(&self, messages: u64) {
        self.inner.deps.metrics.webhook_message("missed", messages);
    }

    /// The key of the signatures, which the database alone does not tell.
    fn key_of(&self, webhook: &StoredWebhook) -> SigningKey {
        let text = format!("{} {}", webhook.owner, webhook.salt);
        SigningKey::new(self.inner.deps.signer.derive(Purpose::Webhook, &text))
    }
}
