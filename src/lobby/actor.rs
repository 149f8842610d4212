//! Owns the open seeks and challenges.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side, Variant};
use rand::RngExt;
use tokio::sync::mpsc;
use tracing::{debug, info};

use super::acceptance::{Proposal, check};
use super::challenge::{
    Asked, Challenge, Challenges, OFFERS_MAX, Repeated, check_key, check_terms, is_family, side_of,
};
use super::feeds::Feeds;
use super::handle::{Command, INBOX_MAX, LobbyHandle, LobbyRequest};
use super::pairing::{Waiting, pair, waited};
use crate::host::{GameOffer, Host, Origin};
use crate::ids::{ChallengeId, PairId, PlayerId};
use crate::protocol::client::{Decline, PlayBot, Seek};
use crate::protocol::server::{
    BotOffer, ChallengeEnd, ChallengeOutcome, Done, Frame, Identity, Offer, SeekEntry, ServerMessage,
};
use crate::protocol::terms::{
    Accepts, OpeningKind, OpponentKind, PlayerKind, SideChoice, Terms, WirePlayer, WireRating,
};
use crate::protocol::{ErrorCode, WireError};
use crate::rating::elo::Standing;
use crate::room::MemberId;
use crate::room::handle::ReplyTo;
use crate::session::registry::Settings;
use crate::session::{Session, Sessions};
use crate::storage::record::{Opening, Pair};
use crate::storage::{Store, StoreError};

/// How often waiting players are looked at again: windows widen, offers expire.
const TICK: Duration = Duration::from_secs(1);

/// A person who has waited so long is offered a house bot.
const BOT_OFFER_AFTER: Duration = Duration::from_secs(10);

/// When somebody who has no game left may be asked again.
const RETRY: Duration = Duration::from_secs(5);

/// Characters of an unknown name that are repeated: names have at most 20.
const SHOWN_CHARS_MAX: usize = 40;

struct Seeker {
    session: Arc<Session>,
    waiting: Waiting,
    offered_bot: bool,
}

/// What the lobby needs from the rest of the daemon.
#[derive(Clone, Debug)]
pub struct LobbyDeps {
    /// Reads players and ratings.
    pub store: Arc<dyn Store>,
    /// Finds connected players.
    pub sessions: Sessions,
    /// Starts games.
    pub host: Host,
    /// Shows seeks.
    pub feeds: Feeds,
    /// Owns tasks that start games.
    pub tasks: tokio_util::task::TaskTracker,
    /// Where the site is, for links: `http://127.0.0.1:4444`.
    pub site_url: String,
}

/// Owns the open seeks and challenges.
pub struct LobbyActor {
    deps: LobbyDeps,
    inbox: mpsc::Receiver<Command>,
    seekers: HashMap<MemberId, Seeker>,
    challenges: Challenges,
}

impl std::fmt::Debug for LobbyActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LobbyActor").field("seekers", &self.seekers.len()).finish_non_exhaustive()
    }
}

type Answer = Result<(), WireError>;

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

impl LobbyActor {
    /// Makes the lobby. The caller runs the actor.
    #[must_use]
    pub fn new(deps: LobbyDeps) -> (LobbyHandle, Self) {
        let (commands, inbox) = mpsc::channel(INBOX_MAX);
        let actor = Self { deps, inbox, seekers: HashMap::new(), challenges: Challenges::default() };
        (LobbyHandle::new(commands), actor)
    }

    /// Runs until all handles are dropped.
    pub async fn run(mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(command) => self.take(command).await,
                    None => return,
                },
                _ = tick.tick() => self.tick(),
            }
        }
    }

    async fn take(&mut self, command: Command) {
        match command {
            Command::Ask { session, request, reply } => {
                if let Err(error) = self.answer(&session, request, &reply).await {
                    reply.send(&error.into());
                }
            }
            Command::Disconnected { member } => self.unseek(member),
            Command::Left { player } => self.left(&player),
            Command::TellOpen { session, told } => {
                self.tell_open(&session).await;
                // The session may have ended meanwhile.
                let _ = told.send(());
            }
            Command::Look { challenge, answer } => {
                let offer = match self.challenges.get(&challenge).cloned() {
                    Some(challenge) => self.offer(&challenge).await.ok(),
                    None => None,
                };
                // The page may have stopped waiting.
                let _ = answer.send(offer);
            }
        }
    }

    async fn answer(&mut self, session: &Arc<Session>, request: LobbyRequest, reply: &ReplyTo) -> Answer {
        match request {
            LobbyRequest::Seek(seek) => self.seek(session, seek, reply).await,
            LobbyRequest::Unseek => {
                self.unseek(session.member());
                ok(reply)
            }
            LobbyRequest::Challenge(asked) => {
                check_key(asked.key.as_deref())?;
                let to = self.find_player(&asked.to).await?;
                self.challenge(session, Some(to), asked.terms, asked.key, reply).await
            }
            LobbyRequest::OpenChallenge(asked) => {
                check_key(asked.key.as_deref())?;
                self.challenge(session, None, asked.terms, asked.key, reply).await
            }
            LobbyRequest::Accept(id) => self.accept(session, &id, reply).await,
            LobbyRequest::Decline(decline) => self.decline(session, &decline, reply),
            LobbyRequest::Cancel(id) => self.cancel(session, &id, reply),
            LobbyRequest::PlayBot(play) => self.play_bot(session, &play, reply),
        }
    }

    fn tick(&mut self) {
        let now = now();
        for challenge in self.challenges.expire(now) {
            self.tell_end(&challenge, ChallengeOutcome::Expired, None);
        }
        if !self.seekers.is_empty() {
            self.pair_seekers(now);
            self.offer_bots(now);
        }
    }

    fn left(&mut self, player: &PlayerId) {
        for challenge in self.challenges.remove_from(player) {
            self.tell_end(&challenge, ChallengeOutcome::Canceled, None);
        }
    }

    // --- seeks ---

    async fn seek(&mut self, session: &Arc<Session>, seek: Seek, reply: &ReplyTo) -> Answer {
        seek.time.validate().map_err(|error| WireError::bad_field(error.field(), error.to_string()))?;
        let identity = session.identity();
        if seek.rated {
            need_account(identity)?;
        }
        self.need_free(identity)?;
        let elo = self.elo(identity, seek.variant.0).await?;
        let waiting = Waiting {
            player: identity.id.clone(),
            kind: identity.kind,
            owner: identity.owner.clone(),
            elo,
            seek,
            since: now(),
        };
        ok(reply)?;
        let seeker = Seeker { session: Arc::clone(session), waiting, offered_bot: false };
        self.seekers.insert(session.member(), seeker);
        self.pair_seekers(now());
        self.show_seeks();
        Ok(())
    }

    fn unseek(&mut self, member: MemberId) {
        if self.seekers.remove(&member).is_some() {
            self.show_seeks();
        }
    }

    fn pair_seekers(&mut self, now: Instant) {
        let (members, waiting): (Vec<MemberId>, Vec<Waiting>) =
            self.seekers.iter().map(|(member, seeker)| (*member, self.as_of_now(seeker))).unzip();
        let pairs = pair(&waiting, now);
        if pairs.is_empty() {
            return;
        }
        for (a, b) in pairs {
            let (Some(a), Some(b)) = (self.seekers.remove(&members[a]), self.seekers.remove(&members[b]))
            else {
                continue;
            };
            self.start_pairing(&a, &b);
        }
        self.show_seeks();
    }

    /// A seek with what its player accepts where it says nothing itself, and without the sorts of opponents for whom
    /// the player has no game left. Those wait until one has ended.
    fn as_of_now(&self, seeker: &Seeker) -> Waiting {
        let mut waiting = seeker.waiting.clone();
        let Some(present) = self.deps.sessions.present(&waiting.player) else { return waiting };
        let taken = self.deps.host.games_taken(&waiting.player);
        let Settings { accepts, .. } = &present.settings;
        let mut opponents = waiting.seek.opponents.take().unwrap_or_else(|| accepts.opponents.clone());
        opponents.retain(|kind| present.settings.has_place(taken, *kind));
        waiting.seek.opponents = Some(opponents);
        waiting.seek.rating = waiting.seek.rating.or(accepts.rating);
        waiting
    }

    fn start_pairing(&self, a: &Seeker, b: &Seeker) {
        let (a_id, b_id) = (a.session.identity().clone(), b.session.identity().clone());
        let both_bots = a_id.kind == PlayerKind::Bot && b_id.kind == PlayerKind::Bot;
        let terms = Terms {
            time: a.waiting.seek.time,
            rated: a.waiting.seek.rated,
            variant: a.waiting.seek.variant,
            opening: None,
            games: 1,
            side: SideChoice::Random,
        };
        let terms = if both_bots { check_terms(&terms, &a_id, Some(&b_id)).unwrap_or(terms) } else { terms };
        let offer = offer_of(a_id, b_id, &terms);
        let (host, tasks) = (self.deps.host.clone(), self.deps.tasks.clone());
        let sessions = [Arc::clone(&a.session), Arc::clone(&b.session)];
        tasks.spawn(async move {
            if let Err(error) = host.start(offer).await {
                info!(error = %error, "two seeks could not be paired");
                for session in sessions {
                    session.tell(ServerMessage::Error(Box::new(error.to_wire())));
                }
            }
        });
    }

    fn show_seeks(&self) {
        let mut seekers: Vec<&Seeker> = self.seekers.values().collect();
        seekers.sort_by_key(|seeker| seeker.waiting.since);
        let entries = seekers.into_iter().map(|seeker| SeekEntry {
            player: seeker.session.identity().to_wire(seeker.waiting.elo.map(rough_rating), None),
            time: seeker.waiting.seek.time,
            rated: seeker.waiting.seek.rated,
            variant: seeker.waiting.seek.variant,
        });
        self.deps.feeds.set_seeks(entries.collect());
    }

    /// Offers a house bot to people who have waited long, once for each seek.
    fn offer_bots(&mut self, now: Instant) {
        let house = self.deps.host.house().clone();
        for seeker in self.seekers.values_mut() {
            let waits_long = waited(&seeker.waiting, now) >= BOT_OFFER_AFTER;
            let is_person = OpponentKind::from(seeker.waiting.kind) == OpponentKind::Human;
            if seeker.offered_bot || !waits_long || !is_person {
                continue;
            }
            seeker.offered_bot = true;
            let variant = seeker.waiting.seek.variant;
            // The middle of the line-up, which is ordered from weak to strong, suits a stranger best.
            let playing: Vec<_> = house.iter().filter(|bot| bot.plays(variant.0)).collect();
            if let Some(bot) = playing.get(playing.len() / 2) {
                seeker.session.tell(ServerMessage::BotOffer(BotOffer {
                    bot: bot.identity.to_wire(None, None),
                    time: seeker.waiting.seek.time,
                    variant,
                }));
            }
        }
    }

    // --- challenges ---

    async fn find_player(&self, name: &str) -> Result<Identity, WireError> {
        let unknown = || WireError::new(ErrorCode::NoSuchPlayer, format!("nobody is called {}", shown(name)));
        let name = name.parse().map_err(|_| unknown())?;
        let player = self.deps.store.player_by_name(&name).await.map_err(|error| internal(&error))?;
        if let Some(player) = player {
            return Ok(crate::accounts::identity_of(&player));
        }
        // Guests who have not played yet are not stored.
        let connected = self.deps.sessions.all();
        let guest = connected.iter().find(|session| session.identity().name.key() == name.key());
        guest.map(|session| session.identity().clone()).ok_or_else(unknown)
    }

    async fn challenge(
        &mut self,
        session: &Arc<Session>,
        to: Option<Identity>,
        terms: Terms,
        key: Option<String>,
        reply: &ReplyTo,
    ) -> Answer {
        let from = session.identity();
        let asked = Asked { to: to.as_ref().map(|to| to.id.clone()), terms };
        let terms = check_terms(&asked.terms, from, to.as_ref())?;
        match self.challenges.repeated(&from.id, key.as_deref(), &asked) {
            Repeated::No => {}
            Repeated::Yes(id) => return self.repeat(&id, reply).await,
            Repeated::Conflict => {
                return Err(WireError::new(ErrorCode::Conflict, "this key stands for another challenge"));
            }
        }
        if terms.rated {
            need_account(from)?;
        }
        if let Some(to) = &to {
            self.may_challenge(from, to, &terms).await?;
        }
        self.need_free(from)?;
        if self.challenges.count_from(&from.id) >= OFFERS_MAX {
            let message = format!("you have {OFFERS_MAX} offers open already");
            return Err(WireError::new(ErrorCode::Quota, message).retry_in(Duration::from_secs(20)));
        }
        let expires = now() + Challenges::expiry(to.as_ref().map(|to| to.kind));
        let id = ChallengeId::random(&mut rand::rng());
        let challenge = Challenge { id, from: from.clone(), to, terms, expires };
        self.challenges.insert(challenge.clone(), key, asked, now());
        self.announce(&challenge, reply).await
    }

    /// Tells the challenger and whoever is asked; a house bot accepts at once.
    async fn announce(&mut self, challenge: &Challenge, reply: &ReplyTo) -> Answer {
        let offer = self.offer(challenge).await?;
        let frame = Frame::new(ServerMessage::Challenge(Box::new(offer)));
        reply.send(&frame);
        for session in self.deps.sessions.of(&challenge.from.id) {
            if session.member() != reply.member {
                session.tell(frame.message().clone());
            }
        }
        let Some(to) = &challenge.to else { return Ok(()) };
        if self.deps.host.house().get(&to.id).is_some() {
            self.challenges.remove(&challenge.id);
            self.start_challenge(challenge.clone(), to.clone(), None);
            return Ok(());
        }
        for session in self.deps.sessions.of(&to.id) {
            session.tell(frame.message().clone());
        }
        Ok(())
    }

    async fn repeat(&self, id: &ChallengeId, reply: &ReplyTo) -> Answer {
        match self.challenges.get(id).cloned() {
            Some(challenge) => {
                let offer = self.offer(&challenge).await?;
                reply.send(&Frame::new(ServerMessage::Challenge(Box::new(offer))));
                Ok(())
            }
            None => ok(reply),
        }
    }

    /// Checks everything about the challenged that the challenger cannot know.
    async fn may_challenge(&self, from: &Identity, to: &Identity, terms: &Terms) -> Answer {
        if from.id == to.id {
            return Err(WireError::bad_field("to", "you cannot challenge yourself"));
        }
        if let Some(bot) = self.deps.host.house().get(&to.id) {
            return match bot.build(terms.variant.0, 0) {
                Ok(_) => Ok(()),
                Err(error) => Err(not_accepting("variants", &error.to_string())),
            };
        }
        let Some(present) = self.deps.sessions.present(&to.id) else {
            return Err(not_accepting("online", &format!("{} is not connected", to.name)));
        };
        if to.kind == PlayerKind::Bot && !present.settings.open && !is_family(from, to) {
            return Err(not_accepting("open", &format!("{} is not open to others", to.name)));
        }
        if terms.rated && to.kind == PlayerKind::Guest {
            return Err(not_accepting("rated", "guests play casual games only"));
        }
        let proposal = proposal(terms, from.kind, self.elo(from, terms.variant.0).await?);
        // People decide about variants when they see the offer; bots cannot.
        let mut accepts = present.settings.accepts.clone();
        if to.kind != PlayerKind::Bot && !accepts.variants.contains(&terms.variant) {
            accepts.variants.push(terms.variant);
        }
        if let Err(field) = check(&accepts, &proposal) {
            return Err(not_accepting(field, &format!("{} does not accept this {field}", to.name)));
        }
        self.check_free(to, from.kind, to.name.as_str())
    }

    fn need_free(&self, player: &Identity) -> Answer {
        self.check_free(player, PlayerKind::Human, "you")
    }

    /// Whether a player, whom the refusal calls `who`, takes one more game against somebody of this kind.
    fn check_free(&self, player: &Identity, opponent: PlayerKind, who: &str) -> Answer {
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

    async fn accept(&mut self, session: &Arc<Session>, id: &ChallengeId, reply: &ReplyTo) -> Answer {
        let challenge = self.challenges.get(id).cloned().ok_or_else(|| no_such_challenge(id))?;
        let me = session.identity();
        match &challenge.to {
            Some(to) if to.id != me.id => return Err(no_such_challenge(id)),
            None if challenge.from.id == me.id => {
                return Err(WireError::new(ErrorCode::Forbidden, "you cannot accept your own challenge"));
            }
            Some(_) | None => {}
        }
        if challenge.terms.rated {
            need_account(me)?;
        }
        self.need_free(me)?;
        if challenge.to.is_none() {
            self.may_accept(me, &challenge).await?;
        }
        if let Some(challenge) = self.challenges.remove(id) {
            self.start_challenge(challenge, me.clone(), Some(reply.clone()));
        }
        Ok(())
    }

    /// Checks that whoever made an open offer is there and accepts who came.
    async fn may_accept(&self, me: &Identity, challenge: &Challenge) -> Answer {
        let Challenge { from, terms, .. } = challenge;
        let Some(present) = self.deps.sessions.present(&from.id) else {
            return Err(not_accepting("online", &format!("{} is not connected", from.name)));
        };
        let elo = self.elo(me, terms.variant.0).await?;
        // The terms are the challenger's own.
        let accepts = Accepts {
            opponents: present.settings.accepts.opponents,
            rating: present.settings.accepts.rating,
            variants: vec![terms.variant],
            ..Accepts::default()
        };
        check(&accepts, &proposal(terms, me.kind, elo))
            .map_err(|field| not_accepting(field, &format!("{} does not accept this {field}", from.name)))
    }

    /// Starts the accepted game in a task of its own and tells how the offer ended.
    fn start_challenge(&self, challenge: Challenge, accepted_by: Identity, reply: Option<ReplyTo>) {
        let terms = check_terms(&challenge.terms, &challenge.from, Some(&accepted_by));
        let terms = terms.unwrap_or_else(|_| challenge.terms.clone());
        let offer = offer_of(challenge.from.clone(), accepted_by.clone(), &terms);
        let (host, sessions) = (self.deps.host.clone(), self.deps.sessions.clone());
        self.deps.tasks.spawn(async move {
            let started = host.start(offer).await;
            let how = if started.is_ok() { ChallengeOutcome::Accepted } else { ChallengeOutcome::Refused };
            let end = ChallengeEnd { challenge: challenge.id.clone(), how, reason: None };
            let frame = Frame::new(ServerMessage::ChallengeEnd(end));
            if let Err(error) = &started {
                debug!(error = %error, "an accepted game did not begin");
            }
            let asked_by = reply.as_ref().map(|reply| reply.member);
            match (reply, &started) {
                (Some(reply), Ok(_)) => reply.send(&frame),
                (Some(reply), Err(error)) => reply.send(&error.to_wire().into()),
                (None, _) => {}
            }
            for session in [&challenge.from.id, &accepted_by.id].into_iter().flat_map(|id| sessions.of(id)) {
                if Some(session.member()) != asked_by {
                    session.tell(frame.message().clone());
                }
            }
        });
    }

    fn decline(&mut self, session: &Arc<Session>, decline: &Decline, reply: &ReplyTo) -> Answer {
        let id = &decline.challenge;
        let mine = self
            .challenges
            .get(id)
            .is_some_and(|challenge| challenge.to.as_ref().is_some_and(|to| to.id == *session.player()));
        let challenge =
            mine.then(|| self.challenges.remove(id)).flatten().ok_or_else(|| no_such_challenge(id))?;
        self.tell_end(&challenge, ChallengeOutcome::Declined, Some(decline.reason));
        ok(reply)
    }

    fn cancel(&mut self, session: &Arc<Session>, id: &ChallengeId, reply: &ReplyTo) -> Answer {
        let mine = self.challenges.get(id).is_some_and(|challenge| challenge.from.id == *session.player());
        let challenge =
            mine.then(|| self.challenges.remove(id)).flatten().ok_or_else(|| no_such_challenge(id))?;
        self.tell_end(&challenge, ChallengeOutcome::Canceled, None);
        ok(reply)
    }

    /// Tells both sides that an offer is no more.
    fn tell_end(
        &self,
        challenge: &Challenge,
        how: ChallengeOutcome,
        reason: Option<crate::protocol::client::DeclineReason>,
    ) {
        let end = ServerMessage::ChallengeEnd(ChallengeEnd { challenge: challenge.id.clone(), how, reason });
        let ids = std::iter::once(&challenge.from.id).chain(challenge.to.as_ref().map(|to| &to.id));
        for id in ids {
            for session in self.deps.sessions.of(id) {
                session.tell(end.clone());
            }
        }
    }

    async fn tell_open(&self, session: &Arc<Session>) {
        let open: Vec<Challenge> = self.challenges.of(session.player()).cloned().collect();
        for challenge in open {
            if let Ok(offer) = self.offer(&challenge).await {
                session.tell(ServerMessage::Challenge(Box::new(offer)));
            }
        }
    }

    async fn offer(&self, challenge: &Challenge) -> Result<Offer, WireError> {
        let variant = challenge.terms.variant.0;
        let to = match &challenge.to {
            Some(to) => Some(self.wire_player(to, variant).await?),
            None => None,
        };
        let left = challenge.expires.saturating_duration_since(now());
        let url =
            challenge.to.is_none().then(|| format!("{}/challenge/{}", self.deps.site_url, challenge.id));
        Ok(Offer {
            challenge: challenge.id.clone(),
            from: self.wire_player(&challenge.from, variant).await?,
            to,
            terms: challenge.terms.clone(),
            expires_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            url,
        })
    }

    async fn wire_player(&self, identity: &Identity, variant: Variant) -> Result<WirePlayer, WireError> {
        let rating = self.rating(identity, variant).await?;
        Ok(identity.to_wire(rating, self.deps.sessions.version_of(&identity.id)))
    }

    /// A player's rating; guests have none.
    async fn rating(&self, identity: &Identity, variant: Variant) -> Result<Option<WireRating>, WireError> {
        match identity.kind {
            PlayerKind::Guest => return Ok(None),
            PlayerKind::Human | PlayerKind::Bot => {}
        }
        let row = self.deps.store.rating(&identity.id, variant).await.map_err(|error| internal(&error))?;
        Ok(Some(row.map_or(Standing::START, |row| row.standing).to_wire()))
    }

    async fn elo(&self, identity: &Identity, variant: Variant) -> Result<Option<i32>, WireError> {
        Ok(self.rating(identity, variant).await?.map(|rating| rating.elo))
    }

    // --- house bots ---

    fn play_bot(&mut self, session: &Arc<Session>, play: &PlayBot, reply: &ReplyTo) -> Answer {
        let bot = play.bot.parse().ok().and_then(|name| self.deps.host.house().by_name(&name)).cloned();
        let bot = bot.ok_or_else(|| {
            let message = format!("no house bot is called {}", shown(&play.bot));
            WireError::new(ErrorCode::NoSuchBot, message)
        })?;
        let me = session.identity();
        if play.rated {
            need_account(me)?;
        }
        let terms = Terms {
            time: play.time,
            rated: play.rated,
            variant: play.variant,
            opening: None,
            games: 1,
            side: play.side,
        };
        let terms = check_terms(&terms, me, Some(&bot.identity))?;
        self.need_free(me)?;
        self.unseek(session.member());
        let offer = offer_of(me.clone(), bot.identity, &terms);
        let (host, reply) = (self.deps.host.clone(), reply.clone());
        self.deps.tasks.spawn(async move {
            match host.start(offer).await {
                Ok(_) => reply.send(&Frame::new(ServerMessage::Ok(Done {}))),
                Err(error) => reply.send(&error.to_wire().into()),
            }
        });
        Ok(())
    }
}

/// The first game of agreed terms.
fn offer_of(challenger: Identity, other: Identity, terms: &Terms) -> GameOffer {
    let mut rng = rand::rng();
    let players = match side_of(terms.side, rng.random()) {
        Side::First => BySide { first: challenger, second: other },
        Side::Second => BySide { first: other, second: challenger },
    };
    let opening = terms.opening.as_ref().map_or_else(Opening::default, |opening| Opening {
        kind: opening.kind,
        moves: if opening.kind == OpeningKind::Given { opening.moves.clone() } else { String::new() },
    });
    let pair = (terms.games > 1).then(|| Pair { id: PairId::random(&mut rng), leg: 1, of: terms.games });
    GameOffer {
        players,
        variant: terms.variant.0,
        time: terms.time,
        rated: terms.rated,
        opening,
        pair,
        origin: Origin::Players,
    }
}

/// A game of these terms as one side sees it.
fn proposal(terms: &Terms, opponent: PlayerKind, opponent_elo: Option<i32>) -> Proposal {
    Proposal { time: terms.time, rated: terms.rated, variant: terms.variant.0, opponent, opponent_elo }
}

/// A seek shows the points only; how sure they are matters less in a list.
fn rough_rating(elo: i32) -> WireRating {
    WireRating { elo, pm95: 0, provisional: false }
}

/// A name that may be any text, short enough for a message.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN_CHARS_MAX).collect()
}

fn need_account(identity: &Identity) -> Answer {
    match identity.kind {
        PlayerKind::Human | PlayerKind::Bot => Ok(()),
        PlayerKind::Guest => Err(WireError::new(ErrorCode::Forbidden, "rated games need an account")),
    }
}

fn no_such_challenge(id: &ChallengeId) -> WireError {
    WireError::new(ErrorCode::NoSuchChallenge, format!("there is no open challenge {id}"))
}

fn not_accepting(field: &str, message: &str) -> WireError {
    WireError { field: Some(field.to_owned()), ..WireError::new(ErrorCode::NotAccepting, message) }
}

fn internal(cause: &StoreError) -> WireError {
    let incident = PairId::random(&mut rand::rng()).to_string();
    tracing::error!(incident, error = %cause, "the lobby could not read the store");
    WireError {
        incident: Some(incident),
        ..WireError::new(ErrorCode::Internal, "the store could not be read")
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the last step of every request that succeeds")]
fn ok(reply: &ReplyTo) -> Answer {
    reply.send(&Frame::new(ServerMessage::Ok(Done {})));
    Ok(())
}
