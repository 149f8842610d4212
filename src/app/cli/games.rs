//! `fourfold games`: the records of finished games.

mod foreign;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use crate::http::control::ControlClient;
use crate::model::result::GameOutcome;
use crate::storage::filter::{Meeting, OpeningWanted, PliesWanted, ResultWanted, TimeWanted};
use crate::storage::records::export::ExportFormat;
use crate::storage::records::import::{self, ImportError};
use crate::system::causes::with_causes;
use crate::system::files::Draft;
use anyhow::Context;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use data_encoding::HEXLOWER;
use fourfold_arena::join::{self, JoinError};
use fourfold_arena::log::LogError;
use fourfold_engine::Variant;
use sha2::{Digest as _, Sha256};

use self::foreign::ForeignArgs;
use super::operator::DataArg;
use crate::app::laboratory::labels::{LabelledForm, Labeller};
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;
use crate::app::terminal::progress::{ProgressLine, while_working};

/// Bytes of records from which on they are sent: some hundred games.
const IMPORT_PORTION: usize = 256 * 1024;

/// Export the records of finished games, import some, or verify them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold games export > games.ndjson")]
pub(super) struct GamesCommand {
    #[command(subcommand)]
    what: GamesAction,
}

// What a variant says would take the place of all that is said of its arguments.
#[derive(Debug, Subcommand)]
enum GamesAction {
    Export(ExportGames),
    Import(ImportGames),
    Join(JoinGames),
    Verify(VerifyGames),
}

/// Write the records of all finished games, in the order in which they finished.
///
/// Works while the daemon plays on. Ctrl-C keeps what has gone to standard output until then; --after goes on behind
/// it. The file of --out gets its name when all of it is written: interrupted, it is not there, or what it was before.
/// `games import` reads ndjson; compact, pgn and csv are for other programs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold games export > games.ndjson
  fourfold games export --format csv --out games.csv
  fourfold games export --format compact --out games.ndjson --checksum
  fourfold games export --players bots --rated true --since 2026-01-01 --until 2026-02-01 --opening 44")]
struct ExportGames {
    /// One JSON object a line, with everything (which alone `games import` reads) or in short, or portable game
    /// notation, or a table.
    #[arg(long, value_name = "FORMAT", default_value = "ndjson", value_parser = formats())]
    format: ExportFormat,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// With what the solver says of every move: the exact score before and after it, the best columns, the mistake if
    /// it is one. In ndjson as `labels` of each record, in csv as a row for each move. Some games take a second.
    #[arg(long)]
    labels: bool,
    /// Leave out the first N finished games.
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    /// Keep the SHA-256 of what is written in FILE.sha256, which `sha256sum --check` reads; without --out, say it on
    /// standard error.
    #[arg(long)]
    checksum: bool,
    #[command(flatten)]
    chosen: GamesChosen,
    #[command(flatten)]
    data: DataArg,
}

/// Which games are wanted; what is left out is any.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which games")]
struct GamesChosen {
    /// Of this player.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// In which this player plays too.
    #[arg(long, value_name = "NAME")]
    opponent: Option<String>,
    /// Of people (guests among them), of bots, or mixed ones.
    #[arg(long, value_name = "WHO")]
    players: Option<Meeting>,
    /// On this board, such as 7x6 or 9x6x5.
    #[arg(long, value_name = "V")]
    variant: Option<Variant>,
    /// Those that count (true), or those that do not (false).
    #[arg(long, value_name = "BOOL")]
    rated: Option<bool>,
    /// That ended at or after this time, such as 2026-01-31T12:00:00Z, or the beginning of this day in UTC.
    #[arg(long, value_name = "TIME")]
    since: Option<TimeWanted>,
    /// That ended before this time or day.
    #[arg(long, value_name = "TIME")]
    until: Option<TimeWanted>,
    /// That ended so: first, second, draw or void.
    #[arg(long, value_name = "RESULT")]
    result: Option<ResultWanted>,
    /// That --player won, drew or lost, or that came to nothing: won, drawn, lost, void.
    #[arg(long, value_name = "OUTCOME", requires = "player")]
    outcome: Option<GameOutcome>,
    /// Of so many moves or more, those of both sides and of the opening counted.
    #[arg(long, value_name = "N")]
    plies_min: Option<PliesWanted>,
    /// Of so many moves or fewer.
    #[arg(long, value_name = "N")]
    plies_max: Option<PliesWanted>,
    /// That begin with these moves, such as 4453.
    #[arg(long, value_name = "MOVES")]
    opening: Option<OpeningWanted>,
}

impl GamesChosen {
    /// As the daemon is asked for them.
    fn pairs(&self) -> Vec<(&'static str, String)> {
        fn said(value: Option<&impl ToString>) -> Option<String> {
            value.map(ToString::to_string)
        }
        let pairs = [
            ("player", self.player.clone()),
            ("opponent", self.opponent.clone()),
            ("players", said(self.players.as_ref())),
            ("variant", said(self.variant.as_ref())),
            ("rated", said(self.rated.as_ref())),
            ("since", said(self.since.as_ref())),
            ("until", said(self.until.as_ref())),
            ("result", said(self.result.as_ref())),
            ("outcome", self.outcome.map(|outcome| outcome.word().to_owned())),
            ("plies_min", self.plies_min.map(|plies| plies.number().to_string())),
            ("plies_max", self.plies_max.map(|plies| plies.number().to_string())),
            ("opening", said(self.opening.as_ref())),
        ];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Take in the games of a file, whether a daemon runs or not.
///
/// The file has records, as `games export --format ndjson` writes them here or elsewhere (compact, pgn and csv, which
/// leave things out or are for other programs, are not read), or it is the log of a match or a tournament,
/// or it has lines of column digits: moves from the empty board, a result (1-0, 0-1, 1/2-1/2, first, second, draw),
/// which may be left out where the moves end the game, and the names of both players or none; blanks, tabs or commas
/// between.
///
/// The whole file is checked first: a line that breaks a rule is named, and nothing is imported. Games come in unrated,
/// for another arena's ratings mean nothing here; those that are there already are passed over, so that an import can
/// be repeated. Players are found by name; those who are not there are made, without a password.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold games import games.ndjson
  fourfold games import match.ndjson --player negamax:depth=6=Six
  fourfold games import games.txt --first ada --second bob")]
struct ImportGames {
    /// Records (ndjson), the log of a match or a tournament, or lines of column digits.
    file: PathBuf,
    #[command(flatten)]
    foreign: ForeignArgs,
    #[command(flatten)]
    data: DataArg,
}

/// Put the logs of all parts of a match or a tournament together, which --shard and --save wrote.
///
/// The log is the one that a run without parts would have written, but for times: `fourfold log` prints its table.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold games join part-*.ndjson --out match.ndjson")]
struct JoinGames {
    /// The logs of all parts, in any order.
    #[arg(value_name = "PART.ndjson", required = true)]
    parts: Vec<PathBuf>,
    /// Write the log of the whole to this file, which must not be there.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
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
    PossibleValuesParser::new(["ndjson", "compact", "pgn", "csv"])
        .try_map(|name| name.parse::<ExportFormat>())
}

impl GamesCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            GamesAction::Export(export) => export.run(),
            GamesAction::Import(import) => import.run(),
            GamesAction::Join(join) => join.run(),
            GamesAction::Verify(verify) => verify.run(),
        }
    }
}

impl ExportGames {
    fn run(self) -> anyhow::Result<()> {
        if self.labels && self.labelled_form().is_none() {
            return Err(
                Exit::usage("--labels: ndjson and csv have a place for them, the others have none").into()
            );
        }
        match &self.out {
            Some(path) => {
                let interrupt = Interrupt::listen()?;
                self.data.command(async |daemon| self.write_file(daemon, path, &interrupt).await)
            }
            None => self.data.command(async |daemon| self.write_out(daemon).await),
        }
    }

    async fn write_file(
        &self,
        daemon: &ControlClient,
        path: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", path.display());
        let mut out = BufWriter::new(Draft::begin(path).with_context(cannot)?);
        let written = self.write(daemon, &mut out, Some(interrupt)).await;
        interrupt.check(|| format!("nothing is in {} of this export", path.display()))?;
        let sum = written?;
        out.into_inner().map_err(IntoInnerError::into_error).and_then(Draft::finish).with_context(cannot)?;
        if self.checksum {
            let path = sum_file(path);
            std::fs::write(&path, self.sum_line(&sum))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    async fn write_out(&self, daemon: &ControlClient) -> anyhow::Result<()> {
        let sum = self.write(daemon, &mut BufWriter::new(io::stdout().lock()), None).await?;
        if self.checksum {
            io::stderr().write_all(self.sum_line(&sum).as_bytes())?;
        }
        Ok(())
    }

    /// Writes all of it, unless it is interrupted, and says the sum over what was written.
    async fn write(
        &self,
        daemon: &ControlClient,
        out: &mut impl Write,
        interrupt: Option<&Interrupt>,
    ) -> anyhow::Result<String> {
        let mut out = Summed { out, hash: Sha256::new(), interrupt };
        match self.labelled_form().filter(|_| self.labels) {
            Some(form) => self.write_labelled(daemon, form, &mut out).await?,
            None => self.write_text(daemon, &mut out).await?,
        }
        Ok(out.finish()?)
    }

    async fn write_text(
        &self,
        daemon: &ControlClient,
        out: &mut Summed<'_, impl Write>,
    ) -> anyhow::Result<()> {
        let mut progress = ProgressLine::unbounded("KiB");
        let (mut bytes, mut shown) = (0, 0);
        let after = self.after.map(|number| number.to_string());
        let take = |text: &[u8]| {
            bytes += text.len() as u64;
            progress.advance((bytes >> 10) - shown);
            shown = bytes >> 10;
            out.take(text)
        };
        Ok(daemon.export_games(self.format.name(), after.as_deref(), &self.chosen.pairs(), take).await?)
    }

    async fn write_labelled(
        &self,
        daemon: &ControlClient,
        form: LabelledForm,
        out: &mut Summed<'_, impl Write>,
    ) -> anyhow::Result<()> {
        let mut progress = ProgressLine::unbounded("games");
        let mut after = self.after.map(|number| number.to_string());
        let mut labeller = Labeller::new(form);
        out.take(labeller.heading().as_bytes())?;
        loop {
            let records = daemon.games(after.as_deref(), &self.chosen.pairs()).await?;
            for record in &records.items {
                out.take(labeller.write(record)?.as_bytes())?;
                progress.advance(1);
            }
            match records.cursor {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    }

    /// The line that `sha256sum --check` reads.
    fn sum_line(&self, sum: &str) -> String {
        let name = self.out.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
        format!("{sum}  {}\n", name.as_deref().unwrap_or("-"))
    }
}

/// Writes, and sums up what it wrote.
struct Summed<'a, W> {
    out: &'a mut W,
    hash: Sha256,
    /// What ends it early.
    interrupt: Option<&'a Interrupt>,
}

impl<W: Write> Summed<'_, W> {
    fn take(&mut self, text: &[u8]) -> io::Result<()> {
        if self.interrupt.is_some_and(Interrupt::is_told) {
            return Err(io::Error::other("interrupted"));
        }
        self.hash.update(text);
        self.out.write_all(text)
    }

    /// The sum, once all is written.
    fn finish(self) -> io::Result<String> {
        self.out.flush()?;
        Ok(HEXLOWER.encode(&self.hash.finalize()))
    }
}

/// Where the sum of a file is kept: beside it.
fn sum_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

impl ExportGames {
    /// The form of labelled games, if there is one.
    fn labelled_form(&self) -> Option<LabelledForm> {
        match self.format {
            ExportFormat::Ndjson => Some(LabelledForm::Ndjson),
            ExportFormat::Csv => Some(LabelledForm::Csv),
            ExportFormat::Pgn | ExportFormat::Compact => None,
        }
    }
}

impl ImportGames {
    fn run(self) -> anyhow::Result<()> {
        let Self { file, foreign, data } = self;
        let translated = foreign::records(&file, &foreign)?;
        let open = || -> anyhow::Result<Box<dyn BufRead + '_>> {
            Ok(match &translated {
                Some(foreign) => Box::new(foreign.records.as_bytes()),
                None => Box::new(open(&file)?),
            })
        };
        let records = import::check(open()?).map_err(|error| broken(&file, error))?;
        let (imported, passed_over) = data.command_new(async |daemon| -> anyhow::Result<_> {
            let mut progress = ProgressLine::new(records, "games");
            let (mut lines, mut imported, mut passed_over) = (open()?, 0, 0);
            loop {
                let portion = next_lines(&mut lines)?;
                if portion.is_empty() {
                    return Ok((imported, passed_over));
                }
                let taken = daemon.import_games(portion).await?;
                imported += taken.imported;
                passed_over += taken.passed_over;
                progress.advance(taken.imported + taken.passed_over);
            }
        })?;
        if let Some(foreign) = translated.as_ref().filter(|_| imported > 0) {
            io::stderr().write_all(foreign.names.as_bytes())?;
        }
        Ok(writeln!(io::stdout(), "games imported: {imported}, there already: {passed_over}")?)
    }
}

/// The next lines of a file, enough that a command with them does not cost more than what it brings; none at the end.
fn next_lines(file: &mut impl BufRead) -> io::Result<String> {
    let mut lines = String::new();
    while lines.len() < IMPORT_PORTION && file.read_line(&mut lines)? > 0 {}
    Ok(lines)
}

impl JoinGames {
    fn run(self) -> anyhow::Result<()> {
        let joined = join::join(&self.parts, &self.out).map_err(cannot_join)?;
        let (games, out) = (joined.course.results().games(), self.out.display());
        writeln!(io::stdout(), "{games} games of {} parts joined in {out}", self.parts.len())?;
        if joined.left_out > 0 {
            let why = "a run in one go would have ended, or taken somebody out, before them";
            writeln!(io::stdout(), "{} games left out: {why}", joined.left_out)?;
        }
        Ok(())
    }
}

fn cannot_join(error: JoinError) -> anyhow::Error {
    match error {
        JoinError::Log(error @ LogError::Io { .. }) => Exit::new(Code::NoInput, with_causes(&error)).into(),
        JoinError::Log(error @ LogError::Exists { .. }) => Exit::new(Code::Usage, error.to_string()).into(),
        error => Exit::new(Code::Data, error.to_string()).into(),
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
