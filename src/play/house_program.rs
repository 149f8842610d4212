//! Programs of the operator's that play as bots of the house.
//!
//! Each game has a process of its own, in a sandbox, on a thread of its own, from its first move to its end: what a
//! program breaks it breaks for one game, nothing of a game reaches the next one, and a process that nobody plays with
//! takes no memory. A queue before one process would let everybody wait for the slowest game. While it thinks, it holds
//! one of the threads on which the bots of the house think, so that all of them share what the operator gave them.
//!
//! The thread lives as long as its process, for the sandbox ends with the thread that made it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use fourfold_arena::entrant::{Answer, Entrant as _, EntrantFault, GameStart, Player, Turn};
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_arena::program::{Program, ProgramError};
use fourfold_arena::stop::Stop;
use fourfold_engine::{Column, Game, Side, Variant};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tracing::{debug, warn};

use crate::analysis::compute::ComputeError;
use crate::model::clock::TimeControl;
use crate::model::fault::Fault;
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::{UnixMillis, doubled};
use crate::storage::bot_versions::{BotFault, FaultKind};
use crate::storage::store::Write;
use crate::storage::writer::Writer;
use crate::system::config::ProgramsConfig;

/// Games in a row that a program breaks off before it is paused: one may be bad luck, three are a bad program.
const FAULTS_MAX: u32 = 3;
/// The first pause. Each further one is twice as long, until a game goes well.
const PAUSE_FIRST: Duration = Duration::from_mins(1);
/// The longest one: whoever mends the program does not wait for the next day.
const PAUSE_MAX: Duration = Duration::from_hours(1);
/// Longest time for one move, however much the clock leaves: a program that hangs must not keep a thread from the
/// other bots for longer.
const MOVE_MAX: Duration = Duration::from_secs(10);

/// Longest note of a fault, in characters: as much as one reads in a list.
const NOTE_MAX: usize = 300;

/// A program with what its games share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct HouseProgram(Arc<SharedProgram>);

#[derive(Debug)]
struct SharedProgram {
    /// On the standard board. On others it is the same but for the question that warms it up.
    program: Program,
    spec: ProgramSpec,
    settings: ProgramsConfig,
    /// One for each process that may run.
    places: Arc<Semaphore>,
    /// Its games note how they went, and whoever begins one looks; held for one entry.
    health: Mutex<ProgramHealth>,
    writer: Writer,
}

/// Why a program plays no further game now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotFree {
    /// All of its processes play.
    Busy,
    /// It failed in game after game, and waits so long.
    Paused(Duration),
}

/// A program that is paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProgramPause {
    /// How it broke its last game off.
    pub(crate) fault: Fault,
    pub(crate) until: Instant,
}

/// How the games of a program went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct ProgramHealth {
    /// Games in a row that it broke off.
    faults: u32,
    /// Pauses since a game went well.
    pauses: u32,
    pause: Option<ProgramPause>,
}

impl ProgramHealth {
    /// A game was broken off. Returns how long the program is paused for it, if it is.
    fn fault(&mut self, fault: Fault, now: Instant) -> Option<Duration> {
        self.faults = self.faults.saturating_add(1);
        if self.faults < FAULTS_MAX {
            return None;
        }
        let length = doubled(PAUSE_FIRST, self.pauses, PAUSE_MAX);
        self.pauses = self.pauses.saturating_add(1);
        self.pause = Some(ProgramPause { fault, until: now + length });
        Some(length)
    }

    /// A game went well.
    fn well(&mut self) {
        *self = Self::default();
    }

    fn pause(&self, now: Instant) -> Option<ProgramPause> {
        self.pause.filter(|pause| pause.until > now)
    }
}

impl HouseProgram {
    /// Nothing is started yet.
    ///
    /// # Errors
    ///
    /// There is no sandbox on this machine.
    pub(crate) fn new(
        name: String,
        spec: ProgramSpec,
        settings: &ProgramsConfig,
        writer: Writer,
    ) -> Result<Self, ProgramError> {
        let program = Program::new(name, spec.clone(), Variant::STANDARD, settings.limits())?;
        let places = Arc::new(Semaphore::new(settings.processes.count()));
        let (settings, health) = (settings.clone(), Mutex::default());
        Ok(Self(Arc::new(SharedProgram { program, spec, settings, places, health, writer })))
    }

    pub(crate) fn plays(&self, variant: Variant) -> bool {
        self.0.spec.dialect.plays(variant)
    }

    /// Whether one more game may begin.
    ///
    /// # Errors
    ///
    /// See [`NotFree`].
    pub(crate) fn check_free(&self, now: Instant) -> Result<(), NotFree> {
        if let Some(pause) = self.pause(now) {
            return Err(NotFree::Paused(pause.until.saturating_duration_since(now)));
        }
        if self.0.places.available_permits() == 0 { Err(NotFree::Busy) } else { Ok(()) }
    }

    /// That it is paused, if it is.
    pub(crate) fn pause(&self, now: Instant) -> Option<ProgramPause> {
        self.health().pause(now)
    }

    /// What plays one game, with a place if one is free. One that has none waits for it before its first move.
    pub(crate) fn seat(&self, variant: Variant) -> ProgramSeat {
        let place = Arc::clone(&self.0.places).try_acquire_owned().ok();
        ProgramSeat { program: self.clone(), variant, place, process: None, has_moved: false }
    }

    fn health(&self) -> MutexGuard<'_, ProgramHealth> {
        self.0.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn on(&self, variant: Variant) -> Result<Program, ProgramError> {
        let SharedProgram { program, spec, settings, .. } = &*self.0;
        if variant == Variant::STANDARD {
            return Ok(program.clone());
        }
        Program::new(program.name().to_owned(), spec.clone(), variant, settings.limits())
    }
}

/// Why no move came.
#[derive(Debug, Error)]
pub(crate) enum ProgramFailure {
    /// The program's fault.
    #[error("{0}")]
    Fault(#[from] EntrantFault),
    /// The daemon's.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// A program in one game. Its process ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ProgramSeat {
    program: HouseProgram,
    variant: Variant,
    place: Option<OwnedSemaphorePermit>,
    process: Option<ProgramThread>,
    has_moved: bool,
}

impl ProgramSeat {
    /// Whether it has a process that waits for questions.
    pub(crate) fn is_ready(&self) -> bool {
        self.process.is_some()
    }

    /// Whether it may start its process without waiting for another game's end.
    pub(crate) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    /// Waits for a place, if it has none.
    pub(crate) async fn take_place(&mut self) -> Result<(), ProgramFailure> {
        if self.place.is_none() {
            let place = Arc::clone(&self.program.0.places).acquire_owned().await;
            self.place = Some(place.map_err(|_| ComputeError::Closed)?);
        }
        Ok(())
    }

    /// Starts the process and waits until it is ready.
    pub(crate) async fn start(&mut self, side: Side, time: TimeControl) -> Result<(), ProgramFailure> {
        let broken = |error: ProgramError| EntrantFault::Broken(error.to_string());
        let program = self.program.on(self.variant).map_err(broken)?;
        // Nothing is drawn from it: no dialect says it.
        let start = GameStart { variant: self.variant, side, time, seed: 0 };
        let (thread, ready) = ProgramThread::start(program, start).map_err(|_| ComputeError::NoThread)?;
        ready.await.map_err(|_| ComputeError::Panicked)??;
        self.process = Some(thread);
        Ok(())
    }

    /// Asks for a move, for which the clock leaves `limit`; `advised` is a good time for it.
    pub(crate) async fn ask(
        &mut self,
        game: &Game,
        limit: Duration,
        advised: Duration,
        remaining_ms: [u64; 2],
    ) -> Result<Column, ProgramFailure> {
        let process = self.process.as_ref().ok_or(ComputeError::NoThread)?;
        let (budget, (reply, answer)) = (limit.min(MOVE_MAX), oneshot::channel());
        let question =
            Question { game: game.clone(), budget, advised: advised.min(budget), remaining_ms, reply };
        // A thread that is gone is heard of below.
        let _ = process.questions.send(question);
        let Answer { column, .. } = answer.await.map_err(|_| ComputeError::Panicked)??;
        let illegal =
            |why: &dyn std::fmt::Display| EntrantFault::Illegal(format!("{}: {why}", column.number()));
        if !self.variant.has_column(column) {
            return Err(illegal(&format!("there are {} columns", self.variant.width())).into());
        }
        game.position().play(column).map_err(|cause| illegal(&cause))?;
        self.has_moved = true;
        Ok(column)
    }

    /// The game is over, and was not broken off by the program.
    pub(crate) fn went_well(&self) {
        if self.has_moved {
            self.program.health().well();
        }
    }

    /// The game was broken off by the program: booked for everybody who looks at the bot, and counted.
    pub(crate) fn broke_off(&self, bot: &PlayerId, game: &GameId, fault: &EntrantFault, now: Instant) {
        let (kind, in_short) = kinds_of(fault);
        let paused = self.program.health().fault(in_short, now);
        if let Some(length) = paused {
            let seconds = length.as_secs();
            warn!(%bot, fault = in_short.as_str(), seconds, "a program of the house is paused after faults");
        }
        let (bot, game) = (bot.clone(), Some(game.clone()));
        let fault = BotFault { bot, game, kind, note: told(fault), at: UnixMillis::now() };
        self.program.0.writer.submit(Write::AddFault(fault), |_| {});
    }
}

/// A fault in words that can be stored and shown: what a program has said of it may be anything.
fn told(fault: &EntrantFault) -> String {
    let words = fault.to_string();
    words.chars().map(|letter| if letter.is_control() { '␣' } else { letter }).take(NOTE_MAX).collect()
}

/// As it is booked, and as it is shown.
fn kinds_of(fault: &EntrantFault) -> (FaultKind, Fault) {
    match fault {
        EntrantFault::Late => (FaultKind::Time, Fault::Time),
        EntrantFault::Illegal(_) => (FaultKind::Illegal, Fault::Illegal),
        EntrantFault::Broken(_) | EntrantFault::Gone(_) => (FaultKind::Left, Fault::Failed),
    }
}

struct Question {
    game: Game,
    budget: Duration,
    advised: Duration,
    remaining_ms: [u64; 2],
    reply: oneshot::Sender<Result<Answer, EntrantFault>>,
}

/// The thread that a process lives on. Both end when this is dropped, within the time in which a program notices
/// nothing: at once if it thinks, too.
#[derive(Debug)]
struct ProgramThread {
    questions: mpsc::Sender<Question>,
    stop: Stop,
}

impl Drop for ProgramThread {
    fn drop(&mut self) {
        self.stop.set();
    }
}

type Ready = oneshot::Receiver<Result<(), EntrantFault>>;

impl ProgramThread {
    fn start(program: Program, start: GameStart) -> std::io::Result<(Self, Ready)> {
        let (questions, asked) = mpsc::channel();
        let (told, ready) = oneshot::channel();
        let stop = Stop::default();
        let seen = stop.clone();
        let work = move || {
            let began = program.player().and_then(|mut player| player.begin(&start).map(|()| player));
            // Whoever waited may be gone: then nothing is asked, and the process ends here.
            match began {
                Ok(player) => {
                    let _ = told.send(Ok(()));
                    answer_all(player, &asked, &seen);
                }
                Err(fault) => drop(told.send(Err(fault))),
            }
        };
        std::thread::Builder::new().name("program".to_owned()).spawn(work)?;
        Ok((Self { questions, stop }, ready))
    }
}

/// Answers until nobody asks any more, or until the first fault.
fn answer_all(mut player: Box<dyn Player>, asked: &mpsc::Receiver<Question>, stop: &Stop) {
    while let Ok(question) = asked.recv() {
        let turn = Turn {
            game: &question.game,
            budget: Some(question.budget),
            allotment: Some(question.advised),
            margin: Duration::ZERO,
            remaining_ms: question.remaining_ms,
            nodes: None,
            stop,
        };
        let answer = player.choose(&turn);
        let is_over = answer.is_err();
        // Whoever asked may be gone, while the daemon stops.
        let _ = question.reply.send(answer);
        if is_over {
            break;
        }
    }
    debug!("a process of a program ends");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_paused_after_three_faults_in_a_row_and_longer_each_time() {
        let (mut health, now) = (ProgramHealth::default(), Instant::now());
        assert_eq!(health.fault(Fault::Time, now), None);
        assert_eq!(health.fault(Fault::Time, now), None);
        let mut minutes = Vec::new();
        for _ in 0..8 {
            minutes.push(health.fault(Fault::Failed, now).unwrap().as_secs() / 60);
        }
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60], "one more fault after a pause is one too many");
        let until = now + Duration::from_hours(1);
        assert_eq!(health.pause(now), Some(ProgramPause { fault: Fault::Failed, until }));
        assert_eq!(health.pause(until), None);
        health.well();
        assert_eq!((health.pause(now), health.fault(Fault::Illegal, now)), (None, None), "a game went well");
    }

    #[test]
    fn what_a_program_says_of_its_fault_is_cut_and_has_no_control_characters() {
        let told = told(&EntrantFault::Gone(format!("a\0b\n{}", "x".repeat(1_000))));
        assert!(told.starts_with("a␣b␣xx"), "{told}");
        assert_eq!(told.chars().count(), NOTE_MAX);
    }
}
