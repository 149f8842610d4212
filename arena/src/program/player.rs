//! A program that answers questions line by line, one process for many games.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fourfold_engine::{Column, Game};

use super::dialect::{ProgramNotice, Question};
use super::process::{Patience, Process, Trouble};
use super::{PATIENCE, ProcessRecipe};
use crate::entrant::{Answer, EntrantFault, GameStart, Player, Turn};
use crate::time::TimeControl;

/// How long a program may take to say that it is ready, where its dialect asks it.
const READY_WAIT: Duration = Duration::from_secs(10);

/// The budget of the question that warms a program up.
const WARM_UP_BUDGET: Duration = Duration::from_secs(1);

pub(super) struct LinePlayer {
    recipe: Arc<ProcessRecipe>,
    process: Process,
    time: TimeControl,
}

impl LinePlayer {
    pub(super) fn start(recipe: Arc<ProcessRecipe>) -> Result<Self, EntrantFault> {
        let process = start(&recipe)?;
        Ok(Self { recipe, process, time: TimeControl::default() })
    }

    /// The answer to a question: the first line that is one, or breaks the dialect.
    fn answer(&mut self, turn: &Turn<'_>, asked: Instant) -> Result<(Column, Instant), EntrantFault> {
        let limit = turn.budget.unwrap_or(PATIENCE);
        let patience = Patience { until: asked + limit + turn.margin, stop: Some(turn.stop) };
        loop {
            let (line, received) = self.process.line(patience)?;
            let read = self.recipe.dialect.read(&line, turn.game);
            if let Some(column) = read.map_err(|malformed| EntrantFault::Illegal(malformed.to_string()))? {
                return Ok((column, received));
            }
        }
    }
}

impl Player for LinePlayer {
    fn begin(&mut self, start_of_game: &GameStart) -> Result<(), EntrantFault> {
        self.time = start_of_game.time;
        if self.process.has_ended() {
            self.process = start(&self.recipe)?;
        }
        self.process.renew(&self.recipe.limits);
        if let Some(notice) = self.recipe.dialect.new_game() {
            give(&mut self.process, &notice)?;
        }
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        let budget = turn.budget.unwrap_or(PATIENCE);
        let question = Question {
            game: turn.game,
            budget,
            time: self.time,
            remaining_ms: turn.remaining_ms,
            nodes: turn.nodes,
        };
        let text = self.recipe.dialect.ask(&question);
        let patience = Patience { until: Instant::now() + budget + turn.margin, stop: Some(turn.stop) };
        let answered = self.process.ask(&text, patience).map_err(EntrantFault::from).and_then(|asked| {
            let (column, received) = self.answer(turn, asked)?;
            Ok(Answer { column, spent: received.duration_since(asked) })
        });
        if answered.is_err() {
            self.process.set_farewell(""); // it is ended at once
        }
        answered
    }
}

/// Starts a process and waits until it is ready.
fn start(recipe: &ProcessRecipe) -> Result<Process, EntrantFault> {
    let mut process = Process::start(Process::command(&recipe.words, &recipe.limits), &recipe.limits)?;
    if let Some(notice) = recipe.dialect.greeting() {
        give(&mut process, &notice)?;
    } else if let Some(limit) = recipe.warm_up() {
        match warm_up(recipe, &mut process, limit) {
            Ok(()) => {}
            // Its game will show whether it is silent for good. An answer that comes late would be taken for another
            // one, so a new process plays.
            Err(Trouble::Silent) => {
                recipe.is_slow_to_start.store(true, Ordering::Relaxed);
                process = Process::start(Process::command(&recipe.words, &recipe.limits), &recipe.limits)?;
            }
            Err(trouble) => return Err(trouble.into()),
        }
    }
    process.set_farewell(recipe.dialect.farewell());
    Ok(process)
}

/// Asks for a first move that does not count, so that no clock is charged for the start of an interpreter.
fn warm_up(recipe: &ProcessRecipe, process: &mut Process, limit: Duration) -> Result<(), Trouble> {
    let patience = Patience { until: Instant::now() + limit, stop: None };
    let game = Game::new(recipe.variant);
    let budget_ms = u64::try_from(WARM_UP_BUDGET.as_millis()).unwrap_or(u64::MAX);
    let question = Question {
        game: &game,
        budget: WARM_UP_BUDGET,
        time: TimeControl::per_move(WARM_UP_BUDGET),
        remaining_ms: [budget_ms; 2],
        nodes: None,
    };
    process.ask(&recipe.dialect.ask(&question), patience)?;
    // Whatever is said before, a greeting perhaps, is not held against it.
    while !matches!(recipe.dialect.read(&process.line(patience)?.0, &game), Ok(Some(_))) {}
    Ok(())
}

/// Says something and waits for the answer that it is understood.
fn give(process: &mut Process, notice: &ProgramNotice) -> Result<(), EntrantFault> {
    let patience = Patience { until: Instant::now() + READY_WAIT, stop: None };
    let heard = process.ask(&notice.text, patience).and_then(|_| {
        let Some(ready) = notice.ready else { return Ok(()) };
        while process.line(patience)?.0.trim() != ready {}
        Ok(())
    });
    heard.map_err(|trouble| match trouble {
        Trouble::Silent => {
            let ready = notice.ready.unwrap_or_default();
            EntrantFault::Broken(format!("no `{ready}` in {} s", READY_WAIT.as_secs()))
        }
        other => other.into(),
    })
}
