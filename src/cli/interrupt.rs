//! Ctrl-C and SIGTERM for commands that work step by step: the step under way ends, and what is finished is kept.

use fourfold_arena::stop::Stop;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::runtime;

/// Whether the command has been told to stop. A second signal ends the process at once.
pub(super) struct Interrupt {
    stop: Stop,
    /// Listens as long as it lives.
    _listener: Runtime,
}

impl Interrupt {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let stop = Stop::default();
        let listener = runtime()?;
        for (kind, code) in [(SignalKind::interrupt(), 130), (SignalKind::terminate(), 143)] {
            let teller = stop.clone();
            listener.spawn(async move {
                // Without signals there is nothing to wait for.
                let Ok(mut signals) = signal(kind) else { return };
                while signals.recv().await.is_some() {
                    if teller.is_set() {
                        // What shells report of a process that this signal has ended.
                        std::process::exit(code);
                    }
                    teller.set();
                }
            });
        }
        Ok(Self { stop, _listener: listener })
    }

    pub(super) fn is_told(&self) -> bool {
        self.stop.is_set()
    }

    /// The same as a wish that can be handed on.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }
}
