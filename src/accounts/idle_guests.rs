//! Guests whom nobody comes back to: looked for now and then, a few at a time, and replaced as new ones come, so that
//! the store does not grow with every visitor who tried one puzzle.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{Accounts, GUEST_LIFETIME_MS};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::store::IdleGuests;

/// How often they are looked for.
const LOOK_EVERY: Duration = Duration::from_mins(10);

/// How many are found at a time; more wait for the next time.
const FOUND_MAX: u32 = 1_000;

/// Whoever was stored for a game that did not come about is not needed for longer than a day.
const UNUSED_MS: i64 = 24 * 60 * 60 * 1_000;

/// Whom the last look found, the oldest first.
#[derive(Debug, Default)]
pub(super) struct IdleGuestRows {
    found: Mutex<VecDeque<PlayerId>>,
}

impl IdleGuestRows {
    /// One of them, and what was idle about it: it may have come back since.
    pub(super) fn take(&self) -> Option<(PlayerId, IdleGuests)> {
        self.lock().pop_front().map(|guest| (guest, idle_at(UnixMillis::now())))
    }

    /// The lock is held to take or put.
    fn lock(&self) -> MutexGuard<'_, VecDeque<PlayerId>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// After the life of its cookie nobody can be that guest any more.
fn idle_at(now: UnixMillis) -> IdleGuests {
    IdleGuests {
        stored_before: UnixMillis(now.0 - UNUSED_MS),
        tried_before: UnixMillis(now.0 - GUEST_LIFETIME_MS),
    }
}

impl Accounts {
    /// Looks for such guests until the daemon stops.
    pub(crate) async fn look_for_idle_guests(self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = tick.tick() => self.find_idle_guests(UnixMillis::now()).await,
            }
        }
    }

    pub(super) async fn find_idle_guests(&self, now: UnixMillis) {
        match self.inner.store.idle_guests(idle_at(now), FOUND_MAX).await {
            Ok(found) => {
                debug!(guests = found.len(), "guests whom nobody comes back to");
                *self.inner.idle_guests.lock() = found.into();
            }
            Err(error) => warn!(%error, "guests whom nobody comes back to cannot be looked for"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::player::PlayerKind;
    use crate::model::signing::{KEY_BYTES, Signer};
    use crate::storage::conformance::player;
    use crate::storage::record::StoredPlayer;
    use crate::storage::store::{Store, Write};
    use crate::storage::{MemoryStore, Writer};
    use crate::system::shares::Shares;

    #[tokio::test]
    async fn a_new_guest_takes_the_place_of_one_whom_nobody_comes_back_to() {
        let store = Arc::new(MemoryStore::new()) as Arc<dyn Store>;
        let (writer, actor) = Writer::new(Arc::clone(&store));
        tokio::spawn(actor.run());
        let signer = Signer::new(&[1; KEY_BYTES]);
        let accounts = Accounts::new(Arc::clone(&store), writer.clone(), signer, Shares::default());
        let now = UnixMillis::now();
        for (name, age_ms) in [("guest-old", UNUSED_MS + 1), ("guest-new", UNUSED_MS - 60_000)] {
            let created_at = UnixMillis(now.0 - age_ms);
            let player = StoredPlayer { created_at, ..player(name, PlayerKind::Guest) };
            writer.write(Write::AddPlayer { player, password: None }).await.unwrap();
        }
        accounts.find_idle_guests(now).await;
        for name in ["guest-old", "guest-new"] {
            let guest = accounts.new_guest().identity;
            let stored = accounts.ensure_guest_stored(&guest).await.unwrap();
            assert!(store.player(&stored.id).await.unwrap().is_some());
            let is_kept = store.player_by_name(&name.parse().unwrap()).await.unwrap().is_some();
            assert_eq!(is_kept, name == "guest-new");
        }
    }
}
