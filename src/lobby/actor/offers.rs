//! Offers to play: made, shown, accepted, declined, withdrawn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::debug;

use super::{LobbyActor, LobbyAnswer, need_account, offer_of, ok, proposal};
use crate::lobby::acceptance::{Excluded, check};
use crate::lobby::challenge::{
    Asked, Challenges, GUEST_LINKS_MAX, LINKS_MAX, LISTED_MAX, LISTED_OF_ONE_MAX, OFFERS_MAX, Party,
    PendingChallenge, Repeated, TAKEN_BACK_FOR, check_guest_time, check_listed, check_terms,
    is_by_correspondence,
};
use crate::lobby::handle::{ChallengedAway, Wish};
use crate::lobby::lookup::Ratings;
use crate::model::clock::{is_beyond_a_day, now};
use crate::model::ids::{ChallengeId, PlayerId};
use crate::play::presence::Session;
use crate::play::room::handle::ReplyTo;
use crate::play::share;
use crate::protocol::client::{Decline, DeclineReason};
use crate::protocol::server::{ChallengeEnd, ChallengeOutcome, Frame, Offer, ServerMessage};

use crate::model::player::Identity;
use crate::protocol::terms::{Accepts, Terms, WireSide};

use crate::model::opening::SideChoice;
use crate::model::player::PlayerKind;
use crate::model::world::chance;
use crate::protocol::{ErrorCode, WireError};
use crate::storage::store::Write;
use crate::system::shares::{Held, Refusal, Share};

/// When somebody may make another offer whose places are kept free yet: for no longer than this.
const QUOTA_RETRY: Duration = Duration::from_secs(20);

impl LobbyActor {
    pub(super) fn challenge(&mut self, session: &Arc<Session>, wish: Wish, reply: &ReplyTo) -> LobbyAnswer {
        let Wish { from, to, terms, is_listed, key } = wish;
        let terms = check_terms(&terms, &from.identity, to.as_ref().map(|to| &to.identity))?;
        let to_id = to.as_ref().map(|to| to.identity.id.clone());
        let asked = Asked { to: to_id, terms: terms.clone(), is_listed };
        match self.challenges.repeated(session.player(), key.as_deref(), &asked) {
            Repeated::No => {}
            Repeated::Yes(id) => return self.repeat(&id, reply),
            Repeated::Conflict => {
                return Err(WireError::new(ErrorCode::Conflict, "this key stands for another challenge"));
            }
        }
        if terms.rated {
            need_account(&from.identity)?;
        }
        if let Some(to) = &to {
            self.may_challenge(&from, &to.identity, &terms)?;
        }
        if is_listed {
            self.need_listed_place(&from.identity, &terms)?;
        }
        self.need_free(&from.identity)?;
        self.need_offer(&from.identity, to.as_ref(), &terms)?;
        let place = self.offer_place(session, to.as_ref())?;
        let asked_one = to.as_ref().map(|to| &to.identity);
        let expires = now() + Challenges::expiry(&terms, &from.identity, asked_one);
        let id = ChallengeId::random(&mut chance());
        let site = session.site();
        let challenge = PendingChallenge { id, from, to, terms, expires, is_listed, site, _place: place };
        self.challenges.insert(challenge.clone(), key.clone(), asked, now());
        if challenge.is_stored() {
            self.store_link(&challenge, key, reply);
        } else {
            self.announce(challenge, reply);
        }
        Ok(())
    }

    /// Takes one offer out of the network's share; links have places there as long as they stand.
    fn offer_place(&self, session: &Session, to: Option<&Party>) -> Result<Option<Arc<Held>>, WireError> {
        let (shares, payer) = (&self.deps.shares, session.payer());
        let refused = |refusal: Refusal| share::refusal(&refusal);
        if to.is_some() {
            shares.spend(Share::Offer, &payer).map_err(refused)?;
            return Ok(None);
        }
        let place = shares.hold_and_spend(Share::Link, &payer).map_err(refused)?;
        Ok(Some(Arc::new(place)))
    }

    /// Whether one more offer may be made.
    fn need_offer(&mut self, from: &Identity, to: Option<&Party>, terms: &Terms) -> LobbyAnswer {
        if self.challenges.made_by(&from.id).count() >= OFFERS_MAX {
            let first = first_end(self.challenges.made_by(&from.id));
            return Err(quota(format!("you have {OFFERS_MAX} offers open already"), first));
        }
        match to {
            Some(to) => self.need_place(from, &to.identity, terms),
            None => self.make_room_for_link(from),
        }
    }

    /// Whether whoever is asked has room for one more offer. A house bot answers at once: nothing waits for it.
    fn need_place(&self, from: &Identity, to: &Identity, terms: &Terms) -> LobbyAnswer {
        let is_house = self.deps.host.house().get(&to.id).is_some();
        let by_days = is_by_correspondence(terms, from, to);
        if is_house {
            return Ok(());
        }
        self.challenges.has_place(from.kind, &to.id, now()).map_err(|free| {
            let seconds = TAKEN_BACK_FOR.as_secs();
            let message = format!(
                "{} has as many offers as may wait for one player; one that was taken back counts for {seconds} seconds",
                to.name
            );
            quota(message, Some(free))
        })?;
        if !by_days || self.challenges.has_correspondence_place(&from.id, &to.id) {
            return Ok(());
        }
        let by_correspondence = |offer: &&PendingChallenge| offer.asks_by_correspondence();
        let first = first_end(self.challenges.made_to(&to.id).filter(by_correspondence));
        Err(quota(format!("{} has many offers open already", to.name), first))
    }

    /// Where all links are taken, the oldest of a guest goes for one of an account.
    fn make_room_for_link(&mut self, from: &Identity) -> LobbyAnswer {
        let is_guest = from.kind == PlayerKind::Guest;
        if is_guest && self.challenges.links_of(&from.id).count() >= GUEST_LINKS_MAX {
            let first = first_end(self.challenges.links_of(&from.id));
            return Err(quota(format!("guests have at most {GUEST_LINKS_MAX} links open"), first));
        }
        if self.challenges.count_links() < LINKS_MAX {
            return Ok(());
        }
        let oldest = if is_guest { None } else { self.challenges.remove_guest_link() };
        let Some(oldest) = oldest else {
            let message = format!("{LINKS_MAX} links are open already, of all players together");
            return Err(quota(message, self.challenges.first_link_ends()));
        };
        self.end(&oldest, ChallengeOutcome::Canceled, None);
        Ok(())
    }

    /// Whether one more offer may stand in the list.
    fn need_listed_place(&self, from: &Identity, terms: &Terms) -> LobbyAnswer {
        check_listed(terms, from)?;
        self.challenges.has_listed_place(&from.id).map_err(|first| {
            let message = format!(
                "the list has at most {LISTED_MAX} offers, {LISTED_OF_ONE_MAX} of them yours: withdraw one, or make a link"
            );
            quota(message, first)
        })
    }

    /// Tells the challenger and whoever is asked; a house bot accepts at once.
    pub(super) fn announce(&mut self, challenge: PendingChallenge, reply: &ReplyTo) {
        let frame = Frame::new(ServerMessage::Challenge(Box::new(self.offer(&challenge))));
        reply.send(&frame);
        for session in self.deps.sessions.of(&challenge.from.identity.id) {
            if session.member() != reply.member {
                session.tell(frame.message().clone());
            }
        }
        let Some(to) = challenge.to.as_ref().map(|to| to.identity.clone()) else { return };
        if self.deps.host.house().get(&to.id).is_some() {
            self.challenges.remove(&challenge.id);
            self.start_challenge(challenge, to, None);
            return;
        }
        for session in self.deps.sessions.of(&to.id) {
            session.tell(frame.message().clone());
        }
        if to.kind == PlayerKind::Human && !self.deps.sessions.is_online(&to.id) {
            self.tell_elsewhere(&challenge, to.id);
        }
    }

    /// Says that somebody is challenged who is not here to see it.
    fn tell_elsewhere(&self, challenge: &PendingChallenge, to: PlayerId) {
        let from = challenge.from.identity.name.clone();
        let lasts = challenge.expires.saturating_duration_since(now());
        let away = ChallengedAway { to, from, challenge: challenge.id.clone(), lasts };
        // Where nobody is told anything, nobody listens.
        let _ = self.away.send(away);
    }

    fn repeat(&self, id: &ChallengeId, reply: &ReplyTo) -> LobbyAnswer {
        match self.challenges.get(id) {
            Some(challenge) => {
                reply.send(&Frame::new(ServerMessage::Challenge(Box::new(self.offer(challenge)))));
                Ok(())
            }
            None => ok(reply),
        }
    }

    /// Checks everything about the challenged that the challenger cannot know.
    fn may_challenge(&self, challenger: &Party, to: &Identity, terms: &Terms) -> LobbyAnswer {
        let from = &challenger.identity;
        if from.id == to.id {
            return Err(WireError::bad_field("to", "you cannot challenge yourself"));
        }
        self.check_not_blocking(from, to)?;
        if let Some(bot) = self.deps.host.house().get(&to.id) {
            check_guest_time(terms.time, from)?;
            if bot.plays(terms.variant.0) {
                return Ok(());
            }
            let message = format!("{} does not play {}", to.name, terms.variant.0);
            return Err(not_accepting("variants", &message));
        }
        let by_days = is_by_correspondence(terms, from, to);
        let Some(present) = self.deps.sessions.present(&to.id) else {
            if by_days {
                // Who has days for each move looks in some time.
                return Ok(());
            }
            return Err(not_accepting("online", &format!("{} is not connected", to.name)));
        };
        if to.kind == PlayerKind::Bot && !present.settings.open && from.family() != to.family() {
            return Err(not_accepting("open", &format!("{} is not open to others", to.name)));
        }
        if terms.rated && to.kind == PlayerKind::Guest {
            return Err(not_accepting("rated", "guests play casual games only"));
        }
        let proposal = proposal(terms, from.kind, challenger.elo());
        // People decide about variants when they see the offer; bots cannot.
        let mut accepts = present.settings.accepts.clone();
        if to.kind != PlayerKind::Bot && !accepts.variants.contains(&terms.variant) {
            accepts.variants.push(terms.variant);
        }
        if self.deps.host.blocks().has(&to.id, from) {
            return Err(blocked_by(to));
        }
        check(&accepts, &proposal).map_err(|excluded| does_not_accept(to, excluded))?;
        // Games by correspondence take no place at the boards.
        if by_days { Ok(()) } else { self.check_free(to, from.kind, to.name.as_str()) }
    }

    /// Nobody plays by an offer with somebody whom they block: they are told so.
    fn check_not_blocking(&self, me: &Identity, other: &Identity) -> LobbyAnswer {
        if !self.deps.host.blocks().has(&me.id, other) {
            return Ok(());
        }
        let message = format!("you block {}: stop that first", other.name);
        Err(WireError::new(ErrorCode::Forbidden, message))
    }

    pub(super) fn accept(
        &mut self,
        session: &Arc<Session>,
        (id, side): (&ChallengeId, Option<WireSide>),
        ratings: &Ratings,
        reply: &ReplyTo,
    ) -> LobbyAnswer {
        let challenge = self.challenges.get(id).ok_or_else(|| no_such_challenge(id))?;
        let me = session.identity();
        match &challenge.to {
            Some(to) if to.identity.id != me.id => return Err(no_such_challenge(id)),
            None if challenge.from.identity.id == me.id => {
                return Err(WireError::new(ErrorCode::Forbidden, "you cannot accept your own challenge"));
            }
            Some(_) | None => {}
        }
        let from = &challenge.from.identity;
        self.check_not_blocking(me, from)?;
        if self.deps.host.blocks().has(&from.id, me) {
            return Err(blocked_by(from));
        }
        if challenge.terms.rated {
            need_account(me)?;
        }
        if side.is_some() && challenge.terms.side != SideChoice::Opponent {
            let message = "whoever made this challenge has chosen the sides: leave side out";
            return Err(WireError::bad_field("side", message));
        }
        self.need_free(me)?;
        // An offer whose game cannot begin would be used up.
        self.deps.host.check_store().map_err(|error| error.to_wire())?;
        if challenge.to.is_none() {
            self.may_accept(me, ratings, challenge)?;
        }
        if let Some(mut challenge) = self.challenges.remove(id) {
            if let Some(side) = side {
                challenge.terms.side = SideChoice::left_by(side.into());
            }
            self.start_challenge(challenge, me.clone(), Some(reply.clone()));
        }
        Ok(())
    }

    /// Checks that whoever made an open offer is there and accepts who came.
    fn may_accept(&self, me: &Identity, ratings: &Ratings, challenge: &PendingChallenge) -> LobbyAnswer {
        let (from, terms) = (&challenge.from.identity, &challenge.terms);
        if challenge.is_listed {
            check_listed(terms, me)?;
        }
        if terms.private {
            check_terms(terms, from, Some(me))?;
        }
        if challenge.is_listed || is_beyond_a_day(terms.time.control()) {
            // Its maker need not be there: nobody waits at the board.
            check_terms(terms, from, Some(me))?;
            return Ok(());
        }
        let Some(present) = self.deps.sessions.present(&from.id) else {
            return Err(not_accepting("online", &format!("{} is not connected", from.name)));
        };
        // The terms are the challenger's own.
        let accepts = Accepts {
            opponents: present.settings.accepts.opponents,
            rating: present.settings.accepts.rating,
            variants: vec![terms.variant],
            ..Accepts::default()
        };
        check(&accepts, &proposal(terms, me.kind, ratings.elo(terms.variant.0)))
            .map_err(|excluded| does_not_accept(from, excluded))
    }

    /// Starts the accepted game in a task of its own and tells how the offer ended.
    fn start_challenge(&self, challenge: PendingChallenge, accepted_by: Identity, reply: Option<ReplyTo>) {
        let terms = check_terms(&challenge.terms, &challenge.from.identity, Some(&accepted_by));
        let terms = terms.unwrap_or_else(|_| challenge.terms.clone());
        let offer = offer_of(challenge.from.identity.clone(), accepted_by.clone(), &terms);
        let (host, sessions) = (self.deps.host.clone(), self.deps.sessions.clone());
        let writer = self.deps.writer.clone();
        self.deps.tasks.spawn(async move {
            let started = host.start(offer).await;
            if challenge.is_stored() {
                // After the game: a kill in between leaves both, and a link whose game has begun does no harm.
                writer.submit(Write::CloseLink(challenge.id.clone()), |_| {});
            }
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
            for session in
                [&challenge.from.identity.id, &accepted_by.id].into_iter().flat_map(|id| sessions.of(id))
            {
                if Some(session.member()) != asked_by {
                    session.tell(frame.message().clone());
                }
            }
        });
    }

    pub(super) fn decline(
        &mut self,
        session: &Arc<Session>,
        decline: &Decline,
        reply: &ReplyTo,
    ) -> LobbyAnswer {
        let id = &decline.challenge;
        let mine = self.challenges.get(id).is_some_and(|challenge| {
            challenge.to.as_ref().is_some_and(|to| to.identity.id == *session.player())
        });
        let challenge =
            mine.then(|| self.challenges.remove(id)).flatten().ok_or_else(|| no_such_challenge(id))?;
        self.end(&challenge, ChallengeOutcome::Declined, Some(decline.reason));
        ok(reply)
    }

    pub(super) fn cancel(
        &mut self,
        session: &Arc<Session>,
        id: &ChallengeId,
        reply: &ReplyTo,
    ) -> LobbyAnswer {
        let mine =
            self.challenges.get(id).is_some_and(|challenge| challenge.from.identity.id == *session.player());
        let challenge = mine
            .then(|| self.challenges.take_back(id, now()))
            .flatten()
            .ok_or_else(|| no_such_challenge(id))?;
        self.end(&challenge, ChallengeOutcome::Canceled, None);
        ok(reply)
    }

    /// An offer is no more: the store forgets it, and both sides are told.
    pub(super) fn end(
        &self,
        challenge: &PendingChallenge,
        how: ChallengeOutcome,
        reason: Option<DeclineReason>,
    ) {
        self.close_link(challenge);
        let end = ServerMessage::ChallengeEnd(ChallengeEnd { challenge: challenge.id.clone(), how, reason });
        let ids = std::iter::once(&challenge.from.identity.id)
            .chain(challenge.to.as_ref().map(|to| &to.identity.id));
        for id in ids {
            for session in self.deps.sessions.of(id) {
                session.tell(end.clone());
            }
        }
    }

    pub(super) fn tell_open(&self, session: &Arc<Session>) {
        for challenge in self.challenges.of(session.player()) {
            session.tell(ServerMessage::Challenge(Box::new(self.offer(challenge))));
        }
    }

    /// Offers by correspondence that a player makes to somebody, or is asked by.
    pub(super) fn asked(&self, player: &PlayerId) -> Vec<Offer> {
        self.shown(self.challenges.of(player).filter(|challenge| challenge.asks_by_correspondence()))
    }

    /// Offers as they stand now.
    pub(super) fn shown<'a>(&self, offers: impl Iterator<Item = &'a PendingChallenge>) -> Vec<Offer> {
        offers.map(|challenge| self.offer(challenge)).collect()
    }

    /// An offer as it stands now.
    pub(super) fn offer(&self, challenge: &PendingChallenge) -> Offer {
        let left = challenge.expires.saturating_duration_since(now());
        let url = challenge.to.is_none().then(|| self.deps.site.link(challenge));
        Offer {
            challenge: challenge.id.clone(),
            from: challenge.from.shown.clone(),
            to: challenge.to.as_ref().map(|to| to.shown.clone()),
            terms: challenge.terms.clone(),
            expires_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            url,
            listed: challenge.is_listed,
        }
    }
}

/// When the first of these offers ends by itself, if nobody answers any before.
fn first_end<'a>(offers: impl Iterator<Item = &'a PendingChallenge>) -> Option<Instant> {
    offers.map(|offer| offer.expires).min()
}

/// Too many offers are open: the next may come when the first of them has ended.
fn quota(message: String, first_end: Option<Instant>) -> WireError {
    let wait = first_end.map_or(QUOTA_RETRY, |end| end.saturating_duration_since(now()));
    WireError::new(ErrorCode::Quota, message).retry_in(wait)
}

fn no_such_challenge(id: &ChallengeId) -> WireError {
    WireError::new(ErrorCode::NoSuchChallenge, format!("there is no open challenge {id}"))
}

/// What whoever is blocked hears: what others hear of whom a player does not accept, for nobody is told that they are
/// blocked.
fn blocked_by(player: &Identity) -> WireError {
    does_not_accept(player, Excluded::OPPONENTS)
}

fn does_not_accept(player: &Identity, Excluded { field, what }: Excluded) -> WireError {
    not_accepting(field, &format!("{} does not accept {what}", player.name))
}

fn not_accepting(field: &str, message: &str) -> WireError {
    WireError { field: Some(field.to_owned()), ..WireError::new(ErrorCode::NotAccepting, message) }
}
