//! `fourfold load`: the load generator.

use std::io::{self, Write};
use std::time::Duration;

use crate::client::load::{LoadPlan, LoadReport};
use crate::model::ids::PlayerName;

use crate::app::terminal::{load, output};

/// Play whole games over the protocol and measure the server.
///
/// Guests connect, pair up or play a bot of the house, at random legal columns, all at once. Ctrl-C stops and reports
/// what was played until then; so does a server that goes and is not back after a few seconds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold load --url ws://127.0.0.1:4444 --games 1000 --connections 100 --spectators 20
  fourfold load --url ws://127.0.0.1:4444 --games 200 --connections 50 --against alphabeta
  fourfold load --url ws://127.0.0.1:4441 --url ws://127.0.0.1:4442 --url ws://127.0.0.1:4443")]
pub(super) struct LoadCommand {
    /// Address of the server, ws://HOST:PORT; wss for TLS. Several of them for the nodes of a cluster: the two players
    /// of a game connect to different ones.
    #[arg(long, value_name = "URL", required = true)]
    url: Vec<String>,
    /// Games to play in all.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Players connected at the same time; they play in pairs, unless it is against a bot.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    connections: u32,
    /// The bot of the house that each player plays, in place of another player; what is counted are the players' moves.
    #[arg(long, value_name = "BOT")]
    against: Option<PlayerName>,
    /// Connections that watch one game after the other.
    #[arg(long, value_name = "N", default_value_t = 0)]
    spectators: u32,
    /// How long each player waits before it answers a turn, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 0)]
    think_ms: u64,
    /// Decides the columns.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl LoadCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let plan = LoadPlan {
            urls: self.url,
            games: self.games,
            connections: self.connections,
            against: self.against,
            spectators: self.spectators,
            think: Duration::from_millis(self.think_ms),
            seed: self.seed,
        };
        let (report, trouble) = load::play(&plan)?;
        if self.json {
            output::print_json(&report)?;
        } else {
            print(&report)?;
        }
        trouble.map_or(Ok(()), |error| Err(anyhow::Error::new(error).context("the load ended early")))
    }
}

fn print(report: &LoadReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let ack = report.ack_ms;
    writeln!(out, "{} games, {} moves in {:.1} s", report.games, report.moves, report.seconds)?;
    writeln!(out, "{:.0} moves/s", report.moves_per_s)?;
    writeln!(
        out,
        "acknowledged in ms: p50 {:.2}, p99 {:.2}, p99.9 {:.2}, at most {:.2}",
        ack.p50, ack.p99, ack.p99_9, ack.max
    )?;
    if report.spectators > 0 {
        writeln!(out, "{} spectators received {} messages", report.spectators, report.spectator_messages)?;
    }
    writeln!(out, "connections lost and made again: {}", report.reconnects)?;
    if report.errors.is_empty() {
        writeln!(out, "errors: none")
    } else {
        let errors: Vec<String> =
            report.errors.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        writeln!(out, "errors: {}", errors.join(", "))
    }
}
