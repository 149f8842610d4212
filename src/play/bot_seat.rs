//! Plays a house bot through the same handle and the same messages as everybody else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use fourfold_bots::{Bot, BotError, BotSpec, Choice, GameRecord, MoveBudget, Reason};
use fourfold_engine::{Game, Position, ReplayError, Side, Variant};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::{debug, warn};

use crate::analysis::compute::{ComputeError, ComputePool, Priority, meter};
use crate::model::ids::PlayerId;
use crate::play::reasons;
use crate::play::room::handle::{Action, ReplyTo};
use crate::play::room::state::Play;
use crate::play::room::{MemberId, Recipient, RoomHandle};
use crate::protocol::ServerMessage;
use crate::protocol::server::{Frame, GameEnd, Turn, Urgency};

use crate::system::bot_files;

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
    #[error("another move of the bot never came back")]
    Lost,
}

/// What plays at the seat.
pub(crate) struct SeatPlayer {
    /// The account it plays under.
    pub(crate) id: PlayerId,
    pub(crate) side: Side,
    pub(crate) bot: Box<dyn Bot>,
    /// What learns from the game when it is over: settings that name a file.
    pub(crate) learns_as: Option<BotSpec>,
    /// Shortest time for a move, so that people can follow.
    pub(crate) pace: Duration,
    /// Whose game it is: people do not wait for bots among themselves.
    pub(crate) priority: Priority,
}

impl std::fmt::Debug for SeatPlayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeatPlayer").field("id", &self.id).field("side", &self.side).finish_non_exhaustive()
    }
}

/// Makes a seat. The room gets the recipient, the caller runs the task with the room's handle.
pub(crate) fn seat(player: SeatPlayer, pool: ComputePool) -> (Arc<BotSeat>, BotTask) {
    let (inbox, frames) = mpsc::channel(INBOX_MAX);
    let seat = Arc::new(BotSeat { inbox });
    let task = BotTask {
        seat: Arc::downgrade(&seat),
        frames,
        player: Some(player.bot),
        learns_as: player.learns_as,
        variant: None,
        id: player.id,
        side: player.side,
        pace: player.pace,
        priority: player.priority,
        pool,
    };
    (seat, task)
}

/// Answers the turns of one game.
pub(crate) struct BotTask {
    /// The room has it: when the room is gone, so is the seat, and the task ends.
    seat: Weak<BotSeat>,
    frames: mpsc::Receiver<Frame>,
    /// Away while it thinks on the pool.
    player: Option<Box<dyn Bot>>,
    learns_as: Option<BotSpec>,
    /// Of the game, as the first turn tells it.
    variant: Option<Variant>,
    id: PlayerId,
    side: Side,
    pace: Duration,
    priority: Priority,
    pool: ComputePool,
}

impl std::fmt::Debug for BotTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BotTask").field("id", &self.id).field("side", &self.side).finish_non_exhaustive()
    }
}

impl BotTask {
    /// Plays until the room closes, and agrees to every rematch.
    pub(crate) async fn run(mut self, room: RoomHandle, member: MemberId) {
        while let Some(frame) = self.frames.recv().await {
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
                // What it knows of the game is not needed while people think about another one.
                ServerMessage::GameEnd(end) => {
                    self.player = None;
                    drop(self.learn(end)); // it ends by itself
                }
                ServerMessage::RematchOffer(offered) if Side::from(offered.by) != self.side => {
                    let Some(reply) = self.reply(member) else { return };
                    room.act(self.id.clone(), Action::Rematch, reply);
                }
                ServerMessage::Error(error) => debug!(game = %room.game(), ?error, "house bot was refused"),
                _ => {}
            }
        }
    }

    /// Learns from a game that counts. Files are slow, so a thread of its own does it, for which nobody need wait.
    fn learn(&mut self, end: &GameEnd) -> Option<JoinHandle<()>> {
        let (spec, variant) = (self.learns_as.take()?, self.variant?);
        let result = end.result.seen_by(self.side)?;
        let game = Game::from_moves(variant, &end.moves).ok()?;
        let (record, id) = (GameRecord { game, side: self.side, result }, self.id.clone());
        Some(tokio::task::spawn_blocking(move || {
            if let Err(error) = bot_files::learn(&spec, &record) {
                warn!(bot = %id, error = %error, "a house bot could not keep what it has learnt");
            }
        }))
    }

    async fn answer(&mut self, turn: &Turn, room: &RoomHandle, member: MemberId) -> Result<(), ThinkError> {
        let asked = tokio::time::Instant::now();
        let game = Game::from_moves(turn.variant.0, &turn.moves)?;
        let (choice, reasons) = self.think(*game.position(), turn).await?;
        tokio::time::sleep_until(asked + self.pace.min(Duration::from_millis(turn.budget_ms / 10))).await;
        let Some(reply) = self.reply(member) else { return Ok(()) };
        let play = Play {
            ply: turn.ply,
            column: Ok(choice.column),
            info: reasons::info(&choice, &reasons).and_then(|info| info.to_stored().ok()),
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

    /// Lets the bot choose on the pool and tells it to stop when its time is over.
    async fn think(&mut self, position: Position, turn: &Turn) -> Result<(Choice, Vec<Reason>), ThinkError> {
        let mut bot = self.player.take().ok_or(ThinkError::Lost)?;
        let time = thinking_time(turn, bot.move_time());
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let budget = MoveBudget { nodes: None, time: Some(time) };
        let started = Instant::now();
        let (begins, begun) = oneshot::channel();
        let search = self.pool.run_for(self.priority, move || {
            // Nobody listens any more if the clock has run out first.
            let _ = begins.send(());
            let before = meter::thread_time();
            let choice = bot.choose(&position, budget, &seen);
            let reasons = bot.reasons(&position);
            (bot, choice, reasons, meter::thread_time().saturating_sub(before))
        });
        tokio::pin!(search);
        // A wait for a thread is no thinking, but the clock runs all the same.
        let limit = tokio::time::Instant::now() + limit(turn);
        let time_is_over = async {
            let _ = tokio::time::timeout_at(limit, begun).await;
            tokio::time::sleep_until(limit.min(tokio::time::Instant::now() + time)).await;
        };
        let finished = tokio::select! {
            finished = &mut search => finished,
            () = time_is_over => {
                stop.store(true, Ordering::Relaxed);
                search.await
            }
        };
        let (bot, choice, reasons, cost) = finished?;
        self.pool.meter().add(&self.id, cost);
        self.player = Some(bot);
        debug!(ply = turn.ply, ms = started.elapsed().as_millis(), "house bot has chosen");
        Ok((choice?, reasons))
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
