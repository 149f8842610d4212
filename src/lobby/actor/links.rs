//! Challenges that stand for long, links above all: stored before anybody hears of them, closed with whatever ends
//! them, and taken up again by the next process.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use tokio::sync::oneshot;
use tracing::info;

use super::{LobbyActor, RETRY, lookup};
use crate::lobby::challenge::PendingChallenge;
use crate::lobby::handle::{LinkStored, LobbyCommand};
use crate::lobby::links::{stored, take_up, unstored};
use crate::model::clock::now;
use crate::model::ids::PlayerId;
use crate::play::room::handle::ReplyTo;
use crate::protocol::server::ChallengeOutcome;
use crate::protocol::{ErrorCode, WireError};
use crate::storage::StoreError;
use crate::storage::store::Write;

/// How long after a start the links of guests wait for them: half a minute longer than their sessions can be resumed.
/// Whoever is not back then may never come.
const GUESTS_RETURN: Duration = Duration::from_secs(150);
/// Links that are looked at together at the start: enough that the way to a database server does not count.
const TAKEN_UP_TOGETHER: usize = 16;

impl LobbyActor {
    /// Opens the links of an earlier process again, and closes those that have ended meanwhile.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn take_up_links(&mut self) -> Result<(), StoreError> {
        let (lookup, at) = (lookup(&self.deps), now());
        let links = self.deps.store.links().await?;
        let looked_at = futures::stream::iter(links).map(|link| {
            let (lookup, id) = (&lookup, link.id.clone());
            async move { Ok::<_, StoreError>((id, take_up(lookup, link, at).await?)) }
        });
        let looked_at: Vec<_> = looked_at.buffered(TAKEN_UP_TOGETHER).try_collect().await?;
        let mut count = 0_usize;
        for (id, taken_up) in looked_at {
            let Some(link) = taken_up else {
                self.deps.writer.submit(Write::CloseLink(id), |_| {});
                continue;
            };
            self.challenges.insert(link.challenge, link.key, link.asked, at);
            count += 1;
        }
        self.guests_return = Some(at + GUESTS_RETURN);
        if count > 0 {
            info!(links = count, "open challenges taken up");
        }
        Ok(())
    }

    /// Closes the links of guests who have not come back after a restart.
    pub(super) fn forget_guests(&mut self, now: Instant) {
        if self.guests_return.is_none_or(|until| now < until) {
            return;
        }
        self.guests_return = None;
        let makers = self.challenges.guests_with_links().into_iter();
        let gone: Vec<PlayerId> = makers.filter(|guest| self.deps.sessions.of(guest).is_empty()).collect();
        for guest in gone {
            for challenge in self.challenges.remove_from(&guest, now) {
                self.end(&challenge, ChallengeOutcome::Canceled, None);
            }
        }
    }

    /// Stores a link that was just made, of which everybody is told when that is done.
    pub(super) fn store_link(&self, challenge: &PendingChallenge, key: Option<String>, reply: &ReplyTo) {
        let write = Write::OpenLink(Box::new(stored(challenge, key.clone())));
        let (told, answer) = oneshot::channel();
        // In the order of requests, so that it is never closed before it is opened.
        self.deps.writer.submit(write, move |result| {
            // The lobby may be gone, while the daemon stops.
            let _ = told.send(result);
        });
        let (lobby, reply, id) = (self.own.clone(), reply.clone(), challenge.id.clone());
        let from = challenge.from.identity.id.clone();
        self.deps.tasks.spawn(async move {
            let Ok(result) = answer.await else { return };
            if let Some(lobby) = lobby.upgrade() {
                // A lobby that has stopped has no links.
                let stored = LinkStored { id, from, key, reply, result: result.map(|_| ()) };
                let _ = lobby.send(LobbyCommand::LinkStored(Box::new(stored))).await;
            }
        });
    }

    /// A link is durable, or could not be made so.
    pub(super) fn link_stored(&mut self, stored: LinkStored) {
        let LinkStored { id, from, key, reply, result } = stored;
        if let Err(error) = result {
            self.challenges.undo(&id, &from, key);
            reply.send(&unstored(&error).into());
            return;
        }
        let Some(challenge) = self.challenges.get(&id).cloned() else {
            // Its maker is gone, with whom it went, or the lobby has failed meanwhile.
            self.deps.writer.submit(Write::CloseLink(id), |_| {});
            let error = WireError::new(ErrorCode::Busy, "the challenge was not made: try again");
            reply.send(&error.retry_in(RETRY).into());
            return;
        };
        self.announce(challenge, &reply);
    }

    /// A link is none any more, for whatever reason.
    pub(super) fn close_link(&self, challenge: &PendingChallenge) {
        if challenge.is_stored() {
            self.deps.writer.submit(Write::CloseLink(challenge.id.clone()), |_| {});
        }
    }
}
