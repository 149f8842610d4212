//! What a game is to be, checked and completed: places, ratings, the opening.

use std::sync::PoisonError;

use fourfold_engine::{BySide, Variant, openings};

use super::aborts::{Aborter, PERIOD};
use super::{Host, StartError};
use crate::model::clock::{TimeControl, now};
use crate::model::ids::{GameId, PlayerId};
use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::model::rating::newcomers::Footing;
use crate::play::correspondence;
use crate::play::host::admission::may_play_rated;
use crate::play::host::admission::{GUEST_GAMES_MAX, Requirement};
use crate::play::house_program::NotFree;
use crate::play::room::directory::GamesTaken;
use crate::play::room::view::SeatedPlayer;

use crate::model::player::{OpponentKind, PlayerKind};
use crate::storage::record::{GamePair, GameSpec, OpeningSource, UnratedReason};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::store::StoreError;
use crate::system::shares::{Held, Share};

/// Rated games of a pair are counted over this time, in milliseconds.
const PAIR_LIMIT_PERIOD_MS: i64 = 24 * 3_600 * 1_000;

/// A game that is to begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GameOffer {
    pub(crate) players: BySide<Identity>,
    pub(crate) variant: Variant,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// Whether ratings should change.
    pub(crate) rated: bool,
    /// The moves on the board; a balanced opening is drawn if it names none.
    pub(crate) opening: OpeningSource,
    /// The series it belongs to.
    pub(crate) pair: Option<GamePair>,
    /// Who had the idea.
    pub(crate) origin: Origin,
    /// How fast a bot of the house answers a person.
    pub(crate) pace: BotPace,
}

impl GameOffer {
    /// Whether its players have days for each move.
    pub(super) fn is_correspondence(&self) -> bool {
        correspondence::is_played(self.time, self.players.as_ref().map(|player| player.kind))
    }
}

/// Who had the idea of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The players: limits count.
    Players,
    /// The players as well, who only put load on the arena.
    Load,
    /// The players, who want it in no list.
    Private,
    /// The ladder: it has its own measure.
    Ladder(Tempo),
    /// A tournament, which its operator has ordered.
    Tournament(Tempo),
    /// An earlier game of the same series: what was begun is played to its end, and counts as that game did.
    Series {
        /// Why the earlier game was not rated though it was asked for.
        unrated_because: Option<UnratedReason>,
    },
}

/// How fast bots of the house move among themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tempo {
    /// So that people can follow.
    Watchable,
    /// As fast as they think.
    Brisk,
}

impl Origin {
    /// How fast it is to be played, for all games of the series; nothing said for the people's own.
    pub(super) fn tempo(self) -> Option<Tempo> {
        match self {
            Self::Ladder(tempo) | Self::Tournament(tempo) => Some(tempo),
            Self::Players | Self::Load | Self::Private | Self::Series { .. } => None,
        }
    }

    /// Why nothing is to be made of the game, whatever its players ask for.
    fn left_out_because(self) -> Option<UnratedReason> {
        match self {
            Self::Load => Some(UnratedReason::Load),
            Self::Private => Some(UnratedReason::Private),
            Self::Series { unrated_because } => unrated_because
                .filter(|because| matches!(because, UnratedReason::Load | UnratedReason::Private)),
            Self::Players | Self::Ladder(_) | Self::Tournament(_) => None,
        }
    }
}

impl Host {
    /// Takes places in both players' limits until the game is in the directory.
    pub(super) fn reserve(&self, offer: &GameOffer) -> Result<Reservation, StartError> {
        let GameOffer { players, origin, .. } = offer;
        let deps = &self.inner.deps;
        if offer.is_correspondence() {
            self.check_correspondence(offer)?;
        }
        let mut starting = self.inner.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if deps.directory.count() + starting.games >= deps.games_max {
            return Err(StartError::ArenaFull);
        }
        for (player, other) in [(&players.first, &players.second), (&players.second, &players.first)] {
            if deps.house.get(&player.id).is_some() {
                continue;
            }
            let begins = starting.by_player.get(&player.id).copied().unwrap_or_default();
            let taken = deps.directory.games_taken(&player.id) + begins;
            if player.kind == PlayerKind::Guest && taken.all >= GUEST_GAMES_MAX as usize {
                return Err(StartError::GuestBusy { name: player.name.to_string() });
            }
            let has_place = match origin {
                _ if offer.is_correspondence() => !deps.sessions.is_draining(&player.id),
                Origin::Players
                | Origin::Load
                | Origin::Private
                | Origin::Ladder(_)
                | Origin::Tournament(_) => deps.sessions.has_place(&player.id, taken, other.kind.into()),
                // Whoever has left, or wants no new games, plays no next one either.
                Origin::Series { .. } => deps.sessions.is_staying(&player.id),
            };
            if !has_place {
                return Err(StartError::PlayerBusy { name: player.name.to_string() });
            }
        }
        let places = [(&players.first, &players.second), (&players.second, &players.first)]
            .map(|(player, other)| (player.id.clone(), OpponentKind::from(other.kind)));
        starting.games += 1;
        for (id, opponent) in &places {
            starting.by_player.entry(id.clone()).or_default().add(*opponent);
        }
        Ok(Reservation { host: self.clone(), places })
    }

    /// Whether both may have one more game that goes on for weeks. Two that begin at once may exceed the limit by one:
    /// it is there for the arena's memory, not for the players.
    fn check_correspondence(&self, offer: &GameOffer) -> Result<(), StartError> {
        for player in [&offer.players.first, &offer.players.second] {
            if self.inner.deps.directory.correspondence_of(&player.id).len() >= correspondence::GAMES_MAX {
                return Err(StartError::CorrespondenceBusy { name: player.name.to_string() });
            }
        }
        Ok(())
    }

    /// Takes the game out of the shares of its players' networks, and places there until it ends. What nobody asked for
    /// by a message is measured elsewhere: ladder, tournaments, the later games of a series.
    pub(super) fn hold_shares(&self, offer: &GameOffer) -> Result<Vec<Held>, StartError> {
        match offer.origin {
            Origin::Players | Origin::Load | Origin::Private => {}
            Origin::Ladder(_) | Origin::Tournament(_) | Origin::Series { .. } => return Ok(Vec::new()),
        }
        let deps = &self.inner.deps;
        let mut held = Vec::new();
        for player in [&offer.players.first, &offer.players.second] {
            self.check_patience(player)?;
            let Some(payer) = deps.sessions.payer(&player.id) else { continue };
            let refused = |refusal| StartError::Share { name: player.name.to_string(), refusal };
            // A game by correspondence takes none of the places at the boards.
            if !offer.is_correspondence() {
                held.push(deps.shares.hold(Share::Game, &payer).map_err(refused)?);
            }
            deps.shares.spend(Share::Game, &payer).map_err(refused)?;
        }
        Ok(held)
    }

    /// Whether a player may begin another game, or has aborted too many.
    ///
    /// # Errors
    ///
    /// [`StartError::Aborted`] with the time until then.
    pub(crate) fn check_patience(&self, player: &Identity) -> Result<(), StartError> {
        let wait = self.aborts().pause(&self.aborter(player), now());
        if wait.is_zero() { Ok(()) } else { Err(StartError::Aborted { name: player.name.to_string(), wait }) }
    }

    /// A player has aborted a game.
    pub(super) fn note_abort(&self, player: &Identity) {
        let aborter = self.aborter(player);
        self.aborts().note(aborter, now());
    }

    /// A player has left a game.
    pub(super) fn note_left(&self, player: &Identity) {
        let aborter = self.aborter(player);
        self.aborts().note_left(aborter, now());
    }

    /// Counts what was aborted and left before this process began; not of guests, whose networks are not stored.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn remember_departures(&self) -> Result<(), StoreError> {
        let (at, began) = (UnixMillis::now(), now());
        let since = UnixMillis(at.0.saturating_sub(i64::try_from(PERIOD.as_millis()).unwrap_or(i64::MAX)));
        for (player, left_at) in self.inner.deps.store.departures(since).await? {
            // A machine that runs for less than that has no such moment.
            if let Some(when) = began.checked_sub(at.after(left_at)) {
                self.aborts().note_left(Aborter::Player(player), when);
            }
        }
        Ok(())
    }

    fn aborter(&self, player: &Identity) -> Aborter {
        let deps = &self.inner.deps;
        let network = || deps.shares.counted(deps.sessions.payer(&player.id)?.address);
        let network = (player.kind == PlayerKind::Guest).then(network).flatten();
        network.map_or_else(|| Aborter::Player(player.id.clone()), Aborter::GuestsOf)
    }

    /// Whether the programs of the operator's that are to play can play one more game. What was begun is played to its
    /// end: the next game of a series waits for a process, if it must.
    pub(super) fn check_programs(&self, offer: &GameOffer) -> Result<(), StartError> {
        if matches!(offer.origin, Origin::Series { .. }) {
            return Ok(());
        }
        for player in [&offer.players.first, &offer.players.second] {
            let house_bot = self.inner.deps.house.get(&player.id);
            let Some(program) = house_bot.as_ref().and_then(|bot| bot.program()) else { continue };
            let name = player.name.to_string();
            program.check_free(now()).map_err(|not_free| match not_free {
                NotFree::Busy => StartError::PlayerBusy { name },
                NotFree::Paused(wait) => StartError::ProgramPaused { name, wait },
            })?;
        }
        Ok(())
    }

    /// Where the operator asks for it: remote bots play rated games when their version has passed the self-test. What
    /// was begun is played to its end.
    pub(super) async fn check_tested(&self, offer: &GameOffer) -> Result<(), StartError> {
        match offer.origin {
            Origin::Players | Origin::Ladder(_) if offer.rated => {
                self.may_play_rated(&offer.players.first).await?;
                self.may_play_rated(&offer.players.second).await
            }
            // Who plays in a tournament is its operator's choice.
            Origin::Players
            | Origin::Load
            | Origin::Private
            | Origin::Ladder(_)
            | Origin::Tournament(_)
            | Origin::Series { .. } => Ok(()),
        }
    }

    /// Whether this player may play rated games, as far as the self-test is concerned.
    ///
    /// # Errors
    ///
    /// [`StartError::Untested`], or the store failed.
    pub(crate) async fn may_play_rated(&self, player: &Identity) -> Result<(), StartError> {
        let deps = &self.inner.deps;
        let is_remote = player.kind == PlayerKind::Bot && deps.house.get(&player.id).is_none();
        if deps.self_test == Requirement::Optional || !is_remote {
            return Ok(());
        }
        Ok(may_play_rated(deps.store.as_ref(), &deps.sessions, player).await??)
    }

    pub(super) async fn prepare(
        &self,
        offer: GameOffer,
    ) -> Result<(GameSpec, BySide<SeatedPlayer>), StartError> {
        let first = self.seated(offer.players.first.clone(), offer.variant).await?;
        let second = self.seated(offer.players.second.clone(), offer.variant).await?;
        let players = BySide { first, second };
        let unrated_because = self.unrated_because(&offer).await?;
        let rated = offer.rated && unrated_because.is_none();
        let footing = if rated { Some(self.footing(&offer.players).await?) } else { None };
        let id = GameId::random(&mut chance());
        let opening = drawn_opening(&offer, &id);
        let spec = GameSpec {
            players: players.as_ref().map(|player| player.identity.id.clone()),
            id,
            variant: offer.variant,
            time: offer.time,
            rated,
            unrated_because,
            footing,
            versions: players.as_ref().map(version_of),
            opening,
            pair: offer.pair,
            started_at: UnixMillis::now(),
        };
        Ok((spec, players))
    }

    pub(super) async fn seated(
        &self,
        identity: Identity,
        variant: Variant,
    ) -> Result<SeatedPlayer, StartError> {
        let deps = &self.inner.deps;
        let identity = deps
            .accounts
            .ensure_guest_stored(&identity)
            .await
            .map_err(|error| StartError::Store(Box::new(error)))?;
        let rating = self.inner.ratings.of(deps.store.as_ref(), &identity, variant).await?;
        Ok(SeatedPlayer { version: self.version_of(&identity.id), identity, rating })
    }

    /// Which version of a bot plays: that of the house is ours.
    pub(super) fn version_of(&self, player: &PlayerId) -> Option<String> {
        let deps = &self.inner.deps;
        match deps.house.get(player) {
            Some(_) => Some(env!("CARGO_PKG_VERSION").to_owned()),
            None => deps.sessions.version_of(player),
        }
    }

    /// Whether two people play from one network: they may be one person. Bots have owners, which is looked at apart.
    fn share_an_address(&self, first: &Identity, second: &Identity) -> bool {
        if [first, second].iter().any(|player| player.kind != PlayerKind::Human) {
            return false;
        }
        let deps = &self.inner.deps;
        let network = |player: &Identity| deps.shares.counted(deps.sessions.payer(&player.id)?.address);
        network(first).is_some_and(|one| network(second) == Some(one))
    }

    /// Who is young, for what either may gain.
    async fn footing(&self, players: &BySide<Identity>) -> Result<BySide<Footing>, StartError> {
        let first = self.footing_of(&players.first).await?;
        let second = self.footing_of(&players.second).await?;
        Ok(BySide { first, second })
    }

    async fn footing_of(&self, player: &Identity) -> Result<Footing, StartError> {
        let deps = &self.inner.deps;
        if deps.house.get(&player.id).is_some() {
            return Ok(Footing::House);
        }
        let stored = deps.store.player(&player.id).await?;
        // Whom nobody has stored was never there before.
        let young = Footing::Young;
        Ok(stored.map_or(young, |stored| Footing::of_account(stored.created_at, UnixMillis::now())))
    }

    /// Why a game is not rated though it was asked for, or does not count at all.
    async fn unrated_because(&self, offer: &GameOffer) -> Result<Option<UnratedReason>, StoreError> {
        if let Some(because) = offer.origin.left_out_because() {
            return Ok(Some(because));
        }
        if !offer.rated {
            return Ok(None);
        }
        let BySide { first, second } = &offer.players;
        if first.kind == PlayerKind::Guest || second.kind == PlayerKind::Guest {
            return Ok(Some(UnratedReason::Guest));
        }
        if self.share_an_address(first, second) {
            return Ok(Some(UnratedReason::SameAddress));
        }
        if first.family() == second.family() && self.inner.deps.house.get(&first.id).is_none() {
            return Ok(Some(UnratedReason::SameOwner));
        }
        match offer.origin {
            Origin::Ladder(_) | Origin::Tournament(_) => return Ok(None),
            Origin::Series { unrated_because } => return Ok(unrated_because),
            Origin::Players | Origin::Load | Origin::Private => {}
        }
        if offer.is_correspondence() {
            return Ok(Some(UnratedReason::Correspondence));
        }
        let since = UnixMillis(UnixMillis::now().0 - PAIR_LIMIT_PERIOD_MS);
        let pair = BySide { first: first.id.clone(), second: second.id.clone() };
        let played = self.inner.deps.store.rated_games_between(&pair, since).await?;
        Ok((played >= self.inner.deps.pair_limit).then_some(UnratedReason::PairLimit))
    }
}

/// Places in players' limits, given back when the game is listed or has failed to begin.
pub(super) struct Reservation {
    host: Host,
    /// Whose, and against which sort of opponent.
    places: [(PlayerId, OpponentKind); 2],
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut starting = self.host.inner.starting.lock().unwrap_or_else(PoisonError::into_inner);
        starting.games -= 1;
        for (id, opponent) in &self.places {
            if let Some(begins) = starting.by_player.get_mut(id) {
                begins.remove(*opponent);
                if *begins == GamesTaken::default() {
                    starting.by_player.remove(id);
                }
            }
        }
    }
}

/// What a bot calls the version that sits down.
fn version_of(player: &SeatedPlayer) -> Option<Box<str>> {
    player.version.as_deref().filter(|version| !version.is_empty()).map(Into::into)
}

/// Draws a balanced opening where one is wanted and none is named yet.
///
/// The seed is the series' id, so the draw can be repeated from the record; without a series it is the game's.
fn drawn_opening(offer: &GameOffer, game: &GameId) -> OpeningSource {
    if offer.opening.kind != OpeningKind::Balanced || !offer.opening.moves.is_empty() {
        return offer.opening.clone();
    }
    let seed = offer.pair.as_ref().map_or(game.as_str(), |pair| pair.id.as_str());
    let index = offer.pair.as_ref().map_or(0, |pair| u64::from(pair.leg / 2));
    match openings::draw(offer.variant, seed_of(seed), index) {
        Some(opening) => OpeningSource { kind: OpeningKind::Balanced, moves: opening.notation() },
        None => OpeningSource::default(),
    }
}

/// FNV-1a of an id: any stable spread of 64 bits will do, and this one fits on two lines.
fn seed_of(id: &str) -> u64 {
    id.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
