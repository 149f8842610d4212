//! Open offers to play: pure book-keeping.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Game, Side, Variant, openings};

use crate::model::clock::{GameTime, is_beyond_a_day, takes_days};
use crate::model::ids::{ChallengeId, PlayerId};
use crate::model::opening::{OpeningKind, SideChoice};
use crate::model::player::Identity;
use crate::protocol::{ErrorCode, WireError};

use crate::model::player::PlayerKind;

use crate::play::correspondence;
use crate::protocol::terms::{SERIES_MAX, SeriesLength, Terms, WireOpening, WirePlayer};
use crate::system::config::SiteOrigin;
use crate::system::shares::Held;

/// How long a challenge stands between people.
const LIVE_EXPIRY: Duration = Duration::from_secs(20);
/// How long it stands if a bot is asked.
const BOT_EXPIRY: Duration = Duration::from_mins(1);
/// How long an open challenge stands: a link may be read the next morning.
const LINK_EXPIRY: Duration = Duration::from_hours(24);
/// How long an offer of a game by correspondence stands, by a link or to somebody: who plays with days for each move
/// looks in now and then.
const CORRESPONDENCE_EXPIRY: Duration = Duration::from_hours(7 * 24);
/// Offers that anyone may take, of all players: more than anybody reads through, and one answer of the list has room
/// for all of them.
pub(crate) const LISTED_MAX: usize = 200;
/// Those of one player: the list is for many.
pub(crate) const LISTED_OF_ONE_MAX: usize = 3;
/// How long an idempotency key is remembered.
const KEY_MEMORY: Duration = Duration::from_hours(24);
/// Longest idempotency key.
const KEY_CHARS_MAX: usize = 64;
/// Open offers of one player: more would only flood others.
pub(crate) const OFFERS_MAX: usize = 32;
/// Open offers to one player: more than anybody reads, and few enough that all of them reach a client that comes
/// back.
const OFFERS_TO_MAX: usize = 16;
/// Those of them that guests may have made: whoever has an account gets through when guests crowd around somebody.
const GUEST_OFFERS_TO_MAX: usize = 8;
/// Open offers of games by correspondence to one player, who has a week to answer each: they have places of their own,
/// so that they are in the way of nobody who wants to play now.
const CORRESPONDENCE_OFFERS_TO_MAX: usize = 16;
/// How long an offer that its maker took back keeps its place, so that nobody is flooded with offers that come and go.
pub(crate) const TAKEN_BACK_FOR: Duration = LIVE_EXPIRY;
/// Open links of all players: those of accounts outlive their makers' connections. When it is reached, the oldest of a
/// guest goes for a new one of an account.
pub(crate) const LINKS_MAX: usize = 10_000;
/// Open links of one guest: guests are made for nothing, and one link is enough for a friend.
pub(crate) const GUEST_LINKS_MAX: usize = 2;
/// Idempotency keys that are remembered. Beyond, the oldest is forgotten: who makes so many can bear it.
const KEYS_MAX: usize = 50_000;
/// Longest bank or move limit of a guest's game against a house bot: fifteen minutes are plenty for forty moves.
const GUEST_BANK_MS_MAX: u32 = 15 * 60_000;
/// Longest given opening: later, little of the game is left.
const OPENING_PLIES_MAX: u32 = 12;

/// Series that end when they are decided, by the games that they have at most: longer ones nobody plays in one go.
pub(crate) const BEST_OF: [u32; 2] = [3, 5];

/// One side of an offer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Party {
    pub(crate) identity: Identity,
    /// As others see it in the offer's variant, when the offer was made.
    pub(crate) shown: WirePlayer,
}

impl Party {
    /// Rating points in the offer's variant; guests have none.
    pub(crate) fn elo(&self) -> Option<i32> {
        self.shown.rating.map(|rating| rating.elo)
    }
}

/// One open offer.
#[derive(Clone, Debug)]
pub(crate) struct PendingChallenge {
    pub(crate) id: ChallengeId,
    pub(crate) from: Party,
    /// Who is asked; nobody in particular for an open offer.
    pub(crate) to: Option<Party>,
    /// What is offered, already checked.
    pub(crate) terms: Terms,
    /// When it ends by itself.
    pub(crate) expires: Instant,
    /// Whether it stands in the list of open offers.
    pub(crate) is_listed: bool,
    /// By which address its maker has found the site: who gets its link finds it there, too.
    pub(crate) site: Option<SiteOrigin>,
    /// The place of a link in its network's share.
    pub(crate) _place: Option<Arc<Held>>,
}

impl PendingChallenge {
    /// How long it stands.
    pub(crate) fn lasts(&self) -> Duration {
        let to = self.to.as_ref().map(|to| &to.identity);
        Challenges::expiry(&self.terms, &self.from.identity, to)
    }

    /// Whether it is stored: it stands for a day or longer, in which an arena may start anew.
    pub(crate) fn is_stored(&self) -> bool {
        self.to.is_none() || self.asks_by_correspondence()
    }

    /// Whether it asks somebody for a game by correspondence: neither of the two need be here for it to stand.
    pub(crate) fn asks_by_correspondence(&self) -> bool {
        let to = self.to.as_ref().map(|to| &to.identity);
        to.is_some_and(|to| is_by_correspondence(&self.terms, &self.from.identity, to))
    }
}

/// What a challenger asked for, before anything was completed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    /// Who is asked; nobody in particular for an open offer.
    pub(crate) to: Option<PlayerId>,
    pub(crate) terms: Terms,
    pub(crate) is_listed: bool,
}

/// All open offers. Looked up by player and by time, never by going through all of them: whoever fills the book with
/// links must not make the offers of others slow.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    open: BTreeMap<ChallengeId, PendingChallenge>,
    /// Those that a player made or is asked by: at most [`OFFERS_MAX`] and [`OFFERS_TO_MAX`] of each.
    by_player: HashMap<PlayerId, BTreeSet<ChallengeId>>,
    by_end: BTreeSet<End>,
    links: BTreeSet<End>,
    guest_links: BTreeSet<End>,
    /// At most [`LISTED_MAX`], and those of an earlier process.
    listed: BTreeSet<End>,
    keys: HashMap<ChallengeKey, (ChallengeId, Asked)>,
    /// The keys with the time until which they are remembered, in the order of these times.
    keys_by_age: VecDeque<(Instant, ChallengeKey)>,
    /// Places that are not free yet, of each player who was asked at most [`OFFERS_TO_MAX`], in the order of their
    /// times.
    taken_back: HashMap<PlayerId, VecDeque<TakenBack>>,
    /// Offers looked at so far.
    #[cfg(test)]
    looks: std::cell::Cell<usize>,
}

/// When an offer ends by itself, and which.
type End = (Instant, ChallengeId);

/// An offer that its maker took back.
#[derive(Clone, PartialEq, Eq, Debug)]
struct TakenBack {
    from: PlayerKind,
    /// When its place is free.
    until: Instant,
}

/// A key stands for something of its player only.
type ChallengeKey = (PlayerId, String);

/// What an idempotency key says about a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Repeated {
    /// It is new.
    No,
    /// It was made before; this is its offer.
    Yes(ChallengeId),
    /// The key stands for another request.
    Conflict,
}

impl Challenges {
    /// How long a link to a game with so much time stands.
    pub(crate) fn link_expiry(time: GameTime) -> Duration {
        if takes_days(time.control()) { CORRESPONDENCE_EXPIRY } else { LINK_EXPIRY }
    }

    /// How long an offer of these terms stands, to nobody in particular if `to` is missing.
    pub(crate) fn expiry(terms: &Terms, from: &Identity, to: Option<&Identity>) -> Duration {
        let Some(to) = to else { return Self::link_expiry(terms.time) };
        match to.kind {
            PlayerKind::Human if is_by_correspondence(terms, from, to) => CORRESPONDENCE_EXPIRY,
            PlayerKind::Bot => BOT_EXPIRY,
            PlayerKind::Human | PlayerKind::Guest => LIVE_EXPIRY,
        }
    }

    /// Whether this key was used by this player before.
    pub(crate) fn repeated(&self, from: &PlayerId, key: Option<&str>, asked: &Asked) -> Repeated {
        let Some(key) = key else { return Repeated::No };
        match self.keys.get(&(from.clone(), key.to_owned())) {
            None => Repeated::No,
            Some((id, known)) if known == asked => Repeated::Yes(id.clone()),
            Some(_) => Repeated::Conflict,
        }
    }

    pub(crate) fn insert(
        &mut self,
        challenge: PendingChallenge,
        key: Option<String>,
        asked: Asked,
        now: Instant,
    ) {
        if let Some(key) = key {
            let key = (challenge.from.identity.id.clone(), key);
            if self.keys.insert(key.clone(), (challenge.id.clone(), asked)).is_none() {
                self.keys_by_age.push_back((now + KEY_MEMORY, key));
            }
            self.forget_keys(|count, _| count > KEYS_MAX);
        }
        self.enter(challenge);
    }

    fn enter(&mut self, challenge: PendingChallenge) {
        let end = (challenge.expires, challenge.id.clone());
        for player in parties(&challenge) {
            self.by_player.entry(player.clone()).or_default().insert(challenge.id.clone());
        }
        if challenge.to.is_none() {
            self.links.insert(end.clone());
            if challenge.from.identity.kind == PlayerKind::Guest {
                self.guest_links.insert(end.clone());
            }
            if challenge.is_listed {
                self.listed.insert(end.clone());
            }
        }
        self.by_end.insert(end);
        self.open.insert(challenge.id.clone(), challenge);
    }

    /// Forgets the oldest keys while `forgotten` says so, of their number and the time of the oldest.
    fn forget_keys(&mut self, forgotten: impl Fn(usize, Instant) -> bool) {
        while let Some((until, _)) = self.keys_by_age.front()
            && forgotten(self.keys_by_age.len(), *until)
            && let Some((_, key)) = self.keys_by_age.pop_front()
        {
            self.keys.remove(&key);
        }
    }

    /// An offer that came to nothing before anybody heard of it, as if it had never been made.
    pub(crate) fn undo(&mut self, id: &ChallengeId, from: &PlayerId, key: Option<String>) {
        self.remove(id);
        if let Some(key) = key {
            let key = (from.clone(), key);
            self.keys.remove(&key);
            self.keys_by_age.retain(|(_, other)| *other != key);
        }
    }

    /// Guests who have made links that are open.
    pub(crate) fn guests_with_links(&self) -> BTreeSet<PlayerId> {
        let makers = self.guest_links.iter().filter_map(|(_, id)| self.open.get(id));
        makers.map(|challenge| challenge.from.identity.id.clone()).collect()
    }

    /// Looks at an offer.
    pub(crate) fn get(&self, id: &ChallengeId) -> Option<&PendingChallenge> {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        self.open.get(id)
    }

    /// Takes an offer out, for whatever reason.
    pub(crate) fn remove(&mut self, id: &ChallengeId) -> Option<PendingChallenge> {
        let challenge = self.open.remove(id)?;
        let end = (challenge.expires, id.clone());
        for ends in [&mut self.by_end, &mut self.links, &mut self.guest_links, &mut self.listed] {
            ends.remove(&end);
        }
        for player in parties(&challenge) {
            if let Some(ids) = self.by_player.get_mut(player) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_player.remove(player);
                }
            }
        }
        Some(challenge)
    }

    /// Takes out an offer that its maker wants back.
    pub(crate) fn take_back(&mut self, id: &ChallengeId, now: Instant) -> Option<PendingChallenge> {
        let challenge = self.remove(id)?;
        self.keep_place(&challenge, now);
        Some(challenge)
    }

    fn keep_place(&mut self, challenge: &PendingChallenge, now: Instant) {
        if let Some(to) = &challenge.to {
            let places = self.taken_back.entry(to.identity.id.clone()).or_default();
            places.push_back(TakenBack { from: challenge.from.identity.kind, until: now + TAKEN_BACK_FOR });
        }
    }

    /// Offers that a player made.
    pub(crate) fn made_by<'a>(
        &'a self,
        player: &'a PlayerId,
    ) -> impl Iterator<Item = &'a PendingChallenge> + 'a {
        self.of(player).filter(move |challenge| challenge.from.identity.id == *player)
    }

    /// Offers that wait for a player's answer.
    pub(crate) fn made_to<'a>(
        &'a self,
        player: &'a PlayerId,
    ) -> impl Iterator<Item = &'a PendingChallenge> + 'a {
        self.of(player)
            .filter(move |challenge| challenge.to.as_ref().is_some_and(|party| party.identity.id == *player))
    }

    /// Whether one more offer of a game by correspondence may be made to a player: one of each who asks.
    pub(crate) fn has_correspondence_place(&self, from: &PlayerId, to: &PlayerId) -> bool {
        let open = self.made_to(to).filter(|challenge| challenge.asks_by_correspondence());
        let makers: Vec<&PlayerId> = open.map(|challenge| &challenge.from.identity.id).collect();
        makers.len() < CORRESPONDENCE_OFFERS_TO_MAX && !makers.contains(&from)
    }

    /// Whether one more offer may be made to a player, by one of this kind; if not, when one may if nobody answers any
    /// before. Those by correspondence have [places of their own](Self::has_correspondence_place) too.
    pub(crate) fn has_place(&self, from: PlayerKind, to: &PlayerId, now: Instant) -> Result<(), Instant> {
        let open = self.made_to(to).filter(|challenge| !challenge.asks_by_correspondence());
        let open = open.map(|challenge| (challenge.expires, challenge.from.identity.kind));
        let taken_back = self.taken_back.get(to).into_iter().flatten();
        let count = open.chain(taken_back.map(|offer| (offer.until, offer.from)));
        let mut count: Vec<_> = count.filter(|(until, _)| *until > now).collect();
        count.sort_unstable_by_key(|(until, _)| *until);
        let mut free = place_free(&count, OFFERS_TO_MAX);
        if from == PlayerKind::Guest {
            count.retain(|(_, kind)| *kind == PlayerKind::Guest);
            free = free.max(place_free(&count, GUEST_OFFERS_TO_MAX));
        }
        free.map_or(Ok(()), Err)
    }

    /// How many links are open.
    pub(crate) fn count_links(&self) -> usize {
        self.links.len()
    }

    /// When the first of all links ends.
    pub(crate) fn first_link_ends(&self) -> Option<Instant> {
        self.links.first().map(|(end, _)| *end)
    }

    /// Links that a player made.
    pub(crate) fn links_of<'a>(
        &'a self,
        player: &'a PlayerId,
    ) -> impl Iterator<Item = &'a PendingChallenge> + 'a {
        self.made_by(player).filter(|challenge| challenge.to.is_none())
    }

    /// Offers that anyone may take, the newest first.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &PendingChallenge> {
        self.listed.iter().rev().filter_map(|(_, id)| self.get(id))
    }

    /// Whether one more offer of a player fits into the list; if not, when the first of those ends that are in its way.
    pub(crate) fn has_listed_place(&self, maker: &PlayerId) -> Result<(), Option<Instant>> {
        let own = self.links_of(maker).filter(|offer| offer.is_listed);
        let ends: Vec<Instant> = own.map(|offer| offer.expires).collect();
        if ends.len() >= LISTED_OF_ONE_MAX {
            return Err(ends.into_iter().min());
        }
        if self.listed.len() >= LISTED_MAX {
            return Err(self.listed.first().map(|(end, _)| *end));
        }
        Ok(())
    }

    /// Takes out the oldest link of a guest.
    pub(crate) fn remove_guest_link(&mut self) -> Option<PendingChallenge> {
        let (_, oldest) = self.guest_links.first()?.clone();
        self.remove(&oldest)
    }

    /// Offers that a player made or is asked by.
    pub(crate) fn of<'a>(&'a self, player: &'a PlayerId) -> impl Iterator<Item = &'a PendingChallenge> + 'a {
        self.by_player.get(player).into_iter().flatten().filter_map(|id| self.get(id))
    }

    /// Takes out what a player who is gone has offered to others. Links of accounts stay, and offers by correspondence:
    /// they are read when nobody is there. A guest may never come back.
    pub(crate) fn remove_from(&mut self, player: &PlayerId, now: Instant) -> Vec<PendingChallenge> {
        let goes = |challenge: &&PendingChallenge| {
            let waits = challenge.to.is_some() && !challenge.asks_by_correspondence();
            waits || challenge.from.identity.kind == PlayerKind::Guest
        };
        let ids: Vec<ChallengeId> = self.made_by(player).filter(goes).map(|offer| offer.id.clone()).collect();
        let removed: Vec<PendingChallenge> = ids.iter().filter_map(|id| self.remove(id)).collect();
        for challenge in &removed {
            self.keep_place(challenge, now);
        }
        removed
    }

    /// All that are open, when nothing else of it is wanted any more.
    pub(crate) fn into_open(self) -> impl Iterator<Item = PendingChallenge> {
        self.open.into_values()
    }

    /// Takes out what has expired.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<PendingChallenge> {
        self.forget_keys(|_, until| until <= now);
        self.taken_back.retain(|_, places| {
            while places.front().is_some_and(|offer| offer.until <= now) {
                places.pop_front();
            }
            !places.is_empty()
        });
        let mut expired = Vec::new();
        while let Some((end, id)) = self.by_end.first().cloned()
            && end <= now
        {
            match self.remove(&id) {
                Some(challenge) => expired.push(challenge),
                None => drop(self.by_end.pop_first()),
            }
        }
        expired
    }
}

/// When one of so many places is free, if none is: they are taken until these times, which are in their order.
fn place_free(taken: &[(Instant, PlayerKind)], places: usize) -> Option<Instant> {
    taken.get(taken.len().checked_sub(places)?).map(|(until, _)| *until)
}

/// Who made an offer, and who is asked.
fn parties(challenge: &PendingChallenge) -> impl Iterator<Item = &PlayerId> {
    let asked = challenge.to.as_ref().map(|to| &to.identity.id);
    std::iter::once(&challenge.from.identity.id).chain(asked)
}

/// Whether a game of these terms between these two is one by correspondence.
pub(crate) fn is_by_correspondence(terms: &Terms, from: &Identity, to: &Identity) -> bool {
    correspondence::is_played(terms.time.control(), BySide { first: from.kind, second: to.kind })
}

/// Checks terms, and completes them where the rules leave no choice.
///
/// Rated games between two bots are made pairs from a balanced opening, unless both have one owner and will be played
/// unrated. `to` is missing for an open offer.
///
/// # Errors
///
/// `bad_field` with the field that is not allowed.
pub(crate) fn check_terms(terms: &Terms, from: &Identity, to: Option<&Identity>) -> Result<Terms, WireError> {
    let mut terms = terms.clone();
    let both_bots = from.kind == PlayerKind::Bot && to.is_some_and(|to| to.kind == PlayerKind::Bot);
    if terms.rated && both_bots && to.is_none_or(|to| from.family() != to.family()) {
        terms.games = in_pairs(terms.games);
        if terms.opening.as_ref().is_none_or(|opening| opening.kind == OpeningKind::None) {
            terms.opening = balanced(terms.variant.0);
        }
    }
    let games = terms.games.number();
    if games != 1 && games % 2 == 1 && !BEST_OF.contains(&games) {
        let message =
            format!("games is 1, 3 or 5 for the better of them, or an even number up to {SERIES_MAX}");
        return Err(WireError::bad_field("games", message));
    }
    if is_beyond_a_day(terms.time.control()) {
        check_correspondence(&terms, from, to)?;
    }
    if terms.load && terms.rated {
        return Err(WireError::bad_field("load", "games that only put load on the arena are casual"));
    }
    if terms.private {
        check_private(&terms, from, to)?;
    }
    if terms.side == SideChoice::Opponent && to.is_some_and(|to| to.kind == PlayerKind::Bot) {
        return Err(WireError::bad_field("side", "side is first, second or random: a bot does not choose"));
    }
    if let Some(opening) = &terms.opening {
        terms.opening = Some(check_opening(opening, &terms, OPENING_PLIES_MAX)?);
    }
    Ok(terms)
}

/// Private games are casual, and between people: what of a rating nobody could look into is worth nothing, and bots
/// have owners, logs and lists of their own.
fn check_private(terms: &Terms, from: &Identity, to: Option<&Identity>) -> Result<(), WireError> {
    if terms.rated {
        return Err(WireError::bad_field("private", "private games are casual"));
    }
    if terms.load {
        return Err(WireError::bad_field("private", "games that only put load on the arena are not private"));
    }
    if [Some(from), to].into_iter().flatten().any(|player| player.kind == PlayerKind::Bot) {
        return Err(WireError::bad_field("private", "private games are between people"));
    }
    Ok(())
}

/// Games by correspondence are for people who have an account, one game at a time.
fn check_correspondence(terms: &Terms, from: &Identity, to: Option<&Identity>) -> Result<(), WireError> {
    if [Some(from), to].into_iter().flatten().any(|player| player.kind != PlayerKind::Human) {
        let message = "time.move_ms of more than a day is for games between people who have an account";
        return Err(WireError::bad_field("time.move_ms", message));
    }
    if terms.games.number() != 1 {
        return Err(WireError::bad_field("games", "games is 1 where a move may take more than a day"));
    }
    Ok(())
}

/// Offers in the list are of games by correspondence: nobody need be there to wait for whoever takes one. `player` is
/// who makes it, or takes it.
///
/// # Errors
///
/// `bad_field` if each move has less than a day, `forbidden` without an account.
pub(crate) fn check_listed(terms: &Terms, player: &Identity) -> Result<(), WireError> {
    if !takes_days(terms.time.control()) {
        return Err(WireError::bad_field("listed", "offers in the list have a day or more for each move"));
    }
    if terms.private {
        return Err(WireError::bad_field("private", "offers in the list are for everybody to see"));
    }
    if player.kind != PlayerKind::Human {
        let message = "offers in the list are made and taken by people who have an account";
        return Err(WireError::new(ErrorCode::Forbidden, message));
    }
    if terms.games.number() != 1 {
        return Err(WireError::bad_field("games", "games is 1 for offers in the list"));
    }
    Ok(())
}

/// As many games, or one more, so that both sides move first equally often.
fn in_pairs(games: SeriesLength) -> SeriesLength {
    const { assert!(SERIES_MAX.is_multiple_of(2), "the longest series is made of pairs") };
    SeriesLength::checked(games.number().next_multiple_of(2)).unwrap_or(games)
}

/// How long a guest's game against a house bot may take: nobody but the guest waits for it, and guests are made for
/// nothing.
///
/// # Errors
///
/// `bad_field` with the field that is over it.
pub(crate) fn check_guest_time(time: GameTime, from: &Identity) -> Result<(), WireError> {
    let time = time.control();
    let fields = [("time.bank_ms", time.bank_ms), ("time.move_ms", time.move_ms)];
    let too_long = fields.into_iter().find(|(_, ms)| ms.is_some_and(|ms| ms > GUEST_BANK_MS_MAX));
    match (from.kind, too_long) {
        (PlayerKind::Guest, Some((field, _))) => {
            let minutes = GUEST_BANK_MS_MAX / 60_000;
            let message = format!(
                "{field} is at most {GUEST_BANK_MS_MAX} ({minutes} minutes) for guests against bots of the house"
            );
            Err(WireError::bad_field(field, message))
        }
        (PlayerKind::Guest, None) | (PlayerKind::Human | PlayerKind::Bot, _) => Ok(()),
    }
}

/// Checks the terms of a game against a house bot, which is asked for nothing: it begins from any position.
///
/// # Errors
///
/// As [`check_terms`].
pub(crate) fn check_house_terms(terms: &Terms, from: &Identity, bot: &Identity) -> Result<Terms, WireError> {
    check_guest_time(terms.time, from)?;
    let opening =
        terms.opening.as_ref().map(|opening| check_opening(opening, terms, u32::MAX)).transpose()?;
    let terms = check_terms(&Terms { opening: None, ..terms.clone() }, from, Some(bot))?;
    Ok(Terms { opening: opening.or(terms.opening), ..terms })
}

/// A balanced opening where there are any.
fn balanced(variant: Variant) -> Option<WireOpening> {
    let known = !openings::balanced(variant).is_empty();
    known.then(|| WireOpening { kind: OpeningKind::Balanced, moves: String::new() })
}

fn check_opening(opening: &WireOpening, terms: &Terms, plies_max: u32) -> Result<WireOpening, WireError> {
    let bad = |message: &str| Err(WireError::bad_field("opening", message));
    match opening.kind {
        OpeningKind::None => Ok(WireOpening::default()),
        OpeningKind::Balanced if openings::balanced(terms.variant.0).is_empty() => {
            bad("there are no balanced openings for this variant")
        }
        OpeningKind::Balanced => Ok(WireOpening { kind: OpeningKind::Balanced, moves: String::new() }),
        OpeningKind::Given if terms.rated => bad("rated games have no given opening"),
        OpeningKind::Given => match Game::from_moves(terms.variant.0, &opening.moves) {
            Err(error) => bad(&error.to_string()),
            Ok(game) if game.outcome().is_some() => bad("the game is over after these moves"),
            Ok(game) if game.ply() > plies_max => bad(&format!("an opening has at most {plies_max} moves")),
            Ok(game) => Ok(WireOpening { kind: OpeningKind::Given, moves: game.notation() }),
        },
    }
}

/// Checks an idempotency key, which is stored with a link: not every database takes every control character.
///
/// # Errors
///
/// `bad_field` if it is too long, or has control characters.
pub(crate) fn check_key(key: Option<&str>) -> Result<(), WireError> {
    if key.is_some_and(|key| key.chars().count() > KEY_CHARS_MAX) {
        return Err(WireError::bad_field("key", format!("key has at most {KEY_CHARS_MAX} characters")));
    }
    if key.is_some_and(|key| key.chars().any(char::is_control)) {
        return Err(WireError::bad_field("key", "key has no control characters"));
    }
    Ok(())
}

/// The challenger's side. `coin` decides where it is left to chance.
pub(crate) fn side_of(choice: SideChoice, coin: bool) -> Side {
    let first = match choice {
        SideChoice::First => true,
        SideChoice::Second => false,
        // Whoever could have chosen and did not leaves it to chance.
        SideChoice::Random | SideChoice::Opponent => coin,
    };
    if first { Side::First } else { Side::Second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::TimeControl;
    use crate::protocol::terms::WireVariant;

    fn identity(name: &str, kind: PlayerKind) -> Identity {
        Identity { id: name.parse().unwrap(), name: name.parse().unwrap(), kind, owner: None }
    }

    fn party(name: &str) -> Party {
        let identity = identity(name, PlayerKind::Human);
        Party { shown: WirePlayer::new(&identity, None, None), identity }
    }

    fn terms() -> Terms {
        Terms {
            time: GameTime::new(TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None })
                .unwrap(),
            rated: false,
            variant: WireVariant::default(),
            opening: None,
            games: SeriesLength::default(),
            side: SideChoice::Random,
            load: false,
            private: false,
        }
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut Terms), field: &str) {
        let mut asked = terms();
        change(&mut asked);
        let error = check_terms(&asked, &identity("ann", PlayerKind::Human), None).unwrap_err();
        assert_eq!(error.field.as_deref(), Some(field));
    }

    fn given(moves: &str) -> WireOpening {
        WireOpening { kind: OpeningKind::Given, moves: moves.into() }
    }

    #[test]
    fn terms_out_of_range_are_refused_by_name() {
        check_refused(|t| t.games = SeriesLength::new(7), "games");
        check_refused(|t| t.games = SeriesLength::new(99), "games");
        check_refused(|t| (t.rated, t.load) = (true, true), "load");
        check_refused(|t| (t.rated, t.private) = (true, true), "private");
        check_refused(|t| (t.load, t.private) = (true, true), "private");
        check_refused(|t| t.opening = Some(given("8")), "opening");
        check_refused(|t| t.opening = Some(given("1212121")), "opening");
        check_refused(|t| t.opening = Some(given("1212343456567")), "opening");
        check_refused(
            |t| {
                t.rated = true;
                t.opening = Some(given("44"));
            },
            "opening",
        );
        check_refused(
            |t| {
                t.variant = WireVariant("6x6".parse().unwrap());
                t.opening = Some(WireOpening { kind: OpeningKind::Balanced, moves: String::new() });
            },
            "opening",
        );
    }

    #[test]
    fn private_games_are_between_people_and_not_for_everybody_to_take() {
        let private = Terms { private: true, ..terms() };
        let [ann, bot] =
            [("ann", PlayerKind::Human), ("six", PlayerKind::Bot)].map(|(name, kind)| identity(name, kind));
        assert!(check_terms(&private, &ann, None).unwrap().private);
        for (from, to) in [(&ann, Some(&bot)), (&bot, Some(&ann)), (&bot, None)] {
            let error = check_terms(&private, from, to).unwrap_err();
            assert_eq!(error.field.as_deref(), Some("private"));
        }
        let days = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(86_400_000) };
        let listed = Terms { time: GameTime::new(days).unwrap(), ..private };
        assert_eq!(check_listed(&listed, &ann).unwrap_err().field.as_deref(), Some("private"));
    }

    #[test]
    fn rated_games_between_bots_become_pairs_from_a_balanced_opening() {
        let asked = Terms { rated: true, ..terms() };
        let (ann, bob) = (identity("ann", PlayerKind::Bot), identity("bob", PlayerKind::Bot));
        let agreed = check_terms(&asked, &ann, Some(&bob)).unwrap();
        assert_eq!(agreed.games, SeriesLength::new(2));
        let most = check_terms(&Terms { games: SeriesLength::new(99), ..asked.clone() }, &ann, Some(&bob));
        assert_eq!(most.unwrap().games, SeriesLength::new(SERIES_MAX));
        assert_eq!(agreed.opening.map(|opening| opening.kind), Some(OpeningKind::Balanced));
        let with_person = check_terms(&asked, &ann, Some(&identity("eve", PlayerKind::Human))).unwrap();
        assert_eq!((with_person.games.number(), with_person.opening), (1, None));
    }

    #[test]
    fn rated_games_between_bots_of_one_owner_stay_as_asked() {
        let asked = Terms { rated: true, ..terms() };
        let owned =
            |name| Identity { owner: Some("eve".parse().unwrap()), ..identity(name, PlayerKind::Bot) };
        let agreed = check_terms(&asked, &owned("ann"), Some(&owned("bob"))).unwrap();
        assert_eq!((agreed.games.number(), agreed.opening), (1, None));
    }

    fn challenge(id: &str, to: Option<&str>, expires: Instant) -> PendingChallenge {
        PendingChallenge {
            id: id.parse().unwrap(),
            from: party("ann"),
            to: to.map(party),
            terms: terms(),
            expires,
            is_listed: false,
            site: None,
            _place: None,
        }
    }

    #[test]
    fn a_key_stands_for_one_request() {
        let mut challenges = Challenges::default();
        let (ann, now) = (identity("ann", PlayerKind::Human), Instant::now());
        let asked = Asked { to: None, terms: terms(), is_listed: false };
        let made = challenge("c1", None, now + LINK_EXPIRY);
        challenges.insert(made.clone(), Some("k".into()), asked.clone(), now);
        assert_eq!(challenges.repeated(&ann.id, Some("k"), &asked), Repeated::Yes(made.id));
        let other_terms = Asked { terms: Terms { games: SeriesLength::new(2), ..terms() }, ..asked.clone() };
        let other_player = Asked { to: Some("bob".parse().unwrap()), ..asked.clone() };
        for other in [&other_terms, &other_player] {
            assert_eq!(challenges.repeated(&ann.id, Some("k"), other), Repeated::Conflict);
        }
        assert_eq!(challenges.repeated(&ann.id, None, &asked), Repeated::No);
        challenges.expire(now + KEY_MEMORY);
        assert_eq!(challenges.repeated(&ann.id, Some("k"), &other_terms), Repeated::No);
    }

    #[test]
    fn offers_go_with_their_player_and_links_with_time_only() {
        let mut challenges = Challenges::default();
        let (now, ann) = (Instant::now(), "ann".parse().unwrap());
        for (id, to, lasts) in
            [("c1", Some("bob"), LIVE_EXPIRY), ("c2", Some("bob"), BOT_EXPIRY), ("c3", None, LINK_EXPIRY)]
        {
            let to_id = to.map(|name| name.parse().unwrap());
            let asked = Asked { to: to_id, terms: terms(), is_listed: false };
            challenges.insert(challenge(id, to, now + lasts), None, asked, now);
        }
        assert_eq!(challenges.expire(now + LIVE_EXPIRY).len(), 1);
        assert_eq!(challenges.remove_from(&ann, now).len(), 1);
        assert_eq!(challenges.made_by(&ann).count(), 1);
        assert_eq!(challenges.expire(now + LINK_EXPIRY).len(), 1);
    }

    #[test]
    fn the_links_of_guests_go_first() {
        let (mut challenges, now) = (Challenges::default(), Instant::now());
        let links =
            [("c1", PlayerKind::Human, 1), ("c2", PlayerKind::Guest, 3), ("c3", PlayerKind::Guest, 2)];
        for (id, kind, hours) in links {
            let mut made = challenge(id, None, now + Duration::from_hours(hours));
            made.from.identity.kind = kind;
            challenges.insert(made, None, Asked { to: None, terms: terms(), is_listed: false }, now);
        }
        let ann = "ann".parse().unwrap();
        assert_eq!(challenges.links_of(&ann).count(), 3);
        assert_eq!(challenges.first_link_ends(), Some(now + Duration::from_hours(1)));
        assert_eq!(challenges.remove_guest_link().unwrap().id.as_str(), "c3", "the oldest");
        assert_eq!(challenges.remove_from(&ann, now).len(), 1, "a guest's goes with its guest");
        assert!(challenges.remove_guest_link().is_none());
        assert_eq!(challenges.count_links(), 1);
    }

    #[test]
    fn offers_to_everybody_have_their_places_until_they_end() {
        let (mut challenges, now) = (Challenges::default(), Instant::now());
        let (ann, bob): (PlayerId, PlayerId) = ("ann".parse().unwrap(), "bob".parse().unwrap());
        let ends = now + CORRESPONDENCE_EXPIRY;
        for number in 0..LISTED_OF_ONE_MAX {
            assert_eq!(challenges.has_listed_place(&ann), Ok(()));
            let made = PendingChallenge { is_listed: true, ..challenge(&format!("c{number}"), None, ends) };
            challenges.insert(made, None, Asked { to: None, terms: terms(), is_listed: true }, now);
        }
        assert_eq!(challenges.has_listed_place(&ann), Err(Some(ends)));
        assert_eq!(challenges.has_listed_place(&bob), Ok(()));
        assert_eq!(challenges.listed().count(), LISTED_OF_ONE_MAX);
        assert_eq!(challenges.expire(ends).len(), LISTED_OF_ONE_MAX);
        assert_eq!((challenges.listed().count(), challenges.listed.len()), (0, 0));
    }

    #[test]
    fn an_offer_costs_the_same_however_many_are_open() {
        let (mut challenges, now) = (Challenges::default(), Instant::now());
        let others = (0..LINKS_MAX).map(|number| (format!("l{number}"), None));
        let asked = (0..1_000).map(|number| (format!("o{number}"), Some(format!("p{number}"))));
        for (id, to) in others.chain(asked) {
            let mut made = challenge(&id, to.as_deref(), now + LINK_EXPIRY);
            made.from = party(&format!("m{id}"));
            challenges.insert(made, None, Asked { to: None, terms: terms(), is_listed: false }, now);
        }
        let (ann, bob): (PlayerId, PlayerId) = ("ann".parse().unwrap(), "bob".parse().unwrap());
        challenges.insert(
            challenge("c", Some("bob"), now),
            None,
            Asked { to: None, terms: terms(), is_listed: false },
            now,
        );
        challenges.looks.set(0);
        assert_eq!((challenges.made_by(&ann).count(), challenges.count_links()), (1, LINKS_MAX));
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, now), Ok(()));
        assert_eq!(challenges.expire(now).len(), 1);
        assert_eq!(challenges.remove_from(&ann, now).len(), 0);
        assert!(challenges.looks.get() <= 4, "{} offers were looked at", challenges.looks.get());
        assert_eq!(challenges.expire(now + LINK_EXPIRY).len(), LINKS_MAX + 1_000);
        let left = (challenges.by_player.len(), challenges.by_end.len(), challenges.links.len());
        assert_eq!((left, challenges.open.len()), ((0, 0, 0), 0));
    }

    #[test]
    fn guests_leave_room_for_offers_of_others() {
        let (mut challenges, now) = (Challenges::default(), Instant::now());
        let bob: PlayerId = "bob".parse().unwrap();
        let mut count = 0;
        let mut offer = |challenges: &mut Challenges, kind: PlayerKind| {
            count += 1;
            let mut made = challenge(&format!("c{count}"), Some("bob"), now + LIVE_EXPIRY);
            made.from.identity.kind = kind;
            let asked = Asked { to: Some(bob.clone()), terms: terms(), is_listed: false };
            challenges.insert(made.clone(), None, asked, now);
            made.id
        };
        let made: Vec<ChallengeId> =
            (0..GUEST_OFFERS_TO_MAX).map(|_| offer(&mut challenges, PlayerKind::Guest)).collect();
        let ends = now + LIVE_EXPIRY;
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, now), Err(ends));
        assert_eq!(challenges.has_place(PlayerKind::Guest, &"eve".parse().unwrap(), now), Ok(()));
        let later = now + Duration::from_secs(3);
        challenges.take_back(&made[0], later).unwrap();
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, later), Err(ends), "it keeps its place");
        challenges.remove(&made[1]).unwrap();
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, now), Ok(()), "answered, its place is free");
        for _ in GUEST_OFFERS_TO_MAX..=OFFERS_TO_MAX {
            assert_eq!(challenges.has_place(PlayerKind::Human, &bob, now), Ok(()));
            offer(&mut challenges, PlayerKind::Human);
        }
        assert_eq!(challenges.has_place(PlayerKind::Bot, &bob, now), Err(ends));
        challenges.expire(later + TAKEN_BACK_FOR);
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, later + TAKEN_BACK_FOR), Ok(()));
        assert!(challenges.taken_back.is_empty());
    }

    #[test]
    fn whoever_finds_no_place_is_told_when_the_first_is_free() {
        let (mut challenges, now) = (Challenges::default(), Instant::now());
        let bob: PlayerId = "bob".parse().unwrap();
        let after = |seconds: u64| now + Duration::from_secs(seconds);
        let mut offer = |number: u64, kind: PlayerKind| {
            let mut made = challenge(&format!("c{number}"), Some("bob"), after(number) + LIVE_EXPIRY);
            made.from.identity.kind = kind;
            let asked = Asked { to: Some(bob.clone()), terms: terms(), is_listed: false };
            challenges.insert(made.clone(), None, asked, now);
            challenges.take_back(&made.id, after(number)).unwrap();
        };
        (0..8).for_each(|number| offer(number, PlayerKind::Human));
        (8..16).for_each(|number| offer(number, PlayerKind::Guest));
        assert_eq!(challenges.has_place(PlayerKind::Human, &bob, after(15)), Err(after(20)));
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, after(15)), Err(after(28)), "of guests");
        assert_eq!(challenges.has_place(PlayerKind::Human, &bob, after(20)), Ok(()));
        assert_eq!(challenges.has_place(PlayerKind::Guest, &bob, after(28)), Ok(()));
    }
}
