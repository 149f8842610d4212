//! `fourfold measure`: how well a bot plays, by the exact solver.

mod figures;

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use fourfold::bot_files;
use fourfold_arena::measure::{self, decisions};
use fourfold_bots::{Bot, BotError, BotSpec, Recipe};
use fourfold_engine::review::{Judge, Verdict};
use fourfold_engine::solver::{Limits, Solver};
use fourfold_engine::{Column, Position, Side, Variant};

use self::figures::{Figures, Tally};
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::{output, think};

/// Measure how well a bot plays, by the exact solver.
///
/// The bot chooses in positions of 10 to 27 stones from random games and from games of a weak bot. `good` is the share of
/// choices that keep the position's value (win, draw or loss), `decision` the same among positions in which some move
/// throws it away, `optimal` the share than which nothing is better, `mean_loss` the score given away by a choice on
/// average. Then it plays the perfect player, from the empty board.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold measure negamax:depth=6
  fourfold measure mcts:ms=50 --positions 200 --json
  fourfold measure memory:file=memory.xml --solved --games 0")]
pub(super) struct Measure {
    /// The bot, with its settings: see `fourfold bots`.
    bot: BotSpec,
    /// In how many positions it chooses.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    positions: u32,
    /// Take the solved positions that ship, by which the arena measures its learners: in a moment, and `decision` alone.
    #[arg(long, conflicts_with = "positions")]
    solved: bool,
    /// How many games it plays against the perfect player as first, and as many as second.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    games: u32,
    /// Which positions, and what bots draw that have no seed of their own.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Positions and games at the same time; more than one shares the cores among bots that have only so much time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A piece of work: a position to choose in, or a game to play.
#[derive(Clone, Copy, Debug)]
enum Task {
    Choose(Position),
    Play { side: Side, seed: u64 },
}

/// What came of it.
#[derive(Debug)]
enum Done {
    Judged(Verdict),
    Played { side: Side, points: f64 },
}

impl Measure {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let recipe = bot_files::recipe(&self.bot, Variant::STANDARD)?;
        let interrupt = Interrupt::listen()?;
        let tasks = self.tasks();
        let mut progress = Progress::new(tasks.len() as u64, "positions and games");
        let mut tally = Tally::default();
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (sender, results) = mpsc::channel();
            for _ in 0..self.threads {
                let (sender, tasks, next, interrupt) = (sender.clone(), &tasks, &next, &interrupt);
                let recipe = &recipe;
                scope.spawn(move || self.work(recipe, tasks, next, interrupt, &sender));
            }
            drop(sender);
            for result in results {
                match result? {
                    Done::Judged(verdict) => tally.judge(&verdict),
                    Done::Played { side, points } => tally.play(side, points),
                }
                progress.advance(1);
            }
            Ok::<(), BotError>(())
        })?;
        drop(progress);
        interrupt.check(|| "nothing is kept of a measurement that is not complete".to_owned())?;
        let mut figures = Figures::new(&self.bot, self.seed, &tally);
        if self.solved {
            let mut bot = recipe.build(self.seed)?;
            let rate = decisions::rate(decisions::shipped(), &mut *bot, interrupt.stop().flag())?;
            interrupt.check(|| "nothing is kept of a measurement that is not complete".to_owned())?;
            figures.set_decision(decisions::SEED, decisions::shipped().len(), rate);
        }
        if self.json { output::print_json(&figures) } else { Ok(write!(io::stdout(), "{figures}")?) }
    }

    fn tasks(&self) -> Vec<Task> {
        let games = (0..u64::from(self.games))
            .flat_map(|game| Side::BOTH.map(|side| Task::Play { side, seed: self.seed.wrapping_add(game) }));
        let drawn = if self.solved { 0 } else { self.positions };
        let positions = measure::positions(drawn, self.seed).into_iter().map(Task::Choose);
        positions.chain(games).collect()
    }

    /// Does tasks until there are none, something fails, or it is told to stop.
    fn work(
        &self,
        recipe: &Recipe,
        tasks: &[Task],
        next: &AtomicUsize,
        interrupt: &Interrupt,
        results: &Sender<Result<Done, BotError>>,
    ) {
        let mut judge = Judge::new(Solver::new());
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(done) = self.perform(recipe, *task, &mut judge, interrupt).transpose() else { return };
            let failed = done.is_err();
            if results.send(done).is_err() || failed {
                return;
            }
        }
    }

    /// Does one task; nothing if it is told to stop.
    fn perform(
        &self,
        recipe: &Recipe,
        task: Task,
        judge: &mut Judge,
        interrupt: &Interrupt,
    ) -> Result<Option<Done>, BotError> {
        let stop = interrupt.stop().flag();
        let choose = |bot: &mut dyn Bot, position: &Position| -> Result<Column, BotError> {
            Ok(think::choose(bot, position, None)?.column)
        };
        let done = match task {
            Task::Choose(position) => {
                let Ok(scores) = judge.column_scores(&position, Limits { nodes: None, stop }) else {
                    return Ok(None);
                };
                let column = choose(&mut *recipe.build(self.seed)?, &position)?;
                if scores.value.get(column).is_none() {
                    let reason = format!("it played column {column}, which is full");
                    return Err(BotError::Broken { bot: "the bot", reason });
                }
                Done::Judged(Verdict::new(position.ply(), column, &scores.value))
            }
            Task::Play { side, seed } => {
                let mut bot = recipe.build(self.seed.wrapping_add(seed))?;
                let points = measure::points_against_perfect(side, seed, stop, |position| {
                    choose(&mut *bot, position)
                })?;
                Done::Played { side, points }
            }
        };
        Ok((!interrupt.is_told()).then_some(done))
    }
}
