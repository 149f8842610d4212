//! The operator's commands: accounts, bots and their tokens, records, the state of the daemon.
//!
//! A command is a [`ControlRequest`] and comes to a [`ControlAnswer`]. [`execute`] is the one place where that happens;
//! it runs in the daemon, behind the Unix socket `control.sock` in its data directory ([`ControlServer`],
//! [`ControlClient`]), or in a command of its own when no daemon holds the directory. On the socket each is one line of
//! JSON. Whoever can open the socket may command: that is the user who runs the daemon.

mod address;
mod admin;
mod client;
mod execute;
mod learners;
mod request;
mod server;
#[cfg(test)]
mod tests;

pub use client::{ControlClient, ControlError};
pub use execute::{Control, execute};
pub use request::{
    ChangedMoveShown, ControlAnswer, ControlRefusal, ControlRequest, DaemonStatus, FileForm, LearnerShown,
    LearnerVerified, LessonShown, MoveShown, PatternShown, PointShown, ReasonShown, RefusalKind,
    VersionShown,
};
pub use server::ControlServer;

pub use crate::study::learning::verify::Remedy;

/// Longest line that the daemon reads: the longest request holds a name and a password.
const REQUEST_BYTES_MAX: u64 = 16 * 1024;
