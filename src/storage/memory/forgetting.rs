//! What old games have beside their moves goes, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::GameId;
use crate::model::time::UnixMillis;
use crate::storage::forgetting::{Forgetting, ForgettingStore, Forgotten, Packing, last_old};
use crate::storage::record::EventKind;
use crate::storage::store::{StoreError, Written};

impl MemoryTables {
    pub(super) fn forget(&mut self, forgetting: &Forgetting) -> Written {
        let done = self.forgotten;
        if let Some(before) = forgetting.lessons_before {
            let last = self.last_before(done.lessons, before, forgetting.games);
            self.learners.forget_texts(done.lessons + 1..=last);
            self.forgotten.lessons = last;
        }
        if let Some(before) = forgetting.notes_before {
            let last = self.last_before(done.notes, before, forgetting.games);
            let of_house: Vec<GameId> = self
                .finished_games()
                .filter(|(number, _)| (done.notes + 1..=last).contains(number))
                .filter(|(_, game)| {
                    let players = game.spec.players.as_ref();
                    [players.first, players.second].iter().all(|id| self.players[*id].house)
                })
                .map(|(_, game)| game.spec.id.clone())
                .collect();
            for game in of_house {
                let events = self.games.get_mut(&game).map(|game| game.events.as_mut_slice());
                for event in events.unwrap_or_default() {
                    if let EventKind::Move(played) = &mut event.kind {
                        played.info = None;
                    }
                }
            }
            self.forgotten.notes = last;
        }
        Written::Done
    }

    fn last_before(&self, done: u64, before: UnixMillis, games: u32) -> u64 {
        let next = self.finished_games().filter(|(number, _)| *number > done).take(games as usize);
        last_old(done, next.map(|(number, game)| (number, game.last_change())), before)
    }
}

#[async_trait]
impl ForgettingStore for MemoryStore {
    async fn forgotten(&self) -> Result<Forgotten, StoreError> {
        Ok(self.tables().forgotten)
    }

    async fn next_packing(&self, _games: u32) -> Result<Option<Packing>, StoreError> {
        Ok(None)
    }
}
