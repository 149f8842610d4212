//! One connected client: its WebSocket, what waits to be sent to it, and the limits it keeps to.
//!
//! A session outlives its socket. The socket task ([`socket`]) knows frames, clocks and limits; what a request means
//! is behind the two traits in [`port`]: [`gateway`] opens sessions, [`client_session`] does what they ask, and
//! [`session_task`] owns each: there sockets come and go.

pub(crate) mod client_session;
pub(crate) mod departed;
pub(crate) mod doors;
pub(crate) mod frame_guard;
pub(crate) mod gateway;
mod heartbeat;
pub mod limits;
pub(crate) mod line_feed;
pub mod port;
pub(crate) mod rate_limit;
mod resume_token;
pub(crate) mod services;
mod session_task;
pub mod socket;
pub(crate) mod wire;

pub use gateway::SessionGateway;
pub use services::Services;
