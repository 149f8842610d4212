//! Who sits at games that are taken up: read for all of them at once, for each read may be a way to a server and back.

use std::collections::{HashMap, HashSet};

use fourfold_engine::{BySide, Side, Variant};

use super::{Host, StartError};
use crate::accounts::identity_of;
use crate::model::ids::PlayerId;
use crate::play::room::view::SeatedPlayer;
use crate::storage::record::{GameSpec, RatingRow, StoredGame, StoredPlayer};
use crate::storage::store::StoreError;

/// Players and their live ratings, as they are stored.
#[derive(Debug)]
pub(super) struct Seats {
    players: HashMap<PlayerId, StoredPlayer>,
    ratings: HashMap<(PlayerId, Variant), RatingRow>,
}

impl Host {
    /// Reads whoever sits at these games: one question about all players, and one for each kind of board.
    pub(super) async fn read_seats(&self, games: &[StoredGame]) -> Result<Seats, StoreError> {
        let store = &self.inner.deps.store;
        let mut by_variant: HashMap<Variant, HashSet<&PlayerId>> = HashMap::new();
        for game in games {
            let seated = by_variant.entry(game.spec.variant).or_default();
            seated.extend([&game.spec.players.first, &game.spec.players.second]);
        }
        let mut ratings = HashMap::new();
        let mut all = HashSet::new();
        for (variant, players) in by_variant {
            let ids: Vec<PlayerId> = players.iter().copied().cloned().collect();
            let rows = store.ratings_of_players(&ids, variant).await?;
            ratings.extend(rows.into_iter().map(|(player, row)| ((player, variant), row)));
            all.extend(ids);
        }
        let players = store.players(&Vec::from_iter(all)).await?;
        let players = players.into_iter().map(|player| (player.id.clone(), player)).collect();
        Ok(Seats { players, ratings })
    }

    /// The two at a game.
    pub(super) fn seats_of(
        &self,
        seats: &Seats,
        spec: &GameSpec,
    ) -> Result<BySide<SeatedPlayer>, StartError> {
        let seat = |side: Side| -> Result<SeatedPlayer, StartError> {
            let id = &spec.players[side];
            let player = seats.players.get(id);
            let player = player.ok_or_else(|| StartError::Unreadable(format!("there is no player {id}")))?;
            let identity = identity_of(player);
            let row = seats.ratings.get(&(id.clone(), spec.variant)).copied();
            let rating = self.inner.ratings.of_row(&identity, spec.variant, row);
            Ok(SeatedPlayer { version: self.version_of(id), identity, rating })
        };
        Ok(BySide { first: seat(Side::First)?, second: seat(Side::Second)? })
    }
}
