//! One connected client: its WebSocket, what waits to be sent to it, and the limits it keeps to.
//!
//! A session outlives its socket. The socket task ([`socket`]) knows frames, clocks and limits; what a request means
//! is behind the two traits in [`port`].

pub mod frame_guard;
mod heart;
pub mod limits;
pub mod outbox;
pub mod port;
pub mod rate_limit;
pub mod socket;
pub mod wire;
