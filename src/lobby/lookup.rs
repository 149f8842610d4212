//! What the store knows of players, read by whoever asks the lobby, so that the lobby itself never waits for a disk.

use std::sync::Arc;

use fourfold_engine::Variant;

use super::challenge::Party;
use crate::accounts::identity_of;
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::rating::elo::NEWCOMER_ELO;
use crate::play::incident::failure;
use crate::play::presence::Sessions;
use crate::play::ratings::ShownRatings;
use crate::protocol::terms::WirePlayer;
use crate::protocol::{ErrorCode, WireError};
use crate::storage::{Store, StoreError};

/// Characters of an unknown name that are repeated: names have at most 20.
const SHOWN_CHARS_MAX: usize = 40;

/// Elo points of one player in each variant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ratings {
    kind: PlayerKind,
    known: Vec<(Variant, i32)>,
}

impl Ratings {
    /// The points in a variant; guests have none.
    pub(super) fn elo(&self, variant: Variant) -> Option<i32> {
        match self.kind {
            PlayerKind::Guest => None,
            PlayerKind::Human | PlayerKind::Bot => {
                let row = self.known.iter().find(|(known, _)| *known == variant);
                Some(row.map_or(NEWCOMER_ELO, |(_, elo)| *elo))
            }
        }
    }
}

/// Reads players and ratings.
#[derive(Clone, Debug)]
pub(super) struct PlayerLookup {
    pub(super) store: Arc<dyn Store>,
    pub(super) ratings: ShownRatings,
    pub(super) sessions: Sessions,
}

impl PlayerLookup {
    /// Whoever has this name. Guests who have not played yet are not stored, but connected.
    pub(super) async fn player(&self, name: &str) -> Result<Identity, WireError> {
        let unknown = || WireError::new(ErrorCode::NoSuchPlayer, format!("nobody is called {}", shown(name)));
        let name = name.parse().map_err(|_| unknown())?;
        // One name in millions of guests is had twice until the second plays; of two, whoever is here is meant.
        if let Some(connected) = self.sessions.by_name(&name) {
            return Ok(connected);
        }
        let stored = self.store.player_by_name(&name).await.map_err(unreadable)?;
        stored.as_ref().map(identity_of).ok_or_else(unknown)
    }

    /// A player as offers show it.
    pub(super) async fn party(&self, identity: Identity, variant: Variant) -> Result<Party, WireError> {
        self.stored_party(identity, variant).await.map_err(unreadable)
    }

    /// The same of somebody whose offer an earlier process has stored.
    pub(super) async fn stored_party(
        &self,
        identity: Identity,
        variant: Variant,
    ) -> Result<Party, StoreError> {
        let rating = self.ratings.of(self.store.as_ref(), &identity, variant).await?;
        let shown = WirePlayer::new(&identity, rating, self.sessions.version_of(&identity.id));
        Ok(Party { identity, shown })
    }

    /// A player's points in one variant; guests have none.
    pub(super) async fn elo(&self, identity: &Identity, variant: Variant) -> Result<Option<i32>, WireError> {
        let rating = self.ratings.of(self.store.as_ref(), identity, variant).await.map_err(unreadable)?;
        Ok(rating.map(|rating| rating.elo))
    }

    /// A player's points in all variants.
    pub(super) async fn ratings(&self, identity: &Identity) -> Result<Ratings, WireError> {
        let rows = self.ratings.all_of(self.store.as_ref(), identity).await.map_err(unreadable)?;
        let known = rows.into_iter().map(|(variant, rating)| (variant, rating.elo));
        Ok(Ratings { kind: identity.kind, known: known.collect() })
    }
}

/// A name that may be any text, short enough for a message.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(SHOWN_CHARS_MAX).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it serves `map_err`")]
fn unreadable(cause: StoreError) -> WireError {
    failure("the store could not be read", &cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance::{add, player};
    use crate::testing::Arena;

    #[tokio::test(start_paused = true)]
    async fn of_two_guests_of_one_name_whoever_is_here_is_meant() {
        let arena = Arena::new().await;
        let here = arena.guest().await;
        let services = &arena.services;
        let identity = services.sessions.by_name(&here.welcome.you.name).unwrap();
        let earlier = player(identity.name.as_str(), PlayerKind::Guest);
        assert_ne!(earlier.id, identity.id);
        services.writer.write(add(earlier.clone())).await.unwrap();
        let lookup = PlayerLookup {
            store: Arc::clone(&services.store),
            ratings: services.host.ratings().clone(),
            sessions: services.sessions.clone(),
        };
        assert_eq!(lookup.player(identity.name.as_str()).await, Ok(identity.clone()));
        here.leave().await;
        assert_eq!(lookup.player(identity.name.as_str()).await, Ok(identity_of(&earlier)));
    }
}
