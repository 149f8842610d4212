//! The kinds of bots that can be trained, and the flags that only some of them know.

use std::fmt;
use std::str::FromStr;

use anyhow::Context;
use fourfold::records::lessons::Lesson;
use fourfold_bots::c4ai::{Effort, Trainer, qualified};
use fourfold_bots::lines69::Optimiser;
use fourfold_bots::memory::{Teacher, Training};
use fourfold_bots::training::Course;
use fourfold_bots::{BotError, BotSpec, GameRecord, GameResult};
use fourfold_engine::{Side, Variant};

use super::super::exit::Exit;
use super::saved::SavedRun;

/// How far training games of `c4ai` look ahead if nothing else is said: its own first depth.
const EFFORT: Effort = Effort::Depth(5);

/// Flags of single kinds of bots.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// memory: who plays against it, `self`, `mixed` or a bot; several take turns [default: self].
    #[arg(long = "teacher", value_name = "T")]
    teachers: Vec<TeacherFlag>,
    /// c4ai: how far its training games look ahead, `depth=N` or `nodes=N` [default: depth=5].
    #[arg(long, value_name = "E")]
    effort: Option<Effort>,
    /// c4ai: begin with weights that hold their own against random playouts, drawn until they do.
    #[arg(long)]
    check_config: bool,
}

/// `self`, `mixed` or a bot.
#[derive(Clone, Debug)]
enum TeacherFlag {
    One(Teacher),
    Mixed,
}

impl FromStr for TeacherFlag {
    type Err = BotError;

    fn from_str(text: &str) -> Result<Self, BotError> {
        if text == "mixed" { Ok(Self::Mixed) } else { text.parse().map(Self::One) }
    }
}

/// Prints the flags that were given, as they were given.
impl fmt::Display for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { teachers, effort, check_config } = self;
        let mut flags: Vec<String> = teachers.iter().map(|teacher| format!("--teacher {teacher}")).collect();
        flags.extend(effort.map(|effort| format!("--effort {effort}")));
        flags.extend(check_config.then(|| "--check-config".to_owned()));
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

impl Options {
    fn teachers(&self) -> Result<Vec<Teacher>, BotError> {
        let mut teachers = Vec::new();
        for flag in &self.teachers {
            match flag {
                TeacherFlag::One(teacher) => teachers.push(teacher.clone()),
                TeacherFlag::Mixed => {
                    for teacher in Teacher::MIXED {
                        teachers.push(teacher.parse()?);
                    }
                }
            }
        }
        Ok(teachers)
    }

    /// Refuses flags that the bot does not know.
    fn allow(&self, bot: &str, teachers: bool, weights: bool) -> Result<(), Exit> {
        let refuse = |flag: &str| Err(Exit::usage(format!("{bot} has no use for {flag}")));
        if !teachers && !self.teachers.is_empty() {
            return refuse("--teacher");
        }
        if !weights && self.effort.is_some() {
            return refuse("--effort");
        }
        if !weights && self.check_config {
            return refuse("--check-config");
        }
        Ok(())
    }
}

/// Begins a run, with what was learnt before if there is any.
pub(super) fn begin(
    spec: &BotSpec,
    seed: u64,
    product: Option<&[u8]>,
    options: &Options,
) -> anyhow::Result<Box<dyn Course>> {
    let text = product.map(text).transpose()?;
    match spec.name() {
        bot @ ("memory" | "memory-windows") => {
            options.allow(bot, true, false)?;
            let knowledge = text.unwrap_or_default();
            Ok(Box::new(Training::begin(spec, knowledge, &options.teachers()?, seed)?))
        }
        bot @ "lines69" => {
            options.allow(bot, false, false)?;
            let spec = text.map_or_else(|| Ok(spec.clone()), |text| text.trim().parse())?;
            Ok(Box::new(Optimiser::begin(&spec, seed)?))
        }
        bot @ "c4ai" => {
            options.allow(bot, false, true)?;
            let spec = match text {
                Some(text) => spec.clone().with("weights", text.trim()),
                None => fourfold::bot_files::with_files_read(spec)?,
            };
            let mut trainer = Trainer::begin(&spec, options.effort.unwrap_or(EFFORT), seed)?;
            if options.check_config {
                trainer.parent = qualified(trainer.parent, trainer.effort, seed);
            }
            Ok(Box::new(trainer))
        }
        bot => Err(cannot_be_trained(bot).into()),
    }
}

/// Takes a run up again.
pub(super) fn resume(spec: &BotSpec, saved: &SavedRun) -> anyhow::Result<Box<dyn Course>> {
    match spec.name() {
        "memory" | "memory-windows" => {
            Ok(Box::new(Training::resume(spec, text(&saved.product)?, &saved.state)?))
        }
        "lines69" => Ok(Box::new(Optimiser::resume(&saved.state)?)),
        "c4ai" => Ok(Box::new(Trainer::resume(&saved.state)?)),
        bot => Err(cannot_be_trained(bot).into()),
    }
}

/// Lets a bot learn from a game as both of its players saw it.
pub(super) fn study(course: &mut dyn Course, lesson: &Lesson) -> anyhow::Result<()> {
    // Games on other boards teach nothing here.
    if lesson.game.variant() != Variant::STANDARD {
        return Ok(());
    }
    for side in Side::BOTH {
        let result = GameResult::of(side, lesson.winner);
        course
            .study(&GameRecord { game: lesson.game.clone(), side, result })
            .map_err(|error| Exit::usage(format!("--from: {error}")))?;
    }
    Ok(())
}

fn text(product: &[u8]) -> anyhow::Result<&str> {
    std::str::from_utf8(product).context("what was learnt before is not a text")
}

fn cannot_be_trained(bot: &str) -> Exit {
    Exit::usage(format!("{bot} cannot be trained: memory, memory-windows, lines69 and c4ai can"))
}
