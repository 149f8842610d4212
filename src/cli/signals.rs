//! The signals that a running command heeds.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// The end: Ctrl-C, or a polite kill.
    Stop,
    /// The terminal is gone; daemons read their settings again.
    HangUp,
}

/// Those that are not left to their defaults.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> Heard {
        tokio::select! {
            _ = self.interrupt.recv() => Heard::Stop,
            _ = self.terminate.recv() => Heard::Stop,
            _ = self.hang_up.recv() => Heard::HangUp,
        }
    }
}
