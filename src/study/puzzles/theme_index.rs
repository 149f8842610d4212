//! What puzzles are about, for whoever chooses by it. It is read off moves and solution, which the list of all puzzles
//! does not have: once for each puzzle, for these never change.

use std::collections::{HashMap, HashSet};

use super::shipped;
use super::themes::{Theme, themes};
use crate::model::ids::PuzzleId;
use crate::storage::puzzles::PuzzleEntry;

/// Themes by puzzle.
#[derive(Debug, Default)]
pub(super) struct ThemeIndex {
    of: HashMap<PuzzleId, Vec<Theme>>,
}

impl ThemeIndex {
    /// Those of these puzzles of which nothing is known yet. What is known of others is forgotten: they are gone.
    pub(super) fn unknown(&mut self, puzzles: &[(u32, PuzzleEntry)]) -> Vec<PuzzleId> {
        if puzzles.is_empty() {
            return Vec::new();
        }
        if self.of.is_empty() {
            let shipped = shipped::puzzles();
            self.of = shipped.iter().map(|puzzle| (puzzle.id.clone(), themes(puzzle))).collect();
        }
        let ids: HashSet<&PuzzleId> = puzzles.iter().map(|(_, entry)| &entry.id).collect();
        self.of.retain(|id, _| ids.contains(id));
        let is_unknown = |(_, entry): &&(u32, PuzzleEntry)| !self.of.contains_key(&entry.id);
        puzzles.iter().filter(is_unknown).map(|(_, entry)| entry.id.clone()).collect()
    }

    /// Takes note of what a puzzle is about.
    pub(super) fn learn(&mut self, id: PuzzleId, themes: Vec<Theme>) {
        self.of.insert(id, themes);
    }

    /// Whether a puzzle is known to be about this.
    pub(super) fn is_about(&self, id: &PuzzleId, theme: Theme) -> bool {
        self.of.get(id).is_some_and(|themes| themes.contains(&theme))
    }
}
