//! Watches rated games for points that are given away, and tells the operator, who may void games. Whether somebody
//! has help is another question, which [`mod@evidence`] is about.
//!
//! [`habits`] is pure and judges a player's last results. Nothing is done to anybody here: an alarm is a line in the
//! log, a count in the metrics and an entry of `fourfold status`. Alarms are not stored: what the last games show
//! is found again when the daemon starts, by [`look_back`].

mod evidence;
mod habits;
mod look_back;

use std::fmt;
use std::sync::Arc;

use fourfold_engine::{BySide, Side, Variant};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

#[cfg(test)]
pub(crate) use self::evidence::Evidence;
pub(crate) use self::evidence::EvidenceActor;
pub(crate) use self::evidence::EvidenceReader;
pub(crate) use self::habits::Habit;
use self::habits::{Verdict, WINDOW, boosting, is_short, sandbagging};
use self::look_back::{Findings, Found, LookBack};
use crate::accounts::identity_of;
use crate::model::ids::GameId;
use crate::model::player::Identity;
use crate::model::result::EndReason;
use crate::model::time::UnixMillis;
use crate::play::host::{GameOver, Host};
use crate::storage::store::GameQuery;
use crate::storage::{Store, StoreError};
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Alarms that are kept for the operator; beyond, the oldest goes. The log has all.
const ALARMS_MAX: usize = 100;

/// Games that one alarm names: enough to look at, and to void.
const GAMES_NAMED_MAX: usize = 50;

/// Finished games that are looked at again when the daemon starts: what is further back an operator has seen, and the
/// look takes a second.
const LOOKED_BACK: u64 = 100_000;

/// Games read at a time: a few milliseconds' worth.
const PAGE: u32 = 2_000;

/// What an operator should look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RatingAlarm {
    pub(crate) habit: Habit,
    /// Whose results they are.
    pub(crate) player: Identity,
    /// Who gave the points, if it was one.
    pub(crate) opponent: Option<Identity>,
    pub(crate) variant: Variant,
    /// The games given away, the newest first.
    pub(crate) games: Vec<GameId>,
    /// When the last of them ended.
    pub(crate) at: UnixMillis,
}

impl fmt::Display for RatingAlarm {
    /// The habit and whose it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.habit.as_str(), self.player.name)?;
        self.opponent.as_ref().map_or(Ok(()), |opponent| write!(f, " {}", opponent.name))
    }
}

impl RatingAlarm {
    fn is_about_the_same(&self, other: &Self) -> bool {
        let ids =
            |alarm: &Self| (alarm.player.id.clone(), alarm.opponent.as_ref().map(|other| other.id.clone()));
        (self.habit, self.variant) == (other.habit, other.variant) && ids(self) == ids(other)
    }
}

/// What is known of fair play. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FairPlay {
    /// Points that are given away.
    pub rating_alarms: RatingAlarms,
    /// Who decides better than people of their rating; none where games are not judged.
    pub(crate) evidence: Option<EvidenceReader>,
}

/// The alarms of the last [`LOOKED_BACK`] games and since the daemon began, the newest last. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RatingAlarms(watch::Receiver<Arc<Vec<RatingAlarm>>>);

impl RatingAlarms {
    pub fn all(&self) -> Arc<Vec<RatingAlarm>> {
        Arc::clone(&self.0.borrow())
    }
}

/// Follows the games that end.
#[derive(Debug)]
pub(crate) struct FairPlayActor {
    host: Host,
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    ends: broadcast::Receiver<GameOver>,
    alarms: watch::Sender<Arc<Vec<RatingAlarm>>>,
    has_looked_back: bool,
}

impl Kept for FairPlayActor {
    fn part(&self) -> Part {
        Part::FairPlay
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        if !self.has_looked_back {
            // Before it, so that whatever makes it panic is not looked at again.
            self.has_looked_back = true;
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                looked = self.look_back() => match looked {
                    Ok(0) => {}
                    Ok(alarms) => info!(alarms, "rated games of before look as if they were given away"),
                    Err(error) => error!(error = %error, "earlier results could not be looked at"),
                }
            }
        }
        self.work(stop).await;
        Ok(())
    }

    /// The game in hand is not looked at: the next one of the same players shows the same.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl FairPlayActor {
    pub(crate) fn new(host: Host, store: Arc<dyn Store>, metrics: Arc<Metrics>) -> (Self, RatingAlarms) {
        let (alarms, seen) = watch::channel(Arc::default());
        let ends = host.ends();
        (Self { host, store, metrics, ends, alarms, has_looked_back: false }, RatingAlarms(seen))
    }

    async fn work(&mut self, stop: &CancellationToken) {
        loop {
            let end = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                end = self.ends.recv() => end,
            };
            match end {
                Ok(over) => {
                    if let Err(error) = self.look_at(&over).await {
                        error!(error = %error, "results could not be looked at");
                    }
                }
                // The next game of the same players shows the same.
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    info!(missed, "ends of games were not looked at");
                }
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    /// Finds the alarms again that games of before have raised. They were told then: they are neither logged nor
    /// counted.
    async fn look_back(&self) -> Result<usize, StoreError> {
        let newest = GameQuery { newest_first: true, limit: 1, ..GameQuery::default() };
        let newest = self.store.finished_games(&newest).await?;
        let newest = newest.first().and_then(|game| Some(game.settlement.as_ref()?.number));
        let mut after = newest.unwrap_or_default().saturating_sub(LOOKED_BACK);
        let (mut look_back, mut findings) = (LookBack::default(), Findings::default());
        loop {
            let games = self.store.rated_games(after, PAGE).await?;
            let Some(last) = games.last() else { break };
            after = last.number;
            for game in &games {
                let found = look_back.add(game, |player| self.host.house().get(player).is_some());
                for found in found {
                    findings.add(found, GAMES_NAMED_MAX);
                }
            }
        }
        for found in findings.last(ALARMS_MAX) {
            if let Some(alarm) = self.alarm_of(found).await? {
                self.note(alarm);
            }
        }
        Ok(self.alarms.borrow().len())
    }

    /// What an operator is told of what was found; nothing about who is not there any more.
    async fn alarm_of(&self, found: Found) -> Result<Option<RatingAlarm>, StoreError> {
        let Found { habit, player, opponent, variant, games } = found;
        let Some(player) = self.store.player(&player).await? else { return Ok(None) };
        let opponent = match &opponent {
            Some(opponent) => self.store.player(opponent).await?,
            None => None,
        };
        let last = match games.first() {
            Some(game) => self.store.game(game).await?,
            None => None,
        };
        let at = last.map_or_else(UnixMillis::now, |game| game.last_change());
        let opponent = opponent.as_ref().map(identity_of);
        Ok(Some(RatingAlarm { habit, player: identity_of(&player), opponent, variant, games, at }))
    }

    async fn look_at(&self, over: &GameOver) -> Result<(), StoreError> {
        let (public, end) = (&over.public, &over.end);
        let Some(winner) = end.result.winner().filter(|_| end.rating.is_some()) else { return Ok(()) };
        let players = BySide::from_fn(|side: Side| &public.players[side].identity);
        let (winner, loser) = (players[winner], players[winner.opponent()]);
        let variant = public.spec.variant;
        // Most games are fought out: nothing is read for them.
        if end.reason == EndReason::Four || !is_short(&end.moves) || self.is_house(loser) {
            return Ok(());
        }
        let lost = self.store.last_rated_games(&loser.id, variant, WINDOW).await?;
        let alarm = |habit, player: &Identity, opponent: Option<&Identity>, games| RatingAlarm {
            habit,
            player: player.clone(),
            opponent: opponent.cloned(),
            variant,
            games,
            at: UnixMillis::now(),
        };
        match sandbagging(&loser.id, &lost) {
            Verdict::Fine => {}
            Verdict::Warning => info!(player = %loser.name, "several games were given up early"),
            Verdict::Alarm(games) => self.raise(alarm(Habit::Sandbagging, loser, None, games)),
        }
        if !self.is_house(winner) {
            let won = self.store.last_rated_games(&winner.id, variant, WINDOW).await?;
            if let Verdict::Alarm(games) = boosting(&winner.id, &loser.id, &won) {
                self.raise(alarm(Habit::Boosting, winner, Some(loser), games));
            }
        }
        Ok(())
    }

    fn is_house(&self, player: &Identity) -> bool {
        self.host.house().get(&player.id).is_some()
    }

    /// Tells the operator, unless it is known already.
    fn raise(&self, alarm: RatingAlarm) {
        if !self.alarms.borrow().iter().any(|known| known.is_about_the_same(&alarm)) {
            self.metrics.rating_alarm(alarm.habit.as_str());
            let opponent = alarm.opponent.as_ref().map(|opponent| opponent.name.to_string());
            warn!(habit = alarm.habit.as_str(), player = %alarm.player.name, opponent, games = ?alarm.games,
                    "rated games look as if they were given away: void those that were");
        }
        self.note(alarm);
    }

    /// Keeps an alarm for the operator; what is known already gets the new games added.
    fn note(&self, alarm: RatingAlarm) {
        let mut alarms = self.alarms.borrow().as_ref().clone();
        let known = alarms.iter().position(|known| known.is_about_the_same(&alarm));
        let alarm = match known.map(|at| alarms.remove(at)) {
            Some(known) => merged(alarm, known),
            None => alarm,
        };
        alarms.push(alarm);
        let surplus = alarms.len().saturating_sub(ALARMS_MAX);
        alarms.drain(..surplus);
        self.alarms.send_replace(Arc::new(alarms));
    }
}

fn merged(newer: RatingAlarm, older: RatingAlarm) -> RatingAlarm {
    let mut games = newer.games;
    for game in older.games {
        if !games.contains(&game) {
            games.push(game);
        }
    }
    games.truncate(GAMES_NAMED_MAX);
    RatingAlarm { games, ..newer }
}

/// For whoever needs alarms where no game is played: none.
#[cfg(test)]
impl Default for RatingAlarms {
    fn default() -> Self {
        Self(watch::channel(Arc::default()).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::host::GameOffer;
    use crate::testing::{Arena, Setup, offer};

    const THROWN: [&str; 4] = ["12345671", "23456712", "34567123", "45671234"];

    /// Two people play a rated game; the second gives up after these moves.
    async fn throw(arena: &Arena, players: [&crate::testing::Account; 2], moves: &str) {
        let [winner, loser] = players;
        let (ada, bob) = (arena.join(winner).await, arena.join(loser).await);
        let offer = GameOffer { rated: true, ..offer(&winner.identity, &loser.identity) };
        let game = arena.services.host.start(offer).await.unwrap();
        for (ply, column) in (0_u32..).zip(moves.chars()) {
            let client = if ply % 2 == 0 { &ada } else { &bob };
            client.play(&game, ply, column.to_digit(10).unwrap().into()).await;
            arena.settle().await;
        }
        bob.resign(&game).await;
        arena.settle().await;
        ada.leave().await;
        bob.leave().await;
    }

    #[tokio::test(start_paused = true)]
    async fn games_given_away_are_told_to_the_operator_once_with_their_names() {
        let arena = Arena::with(Setup { pair_limit: 100, ..Setup::default() }).await;
        let metrics = Arc::new(Metrics::new());
        let store = Arc::clone(&arena.store) as Arc<dyn Store>;
        let (mut actor, alarms) =
            FairPlayActor::new(arena.services.host.clone(), store, Arc::clone(&metrics));
        tokio::spawn(async move { actor.work(&CancellationToken::new()).await });
        let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
        for moves in &THROWN[..3] {
            throw(&arena, [&ada, &bob], moves).await;
        }
        assert!(alarms.all().is_empty());
        for moves in [THROWN[3], THROWN[0], THROWN[1]] {
            throw(&arena, [&ada, &bob], moves).await;
        }
        let found = alarms.all();
        let shown: Vec<_> = found
            .iter()
            .map(|alarm| {
                (alarm.habit, alarm.player.name.as_str(), alarm.opponent.is_some(), alarm.games.len())
            })
            .collect();
        assert_eq!(shown, [(Habit::Sandbagging, "Bob", false, 6), (Habit::Boosting, "Ada", true, 6)]);
        let store = Arc::clone(&arena.store) as Arc<dyn Store>;
        let fresh = Arc::new(Metrics::new());
        let (mut restarted, after) =
            FairPlayActor::new(arena.services.host.clone(), Arc::clone(&store), Arc::clone(&fresh));
        tokio::spawn(async move { restarted.run(&CancellationToken::new()).await });
        arena.settle().await;
        let of = |alarms: &RatingAlarms| {
            let all = alarms.all();
            all.iter().map(|alarm| (alarm.to_string(), alarm.games.clone())).collect::<Vec<_>>()
        };
        assert_eq!(of(&after), of(&alarms), "they are found again");
        let text = fresh.text();
        assert!(!text.contains("fourfold_rating_alarms_total{"), "and were counted before: {text}");
        let text = metrics.text();
        for habit in ["sandbagging", "boosting"] {
            assert!(text.contains(&format!("fourfold_rating_alarms_total{{habit=\"{habit}\"}} 1")), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn losing_in_a_fight_or_to_a_line_alarms_nobody() {
        let arena = Arena::with(Setup { pair_limit: 100, ..Setup::default() }).await;
        let store = Arc::clone(&arena.store) as Arc<dyn Store>;
        let (mut actor, alarms) = FairPlayActor::new(arena.services.host.clone(), store, Arc::default());
        tokio::spawn(async move { actor.work(&CancellationToken::new()).await });
        let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
        for moves in
            ["12345671234567", "23456712345671", "34567123456712", "45671234567123", "56712345671234"]
        {
            throw(&arena, [&ada, &bob], moves).await;
        }
        assert!(alarms.all().is_empty());
    }
}
