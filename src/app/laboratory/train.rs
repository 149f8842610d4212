//! `fourfold train`: lets a bot learn, and shows how it gets better.
//!
//! What a run of one kind of bot is, [`courses`] knows; this file takes the steps of any.

mod courses;
mod curve;
mod lessons;
mod method;
mod saved;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fourfold_arena::shard::Shard;
use fourfold_bots::BotSpec;
use fourfold_bots::training::TrainingRun;
use fourfold_bots::training::decisions::Decisions;
use rustix::time::{ClockId, clock_gettime};

use self::courses::TrainOptions;
use self::curve::{Curve, CurveFiles, next_point};
use self::lessons::LessonFiles;
use self::saved::{FoundRun, RunFiles, RunTerms, SavedRun, Studied};
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::progress::ProgressLine;

/// How much of a run a power loss may cost.
const SAVE_EVERY: Duration = Duration::from_secs(30);

/// Let a bot learn, and show how it gets better.
///
/// Prints a curve: at more and more games, the score against opponents that never change, in pairs of games from
/// balanced openings, at 20,000 nodes a move at most. What was learnt goes to --out, with a second file FILE.run beside
/// it. If both are there, the run goes on as if it had never stopped; if FILE alone is, a new run begins with what is
/// in it. Ctrl-C ends a run without losing anything.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold train memory --teacher negamax:depth=2,ties=random --games 1000 --out memory.xml
  fourfold train memory --from games.ndjson --out memory.xml
  fourfold train lines69 --games 20000 --out lines69.txt
  fourfold train ntuple --games 200000 --out net.bin --curve net.csv --curve net.svg
  fourfold train ntuple --restarts 20 --lambda 90 --games 200000 --out net.bin
  fourfold train c4ai --check-config --effort depth=5 --games 400 --out weights.csv
  fourfold train ntuple --runs 5 --shard 2/5 --games 200000 --out 'net-{seed}.bin'
  fourfold play --second memory:file=memory.xml")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(in crate::app) struct TrainCommand {
    /// Which bot learns, with its settings: see `fourfold bots`.
    bot: BotSpec,
    /// Games to learn from, those before the run was taken up again included [default: 1000; with --from all]. Games
    /// come in steps, of 1000 for ntuple, 2 for c4ai and 100 or 200 for lines69, and the last one is played to its end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Equal seeds give equal runs, of ntuple only with --threads 1 [default: 1].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Train so many times, each time with the next seed; `{seed}` in the names of files stands for it. A training is
    /// one step after the other, so this is what machines can share.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNS_MAX)))]
    runs: Option<u32>,
    /// Of all --runs do only the K-th of N equal parts.
    #[arg(long, value_name = "K/N", requires = "runs")]
    shard: Option<Shard>,
    /// Learn from these games, a file of records or a directory of such files, instead of playing any. A run that is
    /// taken up again goes on behind those that it has learnt, which must be the same; more may have come.
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
    /// Keep what is learnt in this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Fail if there is no run in FILE to go on from.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Begin again, whatever is in FILE.
    #[arg(long, requires = "out", conflicts_with = "resume")]
    anew: bool,
    /// Whom to measure against; may be given several times.
    #[arg(long = "against", value_name = "BOT", default_values = ["random", "negamax:depth=1", "negamax:depth=2", "negamax:depth=4"])]
    opponents: Vec<BotSpec>,
    /// Games against each of them at each point of the curve; 0 leaves the curve out.
    #[arg(long, value_name = "N", default_value_t = 100)]
    probe_games: u32,
    /// Solved positions with a right and a wrong move, drawn by the seed, for the share in which the bot finds a right
    /// one, with 20,000 nodes a move at most; 0 leaves that out [default: 200; with --probe-games 0 none].
    #[arg(long, value_name = "N")]
    exact_positions: Option<usize>,
    /// Keep the curve in this file, as a table if its name ends in .csv, drawn if in .svg; may be given twice. Seed and
    /// CPU seconds of learning are in it. A run that goes on adds to the .csv.
    #[arg(long = "curve", value_name = "FILE")]
    curve_files: Vec<PathBuf>,
    /// Say on standard error what happens at every step.
    #[arg(long, short)]
    verbose: bool,
    /// Print one JSON object for each point of the curve.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: TrainOptions,
}

/// Games of a run if nothing else is said.
const GAMES: u64 = 1000;

/// The seed of a run if nothing else is said.
const SEED: u64 = 1;

/// Positions for the share of right decisions if nothing else is said: a second or two to solve.
const EXACT_POSITIONS: usize = 200;

/// Runs of one command: more than anybody waits for, and their seeds stay numbers that can be typed.
const RUNS_MAX: u32 = 1_000_000;

/// What the seed of a run stands for in the names of its files.
const SEED_IN_NAME: &str = "{seed}";

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    Over,
    /// It was told to stop.
    Told,
}

impl TrainCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let Some(runs) = self.runs else { return self.run_once().map(|_| ()) };
        let first = self.seed.unwrap_or(SEED);
        let mut names = self.out.iter().chain(&self.curve_files);
        if let Some(name) = names.find(|name| runs > 1 && !name.to_string_lossy().contains(SEED_IN_NAME)) {
            let message = "the runs would write the same file: put {seed} into its name";
            return Err(Exit::usage(format!("{}: {message}", name.display())).into());
        }
        for run in self.shard.unwrap_or(Shard::WHOLE).range(runs as usize) {
            let seed = first.wrapping_add(run as u64);
            let json = self.json;
            let mut out = io::stdout();
            let line = if json { format!("{{\"seed\":{seed}}}") } else { format!("seed {seed}") };
            writeln!(out, "{line}")?;
            if self.with_seed(seed).run_once()? == RunEnd::Told {
                break;
            }
        }
        Ok(())
    }

    /// The same for one of several runs.
    fn with_seed(&self, seed: u64) -> Self {
        let named = |path: &PathBuf| match path.to_str() {
            Some(name) => PathBuf::from(name.replace(SEED_IN_NAME, &seed.to_string())),
            None => path.clone(),
        };
        Self {
            seed: Some(seed),
            out: self.out.as_ref().map(named),
            curve_files: self.curve_files.iter().map(named).collect(),
            ..self.clone()
        }
    }

    fn run_once(mut self) -> anyhow::Result<RunEnd> {
        // A curve of nothing but its summaries, unless something else is asked for.
        let exact_positions =
            self.exact_positions.unwrap_or(if self.probe_games == 0 { 0 } else { EXACT_POSITIONS });
        if self.probe_games == 0 {
            self.opponents.clear();
        }
        let interrupt = Interrupt::listen()?;
        let mut run = self.begin()?;
        let lessons = self.lessons(run.studied.as_ref())?;
        let opponents = self.opponents.iter().map(ToString::to_string).collect();
        let mut files = CurveFiles::new(&self.curve_files, &run.terms, opponents)?;
        run.cpu_seconds = files.take_up(run.course.games())?;
        let seed = run.terms.seed;
        let mut curve = Curve {
            opponents: self.opponents.clone(),
            games: self.probe_games,
            seed,
            decisions: (exact_positions > 0)
                .then(|| Decisions::draw(exact_positions, seed, interrupt.stop().flag())),
            stop: interrupt.stop().flag(),
            json: self.json,
            out: io::stdout(),
            files,
        };
        let begun_with = run.course.games();
        let ended = self.learn(&mut run, lessons, &mut curve, &interrupt);
        // Whatever ended it, what was learnt is kept, before anything else that takes its time.
        run.save()?;
        if run.course.games() != ended? {
            curve.measure(&*run.course, run.cpu_seconds)?;
        }
        self.tell_more(begun_with, run.course.games())?;
        Ok(if interrupt.is_told() { RunEnd::Told } else { RunEnd::Over })
    }

    /// Says on standard error that more games were played than were asked for.
    fn tell_more(&self, begun_with: u64, games: u64) -> io::Result<()> {
        match self.games.filter(|&wanted| begun_with < wanted && wanted < games) {
            Some(wanted) => {
                let bot = self.bot.name();
                writeln!(
                    io::stderr(),
                    "{games} games instead of {wanted}: {bot} learns in steps of several games"
                )
            }
            None => Ok(()),
        }
    }

    /// Begins a run or takes one up again.
    fn begin(&self) -> anyhow::Result<TrainingSession> {
        let files = self.out.as_deref().map(RunFiles::new);
        let found = match &files {
            Some(files) if !self.anew => files.read()?,
            Some(_) | None => FoundRun::Nothing,
        };
        let given = RunTerms {
            bot: self.bot.to_string(),
            seed: self.seed.unwrap_or(SEED),
            options: self.options.to_string(),
        };
        let (course, terms, studied) = match found {
            FoundRun::Run(saved) => {
                self.check_terms(&saved)?;
                let course = courses::resume(&self.bot, &saved, &self.options)?;
                (course, saved.terms, saved.studied)
            }
            FoundRun::Nothing | FoundRun::Product(_) if self.resume => {
                return Err(Exit::new(Code::NoInput, "there is no run to go on from").into());
            }
            FoundRun::Nothing => {
                (courses::begin(&self.bot, given.seed, None, &self.options)?, given, self.nothing_studied())
            }
            FoundRun::Product(product) => (
                courses::begin(&self.bot, given.seed, Some(&product), &self.options)?,
                given,
                self.nothing_studied(),
            ),
        };
        Ok(TrainingSession { course, files, terms, studied, cpu_seconds: 0.0 })
    }

    fn nothing_studied(&self) -> Option<Studied> {
        self.from.is_some().then(Studied::default)
    }

    /// A run that is taken up again keeps its terms.
    fn check_terms(&self, run: &SavedRun) -> Result<(), Exit> {
        let saved = &run.terms;
        let differs = |what: &str, saved: &dyn std::fmt::Display| {
            Exit::usage(format!("the run was begun with {what} {saved}: keep to it, or begin --anew"))
        };
        if saved.bot != self.bot.to_string() {
            return Err(differs("the bot", &saved.bot));
        }
        if self.seed.is_some_and(|seed| seed != saved.seed) {
            return Err(differs("--seed", &saved.seed));
        }
        let options = self.options.to_string();
        if !options.is_empty() && options != saved.options {
            return Err(differs("the options", &format!("`{}`", saved.options)));
        }
        match (&run.studied, &self.from) {
            (Some(_), None) => Err(Exit::usage("the run learns from games of others: say --from again")),
            (None, Some(_)) => Err(Exit::usage(
                "the run learns from games of its own: leave out --from, or begin a run with a copy of what it learnt",
            )),
            (Some(_), Some(_)) | (None, None) => Ok(()),
        }
    }

    /// Takes steps until the run is over or told to stop, and measures on the way. Says at how many games it measured
    /// last; who is told to stop is not measured again.
    fn learn(
        &self,
        run: &mut TrainingSession,
        mut lessons: Option<LessonFiles>,
        curve: &mut Curve<'_, io::Stdout>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<u64> {
        let goal = self.games.unwrap_or(if lessons.is_some() { u64::MAX } else { GAMES });
        let begun_with = run.course.games();
        let mut progress = match goal {
            u64::MAX => ProgressLine::unbounded("games"),
            goal => ProgressLine::new(goal.saturating_sub(begun_with), "games"),
        };
        curve.print_head()?;
        curve.measure(&*run.course, run.cpu_seconds)?;
        let mut measured_at = begun_with;
        let mut saved_at = Instant::now();
        while run.course.games() < goal && !interrupt.is_told() {
            let before = run.course.games();
            let began = cpu_seconds();
            let line = match &mut lessons {
                None => Some(run.course.step()?),
                Some(lessons) => run.study_next(lessons)?,
            };
            run.cpu_seconds += cpu_seconds() - began;
            let Some(line) = line else { break };
            let games = run.course.games();
            progress.advance(games - before);
            if self.verbose {
                progress.say(&line);
            }
            if games >= next_point(measured_at) {
                curve.measure(&*run.course, run.cpu_seconds)?;
                measured_at = games;
            }
            if saved_at.elapsed() >= SAVE_EVERY {
                run.save()?;
                saved_at = Instant::now();
            }
        }
        Ok(if interrupt.is_told() { run.course.games() } else { measured_at })
    }

    /// The games of `--from` behind those that were studied.
    fn lessons(&self, studied: Option<&Studied>) -> anyhow::Result<Option<LessonFiles>> {
        let (Some(path), Some(studied)) = (&self.from, studied) else { return Ok(None) };
        let mut lessons = LessonFiles::open(path)?;
        if lessons.skip_lessons(studied.records)? == *studied {
            return Ok(Some(lessons));
        }
        let message = format!(
            "--from {}: its first {} games are not those that the run has learnt: say the same again, or begin --anew",
            path.display(),
            studied.records
        );
        Err(Exit::usage(message).into())
    }
}

/// CPU time of the process so far, all its threads together.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds of one run")]
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}

/// A run with its files.
struct TrainingSession {
    course: Box<dyn TrainingRun>,
    files: Option<RunFiles>,
    terms: RunTerms,
    /// The games of `--from` studied so far; `None` if it plays games of its own.
    studied: Option<Studied>,
    /// That learning has taken, as far as a curve that is kept knows.
    cpu_seconds: f64,
}

impl TrainingSession {
    /// Learns from the next game of others. `None` if there are no more.
    fn study_next(&mut self, lessons: &mut LessonFiles) -> anyhow::Result<Option<String>> {
        let Some(lesson) = lessons.next().transpose()? else { return Ok(None) };
        courses::study(&mut *self.course, &lesson)?;
        self.studied.get_or_insert_default().add(&lesson);
        Ok(Some(format!("studied {}", lesson.game.notation())))
    }

    fn save(&self) -> anyhow::Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.write(&SavedRun {
            terms: self.terms.clone(),
            studied: self.studied.clone(),
            product: self.course.product(),
            state: self.course.state(),
        })
    }
}
