//! What watchers see of a game that they may not see at once: each news waits for the same time.
//!
//! Whoever watches a game of people could otherwise tell a friend what to play. When the game is over nothing is
//! withheld any more, and all that waits is told.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Position};

use super::RoomActor;
use crate::model::clock::now;
use crate::model::player::PlayerKind;
use crate::play::room::state::millis;
use crate::play::room::view::SeatedPlayer;
use crate::protocol::server::{Frame, Snapshot};
use crate::protocol::terms::WireSide;

/// News that wait before the oldest are told early: far more than a game has within the longest delay, unless somebody
/// comes and goes all the time.
const WAITING_MAX: usize = 512;

/// How long watchers of a game between these wait for its news: not at all if only bots play.
pub(crate) fn delay_between(players: &BySide<SeatedPlayer>, delay: Duration) -> Duration {
    let is_bot = |player: &SeatedPlayer| player.identity.kind == PlayerKind::Bot;
    if is_bot(&players.first) && is_bot(&players.second) { Duration::ZERO } else { delay }
}

/// A game as it stood after some news.
struct View {
    snapshot: Snapshot,
    position: Position,
}

/// News that wait to be told.
struct Late {
    due: Instant,
    frames: Vec<Frame>,
    after: View,
}

/// What watchers see, and what they do not see yet.
pub(super) struct Screen {
    delay: Duration,
    shown: View,
    /// Since when that is shown: the clock of the side to move runs on.
    since: Instant,
    waiting: VecDeque<Late>,
}

impl Screen {
    /// When the next news is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waiting.front().map(|late| late.due)
    }

    fn next(&mut self, now: Instant) -> Option<Late> {
        let is_due = self.waiting.len() > WAITING_MAX || self.due().is_some_and(|due| due <= now);
        if is_due { self.waiting.pop_front() } else { None }
    }

    /// As it is shown now.
    fn snapshot(&self, watching: u32, now: Instant) -> Snapshot {
        let mut snapshot =
            Snapshot { watching, delay_ms: Some(millis(self.delay)), ..self.shown.snapshot.clone() };
        let passed = millis(now.saturating_duration_since(self.since));
        let left = match snapshot.to_move {
            Some(WireSide::First) => &mut snapshot.clock.first,
            Some(WireSide::Second) => &mut snapshot.clock.second,
            None => return snapshot,
        };
        if snapshot.frozen_ms.is_none() {
            *left = left.saturating_sub(passed);
        }
        snapshot
    }
}

impl RoomActor {
    /// Begins to show the game late, if it is to be.
    pub(super) fn set_up_screen(&mut self) {
        let delay = delay_between(&self.public.players, self.deps.watch_delay);
        self.screen = (!delay.is_zero()).then(|| {
            let (shown, since) = (self.view(), now());
            Box::new(Screen { delay, shown, since, waiting: VecDeque::new() })
        });
    }

    fn view(&self) -> View {
        View { snapshot: self.snapshot(None), position: *self.state.position() }
    }

    /// The game as a watcher sees it.
    pub(super) fn watched_snapshot(&self) -> Snapshot {
        let snapshot = self.snapshot(None);
        match &self.screen {
            Some(screen) => screen.snapshot(snapshot.watching, now()),
            None => snapshot,
        }
    }

    /// The position that watchers see, and how many stones are on it.
    pub(super) fn watched_position(&self) -> (Position, u32) {
        match &self.screen {
            Some(screen) => (screen.shown.position, screen.shown.snapshot.ply),
            None => (*self.state.position(), self.state.game().ply()),
        }
    }

    /// Tells the watchers what has happened: at once, or when they may know.
    pub(super) async fn tell_watchers(&mut self, frames: Vec<Frame>) {
        // Without a screen nothing waits for the end either.
        if self.screen.is_some() || (!frames.is_empty() && self.members.watching() > 0) {
            // Boxed, for most rooms have nobody to tell, and would all have space for it.
            Box::pin(self.tell_or_keep(frames)).await;
        }
    }

    async fn tell_or_keep(&mut self, frames: Vec<Frame>) {
        let is_over = self.state.end().is_some();
        if is_over {
            self.show_all().await;
        } else if self.screen.is_some() && !frames.is_empty() {
            let after = self.view();
            if let Some(screen) = &mut self.screen {
                screen.waiting.push_back(Late { due: now() + screen.delay, frames, after });
            }
            return self.show_due().await;
        }
        self.show(frames).await;
    }

    /// Shows what waited for long enough.
    pub(super) async fn show_due(&mut self) {
        while let Some(late) = self.screen.as_mut().and_then(|screen| screen.next(now())) {
            self.show_late(late).await;
        }
    }

    async fn show_late(&mut self, late: Late) {
        let Some(screen) = &mut self.screen else { return };
        let is_other = screen.shown.snapshot.moves != late.after.snapshot.moves;
        (screen.shown, screen.since) = (late.after, now());
        let moves = screen.shown.snapshot.moves.clone();
        self.public.set_board(moves, self.state.end().is_some());
        self.show(late.frames).await;
        if is_other {
            self.value.forget();
            self.seek_value();
        }
    }

    /// The game is over: nothing is withheld any more.
    async fn show_all(&mut self) {
        if let Some(screen) = self.screen.take() {
            for late in screen.waiting {
                self.show(late.frames).await;
            }
        }
    }
}
