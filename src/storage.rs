//! Where games, players and ratings are kept.
//!
//! [`Store`] is the contract, `conformance` its tests, [`sqlite`] the embedded back end and `memory` one that only unit
//! tests have. All writes go through [`writer`], which groups them into transactions and answers after the commit;
//! [`finished`] hands the games that have ended to those who go through all of them.
//!
//! What every back end must decide alike is plain code, written once: whether events continue a game is in `live`,
//! what a finished game does to the ratings in `settle` (and `refold`, when one is taken out), how choices are spelled
//! in `words`.

pub mod bot_versions;
#[cfg(test)]
pub(crate) mod conformance;
#[cfg(test)]
pub(crate) mod conformance_of_bot_versions;
#[cfg(test)]
pub(crate) mod conformance_of_judging;
#[cfg(test)]
pub(crate) mod conformance_of_learners;
#[cfg(test)]
pub(crate) mod conformance_of_ratings;
#[cfg(test)]
pub(crate) mod conformance_of_tournaments;
pub mod error;
pub mod finished;
pub mod judgements;
pub mod lessons;
mod live;
#[cfg(test)]
pub(crate) mod memory;
pub mod published;
pub mod puzzles;
pub mod record;
pub mod records;
pub(crate) mod refold;
pub(crate) mod settle;
pub mod sqlite;
pub mod store;
pub mod tournaments;
pub(crate) mod words;
pub mod writer;

pub use error::StoreError;
pub use judgements::JudgementStore;
#[cfg(test)]
pub(crate) use memory::MemoryStore;
pub use puzzles::PuzzleStore;
pub use record::{GameSpec, StoredEvent, StoredGame, StoredPlayer};
pub use sqlite::SqliteStore;
pub use store::Store;
pub use writer::Writer;
