//! `fourfold memory`: what a pattern memory has learnt, to look at and to carry about.

mod learner;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::bot_files;
use anyhow::Context;
use clap::Subcommand;

use crate::http::control::{ControlClient, ControlError, FileForm, LearnerFile};
use crate::model::ids::GameId;
use crate::study::learning::verify::{LearnerReport, Remedy};
use crate::system::bot_files::BotFileError;
use crate::system::files;
use fourfold_bots::memory::{PatternMemory, Vocabulary, read_xml, write_xml};
use fourfold_bots::{BotSpec, registry};
use fourfold_engine::Variant;
use serde::Serialize;

use super::operator::DataArg;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;

/// Bytes of a memory's file at most. One with all patterns of the usual board has some hundred kilobytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Look at what a learner knows, or carry it from one bot to another; check what the arena's learners know.
///
/// What a bot learnt is in the file that its settings name. Without `file=`, `show` and `export` are about the arena's
/// learner of that name, such as memory-spectator or memory@300; where there is none, about NAME.xml in the data
/// directory, by which the house bot plays where nothing learns. A learner knows what its games taught it and nothing
/// else, so `import` without `file=` is about NAME.xml always.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold memory show --bot memory@300
  fourfold memory show --bot memory --game 7kQ2mXy9Ab
  fourfold memory verify
  fourfold memory export copy.xml --bot memory@300
  fourfold memory import copy.xml --bot memory-windows")]
pub(super) struct MemoryCommand {
    #[command(subcommand)]
    what: MemoryAction,
}

#[derive(Debug, Subcommand)]
enum MemoryAction {
    /// Show how a learner got better, what its last lessons changed, and its patterns with how often they were seen,
    /// won and lost, the most seen first.
    #[command(after_help = "\
Examples:
  fourfold memory show --bot ntuple-live --limit 20
  fourfold memory show --bot memory --game 7kQ2mXy9Ab
  fourfold memory show --bot memory:file=memory.xml --json")]
    Show {
        /// Only the first N patterns.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Instead, why the bot moved as it did in this game, the last part of its link: the patterns that spoke.
        #[arg(long, value_name = "ID", conflicts_with_all = ["limit", "variant"])]
        game: Option<GameId>,
        /// Print one JSON object; with --game one array of moves.
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
    #[command(after_help = "\
Examples:
  fourfold memory verify --data /var/lib/fourfold
  fourfold memory verify --repair --data /var/lib/fourfold")]
    Verify {
        /// Have learners that are not what their lessons teach made again from them: by the daemon, at once or when it
        /// runs next. One whose lessons are missing or cannot be learnt stays as it is.
        #[arg(long)]
        repair: bool,
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        data: DataArg,
    },
    /// Write the memory to FILE, `-` for standard output: as XML, a network such as ntuple-live as `ntuple:file=` reads
    /// it.
    #[command(after_help = "\
Examples:
  fourfold memory export memory.xml --bot memory-spectator
  fourfold play --second memory:file=memory.xml
  fourfold memory export live.bin --bot ntuple-live@1000
  fourfold play --second ntuple:plies=0,file=live.bin")]
    Export {
        /// Where to.
        file: PathBuf,
        /// In the XML of 2004, which is the only form that a pattern memory has; fails for a network.
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
    /// Put the memory in FILE in place of what the bot knows. A broken FILE is refused, and the bot keeps what it
    /// knows.
    #[command(after_help = "Example:\n  fourfold memory import memory.xml --xml")]
    Import {
        /// Where from.
        file: PathBuf,
        /// In the XML of 2004, which is the only form there is.
        #[arg(long)]
        xml: bool,
        #[command(flatten)]
        place: MemoryPlace,
    },
}

/// Whose memory.
#[derive(Debug, clap::Args)]
struct MemoryPlace {
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

impl MemoryPlace {
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

/// A memory as `--json` shows it.
#[derive(Serialize)]
struct PatternRows {
    patterns: Vec<PatternRow>,
}

/// A pattern as `--json` shows it.
#[derive(Serialize)]
struct PatternRow {
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

impl MemoryCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            MemoryAction::Show { game: Some(game), json, bot, data, .. } => {
                learner::explain(&data, &bot, &game, json)
            }
            MemoryAction::Show { limit, game: None, json, bot, variant, data } => {
                match MemoryPlace::of_file(&bot, variant) {
                    Some(place) => show(&place, limit, json),
                    None => match known(&data, &bot, variant, async |daemon| daemon.learner(&bot).await)? {
                        Known::Arena(shown) => learner::show(shown, limit, json),
                        Known::House(place) => show(&place, limit, json),
                    },
                }
            }
            MemoryAction::Verify { repair, json, data } => verify(&data, repair, json),
            MemoryAction::Export { file, xml, bot, variant, data } => {
                export_known(&file, xml, &bot, variant, &data)
            }
            MemoryAction::Import { file, xml: _, place } => import(&place, &file),
        }
    }
}

/// Saves what a bot knows, wherever that is.
fn export_known(file: &Path, xml: bool, bot: &str, variant: Variant, data: &DataArg) -> anyhow::Result<()> {
    let of_place = |place: &MemoryPlace| Ok::<_, anyhow::Error>(write_xml(&place.read(&place.path())?));
    if let Some(place) = MemoryPlace::of_file(bot, variant) {
        return export(of_place(&place)?.as_bytes(), file);
    }
    match known(data, bot, variant, async |daemon| daemon.learner_file(bot).await)? {
        Known::Arena(LearnerFile { form: FileForm::Network, .. }) if xml => {
            Err(Exit::usage(format!("{bot} is a network: it has no XML")).into())
        }
        Known::Arena(LearnerFile { form: _, bytes }) => export(&bytes, file),
        Known::House(place) => export(of_place(&place)?.as_bytes(), file),
    }
}

fn show(place: &MemoryPlace, limit: Option<usize>, json: bool) -> anyhow::Result<()> {
    let memory = place.read(&place.path())?;
    let mut rows: Vec<PatternRow> = memory
        .iter()
        .map(|(pattern, record)| PatternRow {
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
        return output::print_json(&PatternRows { patterns: rows });
    }
    let cells = |row: &PatternRow| {
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

fn verify(data: &DataArg, repair: bool, json: bool) -> anyhow::Result<()> {
    let learners =
        data.command(
            async |daemon| {
                if repair { daemon.repair_learners().await } else { daemon.verify_learners().await }
            },
        )?;
    if json {
        output::print_json(&learners)?;
    } else {
        let mut out = io::stdout().lock();
        for LearnerReport { name, games, versions, findings, remedy, revision: _ } in &learners {
            for finding in findings {
                writeln!(out, "{name}: {finding}")?;
            }
            let verdict = match (findings.is_empty(), remedy) {
                (true, _) => "made again byte for byte",
                (false, Remedy::Daemon) => "not what the records teach, the daemon makes it again",
                (false, Remedy::Repair | Remedy::None) => "not what the records teach",
            };
            writeln!(out, "{name}: {games} games, {versions} frozen versions: {verdict}")?;
        }
    }
    // What was asked for is done.
    let is_left = |learner: &&LearnerReport| !(repair && learner.remedy == Remedy::Daemon);
    let left: Vec<&LearnerReport> = learners.iter().filter(is_left).collect();
    let count = left.iter().map(|learner| learner.findings.len()).sum::<usize>();
    let count = match count {
        0 => return Ok(()),
        1 => "one disagreement".to_owned(),
        count => format!("{count} disagreements"),
    };
    let is_some = |remedy| left.iter().any(|learner| learner.remedy == remedy);
    let advice = if is_some(Remedy::Repair) {
        ": `fourfold memory verify --repair` has learners made again"
    } else if is_some(Remedy::Daemon) {
        ": a daemon with learning on makes learners again"
    } else {
        ""
    };
    Err(Exit::new(Code::Data, format!("{count}{advice}")).into())
}

/// Where somebody's knowledge is.
enum Known<T> {
    /// With a learner of the arena.
    Arena(T),
    /// In the file of the house bot of that name.
    House(MemoryPlace),
}

/// Asks for a learner of the arena, whether the daemon runs or not; where there is none of that name, for what the
/// house bot of that name plays by. Any other failure is told: what is in the file is not what was asked for.
fn known<T>(
    data: &DataArg,
    name: &str,
    variant: Variant,
    ask: impl AsyncFnOnce(&ControlClient) -> Result<T, ControlError>,
) -> anyhow::Result<Known<T>> {
    let house = || {
        let bot = name.parse().ok()?;
        let place = MemoryPlace { bot, variant, data: data.directory().to_owned() };
        place.path().exists().then_some(place)
    };
    if !data.has_database()
        && let Some(place) = house()
    {
        return Ok(Known::House(place));
    }
    match data.command(ask) {
        Ok(answer) => Ok(Known::Arena(answer)),
        Err(error) if is_no_learner(&error) => house().map(Known::House).ok_or(error),
        Err(error) => Err(error),
    }
}

/// Whether nobody of the arena has this name.
fn is_no_learner(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ControlError>().is_some_and(ControlError::is_no_learner)
}

fn export(bytes: &[u8], file: &Path) -> anyhow::Result<()> {
    if file == Path::new("-") {
        io::stdout().write_all(bytes)?;
        return Ok(());
    }
    files::replace(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

fn import(place: &MemoryPlace, file: &Path) -> anyhow::Result<()> {
    let memory = place.read(file)?;
    let path = place.path();
    fs::create_dir_all(files::directory(&path))
        .with_context(|| format!("cannot write {}", path.display()))?;
    bot_files::put(&path, write_xml(&memory).as_bytes())?;
    let (bot, patterns) = (place.bot.name(), memory.iter().len());
    let mut out = io::stdout().lock();
    writeln!(out, "{bot} knows {patterns} patterns now: {}", path.display())?;
    if bot_files::knowledge_file(&place.bot).is_none() {
        writeln!(
            out,
            "With learning.enabled, as it is unless set, the arena's {bot} plays by what its games taught it, not by this."
        )?;
    }
    Ok(())
}
