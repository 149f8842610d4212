//! What players report about others.

use super::{Common, ReasonArg};
use crate::http::control::{HandledReport, ListedReport};

/// List what players report about others, the oldest first; with `--all`, also what was dealt with, the newest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin reports")]
pub(super) struct ShowReports {
    /// Also those that were dealt with.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    common: Common,
}

/// Take a report, so that no other operator need look into it, or say what came of it.
///
/// Whoever has reported can report the same player again once it is dismissed or resolved.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin report 12 dismiss --reason 'nothing in the games shows it'"
)]
pub(super) struct HandleReport {
    /// Its number, as `fourfold admin reports` lists it.
    number: u64,
    /// What is done with it.
    #[arg(value_enum)]
    step: Step,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Step {
    /// I look into it.
    Take,
    /// There is nothing in it.
    Dismiss,
    /// Something was done about it.
    Resolve,
}

impl Step {
    fn word(self) -> &'static str {
        match self {
            Self::Take => "take",
            Self::Dismiss => "dismiss",
            Self::Resolve => "resolve",
        }
    }
}

impl ShowReports {
    pub(super) fn run(self) -> anyhow::Result<()> {
        self.common.run(
            async |daemon| daemon.reports(self.all).await,
            |out, reports: Vec<ListedReport>| {
                for report in reports {
                    let ListedReport { number, player, reporter, game, reason, note, at, state, handled_by } =
                        report;
                    let by =
                        reporter.map_or_else(|| "a guest who has gone".to_owned(), |name| name.to_string());
                    let game = game.map(|game| format!(" in game {game}")).unwrap_or_default();
                    let handled = handled_by.map(|who| format!(" by {who}")).unwrap_or_default();
                    writeln!(out, "{number}  {at}  {player}: {reason}{game}, says {by} ({state}{handled})")?;
                    for line in note.lines() {
                        writeln!(out, "    {line}")?;
                    }
                }
                Ok(())
            },
        )
    }
}

impl HandleReport {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { number, step, because, common } = self;
        common.run(
            async |daemon| daemon.handle_report(number, step.word(), &because.told()).await,
            |out, HandledReport { number, state }| writeln!(out, "report {number} is {state}"),
        )
    }
}
