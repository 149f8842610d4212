//! The HTTP side: the accept loop with its time limits, and the upgrade to a WebSocket.

pub mod client_address;
mod connection;
pub mod listener;
mod pace;
pub mod refusal;
pub mod slots;
pub mod upgrade;
