//! Ctrl-C and SIGTERM for commands that work step by step: the step under way ends, and what is finished is kept.

use fourfold_arena::stop::Stop;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::runtime;

/// What shells report for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Whether the command has been told to stop. A second signal ends the process at once.
pub(in crate::app) struct Interrupt {
    stop: Stop,
    /// Listens as long as it lives.
    _listener: Runtime,
}

impl Interrupt {
    pub(in crate::app) fn listen() -> anyhow::Result<Self> {
        let stop = Stop::default();
        let listener = runtime()?;
        for (kind, code) in
            [(SignalKind::interrupt(), i32::from(INTERRUPTED)), (SignalKind::terminate(), 143)]
        {
            let teller = stop.clone();
            // From here on, not from when the task begins, the signal is heard.
            let _entered = listener.enter();
            // Without signals there is nothing to wait for.
            let Ok(mut signals) = signal(kind) else { continue };
            listener.spawn(async move {
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

    pub(in crate::app) fn is_told(&self) -> bool {
        self.stop.is_set()
    }

    /// Fails if the command was told to stop; `kept` says what is not lost.
    pub(in crate::app) fn check(&self, kept: impl FnOnce() -> String) -> Result<(), Exit> {
        if !self.is_told() {
            return Ok(());
        }
        Err(Exit::new(Code::Other(INTERRUPTED), format!("interrupted: {}", kept())))
    }

    /// The same as a wish that can be handed on.
    pub(in crate::app) fn stop(&self) -> &Stop {
        &self.stop
    }
}
