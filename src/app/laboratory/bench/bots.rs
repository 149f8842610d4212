//! `fourfold bench bots`: whether bots answer in time.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::analysis::background::thread_time;
use crate::system::bot_files;
use fourfold_bots::{Bot, BotSpec, MoveBudget, registry};
use fourfold_engine::{Column, Game, Position, Variant, rng};
use rand::RngExt;
use serde::Serialize;

use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;

/// What a bot may take after it was told to stop.
const GRACE: Duration = Duration::from_millis(10);

/// Whether bots answer in time, in positions of random games.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench bots --bot mcts --bot negamax:depth=12 --moves 1000")]
pub(super) struct BotBench {
    /// Which bots; all of them unless said.
    #[arg(long = "bot", value_name = "BOT")]
    bots: Vec<BotSpec>,
    /// Moves of each.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    moves: u32,
    /// When to tell a bot to stop, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    limit_ms: u64,
    /// Equal seeds give equal positions.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

/// How long the moves of a bot took. Time of the thread alone tells a slow bot from a busy machine.
#[derive(Serialize)]
struct BotTimes {
    bot: String,
    moves: u32,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Moves that took ten milliseconds more than the limit.
    late: u32,
    /// The longest move, counting only the time in which the bot's thread ran.
    thread_max_ms: f64,
    /// Moves that were late even so.
    thread_late: u32,
    /// Moves that were stopped.
    stopped: u32,
    /// From being told to stop to the answer, at most.
    stop_max_ms: f64,
}

/// One move.
struct Timing {
    total: Duration,
    /// Of the total, what the thread ran.
    thread: Duration,
    /// From being told to stop, if it was.
    after_stop: Option<Duration>,
}

impl BotBench {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let all = || registry::entries().iter().map(|entry| BotSpec::new(entry.name)).collect();
        let bots: Vec<BotSpec> = if self.bots.is_empty() { all() } else { self.bots.clone() };
        let mut built = Vec::new();
        for spec in bots {
            built.push((spec.to_string(), bot_files::build(&spec, Variant::STANDARD)?));
        }
        let positions = positions(self.moves, self.seed);
        let mut progress = ProgressLine::new(u64::from(self.moves) * built.len() as u64, "moves");
        let mut rows = Vec::new();
        for (name, mut bot) in built {
            let timings = self.time(&mut *bot, &positions, &mut progress)?;
            rows.push(self.row(name, &timings));
        }
        drop(progress);
        if self.json { output::print_json(&rows) } else { Ok(print(&rows)?) }
    }

    /// Lets the bot move in all positions; a second thread tells it to stop.
    fn time(
        &self,
        bot: &mut dyn Bot,
        positions: &[Position],
        progress: &mut ProgressLine,
    ) -> anyhow::Result<Vec<Timing>> {
        let limit = Duration::from_millis(self.limit_ms);
        let budget = MoveBudget { nodes: None, time: Some(limit) };
        let mut timings = Vec::with_capacity(positions.len());
        for position in positions {
            let stop = AtomicBool::new(false);
            timings.push(thread::scope(|scope| {
                let (finished, timer) = mpsc::channel::<()>();
                let stop = &stop;
                let began = Instant::now();
                let alarm = scope.spawn(move || {
                    let left = limit.saturating_sub(began.elapsed());
                    // Ends early, with an error, when the bot has answered and the sender is gone.
                    let is_due = timer.recv_timeout(left) == Err(mpsc::RecvTimeoutError::Timeout);
                    is_due.then(|| {
                        stop.store(true, Ordering::Relaxed);
                        Instant::now()
                    })
                });
                let thread_began = thread_time();
                let choice = bot.choose(position, budget, stop);
                let thread = thread_time().saturating_sub(thread_began);
                let answered = Instant::now();
                drop(finished);
                let told = alarm.join().ok().flatten();
                let after_stop = told.map(|told| answered.saturating_duration_since(told));
                choice.map(|_| Timing { total: answered - began, thread, after_stop })
            })?);
            progress.advance(1);
        }
        Ok(timings)
    }

    fn row(&self, bot: String, timings: &[Timing]) -> BotTimes {
        let late_after = Duration::from_millis(self.limit_ms) + GRACE;
        let mut totals: Vec<Duration> = timings.iter().map(|timing| timing.total).collect();
        totals.sort_unstable();
        let stops: Vec<Duration> = timings.iter().filter_map(|timing| timing.after_stop).collect();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        BotTimes {
            bot,
            moves: count(totals.len()),
            p50_ms: millis(totals[(totals.len() - 1) / 2]),
            p99_ms: millis(totals[(totals.len() - 1) * 99 / 100]),
            max_ms: millis(totals[totals.len() - 1]),
            late: count(totals.iter().filter(|&&total| total > late_after).count()),
            thread_max_ms: millis(timings.iter().map(|timing| timing.thread).max().unwrap_or_default()),
            thread_late: count(timings.iter().filter(|timing| timing.thread > late_after).count()),
            stopped: count(stops.len()),
            stop_max_ms: millis(stops.into_iter().max().unwrap_or_default()),
        }
    }
}

/// Positions of random games in which the game goes on.
fn positions(count: u32, seed: u64) -> Vec<Position> {
    let mut rng = rng::seeded(seed);
    let mut positions = Vec::new();
    while positions.len() < count as usize {
        let mut game = Game::new(Variant::STANDARD);
        for _ in 0..rng.random_range(0..Variant::STANDARD.cells()) {
            let legal: Vec<Column> = game.position().legal_columns().collect();
            if legal.is_empty() || game.play(legal[rng.random_range(0..legal.len())]).is_err() {
                break;
            }
        }
        if game.outcome().is_none() {
            positions.push(*game.position());
        }
    }
    positions
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn print(rows: &[BotTimes]) -> io::Result<()> {
    let cells = |row: &BotTimes| {
        let ms = |value: f64| format!("{value:.2}");
        [
            row.bot.clone(),
            row.moves.to_string(),
            ms(row.p50_ms),
            ms(row.p99_ms),
            ms(row.max_ms),
            row.late.to_string(),
            ms(row.thread_max_ms),
            row.thread_late.to_string(),
            row.stopped.to_string(),
            ms(row.stop_max_ms),
        ]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    let head = [
        "Bot",
        "Moves",
        "p50 ms",
        "p99 ms",
        "max ms",
        "Late",
        "Thread max ms",
        "Thread late",
        "Stopped",
        "Stop max ms",
    ];
    output::print_table(head, &rows)
}
