//! Requests through the whole router, good and bad.

mod account;
mod accounts;
mod bots;
mod learning;
mod reading;
mod requests;
mod tournaments;
