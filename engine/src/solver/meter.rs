//! What one thread of a search may still spend.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::search::{Interrupted, SearchLimits};

/// Counts nodes against a share of the limits, and hears when another thread has the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeMeter<'a> {
    pub(super) limits: SearchLimits<'a>,
    /// Set once another thread has found what this one looks for.
    pub(super) is_done: &'a AtomicBool,
    pub(super) nodes: u64,
}

impl NodeMeter<'_> {
    /// Begins a node.
    ///
    /// # Errors
    ///
    /// Fails if the limits do not allow it, or it is no longer of use.
    #[inline]
    pub(super) fn begin_node(&mut self) -> Result<(), Interrupted> {
        // Both flags are read every time: they stay in the cache until they change. No data is passed with them.
        let is_spent = self.limits.nodes.is_some_and(|limit| self.nodes >= limit);
        if is_spent || self.limits.stop.load(Ordering::Relaxed) || self.is_done.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        self.nodes += 1;
        Ok(())
    }
}
