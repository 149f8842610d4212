//! Who is connected: each client's session, what waits to be sent to it, and what connected players have declared.
//!
//! Rooms, lobby and hosts tell sessions what happens; the socket that is attached belongs to [`crate::session`].

pub(crate) mod outbox;
pub(crate) mod registry;
pub(crate) mod session;
mod session_state;

pub(crate) use self::registry::Sessions;
pub(crate) use self::session::Session;
