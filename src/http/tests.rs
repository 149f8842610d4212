//! Requests through the whole router, good and bad.

mod accounts;
mod bots;
mod reading;
mod requests;
