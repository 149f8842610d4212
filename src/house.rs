//! The bots that the daemon itself plays: which there are, and under which accounts.

use std::collections::HashMap;
use std::sync::Arc;

use fourfold_bots::{Bot, BotError, BotSpec, registry};
use fourfold_engine::Variant;
use thiserror::Error;
use tracing::warn;

use crate::config::HouseBot as Configured;
use crate::ids::{PlayerId, PlayerName};
use crate::protocol::server::Identity;
use crate::protocol::terms::PlayerKind;
use crate::storage::record::{BotProfile, StoredPlayer, UnixMillis};
use crate::storage::store::{Store, StoreError, Write};
use crate::storage::writer::{WriteError, Writer};

/// A bot that the daemon itself plays.
#[derive(Clone, Debug)]
pub struct HouseBot {
    /// The account it plays under.
    pub identity: Identity,
    /// Which program plays, with its settings.
    pub spec: BotSpec,
    /// One line on how it plays.
    pub about: String,
}

impl HouseBot {
    /// Builds the program for one game.
    ///
    /// # Errors
    ///
    /// It does not play this variant.
    pub fn build(&self, variant: Variant, seed: u64) -> Result<Box<dyn Bot>, BotError> {
        registry::build(&self.spec.clone().with_default_seed(seed), variant)
    }

    /// Whether it plays this variant.
    #[must_use]
    pub fn plays(&self, variant: Variant) -> bool {
        self.build(variant, 0).is_ok()
    }
}

/// Why the house bots cannot be set up.
#[derive(Debug, Error)]
pub enum HouseError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bot could not be stored.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// All bots that the daemon itself plays. Cheap to clone; it never changes while the daemon runs.
#[derive(Clone, Debug, Default)]
pub struct HouseBots {
    bots: Arc<Vec<HouseBot>>,
    by_id: Arc<HashMap<PlayerId, usize>>,
}

impl HouseBots {
    /// Gives every configured bot its account, a new one if it has none yet.
    ///
    /// A bot whose name belongs to somebody else is left out with a warning: the arena runs without it.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn set_up(
        configured: &[Configured],
        store: &dyn Store,
        writer: &Writer,
    ) -> Result<Self, HouseError> {
        let mut bots = Vec::new();
        for bot in configured {
            let player = match store.player_by_name(&bot.name).await? {
                Some(player) if player.house => player,
                Some(_) => {
                    warn!(name = %bot.name, "the name of a house bot belongs to a player, the bot is left out");
                    continue;
                }
                None => add_account(&bot.name, bot.about(), writer).await?,
            };
            let identity = Identity { id: player.id, name: player.name, kind: PlayerKind::Bot, owner: None };
            bots.push(HouseBot { identity, spec: bot.spec.clone(), about: bot.about().to_owned() });
        }
        let by_id = bots.iter().enumerate().map(|(index, bot)| (bot.identity.id.clone(), index)).collect();
        Ok(Self { bots: Arc::new(bots), by_id: Arc::new(by_id) })
    }

    /// All of them, as configured.
    pub fn iter(&self) -> impl Iterator<Item = &HouseBot> {
        self.bots.iter()
    }

    /// The one with this account.
    #[must_use]
    pub fn get(&self, id: &PlayerId) -> Option<&HouseBot> {
        self.by_id.get(id).map(|index| &self.bots[*index])
    }

    /// The one of this name, without regard to case.
    #[must_use]
    pub fn by_name(&self, name: &PlayerName) -> Option<&HouseBot> {
        let key = name.key();
        self.bots.iter().find(|bot| bot.identity.name.key() == key)
    }
}

async fn add_account(name: &PlayerName, about: &str, writer: &Writer) -> Result<StoredPlayer, WriteError> {
    let player = StoredPlayer {
        id: PlayerId::random(&mut rand::rng()),
        name: name.clone(),
        kind: PlayerKind::Bot,
        house: true,
        owner: None,
        profile: BotProfile {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            about: Some(about.to_owned()),
            url: None,
        },
        created_at: UnixMillis::now(),
    };
    writer.write(Write::AddPlayer { player: player.clone(), password: None }).await?;
    Ok(player)
}
