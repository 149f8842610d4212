//! A program that answers questions line by line, one process for many games.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{Column, Game};

use super::dialect::{Malformed, ProgramNotice, Question};
use super::process::{Patience, Process, Trouble};
use super::transcript::Exchange;
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

    /// The answer to a question: the first line that is one, or breaks the dialect. All lines are added to `heard`.
    fn answer(
        &mut self,
        turn: &Turn<'_>,
        asked: Instant,
        heard: &mut String,
    ) -> Result<(Column, Instant), EntrantFault> {
        let limit = turn.budget.unwrap_or(PATIENCE);
        let patience = Patience { until: asked + limit + turn.margin, stop: Some(turn.stop) };
        loop {
            let (line, received) = self.process.line(patience)?;
            self.recipe.hear(&line, heard);
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
            self.recipe.give(&mut self.process, &notice)?;
        }
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        let budget = turn.budget.unwrap_or(PATIENCE);
        let question = Question {
            game: turn.game,
            budget,
            // Whoever is told one figure only would think the whole bank about the first move.
            advised: turn.allotment.filter(|_| self.time.bank_ms.is_some()).unwrap_or(budget).min(budget),
            time: self.time,
            remaining_ms: turn.remaining_ms,
            nodes: turn.nodes,
        };
        let text = self.recipe.dialect.ask(&question);
        let began = Instant::now();
        let patience = Patience { until: began + budget + turn.margin, stop: Some(turn.stop) };
        let mut heard = String::new();
        let answered = self.process.ask(&text, patience).map_err(EntrantFault::from).and_then(|asked| {
            let (column, received) = self.answer(turn, asked, &mut heard)?;
            Ok(Answer { column, spent: received.duration_since(asked) })
        });
        self.recipe.note(&mut self.process, &text, &heard, &answered, began);
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
        recipe.give(&mut process, &notice)?;
    } else if let Some(limit) = recipe.warm_up() {
        warm_up(recipe, &mut process, limit)?;
    }
    process.set_farewell(recipe.dialect.farewell());
    Ok(process)
}

/// Asks for a first move that does not count, so that no clock is charged for the start of an interpreter.
fn warm_up(recipe: &ProcessRecipe, process: &mut Process, limit: Duration) -> Result<(), EntrantFault> {
    let began = Instant::now();
    let patience = Patience { until: began + limit, stop: None };
    let game = Game::new(recipe.variant);
    let budget_ms = u64::try_from(WARM_UP_BUDGET.as_millis()).unwrap_or(u64::MAX);
    let question = Question {
        game: &game,
        budget: WARM_UP_BUDGET,
        advised: WARM_UP_BUDGET,
        time: TimeControl::per_move(WARM_UP_BUDGET),
        remaining_ms: [budget_ms; 2],
        nodes: None,
    };
    let text = recipe.dialect.ask(&question);
    let mut heard = FirstWords::default();
    let answered = process.ask(&text, patience).and_then(|_| heard.listen(recipe, process, &game, patience));
    let answered = answered.map_err(|trouble| heard.fault(trouble, limit));
    recipe.note(process, &text, &heard.lines, &answered, began);
    answered
}

/// What a new process says until it answers.
#[derive(Default)]
struct FirstWords {
    lines: String,
    /// The first line that is no move.
    malformed: Option<Malformed>,
}

impl FirstWords {
    /// Waits for an answer. Whatever is said before, a greeting perhaps, is not held against it.
    fn listen(
        &mut self,
        recipe: &ProcessRecipe,
        process: &mut Process,
        game: &Game,
        patience: Patience<'_>,
    ) -> Result<(), Trouble> {
        loop {
            let (line, _) = process.line(patience)?;
            recipe.hear(&line, &mut self.lines);
            match recipe.dialect.read(&line, game) {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {}
                Err(malformed) => {
                    self.malformed.get_or_insert(malformed);
                }
            }
        }
    }

    /// Who said something has no reason to be silent afterwards: that was meant to be the answer.
    fn fault(&mut self, trouble: Trouble, limit: Duration) -> EntrantFault {
        match (trouble, self.malformed.take()) {
            (Trouble::Silent, Some(malformed)) => {
                EntrantFault::Illegal(format!("its first answer, {malformed}"))
            }
            (Trouble::Silent, None) => EntrantFault::Broken(format!(
                "no answer to a first question within {} ms; does it flush its output? --startup-ms gives it longer to \
                 load, 0 asks nothing",
                limit.as_millis()
            )),
            (other, _) => other.into(),
        }
    }
}

impl ProcessRecipe {
    /// Says something and waits for the answer that it is understood.
    fn give(&self, process: &mut Process, notice: &ProgramNotice) -> Result<(), EntrantFault> {
        let began = Instant::now();
        let patience = Patience { until: began + READY_WAIT, stop: None };
        let mut heard = String::new();
        let understood = process.ask(&notice.text, patience).and_then(|_| {
            let Some(ready) = notice.ready else { return Ok(()) };
            loop {
                let (line, _) = process.line(patience)?;
                self.hear(&line, &mut heard);
                if line.trim() == ready {
                    return Ok(());
                }
            }
        });
        let understood = understood.map_err(|trouble| match trouble {
            Trouble::Silent => {
                let ready = notice.ready.unwrap_or_default();
                EntrantFault::Broken(format!("no `{ready}` in {} s", READY_WAIT.as_secs()))
            }
            other => other.into(),
        });
        self.note(process, &notice.text, &heard, &understood, began);
        understood
    }

    /// Adds a line to what was heard, if somebody wants to know.
    pub(super) fn hear(&self, line: &str, heard: &mut String) {
        if self.transcript.is_some() {
            heard.push_str(line);
            heard.push('\n');
        }
    }

    /// Writes an exchange down, if somebody wants to know.
    pub(super) fn note<T>(
        &self,
        process: &mut Process,
        question: &str,
        answer: &str,
        result: &Result<T, EntrantFault>,
        began: Instant,
    ) {
        let Some(transcript) = &self.transcript else { return };
        let spent = began.elapsed();
        transcript.note(&Exchange {
            program: &self.name,
            process: process.id(),
            question,
            answer,
            spent,
            fault: result.as_ref().err().map(ToString::to_string),
            stderr: &process.take_complaints(),
        });
    }
}
