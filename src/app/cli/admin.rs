//! `fourfold admin`: what operators do. Each action has a reason, which the audit log keeps.

use std::io::{self, Write};

use crate::model::ids::GameId;
use crate::operations::control::{ControlAnswer, ControlRequest};
use clap::Subcommand;
use serde::Serialize;

use super::operator::DataArg;
use crate::app::terminal::output;
use crate::app::terminal::runtime;

/// What operators do, with a reason that is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin void 7kQ2mXy9Ab --reason 'the bot was started twice'")]
pub(super) struct AdminCommand {
    #[command(subcommand)]
    what: AdminAction,
}

#[derive(Debug, Subcommand)]
enum AdminAction {
    /// Take a finished game out of ratings and learning.
    Void(VoidGame),
}

/// Take a finished game out, whether the daemon runs or not.
///
/// The game stays in the records, with `voided` as the reason why it is not rated. All ratings are computed again
/// without it, and learners forget what it taught them. This cannot be undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin void 7kQ2mXy9Ab --reason 'the bot was started twice'")]
struct VoidGame {
    /// The game: the last part of its link.
    game: GameId,
    /// Why, for the audit log: one line.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct VoidedAnswer<'a> {
    game: &'a str,
    was_rated: bool,
}

impl AdminCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            AdminAction::Void(void) => void.run(),
        }
    }
}

impl VoidGame {
    fn run(self) -> anyhow::Result<()> {
        let answer = runtime()?.block_on(async {
            let mut operator = self.data.open().await?;
            let answer = operator.call(ControlRequest::VoidGame { id: self.game, reason: self.reason }).await;
            operator.close().await?;
            answer
        })?;
        match answer {
            ControlAnswer::Voided { game, was_rated } if self.json => {
                output::print_json(&VoidedAnswer { game: game.as_str(), was_rated })
            }
            ControlAnswer::Voided { game, was_rated: true } => {
                Ok(writeln!(io::stdout(), "game {game} voided, ratings computed again without it")?)
            }
            ControlAnswer::Voided { game, was_rated: false } => {
                Ok(writeln!(io::stdout(), "game {game} voided, it had moved no rating")?)
            }
            other => Err(output::unexpected(&other)),
        }
    }
}
