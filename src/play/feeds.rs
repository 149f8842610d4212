//! The streams of events that are not one game: `lobby`, `tv`, `ladder`, `results`.
//!
//! `lobby` and `tv` are states: at most one message a second, and only when something changed. `ladder` and `results`
//! are events, one for each finished game.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::model::ids::GameId;
use crate::play::room::directory::PublicGame;
use crate::play::room::view::SeatedPlayer;
use crate::play::room::{Directory, MemberId, Recipient};
use crate::protocol::ServerMessage;
use crate::protocol::client::Feed;
use crate::protocol::server::{
    Frame, GameEnd, LadderEntry, LadderFeed, LiveGame, LobbyFeed, RatingChange, ResultFeed, SeekEntry,
    TvFeed, Urgency,
};
use crate::protocol::terms::{Sides, WirePlayer, WireVariant};

/// How often `lobby` and `tv` may change.
const TICK: Duration = Duration::from_secs(1);

/// Live games in one `lobby` message: what fits on a page and, at 1 KiB each, well into a frame.
const LIVE_GAMES_MAX: usize = 24;

/// Seeks in one `lobby` message.
pub(crate) const SEEKS_MAX: usize = 50;

type Subscribers = BTreeMap<MemberId, Arc<dyn Recipient>>;

struct FeedsInner {
    directory: Directory,
    subscribers: Mutex<HashMap<Feed, Subscribers>>,
    seeks: Mutex<Vec<SeekEntry>>,
    online: Box<dyn Fn() -> usize + Send + Sync>,
    changed: AtomicBool,
    shown: Mutex<Option<GameId>>,
    chosen: Mutex<Option<GameId>>,
}

/// Who listens to which feed, and what there is to tell. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Feeds {
    inner: Arc<FeedsInner>,
}

impl std::fmt::Debug for Feeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feeds").finish_non_exhaustive()
    }
}

impl Feeds {
    /// Feeds over the games of `directory`; `online` counts connected players.
    pub(crate) fn new(directory: Directory, online: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        let inner = FeedsInner {
            directory,
            subscribers: Mutex::default(),
            seeks: Mutex::default(),
            online: Box::new(online),
            changed: AtomicBool::new(false),
            shown: Mutex::default(),
            chosen: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sends what changed, once a second, until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = tick.tick() => self.tell_changes(),
            }
        }
    }

    fn tell_changes(&self) {
        let changed = self.inner.changed.swap(false, Ordering::Relaxed);
        if changed && self.has_subscribers(Feed::Lobby) {
            self.tell(Feed::Lobby, &ServerMessage::Lobby(self.lobby()).into());
        }
        if self.has_subscribers(Feed::Tv) {
            let tv = self.tv();
            let game = tv.as_ref().map(|game| game.game.clone());
            let mut shown = self.inner.shown.lock().unwrap_or_else(PoisonError::into_inner);
            if *shown != game {
                *shown = game;
                drop(shown);
                self.tell(Feed::Tv, &ServerMessage::Tv(TvFeed { game: tv }).into());
            }
        }
    }

    fn has_subscribers(&self, feed: Feed) -> bool {
        self.subscribers().get(&feed).is_some_and(|subscribers| !subscribers.is_empty())
    }

    fn subscribers(&self) -> std::sync::MutexGuard<'_, HashMap<Feed, Subscribers>> {
        self.inner.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, feed: Feed, frame: &Frame) {
        for recipient in self.subscribers().get(&feed).into_iter().flat_map(Subscribers::values) {
            recipient.deliver(frame, None, Urgency::Droppable);
        }
    }

    /// Subscribes a connection; the states are told at once.
    pub(crate) fn subscribe(&self, feed: Feed, member: MemberId, recipient: Arc<dyn Recipient>) {
        let state = match feed {
            Feed::Lobby => Some(ServerMessage::Lobby(self.lobby())),
            Feed::Tv => Some(ServerMessage::Tv(TvFeed { game: self.tv() })),
            Feed::Ladder | Feed::Results => None,
        };
        if let Some(state) = state {
            recipient.deliver(&state.into(), None, Urgency::Droppable);
        }
        self.subscribers().entry(feed).or_default().insert(member, recipient);
    }

    pub(crate) fn unsubscribe(&self, feed: Feed, member: MemberId) {
        if let Some(subscribers) = self.subscribers().get_mut(&feed) {
            subscribers.remove(&member);
        }
    }

    /// Ends all subscriptions of a connection.
    pub(crate) fn leave(&self, member: MemberId) {
        for subscribers in self.subscribers().values_mut() {
            subscribers.remove(&member);
        }
    }

    /// Games began or ended, seeks came or went, players too.
    pub(crate) fn lobby_changed(&self) {
        self.inner.changed.store(true, Ordering::Relaxed);
    }

    /// The open seeks as the lobby shows them.
    pub(crate) fn set_seeks(&self, seeks: Vec<SeekEntry>) {
        *self.inner.seeks.lock().unwrap_or_else(PoisonError::into_inner) = seeks;
        self.lobby_changed();
    }

    pub(crate) fn seeks(&self) -> Vec<SeekEntry> {
        self.inner.seeks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A game has ended.
    pub(crate) fn finished(&self, public: &PublicGame, end: &GameEnd) {
        self.lobby_changed();
        if public.spec.is_private() {
            return;
        }
        let players = public.players.as_ref().map(SeatedPlayer::to_wire);
        if let Some(ratings) = &end.rating {
            let changes = vec![
                ladder_entry(&players.first, ratings.first),
                ladder_entry(&players.second, ratings.second),
            ];
            let feed = LadderFeed { variant: WireVariant(public.spec.variant), changes };
            self.tell(Feed::Ladder, &ServerMessage::Ladder(feed).into());
        }
        let result = ResultFeed {
            players: Sides::from(players),
            rated: public.spec.rated && end.unrated_because.is_none(),
            variant: WireVariant(public.spec.variant),
            end: end.clone(),
        };
        self.tell(Feed::Results, &ServerMessage::Result(Box::new(result)).into());
    }

    /// Seeks and live games as they are now.
    pub(crate) fn lobby(&self) -> LobbyFeed {
        let seeks = self.inner.seeks.lock().unwrap_or_else(PoisonError::into_inner);
        let seeks = seeks.iter().take(SEEKS_MAX).cloned().collect();
        let mut live = self.inner.directory.listed();
        let now = Instant::now();
        live.sort_by_key(|game| game.list_order(now));
        LobbyFeed {
            seeks,
            live: u32::try_from(live.len()).unwrap_or(u32::MAX),
            games: live.iter().take(LIVE_GAMES_MAX).map(|game| game.to_wire()).collect(),
            online: u32::try_from((self.inner.online)()).unwrap_or(u32::MAX),
        }
    }

    /// The game to show from now on, while it lasts.
    pub(crate) fn choose(&self, game: Option<GameId>) {
        *self.inner.chosen.lock().unwrap_or_else(PoisonError::into_inner) = game;
    }

    /// Whether anybody watches TV.
    pub(crate) fn has_viewers(&self) -> bool {
        self.has_subscribers(Feed::Tv)
    }

    /// The game to show: the one that was chosen, else the one shown before while it lasts, else the first of the list.
    /// Never one that only puts load on the arena.
    pub(crate) fn tv(&self) -> Option<LiveGame> {
        let mut live = self.inner.directory.listed();
        live.retain(|game| !game.spec.is_load());
        let find = |place: &Mutex<Option<GameId>>| {
            let wanted = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
            live.iter().find(|game| Some(&game.spec.id) == wanted.as_ref())
        };
        let same = find(&self.inner.chosen).or_else(|| find(&self.inner.shown));
        let now = Instant::now();
        same.or_else(|| live.iter().min_by_key(|game| game.list_order(now))).map(|game| game.to_wire())
    }
}

/// What a game did to a player's live rating. The one that is shown follows with the next fit.
fn ladder_entry(player: &WirePlayer, change: RatingChange) -> LadderEntry {
    LadderEntry { player: player.clone(), delta: change.after - change.before }
}
