//! Whom people follow, and whom they block.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;

/// Players that one account follows. All are looked up whenever somebody looks who is there, and nobody has more
/// friends in a game; one more is refused.
pub(crate) const FOLLOWS_MAX: usize = 200;

/// Players that one account blocks. All blocks are kept in memory, 20 kB of one account at most; one more is refused.
pub(crate) const BLOCKS_MAX: usize = 200;

/// Whether a list with so many others has room for no more.
pub(super) fn is_full(others: i64, max: usize) -> bool {
    usize::try_from(others).is_ok_and(|others| others >= max)
}

/// A player follows another, or blocks another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tie {
    pub(crate) player: PlayerId,
    pub(crate) to: PlayerId,
    pub(crate) since: UnixMillis,
}

/// Whom somebody follows or blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TiedPlayer {
    pub(crate) id: PlayerId,
    pub(crate) name: PlayerName,
    pub(crate) kind: PlayerKind,
    /// Whether it is a bot of the house.
    pub(crate) house: bool,
    /// Whether that one follows, or blocks, them too.
    pub(crate) is_mutual: bool,
    pub(crate) since: UnixMillis,
}

/// The part of a store that is about them.
#[async_trait]
pub trait FollowStore {
    /// Whom a player follows, by name.
    async fn follows_of(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError>;

    /// Whom a player blocks, by name.
    async fn blocks_of(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError>;

    /// All blocks: who, and whom.
    async fn all_blocks(&self) -> Result<Vec<(PlayerId, PlayerId)>, StoreError>;
}
