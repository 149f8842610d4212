//! How long each game stood still after something happened.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use fourfold::client::load::{Ack, HeardEnd, LoadTrouble, Role, Witness};
use fourfold::model::ids::{GameId, PlayerId};
use fourfold::protocol::server::GameEnd;
use fourfold_engine::Column;

use crate::history::History;

/// Between two looks whether all games go on.
const LOOK: Duration = Duration::from_millis(50);

/// Notes for how long games stand still, and tells the history everything.
pub(crate) struct Watch {
    history: Arc<History>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    live: HashSet<GameId>,
    /// The games that were live when something happened last.
    watched: HashMap<GameId, Pace>,
    still: Vec<Duration>,
}

/// How a game has gone on since something happened. What was under way then still arrives, so that the first move after
/// it says little: the longest time between two counts.
#[derive(Clone, Copy)]
struct Pace {
    moved: Instant,
    longest: Duration,
}

impl Pace {
    fn since(moved: Instant) -> Self {
        Self { moved, longest: Duration::ZERO }
    }

    fn moved_at(self, now: Instant) -> Self {
        Self { moved: now, longest: self.still_at(now) }
    }

    /// For how long it stood still at most, by now.
    fn still_at(self, now: Instant) -> Duration {
        self.longest.max(now.duration_since(self.moved))
    }
}

/// For how long games stood still.
pub(crate) struct Still(Vec<Duration>);

impl Watch {
    pub(crate) fn new(history: Arc<History>) -> Self {
        Self { history, seen: Mutex::default() }
    }

    /// What is told everything.
    pub(crate) fn history(&self) -> &Arc<History> {
        &self.history
    }

    /// Something is about to happen.
    pub(crate) fn fault(&self) {
        let mut seen = self.lock();
        let now = Instant::now();
        let Seen { live, watched, still } = &mut *seen;
        still.extend(watched.values().map(|pace| pace.still_at(now)));
        // A game that stands still from before goes on doing so.
        let since = |game| Pace::since(watched.get(game).map_or(now, |pace| pace.moved));
        let again = live.iter().map(|game| (game.clone(), since(game))).collect();
        *watched = again;
    }

    /// Waits until all games go on that were live when something happened last, for so long at most.
    pub(crate) async fn all_go_on(&self, longest: Duration) {
        let began = Instant::now();
        let stand_still = || self.lock().watched.values().any(|pace| pace.moved <= began);
        while stand_still() && began.elapsed() < longest {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// For how long games stood still since this was asked last. Those that still do count until now.
    pub(crate) fn take(&self) -> Still {
        let mut seen = self.lock();
        let now = Instant::now();
        let mut still = std::mem::take(&mut seen.still);
        still.extend(std::mem::take(&mut seen.watched).into_values().map(|pace| pace.still_at(now)));
        still.sort_unstable();
        Still(still)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no task panics while it holds this")
    }

    fn moved(&self, game: &GameId) {
        if let Some(pace) = self.lock().watched.get_mut(game) {
            *pace = pace.moved_at(Instant::now());
        }
    }

    fn over(&self, game: &GameId) {
        let mut seen = self.lock();
        seen.live.remove(game);
        if let Some(pace) = seen.watched.remove(game) {
            seen.still.push(pace.still_at(Instant::now()));
        }
    }
}

impl Still {
    pub(crate) fn longest(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }

    fn at(&self, percent: usize) -> u128 {
        self.0
            .get((self.0.len() * percent / 100).min(self.0.len().saturating_sub(1)))
            .map_or(0, Duration::as_millis)
    }
}

impl fmt::Display for Still {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (games, longest) = (self.0.len(), self.longest().as_millis());
        write!(
            f,
            "{games} games stood still for p50 {} ms, p99 {} ms, max {longest} ms",
            self.at(50),
            self.at(99)
        )
    }
}

impl Witness for Watch {
    fn connected(&self) {
        self.history.connected();
    }

    fn playing(&self, game: &GameId) {
        self.lock().live.insert(game.clone());
        self.history.playing(game);
    }

    fn sending(&self, game: &GameId, ply: u32, column: Column) {
        self.history.sending(game, ply, column);
    }

    fn acked(&self, ack: &Ack) {
        self.moved(&ack.game);
        self.history.acked(ack);
    }

    fn ended(&self, role: Role, end: &GameEnd) {
        self.over(&end.game);
        self.history.ended(role, end);
    }

    fn heard_end(&self, heard: &HeardEnd) {
        self.history.heard_end(heard);
    }

    fn heard_out(&self, player: &PlayerId) {
        self.history.heard_out(player);
    }

    fn reconnected(&self, role: Role) {
        self.history.reconnected(role);
    }

    fn trouble(&self, trouble: LoadTrouble) {
        self.history.trouble(trouble);
    }
}
