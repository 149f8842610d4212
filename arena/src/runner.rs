//! Plays a run: as many games at the same time as there are threads, everything into the log, nothing twice.
//!
//! A thread takes a game, plays it, and books it and all finished games that waited for it. The calling thread keeps
//! time: twenty times a second it hands what was booked to the system, then tells the observer. So nothing is told that
//! could still be lost.

mod seats;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side, Variant};
use jiff::Timestamp;

use self::seats::Seats;
use crate::course::{Consequence, Course};
use crate::entrant::{Entrant, EntrantFault};
use crate::log::{self, Event, Found, Log, LogError, Origin};
use crate::plan::{Plan, PlannedGame};
use crate::play::{self, GameTerms, Played};
use crate::record::{MatchRecord, PairRecord, Span};
use crate::results::GameOutcome;
use crate::stop::Stop;
use crate::suite::Suite;
use crate::watchdog::Watchdog;

/// From one look of the timekeeper to the next: so long a finished game may wait until it is safe from a kill, and a
/// stop until it is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// From one sync of the log to the next: so much a power cut may cost. All of it is played again.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Everything that a run needs.
pub struct Run<'a> {
    pub course: Course,
    /// In the order of the plan.
    pub entrants: &'a [Box<dyn Entrant>],
    pub suite: &'a Suite,
    pub log: Option<Log>,
    /// Finished games whose turn had not come when the run was interrupted.
    pub ahead: Vec<MatchRecord>,
    pub concurrency: NonZeroUsize,
    pub watchdog: &'a Watchdog,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Run").field("concurrency", &self.concurrency).finish_non_exhaustive()
    }
}

/// Who watches a run. Called by one thread, between games.
pub trait Observer {
    /// Whether [`Self::game`] is to be called: records of games that nobody keeps are not even made.
    fn wants_games(&self) -> bool {
        false
    }

    /// A game was booked; the text is its record.
    fn game(&mut self, _record: &[u8]) {}

    /// Something else happened.
    fn event(&mut self, _event: &Event) {}

    /// Time passes. Called with the course as it stands.
    fn look(&mut self, _course: &Course) {}
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("{entrant} cannot be started: {fault}")]
    CannotStart { entrant: String, fault: EntrantFault },
    #[error("no thread can be started to play on")]
    NoThread(#[source] std::io::Error),
}

/// A log taken up again: its run as far as it had come.
#[derive(Debug)]
pub struct ResumedRun {
    pub log: Log,
    pub course: Course,
    pub ahead: Vec<MatchRecord>,
    /// Bytes of a torn line that were cut off.
    pub cut: u64,
}

/// Begins a log for this plan.
///
/// # Errors
///
/// As for [`Log::create`].
pub fn begin_log(path: &std::path::Path, plan: &Plan, origin: Option<Origin>) -> Result<Log, LogError> {
    let mut log = Log::create(path)?;
    log.event(&Event::Start { schema: log::SCHEMA, plan: plan.clone(), origin: origin.map(Box::new) });
    log.flush_lines()?;
    Ok(log)
}

/// Takes up a log again. `plan` is what was asked for, with the seed that the log has if none was named; it is called
/// with the log's plan, or `None` if the log had not begun; then `origin` is written down.
///
/// # Errors
///
/// The log cannot be read, or belongs to another plan.
pub fn resume_log(
    path: &std::path::Path,
    plan: impl FnOnce(Option<&Plan>) -> Plan,
    origin: Option<Origin>,
) -> Result<ResumedRun, LogError> {
    let (mut log, found) = Log::resume(path)?;
    let plan = plan(found.plan.as_ref());
    match &found.plan {
        None => {
            log.event(&Event::Start {
                schema: log::SCHEMA,
                plan: plan.clone(),
                origin: origin.map(Box::new),
            });
            log.flush_lines()?;
        }
        Some(logged) => {
            if let Some(what) = logged.difference(&plan) {
                return Err(LogError::OtherRun { path: path.display().to_string(), what: what.into() });
            }
        }
    }
    let (course, last) = replay(path, plan, &found.games)?;
    if !found.ends_with_event {
        // A kill may have torn off what followed from the last game.
        for event in events_of(&course, last) {
            log.event(&event);
        }
        log.flush_lines()?;
    }
    Ok(ResumedRun { log, course, ahead: found.ahead, cut: found.cut })
}

/// The course of a log that nobody writes to, as far as it has come.
///
/// # Errors
///
/// It has no plan, or its games are not those of its plan.
pub fn course_of(path: &std::path::Path, found: &Found) -> Result<Course, LogError> {
    let other = |what: &str| LogError::OtherRun { path: path.display().to_string(), what: what.to_owned() };
    let plan = found.plan.clone().ok_or_else(|| other("run has not begun"))?;
    Ok(replay(path, plan, &found.games)?.0)
}

/// Books games in the order of the schedule.
fn replay(
    path: &std::path::Path,
    plan: Plan,
    games: &[MatchRecord],
) -> Result<(Course, Consequence), LogError> {
    let mut course = Course::new(plan);
    let mut last = Consequence::default();
    for record in games {
        let is_due = course.due().is_some_and(|slot| Plan::game_number(&record.id) == Some(slot.number));
        if !is_due {
            let what = format!("game {} is not the one that is due", record.id);
            return Err(LogError::OtherRun { path: path.display().to_string(), what });
        }
        last = course.book(&outcome_of(record));
    }
    Ok((course, last))
}

/// A record as the tables see it.
pub fn outcome_of(record: &MatchRecord) -> GameOutcome<'_> {
    let winner = record.result.side();
    let at_fault = winner.map(Side::opponent).filter(|_| record.reason.is_fault());
    let fault = record.fault.as_deref();
    GameOutcome { winner, at_fault, fault, both_moved: record.both_moved(), moves: &record.moves }
}

/// Plays until the course is over or `stop` is set, and returns the course. What was stopped goes on when its log is
/// taken up again.
///
/// # Errors
///
/// An entrant cannot be started at all, or the log cannot be written.
pub fn run(run: Run<'_>, stop: &Stop, observer: &mut dyn Observer) -> Result<Course, RunError> {
    let Run { course, entrants, suite, log, ahead, concurrency, watchdog } = run;
    if course.over().is_some() {
        if let Some(log) = log {
            log.close(std::iter::empty())?; // a kill may have left games beyond the end
        }
        return Ok(course);
    }
    let seats = Seats::new(entrants)?;
    let end = Stop::default();
    let tells_games = observer.wants_games();
    let keeps_records = log.is_some() || tells_games;
    let run_state = RunState {
        plan: course.plan().clone(),
        fingerprint: course.plan().fingerprint(),
        variant: suite.variant(),
        suite,
        entrants,
        seats,
        halt: &end,
        keeps_records,
        state: Mutex::new(SharedRunState::new(course, log, tells_games, ahead)),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        let worker = |number: usize| {
            let worker = thread::Builder::new().name(format!("game {number}"));
            worker.spawn_scoped(scope, || run_state.work())
        };
        let first = worker(0).map_err(RunError::NoThread)?;
        // Where there are no more threads, those that there are play everything.
        let more = (1..concurrency.get()).map_while(|number| worker(number).ok()).count();
        debug_assert!(more < concurrency.get(), "the first is not among them");
        let kept = run_state.keep_time(stop, observer);
        drop(first); // joined by the scope
        end.set();
        watchdog.stop_all();
        run_state.changed.notify_all();
        kept.map_err(RunError::Log)
    })?;
    let state = run_state.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(log) = state.log {
        log.close(waiting(&state.held))?;
    }
    Ok(state.course)
}

/// Where everybody plays.
struct RunState<'a> {
    plan: Plan,
    fingerprint: String,
    variant: Variant,
    suite: &'a Suite,
    entrants: &'a [Box<dyn Entrant>],
    seats: Seats<'a>,
    /// Ends the games under way.
    halt: &'a Stop,
    keeps_records: bool,
    state: Mutex<SharedRunState>,
    /// Something can be handed out, or everything is over.
    changed: Condvar,
}

/// What all threads share.
struct SharedRunState {
    course: Course,
    log: Option<Log>,
    /// Finished games before their turn, by number.
    held: BTreeMap<u64, Finished>,
    /// What the observer has not been told.
    untold: Vec<Told>,
    /// Whether it is told of games.
    tells_games: bool,
    workers_waiting: usize,
}

enum Told {
    Game(Vec<u8>),
    Event(Event),
}

/// A game before it is booked.
struct Finished {
    /// Empty if nobody keeps records.
    json: Vec<u8>,
    summary: GameSummary,
}

/// What is booked of a game.
struct GameSummary {
    winner: Option<Side>,
    at_fault: Option<Side>,
    fault: Option<String>,
    both_moved: bool,
    moves: String,
}

impl GameSummary {
    fn as_outcome(&self) -> GameOutcome<'_> {
        let Self { winner, at_fault, fault, both_moved, moves } = self;
        GameOutcome {
            winner: *winner,
            at_fault: *at_fault,
            fault: fault.as_deref(),
            both_moved: *both_moved,
            moves,
        }
    }
}

impl SharedRunState {
    fn new(course: Course, log: Option<Log>, tells_games: bool, ahead: Vec<MatchRecord>) -> Self {
        let mut state =
            Self { course, log, held: BTreeMap::new(), untold: Vec::new(), tells_games, workers_waiting: 0 };
        for record in ahead {
            let Some(number) = Plan::game_number(&record.id) else { continue };
            let json = log::encode(&record);
            let GameOutcome { winner, at_fault, fault, both_moved, moves } = outcome_of(&record);
            let (fault, moves) = (fault.map(str::to_owned), moves.to_owned());
            let summary = GameSummary { winner, at_fault, fault, both_moved, moves };
            state.held.insert(number, Finished { json, summary });
        }
        state.book_held();
        state
    }

    /// Books all games whose turn has come.
    fn book_held(&mut self) {
        while let Some(due) = self.course.due() {
            let Some(finished) = self.held.remove(&due.number) else { return };
            self.book(finished);
        }
        self.held.clear(); // beyond the end
    }

    fn book(&mut self, finished: Finished) {
        let Finished { json, summary } = finished;
        let consequence = self.course.book(&summary.as_outcome());
        if let Some(log) = &mut self.log {
            log.game(&json);
        }
        if self.tells_games {
            self.untold.push(Told::Game(json));
        }
        for event in events_of(&self.course, consequence) {
            if let Some(log) = &mut self.log {
                log.event(&event);
            }
            self.untold.push(Told::Event(event));
        }
    }
}

/// What a booked game led to, as lines of the log.
pub(crate) fn events_of(course: &Course, consequence: Consequence) -> Vec<Event> {
    let plan = course.plan();
    let suspended = consequence.suspended.map(|entrant| Event::Suspended {
        entrant: plan.entrants[entrant].clone(),
        faults_in_a_row: plan.faults_max,
    });
    let end = consequence.over.map(|why| Event::End { games: course.results().games(), why });
    suspended.into_iter().chain(end).collect()
}

fn waiting(held: &BTreeMap<u64, Finished>) -> impl Iterator<Item = (u64, &[u8])> {
    held.iter().map(|(&number, finished)| (number, finished.json.as_slice()))
}

impl RunState<'_> {
    fn lock(&self) -> MutexGuard<'_, SharedRunState> {
        // A panic while it is held ends the run anyway: the scope passes it on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread's work: game after game until there is none.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if self.halt.is_set() || state.course.over().is_some() {
                return;
            }
            let Some(slot) = state.course.hand_out() else {
                state.workers_waiting += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.workers_waiting -= 1;
                continue;
            };
            if state.held.contains_key(&slot.number) {
                continue; // played before the interruption
            }
            drop(state);
            let finished = self.play(slot);
            state = self.lock();
            let Some(finished) = finished else { continue };
            if state.course.over().is_none() {
                state.held.insert(slot.number, finished);
                state.book_held();
            }
            if state.workers_waiting > 0 || state.course.over().is_some() {
                self.changed.notify_all();
            }
        }
    }

    fn play(&self, slot: PlannedGame) -> Option<Finished> {
        let opening = self.suite.draw(self.plan.seed, self.plan.orientation, slot.pairing.opening);
        let terms = GameTerms {
            variant: self.variant,
            opening: &opening,
            limits: self.plan.time,
            margin: Duration::from_millis(self.plan.margin_ms),
            seeds: self.plan.seeds(slot.number),
        };
        let seats = slot.seats();
        let (mut first, mut second) = (self.seats.take(seats.first), self.seats.take(seats.second));
        let started = self.keeps_records.then(Timestamp::now);
        let played = play::play(&terms, BySide { first: &mut *first, second: &mut *second }, self.halt)?;
        let at_fault = played.end.at_fault();
        for (side, player) in [(Side::First, first), (Side::Second, second)] {
            if at_fault != Some(side) {
                self.seats.give_back(seats[side], player);
            }
        }
        Some(self.finish(slot, &terms, played, started))
    }

    fn finish(
        &self,
        slot: PlannedGame,
        terms: &GameTerms<'_>,
        played: Played,
        started: Option<Timestamp>,
    ) -> Finished {
        let summary = GameSummary {
            winner: played.end.winner,
            at_fault: played.end.at_fault(),
            fault: played.end.fault.clone(),
            both_moved: played.spent_us.len() >= 2,
            moves: played.game.notation(),
        };
        let Some(started_at) = started else { return Finished { json: Vec::new(), summary } };
        let pair = PairRecord { id: slot.pair_id(&self.fingerprint), leg: slot.leg().number(), of: 2 };
        let seats = slot.seats();
        let names = BySide::from_fn(|side| self.entrants[seats[side]].name());
        let id = slot.game_id(&self.fingerprint);
        let span = Span { started_at, ended_at: Timestamp::now() };
        let record = MatchRecord::new(id, pair, names, self.suite.kind(), terms, played, span);
        Finished { json: log::encode(&record), summary }
    }

    /// Hands what was booked to the system and tells the observer, again and again until everything is over.
    fn keep_time(&self, stop: &Stop, observer: &mut dyn Observer) -> Result<(), LogError> {
        let mut synced = Instant::now();
        loop {
            let mut state = self.lock();
            let is_over = state.course.over().is_some() || stop.is_set();
            let SharedRunState { course, log, held, untold, tells_games: _, workers_waiting: _ } =
                &mut *state;
            let mut unsynced = None;
            if let Some(log) = log {
                log.flush(waiting(held))?;
                if synced.elapsed() >= SYNC_EVERY {
                    unsynced = log.take_unsynced();
                    synced = Instant::now();
                }
            }
            let news = std::mem::take(untold);
            observer.look(course);
            drop(state);
            if let Some(file) = unsynced {
                file.sync_data().map_err(|source| LogError::Io { path: "syncing the log".into(), source })?;
            }
            for told in news {
                match told {
                    Told::Game(json) => observer.game(&json),
                    Told::Event(event) => observer.event(&event),
                }
            }
            if is_over {
                return Ok(());
            }
            let state = self.lock();
            if state.course.over().is_none() {
                drop(self.changed.wait_timeout(state, LOOK_EVERY));
            }
        }
    }
}

#[cfg(test)]
mod tests;
