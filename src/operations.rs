//! What operators do beside commanding a daemon: the check of a whole store.

pub mod verify;
