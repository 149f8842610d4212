//! `fourfold bench review`: how long people wait for exact answers: a look into the book, all columns of a position, a
//! whole game, the end of a search that is stopped, and what a second thread gains.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fourfold_bots::{Bot, MoveBudget, registry};
use fourfold_engine::review::Judge;
use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::search::SearchLimits;
use fourfold_engine::solver::{Solver, TableSize, book::Book};
use fourfold_engine::{Game, Position, Variant};
use rand::RngExt;
use rand::seq::IteratorRandom;
use serde::Serialize;

use super::solver::cpu_time;
use crate::analysis::judged::GameJudge;
use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;

/// Who plays the games, and how often it errs, so that no two are alike.
const PLAYER: &str = "negamax:depth=5";
const ERROR_RATE: f64 = 0.15;

/// Look-ups between two readings of the clock: one alone is shorter than a reading.
const LOOK_UPS: u32 = 1_000;

/// A position that keeps the solver busy for more than a second, for what is about stopping and threads.
const HARD: &str = "44";

/// How long the search runs before it is stopped.
const BEFORE_STOP: Duration = Duration::from_millis(100);

/// Stops measured.
const STOPS: u32 = 20;

/// How long people wait for exact answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench review --games 200")]
pub(super) struct ReviewBench {
    /// Games whose positions are asked for.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Equal seeds give equal games.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Threads of the parallel search that is compared with one.
    #[arg(long, value_name = "N", default_value_t = 2)]
    threads: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Times in milliseconds; how they spread.
#[derive(Clone, Copy, Serialize)]
struct Spread {
    count: usize,
    p50: f64,
    p99: f64,
    max: f64,
}

/// What `--json` shows, in milliseconds of this thread on the processor unless said otherwise.
#[derive(Serialize)]
struct ReviewFigures {
    games: u64,
    seed: u64,
    /// One look into the opening book, on average.
    book_look_up: f64,
    /// All columns of one position behind the book, of which nothing is known.
    columns: Spread,
    /// The same, asked for in the order of the game with the table that it fills.
    columns_in_a_game: Spread,
    /// A whole game, of which nothing is known.
    review: Spread,
    /// The same once more, when all its positions have been asked for: by watchers, say.
    review_again: Spread,
    /// A game judged as the arena judges all of them, one after the other.
    judging: Spread,
    /// Games that are judged so in a second of one thread on the processor.
    judged_per_second: f64,
    /// From the wish to stop to the end of the search, by the clock.
    stop: Spread,
    /// Time of one thread over that of several, by the clock, for one hard position.
    parallel_gain: f64,
}

impl ReviewBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let games = self.play()?;
        let mut progress = ProgressLine::new(self.games, "games");
        let (mut columns, mut in_a_game, mut review, mut again) = (vec![], vec![], vec![], vec![]);
        for game in &games {
            let positions: Vec<Position> = game.turns().map(|(position, _)| position).collect();
            for position in positions.iter().filter(|position| position.ply() >= Book::embedded().plies()) {
                columns.push(timed(|| judge().column_scores(position, never()))?);
            }
            let mut judge_in_order = judge();
            for position in &positions {
                in_a_game.push(timed(|| judge_in_order.column_scores(position, never()))?);
            }
            let mut judge = judge();
            review.push(timed(|| judge.review(game, 0, never()))?);
            again.push(timed(|| judge.review(game, 0, never()))?);
            progress.advance(1);
        }
        drop(progress);
        let judging = judging(&games)?;
        let figures = ReviewFigures {
            games: self.games,
            seed: self.seed,
            book_look_up: look_up(&games)?,
            columns: Spread::of(columns),
            columns_in_a_game: Spread::of(in_a_game),
            review: Spread::of(review),
            review_again: Spread::of(again),
            judged_per_second: per_second(&judging),
            judging: Spread::of(judging),
            stop: Spread::of((0..STOPS).map(|_| stop()).collect::<anyhow::Result<_>>()?),
            parallel_gain: parallel_gain(self.threads)?,
        };
        if self.json {
            return output::print_json(&figures);
        }
        Ok(figures.print(self.threads)?)
    }

    fn play(&self) -> anyhow::Result<Vec<Game>> {
        let mut player = registry::build(&PLAYER.parse()?, Variant::STANDARD)?;
        let mut rng = rng::seeded(self.seed);
        (0..self.games).map(|_| play(&mut *player, &mut rng)).collect()
    }
}

/// A game of a player against itself that errs now and then.
fn play(player: &mut dyn Bot, rng: &mut GameRng) -> anyhow::Result<Game> {
    let mut game = Game::new(Variant::STANDARD);
    let never = AtomicBool::new(false);
    loop {
        let erring =
            rng.random_bool(ERROR_RATE).then(|| game.position().legal_columns().choose(rng)).flatten();
        let column = match erring {
            Some(column) => column,
            None => player.choose(game.position(), MoveBudget::default(), &never)?.column,
        };
        if game.play(column)?.is_some() {
            return Ok(game);
        }
    }
}

fn judge() -> Judge {
    Judge::new(Solver::new())
}

fn limits(stop: &AtomicBool) -> SearchLimits<'_> {
    SearchLimits { nodes: None, stop }
}

/// No limits.
fn never() -> SearchLimits<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    limits(&NEVER)
}

/// Milliseconds of this thread on the processor.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let began = cpu_time();
    work()?;
    Ok((cpu_time() - began) * 1e3)
}

/// Milliseconds of a look into the book, over all its positions in some games.
fn look_up(games: &[Game]) -> anyhow::Result<f64> {
    let book = Book::embedded();
    let mut known = Vec::new();
    for game in games {
        let positions = game.turns().map(|(position, _)| position);
        known.extend(positions.filter(|position| position.ply() <= book.plies()));
    }
    anyhow::ensure!(!known.is_empty(), "a game has a first position");
    let mut found = 0_usize;
    let began = cpu_time();
    for _ in 0..LOOK_UPS {
        found += known.iter().filter(|position| book.score(std::hint::black_box(position)).is_some()).count();
    }
    let time = (cpu_time() - began) * 1e3;
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no 53 bits")]
    let mean = time / found as f64;
    Ok(mean)
}

/// Milliseconds of each game, judged by one judge as it finds them.
fn judging(games: &[Game]) -> anyhow::Result<Vec<f64>> {
    let (mut judge, never) = (GameJudge::new(), AtomicBool::new(false));
    let mut judged =
        |game: &Game| judge.judge(game.clone(), 0, &never).context("a game is too hard to judge");
    games.iter().map(|game| timed(|| judged(game))).collect()
}

/// How many of things that took so many milliseconds are done in a second.
fn per_second(times: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53")]
    let count = times.len() as f64;
    count * 1e3 / times.iter().sum::<f64>()
}

/// Milliseconds from the wish to stop to the end of the search.
fn stop() -> anyhow::Result<f64> {
    let game = Game::from_moves(Variant::STANDARD, HARD)?;
    let flag = AtomicBool::new(false);
    let mut solver = Solver::new();
    let (wished, ended) = thread::scope(|scope| {
        let search = scope.spawn(|| {
            let ended_by_itself = solver.score(game.position(), limits(&flag)).is_ok();
            (Instant::now(), ended_by_itself)
        });
        thread::park_timeout(BEFORE_STOP);
        let wished = Instant::now();
        flag.store(true, Ordering::Relaxed);
        (wished, search.join())
    });
    let Ok((ended, false)) = ended else { anyhow::bail!("the search was over before it could be stopped") };
    Ok(ended.saturating_duration_since(wished).as_secs_f64() * 1e3)
}

/// How many times as fast several threads solve a hard position.
fn parallel_gain(threads: usize) -> anyhow::Result<f64> {
    let game = Game::from_moves(Variant::STANDARD, HARD)?;
    let seconds = |threads| {
        let mut solver = Solver::with_table(TableSize::from_mib(64)).with_threads(threads);
        let began = Instant::now();
        solver.score(game.position(), never()).map(|_| began.elapsed().as_secs_f64())
    };
    let many = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    Ok(seconds(NonZeroUsize::MIN)? / seconds(many)?)
}

impl Spread {
    /// Of at least one time.
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
        };
        Self { count: times.len(), p50: at(50), p99: at(99), max: at(100) }
    }

    fn row(self, name: &str) -> [String; 5] {
        let time = |time: f64| format!("{time:.2}");
        [name.to_owned(), self.count.to_string(), time(self.p50), time(self.p99), time(self.max)]
    }
}

impl ReviewFigures {
    fn print(&self, threads: usize) -> std::io::Result<()> {
        use std::io::Write;

        let rows = [
            self.columns.row("all columns, nothing known"),
            self.columns_in_a_game.row("all columns, in the order of a game"),
            self.review.row("a whole game, nothing known"),
            self.review_again.row("a whole game again"),
            self.judging.row("a game judged behind others"),
            self.stop.row("from stop to the end of a search"),
        ];
        output::print_table(["Milliseconds", "Count", "p50", "p99", "max"], &rows)?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "a look into the book: {:.2} us", self.book_look_up * 1e3)?;
        writeln!(out, "games judged in a second: {:.1}", self.judged_per_second)?;
        writeln!(out, "{threads} threads are {:.2} times as fast as one", self.parallel_gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spread_by_rank() {
        let spread = Spread::of((1..=101).rev().map(f64::from).collect());
        let row = |spread: Spread| spread.row("x").join(" ");
        assert_eq!(row(spread), "x 101 51.00 100.00 101.00");
        assert_eq!(row(Spread::of(vec![2.0])), "x 1 2.00 2.00 2.00");
        assert!((per_second(&[100.0, 300.0]) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn equal_seeds_play_equal_games() {
        let play = |seed| ReviewBench { games: 3, seed, threads: 2, json: false }.play().unwrap();
        let moves = |games: Vec<Game>| games.iter().map(Game::notation).collect::<Vec<_>>();
        assert_eq!(moves(play(4)), moves(play(4)));
        assert_ne!(moves(play(4)), moves(play(5)));
    }
}
