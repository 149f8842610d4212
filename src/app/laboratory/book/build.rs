//! Solving what a book needs, and writing it.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::Context;
use fourfold_engine::openings::Opening;
use fourfold_engine::solver::book::{self, Book};
use fourfold_engine::solver::{Score, SearchLimits, Solver, TableSize, Unsolved};
use fourfold_engine::{Position, Variant, rng};
use rand::seq::SliceRandom;

use super::BuildBook;
use super::checkpoint::{self, Checkpoint, Scores};
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::progress::ProgressLine;
use crate::system::sha256;

/// Moves that the positions of a group have in common: neighbours share most of what is searched, so they are solved
/// one after the other. Groups are the unit of the random order, which makes the estimate of the time that is left
/// good from the start.
const SHARED_MOVES: usize = 4;

/// Openings to be solved, in groups.
type Groups = VecDeque<Vec<Opening>>;

impl BuildBook {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let (mut checkpoint, mut scores) = Checkpoint::open(&self.checkpoint)?;
        let hints = self.hints.as_deref().map(checkpoint::read).transpose()?.unwrap_or_default();
        let interrupt = Interrupt::listen()?;
        let groups = self.groups(&scores);
        self.solve(groups, &hints, &interrupt, |opening, score| {
            scores.insert(key_of(opening), score);
            checkpoint.append(opening, score)
        })
        .with_context(|| self.checkpoint.display().to_string())?;
        interrupt.check(|| format!("{} scores are kept in {}", scores.len(), self.checkpoint.display()))?;
        if self.shard.is_some() {
            let kept = self.checkpoint.display();
            return Ok(writeln!(io::stdout(), "{} scores in {kept}", scores.len())?);
        }
        self.write(&Book::build(self.plies, &scores)?)
    }

    /// What is still to be solved.
    fn groups(&self, scores: &Scores) -> Groups {
        let mut openings = book::frontier(self.plies);
        if let Some(shard) = self.shard {
            let part = shard.range(openings.len());
            openings = openings.drain(part).collect();
        }
        openings.retain(|opening| !scores.contains_key(&key_of(opening)));
        let shared =
            |opening: &Opening| opening.moves().iter().copied().take(SHARED_MOVES).collect::<Vec<_>>();
        let groups = openings.chunk_by(|one, other| shared(one) == shared(other));
        let mut groups: Vec<Vec<Opening>> = groups.map(<[Opening]>::to_vec).collect();
        groups.shuffle(&mut rng::seeded(self.seed));
        groups.into()
    }

    /// Solves the groups on all threads and hands each score to `keep`, on this one.
    fn solve(
        &self,
        groups: Groups,
        hints: &Scores,
        interrupt: &Interrupt,
        mut keep: impl FnMut(&Opening, Score) -> io::Result<()>,
    ) -> io::Result<()> {
        let total: usize = groups.iter().map(Vec::len).sum();
        let mut progress = ProgressLine::new(total as u64, "positions");
        let queue = Mutex::new(groups);
        let memory = TableSize::from_mib(self.memory / self.threads);
        thread::scope(|scope| {
            let (proven, results) = mpsc::channel();
            for _ in 0..self.threads {
                let (proven, queue) = (proven.clone(), &queue);
                scope.spawn(move || {
                    let limits = SearchLimits { nodes: None, stop: interrupt.stop().flag() };
                    let mut worker = BookWorker { solver: Solver::with_table(memory), hints, limits };
                    // Ends when nothing is left, when it is stopped, or when nobody listens any more.
                    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    while let Some(group) = next() {
                        if worker.solve_group(group, &proven).is_none() {
                            return;
                        }
                    }
                });
            }
            drop(proven);
            for (opening, score) in results {
                keep(&opening, score)?;
                progress.advance(1);
            }
            Ok(())
        })
    }

    fn write(&self, book: &Book) -> anyhow::Result<()> {
        let bytes = book.to_bytes();
        let mut out = io::stdout().lock();
        writeln!(out, "{} plies, {} bytes, sha256 {}", book.plies(), bytes.len(), sha256::of(&bytes))?;
        let Some(path) = &self.out else { return Ok(()) };
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Solves on one thread, with a table of its own.
struct BookWorker<'a> {
    solver: Solver,
    hints: &'a Scores,
    limits: SearchLimits<'a>,
}

impl BookWorker<'_> {
    /// Solves a group and sends each score; `None` if it was stopped.
    fn solve_group(&mut self, group: Vec<Opening>, proven: &mpsc::Sender<(Opening, Score)>) -> Option<()> {
        let mut last = Score::DRAW;
        for opening in group {
            let guess = self.hints.get(&key_of(&opening)).copied().unwrap_or(last);
            let score = self.solve(&position_of(&opening), guess).ok()?;
            last = score;
            proven.send((opening, score)).ok()?;
        }
        Some(())
    }

    fn solve(&mut self, position: &Position, guess: Score) -> Result<Score, Unsolved> {
        self.solver.score_near(position, guess, self.limits).map(|solved| solved.value)
    }
}

fn position_of(opening: &Opening) -> Position {
    *opening.game(Variant::STANDARD).expect("openings are legal").position()
}

fn key_of(opening: &Opening) -> u64 {
    position_of(opening).canonical_key()
}
