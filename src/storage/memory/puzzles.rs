//! Puzzles in memory.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::MemoryStore;
use crate::model::ids::{PlayerId, PuzzleId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{
    GUEST_TRIES_TO_COUNT, Harvest, PuzzleEntry, PuzzleStore, PuzzleTry, StoredPuzzle, Streak, TryRecord,
    TryResult,
};
use crate::storage::store::{Refused, StoreError, Written};

/// Puzzles by their ids, first attempts in their order, and streaks.
#[derive(Debug, Default)]
pub(super) struct MemoryPuzzles {
    all: BTreeMap<PuzzleId, StoredPuzzle>,
    tries: Vec<PuzzleTry>,
    streaks: HashMap<PlayerId, Streak>,
}

impl MemoryPuzzles {
    pub(super) fn add(&mut self, harvest: &Harvest) {
        if harvest.puzzles.is_empty() {
            return;
        }
        for puzzle in &harvest.puzzles {
            let stored = StoredPuzzle { puzzle: puzzle.clone(), record: TryRecord::default() };
            self.all.entry(puzzle.id.clone()).or_insert(stored);
        }
        let mined = self.all.values().filter(|stored| stored.puzzle.game.is_some());
        let surplus = mined.count().saturating_sub(harvest.keep as usize);
        let untried = |stored: &&StoredPuzzle| stored.puzzle.game.is_some() && stored.record.tries == 0;
        let mut worst: Vec<(u32, PuzzleId)> = self
            .all
            .values()
            .filter(untried)
            .map(|stored| (stored.puzzle.quality, stored.puzzle.id.clone()))
            .collect();
        worst.sort();
        for (_, id) in worst.into_iter().take(surplus) {
            self.all.remove(&id);
        }
    }

    pub(super) fn attempt(&mut self, attempt: &PuzzleTry, kind: PlayerKind) -> Result<Written, Refused> {
        if !self.all.contains_key(&attempt.puzzle) {
            return Err(Refused::NoSuchPuzzle);
        }
        let is_same = |old: &PuzzleTry| old.player == attempt.player && old.puzzle == attempt.puzzle;
        if self.tries.iter().any(is_same) {
            return Ok(Written::Done);
        }
        self.tries.push(attempt.clone());
        let own: Vec<PuzzleTry> =
            self.tries.iter().filter(|other| other.player == attempt.player).cloned().collect();
        let counted = match kind {
            PlayerKind::Guest if own.len() < GUEST_TRIES_TO_COUNT => Vec::new(),
            PlayerKind::Guest if own.len() == GUEST_TRIES_TO_COUNT => own,
            PlayerKind::Guest | PlayerKind::Human | PlayerKind::Bot => vec![attempt.clone()],
        };
        for attempt in counted {
            if let Some(stored) = self.all.get_mut(&attempt.puzzle) {
                stored.record.tries += 1;
                stored.record.solved += u64::from(attempt.result == TryResult::Solved);
            }
        }
        Ok(Written::Done)
    }

    /// When a player last tried a puzzle.
    pub(super) fn last_try(&self, player: &PlayerId) -> Option<UnixMillis> {
        self.tries.iter().filter(|attempt| attempt.player == *player).map(|attempt| attempt.at).max()
    }

    /// Forgets who it was; the puzzles' counts stay.
    pub(super) fn forget(&mut self, player: &PlayerId) {
        self.tries.retain(|attempt| attempt.player != *player);
        self.streaks.remove(player);
    }

    pub(super) fn solve_daily(&mut self, player: &PlayerId, day: u32) {
        let streak = self.streaks.entry(player.clone()).or_default();
        *streak = streak.solved_on(day);
    }
}

#[async_trait]
impl PuzzleStore for MemoryStore {
    async fn puzzle(&self, id: &PuzzleId) -> Result<Option<StoredPuzzle>, StoreError> {
        Ok(self.tables().puzzles.all.get(id).cloned())
    }

    async fn puzzles(&self) -> Result<Vec<PuzzleEntry>, StoreError> {
        let entry = |stored: &StoredPuzzle| PuzzleEntry {
            id: stored.puzzle.id.clone(),
            prior: stored.puzzle.prior,
            record: stored.record,
            made_at: stored.puzzle.made_at,
        };
        Ok(self.tables().puzzles.all.values().map(entry).collect())
    }

    async fn puzzle_tries(&self, player: &PlayerId) -> Result<Vec<PuzzleTry>, StoreError> {
        let tables = self.tables();
        let mut tries: Vec<PuzzleTry> =
            tables.puzzles.tries.iter().filter(|attempt| attempt.player == *player).cloned().collect();
        tries.sort_by_key(|attempt| (attempt.at, attempt.puzzle.clone()));
        Ok(tries)
    }

    async fn puzzle_streak(&self, player: &PlayerId) -> Result<Streak, StoreError> {
        Ok(self.tables().puzzles.streaks.get(player).copied().unwrap_or_default())
    }
}
