//! Rated games between bots that nobody asked for: always in pairs from balanced openings.
//!
//! [`choose`] is pure; [`LadderActor`] looks around once a second and starts what it chose. Remote bots come first,
//! each with at most one ladder pair at a time; house bots among themselves keep the arena alive when nothing else
//! is going on.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Variant, rng};
use rand::{Rng, RngExt};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::clock::TimeControl;
use crate::host::{GameOffer, Host, Origin, StartError};
use crate::ids::{GameId, PairId, PlayerId};
use crate::lobby::acceptance::{Proposal, check};
use crate::protocol::server::Identity;
use crate::protocol::terms::{Accepts, OpeningKind, OpponentKind, PlayerKind};
use crate::rating::elo::Standing;
use crate::room::Directory;
use crate::session::Sessions;
use crate::storage::Store;
use crate::storage::record::{Opening, Pair};

/// How often to look for bots without a game.
const TICK: Duration = Duration::from_secs(1);

/// Games in a pair.
const PAIR: u32 = 2;

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
    pub store: std::sync::Arc<dyn Store>,
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
    game: GameId,
    of_house: bool,
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
        let now = tokio::time::Instant::now().into_std();
        self.forget_finished(progress, now);
        progress.refused.retain(|_, until| *until > now);
        if self.host.is_paused() {
            return;
        }
        let mut candidates = self.candidates(progress, now).await;
        // The thread's own generator may not cross an await.
        let mut rng = rng::seeded(rand::rng().random());
        while let Some((a, b)) = choose(&candidates, &progress.meetings, self.settings.time, &mut rng) {
            let (a, b) = (candidates[a].clone(), candidates[b].clone());
            candidates
                .retain(|c| c.identity.id != a.identity.id && (c.house || c.identity.id != b.identity.id));
            let of_house = a.house && b.house;
            if of_house && !self.house_may_play(progress, now) {
                return;
            }
            self.start(progress, &a, &b, now, &mut rng).await;
        }
    }

    /// Pairs end with the last game between the two.
    fn forget_finished(&self, progress: &mut Progress, now: Instant) {
        let directory = &self.directory;
        let goes_on = |pair: &Running| {
            directory.public(&pair.game).is_some_and(|game| !game.is_over())
                || directory.live().iter().any(|game| {
                    game.spec.pair.is_some()
                        && [&game.spec.players.first, &game.spec.players.second]
                            .iter()
                            .all(|id| pair.players.contains(id))
                })
        };
        let before = progress.running.iter().filter(|pair| pair.of_house).count();
        progress.running.retain(goes_on);
        if progress.running.iter().filter(|pair| pair.of_house).count() < before {
            progress.house_rests_until = Some(now + self.settings.pause);
        }
    }

    fn house_may_play(&self, progress: &Progress, now: Instant) -> bool {
        let pairs = progress.running.iter().filter(|pair| pair.of_house).count();
        pairs < self.settings.house_pairs && progress.house_rests_until.is_none_or(|until| until <= now)
    }

    async fn candidates(&self, progress: &Progress, now: Instant) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for bot in self.host.house().iter().filter(|bot| bot.plays(Variant::STANDARD)) {
            candidates.extend(self.candidate(bot.identity.clone(), true, Accepts::default()).await);
        }
        for bot in self.sessions.open_bots() {
            let id = &bot.identity.id;
            let plays = progress.running.iter().any(|pair| pair.players.contains(id));
            let has_room = bot.settings.has_place(self.directory.games_taken(id), OpponentKind::Bot);
            let rests = progress.refused.get(id).is_some_and(|until| *until > now);
            if has_room && !plays && !rests {
                candidates.extend(self.candidate(bot.identity, false, bot.settings.accepts).await);
            }
        }
        candidates
    }

    async fn candidate(&self, identity: Identity, house: bool, accepts: Accepts) -> Option<Candidate> {
        match self.store.rating(&identity.id, Variant::STANDARD).await {
            Ok(row) => {
                let standing = row.map_or(Standing::START, |row| row.standing);
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
    ) {
        let (first, second) = if rng.random() { (a, b) } else { (b, a) };
        let pair = Pair { id: PairId::random(rng), leg: 1, of: PAIR };
        let offer = GameOffer {
            players: BySide { first: first.identity.clone(), second: second.identity.clone() },
            variant: Variant::STANDARD,
            time: self.settings.time,
            rated: true,
            opening: Opening { kind: OpeningKind::Balanced, moves: String::new() },
            pair: Some(pair),
            origin: Origin::Ladder,
        };
        progress.meetings.add(&a.identity.id, &b.identity.id);
        match self.host.start(offer).await {
            Ok(game) => {
                let players = [a.identity.id.clone(), b.identity.id.clone()];
                progress.running.push(Running { players, game, of_house: a.house && b.house });
            }
            Err(error) => {
                debug!(error = %error, "a ladder game did not begin");
                if !matches!(error, StartError::Paused) {
                    progress.refused.insert(a.identity.id.clone(), now + AFTER_REFUSAL);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::elo::MilliElo;

    const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

    fn candidate(name: &str, house: bool, elo: i64, games: u64) -> Candidate {
        let identity = Identity {
            id: name.parse().unwrap(),
            name: name.parse().unwrap(),
            kind: PlayerKind::Bot,
            owner: (!house).then(|| format!("owner{name}").parse().unwrap()),
        };
        let standing = Standing { rating: MilliElo(elo * 1_000), games };
        Candidate { identity, house, standing, accepts: Accepts::default() }
    }

    #[track_caller]
    fn check_choice(candidates: &[Candidate], meetings: &Meetings, expected: Option<(&str, &str)>) {
        let chosen = choose(candidates, meetings, TIME, &mut rng::seeded(1));
        let names =
            chosen.map(|(a, b)| (candidates[a].identity.id.as_str(), candidates[b].identity.id.as_str()));
        assert_eq!(names, expected);
    }

    #[test]
    fn remote_newcomers_come_first_and_meet_the_nearest() {
        let field = [
            candidate("h1", true, 1400, 50),
            candidate("h2", true, 1900, 50),
            candidate("r1", false, 1500, 9),
            candidate("r2", false, 2000, 2),
        ];
        check_choice(&field, &Meetings::default(), Some(("r2", "h2")));
        let mut meetings = Meetings::default();
        meetings.add(&"r2".parse().unwrap(), &"h2".parse().unwrap());
        check_choice(&field, &meetings, Some(("r2", "r1")));
    }

    #[test]
    fn bots_of_one_owner_do_not_meet() {
        let mut field = [candidate("r1", false, 1500, 0), candidate("r2", false, 1500, 0)];
        field[1].identity.owner = field[0].identity.owner.clone();
        check_choice(&field, &Meetings::default(), None);
    }

    #[test]
    fn what_a_bot_does_not_accept_is_never_chosen() {
        let mut field = [candidate("h1", true, 1500, 0), candidate("r1", false, 1500, 0)];
        field[1].accepts.rated = Some(false);
        check_choice(&field, &Meetings::default(), None);
        check_choice(&[candidate("r1", false, 1500, 0)], &Meetings::default(), None);
    }
}
