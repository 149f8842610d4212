//! Starts games: checks who may play, stores the game, seats everybody, and goes on with series and rematches.

pub mod stored;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fourfold_bots::BotError;
use fourfold_engine::{BySide, Side, Variant, openings};
use futures::FutureExt;
use rand::RngExt;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use crate::accounts::Accounts;
use crate::bot_seat;
use crate::clock::{TimeControl, now};
use crate::compute::ComputePool;
use crate::house::HouseBots;
use crate::ids::{GameId, PlayerId};
use crate::incident::internal;
use crate::lobby::feeds::Feeds;
use crate::metrics::Metrics;
use crate::protocol::server::{Frame, Identity, Urgency};
use crate::protocol::terms::{OpeningKind, OpponentKind, PlayerKind};
use crate::protocol::{ErrorCode, WireError};
use crate::room::actor::{Closed, RoomDeps, RoomNews};
use crate::room::directory::GamesTaken;
use crate::room::state::{RoomState, UnplayableOpening};
use crate::room::view::SeatedPlayer;
use crate::room::{Directory, MemberId, Recipient, RoomActor, RoomHandle};
use crate::session::{Session, Sessions};
use crate::storage::record::{GameSpec, Opening, Pair, StoredGame, UnixMillis, UnratedReason};
use crate::storage::store::{Store, StoreError, Write};
use crate::storage::writer::{WriteError, Writer};

/// News that wait for the host. Rooms wait if it is full, after their players have been told everything.
const NEWS_MAX: usize = 1_024;

/// Shortest time for a house bot's move where only people and house bots play: a game should be watchable.
const PACE: Duration = Duration::from_millis(350);

/// Rated games of a pair are counted over this time, in milliseconds.
const PAIR_LIMIT_PERIOD_MS: i64 = 24 * 3_600 * 1_000;

/// How often a room whose task fails is made again. A game that breaks it each time must not keep the machine busy.
const REBUILDS_MAX: u8 = 3;

/// When a refused start may be tried again.
const RETRY: Duration = Duration::from_secs(5);

/// A game that is to begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameOffer {
    /// Who plays.
    pub players: BySide<Identity>,
    /// Board size.
    pub variant: Variant,
    /// How much time each side has.
    pub time: TimeControl,
    /// Whether ratings should change.
    pub rated: bool,
    /// The moves on the board; a balanced opening is drawn if it names none.
    pub opening: Opening,
    /// The series it belongs to.
    pub pair: Option<Pair>,
    /// Who had the idea.
    pub origin: Origin,
}

/// Who had the idea of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The players: limits count.
    Players,
    /// The ladder: it has its own measure.
    Ladder,
    /// An earlier game of the same series: what was begun is played to its end, and counts as that game did.
    Series {
        /// Why the earlier game was not rated though it was asked for.
        unrated_because: Option<UnratedReason>,
    },
}

/// Why a game cannot begin.
#[derive(Debug, Error)]
pub enum StartError {
    /// The daemon begins no games now.
    #[error("no new games begin now")]
    Paused,
    /// A player has enough games.
    #[error("{name} has as many games as it takes")]
    PlayerBusy {
        /// Who.
        name: String,
    },
    /// The machine has enough to do.
    #[error("the arena is busy")]
    ArenaBusy,
    /// A house bot does not play this variant.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The opening is not playable.
    #[error(transparent)]
    Opening(#[from] UnplayableOpening),
    /// The stored events make no game.
    #[error("the stored game cannot be: {0}")]
    Unreadable(String),
    /// The store failed.
    #[error("the game could not be stored")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl From<WriteError> for StartError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Busy => Self::ArenaBusy,
            other @ (WriteError::Refused(_) | WriteError::Store(_)) => Self::Store(Box::new(other)),
        }
    }
}

impl StartError {
    /// Whether this player is why: it will not be otherwise soon.
    #[must_use]
    pub fn is_about(&self, player: &Identity) -> bool {
        match self {
            Self::PlayerBusy { name } => *name == player.name.to_string(),
            Self::Bot(_) | Self::Opening(_) | Self::Unreadable(_) | Self::Store(_) => true,
            Self::Paused | Self::ArenaBusy => false,
        }
    }

    /// The refusal as it travels.
    #[must_use]
    pub fn to_wire(&self) -> WireError {
        let message = self.to_string();
        match self {
            Self::Paused => WireError::new(ErrorCode::Paused, message).retry_in(RETRY),
            Self::PlayerBusy { .. } | Self::ArenaBusy => {
                WireError::new(ErrorCode::Busy, message).retry_in(RETRY)
            }
            Self::Bot(_) => WireError::bad_field("variant", message),
            Self::Opening(_) => WireError::bad_field("opening", message),
            Self::Unreadable(_) => internal("the game could not begin", self),
            Self::Store(cause) => internal("the game could not be stored", &**cause),
        }
    }
}

/// What the host is built from.
#[derive(Clone, Debug)]
pub struct HostDeps {
    /// Reads players, games and ratings.
    pub store: Arc<dyn Store>,
    /// Stores games.
    pub writer: Writer,
    /// Stores guests who play.
    pub accounts: Accounts,
    /// Lists rooms.
    pub directory: Directory,
    /// Finds connected players.
    pub sessions: Sessions,
    /// The bots of the house.
    pub house: HouseBots,
    /// Where they think.
    pub pool: ComputePool,
    /// Who hears of live games and results.
    pub feeds: Feeds,
    /// Owns the rooms' tasks.
    pub tasks: TaskTracker,
    /// Counts games.
    pub metrics: Arc<Metrics>,
    /// Rated games of a pair within a day.
    pub pair_limit: u32,
}

/// Starts games. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    deps: HostDeps,
    news: mpsc::Sender<RoomNews>,
    paused: AtomicBool,
    /// Games that are being started, so that two starts at once do not exceed a player's limit.
    starting: Mutex<HashMap<PlayerId, GamesTaken>>,
}

/// Hears of ends and rematches and starts what follows.
#[derive(Debug)]
pub struct HostActor {
    host: Host,
    news: mpsc::Receiver<RoomNews>,
}

impl HostActor {
    /// Runs until the daemon stops.
    pub async fn run(mut self) {
        while let Some(news) = self.news.recv().await {
            let host = self.host.clone();
            match news {
                RoomNews::Finished { public, end } => {
                    host.inner.deps.metrics.game_finished(end.reason);
                    host.inner.deps.feeds.finished(&public, &end);
                    if let Some(next) = next_leg(&public.spec) {
                        host.go_on(next);
                    }
                }
                RoomNews::RematchAgreed { spec } => {
                    let opening = match spec.opening.kind {
                        OpeningKind::Balanced => {
                            Opening { kind: OpeningKind::Balanced, moves: String::new() }
                        }
                        OpeningKind::None | OpeningKind::Given => spec.opening.clone(),
                    };
                    let origin = Origin::Players;
                    host.go_on(Follow { opening, pair: None, origin, ..Follow::swapped(&spec) });
                }
            }
        }
    }
}

/// A game that follows another one between the same players.
struct Follow {
    players: BySide<PlayerId>,
    variant: Variant,
    time: TimeControl,
    rated: bool,
    opening: Opening,
    pair: Option<Pair>,
    origin: Origin,
}

impl Follow {
    fn swapped(spec: &GameSpec) -> Self {
        Self {
            players: BySide { first: spec.players.second.clone(), second: spec.players.first.clone() },
            variant: spec.variant,
            time: spec.time,
            rated: spec.rated || spec.unrated_because.is_some(),
            opening: spec.opening.clone(),
            pair: spec.pair.clone(),
            origin: Origin::Series { unrated_because: spec.unrated_because },
        }
    }
}

impl Host {
    /// Makes the host and the actor that hears its rooms' news.
    #[must_use]
    pub fn new(deps: HostDeps) -> (Self, HostActor) {
        let (news, inbox) = mpsc::channel(NEWS_MAX);
        let inner = Inner { deps, news, paused: AtomicBool::new(false), starting: Mutex::default() };
        let host = Self { inner: Arc::new(inner) };
        (host.clone(), HostActor { host, news: inbox })
    }

    /// Begins no more games; live ones go on.
    pub fn pause(&self) {
        self.inner.paused.store(true, Ordering::Relaxed);
    }

    /// Whether no more games begin.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.inner.paused.load(Ordering::Relaxed)
    }

    /// How many live games a player has.
    #[must_use]
    pub fn games_taken(&self, player: &PlayerId) -> GamesTaken {
        self.inner.deps.directory.games_taken(player)
    }

    /// The bots of the house.
    #[must_use]
    pub fn house(&self) -> &HouseBots {
        &self.inner.deps.house
    }

    fn room_deps(&self) -> RoomDeps {
        RoomDeps {
            writer: self.inner.deps.writer.clone(),
            directory: self.inner.deps.directory.clone(),
            news: self.inner.news.clone(),
            metrics: Arc::clone(&self.inner.deps.metrics),
        }
    }

    /// Begins a game: stores it, seats both players and tells them.
    ///
    /// # Errors
    ///
    /// See [`StartError`]. Nothing has happened then, except that a guest may be stored.
    pub async fn start(&self, offer: GameOffer) -> Result<GameId, StartError> {
        if self.is_paused() {
            return Err(StartError::Paused);
        }
        let deps = &self.inner.deps;
        let house_plays =
            [&offer.players.first, &offer.players.second].iter().any(|p| deps.house.get(&p.id).is_some());
        if deps.writer.is_congested() || (house_plays && deps.pool.is_congested()) {
            return Err(StartError::ArenaBusy);
        }
        let _reserved = self.reserve(&offer)?;
        let (spec, players) = self.prepare(offer).await?;
        let kinds = players.as_ref().map(|player| player.identity.kind);
        let state = RoomState::new(spec.clone(), kinds, now())?;
        let bots = self.build_bots(&spec, &players)?;
        deps.writer.write(Write::StartGame(spec.clone())).await?;
        info!(game = %spec.id, first = %players.first.identity.name, second = %players.second.identity.name,
            rated = spec.rated, "game started");
        deps.metrics.game_started();
        self.open_room(state, players, bots, REBUILDS_MAX);
        deps.feeds.lobby_changed();
        Ok(spec.id)
    }

    /// Takes places in both players' limits until the game is in the directory.
    fn reserve(&self, offer: &GameOffer) -> Result<Reservation, StartError> {
        let GameOffer { players, origin, .. } = offer;
        let deps = &self.inner.deps;
        let mut starting = self.inner.starting.lock().unwrap_or_else(PoisonError::into_inner);
        for (player, other) in [(&players.first, &players.second), (&players.second, &players.first)] {
            if deps.house.get(&player.id).is_some() {
                continue;
            }
            let begins = starting.get(&player.id).copied().unwrap_or_default();
            let taken = deps.directory.games_taken(&player.id) + begins;
            let has_place = match origin {
                Origin::Players | Origin::Ladder => {
                    deps.sessions.has_place(&player.id, taken, other.kind.into())
                }
                // Whoever has left, or wants no new games, plays no next one either.
                Origin::Series { .. } => deps.sessions.is_staying(&player.id),
            };
            if !has_place {
                return Err(StartError::PlayerBusy { name: player.name.to_string() });
            }
        }
        let places = [(&players.first, &players.second), (&players.second, &players.first)]
            .map(|(player, other)| (player.id.clone(), OpponentKind::from(other.kind)));
        for (id, opponent) in &places {
            starting.entry(id.clone()).or_default().add(*opponent);
        }
        Ok(Reservation { host: self.clone(), places })
    }

    async fn prepare(&self, offer: GameOffer) -> Result<(GameSpec, BySide<SeatedPlayer>), StartError> {
        let first = self.seated(offer.players.first.clone(), offer.variant).await?;
        let second = self.seated(offer.players.second.clone(), offer.variant).await?;
        let players = BySide { first, second };
        let unrated_because = if offer.rated { self.unrated_because(&offer).await? } else { None };
        let id = GameId::random(&mut rand::rng());
        let opening = drawn_opening(&offer, &id);
        let spec = GameSpec {
            players: players.as_ref().map(|player| player.identity.id.clone()),
            id,
            variant: offer.variant,
            time: offer.time,
            rated: offer.rated && unrated_because.is_none(),
            unrated_because,
            opening,
            pair: offer.pair,
            started_at: UnixMillis::now(),
        };
        Ok((spec, players))
    }

    async fn seated(&self, identity: Identity, variant: Variant) -> Result<SeatedPlayer, StartError> {
        let deps = &self.inner.deps;
        let identity = deps
            .accounts
            .ensure_guest_stored(&identity)
            .await
            .map_err(|error| StartError::Store(Box::new(error)))?;
        let rating = deps.store.shown_rating(&identity, variant).await?;
        let version = match deps.house.get(&identity.id) {
            Some(_) => Some(env!("CARGO_PKG_VERSION").to_owned()),
            None => deps.sessions.version_of(&identity.id),
        };
        Ok(SeatedPlayer { identity, rating, version })
    }

    async fn unrated_because(&self, offer: &GameOffer) -> Result<Option<UnratedReason>, StoreError> {
        let BySide { first, second } = &offer.players;
        if first.kind == PlayerKind::Guest || second.kind == PlayerKind::Guest {
            return Ok(Some(UnratedReason::Guest));
        }
        if first.family() == second.family() && self.inner.deps.house.get(&first.id).is_none() {
            return Ok(Some(UnratedReason::SameOwner));
        }
        match offer.origin {
            Origin::Ladder => return Ok(None),
            Origin::Series { unrated_because } => return Ok(unrated_because),
            Origin::Players => {}
        }
        let since = UnixMillis(UnixMillis::now().0 - PAIR_LIMIT_PERIOD_MS);
        let pair = BySide { first: first.id.clone(), second: second.id.clone() };
        let played = self.inner.deps.store.rated_games_between(&pair, since).await?;
        Ok((played >= self.inner.deps.pair_limit).then_some(UnratedReason::PairLimit))
    }

    /// The programs of the house bots in a game.
    fn build_bots(
        &self,
        spec: &GameSpec,
        players: &BySide<SeatedPlayer>,
    ) -> Result<Vec<bot_seat::Player>, BotError> {
        let house = &self.inner.deps.house;
        let remote_plays = [&players.first, &players.second]
            .iter()
            .any(|p| p.identity.kind == PlayerKind::Bot && house.get(&p.identity.id).is_none());
        let pace = if remote_plays { Duration::ZERO } else { PACE };
        let mut bots = Vec::new();
        for side in [Side::First, Side::Second] {
            let id = &players[side].identity.id;
            if let Some(house_bot) = house.get(id) {
                let bot = house_bot.build(spec.variant, rand::rng().random())?;
                bots.push(bot_seat::Player { id: id.clone(), side, bot, pace });
            }
        }
        Ok(bots)
    }

    /// Makes the room, seats house bots and connected players, and lets everything run. `rebuilds` says how often it
    /// may be made again if it fails.
    fn open_room(
        &self,
        state: RoomState,
        players: BySide<SeatedPlayer>,
        bots: Vec<bot_seat::Player>,
        rebuilds: u8,
    ) {
        let deps = &self.inner.deps;
        let ids = players.as_ref().map(|player| player.identity.id.clone());
        // From here on the directory lists the room: a session that opens or ends meanwhile finds it there.
        let (handle, mut actor) = RoomActor::new(state, players, self.room_deps());
        for bot in bots {
            let (member, side) = (MemberId::next(), bot.side);
            let (seat, task) = bot_seat::seat(bot, deps.pool.clone());
            actor.seat(side, member, seat as Arc<dyn Recipient>);
            deps.tasks.spawn(task.run(handle.clone(), member));
        }
        for side in Side::BOTH {
            for session in deps.sessions.of(&ids[side]) {
                actor.seat(side, session.member(), session as Arc<dyn Recipient>);
            }
        }
        let (host, game) = (self.clone(), handle.game().clone());
        deps.tasks.spawn(async move {
            match AssertUnwindSafe(actor.run()).catch_unwind().await {
                Ok(Closed::Done) => {}
                Ok(Closed::OutOfStep) => host.rebuild(&game, rebuilds).await,
                Err(_panic) => {
                    host.inner.deps.metrics.panicked();
                    error!(game = %game, "a room panicked");
                    host.rebuild(&game, rebuilds).await;
                }
            }
        });
    }

    /// Opens a room again whose task failed: its game goes on from the last stored event.
    async fn rebuild(&self, game: &GameId, rebuilds: u8) {
        let deps = &self.inner.deps;
        if let Some(public) = deps.directory.public(game) {
            deps.directory.remove(&public);
        }
        let Some(rebuilds) = rebuilds.checked_sub(1) else {
            error!(game = %game, "a room failed again and again and stays closed until the next start");
            return;
        };
        match deps.store.game(game).await {
            Ok(Some(stored)) if stored.ending().is_none() => match self.restore_one(stored, rebuilds).await {
                Ok(()) => info!(game = %game, "room rebuilt"),
                Err(error) => error!(game = %game, error = %error, "a room could not be rebuilt"),
            },
            Ok(_) => {}
            Err(error) => error!(game = %game, error = %error, "a game could not be read"),
        }
    }

    /// Takes up the games that were live when the daemon stopped. Returns how many there are and how many could not
    /// be taken up; those stay in the store for `games verify` and never stop the others.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn restore(&self, games: Vec<StoredGame>) -> Result<(usize, usize), StoreError> {
        let (mut restored, mut broken) = (0, 0);
        for game in games {
            let id = game.spec.id.clone();
            match self.restore_one(game, REBUILDS_MAX).await {
                Ok(()) => {
                    restored += 1;
                    self.inner.deps.metrics.game_resumed();
                }
                Err(StartError::Store(cause)) => {
                    return Err(StoreError::Failed(cause));
                }
                Err(other) => {
                    broken += 1;
                    warn!(game = %id, error = %other, "a stored game cannot be taken up");
                }
            }
        }
        Ok((restored, broken))
    }

    async fn restore_one(&self, game: StoredGame, rebuilds: u8) -> Result<(), StartError> {
        let spec = game.spec.clone();
        let first = self.stored_player(&spec.players.first, spec.variant).await?;
        let second = self.stored_player(&spec.players.second, spec.variant).await?;
        let players = BySide { first, second };
        let kinds = players.as_ref().map(|player| player.identity.kind);
        let state = RoomState::restore(game, kinds, now()).map_err(StartError::Unreadable)?;
        let bots = self.build_bots(&spec, &players)?;
        self.open_room(state, players, bots, rebuilds);
        Ok(())
    }

    async fn stored_player(&self, id: &PlayerId, variant: Variant) -> Result<SeatedPlayer, StartError> {
        let player = self.inner.deps.store.player(id).await?;
        let player = player.ok_or_else(|| StartError::Unreadable(format!("there is no player {id}")))?;
        self.seated(crate::accounts::identity_of(&player), variant).await
    }

    /// Starts a following game in a task of its own: the host must go on hearing news. Both players hear of it if it
    /// cannot begin.
    fn go_on(&self, follow: Follow) {
        let host = self.clone();
        self.inner.deps.tasks.spawn(async move {
            let players = follow.players.clone();
            if let Err(error) = host.follow(follow).await {
                info!(error = %error, "a following game did not begin");
                let frame = Frame::from(error.to_wire());
                for session in [players.first, players.second].iter().flat_map(|id| host.sessions_of(id)) {
                    session.deliver(&frame, None, Urgency::Must);
                }
            }
        });
    }

    fn sessions_of(&self, player: &PlayerId) -> Vec<Arc<Session>> {
        self.inner.deps.sessions.of(player)
    }

    async fn follow(&self, follow: Follow) -> Result<GameId, StartError> {
        let first = self.stored_player(&follow.players.first, follow.variant).await?.identity;
        let second = self.stored_player(&follow.players.second, follow.variant).await?.identity;
        self.start(GameOffer {
            players: BySide { first, second },
            variant: follow.variant,
            time: follow.time,
            rated: follow.rated,
            opening: follow.opening,
            pair: follow.pair,
            origin: follow.origin,
        })
        .await
    }

    /// All rooms, for a planned stop.
    #[must_use]
    pub fn rooms(&self) -> Vec<RoomHandle> {
        self.inner.deps.directory.rooms()
    }
}

/// The next game of a series, if there is one. Legs 2k-1 and 2k share an opening.
fn next_leg(spec: &GameSpec) -> Option<Follow> {
    let pair = spec.pair.as_ref().filter(|pair| pair.leg < pair.of)?;
    let leg = pair.leg + 1;
    let opening = if leg % 2 == 1 && spec.opening.kind == OpeningKind::Balanced {
        Opening { kind: OpeningKind::Balanced, moves: String::new() }
    } else {
        spec.opening.clone()
    };
    Some(Follow { opening, pair: Some(Pair { leg, ..pair.clone() }), ..Follow::swapped(spec) })
}

/// Places in players' limits, given back when the game is listed or has failed to begin.
struct Reservation {
    host: Host,
    /// Whose, and against which sort of opponent.
    places: [(PlayerId, OpponentKind); 2],
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut starting = self.host.inner.starting.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, opponent) in &self.places {
            if let Some(begins) = starting.get_mut(id) {
                begins.remove(*opponent);
                if *begins == GamesTaken::default() {
                    starting.remove(id);
                }
            }
        }
    }
}

/// Draws a balanced opening where one is wanted and none is named yet.
///
/// The seed is the series' id, so the draw can be repeated from the record; without a series it is the game's.
fn drawn_opening(offer: &GameOffer, game: &GameId) -> Opening {
    if offer.opening.kind != OpeningKind::Balanced || !offer.opening.moves.is_empty() {
        return offer.opening.clone();
    }
    let seed = offer.pair.as_ref().map_or(game.as_str(), |pair| pair.id.as_str());
    let index = offer.pair.as_ref().map_or(0, |pair| u64::from(pair.leg / 2));
    match openings::draw(offer.variant, seed_of(seed), index) {
        Some(opening) => Opening { kind: OpeningKind::Balanced, moves: opening.notation() },
        None => Opening::default(),
    }
}

/// FNV-1a of an id: any stable spread of 64 bits will do, and this one fits on two lines.
fn seed_of(id: &str) -> u64 {
    id.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
