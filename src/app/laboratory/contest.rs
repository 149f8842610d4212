//! What matches and tournaments share on the command line: flags, entrants, log, and the run itself.

pub(in crate::app) mod live;
mod origin;
pub(in crate::app) mod programs;

use std::collections::HashMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::programs::ProgramArgs;
use crate::app::laboratory::paper::{Paper, PaperFormat, sum_of};
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::input;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::seed;
use crate::system::bot_files;
use crate::system::causes::with_causes;
use anyhow::Context;
use fourfold_arena::course::Course;
use fourfold_arena::entrant::Entrant;
use fourfold_arena::format::Format;
use fourfold_arena::house::HouseEntrant;
use fourfold_arena::log::LogError;
use fourfold_arena::plan::Plan;
use fourfold_arena::program::spec::{ProgramSpec, ProgramSpecError};
use fourfold_arena::report::FaultKindReport;
use fourfold_arena::runner::{self, Observer, Run, RunError};
use fourfold_arena::shard::Shard;
use fourfold_arena::stats::sprt::Sprt;
use fourfold_arena::suite::{OpeningKind, Orientation, Suite, SuiteError};
use fourfold_arena::time::{BotLimits, TimeControl};
use fourfold_arena::watchdog::Watchdog;
use fourfold_bots::BotSpec;
use fourfold_engine::Variant;

/// Games of a run at most: more than any machine plays in its life.
const GAMES_MAX: u64 = 1_000_000_000_000;

/// Games at the same time at most: each has a thread, and programs of its own.
const CONCURRENCY_MAX: usize = 4_096;

/// A file of openings has at most so many bytes: all 67,557 after eight plies with their scores are under one MiB, and
/// what has no end would fill the memory.
const OPENINGS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Plies of balanced openings that are offered: after an odd number the other side is to move, and the book reaches no
/// further.
const BALANCED_PLIES: [u32; 4] = [4, 6, 8, 10];

/// Flags of every contest.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(in crate::app) struct ContestArgs {
    /// Where games begin: `balanced` (positions after four plies whose exact value is a draw), `balanced:6`,
    /// `balanced:8` or `balanced:10` (longer ones), `empty`, or a file with the moves of one opening a line, played as
    /// they are written.
    #[arg(long, value_name = "SUITE")]
    openings: Option<String>,
    /// Let a coin decide for each opening of a file whether left and right are exchanged, as is done with balanced
    /// ones.
    #[arg(long, requires = "openings")]
    mirror: bool,
    /// Time for each move, in milliseconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400_000), conflicts_with_all = ["nodes", "time"])]
    move_ms: Option<u64>,
    /// Search nodes or playouts for each move: equal choices on every machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "time")]
    nodes: Option<u64>,
    /// Time for the whole game and for each move on top, in seconds or with a unit: 60+1, 50ms+5ms.
    #[arg(long, value_name = "BANK+INC")]
    time: Option<TimeControl>,
    /// How far a time limit may be overrun without losing by it, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(..=60_000))]
    margin_ms: u64,
    /// Board size and line length, such as 7x6 or 9x6x5.
    #[arg(long, value_name = "V", default_value_t)]
    variant: Variant,
    /// Games at the same time; by default as many as there are processors.
    #[arg(long, value_name = "N", value_parser = parse_concurrency)]
    concurrency: Option<NonZeroUsize>,
    /// Decides openings and whatever bots draw. Equal seeds give equal games; by default a new one, which is printed.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Take an entrant out after so many lost games in a row that were its own fault; 0 for never.
    #[arg(long, value_name = "N", default_value_t = 10)]
    faults_max: u32,
    /// Play only the K-th of N equal parts of all pairs; `fourfold games join` makes one log of the parts' logs. Nobody
    /// is taken out and no test ends before the parts are joined.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Write every game to this log, from which everything can be computed again.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Go on with the log of --save where it ends.
    #[arg(long, requires = "save")]
    resume: bool,
    /// Print one JSON object at the end.
    #[arg(long)]
    json: bool,
    /// Print a line of JSON for every game as it finishes, then the object of --json.
    #[arg(long, conflicts_with = "json")]
    events: bool,
    #[command(flatten)]
    programs: ProgramArgs,
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::app) enum Output {
    Text,
    Json,
    Events,
}

/// What a contest adds to the flags.
#[derive(Debug)]
pub(in crate::app) struct Contest {
    pub(in crate::app) format: Format,
    pub(in crate::app) entrants: Vec<String>,
    /// Pairs of each meeting.
    pub(in crate::app) pairs: u64,
    pub(in crate::app) sprt: Option<Sprt>,
    /// Unless a flag says otherwise.
    pub(in crate::app) openings: OpeningKind,
}

impl ContestArgs {
    pub(in crate::app) fn output(&self) -> Output {
        match (self.json, self.events) {
            (true, _) => Output::Json,
            (false, true) => Output::Events,
            (false, false) => Output::Text,
        }
    }

    /// Plays a contest to its end, or until it is told to stop.
    pub(in crate::app) fn conduct(
        &self,
        contest: &Contest,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Course> {
        self.check_shard(contest)?;
        let interrupt = Interrupt::listen()?;
        let suite = self.suite(contest.openings)?;
        if self.mirror && suite.kind() != OpeningKind::Given {
            return Err(Exit::usage("--mirror is for the openings of a file").into());
        }
        let watchdog = Watchdog::start().context("cannot start a thread")?;
        let entered =
            contest.entrants.iter().map(|text| Entered::read(text)).collect::<Result<Vec<_>, _>>()?;
        self.programs.expect_use(entered.iter().any(|entered| ProgramSpec::is_meant_by(entered.spec)))?;
        let names = unique_names(&entered);
        let entrants = entered.iter().zip(&names);
        let entrants = entrants.map(|(entered, name)| self.entrant(entered.spec, name, &watchdog));
        let entrants: Vec<Box<dyn Entrant>> = entrants.collect::<anyhow::Result<_>>()?;
        let origin = self.save.as_ref().map(|_| origin::of(&entered, &names));
        let plan = |logged: Option<&Plan>| self.plan(contest, &suite, &names, logged);
        let (log, course, ahead) = match &self.save {
            None => (None, Course::new(plan(None)), Vec::new()),
            Some(path) if self.resume => {
                let resumed = runner::resume_log(path, plan, origin).map_err(log_error)?;
                tell_resumed(path, &resumed)?;
                (Some(resumed.log), resumed.course, resumed.ahead)
            }
            Some(path) => {
                let plan = plan(None);
                (
                    Some(runner::begin_log(path, &plan, origin).map_err(log_error)?),
                    Course::new(plan),
                    Vec::new(),
                )
            }
        };
        let before = course.results().games();
        let concurrency = self.concurrency.unwrap_or_else(processors);
        let run =
            Run { course, entrants: &entrants, suite: &suite, log, ahead, concurrency, watchdog: &watchdog };
        let course = runner::run(run, interrupt.stop(), observer).map_err(run_error)?;
        self.tell_stopped(&course, before)?;
        Ok(course)
    }

    /// Whether a run like this has parts that can be played apart.
    fn check_shard(&self, contest: &Contest) -> Result<(), Exit> {
        if self.shard.is_none() {
            return Ok(());
        }
        if !contest.format.is_known_beforehand() {
            let message = "--shard: who meets whom follows from what was played; a match, a round robin and a gauntlet \
                           have parts";
            return Err(Exit::usage(message));
        }
        self.seed.map(|_| ()).ok_or_else(|| Exit::usage("--shard: all parts need the same --seed"))
    }

    /// Prints a result for a paper, with the checksum of the log if there is one.
    pub(in crate::app) fn print_paper(&self, mut paper: Paper, format: PaperFormat) -> anyhow::Result<()> {
        if let Some(log) = &self.save {
            paper.facts.push(("log", sum_of(log)?));
        }
        Ok(io::stdout().write_all(paper.text(format).as_bytes())?)
    }

    fn suite(&self, default: OpeningKind) -> anyhow::Result<Suite> {
        let default = match default {
            OpeningKind::Balanced if self.variant == Variant::STANDARD => "balanced",
            OpeningKind::Balanced | OpeningKind::None | OpeningKind::Given => "empty",
        };
        let usage = |error: &dyn std::fmt::Display| Exit::usage(format!("--openings: {error}"));
        match self.openings.as_deref().unwrap_or(default) {
            "empty" => Ok(Suite::empty(self.variant)),
            "balanced" => Ok(Suite::balanced(self.variant).map_err(|error| usage(&error))?),
            deeper if deeper.starts_with("balanced:") => Ok(self.balanced_after(deeper)?),
            file => {
                let text = input::read_text_at_most(Path::new(file), OPENINGS_BYTES_MAX)
                    .map_err(|error| error.before("--openings: "))?;
                let suite = Suite::from_list(self.variant, &text);
                Ok(suite.map_err(|error| usage(&format!("{file}: {error}")))?)
            }
        }
    }

    /// The suite of `balanced:6`.
    fn balanced_after(&self, text: &str) -> Result<Suite, Exit> {
        let usage = |reason: &dyn std::fmt::Display| Exit::usage(format!("--openings: {reason}"));
        if self.variant != Variant::STANDARD {
            return Err(usage(&SuiteError::NoneBalanced(self.variant)));
        }
        let plies = text.trim_start_matches("balanced:").parse::<u32>();
        let plies = plies.ok().filter(|plies| BALANCED_PLIES.contains(plies));
        let allowed =
            || usage(&format!("`{text}`: there are balanced:4, balanced:6, balanced:8 and balanced:10"));
        Suite::balanced_after(plies.ok_or_else(allowed)?).map_err(|error| usage(&error))
    }

    fn entrant(&self, spec: &str, name: &str, watchdog: &Watchdog) -> anyhow::Result<Box<dyn Entrant>> {
        if ProgramSpec::is_meant_by(spec) {
            let program = spec.parse().map_err(|error: ProgramSpecError| Exit::usage(error.to_string()))?;
            return Ok(Box::new(self.programs.program(name, program, self.variant)?));
        }
        let spec: BotSpec = spec.parse()?;
        let recipe = bot_files::recipe(&spec, self.variant)?;
        Ok(Box::new(HouseEntrant::new(name.to_owned(), recipe, watchdog)))
    }

    /// Whether openings are mirrored. What goes on with a log does it as the log began, unless it is told to.
    fn orientation(&self, suite: &Suite, logged: Option<&Plan>) -> Orientation {
        match (self.mirror, logged, suite.kind()) {
            (true, ..) | (false, None, OpeningKind::None | OpeningKind::Balanced) => Orientation::Drawn,
            (false, Some(plan), _) => plan.orientation,
            (false, None, OpeningKind::Given) => Orientation::AsWritten,
        }
    }

    /// The plan of the flags. A seed that was not named is the log's, if there is one.
    fn plan(&self, contest: &Contest, suite: &Suite, names: &[String], logged: Option<&Plan>) -> Plan {
        Plan {
            format: contest.format,
            entrants: names.to_vec(),
            variant: self.variant.to_string(),
            openings: suite.kind(),
            openings_crc: suite.checksum(),
            orientation: self.orientation(suite, logged),
            time: self.limits(),
            margin_ms: self.margin_ms,
            pairs: contest.pairs,
            seed: self.seed.or(logged.map(|plan| plan.seed)).unwrap_or_else(seed::draw),
            faults_max: self.faults_max,
            sprt: contest.sprt,
            shard: self.shard,
        }
    }

    fn limits(&self) -> BotLimits {
        let per_move = self.move_ms.map(Duration::from_millis).map(TimeControl::per_move);
        let time = per_move.or(self.time).unwrap_or_default();
        BotLimits { time, nodes: self.nodes }
    }

    fn tell_stopped(&self, course: &Course, before: u64) -> io::Result<()> {
        if course.over().is_some() {
            return Ok(());
        }
        let games = course.results().games();
        let advice = match &self.save {
            Some(path) => format!("go on with --save {} --resume", path.display()),
            None => "nothing was saved: use --save".to_owned(),
        };
        writeln!(io::stderr(), "stopped after {games} games, {} of them now; {advice}", games - before)
    }
}

fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// An entrant as it was typed: `negamax:depth=6`, `cmd:./mybot`, or with a name, `mine=cmd:./mybot`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::app) struct Entered<'a> {
    pub(in crate::app) name: &'a str,
    pub(in crate::app) spec: &'a str,
}

/// Names of entrants are columns of tables.
const NAME_CHARS_MAX: usize = 40;

impl<'a> Entered<'a> {
    pub(in crate::app) fn read(text: &'a str) -> Result<Self, Exit> {
        // A name has no colon, which comes before the first setting of a bot or the command of a program.
        let Some((name, spec)) = text.split_once('=').filter(|(name, _)| !name.contains(':')) else {
            return Ok(Self { name: text, spec: text });
        };
        let is_plain = |letter: char| letter.is_alphanumeric() || " -_.+@".contains(letter);
        if name.trim() != name
            || name.is_empty()
            || name.chars().count() > NAME_CHARS_MAX
            || !name.chars().all(is_plain)
        {
            let allowed = format!("letters, digits, blanks and -_.+@, at most {NAME_CHARS_MAX}");
            return Err(Exit::usage(format!("`{name}` is no name for the entrant {spec}: {allowed}")));
        }
        Ok(Self { name, spec })
    }
}

/// Names for the tables: who enters again gets a number.
fn unique_names(entered: &[Entered<'_>]) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(entered.len());
    for Entered { name, .. } in entered {
        let count = seen.entry(name).or_default();
        *count += 1;
        names.push(if *count == 1 { (*name).to_owned() } else { format!("{name} #{count}") });
    }
    names
}

fn tell_resumed(path: &Path, resumed: &runner::ResumedRun) -> io::Result<()> {
    let mut err = io::stderr();
    if resumed.cut > 0 {
        writeln!(err, "{}: cut a torn last line of {} bytes", path.display(), resumed.cut)?;
    }
    let games = resumed.course.results().games();
    if resumed.course.over().is_some() {
        writeln!(err, "{}: all {games} games are played", path.display())
    } else {
        writeln!(err, "{}: going on after {games} games", path.display())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(in crate::app) fn log_error(error: LogError) -> anyhow::Error {
    let code = match &error {
        LogError::Exists { .. } | LogError::OtherRun { .. } => Code::Usage,
        LogError::InUse { .. } => Code::TryLater,
        LogError::Corrupt { .. } => Code::Data,
        LogError::Io { .. } => Code::Io,
    };
    coded(code, &error)
}

fn run_error(error: RunError) -> anyhow::Error {
    match error {
        RunError::Log(error) => log_error(error),
        RunError::CannotStart { .. } => coded(Code::Failure, &error),
        RunError::NoThread(_) => coded(Code::System, &error),
    }
}

/// The error with its causes, in one line.
fn coded(code: Code, error: &dyn std::error::Error) -> anyhow::Error {
    Exit::new(code, with_causes(error)).into()
}

/// An error if there is nothing to show for the run.
pub(in crate::app) fn check_played(course: &Course) -> anyhow::Result<()> {
    let results = course.results();
    // A part of very many may have nothing to do.
    if results.played() > 0 || course.games_known() == 0 {
        return Ok(());
    }
    let broken: Vec<&str> = course
        .plan()
        .entrants
        .iter()
        .zip(results.entrants())
        .filter(|(_, tally)| tally.faults > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    let why = if broken.is_empty() {
        "no game was finished".to_owned()
    } else {
        format!("nothing was played: {} failed before a move in every game", broken.join(" and "))
    };
    Err(Exit::new(Code::Failure, why).into())
}

/// Says on standard error what makes results weaker than they look.
pub(in crate::app) fn warn_of_repeats(distinct: u64, games: u64, repeated_pairs: u64) -> io::Result<()> {
    if repeated_pairs == 0 {
        return Ok(());
    }
    writeln!(
        io::stderr(),
        "warning: only {distinct} of {games} games are distinct; {repeated_pairs} pairs repeat an earlier one and say \
         nothing new (deterministic bots need more openings)"
    )
}

/// Says that a plan is for a part of a run, behind its other terms.
pub(in crate::app) fn part_words(plan: &Plan) -> String {
    plan.shard.map(|shard| format!(", part {shard}")).unwrap_or_default()
}

/// Why games were lost beside the board, a line for each kind.
pub(in crate::app) fn fault_lines(kinds: &[FaultKindReport]) -> Vec<String> {
    let games = |games: u64| if games == 1 { "1 game".to_owned() } else { format!("{games} games") };
    kinds
        .iter()
        .map(|kind| format!("fault   {} in {}: {}", kind.entrant, games(kind.games), kind.fault))
        .collect()
}

/// Reads a number of games: they come in pairs.
fn parse_concurrency(text: &str) -> Result<NonZeroUsize, String> {
    let games = text.parse().ok().filter(|games: &NonZeroUsize| games.get() <= CONCURRENCY_MAX);
    games.ok_or_else(|| format!("a whole number from 1 to {CONCURRENCY_MAX}"))
}

pub(in crate::app) fn parse_games(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(games) if (2..=GAMES_MAX).contains(&games) && u64::is_multiple_of(games, 2) => Ok(games),
        Ok(_) | Err(_) => Err(format!("games come in pairs: an even number from 2 to {GAMES_MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_enters_twice_can_be_told_apart() {
        let entered = ["random", "greedy", "random"].map(|text| Entered::read(text).unwrap());
        assert_eq!(unique_names(&entered), ["random", "greedy", "random #2"]);
    }

    #[test]
    fn entrants_may_have_names() {
        for (text, name, spec) in [
            ("negamax:depth=6", "negamax:depth=6", "negamax:depth=6"),
            ("deep=negamax:depth=6", "deep", "negamax:depth=6"),
            ("my bot 2=cmd:./a=b", "my bot 2", "cmd:./a=b"),
            ("cmd+kaggle:./a --x=1", "cmd+kaggle:./a --x=1", "cmd+kaggle:./a --x=1"),
        ] {
            assert_eq!(Entered::read(text).unwrap(), Entered { name, spec });
        }
        for text in ["=random", " x=random", "a/b=random", &format!("{}=random", "x".repeat(41))] {
            assert!(Entered::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn games_come_in_pairs() {
        assert_eq!(parse_games("10"), Ok(10));
        for text in ["0", "1", "7", "-2", "x", "", "99999999999999999999", "1000000000002"] {
            let error = parse_games(text).unwrap_err();
            assert!(error.ends_with("an even number from 2 to 1000000000000"), "{text}: {error}");
        }
    }
}
