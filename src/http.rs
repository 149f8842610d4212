//! The HTTP side: the accept loop with its time limits, the upgrade to a WebSocket, routes, who asks, what is refused
//! and how. Pages and the operator's socket are built on what is here.

mod answer;
mod api;
pub mod assets;
pub mod auth;
pub mod client_address;
mod connection;
pub mod connection_limits;
pub mod control;
mod crosstable;
mod endpoint;
pub mod error;
mod kits;
mod layers;
pub mod listener;
pub mod metrics;
mod openapi;
pub mod pages;
pub mod picture;
mod ranking;
pub mod request;
pub mod router;
pub mod site;
mod slow_peer;
pub mod state;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod texts;
pub mod upgrade;

pub use auth::{SignedIn, Viewer};
pub use error::{ApiCode, ApiError};
pub use router::router;
pub use state::{AppState, ArenaView};
