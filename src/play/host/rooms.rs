//! Rooms: opened, rebuilt when they fail, and taken up after a restart.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::{BySide, Side, Variant};
use futures::FutureExt;
use rand::RngExt;
use tracing::{error, info, warn};

use super::seats::Seats;
use super::stored::end_of;
use super::{Host, StartError, Tempo};
use crate::analysis::compute::Priority;
use crate::model::clock::now;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PlayerId};
use crate::model::pace::BotPace;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::model::vacation::{LOOK_BACK, Vacation};
use crate::model::world::{chance, on_thread};
use crate::play::bot_seat::{self, SeatPace};
use crate::play::elsewhere::Elsewhere;
use crate::play::house::{HouseBot, Mind};
use crate::play::room::actor::{Closed, RoomDeps, RoomNews};
use crate::play::room::directory::PublicGame;
use crate::play::room::state::RoomState;
use crate::play::room::view::SeatedPlayer;
use crate::play::room::{MemberId, Recipient, RoomActor};
use crate::play::series;
use crate::protocol::ServerMessage;
use crate::storage::record::{GameSpec, StoredGame};
use crate::storage::store::StoreError;
use crate::system::part::Part;

/// Shortest time for a house bot's move in games that somebody may watch.
const PACE: Duration = Duration::from_millis(350);

/// What is known of the games that are taken up, and of their players, beside the events.
struct Past {
    illegal: HashMap<GameId, BySide<u8>>,
    vacations: HashMap<PlayerId, Vec<Vacation>>,
    conditional: HashMap<GameId, BySide<Option<ConditionalMoves>>>,
}

/// How often a room whose task fails is made again. A game that breaks it each time must not keep the machine busy.
pub(super) const REBUILDS_MAX: u8 = 3;

impl Host {
    fn room_deps(&self) -> RoomDeps {
        RoomDeps {
            writer: self.inner.deps.writer.clone(),
            directory: self.inner.deps.directory.clone(),
            news: self.inner.news.clone(),
            metrics: Arc::clone(&self.inner.deps.metrics),
            live_values: self.inner.deps.live_values.clone(),
            pauses: self.inner.deps.pauses.clone(),
            watch_delay: self.inner.deps.watch_delay,
            blocks: self.inner.deps.accounts.blocks().clone(),
        }
    }

    /// The programs of the house bots in a game. Nothing said of the tempo, a series keeps that of its first game.
    pub(super) async fn build_bots(
        &self,
        spec: &GameSpec,
        players: &BySide<SeatedPlayer>,
        tempo: Option<Tempo>,
        pace: BotPace,
    ) -> Result<Vec<bot_seat::SeatPlayer>, StartError> {
        let house = &self.inner.deps.house;
        let remote_plays = [&players.first, &players.second]
            .iter()
            .any(|p| p.identity.kind == PlayerKind::Bot && house.get(&p.identity.id).is_none());
        let is_bot = |player: &SeatedPlayer| player.identity.kind == PlayerKind::Bot;
        let among_bots = is_bot(&players.first) && is_bot(&players.second);
        let goes_on_briskly = || spec.pair.as_ref().is_some_and(|pair| self.brisk().contains(&pair.id));
        let is_brisk = tempo.map_or_else(goes_on_briskly, |tempo| tempo == Tempo::Brisk);
        // Whoever challenges the house with a program wants the games; what the arena arranges, others watch.
        let is_asked_for = remote_plays && spec.pair.is_none();
        let least = if is_asked_for || is_brisk { Duration::ZERO } else { PACE };
        let priority = if among_bots { Priority::Bots } else { Priority::People };
        let mut bots = Vec::new();
        for side in [Side::First, Side::Second] {
            let id = &players[side].identity.id;
            if let Some(house_bot) = house.get(id) {
                let learns_as = house_bot.learns_as();
                let pace = match pace {
                    BotPace::Human if !among_bots => SeatPace::Human(house_bot.level),
                    BotPace::Human | BotPace::Swift => SeatPace::AtLeast(least),
                };
                let seed = chance().random();
                let elsewhere = self.elsewhere(&house_bot, seed);
                let bot = build_bot(house_bot, spec.variant, seed).await?;
                let time = spec.time;
                let id = id.clone();
                bots.push(bot_seat::SeatPlayer { id, side, bot, time, learns_as, pace, priority, elsewhere });
            }
        }
        Ok(bots)
    }

    /// Others who think for a bot of the house, if all that it is can be told them.
    fn elsewhere(&self, bot: &HouseBot, seed: u64) -> Option<Elsewhere> {
        let deps = &self.inner.deps;
        let (thinkers, spec) = (deps.thinkers.clone()?, bot.settings()?);
        Elsewhere::new(thinkers, Arc::clone(&deps.metrics), &spec.clone().with_default_seed(seed))
    }

    /// Makes the room, seats house bots and connected players, and lets everything run. `rebuilds` says how often it
    /// may be made again if it fails.
    pub(super) fn open_room(
        &self,
        state: RoomState,
        players: BySide<SeatedPlayer>,
        bots: Vec<bot_seat::SeatPlayer>,
        rebuilds: u8,
    ) {
        let deps = &self.inner.deps;
        let ids = players.as_ref().map(|player| player.identity.id.clone());
        // From here on the directory lists the room: a session that opens or ends meanwhile finds it there.
        let (handle, mut actor) = RoomActor::new(state, players, self.room_deps());
        if let Some(public) = deps.directory.public(handle.game())
            && public.spec.pair.as_ref().is_some_and(|pair| self.brisk().contains(&pair.id))
        {
            public.set_brisk();
        }
        for bot in bots {
            let (member, side) = (MemberId::next(), bot.side);
            let (seat, task) = bot_seat::seat(bot, deps.pool.clone(), self.inner.lessons.clone());
            actor.seat(side, member, seat as Arc<dyn Recipient>);
            let table = handle.clone();
            // A bot that says nothing more would lose on time much later.
            let failed = async move { table.fail(side).await };
            deps.tasks.of(Part::Seat).spawn_or(task.run(handle.clone(), member), failed);
        }
        for side in Side::BOTH {
            for session in deps.sessions.of(&ids[side]) {
                let seated = deps.directory.seat(handle.game(), &ids[side], session.member(), session);
                actor.seat(side, seated.0, seated.1);
            }
        }
        let (host, game) = (self.clone(), handle.game().clone());
        deps.tasks.of(Part::Room).spawn(async move {
            match AssertUnwindSafe(actor.run()).catch_unwind().await {
                Ok(Closed::Done) => {}
                // Boxed, for all rooms have space for it and hardly any needs it.
                Ok(Closed::OutOfStep) => Box::pin(host.rebuild(&game, rebuilds)).await,
                Err(_panic) => {
                    host.inner.deps.metrics.panicked(Part::Room);
                    error!(game = %game, "a room panicked");
                    Box::pin(host.rebuild(&game, rebuilds)).await;
                }
            }
        });
    }

    /// Opens a room again whose task failed: its game goes on from the last stored event.
    async fn rebuild(&self, game: &GameId, rebuilds: u8) {
        let deps = &self.inner.deps;
        let public = deps.directory.public(game);
        if let Some(public) = &public {
            deps.directory.remove(public);
        }
        let Some(rebuilds) = rebuilds.checked_sub(1) else {
            error!(game = %game, "a room failed again and again and stays closed until the next start");
            self.held().remove(game);
            return;
        };
        match deps.store.game(game).await {
            Ok(Some(stored)) if stored.ending().is_none() => match self.restore_alone(stored, rebuilds).await
            {
                Ok(()) => info!(game = %game, "room rebuilt"),
                Err(error) => error!(game = %game, error = %error, "a room could not be rebuilt"),
            },
            Ok(Some(stored)) => {
                if let Some(public) = public {
                    self.tell_end(public, stored).await;
                }
            }
            Ok(None) => {}
            Err(error) => error!(game = %game, error = %error, "a game could not be read"),
        }
    }

    /// The room failed between the storing of its game's end and the telling: the players hear of it all the same.
    async fn tell_end(&self, public: Arc<PublicGame>, stored: StoredGame) {
        if public.is_over() {
            return;
        }
        let end = match end_of(stored) {
            Ok(Some(end)) => end,
            Ok(None) => return,
            Err(error) => {
                error!(game = %public.spec.id, error = %error, "the end of a game cannot be told");
                return;
            }
        };
        for side in Side::BOTH {
            for session in self.inner.deps.sessions.of(&public.players[side].identity.id) {
                session.tell(ServerMessage::GameEnd(Box::new(end.clone())));
            }
        }
        // The host is gone only while the daemon stops.
        let _ = self.inner.news.send(RoomNews::Finished { public, end }).await;
    }

    /// Takes up the games that were live when the daemon stopped. Returns how many there are and how many could not
    /// be taken up; those stay in the store for `games verify` and never stop the others.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn restore(&self, games: Vec<StoredGame>) -> Result<(usize, usize), StoreError> {
        let seats = self.read_seats(&games).await?;
        let past = self.read_past().await?;
        let (mut restored, mut broken) = (0, 0);
        for game in games {
            let (id, players) = (game.spec.id.clone(), game.spec.players.clone());
            match self.restore_one(game, &seats, &past, REBUILDS_MAX).await {
                Ok(()) => {
                    restored += 1;
                    self.inner.deps.metrics.game_resumed();
                    // Games by correspondence take no place at the boards.
                    if self.inner.deps.directory.public(&id).is_some_and(|public| !public.is_correspondence())
                    {
                        self.note_taken_up(&id, &players);
                    }
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

    /// Remembers whose game was taken up. Bots of the house have no network.
    fn note_taken_up(&self, game: &GameId, players: &BySide<PlayerId>) {
        for player in [&players.first, &players.second] {
            if self.inner.deps.house.get(player).is_none() {
                self.taken_up().entry(player.clone()).or_default().push(game.clone());
            }
        }
    }

    /// A game has ended: nothing of it is to be counted any more.
    pub(super) fn forget_taken_up(&self, public: &PublicGame) {
        let mut taken_up = self.taken_up();
        for side in Side::BOTH {
            let player = &public.players[side].identity.id;
            if let Some(games) = taken_up.get_mut(player) {
                games.retain(|game| *game != public.spec.id);
                if games.is_empty() {
                    taken_up.remove(player);
                }
            }
        }
    }

    async fn restore_alone(&self, game: StoredGame, rebuilds: u8) -> Result<(), StartError> {
        let seats = self.read_seats(std::slice::from_ref(&game)).await?;
        let past = self.read_past().await?;
        self.restore_one(game, &seats, &past, rebuilds).await
    }

    /// A new game by correspondence, in which nobody's clock runs who has a vacation.
    pub(super) async fn with_vacations(&self, mut state: RoomState) -> Result<RoomState, StoreError> {
        if !state.is_correspondence() {
            return Ok(state);
        }
        for side in Side::BOTH {
            let taken = self.inner.deps.store.vacations_of(&state.spec().players[side]).await?;
            state = state.with_vacation(side, &taken, now(), UnixMillis::now());
        }
        Ok(state)
    }

    async fn read_past(&self) -> Result<Past, StoreError> {
        let store = &self.inner.deps.store;
        let illegal = store.illegal_moves().await?;
        let mut vacations: HashMap<PlayerId, Vec<Vacation>> = HashMap::new();
        for (player, taken) in store.vacations_since(UnixMillis::now().before(LOOK_BACK)).await? {
            vacations.entry(player).or_default().push(taken);
        }
        let conditional = store.conditional_moves(None).await?;
        Ok(Past { illegal, vacations, conditional })
    }

    async fn restore_one(
        &self,
        game: StoredGame,
        seats: &Seats,
        past: &Past,
        rebuilds: u8,
    ) -> Result<(), StartError> {
        let spec = game.spec.clone();
        let players = self.seats_of(seats, &spec)?;
        let kinds = players.as_ref().map(|player| player.identity.kind);
        let off = spec.players.as_ref().map(|player| past.vacations.get(player).cloned().unwrap_or_default());
        let state = RoomState::restore(game, kinds, now(), UnixMillis::now(), &off);
        let illegal = past.illegal.get(&spec.id).copied().unwrap_or_default();
        let said = past.conditional.get(&spec.id).cloned().unwrap_or_default();
        let state = state.map_err(StartError::Unreadable)?;
        let before = series::before(&*self.inner.deps.store, &spec).await?;
        let state = state.with_illegal_moves(illegal).with_conditional(said).with_series(before);
        // A restart forgets the pace: what is stored is the game, not its manners.
        let bots = self.build_bots(&spec, &players, None, BotPace::default()).await?;
        self.open_room(state, players, bots, rebuilds);
        Ok(())
    }
}

/// The program of a house bot for one game. What is in files is read on a thread that may wait for a disk.
async fn build_bot(bot: Arc<HouseBot>, variant: Variant, seed: u64) -> Result<Mind, StartError> {
    if !bot.reads_a_file() {
        return Ok(bot.mind(variant, seed)?);
    }
    match on_thread(move || bot.mind(variant, seed)).await {
        Ok(built) => Ok(built?),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_stopping) => Err(StartError::Paused),
        },
    }
}
