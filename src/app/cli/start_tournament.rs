//! `fourfold start-tournament`: a tournament of the configuration, now.

use std::io::{self, Write};

use super::operator::DataArg;
use crate::app::terminal::output;

/// Begin a tournament that the configuration names, whatever its schedule says. The daemon must be running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold start-tournament \"Evening Swiss\"")]
pub(super) struct StartTournamentCommand {
    /// Its name in the configuration.
    #[arg(value_name = "NAME")]
    name: String,
    /// Print {"id"} as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataArg,
}

impl StartTournamentCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { name, json, data } = self;
        let started = data.command(async |daemon| daemon.start_tournament(&name).await)?;
        if json {
            return output::print_json(&started);
        }
        Ok(writeln!(io::stdout(), "begun: /tournament/{}", started.id)?)
    }
}
