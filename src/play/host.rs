//! Starts games: checks who may play, stores the game, seats everybody, and goes on with series and rematches.

mod aborts;
pub(crate) mod admission;
mod conditional;
pub(crate) mod duel;
mod error;
mod follow;
mod next_game;
mod offer;
mod rooms;
mod seats;
pub(crate) mod stored;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc};
use tracing::info;

pub(crate) use self::conditional::ConditionalRefusal;
pub(crate) use self::error::StartError;
pub(crate) use self::follow::HostActor;
pub(crate) use self::offer::{GameOffer, Origin, Tempo};
use self::rooms::REBUILDS_MAX;
use self::waiting::WaitingLegs;
use crate::accounts::Accounts;
use crate::accounts::blocks::Blocks;
use crate::analysis::compute::ComputePool;
use crate::analysis::live_value::LiveValues;
use crate::cluster::thinking::Thinkers;
use crate::model::clock::now;
use crate::model::ids::{GameId, PairId, PlayerId};
use crate::play::feeds::Feeds;
use crate::play::file_lessons::FileLessons;
use crate::play::host::aborts::Aborts;
use crate::play::host::admission::Requirement;
use crate::play::house::HouseBots;
use crate::play::orders::Orders;
use crate::play::presence::Sessions;
use crate::play::ratings::ShownRatings;
use crate::play::room::actor::{RoomNews, delay_between};
use crate::play::room::directory::{GamesTaken, PublicGame};
use crate::play::room::state::RoomState;
use crate::play::room::{Directory, RoomHandle};
use crate::play::series;
use crate::protocol::server::GameEnd;
use crate::storage::store::{Store, Write};
use crate::storage::writer::{Obstacle, Writer};
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::pauses::Pauses;
use crate::system::shares::{Held, Payer, Share, Shares};
use crate::system::tasks::Tasks;

/// News that wait for the host. Rooms wait if it is full, after their players have been told everything.
const NEWS_MAX: usize = 1_024;

/// Ends of games that wait for whoever follows them. Who falls further behind is told so and asks the store.
const ENDS_MAX: usize = 4_096;

/// A game that has ended.
#[derive(Clone, Debug)]
pub(crate) struct GameOver {
    /// Which game, and who played.
    pub(crate) public: Arc<PublicGame>,
    pub(crate) end: Arc<GameEnd>,
}

/// What the host is built from.
#[derive(Clone, Debug)]
pub(crate) struct HostDeps {
    /// Reads players, games and ratings.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    /// Stores guests who play.
    pub(crate) accounts: Accounts,
    pub(crate) directory: Directory,
    pub(crate) sessions: Sessions,
    /// The bots of the house.
    pub(crate) house: HouseBots,
    pub(crate) pool: ComputePool,
    /// Other machines that think for the house, if there are any.
    pub(crate) thinkers: Option<Thinkers>,
    /// Who hears of live games and results.
    pub(crate) feeds: Feeds,
    /// Owns the rooms' tasks.
    pub(crate) tasks: Tasks,
    pub(crate) metrics: Arc<Metrics>,
    /// Rated games of a pair within a day.
    pub(crate) pair_limit: u32,
    /// Whether a remote bot must have passed the self-test before it plays rated games.
    pub(crate) self_test: Requirement,
    /// Says what games are worth.
    pub(crate) live_values: LiveValues,
    /// How much later than the players watchers see games of people.
    pub(crate) watch_delay: Duration,
    /// What each network may use up.
    pub(crate) shares: Shares,
    /// Games of all players at the same time.
    pub(crate) games_max: usize,
    /// Says when the daemon stood still.
    pub(crate) pauses: Pauses,
    /// Whether operators let games begin.
    pub(crate) orders: Orders,
}

/// Starts games. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    inner: Arc<HostInner>,
}

#[derive(Debug)]
struct HostInner {
    deps: HostDeps,
    ratings: ShownRatings,
    news: mpsc::Sender<RoomNews>,
    stopping: AtomicBool,
    /// Games that are being started, so that two starts at once do not exceed a player's limit. Starts run beside each
    /// other, for each waits for the store; this they settle under a lock. It is held for one count, which looks into
    /// the directory and the registry; neither of them looks in here.
    starting: Mutex<Starting>,
    ends: broadcast::Sender<GameOver>,
    /// Series in which bots of the house play as fast as they think: noted when one starts, read when a room is made
    /// again. A lock of its own, never held with the other.
    brisk: Mutex<HashSet<PairId>>,
    /// The places of live games in the shares of their players' networks, until they end. A lock of its own, held for
    /// one entry.
    held: Mutex<HashMap<GameId, Vec<Held>>>,
    /// Games of an earlier process that count for nobody's network yet, for addresses are not stored: each counts for
    /// that of a player when the player is back. A lock of its own, held for one entry.
    taken_up: Mutex<HashMap<PlayerId, Vec<GameId>>>,
    /// A lock of its own, held to note or count.
    aborts: Mutex<Aborts>,
    /// What bots of the house learn into files.
    lessons: FileLessons,
    /// The next games of series that cannot begin yet.
    waiting: WaitingLegs,
}

/// Games that are being started.
#[derive(Debug, Default)]
struct Starting {
    games: usize,
    by_player: HashMap<PlayerId, GamesTaken>,
}

impl Host {
    /// Makes the host and the actor that hears its rooms' news.
    pub(crate) fn new(deps: HostDeps) -> (Self, HostActor) {
        let (news, inbox) = mpsc::channel(NEWS_MAX);
        let lessons = FileLessons::new(deps.tasks.of(Part::Seat));
        let inner = HostInner {
            ratings: ShownRatings::new(deps.house.clone()),
            deps,
            news,
            stopping: AtomicBool::new(false),
            starting: Mutex::default(),
            ends: broadcast::Sender::new(ENDS_MAX),
            brisk: Mutex::default(),
            held: Mutex::default(),
            taken_up: Mutex::default(),
            aborts: Mutex::default(),
            lessons,
            waiting: WaitingLegs::default(),
        };
        let host = Self { inner: Arc::new(inner) };
        (host.clone(), HostActor { host, news: inbox, untold: None })
    }

    /// Begins no more games, for good; live ones go on.
    pub(crate) fn stop(&self) {
        self.inner.stopping.store(true, Ordering::SeqCst);
    }

    fn is_stopping(&self) -> bool {
        self.inner.stopping.load(Ordering::SeqCst)
    }

    /// Whether no more games begin, for good or until an operator says otherwise.
    pub(crate) fn is_paused(&self) -> bool {
        self.check_open().is_err()
    }

    /// Whether games begin at all.
    ///
    /// # Errors
    ///
    /// [`StartError::Paused`], or [`StartError::Ordered`].
    pub(crate) fn check_open(&self) -> Result<(), StartError> {
        if self.is_stopping() {
            return Err(StartError::Paused);
        }
        let orders = self.inner.deps.orders.now();
        match orders.pause() {
            Some(because) => Err(StartError::Ordered(because.reason.clone())),
            None if orders.drain().is_some() => Err(StartError::Paused),
            None => Ok(()),
        }
    }

    /// Whether a game can be stored.
    ///
    /// # Errors
    ///
    /// [`StartError::Obstructed`].
    pub(crate) fn check_store(&self) -> Result<(), StartError> {
        self.obstacle().map_or(Ok(()), |obstacle| Err(StartError::Obstructed(obstacle)))
    }

    /// All ends of games from now on, each after it was stored.
    pub(crate) fn ends(&self) -> broadcast::Receiver<GameOver> {
        self.inner.ends.subscribe()
    }

    /// How many live games a player has.
    pub(crate) fn games_taken(&self, player: &PlayerId) -> GamesTaken {
        self.inner.deps.directory.games_taken(player)
    }

    /// What operators have ordered.
    pub(crate) fn orders(&self) -> &Orders {
        &self.inner.deps.orders
    }

    /// Who blocks whom.
    pub(crate) fn blocks(&self) -> &Blocks {
        self.inner.deps.accounts.blocks()
    }

    /// The ratings that everybody is shown.
    pub(crate) fn ratings(&self) -> &ShownRatings {
        &self.inner.ratings
    }

    /// The bots of the house.
    pub(crate) fn house(&self) -> &HouseBots {
        &self.inner.deps.house
    }

    /// Begins a game: stores it, seats both players and tells them.
    ///
    /// # Errors
    ///
    /// See [`StartError`]. Nothing has happened then, except that a guest may be stored.
    pub(crate) async fn start(&self, offer: GameOffer) -> Result<GameId, StartError> {
        self.check_open()?;
        let deps = &self.inner.deps;
        let house_plays =
            [&offer.players.first, &offer.players.second].iter().any(|p| deps.house.get(&p.id).is_some());
        self.check_store()?;
        if deps.writer.is_congested() || (house_plays && deps.pool.is_congested()) {
            return Err(StartError::ArenaBusy);
        }
        self.check_programs(&offer)?;
        self.check_tested(&offer).await?;
        let _reserved = self.reserve(&offer)?;
        let held = self.hold_shares(&offer)?;
        let tempo = offer.origin.tempo();
        let pace = offer.pace;
        let is_series = matches!(offer.origin, Origin::Series { .. });
        let (spec, players) = self.prepare(offer).await?;
        let kinds = players.as_ref().map(|player| player.identity.kind);
        let state = self.with_vacations(RoomState::new(spec.clone(), kinds, now())?).await?;
        let state = state.with_series(series::before(&*deps.store, &spec).await?);
        let bots = self.build_bots(&spec, &players, tempo, pace).await?;
        if let Some(waits) = bots.iter().find(|bot| !is_series && !bot.bot.has_place()) {
            // Another game has taken it since we looked.
            return Err(StartError::PlayerBusy { name: players[waits.side].identity.name.to_string() });
        }
        deps.writer.write(Write::StartGame(spec.clone())).await?;
        info!(game = %spec.id, first = %players.first.identity.name, second = %players.second.identity.name,
            rated = spec.rated, "game started");
        deps.metrics.game_started();
        if let (Some(Tempo::Brisk), Some(pair)) = (tempo, &spec.pair) {
            self.brisk().insert(pair.id.clone());
        }
        if !held.is_empty() {
            self.held().insert(spec.id.clone(), held);
        }
        self.open_room(state, players, bots, REBUILDS_MAX);
        if let Some(public) = deps.directory.public(&spec.id) {
            public.set_pace(pace);
        }
        self.pause_if_late(&spec.id).await;
        deps.feeds.lobby_changed();
        Ok(spec.id)
    }

    /// A planned stop may have come while the game was being stored, and have asked all rooms to close but this one.
    async fn pause_if_late(&self, game: &GameId) {
        if self.is_stopping()
            && let Some(room) = self.inner.deps.directory.room(game)
        {
            room.pause().await;
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, HashMap<GameId, Vec<Held>>> {
        self.inner.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken_up(&self) -> std::sync::MutexGuard<'_, HashMap<PlayerId, Vec<GameId>>> {
        self.inner.taken_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A player is back whose games an earlier process began: from now on they count for the player's network, as many
    /// as they are, so that a restart gives nobody a second share.
    pub(crate) fn count_games_taken_up(&self, who: &Payer) {
        let Some(player) = &who.account else { return };
        let games = self.taken_up().remove(player).unwrap_or_default();
        for game in games {
            // Looked at under the lock: the game may end meanwhile, and its end takes out what is held.
            let mut held = self.held();
            let is_live = self.inner.deps.directory.public(&game).is_some_and(|public| !public.is_over());
            if is_live {
                held.entry(game).or_default().push(self.inner.deps.shares.hold_anyway(Share::Game, who));
            }
        }
    }

    fn aborts(&self) -> std::sync::MutexGuard<'_, Aborts> {
        self.inner.aborts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much later than the players watchers see a game in progress.
    pub(crate) fn watch_delay_of(&self, game: &GameId) -> Duration {
        let delay = self.inner.deps.watch_delay;
        match self.inner.deps.directory.public(game) {
            Some(public) => delay_between(&public.players, delay),
            // Its room is gone while the daemon stops.
            None => delay,
        }
    }

    /// What keeps it from storing anything, if something does.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        self.inner.deps.writer.obstacle()
    }

    fn brisk(&self) -> std::sync::MutexGuard<'_, HashSet<PairId>> {
        self.inner.brisk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All rooms, for a planned stop.
    pub(crate) fn rooms(&self) -> Vec<RoomHandle> {
        self.inner.deps.directory.rooms()
    }
}

#[cfg(test)]
mod tests;
