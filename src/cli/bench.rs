//! `fourfold bench`: speed, with counts that a refactoring must not move.

use std::io::{self, Write};
use std::time::Instant;

use clap::Subcommand;
use fourfold_engine::playout::{self, PlayoutReport};
use serde::Serialize;

use super::output;
use super::progress::Progress;

/// Games in one go between two looks at the progress bar: about a tenth of a second.
const CHUNK_GAMES: u64 = 1_000_000;

/// Measure speed, with figures that can be repeated.
#[derive(Debug, clap::Args)]
pub(super) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Random games from the empty board, on one thread.
    Playouts(Playouts),
}

/// Random games from the empty board, on one thread.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench playouts --games 5000000 --json")]
struct Playouts {
    /// How many games.
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Equal seeds give equal counts and checksums on every machine.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What `--json` shows.
#[derive(Serialize)]
struct Figures {
    games: u64,
    seed: u64,
    plies: u64,
    first_wins: u64,
    second_wins: u64,
    draws: u64,
    /// Hexadecimal: JSON numbers lose the last digits of 64 bits in many readers.
    checksum: String,
    seconds: f64,
    games_per_second: f64,
}

impl Bench {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Playouts(playouts) => playouts.run(),
        }
    }
}
