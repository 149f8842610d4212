//! Rated games between bots that nobody asked for: always in pairs from balanced openings.
//!
//! [`choose`] is pure; [`LadderActor`] looks around once a second and starts what it chose. Remote bots come first,
//! each with at most one ladder pair at a time; house bots among themselves keep the arena alive when nothing else
//! is going on.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Variant, rng};
use rand::{Rng, RngExt};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::clock::{TimeControl, now};
use crate::host::{GameOffer, Host, Origin, StartError};
use crate::ids::{PairId, PlayerId};
use crate::lobby::acceptance::{Proposal, check};
use crate::protocol::server::Identity;
use crate::protocol::terms::{Accepts, OpeningKind, OpponentKind, PlayerKind};
use crate::rating::elo::Standing;
use crate::room::Directory;
use crate::session::Sessions;
use crate::session::registry::Present;
use crate::storage::Store;
use crate::storage::record::{Opening, Pair};

/// How often to look for bots without a game.
const TICK: Duration = Duration::from_secs(1);

/// Games in a pair.
const PAIR: u32 = 2;

/// Looks in a row that see no game of a pair until the pair counts as over: between its games there is a moment
/// without one.
const UNSEEN_MAX: u8 = 2;

/// Pairs of bots whose meetings are remembered. At one more, all counts are halved, and those that become nothing are
/// forgotten: what was long ago matters less.
const MEETINGS_MAX: usize = 10_000;

/// How long a bot whose game could not begin is left alone.
const AFTER_REFUSAL: Duration = Duration::from_secs(30);

/// A bot that could play now.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Who.
    pub identity: Identity,
    /// Whether the house plays it.
    pub house: bool,
    /// In the ladder's variant.
    pub standing: Standing,
    /// What it accepts.
    pub accepts: Accepts,
}

impl Candidate {
    fn accepts_game(&self, other: &Self, time: TimeControl) -> bool {
        let proposal = Proposal {
            time,
            rated: true,
            variant: Variant::STANDARD,
            opponent: PlayerKind::Bot,
            opponent_elo: Some(other.standing.rating.to_elo()),
        };
        check(&self.accepts, &proposal).is_ok()
    }
}

/// How often two bots have met here, in either order.
#[derive(Clone, Debug, Default)]
pub struct Meetings(HashMap<(PlayerId, PlayerId), u32>);

impl Meetings {
    fn key(a: &PlayerId, b: &PlayerId) -> (PlayerId, PlayerId) {
        if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) }
    }

    fn count(&self, a: &PlayerId, b: &PlayerId) -> u32 {
        self.0.get(&Self::key(a, b)).copied().unwrap_or(0)
    }

    /// Books a meeting.
    pub fn add(&mut self, a: &PlayerId, b: &PlayerId) {
        *self.0.entry(Self::key(a, b)).or_default() += 1;
        while self.0.len() > MEETINGS_MAX {
            self.0.retain(|_, count| {
                *count /= 2;
                *count > 0
            });
        }
    }
}

/// Chooses the pair to play next, if any two candidates accept each other.
///
/// Remote bots go before house bots and newcomers before old hands; the opponent is whoever was met least often, and
/// among these the nearest in rating. `rng` breaks what ties are left.
#[must_use]
pub fn choose(
    candidates: &[Candidate],
    meetings: &Meetings,
    time: TimeControl,
    rng: &mut impl Rng,
) -> Option<(usize, usize)> {
    let mut order: Vec<(bool, u64, u32, usize)> = candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| (candidate.house, candidate.standing.games, rng.random(), index))
        .collect();
    order.sort_unstable();
    order.iter().find_map(|&(.., first)| {
        let bot = &candidates[first];
        let suits = |&(index, other): &(usize, &Candidate)| {
            index != first
                && other.identity.id != bot.identity.id
                && (bot.house && other.house || other.identity.family() != bot.identity.family())
                && bot.accepts_game(other, time)
                && other.accepts_game(bot, time)
        };
        let opponent = candidates.iter().enumerate().filter(suits).min_by_key(|(_, other)| {
            let apart = bot.standing.rating.0.abs_diff(other.standing.rating.0);
            (meetings.count(&bot.identity.id, &other.identity.id), apart, rng.random::<u32>())
        });
        opponent.map(|(second, _)| (first, second))
    })
}

/// How the ladder is run.
#[derive(Clone, Copy, Debug)]
pub struct LadderSettings {
    /// How much time each side has.
    pub time: TimeControl,
    /// From the end of a pair of house bots to the start of the next.
    pub pause: Duration,
    /// Pairs of house bots at the same time.
    pub house_pairs: usize,
}

/// Starts ladder games.
#[derive(Debug)]
pub struct LadderActor {
    /// Starts games.
    pub host: Host,
    /// Reads ratings.
    pub store: Arc<dyn Store>,
    /// Finds open bots.
    pub sessions: Sessions,
    /// Tells whether games still go on.
    pub directory: Directory,
    /// How it is run.
    pub settings: LadderSettings,
}

/// A pair under way.
#[derive(Clone, Debug)]
struct Running {
    players: [PlayerId; 2],
    id: PairId,
    of_house: bool,
    /// Looks in a row that saw no game of it.
    unseen: u8,
}

#[derive(Default)]
struct Progress {
    meetings: Meetings,
    running: Vec<Running>,
    house_rests_until: Option<Instant>,
    refused: HashMap<PlayerId, Instant>,
}

impl LadderActor {
    /// Runs until the daemon stops.
    pub async fn run(self, stop: CancellationToken) {
        let mut progress = Progress::default();
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => self.tick(&mut progress).await,
            }
        }
    }

    async fn tick(&self, progress: &mut Progress) {
        let now = now();
        self.forget_finished(progress, now);
        progress.refused.retain(|_, until| *until > now);
        if self.host.is_paused() {
            return;
        }
        let remote = self.free_remote_bots(progress);
        if remote.is_empty() && !self.house_may_play(progress, now) {
            return;
        }
        let mut candidates = self.candidates(remote, progress).await;
        // The thread's own generator may not cross an await.
        let mut rng = rng::seeded(rand::rng().random());
        while let Some((a, b)) = choose(&candidates, &progress.meetings, self.settings.time, &mut rng) {
            let (a, b) = (candidates[a].clone(), candidates[b].clone());
            candidates
                .retain(|c| c.identity.id != a.identity.id && (c.house || c.identity.id != b.identity.id));
            if a.house && b.house && !self.house_may_play(progress, now) {
                return;
            }
            if let Err(StartError::ArenaBusy | StartError::Paused) =
                self.start(progress, &a, &b, now, &mut rng).await
            {
                return;
            }
        }
    }

    /// Pairs end when none of their games is seen any more.
    fn forget_finished(&self, progress: &mut Progress, now: Instant) {
        let live: HashSet<PairId> = self
            .directory
            .live()
            .iter()
            .filter_map(|game| Some(game.spec.pair.as_ref()?.id.clone()))
            .collect();
        let of_house = |running: &[Running]| running.iter().filter(|pair| pair.of_house).count();
        let before = of_house(&progress.running);
        progress.running.retain_mut(|pair| {
            pair.unseen = if live.contains(&pair.id) { 0 } else { pair.unseen + 1 };
            pair.unseen < UNSEEN_MAX
        });
        if of_house(&progress.running) < before {
            progress.house_rests_until = Some(now + self.settings.pause);
        }
    }

    fn house_may_play(&self, progress: &Progress, now: Instant) -> bool {
        let pairs = progress.running.iter().filter(|pair| pair.of_house).count();
        pairs < self.settings.house_pairs && progress.house_rests_until.is_none_or(|until| until <= now)
    }

    /// Open bots with a place for a game and without a pair under way.
    fn free_remote_bots(&self, progress: &Progress) -> Vec<Present> {
        let is_free = |bot: &Present| {
            let id = &bot.identity.id;
            bot.settings.has_place(self.directory.games_taken(id), OpponentKind::Bot)
                && !progress.running.iter().any(|pair| pair.players.contains(id))
                && !progress.refused.contains_key(id)
        };
        self.sessions.open_bots().into_iter().filter(is_free).collect()
    }

    async fn candidates(&self, remote: Vec<Present>, progress: &Progress) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        // They may join while the daemon runs.
        for bot in self.host.house().all().iter() {
            let identity = bot.identity.clone();
            if bot.plays(Variant::STANDARD) && !progress.refused.contains_key(&identity.id) {
                candidates.extend(self.candidate(identity, true, Accepts::default()).await);
            }
        }
        for bot in remote {
            candidates.extend(self.candidate(bot.identity, false, bot.settings.accepts).await);
        }
        candidates
    }

    async fn candidate(&self, identity: Identity, house: bool, accepts: Accepts) -> Option<Candidate> {
        match self.store.rating(&identity.id, Variant::STANDARD).await {
            Ok(row) => {
                let standing = row.unwrap_or_default().standing;
                Some(Candidate { identity, house, standing, accepts })
            }
            Err(error) => {
                warn!(error = %error, "the ladder could not read a rating");
                None
            }
        }
    }

    async fn start(
        &self,
        progress: &mut Progress,
        a: &Candidate,
        b: &Candidate,
        now: Instant,
        rng: &mut (impl Rng + Send),
    ) -> Result<(), StartError> {
        let (first, second) = if rng.random() { (a, b) } else { (b, a) };
        let id = PairId::random(rng);
        let offer = GameOffer {
            players: BySide { first: first.identity.clone(), second: second.identity.clone() },
            variant: Variant::STANDARD,
            time: self.settings.time,
            rated: true,
            opening: Opening { kind: OpeningKind::Balanced, moves: String::new() },
            pair: Some(Pair { id: id.clone(), leg: 1, of: PAIR }),
            origin: Origin::Ladder,
        };
        progress.meetings.add(&a.identity.id, &b.identity.id);
        let started = self.host.start(offer).await;
        match &started {
            Ok(_) => {
                let players = [a.identity.id.clone(), b.identity.id.clone()];
                progress.running.push(Running { players, id, of_house: a.house && b.house, unseen: 0 });
            }
            Err(error) => {
                debug!(error = %error, "a ladder game did not begin");
                let at_fault = [a, b].into_iter().filter(|bot| error.is_about(&bot.identity));
                let at_fault = at_fault.map(|bot| (bot.identity.id.clone(), now + AFTER_REFUSAL));
                progress.refused.extend(at_fault);
            }
        }
        started.map(|_| ())
    }
}

#[cfg(test)]
mod tests;
