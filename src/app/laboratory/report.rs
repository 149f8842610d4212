//! `fourfold report`: a log as a page, or as tables for a paper.

use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fourfold_arena::course::Course;
use fourfold_arena::format::Format;
use fourfold_arena::log::{Found, Log, Origin};
use fourfold_arena::rate::{Games, Only, Trust};
use fourfold_arena::report::{MatchReport, RatingTable};
use fourfold_arena::runner;

use crate::app::laboratory::log_cmd;
use crate::app::laboratory::paper::{Paper, PaperFormat, difference_picture, ratings_picture, sum_of};
use crate::app::laboratory::rate;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;

/// Make a page, or tables for a paper, of the log of a match or a tournament.
///
/// The page has the result with its error, the cross-table, the ratings as a picture, and all that is needed to make it
/// again: seed, plan, version, machine, the programs' checksums and that of the log. It needs nothing beside itself.
/// Other files of records, such as `fourfold games export` writes, are rated.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold report match.ndjson --out match.html
  fourfold report tournament.ndjson --format latex > table.tex")]
pub(in crate::app) struct ReportCommand {
    /// The log.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Tables instead of a page.
    #[arg(long, value_enum)]
    format: Option<PaperFormat>,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ReportCommand {
    pub(in crate::app) fn run(&self) -> anyhow::Result<()> {
        let (mut paper, pictures) = if is_log(&self.log)? { self.of_log()? } else { self.of_records()? };
        paper.facts.push(("log", sum_of(&self.log)?));
        let text = match self.format {
            Some(format) => paper.text(format),
            None => paper.page(&pictures),
        };
        match &self.out {
            Some(path) => {
                std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
            }
            None => Ok(io::stdout().write_all(text.as_bytes())?),
        }
    }

    fn of_log(&self) -> anyhow::Result<(Paper, Vec<String>)> {
        let found = Log::read(&self.log).map_err(log_cmd::unreadable)?;
        let course = runner::course_of(&self.log, &found).map_err(log_cmd::unreadable)?;
        let (mut paper, picture) = match course.plan().format {
            Format::Match => {
                let report = MatchReport::new(&course);
                (Paper::of_match(&report, &course), difference_picture(&report))
            }
            Format::RoundRobin
            | Format::Gauntlet { .. }
            | Format::Swiss { .. }
            | Format::Knockout
            | Format::Ladder => {
                let table = RatingTable::of_tournament(&course);
                (Paper::of_tournament(&table, &course), ratings_picture(&table))
            }
        };
        paper.warnings.extend(unfinished(&course));
        add_origin(&mut paper, &found);
        Ok((paper, vec![picture]))
    }

    fn of_records(&self) -> anyhow::Result<(Paper, Vec<String>)> {
        let name = self.log.display();
        let mut games = Games::new(Only::default(), Trust::Checked);
        let file = BufReader::new(input::open_file(&self.log)?);
        games.read(file).map_err(|error| Exit::new(rate::code(&error), format!("{name}: {error}")))?;
        if games.is_empty() {
            return Err(Exit::new(Code::Data, format!("{name}: there is no finished game in it")).into());
        }
        let table = games.rate(&[]);
        Ok((Paper::of_ratings(&table), vec![ratings_picture(&table)]))
    }
}

/// Whether a file begins as logs of runs do.
fn is_log(path: &Path) -> anyhow::Result<bool> {
    const BEGINNING: &[u8] = br#"{"event":"start""#;
    let mut begin = Vec::new();
    input::open_file(path)?
        .take(BEGINNING.len() as u64)
        .read_to_end(&mut begin)
        .map_err(|error| input::unreadable(path, &error))?;
    Ok(begin == BEGINNING)
}

fn unfinished(course: &Course) -> Option<String> {
    let games = course.results().games();
    course.over().is_none().then(|| format!("the run is not finished: {games} games are in the log"))
}

/// What made the log stands in it; what this process is belongs to the report alone.
fn add_origin(paper: &mut Paper, found: &Found) {
    let Some(Origin { version, machine, programs, command }) = &found.origin else { return };
    for (name, value) in &mut paper.facts {
        match *name {
            "command" if command.is_empty() => "not in the log".clone_into(value),
            "command" => command.clone_into(value),
            "version" => *value = format!("fourfold {version}"),
            "machine" => machine.clone_into(value),
            _ => {}
        }
    }
    let program = |file: &fourfold_arena::log::ProgramFile| {
        ("program", format!("{}: {} SHA-256 {}", file.entrant, file.file, file.sha256))
    };
    paper.facts.extend(programs.iter().map(program));
}
