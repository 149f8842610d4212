//! What the owner of a remote bot wants to know, as it is kept: versions, self-tests, faults.

use async_trait::async_trait;

use super::error::StoreError;
use super::words::Word;
use crate::model::ids::{GameId, PlayerId};
use crate::model::text::excerpt;
use crate::model::time::UnixMillis;

/// Versions of a bot that are kept, those seen last.
pub(crate) const VERSIONS_MAX: u32 = 50;

/// Faults of a bot that are kept, the newest.
pub(crate) const FAULTS_MAX: u32 = 100;

/// A version that a bot has given itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotVersion {
    /// As it was given; empty if the bot names none.
    pub(crate) version: String,
    /// When it connected for the first time.
    pub(crate) first_seen: UnixMillis,
    /// When it connected last.
    pub(crate) last_seen: UnixMillis,
    /// When it last passed the self-test. What failed later does not take that back.
    pub passed_at: Option<UnixMillis>,
    pub tested: Option<StoredTest>,
}

impl BotVersion {
    /// A version that was just seen for the first time.
    pub(crate) fn seen(version: &str, at: UnixMillis) -> Self {
        Self { version: version.to_owned(), first_seen: at, last_seen: at, passed_at: None, tested: None }
    }
}

/// A self-test of one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTest {
    pub(crate) at: UnixMillis,
    /// What it found, as JSON text.
    pub report: String,
}

/// What a bot did wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An illegal or malformed move for the ply that was due; the game went on.
    IllegalMove,
    /// The game was lost by illegal moves.
    Illegal,
    /// The game was lost on time.
    Time,
    /// The game was lost because the bot stayed away.
    Left,
    /// The connection was lost while games were under way.
    Disconnected,
}

crate::storage::words::words!(FaultKind {
    IllegalMove: "illegal_move",
    Illegal: "illegal",
    Time: "time",
    Left: "left",
    Disconnected: "disconnected",
});

impl FaultKind {
    /// The word for it on the wire, which is also the one that is stored.
    pub fn as_str(self) -> &'static str {
        self.word()
    }
}

/// What is wrong, and the frame that was: its author knows it again by that.
pub(crate) fn fault_note(wrong: &str, frame: &str) -> String {
    /// Longer frames are cut, for each note is written to the disk: a move has a hundred letters, and up to seven
    /// hundred with what its bot thought.
    const SHOWN_MAX: usize = 800;
    format!("{wrong}; it said {}", excerpt(frame, SHOWN_MAX))
}

/// One fault of a bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotFault {
    pub(crate) bot: PlayerId,
    /// In which game, if in one.
    pub(crate) game: Option<GameId>,
    pub kind: FaultKind,
    /// The same in words.
    pub(crate) note: String,
    pub(crate) at: UnixMillis,
}

/// The part of a store that is about what owners of bots want to know.
#[async_trait]
pub trait BotVersionStore {
    /// The versions that a bot has given itself, those seen last first.
    async fn bot_versions(&self, bot: &PlayerId) -> Result<Vec<BotVersion>, StoreError>;

    /// One version of a bot, if it was ever seen and is not forgotten.
    async fn bot_version(&self, bot: &PlayerId, version: &str) -> Result<Option<BotVersion>, StoreError>;

    /// What a bot did wrong, the newest first, at most `limit`.
    async fn bot_faults(&self, bot: &PlayerId, limit: u32) -> Result<Vec<BotFault>, StoreError>;

    /// What any bot did wrong, the newest first, at most `limit`.
    async fn newest_faults(&self, limit: u32) -> Result<Vec<BotFault>, StoreError>;
}
