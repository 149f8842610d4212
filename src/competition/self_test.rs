//! The protocol's self-test, from both ends.
//!
//! [`connection`] is a client: it tries out with a bot's token what the bot's connection must survive. [`trial`] is the
//! daemon's part: it plays with the bot that is connected, whatever that is, and sees for itself how it behaves. What
//! the daemon saw is kept by version, and can be required before rated games.

pub(crate) mod connection;
mod observer;
pub(crate) mod trial;

pub use self::trial::{BeginError, SelfTests};
