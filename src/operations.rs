//! What operators do beside commanding a daemon: the check of a whole store, copies
//! of it by a schedule, and taking all games of an account out.

pub(crate) mod backups;
pub mod verify;
pub(crate) mod voiding;
