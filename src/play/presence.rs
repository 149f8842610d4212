//! Who is connected: each client's session, what waits to be sent to it, and what connected players have declared.
//!
//! Rooms, lobby and hosts tell sessions what happens; the socket that is attached belongs to [`crate::session`].

pub mod outbox;
pub mod registry;
pub mod session;
mod session_state;

pub use self::registry::Sessions;
pub use self::session::Session;
