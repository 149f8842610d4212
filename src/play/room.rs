//! One game from its start until everybody has left: seats, clocks, watchers.
//!
//! [`state`] holds the rules and knows no time, task or socket; [`actor`] owns it and moves messages; everybody else
//! holds a [`RoomHandle`]. A room cannot tell whether a seat holds a person, a house bot or a remote bot.

pub mod actor;
pub mod directory;
pub mod handle;
pub mod lag;
pub mod members;
pub mod refusal;
pub mod state;
pub mod view;

pub use actor::RoomActor;
pub use directory::Directory;
pub use handle::{Connection, MemberId, Recipient, RoomHandle};
pub use refusal::RoomRefusal;
