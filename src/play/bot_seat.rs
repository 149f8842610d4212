//! Plays a house bot through the same handle and the same messages as everybody else.

use std::sync::{Arc, Weak};
use std::time::Duration;

use fourfold_arena::entrant::EntrantFault;
use fourfold_bots::{Bot, BotError, BotSpec, Choice, GameRecord, MoveBudget, Reason};
use fourfold_engine::{Column, Game, Position, ReplayError, Side, Variant};
use rand::RngExt;
use thiserror::Error;
use tokio::sync::mpsc;
use tracing::{debug, warn};

use crate::analysis::compute::{ComputeError, ComputePool, ComputeThread, Priority, meter};
use crate::model::clock::{TimeControl, now};
use crate::model::ids::PlayerId;
use crate::model::pace;
use crate::model::rating::level::Level;
use crate::model::world::chance;
use crate::play::elsewhere::Elsewhere;
use crate::play::file_lessons::{FileLesson, FileLessons};
use crate::play::house::Mind;
use crate::play::house_program::{ProgramFailure, ProgramSeat};
use crate::play::reasons;
use crate::play::room::handle::{Action, ReplyTo};
use crate::play::room::state::Play;
use crate::play::room::{MemberId, Recipient, RoomHandle};
use crate::protocol::ServerMessage;
use crate::protocol::server::{Frame, GameEnd, Turn, Urgency};

/// Messages that wait for the bot. A room has one open turn at a time and little else to say.
const INBOX_MAX: usize = 32;

/// Part of the remaining time that a bot without a limit of its own uses at most for one move.
const SHARE_OF_BANK: u32 = 20;

/// Longest thinking time where the clock allows anything: people do not like to wait.
const THINK_MAX: Duration = Duration::from_secs(3);

/// Kept back from the hard limit for the way to the room.
const RESERVE: Duration = Duration::from_millis(20);

/// How a house bot takes part in one game.
#[derive(Debug)]
pub(crate) struct BotSeat {
    inbox: mpsc::Sender<Frame>,
}

impl Recipient for BotSeat {
    fn deliver(&self, frame: &Frame, _re: Option<&str>, urgency: Urgency) {
        let matters = matches!(
            frame.message(),
            ServerMessage::Turn(_)
                | ServerMessage::GameEnd(_)
                | ServerMessage::RematchOffer(_)
                | ServerMessage::TakebackOffer(_)
                | ServerMessage::OpponentGone(_)
                | ServerMessage::Error(_)
        );
        if !matters || urgency == Urgency::Droppable {
            return;
        }
        match self.inbox.try_send(frame.clone()) {
            // A bot that has failed listens no more.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(_)) => warn!("a house bot does not keep up"),
        }
    }

    fn round_trip(&self) -> Duration {
        Duration::ZERO
    }

    fn is_connected(&self) -> bool {
        true
    }
}

/// Why a bot cannot move.
#[derive(Debug, Error)]
enum ThinkError {
    #[error(transparent)]
    Bot(#[from] BotError),
    #[error(transparent)]
    Compute(#[from] ComputeError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Program(#[from] EntrantFault),
    #[error("another move of the bot never came back")]
    Lost,
}

/// The shortest time for a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeatPace {
    /// The same for all moves: people can follow, or nobody need.
    AtLeast(Duration),
    /// As a person of this level would answer.
    Human(Option<Level>),
}

impl SeatPace {
    /// For the answer to this position, by chance a little more or less.
    fn least(self, game: &Game) -> Duration {
        match self {
            Self::AtLeast(least) => least,
            Self::Human(level) => pace::human(cells_fallen(game), level, chance().random()),
        }
    }
}

/// How far the last disc fell, in cells from above the board; 0 if there is none.
fn cells_fallen(game: &Game) -> u8 {
    let Some(last) = game.moves().last() else { return 0 };
    let below = game.moves().iter().filter(|column| *column == last).count() - 1;
    let height = usize::from(game.position().variant().height());
    u8::try_from(height.saturating_sub(below)).unwrap_or(u8::MAX)
}

/// What plays at the seat.
pub(crate) struct SeatPlayer {
    /// The account it plays under.
    pub(crate) id: PlayerId,
    pub(crate) side: Side,
    pub(crate) bot: Mind,
    /// The clock of the game.
    pub(crate) time: TimeControl,
    /// What learns from the game when it is over: settings that name a file.
    pub(crate) learns_as: Option<BotSpec>,
    pub(crate) pace: SeatPace,
    /// Whose game it is: people do not wait for bots among themselves.
    pub(crate) priority: Priority,
    /// Others who think for it while no thread is free.
    pub(crate) elsewhere: Option<Elsewhere>,
}

impl std::fmt::Debug for SeatPlayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeatPlayer").field("id", &self.id).field("side", &self.side).finish_non_exhaustive()
    }
}

/// Makes a seat. The room gets the recipient, the caller runs the task with the room's handle.
pub(crate) fn seat(player: SeatPlayer, pool: ComputePool, lessons: FileLessons) -> (Arc<BotSeat>, BotTask) {
    let (inbox, frames) = mpsc::channel(INBOX_MAX);
    let seat = Arc::new(BotSeat { inbox });
    let task = BotTask {
        seat: Arc::downgrade(&seat),
        frames,
        player: Some(player.bot),
        learns_as: player.learns_as,
        variant: None,
        time: player.time,
        id: player.id,
        side: player.side,
        pace: player.pace,
        priority: player.priority,
        elsewhere: player.elsewhere,
        pool,
        lessons,
        claims_at: None,
    };
    (seat, task)
}

/// Answers the turns of one game.
pub(crate) struct BotTask {
    /// The room has it: when the room is gone, so is the seat, and the task ends.
    seat: Weak<BotSeat>,
    frames: mpsc::Receiver<Frame>,
    /// Away while it thinks on the pool.
    player: Option<Mind>,
    learns_as: Option<BotSpec>,
    /// Of the game, as the first turn tells it.
    variant: Option<Variant>,
    time: TimeControl,
    id: PlayerId,
    side: Side,
    pace: SeatPace,
    priority: Priority,
    elsewhere: Option<Elsewhere>,
    pool: ComputePool,
    lessons: FileLessons,
    /// When the opponent's absence has lasted long enough: nobody plays for the bot who would notice.
    claims_at: Option<tokio::time::Instant>,
}

impl std::fmt::Debug for BotTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BotTask").field("id", &self.id).field("side", &self.side).finish_non_exhaustive()
    }
}

impl BotTask {
    /// Plays until the room closes, and agrees to every rematch and every move taken back.
    pub(crate) async fn run(mut self, room: RoomHandle, member: MemberId) {
        while let Some(frame) = self.next(&room, member).await {
            match frame.message() {
                ServerMessage::Turn(turn) => {
                    self.variant = Some(turn.variant.0);
                    match self.answer(turn, &room, member).await {
                        Ok(()) => {}
                        // The daemon stops: the bot is not to blame, and its game is kept.
                        Err(ThinkError::Compute(ComputeError::Closed)) => return,
                        Err(error) => {
                            warn!(game = %room.game(), bot = %self.id, error = %error, "house bot failed");
                            room.fail(self.side).await;
                            return;
                        }
                    }
                }
                ServerMessage::GameEnd(end) => self.game_over(end),
                ServerMessage::OpponentGone(gone) if Side::from(gone.by) != self.side => {
                    let wait = gone.claim_ms.filter(|_| gone.gone).map(Duration::from_millis);
                    // What is told is rounded down.
                    let wait = wait.map(|wait| wait + Duration::from_millis(1));
                    self.claims_at = wait.map(|wait| tokio::time::Instant::now() + wait);
                }
                ServerMessage::RematchOffer(offered) if Side::from(offered.by) != self.side => {
                    let Some(reply) = self.reply(member) else { return };
                    room.act(self.id.clone(), Action::Rematch, reply);
                }
                // Whoever plays for fun may think again.
                ServerMessage::TakebackOffer(offered) if Side::from(offered.by) != self.side => {
                    let Some(reply) = self.reply(member) else { return };
                    room.act(self.id.clone(), Action::TakebackAnswer { yes: true }, reply);
                }
                ServerMessage::Error(error) => debug!(game = %room.game(), ?error, "house bot was refused"),
                _ => {}
            }
        }
    }

    fn game_over(&mut self, end: &GameEnd) {
        if let Some(Mind::Program(seat)) = &self.player {
            seat.went_well();
        }
        // What it knows of the game is not needed while people think about another one.
        (self.player, self.claims_at) = (None, None);
        if let Some(lesson) = self.lesson(end) {
            self.lessons.add(lesson);
        }
    }

    /// The next message. Meanwhile the bot claims when its opponent has been away for long enough.
    async fn next(&mut self, room: &RoomHandle, member: MemberId) -> Option<Frame> {
        loop {
            tokio::select! {
                frame = self.frames.recv() => return frame,
                () = until(self.claims_at) => {
                    self.claims_at = None;
                    room.act(self.id.clone(), Action::Claim, self.reply(member)?);
                }
            }
        }
    }

    /// What there is to learn from a game that counts.
    fn lesson(&mut self, end: &GameEnd) -> Option<FileLesson> {
        let (spec, variant) = (self.learns_as.take()?, self.variant?);
        let result = end.result.seen_by(self.side)?;
        let game = Game::from_moves(variant, &end.moves).ok()?;
        let record = GameRecord { game, side: self.side, result };
        Some(FileLesson { bot: self.id.clone(), spec, record })
    }

    async fn answer(&mut self, turn: &Turn, room: &RoomHandle, member: MemberId) -> Result<(), ThinkError> {
        let asked = tokio::time::Instant::now();
        let game = Game::from_moves(turn.variant.0, &turn.moves)?;
        let (choice, reasons) = match self.player.take().ok_or(ThinkError::Lost)? {
            Mind::Bot(bot) => self.think(bot, *game.position(), turn, room).await?,
            Mind::Program(seat) => (self.ask(seat, &game, turn, room).await?, Vec::new()),
        };
        let least = self.pace.least(&game).min(Duration::from_millis(turn.budget_ms / 10));
        tokio::time::sleep_until(asked + least).await;
        let Some(reply) = self.reply(member) else { return Ok(()) };
        let play = Play {
            ply: turn.ply,
            column: Ok(choice.column),
            forgiven: 0,
            info: reasons::info(&choice, &reasons).and_then(|info| info.to_stored().ok()),
            said: None,
            received: tokio::time::Instant::now().into_std(),
            round_trip: Duration::ZERO,
        };
        room.play(self.id.clone(), play, reply);
        Ok(())
    }

    /// Where the room's answers go, unless it is gone.
    fn reply(&self, member: MemberId) -> Option<ReplyTo> {
        let seat = self.seat.upgrade()?;
        Some(ReplyTo { member, recipient: seat as Arc<dyn Recipient>, re: None })
    }

    /// A thread to think on. While it waits for one, its clock stands: the wait is the arena's doing.
    async fn thread(&mut self, room: &RoomHandle) -> Result<ComputeThread, ComputeError> {
        if let Some(thread) = self.pool.try_thread() {
            return Ok(thread);
        }
        room.hold(self.side).await;
        let thread = self.pool.thread(self.priority).await?;
        room.release(self.side).await;
        Ok(thread)
    }

    /// Lets a program choose. It thinks in a process of its own, for which it has one of the pool's threads as any
    /// other bot does; its time is booked, which is the most that it can have used of it.
    async fn ask(
        &mut self,
        mut seat: ProgramSeat,
        game: &Game,
        turn: &Turn,
        room: &RoomHandle,
    ) -> Result<Choice, ThinkError> {
        let asked = self.ask_program(&mut seat, game, turn, room).await;
        if let Err(ProgramFailure::Fault(fault)) = &asked {
            seat.broke_off(&self.id, room.game(), fault, now());
        }
        let column = asked.map_err(failed)?;
        self.player = Some(Mind::Program(seat));
        Ok(column.into())
    }

    async fn ask_program(
        &mut self,
        seat: &mut ProgramSeat,
        game: &Game,
        turn: &Turn,
        room: &RoomHandle,
    ) -> Result<Column, ProgramFailure> {
        if !seat.is_ready() {
            // Its clock stands while it waits and starts: that is the arena's doing.
            let side = self.side;
            room.hold(side).await;
            seat.take_place().await?;
            let thread = self.pool.thread(self.priority).await?;
            seat.start(side, self.time).await?;
            drop(thread);
            room.release(side).await;
        }
        let thread = self.thread(room).await?;
        let started = tokio::time::Instant::now();
        let remaining_ms = match self.side {
            Side::First => [turn.clock.you, turn.clock.opponent],
            Side::Second => [turn.clock.opponent, turn.clock.you],
        };
        let asked = seat.ask(game, limit(turn), thinking_time(turn, None), remaining_ms).await;
        drop(thread);
        self.pool.meter().add(&self.id, started.elapsed());
        asked
    }

    /// Lets the bot choose: on a free thread of the pool, else elsewhere, else on the pool when its turn comes.
    async fn think(
        &mut self,
        bot: Box<dyn Bot>,
        position: Position,
        turn: &Turn,
        room: &RoomHandle,
    ) -> Result<(Choice, Vec<Reason>), ThinkError> {
        let time = thinking_time(turn, bot.move_time());
        if let Some(thread) = self.pool.try_thread() {
            return self.think_on(thread, bot, position, turn, time).await;
        }
        let asked = tokio::time::Instant::now();
        if let Some(elsewhere) = &self.elsewhere
            && let Some(chosen) = elsewhere.choose(&position, turn, time, limit(turn)).await
        {
            self.player = Some(Mind::Bot(bot));
            return Ok(chosen);
        }
        let left = limit(turn).saturating_sub(asked.elapsed());
        let thread = self.thread(room).await?;
        self.think_on(thread, bot, position, turn, time.min(left)).await
    }

    /// Lets the bot choose on a thread and tells it to stop when its time is over.
    async fn think_on(
        &mut self,
        thread: ComputeThread,
        mut bot: Box<dyn Bot>,
        position: Position,
        turn: &Turn,
        time: Duration,
    ) -> Result<(Choice, Vec<Reason>), ThinkError> {
        let budget = MoveBudget { nodes: None, time: Some(time) };
        let started = tokio::time::Instant::now();
        let search = thread.run_for(time, move |stop| {
            let before = meter::thread_time();
            let choice = bot.choose(&position, budget, stop);
            let reasons = bot.reasons(&position);
            bot.rest();
            (bot, choice, reasons, meter::thread_time().saturating_sub(before))
        });
        let (bot, choice, reasons, cost) = search.await?;
        self.pool.meter().add(&self.id, cost);
        self.player = Some(Mind::Bot(bot));
        debug!(ply = turn.ply, ms = started.elapsed().as_millis(), "house bot has chosen");
        Ok((choice?, reasons))
    }
}

/// A fault of a program is its own; all else is the daemon's.
fn failed(failure: ProgramFailure) -> ThinkError {
    match failure {
        ProgramFailure::Fault(fault) => ThinkError::Program(fault),
        ProgramFailure::Compute(error) => ThinkError::Compute(error),
    }
}

/// Waits until then; for ever if nothing is to be waited for.
async fn until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// What the clock allows for the move.
fn limit(turn: &Turn) -> Duration {
    Duration::from_millis(turn.budget_ms).saturating_sub(RESERVE)
}

/// How long the bot may think: its own wish, a share of the bank, and never past the hard limit.
fn thinking_time(turn: &Turn, wish: Option<Duration>) -> Duration {
    let share = Duration::from_millis(turn.clock.you) / SHARE_OF_BANK;
    wish.unwrap_or_else(|| share.clamp(RESERVE, THINK_MAX)).min(limit(turn))
}

#[cfg(test)]
mod tests;
