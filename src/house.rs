//! The bots that the daemon itself plays: which there are, and under which accounts.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use fourfold_bots::{Bot, BotSpec, registry};
use fourfold_engine::Variant;
use thiserror::Error;
use tracing::warn;

use crate::bot_files::{self, BotFileError};
use crate::config::HouseBot as Configured;
use crate::ids::{PlayerId, PlayerName};
use crate::protocol::server::Identity;
use crate::protocol::terms::PlayerKind;
use crate::rating::strength::Strength;
use crate::storage::record::{BotProfile, StoredPlayer, UnixMillis};
use crate::storage::store::{Store, StoreError, Write};
use crate::storage::writer::{WriteError, Writer};

/// A bot that the daemon itself plays.
#[derive(Clone, Debug)]
pub struct HouseBot {
    /// The account it plays under.
    pub identity: Identity,
    /// Which program plays, with its settings; a file that it keeps what it learns in is named in full.
    pub spec: BotSpec,
    /// How it plays, in one word.
    pub style: &'static str,
    /// How strong it is, if that is known.
    pub strength: Option<Strength>,
    /// One line on how it plays.
    pub about: String,
}

impl HouseBot {
    /// Builds the program for one game, with what it has learnt until now.
    ///
    /// # Errors
    ///
    /// It does not play this variant, or the file with what it has learnt is broken.
    pub fn build(&self, variant: Variant, seed: u64) -> Result<Box<dyn Bot>, BotFileError> {
        bot_files::build(&self.spec.clone().with_default_seed(seed), variant)
    }

    /// Whether it plays this variant.
    #[must_use]
    pub fn plays(&self, variant: Variant) -> bool {
        registry::build_taught(&self.spec, variant, "").is_ok()
    }

    /// What keeps its lessons, if it learns from its games.
    #[must_use]
    pub fn learns_as(&self) -> Option<BotSpec> {
        bot_files::knowledge_file(&self.spec).map(|_| self.spec.clone())
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
    /// A bot whose name belongs to somebody else, or whose file is broken, is left out with a warning: the arena runs
    /// without it. Files are looked for in the directory `files`.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn set_up(
        configured: &[Configured],
        files: &Path,
        store: &dyn Store,
        writer: &Writer,
    ) -> Result<Self, HouseError> {
        let mut bots = Vec::new();
        for bot in configured {
            let spec = match bot_files::with_files_read(&bot_files::below(&bot.spec, files)) {
                Ok(spec) => spec,
                Err(error) => {
                    warn!(name = %bot.name, error = %error, "a house bot cannot be built and is left out");
                    continue;
                }
            };
            let player = match store.player_by_name(&bot.name).await? {
                Some(player) if player.house => player,
                Some(_) => {
                    warn!(name = %bot.name, "the name of a house bot belongs to a player, the bot is left out");
                    continue;
                }
                None => add_account(&bot.name, bot.about(), writer).await?,
            };
            let identity = Identity { id: player.id, name: player.name, kind: PlayerKind::Bot, owner: None };
            let (style, strength, about) = (bot.style(), bot.strength, bot.about().to_owned());
            bots.push(HouseBot { identity, spec, style, strength, about });
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
