//! Duels that owners of bots ask for: how many go on at the same time, and whose turn is next.
//!
//! A duel that has begun is a series like any other, and known by its games. Until then it waits here, in memory: a
//! restart forgets those that wait, and whoever asks for one is told that there is none.

mod queue;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::info;

use self::queue::DuelQueue;
pub(crate) use self::queue::{QueueFull, WaitingDuel};
use crate::model::duel::DuelRule;
use crate::model::ids::{PairId, PlayerId};
use crate::play::host::{GameOffer, Host, StartError};
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::play::room::directory::PublicGame;

/// How often to look whether a duel can begin, while some wait.
const LOOK: Duration = Duration::from_secs(1);

/// A duel between two of whose games no more time passes goes on.
const BETWEEN_GAMES: Duration = Duration::from_secs(5);

/// How long a duel waits for bots that are away.
const PATIENCE: Duration = Duration::from_mins(30);

/// Duels that did not begin and of which it is still said why.
const GIVEN_UP_MAX: usize = 200;

/// What duels are begun with.
#[derive(Clone, Debug)]
pub(crate) struct DuelDeps {
    pub(crate) host: Host,
    pub(crate) directory: Directory,
    pub(crate) sessions: Sessions,
    /// Duels at the same time.
    pub(crate) at_once: usize,
}

/// The duels that wait for their turn. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Duels {
    inner: Arc<DuelsInner>,
}

#[derive(Debug)]
struct DuelsInner {
    deps: DuelDeps,
    /// Held for one look at most.
    state: Mutex<DuelsState>,
    added: Notify,
    /// One look at a time.
    looking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct DuelsState {
    queue: DuelQueue,
    /// Duels under way: whose, and when a game of theirs was seen last.
    running: HashMap<PairId, (PlayerId, Instant)>,
    given_up: VecDeque<GivenUp>,
}

/// A duel that did not begin.
#[derive(Clone, Debug)]
pub(crate) struct GivenUp {
    pub(crate) duel: WaitingDuel,
    pub(crate) why: String,
}

/// How a duel without games stands.
#[derive(Clone, Debug)]
pub(crate) enum Unbegun {
    /// So many begin before it or with it, if nobody else asks.
    Waiting(WaitingDuel, usize),
    GivenUp(GivenUp),
}

/// What came of asking for a duel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    Begun,
    /// It waits, at this place from 1 on.
    Waits(usize),
    /// It can never begin, for this reason.
    Refused(String),
}

impl Duels {
    pub(crate) fn new(deps: DuelDeps) -> Self {
        let inner = DuelsInner {
            deps,
            state: Mutex::default(),
            added: Notify::new(),
            looking: tokio::sync::Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    fn state(&self) -> MutexGuard<'_, DuelsState> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a duel into the queue, and begins it at once if it is its turn.
    ///
    /// # Errors
    ///
    /// Too many wait.
    pub(crate) async fn ask(
        &self,
        id: PairId,
        owner: PlayerId,
        offer: GameOffer,
    ) -> Result<Asked, QueueFull> {
        self.state().queue.add(WaitingDuel::new(id.clone(), owner, offer))?;
        self.begin_those_due().await;
        self.inner.added.notify_one();
        Ok(match self.unbegun(&id) {
            None => Asked::Begun,
            Some(Unbegun::Waiting(_, place)) => Asked::Waits(place),
            Some(Unbegun::GivenUp(GivenUp { why, .. })) => Asked::Refused(why),
        })
    }

    /// How a duel stands that has no games.
    pub(crate) fn unbegun(&self, id: &PairId) -> Option<Unbegun> {
        let state = self.state();
        if let Some(duel) = state.queue.get(id) {
            let order = state.queue.order(&state.by_owner());
            let place = order.iter().position(|other| other == id)? + 1;
            return Some(Unbegun::Waiting(duel.clone(), place));
        }
        let given_up = state.given_up.iter().find(|gone| gone.duel.id == *id)?;
        Some(Unbegun::GivenUp(given_up.clone()))
    }

    /// The duels of a bot that wait, in the order in which they were asked for.
    pub(crate) fn waiting_of(&self, bot: &PlayerId) -> Vec<PairId> {
        let state = self.state();
        let of_bot = state.queue.waiting().filter(|duel| duel.offer.players.first.id == *bot);
        of_bot.map(|duel| duel.id.clone()).collect()
    }

    /// Takes a duel out that waits, if it is this owner's.
    pub(crate) fn withdraw(&self, id: &PairId, owner: &PlayerId) -> bool {
        let mut state = self.state();
        let is_theirs = state.queue.get(id).is_some_and(|duel| duel.owner == *owner);
        is_theirs && state.queue.remove(id).is_some()
    }

    /// Begins duels as their turns come, until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        loop {
            let is_idle = self.state().queue.is_empty();
            let wait = async {
                if is_idle {
                    self.inner.added.notified().await;
                } else {
                    tokio::time::sleep(LOOK).await;
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = wait => self.begin_those_due().await,
            }
        }
    }

    /// Begins what can: one after the other, for each changes whose turn is next.
    async fn begin_those_due(&self) {
        let _looking = self.inner.looking.lock().await;
        for id in self.look() {
            if self.state().running.len() >= self.inner.deps.at_once {
                break;
            }
            let Some(duel) = self.state().queue.get(&id).cloned() else { continue };
            if !duel.is_complete() || !self.is_its_turn(&duel) {
                continue;
            }
            match self.inner.deps.host.start(duel.offer.clone()).await {
                Ok(game) => {
                    info!(duel = %id, %game, "a duel begins");
                    let mut state = self.state();
                    state.queue.begin(&id);
                    state.running.insert(id, (duel.owner, Instant::now()));
                }
                Err(error) if passes(&error) => {}
                Err(error) => {
                    self.state().queue.remove(&id);
                    self.give_up(duel, error.to_string());
                }
            }
        }
    }

    /// Takes note of what goes on, and gives those that wait, in the order of their turns.
    fn look(&self) -> Vec<PairId> {
        let DuelDeps { directory, sessions, host, .. } = &self.inner.deps;
        let now = Instant::now();
        let live: Vec<(PairId, PlayerId)> =
            directory.live().iter().filter_map(|game| duel_of(game)).collect();
        let is_there = |id: &PlayerId| host.house().get(id).is_some() || sessions.is_online(id);
        let mut state = self.state();
        for (id, owner) in live {
            state.running.insert(id, (owner, now));
        }
        state.running.retain(|_, (_, seen)| now.duration_since(*seen) < BETWEEN_GAMES);
        let gone = state.queue.look(is_there, now, PATIENCE);
        let running = state.by_owner();
        state.queue.forget_idle(&running);
        let order = state.queue.order(&running);
        drop(state);
        for duel in gone {
            self.give_up(duel, "its bots were not connected for half an hour".into());
        }
        order
    }

    /// An owner has at most half of the duels under way, so that others never wait for the end of all of them.
    fn is_its_turn(&self, duel: &WaitingDuel) -> bool {
        let under_way = self.state().by_owner().get(&duel.owner).copied().unwrap_or_default();
        under_way < self.inner.deps.at_once.div_ceil(2)
    }

    fn give_up(&self, duel: WaitingDuel, why: String) {
        info!(duel = %duel.id, why, "a duel does not begin");
        let mut state = self.state();
        state.given_up.push_front(GivenUp { duel, why });
        state.given_up.truncate(GIVEN_UP_MAX);
    }
}

impl DuelsState {
    /// How many duels each owner has under way.
    fn by_owner(&self) -> HashMap<PlayerId, usize> {
        let mut counts = HashMap::new();
        for (owner, _) in self.running.values() {
            *counts.entry(owner.clone()).or_default() += 1;
        }
        counts
    }
}

/// The duel that a live game belongs to, and whose it is. Of two bots with owners both are one owner's.
fn duel_of(game: &PublicGame) -> Option<(PairId, PlayerId)> {
    let id = &game.spec.pair.as_ref()?.id;
    DuelRule::of(id)?;
    let players = [&game.players.first, &game.players.second];
    let owner = players.into_iter().find_map(|player| player.identity.owner.clone())?;
    Some((id.clone(), owner))
}

/// Whether what keeps a duel from beginning may be otherwise in a while.
fn passes(error: &StartError) -> bool {
    error.to_wire().retry_ms.is_some()
}
