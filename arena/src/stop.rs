//! The wish that everything ends soon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, by a signal or by the end of a run; cheap to clone, and all clones are one.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// The same as a flag, as searches take it.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
