//! Runs tournaments: begins them when they are due, starts their games, and hears how those end.

mod arena;
mod calls;
mod wishes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_arena::plan::PlannedGame;
use fourfold_engine::{BySide, Side, Variant};
use rand::RngExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::board::{
    BoardEnd, Command, Shown, TournamentStartError, TournamentView, Tournaments, Upcoming, take_up,
};
use super::contest::{Contest, Played};
use super::plans::{Made, PlannedTournament};
use super::progress::{Decided, TournamentProgress};
use crate::accounts::identity_of;
use crate::model::clock::now;
use crate::model::ids::{GameId, PairId, PlayerName, TournamentId};
use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::play::host::{GameOffer, GameOver, Host, Origin, Tempo};
use crate::play::presence::Sessions;

use crate::model::player::{OpponentKind, PlayerKind};
use crate::storage::record::{Ending, GamePair, OpeningSource};
use crate::system::config::{FormatName, TournamentConfig, TournamentStart};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::store::{Store, StoreError, Write};
use crate::storage::tournaments::{EndedBecause, StoredTournament, TournamentEnd, Walkover};
use crate::storage::writer::Writer;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// How often to look for tournaments that are due and games that can begin.
const TICK: Duration = Duration::from_secs(1);

/// How often what has changed is shown: a view costs as much as its tournament is long, and fast bots end hundreds of
/// games a second. Nobody sees a tenth of a second.
const SHOW_EVERY: Duration = Duration::from_millis(100);

/// How much longer than views take to make it waits before the next ones: those of a tournament of a million games
/// take longer than a tenth of a second, and games are to begin too.
const SHOW_REST: u32 = 20;

/// How late a tournament may begin: whoever opens a laptop in the evening does not want what was due at noon.
const LATE_MAX_MS: i64 = 5 * 60 * 1_000;

/// The same of what people have made, while the operators let nothing begin.
const HELD_UP_MAX_MS: i64 = 60 * 60 * 1_000;

/// How long an entrant may be away before it loses its games without playing. Bots reconnect within seconds.
const AWAY_MAX: Duration = Duration::from_mins(1);

/// How long an entrant that is there may take no games.
const BUSY_MAX: Duration = Duration::from_mins(10);

/// Games in a pair.
const PAIR: u32 = 2;

/// Games that are tried beyond those that could begin, each time: some may wait for an entrant that is away.
const TRIES_MORE: usize = 32;

/// What the director works with.
#[derive(Clone, Debug)]
pub(crate) struct DirectorDeps {
    pub(crate) host: Host,
    /// Has tournaments, games and players.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    /// Tells who is there.
    pub(crate) sessions: Sessions,
}

/// A tournament under way.
#[derive(Debug)]
struct RunningTournament {
    contest: Contest,
    entrants: Vec<Identity>,
    /// Since when entrants could not play, by their places.
    away: HashMap<usize, Instant>,
    /// Since when entrants of an arena have been free, by their places.
    free: HashMap<usize, UnixMillis>,
    /// Whether it is shown as it stood before.
    is_outdated: bool,
}

impl RunningTournament {
    fn new(contest: Contest, entrants: Vec<Identity>) -> Self {
        Self { contest, entrants, away: HashMap::new(), free: HashMap::new(), is_outdated: false }
    }

    /// Its schedule; an arena has none.
    fn schedule(&mut self) -> Option<&mut TournamentProgress> {
        match &mut self.contest {
            Contest::Schedule(progress) => Some(progress.as_mut()),
            Contest::Arena(_) => None,
        }
    }

    /// Changes its schedule, if it has one, and what is shown of it.
    fn change<T: Default>(&mut self, change: impl FnOnce(&mut TournamentProgress) -> T) -> T {
        self.is_outdated = true;
        self.schedule().map(change).unwrap_or_default()
    }

    /// How it stands, to be shown.
    fn view(&mut self) -> Arc<TournamentView> {
        self.is_outdated = false;
        Arc::new(TournamentView::new(&self.contest))
    }
}

/// Runs tournaments. It alone knows how they stand; everybody else sees what it shows.
#[derive(Debug)]
pub(crate) struct Director {
    deps: DirectorDeps,
    shown: watch::Sender<Shown>,
    /// When it may show again what has changed.
    show_again_at: Option<Instant>,
    commands: mpsc::Receiver<Command>,
    ends: broadcast::Receiver<GameOver>,
    plans: Vec<PlannedTournament>,
    /// Whether those that begin with the daemon have.
    has_begun: bool,
    running: HashMap<TournamentId, RunningTournament>,
}

/// After a panic it knows what is stored; plans and orders that wait are as they were.
impl Kept for Director {
    fn part(&self) -> Part {
        Part::Tournaments
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        self.work(stop).await;
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), BoxedError> {
        // Before the look, so that no end falls in between.
        self.ends = self.deps.host.ends();
        self.running.clear();
        self.shown.send_modify(|shown| shown.running.clear());
        Ok(self.take_up_all().await?)
    }

    async fn turn_away(&mut self) {
        while let Some(command) = self.commands.recv().await {
            command.turn_away();
        }
    }
}

/// What became of an attempt to begin a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StartOutcome {
    Begun,
    /// Somebody is not there: it is over without being played.
    WalkedOver,
    /// It must wait for an entrant.
    Waits,
    /// No games begin at all.
    Closed,
}

impl Director {
    /// Takes up the tournaments that were under way, before any of their games can end.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn new(
        deps: DirectorDeps,
        configured: Vec<TournamentConfig>,
    ) -> Result<(Self, Tournaments), StoreError> {
        let (board, BoardEnd { shown, commands }) = Tournaments::new(Arc::clone(&deps.store));
        let plans = configured.into_iter().map(PlannedTournament::of_configuration).collect();
        let ends = deps.host.ends();
        let mut director = Self {
            deps,
            shown,
            show_again_at: None,
            commands,
            ends,
            plans,
            has_begun: false,
            running: HashMap::new(),
        };
        director.take_up_all().await?;
        director.take_up_plans().await?;
        Ok((director, board))
    }

    /// What people had made when the daemon stopped.
    async fn take_up_plans(&mut self) -> Result<(), StoreError> {
        for plan in self.deps.store.tournament_plans().await? {
            let Some(maker) = self.deps.store.player(&plan.maker).await? else { continue };
            let mut entered = Vec::new();
            for player in &plan.entered {
                entered.extend(self.deps.store.player(player).await?.as_ref().map(identity_of));
            }
            self.plans.push(PlannedTournament::made(plan, identity_of(&maker), entered, None));
        }
        Ok(())
    }

    async fn take_up_all(&mut self) -> Result<(), StoreError> {
        for tournament in self.deps.store.running_tournaments().await? {
            let id = tournament.id.clone();
            match self.take_up(tournament).await {
                Ok(()) => info!(tournament = %id, "tournament taken up"),
                Err(StoreError::Corrupt(what)) => {
                    error!(tournament = %id, what, "a tournament cannot be taken up");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn take_up(&mut self, tournament: StoredTournament) -> Result<(), StoreError> {
        let mut entrants = Vec::new();
        for entrant in &tournament.entrants {
            let player = self.deps.store.player(entrant).await?;
            let missing = || StoreError::Corrupt(format!("there is no player {entrant}"));
            entrants.push(identity_of(&player.ok_or_else(missing)?));
        }
        let id = tournament.id.clone();
        let contest = take_up(&*self.deps.store, tournament).await?;
        self.add(id, contest, entrants);
        Ok(())
    }

    fn add(&mut self, id: TournamentId, contest: Contest, entrants: Vec<Identity>) {
        let mut running = RunningTournament::new(contest, entrants);
        let view = running.view();
        self.running.insert(id.clone(), running);
        self.shown.send_modify(|shown| {
            shown.running.insert(id, view);
        });
    }

    async fn work(&mut self, stop: &CancellationToken) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.begin_plans().await;
        }
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let show_at = self.next_showing();
            let may_go_on = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = tick.tick() => {
                    self.begin_due(UnixMillis::now()).await;
                    self.call(UnixMillis::now());
                    true
                }
                Some(command) = self.commands.recv() => {
                    self.obey(command).await;
                    true
                }
                over = self.ends.recv() => match over {
                    Ok(over) => self.game_over(&over).await,
                    Err(RecvError::Lagged(_)) => {
                        self.reload_all().await;
                        true
                    }
                    Err(RecvError::Closed) => return,
                },
                () = until(show_at) => false,
            };
            if may_go_on {
                for id in self.running.keys().cloned().collect::<Vec<_>>() {
                    self.go_on(&id).await;
                }
            }
            self.show_changes();
        }
    }

    // ---- showing ----

    /// When something is to be shown that has changed already.
    fn next_showing(&self) -> Option<Instant> {
        let is_outdated = self.running.values().any(|running| running.is_outdated);
        self.show_again_at.filter(|_| is_outdated)
    }

    /// Shows what has changed, unless it has done so just now.
    fn show_changes(&mut self) {
        let began = now();
        if self.show_again_at.is_some_and(|at| began < at) {
            return;
        }
        let outdated = self.running.iter_mut().filter(|(_, running)| running.is_outdated);
        let views: Vec<_> = outdated.map(|(id, running)| (id.clone(), running.view())).collect();
        if !views.is_empty() {
            self.shown.send_modify(|shown| shown.running.extend(views));
            let done = now();
            self.show_again_at = Some(done + rest_after(done.saturating_duration_since(began)));
        }
    }

    /// Shows one at once, for whoever has just changed it and looks.
    fn show(&mut self, id: &TournamentId) {
        if let Some(view) = self.running.get_mut(id).map(RunningTournament::view) {
            self.shown.send_modify(|shown| {
                shown.running.insert(id.clone(), view);
            });
        }
    }

    // ---- beginning ----

    /// Begins what begins with the daemon, and finds when the others are due.
    async fn begin_plans(&mut self) {
        let now = UnixMillis::now();
        for place in 0..self.plans.len() {
            if self.plans[place].config.at == TournamentStart::Daemon {
                let config = self.plans[place].config.clone();
                self.start_or_say(&config, now).await;
            }
            let plan = &mut self.plans[place];
            if plan.made.is_none() {
                plan.next = next(&plan.config.at, now);
            }
        }
        self.announce();
    }

    async fn begin_due(&mut self, now: UnixMillis) {
        for place in 0..self.plans.len() {
            let plan = &mut self.plans[place];
            let is_due = |due: &UnixMillis| plan.made.is_none() && *due <= now;
            let Some(due) = plan.next.filter(is_due) else { continue };
            plan.next = next(&plan.config.at, now);
            let config = plan.config.clone();
            if now.0 - due.0 <= LATE_MAX_MS {
                self.start_or_say(&config, due).await;
            } else {
                warn!(name = config.name, %due, "a tournament was due while nobody looked, and is left out");
            }
            self.announce();
        }
        self.begin_made(now).await;
    }

    /// Begins what people have made as soon as two of its entrants are there; what nobody comes to is given up.
    async fn begin_made(&mut self, now: UnixMillis) {
        let is_due = |plan: &PlannedTournament| {
            let made = plan.made.as_ref()?;
            let due = plan.next.filter(|due| *due <= now)?;
            Some((made.id.clone(), plan.config.clone(), due))
        };
        let due: Vec<_> = self.plans.iter().filter_map(is_due).collect();
        for (id, config, due) in due {
            let Err(error) = self.start(&config, due).await else { continue };
            let late_max = match error {
                TournamentStartError::Unavailable => HELD_UP_MAX_MS,
                _ => LATE_MAX_MS,
            };
            if now.0 - due.0 > late_max {
                info!(tournament = %id, name = config.name, error = %error, "a tournament is not held");
                if let Err(error) = self.drop_plan(&id).await {
                    warn!(tournament = %id, error = %error, "a tournament that is not held is not forgotten yet");
                }
            }
        }
    }

    fn announce(&self) {
        let mut upcoming: Vec<Upcoming> = self.plans.iter().filter_map(PlannedTournament::upcoming).collect();
        upcoming.sort_by_key(|upcoming| upcoming.at.map_or(i64::MAX, |at| at.0));
        self.shown.send_modify(|shown| shown.upcoming = upcoming);
    }

    async fn obey(&mut self, command: Command) {
        // Whoever asked may have gone away.
        match command {
            Command::Start { name, reply } => drop(reply.send(self.start_by_name(name).await)),
            Command::Enter { name, who, wish, reply } => drop(reply.send(self.enter(name, who, wish).await)),
            Command::Attend { id, who, wish, reply } => drop(reply.send(self.attend(&id, who, wish).await)),
            Command::Make { plan, maker, place, reply } => {
                drop(reply.send(self.make(*plan, maker, place).await));
            }
            Command::Gone { player } => self.gone(&player).await,
            Command::Renamed { who } => self.renamed(&who).await,
            Command::Cancel { id, by, because, reply } => {
                drop(reply.send(self.cancel(&id, by, because).await));
            }
            Command::Decide { id, who, decision, reply } => {
                drop(reply.send(self.decide(&id, &who, decision).await));
            }
        }
    }

    async fn start_by_name(&mut self, name: String) -> Result<TournamentId, TournamentStartError> {
        let config = self.plans.iter().find(|plan| plan.config.name == name);
        match config.map(|plan| plan.config.clone()) {
            Some(config) => self.start(&config, UnixMillis::now()).await,
            None => Err(TournamentStartError::Unknown(name)),
        }
    }

    async fn start_or_say(&mut self, config: &TournamentConfig, due_at: UnixMillis) {
        if let Err(error) = self.start(config, due_at).await {
            warn!(name = config.name, error = %error, "a tournament that is due does not begin");
        }
    }

    async fn start(
        &mut self,
        config: &TournamentConfig,
        due_at: UnixMillis,
    ) -> Result<TournamentId, TournamentStartError> {
        let is_same = |running: &RunningTournament| running.contest.tournament().name == config.name;
        if self.running.values().any(is_same) {
            return Err(TournamentStartError::GoesOn(config.name.clone()));
        }
        if self.deps.host.is_paused() {
            return Err(TournamentStartError::Unavailable);
        }
        let failed = |error: &dyn std::fmt::Display| {
            error!(error = %error, "a tournament could not begin");
            TournamentStartError::Unavailable
        };
        let entrants = self.entrants(config).await.map_err(|error| failed(&error))?;
        if entrants.iter().filter(|entrant| self.is_there(entrant)).count() < 2 {
            return Err(TournamentStartError::Alone(config.name.clone()));
        }
        let made = self.plan_of(config).and_then(|plan| plan.made.clone());
        let mut tournament = plan(config, &entrants, due_at);
        if let Some(Made { id, maker, .. }) = &made {
            (tournament.id, tournament.maker) = (id.clone(), Some(maker.id.clone()));
        }
        let names = entrants.iter().map(|entrant| entrant.name.clone()).collect();
        let contest = Contest::replay(tournament.clone(), names, &Played::default());
        let contest = contest.map_err(|error| failed(&error))?;
        let write = Write::AddTournament(tournament.clone());
        self.deps.writer.write(write).await.map_err(|error| failed(&error))?;
        let id = tournament.id;
        info!(tournament = %id, name = config.name, entrants = entrants.len(), "tournament begun");
        match made {
            Some(made) => self.plans.retain(|plan| plan.made_as(&made.id).is_none()),
            None => self.plan_of(config).into_iter().for_each(|plan| plan.entered.clear()),
        }
        self.announce();
        self.add(id.clone(), contest, entrants);
        Ok(id)
    }

    fn plan_of(&mut self, config: &TournamentConfig) -> Option<&mut PlannedTournament> {
        self.plans.iter_mut().find(|plan| plan.config.name == config.name)
    }

    fn is_there(&self, entrant: &Identity) -> bool {
        self.deps.host.house().get(&entrant.id).is_some() || self.deps.sessions.is_online(&entrant.id)
    }

    /// Who takes part: those that are named, as far as they are there, then people who have entered and are connected,
    /// in an arena those too who may come yet, then the open bots if those are asked for.
    async fn entrants(&mut self, config: &TournamentConfig) -> Result<Vec<Identity>, StoreError> {
        let mut entrants: Vec<Identity> = Vec::new();
        for name in &config.entrants {
            match self.entrant(name).await? {
                Some(entrant) => entrants.push(entrant),
                None => {
                    warn!(tournament = config.name, %name, "an entrant is no bot of this arena, and is left out");
                }
            }
        }
        let entered = self.plan_of(config).map(|plan| plan.entered.clone()).unwrap_or_default();
        let waits = config.format == FormatName::Arena;
        entrants.extend(entered.into_iter().filter(|who| waits || self.deps.sessions.is_online(&who.id)));
        if config.open_bots {
            for bot in self.deps.sessions.open_bots() {
                if entrants.iter().all(|entrant| entrant.id != bot.identity.id) {
                    entrants.push(bot.identity);
                }
            }
        }
        entrants.truncate(self.plan_of(config).map_or(usize::MAX, |plan| plan.entrants_max()));
        Ok(entrants)
    }

    async fn entrant(&self, name: &PlayerName) -> Result<Option<Identity>, StoreError> {
        if let Some(bot) = self.deps.host.house().by_name(name) {
            return Ok(bot.plays(Variant::STANDARD).then(|| bot.identity.clone()));
        }
        let player = self.deps.store.player_by_name(name).await?;
        Ok(player.filter(|player| player.kind == PlayerKind::Bot && !player.house).as_ref().map(identity_of))
    }

    // ---- going on ----

    /// Starts the games that can begin, and ends what is over.
    async fn go_on(&mut self, id: &TournamentId) {
        let Some(running) = self.running.get_mut(id) else { return };
        match &running.contest {
            Contest::Schedule(_) => start_games(&self.deps, running).await,
            Contest::Arena(_) => arena::pair(&self.deps, running).await,
        }
        let contest = &running.contest;
        let Some(reason) = contest.over(UnixMillis::now()).filter(|_| contest.is_quiet()) else { return };
        let end = end(contest, reason);
        let write = Write::EndTournament { tournament: id.clone(), end: end.clone() };
        match self.deps.writer.write(write).await {
            Ok(_) => {
                let name = &contest.tournament().name;
                info!(tournament = %id, name, games = end.games, reason = ?end.reason, "tournament over");
                self.forget(id);
            }
            Err(error) => warn!(tournament = %id, error = %error, "a tournament's end is not stored yet"),
        }
    }

    /// A tournament goes on no more.
    fn forget(&mut self, id: &TournamentId) {
        self.running.remove(id);
        self.shown.send_modify(|shown| {
            shown.running.remove(id);
        });
    }

    /// Notes how a game came out. False if it is none of a tournament.
    async fn game_over(&mut self, over: &GameOver) -> bool {
        let spec = &over.public.spec;
        let place = spec.pair.as_ref().and_then(|pair| Some((pair.id.of_tournament()?, pair.leg)));
        let Some(((id, pair), leg)) = place else { return false };
        let Some(running) = self.running.get_mut(&id) else { return false };
        let (result, reason, by) = (over.end.result, over.end.reason, over.end.by.map(Side::from));
        let ending = Ending { result, reason, by };
        let decided = Decided::by(ending, &spec.opening.moves, &over.end.moves);
        match &mut running.contest {
            Contest::Arena(contest) => {
                let idler = contest.finished(pair, decided);
                let idler = idler.and_then(|place| contest.tournament().entrants.get(place).cloned());
                running.is_outdated = true;
                if let Some(idler) = idler
                    && let Err(error) = self.quit(&id, &idler).await
                {
                    warn!(tournament = %id, error = %error, "whoever breaks off again and again is still paired");
                }
            }
            Contest::Schedule(_) => match decided {
                Some(decided) => {
                    let number = pair * 2 + u64::from(leg.saturating_sub(1));
                    let suspended = running.change(|progress| progress.finished(number, decided));
                    say_suspended(&id, running, &suspended);
                }
                // It must be played again, as often as its records allow.
                None => self.reload(&id).await,
            },
        }
        true
    }

    /// Begins anew from what is stored.
    async fn reload(&mut self, id: &TournamentId) {
        let Some(running) = self.running.get_mut(id) else { return };
        let tournament = running.contest.tournament().clone();
        match take_up(&*self.deps.store, tournament).await {
            Ok(stored) => (running.contest, running.is_outdated) = (stored, true),
            Err(error) => error!(tournament = %id, error = %error, "a tournament could not be read again"),
        }
    }

    async fn reload_all(&mut self) {
        for id in self.running.keys().cloned().collect::<Vec<_>>() {
            self.reload(&id).await;
        }
    }
}

async fn start_games(deps: &DirectorDeps, running: &mut RunningTournament) {
    let concurrency = running.contest.tournament().concurrency as usize;
    let mut tried: HashSet<u64> = HashSet::new();
    let mut waiting = Vec::new();
    while tried.len() < concurrency + TRIES_MORE {
        let Some(progress) = running.schedule().filter(|progress| progress.live().len() < concurrency) else {
            break;
        };
        let Some(slot) = progress.next_game() else { break };
        let attempt =
            if tried.insert(slot.number) { attempt(deps, running, slot).await } else { StartOutcome::Closed };
        match attempt {
            StartOutcome::Begun | StartOutcome::WalkedOver => {}
            StartOutcome::Waits => waiting.push(slot),
            StartOutcome::Closed => {
                waiting.push(slot);
                break;
            }
        }
    }
    for slot in waiting {
        running.schedule().into_iter().for_each(|progress| progress.postpone(slot));
    }
}

/// Tries to begin one game.
async fn attempt(deps: &DirectorDeps, running: &mut RunningTournament, slot: PlannedGame) -> StartOutcome {
    let seats = slot.seats();
    let has_left = |side: &Side| running.contest.has_left(seats[*side]);
    if let Some(side) = Side::BOTH.into_iter().find(has_left) {
        return walk_over(deps, running, slot, side).await;
    }
    let absent =
        Side::BOTH.into_iter().find(|side| !may_play(deps, running, seats[*side], seats[side.opponent()]));
    if let Some(side) = absent {
        let now = now();
        let entrant = &running.entrants[seats[side]];
        let patience = if deps.sessions.is_online(&entrant.id) { BUSY_MAX } else { AWAY_MAX };
        let since = *running.away.entry(seats[side]).or_insert(now);
        if now.saturating_duration_since(since) < patience {
            return StartOutcome::Waits;
        }
        return walk_over(deps, running, slot, side).await;
    }
    let opening = running.schedule().map(|progress| progress.opening(slot)).unwrap_or_default();
    let id = PairId::in_tournament(&running.contest.tournament().id, slot.pair());
    let pair = GamePair { id, leg: slot.leg().number().into(), of: PAIR };
    match begin(deps, running, seats, pair, opening).await {
        Ok(game) => {
            for side in Side::BOTH {
                running.away.remove(&seats[side]);
            }
            running.change(|progress| progress.started(slot, game));
            StartOutcome::Begun
        }
        Err(obstacle) => obstacle,
    }
}

/// Begins a game between two entrants, or says what is in its way.
async fn begin(
    deps: &DirectorDeps,
    running: &RunningTournament,
    seats: BySide<usize>,
    pair: GamePair,
    opening: String,
) -> Result<GameId, StartOutcome> {
    let tournament = running.contest.tournament();
    let tempo = if tournament.watchable { Tempo::Watchable } else { Tempo::Brisk };
    let offer = GameOffer {
        players: seats.map(|place| running.entrants[place].clone()),
        variant: Variant::STANDARD,
        time: tournament.time,
        rated: tournament.rated,
        opening: OpeningSource { kind: OpeningKind::Balanced, moves: opening },
        pair: Some(pair),
        origin: Origin::Tournament(tempo),
        pace: BotPace::default(),
    };
    deps.host.start(offer).await.map_err(|error| {
        if error.is_passing() {
            return StartOutcome::Closed;
        }
        debug!(error = %error, "a tournament game did not begin");
        StartOutcome::Waits
    })
}

/// Whether an entrant is there and takes a game against the other.
fn may_play(deps: &DirectorDeps, running: &RunningTournament, place: usize, other: usize) -> bool {
    takes_game(deps, &running.entrants[place], running.entrants[other].kind.into())
}

/// Whether somebody is there and takes a game against such an opponent.
fn takes_game(deps: &DirectorDeps, entrant: &Identity, opponent: OpponentKind) -> bool {
    if deps.host.house().get(&entrant.id).is_some() {
        return true;
    }
    let taken = deps.host.games_taken(&entrant.id);
    // A person plays one game at a time.
    let may_play_beside = entrant.kind == PlayerKind::Bot || taken.all == 0;
    may_play_beside
        && deps.sessions.is_online(&entrant.id)
        && deps.sessions.has_place(&entrant.id, taken, opponent)
}

async fn walk_over(
    deps: &DirectorDeps,
    running: &mut RunningTournament,
    slot: PlannedGame,
    absent: Side,
) -> StartOutcome {
    let id = running.contest.tournament().id.clone();
    let walkover = Walkover { number: slot.number, absent };
    let write = Write::WalkOver { tournament: id.clone(), walkover };
    if let Err(error) = deps.writer.write(write).await {
        warn!(tournament = %id, error = %error, "a walkover could not be stored");
        return StartOutcome::Waits;
    }
    let entrant = &running.entrants[slot.seats()[absent]].name;
    info!(tournament = %id, game = slot.number, %entrant, "lost without being there");
    let suspended = running.change(|progress| progress.walked_over(slot, absent));
    say_suspended(&id, running, &suspended);
    StartOutcome::WalkedOver
}

fn say_suspended(id: &TournamentId, running: &RunningTournament, suspended: &[usize]) {
    for entrant in suspended {
        let entrant = &running.entrants[*entrant].name;
        warn!(tournament = %id, %entrant, "an entrant plays no more, after faults in a row");
    }
}

fn end(contest: &Contest, reason: EndedBecause) -> TournamentEnd {
    let entrants = &contest.tournament().entrants;
    let winner = contest.winner().and_then(|place| entrants.get(place).cloned());
    TournamentEnd { reason, at: UnixMillis::now(), winner, games: contest.games().0, because: None }
}

fn plan(config: &TournamentConfig, entrants: &[Identity], due_at: UnixMillis) -> StoredTournament {
    let mut rng = chance();
    StoredTournament {
        id: TournamentId::random(&mut rng),
        name: config.name.clone(),
        due_at,
        format: config.format(entrants.len()),
        entrants: entrants.iter().map(|entrant| entrant.id.clone()).collect(),
        pairs: config.pairs(entrants.len()),
        seed: config.seed.map_or_else(|| rng.random::<u32>().into(), Into::into),
        time: config.time(),
        rated: config.rated,
        concurrency: config.concurrency.number(),
        watchable: config.watchable,
        started_at: UnixMillis::now(),
        maker: None,
        open_people: config.open_people,
        end: None,
    }
}

/// How long nothing is shown after so much work for it.
fn rest_after(took: Duration) -> Duration {
    SHOW_EVERY.max(took * SHOW_REST)
}

/// Waits until then; for ever if nothing is to be waited for.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// When a tournament is due next by its schedule.
fn next(at: &TournamentStart, now: UnixMillis) -> Option<UnixMillis> {
    match at {
        TournamentStart::Daemon | TournamentStart::Command => None,
        TournamentStart::Cron(cron) => cron.next_after(now),
    }
}

#[cfg(test)]
mod tests;
