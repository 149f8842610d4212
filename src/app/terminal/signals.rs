//! The signals that a running command heeds.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::app) enum SignalHeard {
    /// The end: Ctrl-C, or a polite kill.
    Stop,
    /// The terminal is gone; daemons read their settings again.
    HangUp,
}

/// Those that are not left to their defaults.
#[derive(Debug)]
pub(in crate::app) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(in crate::app) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(in crate::app) async fn next(&mut self) -> SignalHeard {
        tokio::select! {
            _ = self.interrupt.recv() => SignalHeard::Stop,
            _ = self.terminate.recv() => SignalHeard::Stop,
            _ = self.hang_up.recv() => SignalHeard::HangUp,
        }
    }
}
