//! Ctrl-C for commands that work step by step: the step under way ends, and what is finished is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Runtime;

use super::runtime;

/// Whether the command has been told to stop. A second Ctrl-C ends the process at once.
pub(super) struct Interrupt {
    told: Arc<AtomicBool>,
    /// Listens as long as it lives.
    _listener: Runtime,
}

impl Interrupt {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let told = Arc::new(AtomicBool::new(false));
        let listener = runtime()?;
        let teller = Arc::clone(&told);
        listener.spawn(async move {
            // Without signals there is no Ctrl-C to wait for.
            while tokio::signal::ctrl_c().await.is_ok() {
                if teller.swap(true, Ordering::Relaxed) {
                    std::process::exit(SECOND);
                }
            }
        });
        Ok(Self { told, _listener: listener })
    }

    pub(super) fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }
}

/// What shells report of a process that Ctrl-C has ended.
const SECOND: i32 = 130;
