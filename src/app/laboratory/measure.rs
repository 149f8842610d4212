//! `fourfold measure`: how well bots play, by the exact solver and against opponents that never change.

mod figures;
mod parts;
mod seat;
mod table;

use std::io::{self, BufWriter, Write};
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use crate::system::bot_files;
use anyhow::Context;
use fourfold_arena::course::Course;
use fourfold_arena::measure::classes;
use fourfold_arena::measure::ladder::Climb;
use fourfold_arena::measure::subject::Subject;
use fourfold_arena::measure::{self, decisions, ladder, traps};
use fourfold_arena::program::spec::{ProgramSpec, ProgramSpecError};
use fourfold_arena::runner::Observer;
use fourfold_arena::shard::Shard;
use fourfold_bots::{BotError, BotSpec};
use fourfold_engine::openings::Opening;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::{ColumnScores, SearchLimits, Solver};
use fourfold_engine::{Position, Side, Variant};

use self::figures::{BotFigures, MeasureReport};
use self::parts::{MeasuredWork, PartHead};
use self::seat::{MeasureTask, MeasuredBot, TaskResult};
use crate::app::laboratory::contest;
use crate::app::laboratory::contest::Entered;
use crate::app::laboratory::contest::programs::ProgramArgs;
use crate::app::laboratory::crew;
use crate::app::laboratory::paper::PaperFormat;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;

/// What is settled when parts are put together: they were measured so.
const OF_A_MEASUREMENT: [&str; 12] = [
    "bots",
    "shard",
    "move_ms",
    "positions",
    "solved",
    "classes",
    "games",
    "ladder",
    "ladder_games",
    "traps",
    "trap_games",
    "seed",
];

/// Measure how well bots play, by the exact solver.
///
/// A bot chooses in positions of 10 to 27 stones from random games and from games of a weak bot. `good` is the share of
/// choices that keep the position's value (win, draw or loss), `decision` the same among positions in which some move
/// throws it away, `optimal` the share than which nothing is better, `mean_loss` the score given away by a choice on
/// average. Then it plays the perfect player, from the empty board.
///
/// Several bots, such as trainings with different seeds, answer the same positions; the mean and the worst of each
/// figure come last.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
Examples:
  fourfold measure negamax:depth=6
  fourfold measure mcts:ms=50 --positions 200 --json
  fourfold measure memory:file=memory.xml --solved --games 0
  fourfold measure cmd:./mybot --positions 100 --games 0
  fourfold measure ntuple:plies=0 ntuple:plies=4 --classes --ladder
  fourfold measure perfect perfect:style=trap --positions 0 --games 0 --traps
  fourfold measure negamax:depth=8 --shard 1/2 > 1.part; fourfold measure --join 1.part 2.part")]
pub(in crate::app) struct MeasureCommand {
    /// The bots, with their settings (see `fourfold bots`), or programs: cmd:COMMAND or cmd+DIALECT:COMMAND, with a
    /// name as NAME=cmd:COMMAND.
    #[arg(required_unless_present = "join", value_name = "BOT")]
    bots: Vec<String>,
    /// Time of programs for each move, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    move_ms: u64,
    /// In how many positions a bot chooses.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    positions: u32,
    /// Take the solved positions that ship, by which the arena measures its learners: in a moment, and `decision`
    /// alone. A bot may look at 20,000 nodes in each, whatever its settings say.
    #[arg(long, conflicts_with = "positions")]
    solved: bool,
    /// Tell mistakes by class of position too: the beginning, middle and end of games, by how far off the end is.
    /// Solved positions of each ship.
    #[arg(long)]
    classes: bool,
    /// How many games a bot plays against the perfect player as first, and as many as second.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    games: u32,
    /// Play `negamax` to depths 2, 4, 6 and 8 too, from balanced openings, each with both sides.
    #[arg(long)]
    ladder: bool,
    /// How many games a bot plays against each of those.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = contest::parse_games, requires = "ladder")]
    ladder_games: u64,
    /// Play `negamax` to depths 2, 4, 6 and 8 from balanced openings, each with both sides, and tell what the bot makes
    /// of opponents that err: how many mistakes it draws from them, beside those that they make by themselves.
    #[arg(long)]
    traps: bool,
    /// How many games a bot plays against each of those.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = contest::parse_games, requires = "traps")]
    trap_games: u64,
    /// Which positions and openings, and what bots draw that have no seed of their own.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Positions and games at the same time; more than one shares the cores among bots that have only so much time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Do only the K-th of N equal parts of the work, and print what came of it, to be put together by --join.
    #[arg(long, value_name = "K/N", conflicts_with_all = ["solved", "json"])]
    shard: Option<Shard>,
    /// Put these parts together: the figures of the whole measurement.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = OF_A_MEASUREMENT)]
    join: Vec<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print the table for a paper.
    #[arg(long, value_enum, conflicts_with_all = ["json", "shard"])]
    format: Option<PaperFormat>,
    #[command(flatten)]
    programs: ProgramArgs,
}

/// A measurement under way.
struct Measuring<'a> {
    flags: &'a MeasureCommand,
    /// From which opponents that err are played.
    openings: Vec<Opening>,
    interrupt: Interrupt,
    progress: ProgressLine,
}

/// A position that was drawn, and what its moves are worth.
type DrawnPosition = (Position, ColumnScores);

impl MeasureCommand {
    pub(in crate::app) fn run(&self) -> anyhow::Result<()> {
        if !self.join.is_empty() {
            return self.print(&parts::join(&self.join)?);
        }
        // A mistake is told before any work.
        let bots = self.bots.iter().map(|bot| self.subject(bot)).collect::<anyhow::Result<Vec<_>>>()?;
        self.programs
            .expect_use(bots.iter().any(|(_, subject)| matches!(subject, Subject::Program { .. })))?;
        let progress = ProgressLine::new(self.steps(), "positions and games");
        let openings = traps::openings(self.trap_pairs(), self.seed)?;
        let mut measuring = Measuring { flags: self, openings, interrupt: Interrupt::listen()?, progress };
        let positions = measuring.judge()?;
        let works = bots.iter().map(|(bot, subject)| {
            measuring.measure(subject, &positions).with_context(|| format!("measuring {bot}"))
        });
        let works = works.collect::<anyhow::Result<Vec<_>>>()?;
        if self.shard.is_some() {
            drop(measuring);
            let names = bots.iter().map(|&(bot, _)| bot.to_owned()).collect();
            return Ok(parts::write(self.part_head(names), &works, &mut BufWriter::new(io::stdout()))?);
        }
        let figures = bots.iter().zip(&works).map(|((bot, subject), work)| {
            measuring.figures(bot, subject, work).with_context(|| format!("measuring {bot}"))
        });
        let report = MeasureReport::new(figures.collect::<anyhow::Result<_>>()?);
        drop(measuring);
        self.print(&report)
    }

    fn print(&self, report: &MeasureReport) -> anyhow::Result<()> {
        match self.format {
            Some(format) => Ok(io::stdout().write_all(report.paper().text(format).as_bytes())?),
            None if self.json => output::print_json(report),
            None => Ok(write!(io::stdout(), "{report}")?),
        }
    }

    fn part_head(&self, bots: Vec<String>) -> PartHead {
        PartHead {
            schema: PartHead::schema(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            shard: self.shard,
            bots,
            seed: self.seed,
            positions: self.positions,
            classes: self.classes,
            games: self.games,
            ladder_games: self.ladder.then_some(self.ladder_games),
            trap_games: self.traps.then_some(self.trap_games),
            move_ms: self.move_ms,
        }
    }

    /// Of these pieces of work, the ones that are to be done.
    fn of_part<T>(&self, pieces: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        (0..).zip(pieces).filter(move |&(place, _)| shard.has(place)).map(|(_, piece)| piece)
    }

    /// How many of so many pieces of work are to be done.
    fn share(&self, pieces: u64) -> u64 {
        self.shard.unwrap_or(Shard::WHOLE).count(pieces)
    }

    /// Whom a text means, and what tables call it.
    fn subject<'a>(&self, text: &'a str) -> anyhow::Result<(&'a str, Subject)> {
        let Entered { name, spec } = Entered::read(text)?;
        if ProgramSpec::is_meant_by(spec) {
            let program = spec.parse().map_err(|error: ProgramSpecError| Exit::usage(error.to_string()))?;
            let program = self.programs.program(name, program, Variant::STANDARD)?;
            return Ok((name, Subject::Program { program, limit: Duration::from_millis(self.move_ms) }));
        }
        let spec: BotSpec = spec.parse()?;
        Ok((name, Subject::House(bot_files::recipe(&spec, Variant::STANDARD)?)))
    }

    /// Positions that are drawn.
    fn drawn(&self) -> u32 {
        if self.solved { 0 } else { self.positions }
    }

    /// Openings of the games against each opponent that errs.
    fn trap_pairs(&self) -> u64 {
        if self.traps { self.trap_games / 2 } else { 0 }
    }

    fn climb(&self) -> Option<Climb> {
        let concurrency = NonZeroUsize::from(NonZeroU16::new(self.threads)?);
        let (pairs, seed, shard) = (self.ladder_games / 2, self.seed, self.shard);
        self.ladder.then_some(Climb { pairs, seed, concurrency, shard })
    }

    /// Positions to solve, and what each bot has to do.
    fn steps(&self) -> u64 {
        let classes = if self.classes { classes::shipped().len() as u64 } else { 0 };
        let climb = self.climb().map_or(0, Climb::games);
        let (drawn, classes) = (self.share(self.drawn().into()), self.share(classes));
        let traps = self.share(2 * self.trap_pairs() * ladder::OPPONENTS.len() as u64);
        let of_each = drawn + classes + self.share(2 * u64::from(self.games)) + climb + traps;
        drawn + self.bots.len() as u64 * of_each
    }

    fn tasks<'a>(&self, positions: &'a [DrawnPosition], openings: &'a [Opening]) -> Vec<MeasureTask<'a>> {
        let positions = positions.iter().map(|(position, scores)| MeasureTask::Judge(position, scores));
        let shipped = if self.classes { classes::shipped() } else { &[] };
        let classes = shipped.iter().map(|(class, solved)| MeasureTask::Classify(*class, solved));
        let games = (0..u64::from(self.games))
            .flat_map(|game| Side::BOTH.map(|side| MeasureTask::Play { side, game }));
        let traps = (0..ladder::OPPONENTS.len()).flat_map(|opponent| {
            let pair = move |(game, opening): (u64, &'a Opening)| {
                Side::BOTH.map(|side| MeasureTask::Trap { opponent, opening, side, game })
            };
            (0..).zip(openings).flat_map(pair)
        });
        positions.chain(self.of_part(classes)).chain(self.of_part(games)).chain(self.of_part(traps)).collect()
    }
}

impl Measuring<'_> {
    /// Draws positions and solves them: once, for all bots.
    fn judge(&mut self) -> anyhow::Result<Vec<DrawnPosition>> {
        let Self { flags, interrupt, progress, .. } = self;
        let positions: Vec<Position> = flags.of_part(measure::positions(flags.drawn(), flags.seed)).collect();
        let limits = SearchLimits { nodes: None, stop: interrupt.stop().flag() };
        let mut judged = Vec::with_capacity(positions.len());
        crew::share(
            flags.threads,
            &positions,
            || Judge::new(Solver::new()),
            |judge, position| -> anyhow::Result<Option<DrawnPosition>> {
                // Without a limit by nodes, only who is told to stop has no scores.
                let solved = judge.column_scores(position, limits).ok();
                Ok(solved.map(|solved| (*position, solved.value)))
            },
            |position| {
                judged.push(position);
                progress.advance(1);
            },
        )?;
        self.check_going_on()?;
        Ok(judged)
    }

    /// Lets a bot do its work.
    fn measure(&mut self, subject: &Subject, positions: &[DrawnPosition]) -> anyhow::Result<MeasuredWork> {
        let mut results = Vec::new();
        let Self { flags, openings, interrupt, progress } = self;
        crew::share(
            flags.threads,
            &flags.tasks(positions, openings),
            || MeasuredBot::new(subject, flags.seed),
            |seat, task| {
                let done = seat.perform(*task, interrupt.stop().flag())?;
                Ok::<Option<TaskResult>, BotError>(done.filter(|_| !interrupt.is_told()))
            },
            |done| {
                results.push(done);
                progress.advance(1);
            },
        )?;
        self.check_going_on()?;
        let mut ladder = None;
        if let Some(climb) = self.flags.climb() {
            let mut steps = Steps { progress: &mut self.progress, before: 0 };
            ladder = climb.play(subject, self.interrupt.stop(), &mut steps)?;
        }
        self.check_going_on()?;
        Ok(MeasuredWork { results, ladder })
    }

    /// The figures of a bot that has done all its work.
    fn figures(&self, bot: &str, subject: &Subject, work: &MeasuredWork) -> anyhow::Result<BotFigures> {
        let mut figures = work.figures(bot, self.flags.seed);
        if self.flags.solved {
            let mut bot = subject.build(self.flags.seed)?;
            let rate = decisions::rate(decisions::shipped(), &mut *bot, self.interrupt.stop().flag())?;
            figures.set_decision(decisions::SEED, decisions::shipped().len(), rate);
        }
        self.check_going_on()?;
        Ok(figures)
    }

    fn check_going_on(&self) -> anyhow::Result<()> {
        Ok(self.interrupt.check(|| "nothing is kept of a measurement that is not complete".to_owned())?)
    }
}

/// Tells the progress of games.
struct Steps<'a> {
    progress: &'a mut ProgressLine,
    /// Games that were told.
    before: u64,
}

impl Observer for Steps<'_> {
    fn look(&mut self, course: &Course) {
        let games = course.results().games();
        self.progress.advance(games - self.before);
        self.before = games;
    }
}
