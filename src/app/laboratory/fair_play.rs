//! `fourfold fair-play`: who decides better than people of their rating can.

mod records;

use std::io;
use std::path::PathBuf;

use fourfold_arena::fair_play::{Finding, findings};
use serde::Serialize;

use self::records::RatedGames;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::findings::{self as table, NO_VERDICT};
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;

/// Show who decides better in hard positions than people of their rating.
///
/// The file has records, one a line, as `fourfold games export` writes them. Rated games between people on the standard
/// board count. `hard` is the number of hard decisions: of each game the first one in which people of the rating often
/// throw the value away. `kept` says in how many the player did not, `expected` what people of the rating manage, with
/// what 19 in 20 of them reach. `evidence` is how rare it is for an honest player ever to get so far; from 1 in 10,000
/// on somebody should look. It is no verdict: docs/fair-play.md says what it can be wrong about.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold games export > games.ndjson; fourfold fair-play games.ndjson
  fourfold games export | fourfold fair-play - --player ada --json")]
pub(in crate::app) struct FairPlayCommand {
    /// Records, one a line, in the order in which they ended; `-` reads standard input.
    #[arg(value_name = "FILE.ndjson", required = true)]
    files: Vec<PathBuf>,
    /// Show this player alone, with the games that weigh most.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct FairPlayReport {
    note: &'static str,
    players: Vec<Finding>,
}

impl FairPlayCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let interrupt = Interrupt::listen()?;
        let games = records::read(&self.files, interrupt.stop().flag())?;
        interrupt.check(|| "nothing was printed".to_owned())?;
        let mut players = named(&games);
        if let Some(name) = &self.player {
            players.retain(|finding| finding.player.eq_ignore_ascii_case(name));
            if players.is_empty() {
                return Err(Exit::usage(format!("`{name}` has no rated game against a person here")).into());
            }
        }
        if self.json {
            return output::print_json(&FairPlayReport { note: NO_VERDICT, players });
        }
        Ok(table::write(&mut io::stdout().lock(), &players, self.player.is_some())?)
    }
}

/// What is found of all players, by the names that they had last.
fn named(read: &RatedGames) -> Vec<Finding> {
    let by_name = |finding: Finding| {
        let player = read.names.get(&finding.player).cloned().unwrap_or_default();
        Finding { player, ..finding }
    };
    findings(&read.games).into_iter().map(by_name).collect()
}
