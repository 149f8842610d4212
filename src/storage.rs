//! Where games, players and ratings are kept.
//!
//! [`Store`] is the contract, [`conformance`] its tests, [`sqlite`] the embedded back end and [`memory`] one for
//! tests. All writes go through [`writer`], which groups them into transactions and answers after the commit.

pub mod record;
pub mod store;
pub mod writer;

pub use record::{GameSpec, StoredEvent, StoredGame, StoredPlayer};
pub use store::{Store, StoreError};
pub use writer::Writer;
