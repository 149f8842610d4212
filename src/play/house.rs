//! The bots that the daemon itself plays: which there are, and under which accounts.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use fourfold_arena::program::ProgramError;
use fourfold_bots::{Bot, BotError, BotSpec, Knowledge, registry};
use fourfold_engine::Variant;
use thiserror::Error;
use tracing::warn;

use crate::system::bot_files;

use super::house_program::{HouseProgram, ProgramSeat};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::model::rating::elo::MilliElo;
use crate::model::rating::level::Level;
use crate::model::rating::strength::Strength;
use crate::storage::record::{BotProfile, StoredPlayer};
use crate::system::bot_files::BotFileError;
use crate::system::config::{HouseBotConfig as Configured, HouseSpec, ProgramsConfig};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::store::{Store, StoreError, Write};
use crate::storage::writer::{WriteError, Writer};

/// A bot that the daemon itself plays.
#[derive(Clone, Debug)]
pub(crate) struct HouseBot {
    /// The account it plays under.
    pub(crate) identity: Identity,
    pub(crate) source: BotSource,
    /// How it plays, in one word.
    pub(crate) style: &'static str,
    /// How strong it is, if that is known.
    pub(crate) strength: Option<Strength>,
    /// Which of the characters it is, if it is one.
    pub(crate) level: Option<Level>,
    /// How strong it was found to be beforehand, in Elo points above `random`.
    pub(crate) elo: Option<i32>,
    /// One line on how it plays.
    pub(crate) about: String,
}

/// What plays as a house bot.
#[derive(Clone, Debug)]
pub(crate) enum BotSource {
    /// A bot that is built in, with its settings; a file that it keeps what it learns in is named in full.
    Fixed(BotSpec),
    /// On the standard board it plays with what a learner knows when the game begins; on others it is built anew.
    Learner(BotSpec, LearnerKnowledge),
    /// A program of the operator's.
    Program(HouseProgram),
}

/// What a learner knows; replaced as a whole while games are played with what it knew before. Its learner alone writes,
/// games that begin read, under a lock that is held for one pointer.
#[derive(Clone, Debug)]
pub(crate) struct LearnerKnowledge(Arc<RwLock<Arc<dyn Knowledge>>>);

impl LearnerKnowledge {
    /// What is known at first.
    pub(crate) fn new(knowledge: Arc<dyn Knowledge>) -> Self {
        Self(Arc::new(RwLock::new(knowledge)))
    }

    /// What is known now.
    pub(crate) fn now(&self) -> Arc<dyn Knowledge> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Games that begin from now on are played with this.
    pub(crate) fn replace(&self, knowledge: Arc<dyn Knowledge>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = knowledge;
    }
}

impl HouseBot {
    /// Builds the bot for one game, with what it has learnt until now.
    ///
    /// # Errors
    ///
    /// It does not play this variant, is a program of the operator's, or the file with what it has learnt is broken.
    pub(crate) fn build(&self, variant: Variant, seed: u64) -> Result<Box<dyn Bot>, BotFileError> {
        let spec = match &self.source {
            BotSource::Learner(_, learnt) if variant == Variant::STANDARD => {
                return Ok(learnt.now().player(seed));
            }
            BotSource::Program(_) => {
                let bot = self.identity.name.to_string();
                return Err(BotError::OtherBot { bot, wanted: "one of the bots that are built in" }.into());
            }
            // On other boards learners begin with nothing.
            BotSource::Learner(spec, _) | BotSource::Fixed(spec) => spec,
        };
        bot_files::build_to_learn(&spec.clone().with_default_seed(seed), variant)
    }

    /// What sits down for one game.
    ///
    /// # Errors
    ///
    /// As [`Self::build`].
    pub(crate) fn mind(&self, variant: Variant, seed: u64) -> Result<Mind, BotFileError> {
        match self.program() {
            Some(program) => Ok(Mind::Program(program.seat(variant))),
            None => self.build(variant, seed).map(Mind::Bot),
        }
    }

    /// Whether it plays this variant.
    pub(crate) fn plays(&self, variant: Variant) -> bool {
        let spec = match &self.source {
            BotSource::Program(program) => return program.plays(variant),
            BotSource::Fixed(spec) | BotSource::Learner(spec, _) => spec,
        };
        // Nothing is read: nothing at all makes an empty memory, but no network, which is no matter of the variant.
        let built = registry::build_taught(spec, variant, "");
        !matches!(built, Err(BotError::VariantNotPlayed { .. }))
    }

    /// Whether a file is read when it is built.
    pub(crate) fn reads_a_file(&self) -> bool {
        match &self.source {
            BotSource::Learner(..) | BotSource::Program(_) => false,
            BotSource::Fixed(spec) => bot_files::knowledge_file(spec).is_some(),
        }
    }

    /// What keeps its lessons, if it learns from its games into a file.
    pub(crate) fn learns_as(&self) -> Option<BotSpec> {
        let BotSource::Fixed(spec) = &self.source else { return None };
        (self.reads_a_file() && bot_files::keeps_lessons(spec)).then(|| spec.clone())
    }

    /// Its settings, if they say all that it knows.
    pub(crate) fn settings(&self) -> Option<&BotSpec> {
        match &self.source {
            BotSource::Fixed(spec) => Some(spec),
            BotSource::Learner(..) | BotSource::Program(_) => None,
        }
    }

    /// The program of the operator's that plays, if one does.
    pub(crate) fn program(&self) -> Option<&HouseProgram> {
        match &self.source {
            BotSource::Program(program) => Some(program),
            BotSource::Fixed(_) | BotSource::Learner(..) => None,
        }
    }
}

/// What plays one game.
pub(crate) enum Mind {
    Bot(Box<dyn Bot>),
    Program(ProgramSeat),
}

impl Mind {
    /// Whether it may begin without waiting for another game's end.
    pub(crate) fn has_place(&self) -> bool {
        match self {
            Self::Bot(_) => true,
            Self::Program(seat) => seat.has_place(),
        }
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

/// All bots that the daemon itself plays. Cheap to clone; bots may join while the daemon runs, none leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct HouseBots {
    /// Learning adds to it, everybody reads: an immutable list, replaced under a lock that is held for one pointer.
    line_up: Arc<RwLock<Arc<Vec<Arc<HouseBot>>>>>,
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
    pub(crate) async fn set_up(
        configured: &[Configured],
        programs: &ProgramsConfig,
        files: &Path,
        store: &dyn Store,
        writer: &Writer,
    ) -> Result<Self, HouseError> {
        let house = Self::default();
        for bot in configured {
            let source = match source(bot, programs, files, writer) {
                Ok(source) => source,
                Err(error) => {
                    warn!(name = %bot.name, error = %error, "a house bot cannot be built and is left out");
                    continue;
                }
            };
            if let Some(identity) = Self::account(&bot.name, bot.about(), bot.elo(), store, writer).await? {
                let (style, strength, about) = (bot.style(), bot.strength, bot.about().to_owned());
                house.join(HouseBot {
                    identity,
                    source,
                    style,
                    strength,
                    level: bot.level,
                    elo: bot.elo(),
                    about,
                });
            }
        }
        Ok(house)
    }

    /// The account of a house bot, a new one if it has none yet, which begins with what was measured. `None`, with a
    /// warning, if its name belongs to somebody else: the arena runs without it.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn account(
        name: &PlayerName,
        about: &str,
        elo: Option<i32>,
        store: &dyn Store,
        writer: &Writer,
    ) -> Result<Option<Identity>, HouseError> {
        let player = match store.player_by_name(name).await? {
            Some(player) if player.house => player,
            Some(_) => {
                warn!(name = %name, "the name of a house bot belongs to a player, the bot is left out");
                return Ok(None);
            }
            None => add_account(name, about, elo, writer).await?,
        };
        let StoredPlayer { id, name, .. } = player;
        Ok(Some(Identity { id, name, kind: PlayerKind::Bot, owner: None }))
    }

    /// Adds a bot to the line-up, or puts it in the place of the one with the same account.
    pub(crate) fn join(&self, bot: HouseBot) {
        let mut line_up = self.line_up.write().unwrap_or_else(PoisonError::into_inner);
        let mut bots = line_up.as_ref().clone();
        let bot = Arc::new(bot);
        match bots.iter_mut().find(|known| known.identity.id == bot.identity.id) {
            Some(known) => *known = bot,
            None => bots.push(bot),
        }
        *line_up = Arc::new(bots);
    }

    /// All of them: first those that are configured, in their order, then those that joined.
    pub(crate) fn all(&self) -> Arc<Vec<Arc<HouseBot>>> {
        Arc::clone(&self.line_up.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The one with this account.
    pub(crate) fn get(&self, id: &PlayerId) -> Option<Arc<HouseBot>> {
        self.all().iter().find(|bot| bot.identity.id == *id).cloned()
    }

    /// The one of this name, without regard to case.
    pub(crate) fn by_name(&self, name: &PlayerName) -> Option<Arc<HouseBot>> {
        let key = name.key();
        self.all().iter().find(|bot| bot.identity.name.key() == key).cloned()
    }
}

/// What plays as a configured bot.
fn source(
    bot: &Configured,
    programs: &ProgramsConfig,
    files: &Path,
    writer: &Writer,
) -> Result<BotSource, NoSource> {
    match &bot.spec {
        HouseSpec::Bot(spec) => {
            Ok(BotSource::Fixed(bot_files::with_files_read(&bot_files::below(spec, files))?))
        }
        HouseSpec::Program(program) => {
            let (name, spec) = (bot.name.to_string(), program.spec.clone());
            Ok(BotSource::Program(HouseProgram::new(name, spec, programs, writer.clone())?))
        }
    }
}

/// Why nothing can play as a configured bot.
#[derive(Debug, Error)]
enum NoSource {
    #[error(transparent)]
    File(#[from] BotFileError),
    #[error(transparent)]
    Program(#[from] ProgramError),
}

async fn add_account(
    name: &PlayerName,
    about: &str,
    elo: Option<i32>,
    writer: &Writer,
) -> Result<StoredPlayer, WriteError> {
    let player = new_account(PlayerId::random(&mut chance()), name.clone(), about, elo);
    writer.write(Write::AddPlayer { player: player.clone(), password: None }).await?;
    Ok(player)
}

/// What a bot of the house is stored as at first; it begins with what was measured.
pub(crate) fn new_account(id: PlayerId, name: PlayerName, about: &str, elo: Option<i32>) -> StoredPlayer {
    StoredPlayer {
        id,
        name,
        kind: PlayerKind::Bot,
        house: true,
        owner: None,
        profile: BotProfile {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            about: Some(about.to_owned()),
            url: None,
            language: None,
        },
        portrait: Portrait::default(),
        created_at: UnixMillis::now(),
        ban: None,
        mute: None,
        start: elo.map(MilliElo::of_points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_by_a_file_plays_what_its_program_plays() {
        #[track_caller]
        fn check(spec: &str, standard: bool, larger: bool) {
            let bot = HouseBot {
                identity: Identity {
                    id: "b1".parse().unwrap(),
                    name: "bot".parse().unwrap(),
                    kind: PlayerKind::Bot,
                    owner: None,
                },
                source: BotSource::Fixed(spec.parse().unwrap()),
                style: "any",
                strength: None,
                level: None,
                elo: None,
                about: String::new(),
            };
            assert_eq!(bot.plays(Variant::STANDARD), standard, "{spec}");
            assert_eq!(bot.plays("8x7".parse().unwrap()), larger, "{spec}");
        }
        check("ntuple", true, false);
        check("ntuple:file=net.bin", true, false);
        check("memory:file=memory.xml", true, true);
        check("negamax:depth=4", true, true);
    }
}
