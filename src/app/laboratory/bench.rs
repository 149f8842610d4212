//! `fourfold bench`: speed, with counts that a refactoring must not move.

mod arena;
mod bots;
mod pairing;
mod review;
mod search;
mod server;
mod solver;
mod store;

use std::io::{self, Write};
use std::time::Instant;

use clap::Subcommand;
use fourfold_engine::playout::{self, PlayoutReport};
use serde::Serialize;

use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;

/// Games in one go between two looks at the progress bar: about a tenth of a second.
const CHUNK_GAMES: u64 = 1_000_000;

/// Measure speed, with figures that can be repeated.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench playouts")]
pub(in crate::app) struct BenchCommand {
    #[command(subcommand)]
    what: BenchSubject,
}

#[derive(Debug, Subcommand)]
enum BenchSubject {
    /// Random games from the empty board, on one thread.
    Playouts(PlayoutBench),
    /// The depth-limited search of the bots.
    Search(search::SearchBench),
    /// Exact scores of scored positions.
    Solver(solver::SolverBench),
    /// How long people wait for exact answers.
    Review(review::ReviewBench),
    /// Whether bots answer in time, in positions of random games.
    Bots(bots::BotBench),
    /// Pairing players, when very many seek.
    Pairing(pairing::PairingBench),
    /// Matches in this process through everything that matches do, and the joint rating of a large field.
    Arena(arena::ArenaBench),
    /// How many moves a second become durable.
    Store(store::StoreBench),
    /// What a move costs the whole daemon, under a load of games over the protocol.
    Server(server::ServerBench),
}

/// Random games from the empty board, on one thread.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench playouts --games 5000000 --json")]
struct PlayoutBench {
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
struct PlayoutFigures {
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

impl BenchCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        match self.what {
            BenchSubject::Playouts(playouts) => playouts.run(),
            BenchSubject::Search(search) => search.run(),
            BenchSubject::Solver(solver) => solver.run(),
            BenchSubject::Review(review) => review.run(),
            BenchSubject::Bots(bots) => bots.run(),
            BenchSubject::Pairing(pairing) => pairing.run(),
            BenchSubject::Arena(arena) => arena.run(),
            BenchSubject::Store(store) => store.run(),
            BenchSubject::Server(server) => server.run(),
        }
    }
}

impl PlayoutBench {
    fn run(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        let report = self.play();
        let figures = self.figures(&report, began.elapsed().as_secs_f64());
        if self.json {
            return output::print_json(&figures);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{:.0} games/s", figures.games_per_second)?;
        writeln!(
            out,
            "{} games with {} plies in {:.2} s: first wins {}, second wins {}, draws {}, checksum {}",
            figures.games,
            figures.plies,
            figures.seconds,
            figures.first_wins,
            figures.second_wins,
            figures.draws,
            figures.checksum
        )?;
        Ok(())
    }

    /// Plays in chunks, each with a seed of its own, and adds them up.
    fn play(&self) -> PlayoutReport {
        let mut progress = ProgressLine::new(self.games, "games");
        let mut sum = PlayoutReport::default();
        for chunk in 0..self.games.div_ceil(CHUNK_GAMES) {
            let games = CHUNK_GAMES.min(self.games - chunk * CHUNK_GAMES);
            let part = playout::bench(games, self.seed.wrapping_add(chunk));
            sum.score += part.score;
            sum.plies += part.plies;
            // Rotated, so that the order of the chunks counts too.
            sum.checksum = sum.checksum.rotate_left(1) ^ part.checksum;
            progress.advance(games);
        }
        sum
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
    fn figures(&self, report: &PlayoutReport, seconds: f64) -> PlayoutFigures {
        let games = report.score.games();
        PlayoutFigures {
            games,
            seed: self.seed,
            plies: report.plies,
            first_wins: report.score.wins,
            second_wins: report.score.losses,
            draws: report.score.draws,
            checksum: format!("{:016x}", report.checksum),
            seconds,
            games_per_second: games as f64 / seconds,
        }
    }
}
