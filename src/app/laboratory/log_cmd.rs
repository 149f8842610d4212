//! `fourfold log`: what stands in the log of a match or a tournament.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use fourfold_arena::course::Course;
use fourfold_arena::format::Format;
use fourfold_arena::log::{self, Found, Log, LogError, Origin};
use fourfold_arena::rate::{Games, Only, RateError, Trust};
use fourfold_arena::record::MatchRecord;
use fourfold_arena::report::{MatchReport, RatingTable};
use fourfold_arena::runner;

use crate::app::laboratory::labels::{LabelledForm, Labeller};
use crate::app::laboratory::{contest, match_cmd, tournament};
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::output;
use crate::storage::records::Record;
use crate::storage::records::export::ExportFormat;
use crate::system::causes::with_causes;

/// Print the table of a log, its games in another format, or whether it is whole.
///
/// The log is what `fourfold match` and `fourfold tournament` write with --save; it is not changed. Without a flag its
/// table is printed, as the run printed it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold log match.ndjson
  fourfold log match.ndjson --pgn > match.pgn
  fourfold log match.ndjson --verify")]
pub(in crate::app) struct LogCommand {
    /// The log.
    #[arg(value_name = "FILE.ndjson")]
    file: PathBuf,
    #[command(flatten)]
    what: LogOutput,
    /// Print the table as one JSON object.
    #[arg(long, conflicts_with_all = ["pgn", "csv", "labels", "verify"])]
    json: bool,
}

/// What to print.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
struct LogOutput {
    /// The table of the run, which is what is printed without a flag.
    #[arg(long)]
    table: bool,
    /// All games as PGN, for Ordo and other programs.
    #[arg(long)]
    pgn: bool,
    /// All games as CSV.
    #[arg(long)]
    csv: bool,
    /// All games as records with what the solver says of every move, as `games export --labels` has it.
    #[arg(long)]
    labels: bool,
    /// Check every line: its checksum, its place in the schedule, its moves and its result.
    #[arg(long)]
    verify: bool,
}

impl LogCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let found = Log::read(&self.file).map_err(unreadable)?;
        if found.cut > 0 {
            writeln!(io::stderr(), "{}: passed over a torn last line", self.file.display())?;
        }
        match self.what {
            LogOutput { pgn: true, .. } => Ok(export(&found.games, ExportFormat::Pgn)?),
            LogOutput { csv: true, .. } => Ok(export(&found.games, ExportFormat::Csv)?),
            LogOutput { labels: true, .. } => label(&found.games),
            LogOutput { verify: true, .. } => self.verify(&found),
            LogOutput { table: _, .. } => self.print_table(&found),
        }
    }

    fn course(&self, found: &Found) -> anyhow::Result<Course> {
        runner::course_of(&self.file, found).map_err(unreadable)
    }

    fn print_table(&self, found: &Found) -> anyhow::Result<()> {
        let course = self.course(found)?;
        match (course.plan().format, self.json) {
            (Format::Match, true) => output::print_json(&MatchReport::new(&course)),
            (_, true) => output::print_json(&RatingTable::of_tournament(&course)),
            (Format::Match, false) => Ok(match_cmd::print(&MatchReport::new(&course), &course)?),
            (_, false) => Ok(tournament::print(&RatingTable::of_tournament(&course), &course)?),
        }
    }

    /// Reading has held the lines against their checksums; the schedule and the moves are left.
    fn verify(&self, found: &Found) -> anyhow::Result<()> {
        let course = self.course(found)?;
        let mut games = Games::new(Only::default(), Trust::Checked);
        for record in &found.games {
            games.read(log::encode(record).as_slice()).map_err(|error| wrong_game(record, error))?;
        }
        let mut out = io::stdout().lock();
        let state = course.over().map_or("not finished", |_| "finished");
        writeln!(out, "{} games, every line as it was written; {state}", found.games.len())?;
        for line in found.origin.iter().flat_map(origin_lines) {
            writeln!(out, "{line}")?;
        }
        Ok(contest::warn_of_repeats(course.results().distinct(), course.results().games(), 0)?)
    }
}

fn wrong_game(record: &MatchRecord, error: RateError) -> Exit {
    let reason = match error {
        RateError::Line { reason, .. } => reason,
        RateError::Unreadable(error) => error.to_string(),
    };
    Exit::new(Code::Data, format!("game {}: {reason}", record.id))
}

fn origin_lines(origin: &Origin) -> Vec<String> {
    let mut lines = vec![format!("fourfold {} on {}", origin.version, origin.machine)];
    let programs = origin.programs.iter();
    lines.extend(programs.map(|file| format!("{}: {} sha256 {}", file.entrant, file.file, file.sha256)));
    lines
}

fn export(games: &[MatchRecord], format: ExportFormat) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    out.write_all(format.heading().as_bytes())?;
    let mut text = Vec::new();
    for game in games {
        text.clear();
        format.add(&record_of(game)?, &mut text);
        out.write_all(&text)?;
    }
    Ok(out.flush()?)
}

fn label(games: &[MatchRecord]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let mut labeller = Labeller::new(LabelledForm::Ndjson);
    for game in games {
        out.write_all(labeller.write(&record_of(game)?)?.as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Both are the same record; this one knows every reason there is.
fn record_of(game: &MatchRecord) -> anyhow::Result<Record> {
    serde_json::from_slice(&log::encode(game)).with_context(|| format!("game {} is no record", game.id))
}

/// A log that is not there is not a damaged one.
pub(in crate::app) fn unreadable(error: LogError) -> anyhow::Error {
    match &error {
        LogError::Io { .. } => {
            Exit::new(Code::NoInput, format!("cannot read {}", with_causes(&error))).into()
        }
        LogError::OtherRun { .. } => Exit::new(Code::Data, error.to_string()).into(),
        LogError::Exists { .. } | LogError::InUse { .. } | LogError::Corrupt { .. } => {
            contest::log_error(error)
        }
    }
}
