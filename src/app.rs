//! The program: the daemon put together, the command line, and the laboratory for work without a daemon.

mod arena_view;
pub mod cli;
mod laboratory;
pub mod server;
mod terminal;
