//! Puzzles in memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;

use super::MemoryStore;
use crate::model::ids::{PlayerId, PuzzleId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{
    GUEST_TRIES_TO_COUNT, Harvest, PUZZLE_DAYS_KEPT, PuzzleEntry, PuzzleStore, PuzzleTry, StoredPuzzle,
    Streak, TryRecord, TryResult,
};
use crate::storage::record::StoredPlayer;
use crate::storage::rushes::{RUSH_DAYS_KEPT, RushBoard, RushPlace, RushResult};
use crate::storage::store::{Refused, StoreError, Written};

/// Puzzles by their ids, first attempts in their order, and streaks.
#[derive(Debug, Default)]
pub(super) struct MemoryPuzzles {
    all: BTreeMap<PuzzleId, StoredPuzzle>,
    tries: Vec<PuzzleTry>,
    streaks: HashMap<PlayerId, Streak>,
    days: HashMap<PlayerId, BTreeSet<u32>>,
    rushes: Vec<RushResult>,
}

impl MemoryPuzzles {
    pub(super) fn add(&mut self, harvest: &Harvest) {
        if harvest.puzzles.is_empty() {
            return;
        }
        for puzzle in &harvest.puzzles {
            let stored = StoredPuzzle { puzzle: puzzle.clone(), record: TryRecord::default() };
            let kept = self.all.entry(puzzle.id.clone()).or_insert(stored);
            if kept.puzzle.game.is_none() && puzzle.game.is_none() {
                kept.puzzle.prior = puzzle.prior;
            }
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
                stored.record.levels += u64::from(attempt.level);
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
        self.days.remove(player);
        self.rushes.retain(|result| result.player != *player);
    }

    pub(super) fn solve_daily(&mut self, player: &PlayerId, day: u32) {
        let streak = self.streaks.entry(player.clone()).or_default();
        *streak = streak.solved_on(day);
        let days = self.days.entry(player.clone()).or_default();
        days.insert(day);
        days.retain(|old| *old >= day.saturating_sub(PUZZLE_DAYS_KEPT));
    }

    pub(super) fn note_rush(&mut self, result: &RushResult, kind: PlayerKind) -> Result<Written, Refused> {
        if kind != PlayerKind::Human {
            return Err(Refused::NoSuchPlayer);
        }
        let is_own = |old: &RushResult| old.player == result.player && old.kind == result.kind;
        let same_day = self.rushes.iter_mut().find(|old| is_own(old) && old.day == result.day);
        match same_day {
            Some(old) if old.solved < result.solved => *old = result.clone(),
            Some(_) => {}
            None => self.rushes.push(result.clone()),
        }
        let own = self.rushes.iter().filter(|old| is_own(old));
        let best = own.min_by_key(|old| (Reverse(old.solved), old.at)).map(|best| best.day);
        let first = result.day.saturating_sub(RUSH_DAYS_KEPT);
        self.rushes.retain(|old| !is_own(old) || old.day >= first || Some(old.day) == best);
        Ok(Written::Done)
    }

    /// The best of each account, the best of all first.
    fn best_rushes(&self, wanted: &RushBoard) -> Vec<&RushResult> {
        let fits = |result: &&RushResult| result.kind == wanted.kind && result.day >= wanted.since;
        let mut best: Vec<&RushResult> = self.rushes.iter().filter(fits).collect();
        best.sort_by_key(|result| (Reverse(result.solved), result.at, result.player.clone()));
        let mut seen = HashSet::new();
        best.retain(|result| seen.insert(&result.player));
        best
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

    async fn puzzle_days(&self, player: &PlayerId, since: u32) -> Result<Vec<u32>, StoreError> {
        let tables = self.tables();
        let days = tables.puzzles.days.get(player).into_iter().flatten();
        Ok(days.copied().filter(|day| *day >= since).collect())
    }

    async fn rush_board(&self, wanted: &RushBoard) -> Result<Vec<RushPlace>, StoreError> {
        let tables = self.tables();
        let best = tables.puzzles.best_rushes(wanted).into_iter();
        let listed = best.filter_map(|result| {
            let player = tables.players.get(&result.player)?;
            let is_out = player.ban.as_ref().is_some_and(|ban| ban.holds(wanted.now));
            (player.kind == PlayerKind::Human && !is_out).then_some((player, result))
        });
        let place = |(rank, (player, result)): (u32, (&StoredPlayer, &RushResult))| RushPlace {
            rank,
            player: player.id.clone(),
            name: player.name.clone(),
            solved: result.solved,
            at: result.at,
        };
        let is_wanted =
            |place: &RushPlace| place.rank <= wanted.limit || wanted.of.as_ref() == Some(&place.player);
        Ok((1..).zip(listed).map(place).filter(is_wanted).collect())
    }
}
