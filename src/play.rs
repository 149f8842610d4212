//! Games being played: rooms, the hosts that open them, who is present, the bots of the house at their seats.

pub mod bot_seat;
pub mod feeds;
pub mod host;
pub mod house;
pub mod incident;
pub mod presence;
pub mod reasons;
pub mod room;
