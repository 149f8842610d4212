//! When a search has to end.

use std::sync::atomic::{AtomicBool, Ordering};

/// What bounds a search. Time is the caller's business: it sets `stop` when the time is up.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits<'a> {
    /// Nodes or playouts that may be begun; `None` for no bound.
    pub nodes: Option<u64>,
    /// Once true the search ends within microseconds.
    pub stop: &'a AtomicBool,
}

impl SearchLimits<'_> {
    /// What is left of it after `spent` nodes.
    pub(crate) fn after(self, spent: u64) -> Self {
        Self { nodes: self.nodes.map(|nodes| nodes.saturating_sub(spent)), ..self }
    }
}

/// Counts nodes (or playouts) against limits.
#[derive(Clone, Debug)]
pub struct NodeCounter<'a> {
    limits: SearchLimits<'a>,
    nodes: u64,
}

impl<'a> NodeCounter<'a> {
    pub fn new(limits: SearchLimits<'a>) -> Self {
        Self { limits, nodes: 0 }
    }

    /// Nodes begun so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Begins a node.
    ///
    /// # Errors
    ///
    /// Fails if the limits do not allow it; the node is then not counted.
    #[inline]
    pub fn begin_node(&mut self) -> Result<(), Interrupted> {
        // The flag is read every time: it stays in the cache until it changes, so that costs less than a
        // counter that spares it. No data is passed with it, so no ordering is needed.
        let is_spent = self.limits.nodes.is_some_and(|limit| self.nodes >= limit);
        if is_spent || self.limits.stop.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        self.nodes += 1;
        Ok(())
    }
}

/// A search ended by its limits; what it had worked out is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the search was interrupted")]
pub struct Interrupted;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_budget_is_exact() {
        let stop = AtomicBool::new(false);
        let mut counter = NodeCounter::new(SearchLimits { nodes: Some(2), stop: &stop });
        let begun: Vec<bool> = (0..4).map(|_| counter.begin_node().is_ok()).collect();
        assert_eq!(begun, [true, true, false, false]);
        assert_eq!(counter.nodes(), 2);
    }

    #[test]
    fn the_stop_flag_counts_at_once() {
        let stop = AtomicBool::new(false);
        let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &stop });
        assert_eq!(counter.begin_node(), Ok(()));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(counter.begin_node(), Err(Interrupted));
    }
}
