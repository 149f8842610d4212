//! How players find games: seeks that pair, challenges, house bots at once.
//!
//! [`acceptance`], [`pairing`] and [`challenge`] are pure; [`actor`] owns the open seeks and challenges.

pub mod acceptance;
pub mod actor;
pub mod challenge;
pub mod director;
pub mod handle;
mod lookup;
pub mod pairing;
pub mod tv;

pub use actor::LobbyActor;
pub use handle::LobbyHandle;
