//! A store grows with its games alone, and little. What old games have beside their moves, and need no more to be
//! verified, replayed or rated, goes after a while: texts of lessons, and what bots of the house thought in games among
//! themselves. And the log of a finished game is packed, see `rows/packed.rs`.

use async_trait::async_trait;

use super::error::StoreError;
use super::rows::events::EventsOfGames;
use super::rows::packed::PackedLog;
use super::rows::{Damage, number};
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

/// The next games whose logs are packed, as they were read before the write that does it: a writer that would read them
/// itself lets all moves wait for so much longer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packing {
    /// Up to which finished game, by its number, all had been looked at.
    pub(super) after: u64,
    /// Up to which they are after it.
    pub(super) last: u64,
    /// Up to which game the notes had gone. If more have by now, those that are in here must not come back.
    pub(super) notes_gone: u64,
    /// By the games' keys. Those that are packed, and those that are damaged, are not among them.
    pub(super) logs: Vec<(i64, PackedLog)>,
}

impl Packing {
    /// Packs the games that were found after a number: their own numbers, their keys, and whether they are packed.
    /// Nothing if there are none. Whatever is damaged stays as it is, for whoever repairs it.
    pub(super) fn of(
        after: i64,
        found: &[(i64, i64, bool)],
        notes_gone: u64,
        mut logs: EventsOfGames,
    ) -> Result<Option<Self>, Damage> {
        let Some(&(last, ..)) = found.last() else { return Ok(None) };
        let packed = |key: i64| Some((key, PackedLog::of(&logs.take(key).ok()?)?));
        Ok(Some(Self {
            after: number("packing.number", after)?,
            last: number("settlement.number", last)?,
            notes_gone,
            logs: keys_of_unpacked(found).filter_map(packed).collect(),
        }))
    }

    /// How many finished games it goes on by. Their numbers have no holes.
    pub(crate) fn games(&self) -> u64 {
        self.last.saturating_sub(self.after)
    }
}

/// The keys of those games whose logs are to be read for it.
pub(super) fn keys_of_unpacked(found: &[(i64, i64, bool)]) -> impl Iterator<Item = i64> + '_ {
    found.iter().filter(|(.., is_packed)| !is_packed).map(|(_, key, _)| *key)
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

    /// What is to be packed next, of so many games at most; nothing if all are, and in a store that keeps no logs.
    async fn next_packing(&self, games: u32) -> Result<Option<Packing>, StoreError>;
}
