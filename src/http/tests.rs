//! Requests through the whole router, good and bad.

mod access;
mod account;
mod accounts;
mod admin;
mod blocks;
mod bots;
mod classes;
mod fair_play;
mod feeds;
mod follows;
mod learning;
mod mail;
mod own_bots;
mod personal_memory;
mod push;
mod puzzles;
mod ranking;
mod reading;
mod reports;
mod requests;
mod seasons;
mod shares;
mod studies;
mod tournaments;
mod webhook;
