//! Starts ladder games and follows them to their end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side, Variant, rng};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::budget::{Activity, Budget, BudgetClass, cost_of_pair};
use super::cadence::{Cadence, PairsPerMinute};
use super::calm::Calm;
use super::choose::{ChosenPair, PairCandidate, PairQuestion, choose};
use super::health::{BotHealth, Condition, HealthNews};
use super::meetings::Meetings;
use super::strengths::Strengths;
use super::troubles::{BotTrouble, Troubles};
use crate::analysis::compute::ComputePool;
use crate::analysis::compute::meter::Thinking;
use crate::competition::leaderboard::Leaderboard;
use crate::model::clock::{TimeControl, now};
use crate::model::fault::Fault;
use crate::model::ids::{PairId, PlayerId, SessionId};
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::play::feeds::Feeds;
use crate::play::host::{GameOffer, GameOver, Host, Origin, StartError, Tempo};
use crate::play::presence::Sessions;
use crate::play::presence::registry::Present;
use crate::play::room::Directory;
use crate::protocol::server::{Notice, NoticeCode, ServerMessage};
use crate::protocol::terms::Accepts;

use crate::model::opening::OpeningKind;

use crate::model::player::{OpponentKind, PlayerKind};
use crate::storage::Store;
use crate::storage::record::{GamePair, OpeningSource};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::system::metrics::Metrics;

/// How often to look around: for bots that came, for pairs that ended unseen, for what thinking has cost.
const TICK: Duration = Duration::from_secs(1);

/// Games in a pair.
const PAIR: u32 = 2;

/// Looks in a row that see no game of a pair until the pair counts as over: between its games there is a moment
/// without one.
const UNSEEN_MAX: u8 = 2;

/// Remote bots that are looked at together: all pairs of the field are compared, and the next look is soon.
const REMOTE_MAX: usize = 40;

/// How long a bot whose game could not begin is left alone.
const AFTER_REFUSAL: Duration = Duration::from_secs(30);

/// Pairs of the house at the same time in which bots take their time, so that there is always something to watch. The
/// others are played as fast as they think.
const WATCHABLE_PAIRS: usize = 2;

/// The time over which pairs of the same two bots are counted, in milliseconds.
const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// How the ladder is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchmakerSettings {
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// Part of all cores for bots of the house, in percent.
    pub(crate) cpu_share: u32,
    /// Part of one core for them once their order is known, in percent.
    pub(crate) calm_percent: u32,
    /// Pairs of house bots at the same time.
    pub(crate) house_pairs: usize,
    /// Pairs of the same two bots within a day.
    pub(crate) pairs_per_day: u32,
    /// Pairs of a remote bot within a minute.
    pub(crate) per_minute: PairsPerMinute,
}

/// What the matchmaker works with.
#[derive(Clone, Debug)]
pub(crate) struct MatchmakerDeps {
    pub(crate) host: Host,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) sessions: Sessions,
    /// Tells whether games still go on, and whether people play.
    pub(crate) directory: Directory,
    /// Tells whether people wait.
    pub(crate) feeds: Feeds,
    /// Knows what thinking costs.
    pub(crate) pool: ComputePool,
    /// Where everybody sees who is left out.
    pub(crate) troubles: Troubles,
    /// Knows how strong bots are, by all their games together.
    pub(crate) leaderboard: Leaderboard,
    /// Says whether there is a hurry.
    pub(crate) metrics: Arc<Metrics>,
}

/// Starts ladder games.
#[derive(Debug)]
pub(crate) struct MatchmakerActor {
    deps: MatchmakerDeps,
    settings: MatchmakerSettings,
    budget: Budget,
    health: BotHealth,
    meetings: Meetings,
    cadence: Cadence,
    running: HashMap<PairId, RunningPair>,
    refused: HashMap<PlayerId, Instant>,
    strengths: Strengths,
    /// Which bots of the house play the standard board: to find out, one must be built.
    plays: HashMap<PlayerId, bool>,
    /// What thinking had cost at the last look.
    thinking: HashMap<PlayerId, Thinking>,
    looked_at: Instant,
    activity: Activity,
    /// For which bots of the house there is no hurry.
    calm: Calm,
    /// Connections of paused bots that have been told so.
    told_paused: HashSet<SessionId>,
}

/// A pair under way.
#[derive(Clone, Debug)]
struct RunningPair {
    players: [PlayerId; 2],
    /// Which budget pays, if both are of the house.
    class: Option<BudgetClass>,
    tempo: Tempo,
    /// Who has broken off a game of it.
    faulty: HashSet<PlayerId>,
    /// Looks in a row that saw no game of it.
    unseen: u8,
}

impl MatchmakerActor {
    /// A matchmaker that has not started anything yet.
    pub(crate) fn new(deps: MatchmakerDeps, settings: MatchmakerSettings) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            deps,
            settings,
            budget: Budget::new(cores, settings.cpu_share, settings.calm_percent),
            health: BotHealth::default(),
            meetings: Meetings::default(),
            cadence: Cadence::default(),
            running: HashMap::new(),
            refused: HashMap::new(),
            strengths: Strengths::default(),
            plays: HashMap::new(),
            thinking: HashMap::new(),
            looked_at: now(),
            activity: Activity::Alone,
            calm: Calm::default(),
            told_paused: HashSet::new(),
        }
    }

    /// Runs until the daemon stops.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut ends = self.deps.host.ends();
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = tick.tick() => self.look_around().await,
                over = ends.recv() => match over {
                    Ok(over) => {
                        if !self.game_over(&over, now()) {
                            continue;
                        }
                    }
                    // What was missed is seen at the next look around.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                },
            }
            if !self.deps.host.is_paused() {
                self.start_pairs().await;
            }
        }
    }

    /// Brings everything up to date that nobody tells.
    async fn look_around(&mut self) {
        let now = now();
        self.forget_unseen(now);
        for bot in self.deps.troubles.take_mended() {
            self.health.release(&bot, now);
        }
        self.refused.retain(|_, until| *until > now);
        self.cadence.pass(now);
        self.activity = self.activity();
        self.budget.pass(now.saturating_duration_since(self.looked_at), self.activity, self.calm.classes());
        self.looked_at = now;
        self.book_thinking();
        match Strengths::read(&*self.deps.store, self.deps.leaderboard.now()).await {
            Ok(strengths) => self.strengths = strengths,
            Err(error) => warn!(error = %error, "the ladder could not read the ratings"),
        }
        self.calm_down(now);
        self.publish_troubles(now);
    }

    /// Finds out for which bots of the house there is no hurry any more.
    fn calm_down(&mut self, now: Instant) {
        let was_calm = self.calm.classes().is_complete();
        let field = self.field(Vec::new(), now);
        let mut calm = std::mem::take(&mut self.calm);
        calm.look(&self.question(&field, now));
        self.calm = calm;
        let is_calm = self.calm.classes().is_complete();
        self.deps.metrics.ladder_is_calm(is_calm);
        if is_calm && !was_calm {
            info!("the ladder is calm: one pair of the house at a time goes on, at the pace of people");
        }
    }

    fn activity(&self) -> Activity {
        let is_person = |kind: PlayerKind| kind != PlayerKind::Bot;
        let waits = || self.deps.feeds.seeks().iter().any(|seek| is_person(seek.player.kind));
        let mut live = self.deps.directory.live().into_iter();
        let plays = live.any(|game| {
            is_person(game.players.first.identity.kind) || is_person(game.players.second.identity.kind)
        });
        if plays || waits() { Activity::People } else { Activity::Alone }
    }

    /// Takes off what bots of the house have thought since the last look, whomever they played.
    fn book_thinking(&mut self) {
        let thinking = self.deps.pool.meter().read();
        for (bot, now) in &thinking {
            let before = self.thinking.get(bot).copied().unwrap_or_default();
            self.budget.spend(BudgetClass::of(now.per_move()), now.total.saturating_sub(before.total));
        }
        self.thinking = thinking;
    }

    /// Notes how a game went. True if it was the last of a ladder pair.
    fn game_over(&mut self, over: &GameOver, now: Instant) -> bool {
        let spec = &over.public.spec;
        let Some(pair) = &spec.pair else { return false };
        let Some(running) = self.running.get_mut(&pair.id) else { return false };
        running.unseen = 0;
        let culprit = over.end.by.map(|by| spec.players[Side::from(by)].clone());
        if let (Some(culprit), Some(fault)) = (culprit, Fault::of(over.end.reason)) {
            running.faulty.insert(culprit.clone());
            let news = self.health.fault(&culprit, fault, now);
            self.tell(&culprit, news, now);
        }
        if pair.leg < pair.of {
            return false;
        }
        if let Some(finished) = self.running.remove(&pair.id) {
            for bot in finished.players.iter().filter(|bot| !finished.faulty.contains(*bot)) {
                let news = self.health.clean_pair(bot, now);
                self.tell(bot, news, now);
            }
        }
        true
    }

    /// Says what has changed about a bot.
    fn tell(&mut self, bot: &PlayerId, news: Option<HealthNews>, now: Instant) {
        match news {
            None => return,
            Some(HealthNews::Paused(fault, length)) => {
                let reason = fault.as_str();
                warn!(%bot, reason, minutes = length.as_secs() / 60, "bot paused on the ladder after faults");
            }
            Some(HealthNews::Back) => info!(%bot, "bot back on the ladder"),
        }
        self.publish_troubles(now);
    }

    fn publish_troubles(&mut self, now: Instant) {
        self.tell_paused(now);
        let at = UnixMillis::now();
        let trouble = |(bot, condition): (&PlayerId, Condition)| {
            Some((bot.clone(), BotTrouble::of(condition, now, at)?))
        };
        self.deps.troubles.replace(self.health.troubled(now).filter_map(trouble).collect());
    }

    /// Says to each connection of a paused bot, once, how long it will wait for nothing.
    fn tell_paused(&mut self, now: Instant) {
        let mut paused = HashSet::new();
        for (bot, condition) in self.health.troubled(now) {
            let Condition::Paused(_, until) = condition else { continue };
            let in_ms = until.saturating_duration_since(now).as_millis();
            let in_ms = u64::try_from(in_ms).unwrap_or(u64::MAX);
            for session in self.deps.sessions.of(bot) {
                if !self.told_paused.contains(session.id()) {
                    let wait = Duration::from_millis(in_ms);
                    session.tell(ServerMessage::Notice(Notice::due(NoticeCode::Paused, wait)));
                }
                paused.insert(session.id().clone());
            }
        }
        self.told_paused = paused;
    }

    /// Pairs end when none of their games is seen any more: a second game may never begin.
    fn forget_unseen(&mut self, now: Instant) {
        let live: HashSet<PairId> = self
            .deps
            .directory
            .live()
            .iter()
            .filter_map(|game| Some(game.spec.pair.as_ref()?.id.clone()))
            .collect();
        self.running.retain(|id, pair| {
            pair.unseen = if live.contains(id) { 0 } else { pair.unseen + 1 };
            pair.unseen < UNSEEN_MAX
        });
        debug!(pairs = self.running.len(), ?now, "ladder pairs under way");
    }

    /// Starts whatever may begin now.
    async fn start_pairs(&mut self) {
        let now = now();
        let remote = self.free_remote_bots(now);
        if remote.is_empty() && !self.house_may_begin().contains(&true) {
            return;
        }
        let mut field = self.field(remote, now);
        // The thread's own generator may not cross an await.
        let mut rng = rng::seeded(chance().random());
        while let Some(choice) = self.choose(&field, now).await {
            let (a, b) = (field[choice.a].clone(), field[choice.b].clone());
            match self.start(&a, &b, choice.class, now, &mut rng).await {
                Err(error) if error.is_passing() => return,
                Ok(()) | Err(_) => {
                    field.retain(|bot| {
                        let chosen = [&a, &b].iter().any(|chosen| chosen.identity.id == bot.identity.id);
                        !chosen || (bot.house && choice.class.is_none())
                    });
                }
            }
        }
    }

    /// The best pair that has not met too often today, which the store is asked about.
    async fn choose(&mut self, field: &[PairCandidate], now: Instant) -> Option<ChosenPair> {
        loop {
            let choice = choose(&self.question(field, now))?;
            let [a, b] = [choice.a, choice.b].map(|place| &field[place].identity.id);
            if self.meetings.pairs(a, b, now).is_some() {
                return Some(choice);
            }
            let since = UnixMillis(UnixMillis::now().0 - DAY_MS);
            let players = BySide { first: a.clone(), second: b.clone() };
            match self.deps.store.rated_games_between(&players, since).await {
                Ok(games) => self.meetings.learn(a, b, games / PAIR, now),
                Err(error) => {
                    warn!(error = %error, "the ladder could not count a pair's games");
                    return None;
                }
            }
        }
    }

    fn question<'a>(&'a self, field: &'a [PairCandidate], now: Instant) -> PairQuestion<'a> {
        PairQuestion {
            field,
            fit: self.strengths.fit(),
            meetings: &self.meetings,
            pairs_per_day: self.settings.pairs_per_day,
            cadence: &self.cadence,
            per_minute: self.settings.per_minute,
            time: self.settings.time,
            now,
            house: self.house_may_begin(),
        }
    }

    /// Whether another quick, and another slow pair of the house may begin.
    fn house_may_begin(&self) -> [bool; 2] {
        let of_house = self.running.values().filter(|pair| pair.class.is_some()).count();
        // Where there is no hurry, there is one pair at a time, which can be watched.
        let is_place = |class| {
            let calm_pairs = self.settings.house_pairs.min(1);
            let places =
                if self.calm.classes().is_calm(class) { calm_pairs } else { self.settings.house_pairs };
            of_house < places
        };
        // With more, bots would wait for a thread on their own clocks. Those that can be watched leave it free for most
        // of the time.
        let searches =
            |pair: &&RunningPair| pair.class == Some(BudgetClass::Slow) && pair.tempo == Tempo::Brisk;
        let is_thread = self.running.values().filter(searches).count() < self.deps.pool.threads();
        let may = |class| is_place(class) && self.budget.allows(class);
        [may(BudgetClass::Quick), is_thread && may(BudgetClass::Slow)]
    }

    /// Open bots with a place for a game and without a pair under way; some of them, if there are very many.
    fn free_remote_bots(&self, now: Instant) -> Vec<Present> {
        let per_minute =
            |bot: &Present| self.settings.per_minute.at_most(bot.settings.accepts.pairs_per_minute);
        let is_free = |bot: &Present| {
            let id = &bot.identity.id;
            bot.settings.has_place(self.deps.directory.games_taken(id), OpponentKind::Bot)
                && !self.running.values().any(|pair| pair.players.contains(id))
                && self.is_eligible(id, now)
                && self.cadence.may_play(id, per_minute(bot), now)
        };
        let mut free: Vec<Present> = self.deps.sessions.open_bots().into_iter().filter(is_free).collect();
        if free.len() > REMOTE_MAX {
            free.shuffle(&mut chance());
            free.truncate(REMOTE_MAX);
        }
        free
    }

    fn is_eligible(&self, bot: &PlayerId, now: Instant) -> bool {
        let may = match self.health.condition(bot, now) {
            Condition::Fit => true,
            Condition::Probing(_) => !self.running.values().any(|pair| pair.players.contains(bot)),
            Condition::Paused(..) => false,
        };
        may && !self.refused.contains_key(bot)
    }

    fn field(&mut self, remote: Vec<Present>, now: Instant) -> Vec<PairCandidate> {
        let mut field = Vec::new();
        // They may join while the daemon runs.
        for bot in self.deps.host.house().all().iter() {
            let id = &bot.identity.id;
            let plays = match self.plays.get(id) {
                Some(plays) => *plays,
                None => *self.plays.entry(id.clone()).or_insert_with(|| bot.plays(Variant::STANDARD)),
            };
            if plays && self.is_eligible(id, now) {
                field.push(self.candidate(bot.identity.clone(), true, Accepts::default()));
            }
        }
        let remote = remote.into_iter();
        field.extend(remote.map(|bot| self.candidate(bot.identity, false, bot.settings.accepts)));
        field
    }

    fn candidate(&self, identity: Identity, house: bool, accepts: Accepts) -> PairCandidate {
        let per_move = self.thinking.get(&identity.id).and_then(Thinking::per_move);
        let mut running = self.running.values();
        let live = self.strengths.standing(&identity.id);
        let shown = self.deps.leaderboard.shown().shown(&identity.id, Variant::STANDARD, live);
        PairCandidate {
            house,
            is_taken: running.any(|pair| pair.class.is_some() && pair.players.contains(&identity.id)),
            strength: self.strengths.of(&identity.id),
            shown_elo: shown.elo,
            accepts,
            class: BudgetClass::of(per_move),
            cost: cost_of_pair(per_move),
            identity,
        }
    }

    async fn start(
        &mut self,
        a: &PairCandidate,
        b: &PairCandidate,
        class: Option<BudgetClass>,
        now: Instant,
        rng: &mut (impl Rng + Send),
    ) -> Result<(), StartError> {
        let (first, second) = if rng.random() { (a, b) } else { (b, a) };
        let id = PairId::random(rng);
        let tempo = self.tempo(class, a.house || b.house);
        let offer = GameOffer {
            players: BySide { first: first.identity.clone(), second: second.identity.clone() },
            variant: Variant::STANDARD,
            time: self.settings.time,
            rated: true,
            opening: OpeningSource { kind: OpeningKind::Balanced, moves: String::new() },
            pair: Some(GamePair { id: id.clone(), leg: 1, of: PAIR }),
            origin: Origin::Ladder(tempo),
            pace: BotPace::default(),
        };
        self.meetings.add(&a.identity.id, &b.identity.id);
        for (bot, opponent) in [(a, b), (b, a)].into_iter().filter(|(bot, _)| !bot.house) {
            self.cadence.note(&bot.identity.id, &opponent.identity.id, now);
        }
        let players = [a.identity.id.clone(), b.identity.id.clone()];
        match self.deps.host.start(offer).await {
            Ok(_) => {
                if let Some(class) = class {
                    self.budget.begin_pair(class);
                }
                let running = RunningPair { players, class, tempo, faulty: HashSet::new(), unseen: 0 };
                self.running.insert(id, running);
                Ok(())
            }
            Err(error) => {
                debug!(error = %error, "a ladder game did not begin");
                let at_fault = [a, b].into_iter().filter(|bot| error.is_about(&bot.identity));
                self.refused.extend(at_fault.map(|bot| (bot.identity.id.clone(), now + AFTER_REFUSAL)));
                Err(error)
            }
        }
    }

    /// Some pairs of the house can be watched. So can those of people's programs, which are few enough: the house
    /// answers slowly there, unless it does not play.
    fn tempo(&self, class: Option<BudgetClass>, has_house: bool) -> Tempo {
        if class.is_none() {
            return if has_house { Tempo::Watchable } else { Tempo::Brisk };
        }
        let is_watchable = |pair: &&RunningPair| pair.class.is_some() && pair.tempo == Tempo::Watchable;
        let watchable = self.running.values().filter(is_watchable).count();
        if watchable < WATCHABLE_PAIRS { Tempo::Watchable } else { Tempo::Brisk }
    }
}

#[cfg(test)]
mod tests;
