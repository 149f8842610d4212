//! `fourfold games`: the records of finished games.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::http::control::ControlClient;
use crate::storage::records::export::ExportFormat;
use crate::storage::records::import::{self, ImportError, Importer};
use crate::storage::store::Write as StoreWrite;
use crate::storage::writer::WriteError;
use anyhow::Context;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::operator::DataArg;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;
use crate::app::terminal::progress::{ProgressLine, while_working};

/// Export the records of finished games, import some, or verify them.
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
    /// Take in records that another arena exported.
    Import(ImportGames),
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

/// Take in the records of a file that `games export` wrote, here or elsewhere. No daemon may run meanwhile.
///
/// The whole file is checked first: a line that breaks a rule is named, and nothing is imported. Games come in unrated,
/// for another arena's ratings mean nothing here; those that are there already are passed over, so that an import can
/// be repeated. Players are found by name; those who are not there are made, without a password.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold games import games.ndjson")]
struct ImportGames {
    /// Records, one JSON object a line.
    file: PathBuf,
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
            GamesAction::Import(import) => import.run(),
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

impl ImportGames {
    fn run(self) -> anyhow::Result<()> {
        let Self { file, data } = self;
        let records = import::check(open(&file)?).map_err(|error| broken(&file, error))?;
        let (imported, passed_over) = data.alone(async |store| {
            let mut progress = ProgressLine::new(records, "games");
            let mut importer = Importer::new(open(&file)?, store, rand::rng());
            let mut stored = 0;
            while let Some(batch) = importer.next_batch().await.map_err(|error| broken(&file, error))? {
                let is_game = |write: &&StoreWrite| matches!(write, StoreWrite::StartGame(_));
                let games = batch.iter().filter(is_game).count() as u64;
                for answer in store.commit(&batch).await? {
                    answer.map_err(WriteError::Refused)?;
                }
                stored += games;
                progress.advance(games);
            }
            Ok((stored, importer.passed_over))
        })?;
        Ok(writeln!(io::stdout(), "games imported: {imported}, there already: {passed_over}")?)
    }
}

fn open(file: &Path) -> anyhow::Result<BufReader<File>> {
    let opened = File::open(file).map(BufReader::new);
    opened
        .map_err(|error| Exit::new(Code::NoInput, format!("cannot read {}: {error}", file.display())).into())
}

fn broken(file: &Path, error: ImportError) -> anyhow::Error {
    match error {
        ImportError::Store(error) => error.into(),
        ImportError::Line(_) | ImportError::Empty => {
            Exit::new(Code::Data, format!("{}: {error}", file.display())).into()
        }
    }
}

impl VerifyGames {
    fn run(self) -> anyhow::Result<()> {
        let verified =
            self.data.command(async |daemon| while_working("checking", daemon.verify_games()).await)?;
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
