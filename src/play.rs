//! Games being played: rooms, the hosts that open them, who is present, the bots of the house at their seats.

pub(crate) mod bot_seat;
pub(crate) mod correspondence;
pub(crate) mod elsewhere;
pub(crate) mod feeds;
pub(crate) mod file_lessons;
pub(crate) mod host;
pub(crate) mod house;
pub(crate) mod house_program;
pub(crate) mod incident;
pub(crate) mod open_turns;
pub(crate) mod orders;
pub(crate) mod presence;
pub(crate) mod ratings;
pub(crate) mod reasons;
pub(crate) mod room;
pub(crate) mod series;
pub(crate) mod share;
