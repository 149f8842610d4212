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

    /// Lets the next question for a `rating`, a `token` or finished `games` find the database out of reach.
    pub(crate) fn lose(&self, question: &'static str) {
        self.tables().out_of_reach.push(question);
    }

    /// Above which numbers finished games were asked for so far, and how many at most.
    pub(crate) fn looks(&self) -> Vec<(u64, u32)> {
        self.tables().looks.clone()
    }
}
