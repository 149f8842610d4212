//! Where games, players and ratings are kept.
//!
//! [`Store`] is the contract, `conformance` its tests, [`sqlite`] the embedded back end and `memory` one that only
//! tests have. All writes go through [`writer`], which groups them into transactions and answers after the commit;
//! [`finished`] hands the games that have ended to those who go through all of them.
//!
//! What every back end must decide alike is plain code, written once: whether events continue a game is in `live`,
//! what a finished game does to the ratings in `settle` (and `refold`, when one is taken out), how choices are spelled
//! in `words`.

pub mod attempts;
pub mod audit;
pub(crate) mod backup;
pub mod bot_versions;
pub(crate) mod chain;
#[cfg(test)]
pub(crate) mod conformance;
#[cfg(test)]
pub(crate) mod conformance_of_attempts;
#[cfg(test)]
pub(crate) mod conformance_of_bot_versions;
#[cfg(test)]
pub(crate) mod conformance_of_choices;
#[cfg(test)]
pub(crate) mod conformance_of_follows;
#[cfg(test)]
pub(crate) mod conformance_of_judging;
#[cfg(test)]
pub(crate) mod conformance_of_learners;
#[cfg(test)]
pub(crate) mod conformance_of_left_sessions;
#[cfg(test)]
pub(crate) mod conformance_of_links;
#[cfg(test)]
pub(crate) mod conformance_of_mails;
#[cfg(test)]
pub(crate) mod conformance_of_moderation;
#[cfg(test)]
pub(crate) mod conformance_of_operators;
#[cfg(test)]
pub(crate) mod conformance_of_packing;
#[cfg(test)]
pub(crate) mod conformance_of_privacy;
#[cfg(test)]
pub(crate) mod conformance_of_pushes;
#[cfg(test)]
pub(crate) mod conformance_of_ratings;
#[cfg(test)]
pub(crate) mod conformance_of_reports;
#[cfg(test)]
pub(crate) mod conformance_of_studies;
#[cfg(test)]
pub(crate) mod conformance_of_tournaments;
#[cfg(test)]
pub(crate) mod conformance_of_vacations;
#[cfg(test)]
pub(crate) mod conformance_of_webhooks;
pub(crate) mod engine;
pub(crate) mod error;
pub mod filter;
pub(crate) mod finished;
pub mod follows;
pub mod forgetting;
pub mod games;
pub(crate) mod judgements;
pub mod left_sessions;
pub mod lessons;
pub mod links;
mod live;
pub mod mails;
pub(crate) mod members;
pub mod memory;
pub mod moderation;
pub mod operators;
pub mod people;
pub(crate) mod postgres;
pub(crate) mod published;
pub mod pushes;
pub(crate) mod puzzles;
pub mod ratings;
pub mod record;
pub(crate) mod records;
pub mod refit;
pub(crate) mod refold;
pub mod reports;
pub mod resets;
mod rows;
pub mod rushes;
pub(crate) mod settle;
pub(crate) mod sqlite;
pub(crate) mod starts;
pub mod store;
pub mod studies;
pub mod tournaments;
pub(crate) mod transfer;
pub mod vacations;
pub mod webhooks;
pub(crate) mod words;
pub(crate) mod writer;

pub use error::StoreError;
pub use memory::MemoryStore;
pub use postgres::PostgresStore;
pub use record::{GameSpec, StoredEvent, StoredGame, StoredPlayer};
pub use sqlite::SqliteStore;
pub use store::Store;
pub use writer::Writer;
