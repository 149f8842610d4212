//! The kinds of bots that can be trained, and the flags that only some of them know.

use std::fmt;
use std::num::NonZero;
use std::str::FromStr;
use std::thread;

use crate::storage::records::lessons::RecordedLesson;
use crate::system::bot_files;
use anyhow::Context;
use fourfold_bots::ntuple::{self, NetworkShape, TrainingPlan, Weights};
use fourfold_bots::training::TrainingRun;
use fourfold_bots::training::evolution::{Effort, EvolutionTrainer, qualified};
use fourfold_bots::training::optimiser::Optimiser;
use fourfold_bots::training::teachers::{Training, TrainingOpponent};
use fourfold_bots::{BotError, BotSpec, registry};
use fourfold_engine::Variant;

use super::method::MethodFlags;
use super::saved::SavedRun;
use crate::app::terminal::exit::Exit;

/// How far training games of `c4ai` look ahead if nothing else is said: its own first depth.
const EFFORT: Effort = Effort::Depth(5);

/// Threads at most: more than cores help nobody, and a system refuses them some day.
const THREADS_MAX: i64 = 256;

/// Flags of single kinds of bots.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct TrainOptions {
    /// memory: who plays against it, `self`, `mixed` or a bot; several take turns [default: self].
    #[arg(long = "teacher", value_name = "T")]
    teachers: Vec<TeacherFlag>,
    /// c4ai: how far its training games look ahead, `depth=N` or `nodes=N` [default: depth=5].
    #[arg(long, value_name = "E")]
    effort: Option<Effort>,
    /// c4ai: begin with weights that hold their own against random playouts, drawn until they do.
    #[arg(long)]
    check_config: bool,
    /// ntuple: tuples of a new network, from 1 to 400 [default: 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=NetworkShape::TUPLES_MAX as u64))]
    tuples: Option<u64>,
    /// ntuple: cells of a tuple of it, from 4 to 10 [default: 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(NetworkShape::CELLS_MIN)..=i64::from(NetworkShape::CELLS_MAX)))]
    cells: Option<u32>,
    /// ntuple: networks that learn one beside the other and take turns at the games; the file has their mean, a network
    /// with all their tuples, from 1 to 8 [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=NetworkShape::MEMBERS_MAX as u64))]
    members: Option<u64>,
    /// ntuple: games over which the steps get smaller, those of all members [default: 1000000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    settle: Option<u64>,
    /// ntuple: threads that play, from 1 to 256; only with 1 equal runs are equal [default: one for each core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=THREADS_MAX))]
    threads: Option<u16>,
    #[command(flatten)]
    method: MethodFlags,
}

/// `self`, `mixed` or a bot.
#[derive(Clone, Debug)]
enum TeacherFlag {
    One(TrainingOpponent),
    Mixed,
}

impl FromStr for TeacherFlag {
    type Err = BotError;

    fn from_str(text: &str) -> Result<Self, BotError> {
        if text == "mixed" { Ok(Self::Mixed) } else { text.parse().map(Self::One) }
    }
}

/// Prints the flags that were given, as they were given, but for how many threads there are: a run may go on with
/// more or less.
impl fmt::Display for TrainOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { teachers, effort, check_config, tuples, cells, members, settle, threads: _, method } =
            self;
        let mut flags: Vec<String> = teachers.iter().map(|teacher| format!("--teacher {teacher}")).collect();
        flags.extend(effort.map(|effort| format!("--effort {effort}")));
        flags.extend(check_config.then(|| "--check-config".to_owned()));
        flags.extend(tuples.map(|tuples| format!("--tuples {tuples}")));
        flags.extend(cells.map(|cells| format!("--cells {cells}")));
        flags.extend(members.map(|members| format!("--members {members}")));
        flags.extend(settle.map(|games| format!("--settle {games}")));
        flags.extend(method.given().map(|(flag, value)| format!("{flag} {value}")));
        formatter.pad(&flags.join(" "))
    }
}

impl fmt::Display for TeacherFlag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(teacher) => teacher.fmt(formatter),
            Self::Mixed => formatter.pad("mixed"),
        }
    }
}

impl TrainOptions {
    fn teachers(&self) -> Result<Vec<TrainingOpponent>, BotError> {
        let mut teachers = Vec::new();
        for flag in &self.teachers {
            match flag {
                TeacherFlag::One(teacher) => teachers.push(teacher.clone()),
                TeacherFlag::Mixed => {
                    for teacher in TrainingOpponent::MIXED {
                        teachers.push(teacher.parse()?);
                    }
                }
            }
        }
        Ok(teachers)
    }

    /// The flags that were given, and the kinds of bots that know each.
    fn given(&self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        let Self { teachers, effort, check_config, tuples, cells, members, settle, threads, method } = self;
        let flags: [(bool, &str, &[&str]); 8] = [
            (!teachers.is_empty(), "--teacher", &["memory", "memory-windows"]),
            (effort.is_some(), "--effort", &["c4ai"]),
            (*check_config, "--check-config", &["c4ai"]),
            (tuples.is_some(), "--tuples", &["ntuple"]),
            (cells.is_some(), "--cells", &["ntuple"]),
            (members.is_some(), "--members", &["ntuple"]),
            (settle.is_some(), "--settle", &["ntuple"]),
            (threads.is_some(), "--threads", &["ntuple"]),
        ];
        let given = flags.into_iter().filter_map(|(is_given, flag, bots)| is_given.then_some((flag, bots)));
        given.chain(method.given().map(|(flag, _)| (flag, ["ntuple"].as_slice())))
    }

    /// Refuses flags that the bot does not know.
    fn allow(&self, bot: &str) -> Result<(), Exit> {
        match self.given().find(|(_, bots)| !bots.contains(&bot)) {
            Some((flag, _)) => Err(Exit::usage(format!("{bot} has no use for {flag}"))),
            None => Ok(()),
        }
    }

    /// The run of an n-tuple network.
    fn plan(&self, seed: u64) -> TrainingPlan {
        let tuples = self.tuples.and_then(|tuples| usize::try_from(tuples).ok());
        let members = self.members.and_then(|members| NonZero::new(usize::try_from(members).ok()?));
        TrainingPlan {
            tuples: tuples.unwrap_or(TrainingPlan::DEFAULT.tuples),
            cells: self.cells.unwrap_or(TrainingPlan::DEFAULT.cells),
            members: members.unwrap_or(TrainingPlan::DEFAULT.members),
            games: self.settle.unwrap_or(TrainingPlan::DEFAULT.games),
            seed,
            method: self.method.method(),
        }
    }

    fn threads(&self) -> NonZero<usize> {
        let given = self.threads.and_then(|threads| NonZero::new(usize::from(threads)));
        given.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN)
    }

    /// Refuses flags that say what a network is like if it is there already and like something else.
    fn allow_shape(&self, shape: &NetworkShape) -> Result<(), Exit> {
        let (tuples, cells) = (shape.tuples().len() as u64, shape.cells_max());
        let differs = |flag: &str, has: u64| {
            Exit::usage(format!("the network in --out has {has} {flag}: leave out --{flag}, or begin --anew"))
        };
        match self {
            Self { tuples: Some(wanted), .. } if *wanted != tuples => Err(differs("tuples", tuples)),
            Self { cells: Some(wanted), .. } if *wanted != cells => Err(differs("cells", cells.into())),
            Self { members: Some(2..), .. } => Err(Exit::usage(
                "several members cannot begin with the one network in --out: leave out --members, or begin --anew",
            )),
            _ => Ok(()),
        }
    }
}

/// Begins a run, with what was learnt before if there is any.
pub(super) fn begin(
    spec: &BotSpec,
    seed: u64,
    product: Option<&[u8]>,
    options: &TrainOptions,
) -> anyhow::Result<Box<dyn TrainingRun>> {
    check(spec, options)?;
    match spec.name() {
        "memory" | "memory-windows" => {
            let knowledge = product.map(text).transpose()?.unwrap_or_default();
            Ok(Box::new(Training::begin(spec, knowledge, &options.teachers()?, seed)?))
        }
        "lines69" => {
            let given = Optimiser::begin(spec, seed)?;
            let Some(product) = product else { return Ok(Box::new(given)) };
            let begun = Optimiser::begin(&text(product)?.trim().parse()?, seed)?;
            if spec.settings().next().is_some() && given != begun {
                return Err(other_settings("parameters").into());
            }
            Ok(Box::new(begun))
        }
        "c4ai" => {
            let given = bot_files::with_files_read(spec)?;
            let spec = match product.map(text).transpose()?.map(str::trim) {
                Some(weights) if given.value("weights").is_some_and(|given| given != weights) => {
                    return Err(other_settings("weights").into());
                }
                Some(weights) => given.with("weights", weights),
                None => given,
            };
            let mut trainer = EvolutionTrainer::begin(&spec, options.effort.unwrap_or(EFFORT), seed)?;
            if options.check_config {
                trainer.parent = qualified(trainer.parent, trainer.effort, seed);
            }
            Ok(Box::new(trainer))
        }
        "ntuple" => {
            let (look, plan, threads) = (registry::ntuple_look(spec)?, options.plan(seed), options.threads());
            let Some(product) = product else {
                return Ok(Box::new(ntuple::Trainer::begin(plan, threads, look)));
            };
            let weights = Weights::from_bytes(product).context("what is in --out cannot be learnt on")?;
            options.allow_shape(weights.shape())?;
            Ok(Box::new(ntuple::Trainer::begin_with(&weights, plan, threads, look)))
        }
        bot => Err(cannot_be_trained(bot).into()),
    }
}

/// Takes a run up again.
pub(super) fn resume(
    spec: &BotSpec,
    saved: &SavedRun,
    options: &TrainOptions,
) -> anyhow::Result<Box<dyn TrainingRun>> {
    check(spec, options)?;
    match spec.name() {
        "memory" | "memory-windows" => {
            Ok(Box::new(Training::resume(spec, text(&saved.product)?, &saved.state)?))
        }
        "lines69" => Ok(Box::new(Optimiser::resume(&saved.state)?)),
        "c4ai" => Ok(Box::new(EvolutionTrainer::resume(&saved.state)?)),
        "ntuple" => {
            let (look, threads) = (registry::ntuple_look(spec)?, options.threads());
            Ok(Box::new(ntuple::Trainer::resume(&saved.state, threads, look)?))
        }
        bot => Err(cannot_be_trained(bot).into()),
    }
}

/// Lets a bot learn from a game as both of its players saw it.
pub(super) fn study(course: &mut dyn TrainingRun, lesson: &RecordedLesson) -> anyhow::Result<()> {
    // Games on other boards teach nothing here.
    if lesson.game.variant() != Variant::STANDARD {
        return Ok(());
    }
    course.study(&lesson.game, lesson.winner).map_err(|error| Exit::usage(format!("--from: {error}")).into())
}

/// Refuses what would be ignored: flags of other kinds of bots, and a file that is not `--out`.
fn check(spec: &BotSpec, options: &TrainOptions) -> Result<(), Exit> {
    options.allow(spec.name())?;
    match bot_files::knowledge_file(spec) {
        Some(path) => {
            let (bot, path) = (spec.name(), path.display());
            let message = format!(
                "a run begins with what is in --out and goes there: say --out {path}, not {bot}:file={path}"
            );
            Err(Exit::usage(message))
        }
        None => Ok(()),
    }
}

fn other_settings(what: &str) -> Exit {
    Exit::usage(format!(
        "the {what} in --out are others than those of the bot: leave these out, or begin --anew"
    ))
}

fn text(product: &[u8]) -> anyhow::Result<&str> {
    std::str::from_utf8(product).context("what was learnt before is not a text")
}

fn cannot_be_trained(bot: &str) -> Exit {
    Exit::usage(format!("{bot} cannot be trained: memory, memory-windows, lines69, c4ai and ntuple can"))
}
