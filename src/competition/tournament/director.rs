//! Runs tournaments: begins them when they are due, starts their games, and hears how those end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_arena::plan::PlannedGame;
use fourfold_engine::{Side, Variant};
use rand::RngExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::board::{
    BoardEnd, Command, EntryError, PlanDecision, PlanError, Shown, TournamentStartError, TournamentView,
    Tournaments, Upcoming, Wish, take_up,
};
use super::plans::{Made, PLANS_MAX, PLANS_OF_ONE_MAX, PlannedTournament};
use super::progress::{Decided, TournamentProgress};
use crate::accounts::identity_of;
use crate::model::clock::now;
use crate::model::ids::{PairId, PlayerId, PlayerName, TournamentId};
use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::play::host::{GameOffer, GameOver, Host, Origin, StartError, Tempo};
use crate::play::presence::Sessions;

use crate::model::player::{OpponentKind, PlayerKind};
use crate::storage::record::{Ending, GamePair, OpeningSource};
use crate::system::config::{TournamentConfig, TournamentStart};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::store::{Refused, Store, StoreError, Write};
use crate::storage::tournaments::{EndedBecause, StoredTournament, TournamentEnd, TournamentPlan, Walkover};
use crate::storage::writer::{WriteError, Writer};
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
    progress: TournamentProgress,
    entrants: Vec<Identity>,
    /// Since when entrants could not play, by their places.
    away: HashMap<usize, Instant>,
    /// Whether it is shown as it stood before.
    is_outdated: bool,
}

impl RunningTournament {
    /// Changes what is shown of it.
    fn change<T>(&mut self, change: impl FnOnce(&mut TournamentProgress) -> T) -> T {
        self.is_outdated = true;
        change(&mut self.progress)
    }

    /// How it stands, to be shown.
    fn view(&mut self) -> Arc<TournamentView> {
        self.is_outdated = false;
        Arc::new(TournamentView::new(&self.progress))
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
            self.plans.push(PlannedTournament::made(plan, identity_of(&maker), entered));
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
        let progress = take_up(&*self.deps.store, tournament).await?;
        self.add(id, progress, entrants);
        Ok(())
    }

    fn add(&mut self, id: TournamentId, progress: TournamentProgress, entrants: Vec<Identity>) {
        let mut running = RunningTournament { progress, entrants, away: HashMap::new(), is_outdated: false };
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
            Command::Make { plan, maker, reply } => drop(reply.send(self.make(*plan, maker).await)),
            Command::Decide { id, who, decision, reply } => {
                drop(reply.send(self.decide(&id, &who, decision).await));
            }
        }
    }

    /// Takes note of what a person makes.
    async fn make(&mut self, plan: TournamentPlan, maker: Identity) -> Result<(), PlanError> {
        let is_same = |name: &str| name.eq_ignore_ascii_case(&plan.name);
        let goes_on = self.running.values().any(|running| is_same(&running.progress.tournament().name));
        if goes_on || self.plans.iter().any(|other| is_same(&other.config.name)) {
            return Err(PlanError::NameTaken(plan.name));
        }
        let makers = self.plans.iter().filter_map(|plan| plan.made.as_ref());
        let (all, own) = makers.fold((0, 0), |(all, own), Made { maker: other, .. }| {
            (all + 1, own + usize::from(other.id == maker.id))
        });
        if own >= PLANS_OF_ONE_MAX {
            return Err(PlanError::TooMany { max: PLANS_OF_ONE_MAX });
        }
        if all >= PLANS_MAX {
            return Err(PlanError::Full { max: PLANS_MAX });
        }
        self.note(Write::PlanTournament(Box::new(plan.clone()))).await?;
        info!(tournament = %plan.id, name = plan.name, maker = %maker.name, "a tournament is to come");
        // Nobody but its maker can have entered yet.
        let entered = if plan.entered.is_empty() { Vec::new() } else { vec![maker.clone()] };
        self.plans.push(PlannedTournament::made(plan, maker, entered));
        self.announce();
        Ok(())
    }

    async fn decide(
        &mut self,
        id: &TournamentId,
        who: &PlayerId,
        decision: PlanDecision,
    ) -> Result<(), PlanError> {
        let plan = self.plans.iter().find(|plan| plan.made_as(id).is_some()).ok_or(PlanError::Unknown)?;
        if plan.made_as(id).is_none_or(|made| made.maker.id != *who) {
            return Err(PlanError::NotYours);
        }
        match decision {
            PlanDecision::Drop => self.drop_plan(id).await,
            PlanDecision::Begin => {
                let (config, due) = (plan.config.clone(), plan.next.unwrap_or_else(UnixMillis::now));
                self.start(&config, due).await?;
                Ok(())
            }
        }
    }

    async fn drop_plan(&mut self, id: &TournamentId) -> Result<(), PlanError> {
        self.note(Write::DropPlan(id.clone())).await?;
        self.plans.retain(|plan| plan.made_as(id).is_none());
        self.announce();
        Ok(())
    }

    /// Writes what a person has said of a tournament that is to come.
    async fn note(&self, write: Write) -> Result<(), PlanError> {
        match self.deps.writer.write(write).await {
            Ok(_) => Ok(()),
            // It is gone with an account that is.
            Err(WriteError::Refused(Refused::NoSuchPlan | Refused::NoSuchPlayer)) => Err(PlanError::Unknown),
            Err(error) => {
                warn!(error = %error, "what was said of a tournament is not stored");
                Err(PlanError::Unavailable)
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

    async fn enter(&mut self, name: String, who: Identity, wish: Wish) -> Result<(), EntryError> {
        let is_to_come =
            |plan: &PlannedTournament| plan.config.name == name && plan.config.at != TournamentStart::Daemon;
        let Some(place) = self.plans.iter().position(is_to_come) else {
            return Err(EntryError::Unknown(name));
        };
        let plan = &self.plans[place];
        if !plan.config.open_people {
            return Err(EntryError::Closed(name));
        }
        let others = plan.entered.iter().filter(|entered| entered.id != who.id).count();
        if wish == Wish::Enter && others >= plan.people_max() {
            return Err(EntryError::Full { max: plan.people_max() });
        }
        let has_entered = others < plan.entered.len();
        if has_entered == (wish == Wish::Enter) {
            return Ok(());
        }
        if let Some(Made { id, .. }) = &plan.made {
            let (plan, player) = (id.clone(), who.id.clone());
            let write = match wish {
                Wish::Enter => Write::EnterPlan { plan, player },
                Wish::Withdraw => Write::LeavePlan { plan, player },
            };
            self.note(write).await.map_err(|_| EntryError::Unavailable)?;
        }
        let entered = &mut self.plans[place].entered;
        match wish {
            Wish::Enter => entered.push(who),
            Wish::Withdraw => entered.retain(|entered| entered.id != who.id),
        }
        self.announce();
        Ok(())
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
        let is_same = |running: &RunningTournament| running.progress.tournament().name == config.name;
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
        if entrants.len() < 2 {
            return Err(TournamentStartError::Alone(config.name.clone()));
        }
        let made = self.plan_of(config).and_then(|plan| plan.made.clone());
        let mut tournament = plan(config, &entrants, due_at);
        if let Some(Made { id, .. }) = &made {
            tournament.id = id.clone();
        }
        let names = entrants.iter().map(|entrant| entrant.name.clone()).collect();
        let progress = TournamentProgress::new(tournament.clone(), names).map_err(|error| failed(&error))?;
        let write = Write::AddTournament(tournament.clone());
        self.deps.writer.write(write).await.map_err(|error| failed(&error))?;
        let id = tournament.id;
        info!(tournament = %id, name = config.name, entrants = entrants.len(), "tournament begun");
        match made {
            Some(made) => self.plans.retain(|plan| plan.made_as(&made.id).is_none()),
            None => self.plan_of(config).into_iter().for_each(|plan| plan.entered.clear()),
        }
        self.announce();
        self.add(id.clone(), progress, entrants);
        Ok(id)
    }

    fn plan_of(&mut self, config: &TournamentConfig) -> Option<&mut PlannedTournament> {
        self.plans.iter_mut().find(|plan| plan.config.name == config.name)
    }

    /// Who takes part: those that are named, as far as they are there, then people who have entered and are connected,
    /// then the open bots if those are asked for.
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
        entrants.extend(entered.into_iter().filter(|who| self.deps.sessions.is_online(&who.id)));
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
        self.start_games(id).await;
        let Some(running) = self.running.get(id) else { return };
        let progress = &running.progress;
        let Some(reason) = progress.over().filter(|_| progress.live().is_empty()) else { return };
        let end = end(progress, reason);
        let write = Write::EndTournament { tournament: id.clone(), end: end.clone() };
        match self.deps.writer.write(write).await {
            Ok(_) => {
                let name = &progress.tournament().name;
                info!(tournament = %id, name, games = end.games, reason = ?end.reason, "tournament over");
                self.running.remove(id);
                self.shown.send_modify(|shown| {
                    shown.running.remove(id);
                });
            }
            Err(error) => warn!(tournament = %id, error = %error, "a tournament's end is not stored yet"),
        }
    }

    async fn start_games(&mut self, id: &TournamentId) {
        let Some(running) = self.running.get_mut(id) else { return };
        let concurrency = running.progress.tournament().concurrency as usize;
        let mut tried: HashSet<u64> = HashSet::new();
        let mut waiting = Vec::new();
        while tried.len() < concurrency + TRIES_MORE {
            if running.progress.live().len() >= concurrency {
                break;
            }
            let Some(slot) = running.progress.next_game() else { break };
            let attempt = if tried.insert(slot.number) {
                attempt(&self.deps, running, slot).await
            } else {
                StartOutcome::Closed
            };
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
            running.progress.postpone(slot);
        }
    }

    /// Notes how a game came out. False if it is none of a tournament.
    async fn game_over(&mut self, over: &GameOver) -> bool {
        let spec = &over.public.spec;
        let place = spec.pair.as_ref().and_then(|pair| Some((pair.id.of_tournament()?, pair.leg)));
        let Some(((id, pair), leg)) = place else { return false };
        let Some(running) = self.running.get_mut(&id) else { return false };
        let (result, reason, by) = (over.end.result, over.end.reason, over.end.by.map(Side::from));
        let ending = Ending { result, reason, by };
        let number = pair * 2 + u64::from(leg.saturating_sub(1));
        match Decided::by(ending, &spec.opening.moves, &over.end.moves) {
            Some(decided) => {
                let suspended = running.change(|progress| progress.finished(number, decided));
                say_suspended(&id, running, &suspended);
            }
            // It must be played again, as often as its records allow.
            None => self.reload(&id).await,
        }
        true
    }

    /// Begins anew from what is stored.
    async fn reload(&mut self, id: &TournamentId) {
        let Some(running) = self.running.get_mut(id) else { return };
        let tournament = running.progress.tournament().clone();
        match take_up(&*self.deps.store, tournament).await {
            Ok(stored) => running.change(|progress| *progress = stored),
            Err(error) => error!(tournament = %id, error = %error, "a tournament could not be read again"),
        }
    }

    async fn reload_all(&mut self) {
        for id in self.running.keys().cloned().collect::<Vec<_>>() {
            self.reload(&id).await;
        }
    }
}

/// Tries to begin one game.
async fn attempt(deps: &DirectorDeps, running: &mut RunningTournament, slot: PlannedGame) -> StartOutcome {
    let seats = slot.seats();
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
    let offer = offer(running, slot);
    match deps.host.start(offer).await {
        Ok(game) => {
            for side in Side::BOTH {
                running.away.remove(&seats[side]);
            }
            running.change(|progress| progress.started(slot, game));
            StartOutcome::Begun
        }
        Err(StartError::Paused | StartError::Ordered(_) | StartError::ArenaBusy | StartError::ArenaFull) => {
            StartOutcome::Closed
        }
        Err(error) => {
            debug!(error = %error, "a tournament game did not begin");
            StartOutcome::Waits
        }
    }
}

/// Whether an entrant is there and takes a game against the other.
fn may_play(deps: &DirectorDeps, running: &RunningTournament, place: usize, other: usize) -> bool {
    let (entrant, other) = (&running.entrants[place], &running.entrants[other]);
    let is_house = |id: &PlayerId| deps.host.house().get(id).is_some();
    let has_place = || {
        let taken = deps.host.games_taken(&entrant.id);
        // A person plays one game at a time.
        let may_play_beside = entrant.kind == PlayerKind::Bot || taken.all == 0;
        may_play_beside && deps.sessions.has_place(&entrant.id, taken, OpponentKind::from(other.kind))
    };
    is_house(&entrant.id) || (deps.sessions.is_online(&entrant.id) && has_place())
}

async fn walk_over(
    deps: &DirectorDeps,
    running: &mut RunningTournament,
    slot: PlannedGame,
    absent: Side,
) -> StartOutcome {
    let id = running.progress.tournament().id.clone();
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

fn offer(running: &RunningTournament, slot: PlannedGame) -> GameOffer {
    let tournament = running.progress.tournament();
    let tempo = if tournament.watchable { Tempo::Watchable } else { Tempo::Brisk };
    let pair = PairId::in_tournament(&tournament.id, slot.pair());
    GameOffer {
        players: slot.seats().map(|place| running.entrants[place].clone()),
        variant: Variant::STANDARD,
        time: tournament.time,
        rated: tournament.rated,
        opening: OpeningSource { kind: OpeningKind::Balanced, moves: running.progress.opening(slot) },
        pair: Some(GamePair { id: pair, leg: slot.leg().number().into(), of: PAIR }),
        origin: Origin::Tournament(tempo),
        pace: BotPace::default(),
    }
}

fn end(progress: &TournamentProgress, reason: EndedBecause) -> TournamentEnd {
    let entrants = &progress.tournament().entrants;
    let winner = progress.winner().and_then(|place| entrants.get(place).cloned());
    TournamentEnd { reason, at: UnixMillis::now(), winner, games: progress.games().0 }
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
