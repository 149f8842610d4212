//! What operators do beside commanding a daemon: the check of a whole store, copies of it by a schedule, what of old
//! games goes, taking all games of an account out, what owners of bots are told at addresses of theirs, what people
//! are written, and what their browsers show them.

pub(crate) mod backups;
pub(crate) mod dumps;
pub(crate) mod forgetting;
pub(crate) mod mail;
mod outgoing;
pub(crate) mod packing;
pub(crate) mod push;
mod rounds;
mod schedule;
mod turns;
pub mod verify;
pub(crate) mod voiding;
pub(crate) mod webhooks;
