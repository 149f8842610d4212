//! Series between two games while no game begins: an operator has paused the arena, the daemon was away, or nothing
//! can be stored.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::Interval;

use super::next_game::NextGame;
use crate::model::clock::now;
use crate::model::ids::PlayerId;

/// How often to look whether games begin again and players are back.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// How long the end of a game stands before the next one of a series among people begins: the line has been drawn, and
/// both have seen the score.
pub(super) const REST: Duration = Duration::from_secs(6);

/// How long a game that could not begin waits before the arena is asked again: most is over by then, and ten thousand
/// that ask together do not keep it busy.
pub(super) const AGAIN: Duration = Duration::from_secs(3);

/// How long players may take to come back, once games begin: clients of a restarted daemon are back within seconds.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long ago the last game of a series may have ended, at a start, for it to go on: whoever comes back after an hour
/// has begun something else.
pub(super) const KEPT_MS: i64 = 60 * 60 * 1_000;

/// Series that wait. A daemon has a few thousand games at most, and each ends once while none begins.
const WAITING_MAX: usize = 10_000;

/// A game that is to follow.
#[derive(Debug)]
struct WaitingLeg {
    next: NextGame,
    /// When it may begin.
    due: Instant,
    /// When it is given up; not known while no game begins.
    ends: Option<Instant>,
}

/// The next games of series that cannot begin yet. The lock is held for one pass over them.
#[derive(Debug, Default)]
pub(super) struct WaitingLegs {
    legs: Mutex<Vec<WaitingLeg>>,
    added: Notify,
}

impl WaitingLegs {
    pub(super) fn add(&self, legs: impl IntoIterator<Item = NextGame>) {
        let due = now();
        self.enter(legs.into_iter().map(|next| WaitingLeg { next, due, ends: None }));
    }

    /// Adds one that does not begin before then.
    pub(super) fn add_later(&self, next: NextGame, due: Instant) {
        self.enter([WaitingLeg { next, due, ends: None }]);
    }

    fn enter(&self, legs: impl IntoIterator<Item = WaitingLeg>) {
        let mut waiting = self.legs();
        let room = WAITING_MAX.saturating_sub(waiting.len());
        waiting.extend(legs.into_iter().take(room));
        drop(waiting);
        self.added.notify_one();
    }

    /// Waits for the next look, once there is something to look for.
    pub(super) async fn any_then(&self, look: &mut Interval) {
        while self.legs().is_empty() {
            self.added.notified().await;
        }
        look.tick().await;
    }

    /// Takes out those whose players are both here. Games begin now, so the patience for the others runs.
    pub(super) fn ready(&self, is_here: impl Fn(&PlayerId) -> bool, now: Instant) -> Vec<NextGame> {
        let mut ready = Vec::new();
        self.legs().retain_mut(|leg| {
            if now < leg.due {
                return true;
            }
            let players = &leg.next.players;
            if is_here(&players.first) && is_here(&players.second) {
                ready.push(leg.next.clone());
                return false;
            }
            now < *leg.ends.get_or_insert(now + PATIENCE)
        });
        ready
    }

    fn legs(&self) -> MutexGuard<'_, Vec<WaitingLeg>> {
        self.legs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
