//! A store grows with its games alone, and little. What old games have beside their moves, and need no more to be
//! verified, replayed or rated, goes after a while: texts of lessons, and what bots of the house thought in games among
//! themselves. And the log of a finished game is packed, see `rows/packed.rs`.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::time::UnixMillis;

/// Up to which finished game, by its number, that was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Forgotten {
    pub(crate) lessons: u64,
    pub(crate) notes: u64,
}

/// The next games in turn lose what they have of it, if they are old enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forgetting {
    /// Games that ended before this moment lose the texts of lessons; none if they are kept. Which games were learnt
    /// stays known.
    pub(crate) lessons_before: Option<UnixMillis>,
    /// The same for what bots of the house thought.
    pub(crate) notes_before: Option<UnixMillis>,
    /// So many games at a time.
    pub(crate) games: u32,
}

/// Of the next games, by number and end, the last before which all are old enough; `done` if there is none.
pub(super) fn last_old(
    done: u64,
    next: impl IntoIterator<Item = (u64, UnixMillis)>,
    before: UnixMillis,
) -> u64 {
    next.into_iter().take_while(|(_, ended_at)| *ended_at < before).last().map_or(done, |(number, _)| number)
}

/// The part of a store that is about it. Written by [`super::store::Write::Forget`] and [`super::store::Write::Pack`].
#[async_trait]
pub trait ForgettingStore {
    /// How far it has come.
    async fn forgotten(&self) -> Result<Forgotten, StoreError>;

    /// Finished games whose logs are not packed yet. None in a store that keeps no logs.
    async fn unpacked(&self) -> Result<u64, StoreError>;
}
