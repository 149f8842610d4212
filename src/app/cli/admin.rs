//! `fourfold admin`: what operators do. Each action has a reason, which the audit log keeps.

use std::io::{self, Write};

use crate::http::control::{DaemonStatus, RatingAlarmView, VoidedGame};
use crate::model::ids::GameId;
use clap::Subcommand;

use super::operator::DataArg;
use crate::app::terminal::output;

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
    /// Show what the daemon is doing.
    Status(ShowStatus),
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

/// Show what the daemon on a data directory is doing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin status --json")]
struct ShowStatus {
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl AdminCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            AdminAction::Void(void) => void.run(),
            AdminAction::Status(status) => status.run(),
        }
    }
}

impl VoidGame {
    fn run(self) -> anyhow::Result<()> {
        let Self { game, reason, data, json } = self;
        let voided = data.command(async |daemon| daemon.void_game(&game, &reason).await)?;
        if json {
            return output::print_json(&voided);
        }
        let VoidedGame { game, was_rated } = voided;
        if was_rated {
            Ok(writeln!(io::stdout(), "game {game} voided, ratings computed again without it")?)
        } else {
            Ok(writeln!(io::stdout(), "game {game} voided, it had moved no rating")?)
        }
    }
}

impl ShowStatus {
    fn run(self) -> anyhow::Result<()> {
        let status = self.data.command(async |daemon| daemon.status().await)?;
        if self.json {
            return output::print_json(&status);
        }
        let DaemonStatus { version, pid, started_at, games, online, rating_alarms, pauses, set_aside } =
            status;
        let mut out = io::stdout();
        writeln!(out, "fourfold {version}, process {pid}, since {started_at}")?;
        writeln!(out, "games under way: {games}")?;
        writeln!(out, "players connected: {online}")?;
        for pause in pauses {
            writeln!(out, "{pause}")?;
        }
        for thing in set_aside {
            writeln!(out, "set aside by {thing}")?;
        }
        for alarm in rating_alarms {
            writeln!(out, "{}", alarm_line(&alarm))?;
        }
        Ok(())
    }
}

/// What an operator should look at, in a line.
fn alarm_line(alarm: &RatingAlarmView) -> String {
    let RatingAlarmView { habit, player, opponent, variant, games, at } = alarm;
    let against = opponent.as_ref().map(|opponent| format!(" against {opponent}")).unwrap_or_default();
    let games: Vec<&str> = games.iter().map(GameId::as_str).collect();
    format!("{habit}? {player}{against} on {variant}, {at}: {}", games.join(" "))
}
