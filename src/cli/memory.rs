//! `fourfold memory`: what a pattern memory has learnt, to look at and to carry about.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use fourfold::bot_files::{self, BotFileError};
use fourfold::control::{Answer, LearnerVerified, PatternShown, Request};
use fourfold::files;
use fourfold_bots::memory::{PatternMemory, Vocabulary, read_xml, write_xml};
use fourfold_bots::{BotSpec, registry};
use fourfold_engine::Variant;
use serde::Serialize;

use super::exit::{Code, Exit};
use super::operator::DataArg;
use super::output;

/// Bytes of a memory's file at most. One with all patterns of the usual board has some hundred kilobytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Look at a pattern memory, or carry it from one bot to another; check what the arena's learners know.
///
/// The memory is the file that the bot's settings name. Without `file=`, `show` and `export` are about the arena's learner
/// of that name, such as memory-spectator or memory@300. A learner knows what its games taught it and nothing else, so
/// `import` without `file=` is about NAME.xml in the data directory, by which the house bot plays where nothing learns.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold memory show --bot memory@300
  fourfold memory verify
  fourfold memory export copy.xml --bot memory@300
  fourfold memory import copy.xml --bot memory-windows")]
pub(super) struct Memory {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the patterns with how often they were seen, won and lost, the most seen first.
    #[command(after_help = "Example:\n  fourfold memory show --bot memory:file=memory.xml --limit 20")]
    Show {
        /// Only the first N patterns.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
        /// Whose memory: a learner of the arena, or `memory` or `memory-windows` with `file=`.
        #[arg(long, value_name = "BOT", default_value = "memory")]
        bot: String,
        /// The board that a file was learnt on.
        #[arg(long, value_name = "V", default_value_t)]
        variant: Variant,
        #[command(flatten)]
        data: DataArg,
    },
    /// Make every learner of the arena, and all its frozen versions, again from the records, and compare byte for byte.
    #[command(after_help = "Example:\n  fourfold memory verify --data /var/lib/fourfold")]
    Verify {
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        data: DataArg,
    },
    /// Write the memory to FILE, `-` for standard output.
    #[command(after_help = "\
Examples:
  fourfold memory export memory.xml --bot memory-spectator
  fourfold play --second memory:file=memory.xml")]
    Export {
        /// Where to.
        file: PathBuf,
        /// In the XML of 2004, which is the only form there is.
        #[arg(long)]
        xml: bool,
        /// Whose memory: a learner of the arena, or `memory` or `memory-windows` with `file=`.
        #[arg(long, value_name = "BOT", default_value = "memory")]
        bot: String,
        /// The board that a file was learnt on.
        #[arg(long, value_name = "V", default_value_t)]
        variant: Variant,
        #[command(flatten)]
        data: DataArg,
    },
    /// Put the memory in FILE in place of what the bot knows. A broken FILE is refused, and the bot keeps what it knows.
    #[command(after_help = "Example:\n  fourfold memory import memory.xml --xml")]
    Import {
        /// Where from.
        file: PathBuf,
        /// In the XML of 2004, which is the only form there is.
        #[arg(long)]
        xml: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// Whose memory.
#[derive(Debug, clap::Args)]
struct Place {
    /// Whose memory: `memory` or `memory-windows`, with `file=` if it is not the house bot's.
    #[arg(long, value_name = "BOT", default_value = "memory")]
    bot: BotSpec,
    /// The board that it was learnt on.
    #[arg(long, value_name = "V", default_value_t)]
    variant: Variant,
    /// The daemon's data directory.
    #[arg(long, value_name = "DIR", env = "FOURFOLD_DATA", default_value = "./fourfold-data")]
    data: PathBuf,
}

impl Place {
    /// The file that a bot's settings name, if they name one.
    fn of_file(bot: &str, variant: Variant) -> Option<Self> {
        let bot: BotSpec = bot.parse().ok()?;
        bot_files::knowledge_file(&bot)?;
        Some(Self { bot, variant, data: PathBuf::new() })
    }

    fn vocabulary(&self) -> anyhow::Result<Vocabulary> {
        registry::build_taught(&self.bot, self.variant, "")?;
        match self.bot.name() {
            "memory" => Ok(Vocabulary::Runs),
            "memory-windows" => Ok(Vocabulary::Windows),
            other => Err(Exit::usage(format!("{other} has no pattern memory")).into()),
        }
    }

    fn path(&self) -> PathBuf {
        let own = self.data.join(format!("{}.xml", self.bot.name()));
        bot_files::knowledge_file(&self.bot).unwrap_or(own)
    }

    fn read(&self, path: &Path) -> anyhow::Result<PatternMemory> {
        let vocabulary = self.vocabulary()?;
        let bytes = files::read_at_most(path, FILE_BYTES_MAX)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let bytes = bytes
            .ok_or_else(|| Exit::new(Code::NoInput, format!("there is no memory in {}", path.display())))?;
        let content = |reason: String| BotFileError::Content { path: path.to_owned(), reason };
        let text = String::from_utf8(bytes).map_err(|_| content("it is not a text".to_owned()))?;
        Ok(read_xml(&text, vocabulary, self.variant).map_err(|error| content(error.to_string()))?)
    }
}

/// A pattern as `--json` shows it.
#[derive(Serialize)]
struct Row {
    /// Whose stones, the cells with a stone, and dots for those without.
    pattern: String,
    seen: u32,
    won: u32,
    lost: u32,
    ending: bool,
    weighting: i32,
    /// The cell whose stone won a game over it.
    answer: Option<String>,
}

impl Memory {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Show { limit, json, bot, variant, data } => match Place::of_file(&bot, variant) {
                Some(place) => show(&place, limit, json),
                None => show_learner(&data, bot, limit, json),
            },
            What::Verify { json, data } => verify(&data, json),
            What::Export { file, xml: _, bot, variant, data } => {
                let text = match Place::of_file(&bot, variant) {
                    Some(place) => write_xml(&place.read(&place.path())?),
                    None => known_xml(&data, &bot, variant)?,
                };
                export(&text, &file)
            }
            What::Import { file, xml: _, place } => import(&place, &file),
        }
    }
}

fn show(place: &Place, limit: Option<usize>, json: bool) -> anyhow::Result<()> {
    let memory = place.read(&place.path())?;
    let mut rows: Vec<Row> = memory
        .iter()
        .map(|(pattern, record)| Row {
            pattern: pattern.to_string(),
            seen: record.seen,
            won: record.won,
            lost: record.lost,
            ending: record.is_ending,
            weighting: record.weighting,
            answer: record.response.map(|cell| cell.to_string()),
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.seen));
    rows.truncate(limit.unwrap_or(usize::MAX));
    if json {
        return output::print_json(&rows);
    }
    let cells = |row: &Row| {
        let ending = if row.ending { "yes" } else { "" };
        [
            row.pattern.clone(),
            row.seen.to_string(),
            row.won.to_string(),
            row.lost.to_string(),
            ending.to_owned(),
            row.weighting.to_string(),
            row.answer.clone().unwrap_or_default(),
        ]
    };
    let cells: Vec<_> = rows.iter().map(cells).collect();
    output::print_table(["Pattern", "Seen", "Won", "Lost", "Ending", "Weighting", "Answer"], &cells)?;
    Ok(())
}

/// A learner of the arena, whether the daemon runs or not.
fn show_learner(data: &DataArg, name: String, limit: Option<usize>, json: bool) -> anyhow::Result<()> {
    let mut learner = match ask(data, Request::LearnerShow { name })? {
        Answer::Learner(learner) => learner,
        other => return Err(output::unexpected(&other)),
    };
    learner.patterns.truncate(limit.unwrap_or(usize::MAX));
    if json {
        return output::print_json(&learner.patterns);
    }
    writeln!(io::stdout(), "{} games learnt", learner.games)?;
    if learner.patterns.iter().all(|row| row.seen == 0) {
        // It keeps weights alone.
        let cells = |row: &PatternShown| [row.pattern.clone(), format!("{:+}", row.weighting)];
        let cells: Vec<_> = learner.patterns.iter().map(cells).collect();
        output::print_table(["Pattern", "Weighting"], &cells)?;
        return Ok(());
    }
    let cells = |row: &PatternShown| {
        [
            row.pattern.clone(),
            row.seen.to_string(),
            row.won.to_string(),
            row.lost.to_string(),
            row.weighting.to_string(),
        ]
    };
    let cells: Vec<_> = learner.patterns.iter().map(cells).collect();
    output::print_table(["Pattern", "Seen", "Won", "Lost", "Weighting"], &cells)?;
    Ok(())
}

fn verify(data: &DataArg, json: bool) -> anyhow::Result<()> {
    let learners = match ask(data, Request::LearnersVerify)? {
        Answer::LearnersVerified(learners) => learners,
        other => return Err(output::unexpected(&other)),
    };
    if json {
        output::print_json(&learners)?;
    } else {
        let mut out = io::stdout().lock();
        for LearnerVerified { name, games, versions, findings } in &learners {
            for finding in findings {
                writeln!(out, "{name}: {finding}")?;
            }
            let verdict =
                if findings.is_empty() { "made again byte for byte" } else { "not what the records teach" };
            writeln!(out, "{name}: {games} games, {versions} frozen versions: {verdict}")?;
        }
    }
    match learners.iter().map(|learner| learner.findings.len()).sum::<usize>() {
        0 => Ok(()),
        1 => Err(Exit::new(Code::Data, "one disagreement").into()),
        count => Err(Exit::new(Code::Data, format!("{count} disagreements")).into()),
    }
}

/// Asks whoever uses the data directory.
fn ask(data: &DataArg, request: Request) -> anyhow::Result<Answer> {
    super::runtime()?.block_on(async {
        let mut operator = data.open().await?;
        let answer = operator.call(request).await;
        operator.close().await?;
        answer
    })
}

/// What a learner of the arena knows, whether the daemon runs or not; where nothing learns, what the house bot of that name
/// plays by.
fn known_xml(data: &DataArg, name: &str, variant: Variant) -> anyhow::Result<String> {
    let learner = match ask(data, Request::LearnerExport { name: name.to_owned() }) {
        Ok(Answer::LearnerXml { xml }) => return Ok(xml),
        Ok(other) => output::unexpected(&other),
        Err(error) => error,
    };
    let house = name.parse().ok().map(|bot| Place { bot, variant, data: data.directory().to_owned() });
    match house.filter(|place| place.path().exists()) {
        Some(place) => Ok(write_xml(&place.read(&place.path())?)),
        None => Err(learner),
    }
}

fn export(text: &str, file: &Path) -> anyhow::Result<()> {
    if file == Path::new("-") {
        io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    files::replace(file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

fn import(place: &Place, file: &Path) -> anyhow::Result<()> {
    let memory = place.read(file)?;
    let path = place.path();
    let unwritable = || format!("cannot write {}", path.display());
    fs::create_dir_all(files::directory(&path)).with_context(unwritable)?;
    files::replace(&path, write_xml(&memory).as_bytes()).with_context(unwritable)?;
    writeln!(
        io::stdout(),
        "{} knows {} patterns now: {}",
        place.bot.name(),
        memory.iter().len(),
        path.display()
    )?;
    Ok(())
}
