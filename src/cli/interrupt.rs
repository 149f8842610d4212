//! Ctrl-C as a flag, for commands that compute: what is finished is kept, and they end with one line.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Runtime;

use super::exit::{Code, Exit};

/// What shells report for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Watches for Ctrl-C as long as it lives.
pub(super) struct Interrupt {
    stop: Arc<AtomicBool>,
    /// Runs the watcher.
    _runtime: Runtime,
}

impl Interrupt {
    /// Begins to watch. From now on Ctrl-C does no more than set the flag; a second one ends the process.
    pub(super) fn watch() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        runtime.spawn(async move {
            // Without signals there is no Ctrl-C to wait for.
            while tokio::signal::ctrl_c().await.is_ok() {
                if flag.swap(true, Ordering::Relaxed) {
                    std::process::exit(i32::from(INTERRUPTED));
                }
            }
        });
        Ok(Self { stop, _runtime: runtime })
    }

    /// True once Ctrl-C was pressed.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Fails if Ctrl-C was pressed; `kept` says what is not lost.
    pub(super) fn check(&self, kept: impl FnOnce() -> String) -> Result<(), Exit> {
        if !self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(Exit::new(Code::Other(INTERRUPTED), format!("interrupted: {}", kept())))
    }
}
