//! Requests through the whole router, good and bad.

mod account;
mod accounts;
mod bots;
mod puzzles;
mod reading;
mod requests;
