//! Which rooms there are: by game, and by player.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use fourfold_engine::BySide;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::handle::{MemberId, Recipient, RoomHandle};
use super::remote::TwoNodes;
use super::view::{self, SeatedPlayer};
use crate::cluster::bus::Faults;
use crate::cluster::port::Counts;
use crate::model::ids::{GameId, PlayerId};
use crate::model::pace::BotPace;
use crate::model::player::{OpponentKind, PlayerKind};
use crate::model::time::UnixMillis;
use crate::play::correspondence;
use crate::play::series::HalfPoints;
use crate::protocol::server::LiveGame;

use crate::protocol::terms::{WireSeries, WireVariant};
use crate::storage::record::GameSpec;

/// From this many watchers on, the number shown is rounded down to tens.
const CROWD_EXACT_MAX: u32 = 100;

/// What lists show of a live game without asking its room.
#[derive(Debug)]
pub(crate) struct PublicGame {
    /// What was fixed when it began.
    pub(crate) spec: GameSpec,
    pub(crate) players: BySide<SeatedPlayer>,
    /// How the series stood before it.
    series: Option<WireSeries>,
    /// Its room alone writes here, lists read: a lock that is held for one copy.
    board: Mutex<ListedBoard>,
    /// So do these three, which nothing else must agree with.
    watching: AtomicU32,
    brisk: AtomicBool,
    humanly: AtomicBool,
}

/// The part that changes with each move, in one piece.
#[derive(Debug)]
struct ListedBoard {
    moves: String,
    over: bool,
    /// Since when these moves are on the board.
    since: Instant,
}

/// After so long without a move whoever is to move may have gone: lists show what goes on first.
const STILL_AFTER: Duration = Duration::from_mins(1);

/// What stands first in lists, by its parts: games that one can watch, that go on, of people, of strong players, the
/// oldest.
type ListOrder = (bool, bool, Reverse<usize>, Reverse<i32>, UnixMillis);

impl PublicGame {
    /// A game with these moves on the board.
    pub(crate) fn new(spec: GameSpec, players: BySide<SeatedPlayer>, moves: String) -> Self {
        let board = Mutex::new(ListedBoard { moves, over: false, since: Instant::now() });
        Self {
            spec,
            players,
            series: None,
            board,
            watching: AtomicU32::new(0),
            brisk: AtomicBool::new(false),
            humanly: AtomicBool::new(false),
        }
    }

    /// The same of a series that stood so before it.
    #[must_use = "the game goes in and comes out"]
    pub(super) fn with_series(self, before: Option<HalfPoints>) -> Self {
        Self { series: view::series(&self.spec, before), ..self }
    }

    /// As lists on the wire show it.
    pub(crate) fn to_wire(&self) -> LiveGame {
        let moves = self.board().moves.clone();
        LiveGame {
            game: self.spec.id.clone(),
            players: self.players.as_ref().map(SeatedPlayer::to_wire).into(),
            rated: self.spec.rated,
            time: self.spec.time,
            variant: WireVariant(self.spec.variant),
            ply: u32::try_from(moves.len()).unwrap_or(u32::MAX),
            moves,
            watching: self.watching(),
            started_at: self.spec.started_at.to_string(),
            series: self.series,
            tournament: self.spec.pair.as_ref().and_then(|pair| Some(pair.id.of_tournament()?.0)),
        }
    }

    /// Whether its players have days for each move.
    pub(crate) fn is_correspondence(&self) -> bool {
        let kinds = self.players.as_ref().map(|player| player.identity.kind);
        correspondence::is_played(self.spec.time, kinds)
    }

    /// What sort of player this player meets in it.
    fn opponent_of(&self, player: &PlayerId) -> OpponentKind {
        let BySide { first, second } = &self.players;
        let opponent = if first.identity.id == *player { second } else { first };
        opponent.identity.kind.into()
    }

    /// Whether it has ended and its room only lingers.
    pub(crate) fn is_over(&self) -> bool {
        self.board().over
    }

    /// Both players' ratings together, for picking the game to show.
    pub(crate) fn strength(&self) -> i32 {
        let elo = |player: &SeatedPlayer| player.rating.map_or(0, |rating| rating.elo);
        elo(&self.players.first) + elo(&self.players.second)
    }

    /// Where it stands in lists of live games.
    pub(crate) fn list_order(&self, now: Instant) -> ListOrder {
        let is_still = now.duration_since(self.board().since) > STILL_AFTER;
        let BySide { first, second } = &self.players;
        let people = [first, second].iter().filter(|player| player.identity.kind != PlayerKind::Bot).count();
        let strength = Reverse(self.strength());
        (self.is_brisk(), is_still, Reverse(people), strength, self.spec.started_at)
    }

    /// Whether it is over too soon to be watched: bots play it as fast as they think.
    pub(crate) fn is_brisk(&self) -> bool {
        self.brisk.load(Ordering::Relaxed)
    }

    /// Says that it is.
    pub(crate) fn set_brisk(&self) {
        self.brisk.store(true, Ordering::Relaxed);
    }

    /// How fast bots of the house answer people in it.
    pub(crate) fn pace(&self) -> BotPace {
        if self.humanly.load(Ordering::Relaxed) { BotPace::Human } else { BotPace::Swift }
    }

    /// Says how fast.
    pub(crate) fn set_pace(&self, pace: BotPace) {
        self.humanly.store(pace == BotPace::Human, Ordering::Relaxed);
    }

    /// Watchers, as shown.
    pub(crate) fn watching(&self) -> u32 {
        shown_crowd(self.watching.load(Ordering::Relaxed))
    }

    pub(super) fn set_watching(&self, watching: u32) {
        self.watching.store(watching, Ordering::Relaxed);
    }

    pub(super) fn set_board(&self, moves: String, over: bool) {
        let mut board = self.board();
        let since = if board.moves == moves { board.since } else { Instant::now() };
        *board = ListedBoard { moves, over, since };
    }

    fn board(&self) -> std::sync::MutexGuard<'_, ListedBoard> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many games a player has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct GamesTaken {
    pub(crate) all: usize,
    pub(crate) with_bots: usize,
}

impl GamesTaken {
    /// Counts one more.
    pub(crate) fn add(&mut self, opponent: OpponentKind) {
        self.all += 1;
        self.with_bots += usize::from(opponent == OpponentKind::Bot);
    }

    /// Counts one less.
    pub(crate) fn remove(&mut self, opponent: OpponentKind) {
        self.all -= 1;
        self.with_bots -= usize::from(opponent == OpponentKind::Bot);
    }
}

impl std::ops::Add for GamesTaken {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { all: self.all + other.all, with_bots: self.with_bots + other.with_bots }
    }
}

/// A crowd as it is shown: exact while small.
pub(crate) fn shown_crowd(watching: u32) -> u32 {
    if watching <= CROWD_EXACT_MAX { watching } else { watching - watching % 10 }
}

#[derive(Debug, Default)]
struct Rooms {
    /// Hashed, for each move looks its room up: in a tree of thousands of texts that took a thirtieth of its time.
    by_game: HashMap<GameId, (RoomHandle, Arc<PublicGame>)>,
    by_player: HashMap<PlayerId, BTreeSet<GameId>>,
    /// How many of them are over.
    lingering: usize,
}

impl Rooms {
    /// The public side of those rooms that are wanted, by their ids: an order that stays, for whoever lists them.
    fn listed(&self, is_wanted: impl Fn(&PublicGame) -> bool) -> Vec<Arc<PublicGame>> {
        let all = self.by_game.values().map(|(_, public)| public);
        let mut listed: Vec<_> = all.filter(|public| is_wanted(public)).map(Arc::clone).collect();
        listed.sort_unstable_by(|one, other| one.spec.id.cmp(&other.spec.id));
        listed
    }

    /// The live games of a player.
    fn of<'a>(&'a self, player: &PlayerId) -> impl Iterator<Item = &'a Arc<PublicGame>> + 'a {
        let games = self.by_player.get(player).into_iter().flatten();
        games.filter_map(|game| self.by_game.get(game)).map(|(_, public)| public)
    }
}

/// Rooms whose game is over that may wait a minute for a rematch; with more of them, the next ones wait as long as
/// those of bots do. Each has some ten kilobytes, and games of seconds would leave many times as many as are played.
pub(super) const LINGERING_MAX: usize = 1_000;

/// Two nodes, and the task that lets them hear each other, for as long as somebody has the directory.
#[derive(Clone, Debug)]
struct Running {
    nodes: TwoNodes,
    _task: Arc<AbortOnDropHandle<()>>,
}

/// All rooms of this process. Cloning gives another view of the same directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// Where rooms are at another node than whoever asks for them.
    nodes: Option<Running>,
    /// A lock, for each request of a client looks its room up here, and must not wait for an actor that looks for all.
    /// It is held for one look or one entry.
    rooms: Arc<RwLock<Rooms>>,
}

impl Directory {
    fn read(&self) -> std::sync::RwLockReadGuard<'_, Rooms> {
        self.rooms.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Rooms> {
        self.rooms.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory whose rooms are reached over a bus in memory that fails like this. Rooms and sessions are at two
    /// nodes of this process.
    pub(crate) fn over_a_bus(faults: Faults) -> Self {
        let (nodes, inboxes) = TwoNodes::new(faults);
        let all = Arc::<RwLock<Rooms>>::default();
        let rooms = Arc::downgrade(&all);
        let inbox_of = move |game: &GameId| {
            let rooms = rooms.upgrade()?;
            let rooms = rooms.read().unwrap_or_else(PoisonError::into_inner);
            rooms.by_game.get(game).and_then(|(handle, _)| handle.inbox().cloned())
        };
        let task = tokio::spawn(nodes.clone().run(inboxes, inbox_of));
        Self { nodes: Some(Running { nodes, _task: Arc::new(AbortOnDropHandle::new(task)) }), rooms: all }
    }

    /// What came in over the bus, if there is one: where sessions are, and where rooms are.
    pub(crate) fn bus_counts(&self) -> Option<[&Counts; 2]> {
        self.nodes.as_ref().map(|running| running.nodes.counts())
    }

    /// A room as it is reached from where sessions are.
    fn reach(&self, handle: &RoomHandle) -> RoomHandle {
        match &self.nodes {
            None => handle.clone(),
            Some(running) => RoomHandle::remote(handle.game().clone(), running.nodes.gateway().clone()),
        }
    }

    /// A connection as the room of a game is to know it that does not run yet.
    pub(crate) fn seat(
        &self,
        game: &GameId,
        player: &PlayerId,
        member: MemberId,
        recipient: Arc<dyn Recipient>,
    ) -> (MemberId, Arc<dyn Recipient>) {
        match &self.nodes {
            None => (member, recipient),
            Some(running) => running.nodes.seat(game, player, member, &recipient),
        }
    }

    pub(crate) fn insert(&self, handle: RoomHandle, public: Arc<PublicGame>) {
        let mut rooms = self.write();
        let game = public.spec.id.clone();
        for player in [&public.players.first, &public.players.second] {
            rooms.by_player.entry(player.identity.id.clone()).or_default().insert(game.clone());
        }
        rooms.by_game.insert(game, (handle, public));
    }

    /// The players are free for other games; the room itself stays until [`Self::remove`].
    pub(crate) fn release_players(&self, public: &PublicGame) {
        let mut rooms = self.write();
        for player in [&public.players.first, &public.players.second] {
            if let Some(games) = rooms.by_player.get_mut(&player.identity.id) {
                games.remove(&public.spec.id);
                if games.is_empty() {
                    rooms.by_player.remove(&player.identity.id);
                }
            }
        }
    }

    /// The game of a room is over. Says whether many rooms are left of such games.
    pub(super) fn lingers(&self) -> bool {
        let mut rooms = self.write();
        rooms.lingering += 1;
        rooms.lingering > LINGERING_MAX
    }

    /// Strikes a room out.
    pub(crate) fn remove(&self, public: &PublicGame) {
        self.release_players(public);
        let mut rooms = self.write();
        rooms.by_game.remove(&public.spec.id);
        if public.is_over() {
            rooms.lingering = rooms.lingering.saturating_sub(1);
        }
        drop(rooms);
        if let Some(running) = &self.nodes {
            running.nodes.closed(&public.spec.id);
        }
    }

    /// The room of a game.
    pub(crate) fn room(&self, game: &GameId) -> Option<RoomHandle> {
        self.read().by_game.get(game).map(|(handle, _)| self.reach(handle))
    }

    /// What lists show of a game.
    pub(crate) fn public(&self, game: &GameId) -> Option<Arc<PublicGame>> {
        self.read().by_game.get(game).map(|(_, public)| Arc::clone(public))
    }

    /// The rooms where a player has a live game.
    pub(crate) fn rooms_of(&self, player: &PlayerId) -> Vec<RoomHandle> {
        let rooms = self.read();
        let games = rooms.by_player.get(player).into_iter().flatten();
        games.filter_map(|game| rooms.by_game.get(game)).map(|(handle, _)| self.reach(handle)).collect()
    }

    /// How many rooms there are, those whose game has just ended among them.
    pub(crate) fn count(&self) -> usize {
        self.read().by_game.len()
    }

    /// How many live games a player has, but by correspondence.
    pub(crate) fn games_of(&self, player: &PlayerId) -> usize {
        self.games_taken(player).all
    }

    /// The same, and how many of them are against bots.
    pub(crate) fn games_taken(&self, player: &PlayerId) -> GamesTaken {
        let rooms = self.read();
        let mut taken = GamesTaken::default();
        for public in rooms.of(player).filter(|public| !public.is_correspondence()) {
            taken.add(public.opponent_of(player));
        }
        taken
    }

    /// The games by correspondence that a player has.
    pub(crate) fn correspondence_of(&self, player: &PlayerId) -> Vec<Arc<PublicGame>> {
        let rooms = self.read();
        rooms.of(player).filter(|public| public.is_correspondence()).map(Arc::clone).collect()
    }

    /// A game of a player that goes on at the board and that one can watch, the one that began first.
    pub(crate) fn watchable_of(&self, player: &PlayerId) -> Option<GameId> {
        let is_watchable = |public: &&Arc<PublicGame>| {
            !public.is_over()
                && !public.is_brisk()
                && !public.is_correspondence()
                && !public.spec.is_private()
        };
        let rooms = self.read();
        let games = rooms.of(player).filter(is_watchable);
        games.min_by_key(|public| public.spec.started_at).map(|public| public.spec.id.clone())
    }

    /// All games by correspondence that go on.
    pub(crate) fn by_correspondence(&self) -> Vec<Arc<PublicGame>> {
        self.read().listed(|public| !public.is_over() && public.is_correspondence())
    }

    /// All rooms whose game goes on at the board: those by correspondence are none that anybody waits for or watches.
    pub(crate) fn live(&self) -> Vec<Arc<PublicGame>> {
        self.read().listed(|public| !public.is_over() && !public.is_correspondence())
    }

    /// Those of them that everybody may see: all but private ones.
    pub(crate) fn listed(&self) -> Vec<Arc<PublicGame>> {
        let is_listed = |public: &PublicGame| {
            !public.is_over() && !public.is_correspondence() && !public.spec.is_private()
        };
        self.read().listed(is_listed)
    }

    /// All rooms, by the ids of their games.
    pub(crate) fn rooms(&self) -> Vec<RoomHandle> {
        let rooms = self.read();
        let listed = rooms.listed(|_| true).into_iter();
        let handles = listed.filter_map(|public| rooms.by_game.get(&public.spec.id));
        handles.map(|(handle, _)| self.reach(handle)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::player::Identity;
    use crate::model::rating::elo::ShownRating;
    use crate::storage::conformance::spec;

    fn game(id: &str, kinds: [PlayerKind; 2], elo: i32) -> PublicGame {
        let seated = |name: &str, kind| SeatedPlayer {
            identity: Identity { id: name.parse().unwrap(), name: name.parse().unwrap(), kind, owner: None },
            rating: Some(ShownRating::measured(elo)),
            version: None,
        };
        let players = BySide { first: seated("ann", kinds[0]), second: seated("ben", kinds[1]) };
        PublicGame::new(spec(id, "ann", "ben"), players, String::new())
    }

    #[tokio::test(start_paused = true)]
    async fn people_come_first_and_what_stands_still_or_rushes_last() {
        use PlayerKind::{Bot, Guest, Human};
        let games = [
            game("strong", [Bot, Bot], 1_700),
            game("weak", [Bot, Bot], 200),
            game("abandoned", [Human, Human], 900),
            game("people", [Human, Guest], 0),
            game("person", [Bot, Human], 800),
            game("rush", [Bot, Bot], 1_900),
        ];
        games[5].set_brisk();
        tokio::time::advance(STILL_AFTER + Duration::from_secs(1)).await;
        for (moves, game) in games.iter().enumerate().filter(|(place, _)| *place != 2) {
            game.set_board("4".repeat(moves + 1), false);
        }
        // Watchers come and go: no move.
        games[2].set_board(String::new(), false);
        let now = Instant::now();
        let mut order: Vec<&PublicGame> = games.iter().collect();
        order.sort_by_key(|game| game.list_order(now));
        let ids: Vec<&str> = order.iter().map(|game| game.spec.id.as_str()).collect();
        assert_eq!(ids, ["people", "person", "strong", "weak", "abandoned", "rush"]);
    }
}
