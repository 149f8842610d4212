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
mod house_programs;
mod ladder;
mod moves;
mod overload;
mod races;
mod ratings;
mod remote_rooms;
mod restarts;
mod resumption;
mod rough_lines;
mod seeks;
mod self_tests;
mod series;
mod storms;
mod tournaments;
mod watching;
mod wire;
