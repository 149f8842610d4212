//! The words of the domain, in which everything else is told: players, games, time, ratings, secrets. No I/O.

pub mod clock;
pub mod cron;
pub mod durability;
pub mod fault;
pub mod ids;
pub mod opening;
pub mod player;
pub mod population;
pub mod rating;
pub mod result;
pub mod secret;
pub mod signing;
pub mod time;
