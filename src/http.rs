//! The HTTP side: routes, who asks, what is refused and how. Pages and sockets are built on what is here.

pub mod assets;
pub mod auth;
pub mod client_address;
pub mod error;
pub mod metrics;
pub mod pages;
pub mod site;
pub mod state;

pub use auth::{SignedIn, Viewer};
pub use error::{ApiCode, ApiError};
pub use state::{AppState, ArenaView};
