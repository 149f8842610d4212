//! The words of the domain that everything else is told in. No I/O.

pub mod cron;
pub mod durability;
pub mod fault;
pub mod time;
