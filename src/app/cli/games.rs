//! `fourfold games`: the records of finished games.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::http::control::ControlClient;
use crate::storage::records::export::ExportFormat;
use anyhow::Context;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tokio::time::{Duration, interval};

use super::operator::DataArg;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;

/// Export the records of finished games, or verify them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold games export > games.ndjson")]
pub(super) struct GamesCommand {
    #[command(subcommand)]
    what: GamesAction,
}

#[derive(Debug, Subcommand)]
enum GamesAction {
    /// Write the records of all finished games, in the order in which they finished.
    Export(ExportGames),
    /// Replay every game, compute all ratings again, and compare.
    Verify(VerifyGames),
}

/// Write the records of all finished games, in the order in which they finished.
///
/// Works while the daemon plays on. Ctrl-C keeps what was written until then; --after goes on behind it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold games export > games.ndjson
  fourfold games export --format csv --out games.csv")]
struct ExportGames {
    /// One JSON object a line, or portable game notation, or a table.
    #[arg(long, value_name = "FORMAT", default_value = "ndjson", value_parser = formats())]
    format: ExportFormat,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out the first N finished games.
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    #[command(flatten)]
    data: DataArg,
}

/// Replay every game, compute all ratings again, and compare to the last digit.
///
/// Each disagreement is a line on standard output; if there are any, the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold games verify --json")]
struct VerifyGames {
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The names of the formats, so that help and completions list them.
fn formats() -> impl TypedValueParser<Value = ExportFormat> {
    PossibleValuesParser::new(["ndjson", "pgn", "csv"]).try_map(|name| name.parse::<ExportFormat>())
}

impl GamesCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            GamesAction::Export(export) => export.run(),
            GamesAction::Verify(verify) => verify.run(),
        }
    }
}

impl ExportGames {
    fn run(self) -> anyhow::Result<()> {
        self.data.command(async |daemon| match &self.out {
            Some(path) => self.write_file(daemon, path).await,
            None => self.write(daemon, &mut io::stdout()).await,
        })
    }

    async fn write_file(&self, daemon: &ControlClient, path: &Path) -> anyhow::Result<()> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        self.write(daemon, &mut BufWriter::new(file)).await
    }

    async fn write(&self, daemon: &ControlClient, out: &mut impl Write) -> anyhow::Result<()> {
        let mut progress = ProgressLine::unbounded("games");
        let mut after = self.after.map(|number| number.to_string());
        write!(out, "{}", self.format.heading())?;
        loop {
            let records = daemon.games(after.as_deref()).await?;
            for record in &records.items {
                out.write_all(self.format.write(record).as_bytes())?;
            }
            progress.advance(records.items.len() as u64);
            match records.cursor {
                Some(last) => after = Some(last),
                None => break,
            }
        }
        Ok(out.flush()?)
    }
}

impl VerifyGames {
    fn run(self) -> anyhow::Result<()> {
        let verified = self.data.command(async |daemon| show_progress(daemon.verify_games()).await)?;
        if self.json {
            output::print_json(&verified)?;
        } else {
            writeln!(io::stdout(), "{verified}")?;
        }
        match verified.findings.len() {
            0 => Ok(()),
            1 => Err(Exit::new(Code::Data, "one disagreement").into()),
            count => Err(Exit::new(Code::Data, format!("{count} disagreements")).into()),
        }
    }
}

/// Shows on a terminal that work goes on whose amount is not known.
async fn show_progress<T>(work: impl Future<Output = T>) -> T {
    let mut progress = ProgressLine::unbounded("checking");
    let mut tick = interval(Duration::from_millis(100));
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = tick.tick() => progress.advance(0),
        }
    }
}
