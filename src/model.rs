//! The words of the domain, in which everything else is told: players, games, time, ratings, secrets. No I/O.

pub mod bounded;
pub(crate) mod chain_hash;
pub(crate) mod class_code;
pub mod clock;
pub(crate) mod cron;
pub mod device;
pub(crate) mod duel;
pub mod durability;
pub(crate) mod fault;
pub mod ids;
pub(crate) mod invitation;
pub(crate) mod lookalike;
pub(crate) mod mail;
pub(crate) mod opening;
pub(crate) mod pace;
pub(crate) mod pause;
pub mod player;
pub(crate) mod population;
pub(crate) mod rating;
pub mod result;
pub mod secret;
pub(crate) mod signing;
pub(crate) mod text;
pub mod time;
pub(crate) mod totp;
pub mod world;
