//! The rules and scores against a naive board, and counts of positions that others have published.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod counts;
mod naive;
mod rules;
mod wide;
