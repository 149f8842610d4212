//! `fourfold start-tournament`: a tournament of the configuration, now.

use std::io::{self, Write};

use crate::operations::control::{ControlAnswer, ControlRequest};
use serde_json::json;

use super::operator::DataArg;
use crate::app::terminal::output;
use crate::app::terminal::runtime;

/// Begin a tournament that the configuration names, whatever its schedule says. The daemon must be running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold start-tournament \"Evening Swiss\"")]
pub(super) struct StartTournamentCommand {
    /// Its name in [[tournaments]].
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
        let answer = runtime()?.block_on(async {
            let mut operator = self.data.open().await?;
            let answer = operator.call(ControlRequest::TournamentHold { name: self.name }).await;
            operator.close().await?;
            answer
        })?;
        let ControlAnswer::TournamentHeld { id } = answer else {
            anyhow::bail!("the daemon gave an answer to another question");
        };
        if self.json {
            return output::print_json(&json!({ "id": id }));
        }
        Ok(writeln!(io::stdout(), "begun: /tournament/{id}")?)
    }
}
