//! The HTTP side: the accept loop with its time limits, the upgrade to a WebSocket, routes, who asks, what is refused
//! and how. Pages are built on what is here.

pub mod assets;
pub mod auth;
pub mod client_address;
mod connection;
pub mod error;
pub mod listener;
pub mod metrics;
mod pace;
//pub mod pages;
pub mod site;
pub mod slots;
pub mod state;
pub mod upgrade;

pub use auth::{SignedIn, Viewer};
pub use error::{ApiCode, ApiError};
pub use state::{AppState, ArenaView};
