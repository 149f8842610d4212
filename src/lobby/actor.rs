//! Owns the open seeks and challenges. It never waits: what the store knows comes with the requests.

mod house;
mod kept;
mod links;
mod offers;
mod seeks;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};
use rand::RngExt;
use tokio::sync::{broadcast, mpsc};

use self::seeks::{OfferedBots, Published, Seeker};
use super::acceptance::Proposal;
use super::challenge::{Challenges, PendingChallenge, side_of};
use super::handle::{ChallengedAway, INBOX_MAX, LobbyCommand, LobbyHandle, Prepared, Whose};
use super::lookup::PlayerLookup;
use super::pool::Pool;
use crate::model::clock::now;
use crate::model::ids::{ChallengeId, PairId, PlayerId};
use crate::play::feeds::Feeds;
use crate::play::host::{GameOffer, Host, Origin};
use crate::play::presence::{Session, Sessions};
use crate::play::room::MemberId;
use crate::play::room::handle::ReplyTo;
use crate::protocol::server::{ChallengeOutcome, Done, Frame, ServerMessage};

use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;

use crate::model::player::PlayerKind;
use crate::model::world::chance;

use crate::protocol::terms::Terms;
use crate::protocol::{ErrorCode, WireError};
use crate::storage::Store;
use crate::storage::record::{GamePair, OpeningSource};
use crate::storage::writer::Writer;
use crate::system::config::SiteOrigin;
use crate::system::shares::Shares;
use crate::system::tasks::Tasks;

/// How often waiting players are looked at again: windows widen by the second, offers expire.
const TICK: Duration = Duration::from_secs(1);

/// When somebody who has no game left may be asked again.
const RETRY: Duration = Duration::from_secs(5);

/// What the lobby needs from the rest of the daemon.
#[derive(Clone, Debug)]
pub(crate) struct LobbyDeps {
    /// Reads players, ratings and links.
    pub(crate) store: Arc<dyn Store>,
    /// Stores links and forgets them.
    pub(crate) writer: Writer,
    pub(crate) sessions: Sessions,
    pub(crate) host: Host,
    pub(crate) feeds: Feeds,
    /// What each network may use up.
    pub(crate) shares: Shares,
    /// Owns tasks that start games.
    pub(crate) tasks: Tasks,
    pub(crate) site: LinkedSite,
}

/// Where the site is, for links.
#[derive(Clone, Debug)]
pub(crate) enum LinkedSite {
    /// Its name is configured.
    Named(SiteOrigin),
    /// It is wherever a client has found it; for one that did not say so, where it is listened, such as
    /// `http://127.0.0.1:4444`.
    Found { listener: String },
}

impl LinkedSite {
    /// What anyone may open to accept an open offer.
    fn link(&self, challenge: &PendingChallenge) -> String {
        let id = &challenge.id;
        match (self, &challenge.site) {
            (Self::Named(site), _) | (Self::Found { .. }, Some(site)) => format!("{site}/challenge/{id}"),
            (Self::Found { listener }, None) => format!("{listener}/challenge/{id}"),
        }
    }
}

/// Owns the open seeks and challenges.
pub(crate) struct LobbyActor {
    deps: LobbyDeps,
    inbox: mpsc::Receiver<LobbyCommand>,
    seekers: BTreeMap<MemberId, Seeker>,
    /// The same seeks as they count now.
    pool: Pool,
    published: Published,
    offered_bots: OfferedBots,
    /// For what comes of tasks that the lobby starts. It keeps nobody waiting for the lobby's end.
    own: mpsc::WeakSender<LobbyCommand>,
    /// For whoever tells people who are not here.
    away: broadcast::Sender<ChallengedAway>,
    challenges: Challenges,
    /// Until when links wait for the guests who had made them before a restart.
    guests_return: Option<Instant>,
    /// Whom the request in hand comes from, who hears of a panic.
    answering: Option<ReplyTo>,
}

impl std::fmt::Debug for LobbyActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LobbyActor").field("seekers", &self.seekers.len()).finish_non_exhaustive()
    }
}

type LobbyAnswer = Result<(), WireError>;

impl LobbyActor {
    /// Makes the lobby. The caller runs the actor.
    pub(crate) fn new(deps: LobbyDeps) -> (LobbyHandle, Self) {
        let (commands, inbox) = mpsc::channel(INBOX_MAX);
        let (lookup, own) = (lookup(&deps), commands.downgrade());
        let handle = LobbyHandle::new(commands, lookup);
        let actor = Self {
            deps,
            inbox,
            seekers: BTreeMap::new(),
            pool: Pool::new(now()),
            published: Published::default(),
            offered_bots: OfferedBots::default(),
            own,
            away: handle.away(),
            challenges: Challenges::default(),
            guests_return: None,
            answering: None,
        };
        (handle, actor)
    }

    /// Runs until all handles are dropped.
    async fn work(&mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = tick.tick() => self.tick(),
                () = sleep_until(self.published.due()) => self.show_seeks(),
                command = self.inbox.recv() => match command {
                    Some(command) => self.take(command),
                    None => return,
                },
            }
        }
    }

    fn take(&mut self, command: LobbyCommand) {
        match command {
            LobbyCommand::Ask { session, request, reply } => {
                self.answering = Some(reply.clone());
                if let Err(error) = self.answer(&session, request, &reply) {
                    reply.send(&error.into());
                }
                self.answering = None;
            }
            LobbyCommand::Disconnected { member } => self.unseek(member),
            LobbyCommand::Unpaired(unpaired) => self.seek_again(*unpaired),
            LobbyCommand::LinkStored(stored) => self.link_stored(*stored),
            LobbyCommand::Left { player } => self.forget_offers_of(&player),
            LobbyCommand::Withdraw { player, whose } => self.withdraw(&player, whose),
            LobbyCommand::TellOpen { session, told } => {
                self.tell_open(&session);
                // The session may have ended meanwhile.
                let _ = told.send(());
            }
            LobbyCommand::HasOffers { player, answer } => {
                // The session may have been replaced.
                let _ = answer.send(self.challenges.of(&player).next().is_some());
            }
            LobbyCommand::Listed { answer } => {
                // The page may have stopped waiting.
                let _ = answer.send(self.shown(self.challenges.listed()));
            }
            LobbyCommand::Asked { player, answer } => {
                // The page may have stopped waiting.
                let _ = answer.send(self.asked(&player));
            }
            LobbyCommand::Look { challenge, answer } => {
                let offer = self.challenges.get(&challenge).map(|challenge| self.offer(challenge));
                // The page may have stopped waiting.
                let _ = answer.send(offer);
            }
            #[cfg(test)]
            LobbyCommand::Fail { answer } => {
                self.answering = Some(answer);
                panic!("broken on purpose");
            }
        }
    }

    fn forget_offers_of(&mut self, player: &PlayerId) {
        for challenge in self.challenges.remove_from(player, now()) {
            self.end(&challenge, ChallengeOutcome::Canceled, None);
        }
    }

    fn withdraw(&mut self, player: &PlayerId, whose: Whose) {
        let is_meant = |offer: &&PendingChallenge| match whose {
            Whose::Own => offer.from.identity.id == *player,
            Whose::OwnAndOthers => true,
        };
        let offers = self.challenges.of(player).filter(is_meant);
        let ids: Vec<ChallengeId> = offers.map(|offer| offer.id.clone()).collect();
        for challenge in ids.iter().filter_map(|id| self.challenges.remove(id)).collect::<Vec<_>>() {
            self.end(&challenge, ChallengeOutcome::Canceled, None);
        }
        for session in self.deps.sessions.of(player) {
            self.unseek(session.member());
        }
    }

    fn answer(&mut self, session: &Arc<Session>, request: Prepared, reply: &ReplyTo) -> LobbyAnswer {
        if !self.deps.sessions.contains(session) {
            // It has ended while the request was on its way: nobody would take back what it asks for.
            return Ok(());
        }
        match request {
            Prepared::Seek { seek, elo } => self.seek(session, seek, elo, reply),
            Prepared::Unseek => {
                self.unseek(session.member());
                ok(reply)
            }
            Prepared::Challenge(wish) => self.challenge(session, *wish, reply),
            Prepared::Accept { id, side, ratings } => self.accept(session, (&id, side), &ratings, reply),
            Prepared::Decline(decline) => self.decline(session, &decline, reply),
            Prepared::Cancel(id) => self.cancel(session, &id, reply),
            Prepared::PlayBot(play) => self.play_bot(session, &play, reply),
        }
    }

    fn tick(&mut self) {
        let now = now();
        for challenge in self.challenges.expire(now) {
            self.end(&challenge, ChallengeOutcome::Expired, None);
        }
        self.forget_guests(now);
        self.pair_due(now);
        self.offer_bots(now);
    }

    fn need_free(&self, player: &Identity) -> LobbyAnswer {
        self.deps.host.check_open().map_err(|error| error.to_wire())?;
        self.deps.host.check_patience(player).map_err(|error| error.to_wire())?;
        self.check_free(player, PlayerKind::Human, "you")
    }

    /// Whether a player, whom the refusal calls `who`, takes one more game against somebody of this kind.
    fn check_free(&self, player: &Identity, opponent: PlayerKind, who: &str) -> LobbyAnswer {
        if self.deps.sessions.is_draining(&player.id) {
            let message = format!("no new games for {who}, after `bye` with `drain`");
            return Err(WireError::new(ErrorCode::Paused, message).retry_in(RETRY));
        }
        let taken = self.deps.host.games_taken(&player.id);
        if !self.deps.sessions.has_place(&player.id, taken, opponent.into()) {
            let message = format!("no more games for {who} now");
            return Err(WireError::new(ErrorCode::Busy, message).retry_in(RETRY));
        }
        Ok(())
    }
}

/// What reads players and ratings.
fn lookup(deps: &LobbyDeps) -> PlayerLookup {
    PlayerLookup {
        store: Arc::clone(&deps.store),
        ratings: deps.host.ratings().clone(),
        sessions: deps.sessions.clone(),
    }
}

/// The first game of agreed terms.
fn offer_of(challenger: Identity, other: Identity, terms: &Terms) -> GameOffer {
    let mut rng = chance();
    let players = match side_of(terms.side, rng.random()) {
        Side::First => BySide { first: challenger, second: other },
        Side::Second => BySide { first: other, second: challenger },
    };
    let opening = terms.opening.as_ref().map_or_else(OpeningSource::default, |opening| OpeningSource {
        kind: opening.kind,
        moves: if opening.kind == OpeningKind::Given { opening.moves.clone() } else { String::new() },
    });
    let of = terms.games.number();
    let pair = (of > 1).then(|| GamePair { id: PairId::random(&mut rng), leg: 1, of });
    GameOffer {
        players,
        variant: terms.variant.0,
        time: terms.time.control(),
        rated: terms.rated,
        opening,
        pair,
        origin: origin_of(terms),
        pace: BotPace::default(),
    }
}

/// Whose idea it is, which says what is made of it.
fn origin_of(terms: &Terms) -> Origin {
    match (terms.load, terms.private) {
        (true, _) => Origin::Load,
        (false, true) => Origin::Private,
        (false, false) => Origin::Players,
    }
}

/// A game of these terms as one side sees it.
fn proposal(terms: &Terms, opponent: PlayerKind, opponent_elo: Option<i32>) -> Proposal {
    Proposal {
        time: terms.time.control(),
        rated: terms.rated,
        variant: terms.variant.0,
        opponent,
        opponent_elo,
    }
}

fn need_account(identity: &Identity) -> LobbyAnswer {
    match identity.kind {
        PlayerKind::Human | PlayerKind::Bot => Ok(()),
        PlayerKind::Guest => Err(WireError::new(ErrorCode::Forbidden, "rated games need an account")),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the last step of every request that succeeds")]
fn ok(reply: &ReplyTo) -> LobbyAnswer {
    reply.send(&Frame::new(ServerMessage::Ok(Done {})));
    Ok(())
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
