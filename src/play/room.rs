//! One game from its start until everybody has left: seats, clocks, watchers.
//!
//! [`state`] holds the rules and knows no time, task or socket; [`actor`] owns it and moves messages; everybody else
//! holds a [`RoomHandle`]. A room cannot tell whether a seat holds a person, a house bot or a remote bot.

pub(crate) mod actor;
mod command;
pub(crate) mod directory;
pub(crate) mod handle;
pub(crate) mod lag;
pub(crate) mod members;
mod pacing;
pub(crate) mod refusal;
mod remote;
pub(crate) mod state;
pub(crate) mod view;

pub(crate) use actor::RoomActor;
pub(crate) use directory::Directory;
pub(crate) use handle::{Connection, MemberId, Recipient, RoomHandle};
pub(crate) use refusal::RoomRefusal;
pub(crate) use state::Standstill;
