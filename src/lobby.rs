//! How players find games: seeks that pair, challenges, house bots at once.
//!
//! [`acceptance`], [`pairing`], [`pool`] and [`challenge`] are pure; [`actor`] owns the open seeks and challenges.

pub(crate) mod acceptance;
pub(crate) mod actor;
pub(crate) mod challenge;
pub(crate) mod director;
pub(crate) mod handle;
mod links;
mod lookup;
pub(crate) mod pairing;
mod pool;
pub(crate) mod trial;
pub(crate) mod tv;

pub(crate) use actor::LobbyActor;
pub(crate) use handle::{ChallengedAway, LobbyHandle};
