//! `fourfold games`: the records of finished games.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::operations::control::{ControlAnswer, ControlRequest};
use crate::storage::records::export::ExportFormat;
use anyhow::Context;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tokio::time::{Duration, interval};

use super::operator::{DataArg, Operator};
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;
use crate::app::terminal::runtime;

/// Records in one request: the most that the daemon gives.
const PAGE: u32 = 500;

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
        runtime()?.block_on(async {
            let mut operator = self.data.open().await?;
            let written = match &self.out {
                Some(path) => self.write_file(&mut operator, path).await,
                None => self.write(&mut operator, &mut io::stdout()).await,
            };
            operator.close().await?;
            written
        })
    }

    async fn write_file(&self, operator: &mut Operator, path: &Path) -> anyhow::Result<()> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        self.write(operator, &mut BufWriter::new(file)).await
    }

    async fn write(&self, operator: &mut Operator, out: &mut impl Write) -> anyhow::Result<()> {
        let mut progress = ProgressLine::unbounded("games");
        let mut after = self.after;
        write!(out, "{}", self.format.heading())?;
        loop {
            let answer = operator.call(ControlRequest::GamesExport { after, limit: PAGE }).await?;
            let ControlAnswer::Games { records, next } = answer else {
                return Err(output::unexpected(&answer));
            };
            for record in &records {
                out.write_all(self.format.write(record).as_bytes())?;
            }
            progress.advance(records.len() as u64);
            match next {
                Some(_) => after = next,
                None => break,
            }
        }
        Ok(out.flush()?)
    }
}

impl VerifyGames {
    fn run(self) -> anyhow::Result<()> {
        let verified = runtime()?.block_on(async {
            let mut operator = self.data.open().await?;
            let answer = show_progress(operator.call(ControlRequest::GamesVerify)).await;
            operator.close().await?;
            match answer? {
                ControlAnswer::Verified(verified) => Ok(verified),
                other => Err(output::unexpected(&other)),
            }
        })?;
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
