//! The daemon as its clients see it: `fourfold.v1` over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

mod absence;
mod challenges;
mod clocks;
mod connections;
mod courtesies;
mod endings;
mod flow_control;
mod handshake;
mod house_bots;
mod ladder;
mod moves;
mod ratings;
mod restarts;
mod resumption;
mod seeks;
mod self_tests;
mod series;
mod tournaments;
mod watching;
mod wire;
