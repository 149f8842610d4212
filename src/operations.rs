//! What operators do: the control socket of a running daemon, and the check of a whole store.

pub mod control;
pub mod verify;
