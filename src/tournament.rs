//! Tournaments that the daemon holds: by a schedule of its configuration, or when an operator says so.
//!
//! Formats, points and tables are those of `fourfold tournament`, from the `arena` package. What is played is a function
//! of the stored tournament and its stored games alone, so a daemon that was killed goes on exactly where it was.

pub mod schedule;
