//! What operators do beside commanding a daemon: the check of a whole store, copies of it by a schedule, what of old
//! games goes, taking all games of an account out, what owners of bots are told at addresses of theirs, and what people
//! are written.

pub(crate) mod backups;
pub(crate) mod dumps;
pub(crate) mod forgetting;
pub(crate) mod mail;
mod schedule;
pub mod verify;
pub(crate) mod voiding;
pub(crate) mod webhooks;
