//! What tests ask of the store: faults to come, and what it has been asked for.

use super::{CommitFault, MemoryStore};

impl MemoryStore {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes a commit to come fail or wait, after those already named.
    pub(crate) fn inject(&self, fault: CommitFault) {
        self.tables().faults.push_back(fault);
    }

    /// Faults that no commit has met yet.
    pub(crate) fn faults_left(&self) -> usize {
        self.tables().faults.len()
    }

    /// How many writes each commit so far had.
    pub(crate) fn commit_sizes(&self) -> Vec<usize> {
        self.tables().commits.clone()
    }

    /// Lets the next so many questions for finished games above a number fail.
    pub(crate) fn fail_looks(&self, looks: u32) {
        self.tables().failing_looks = looks;
    }

    /// Lets the next so many questions for a rating find the database out of reach.
    pub(crate) fn lose_ratings(&self, questions: u32) {
        self.tables().unreachable_ratings = questions;
    }

    /// Above which numbers finished games were asked for so far, and how many at most.
    pub(crate) fn looks(&self) -> Vec<(u64, u32)> {
        self.tables().looks.clone()
    }
}
