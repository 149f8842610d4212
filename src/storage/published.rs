//! What the published ratings are made of, and how they are stored.

use fourfold_engine::{BySide, Variant, WinDrawLoss};

use super::record::{GamePair, StoredGame, UnratedReason};
use crate::model::ids::{GameId, PlayerId};
use crate::model::population::Population;
use crate::model::rating::elo::{MilliElo, RatingEntry};
use crate::model::result::GameResult;
use crate::model::time::UnixMillis;

/// A game that moved ratings: what statistics need of it, without its events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RatedGame {
    /// Place among all finished games.
    pub(crate) number: u64,
    pub(crate) id: GameId,
    pub(crate) variant: Variant,
    pub(crate) players: BySide<PlayerId>,
    /// The series it belongs to.
    pub(crate) pair: Option<GamePair>,
    /// How many of the moves are the opening's.
    pub(crate) opening_plies: usize,
    /// All moves, the opening's included.
    pub(crate) moves: String,
    pub(crate) result: GameResult,
    /// When it ended, by the wall clock.
    pub(crate) ended_at: UnixMillis,
    /// What became of both ratings.
    pub(crate) ratings: BySide<RatingEntry>,
}

impl RatedGame {
    /// A finished game, if it moved ratings.
    pub(crate) fn of(game: &StoredGame) -> Option<Self> {
        let settlement = game.settlement.as_ref()?;
        Some(Self {
            number: settlement.number,
            id: game.spec.id.clone(),
            variant: game.spec.variant,
            players: game.spec.players.clone(),
            pair: game.spec.pair.clone(),
            opening_plies: game.spec.opening.moves.len(),
            moves: game.moves(),
            result: game.ending()?.result,
            ended_at: game.last_change(),
            ratings: settlement.ratings?,
        })
    }
}

/// A game by correspondence that was to be rated and has ended: what its ratings need of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CorrespondenceResult {
    /// Place among all finished games.
    pub(crate) number: u64,
    pub(crate) variant: Variant,
    pub(crate) players: BySide<PlayerId>,
    /// All moves, the opening's included.
    pub(crate) moves: String,
    pub(crate) result: GameResult,
}

impl CorrespondenceResult {
    /// A finished game, if it is such a one.
    pub(crate) fn of(game: &StoredGame) -> Option<Self> {
        let settlement = game.settlement.as_ref()?;
        if settlement.unrated_because != Some(UnratedReason::Correspondence) {
            return None;
        }
        Some(Self {
            number: settlement.number,
            variant: game.spec.variant,
            players: game.spec.players.clone(),
            moves: game.moves(),
            result: game.ending()?.result,
        })
    }
}

/// A row of a player's crosstable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Against {
    pub(crate) opponent: PlayerId,
    /// As the player sees them: games in which it moved first, and the others.
    pub(crate) score: BySide<WinDrawLoss>,
}

/// A stored rating of a joint fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PublishedRating {
    pub(crate) variant: Variant,
    /// Whose games were fitted; people have no fit of their own.
    pub(crate) population: Population,
    pub(crate) player: PlayerId,
    pub(crate) elo: MilliElo,
    /// Its standard error, in thousandths of a point.
    pub(crate) error: u64,
    pub(crate) games: u64,
}

/// All joint fits at one point of the records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Publication {
    /// The revision of the records that they rest on: see [`super::ratings::RatingStore::publication`].
    pub(crate) revision: u64,
    /// Number of the last finished game that they rest on; `None` if nothing is stored.
    pub(crate) up_to: Option<u64>,
    /// By variant, list and player.
    pub(crate) ratings: Vec<PublishedRating>,
}

impl Publication {
    /// Puts the ratings in their order.
    pub(crate) fn sort(&mut self) {
        let key =
            |rating: &PublishedRating| (rating.variant.to_string(), rating.population, rating.player.clone());
        self.ratings.sort_by_cached_key(key);
    }
}

/// A game that an operator took out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VoidedGame {
    pub(crate) game: GameId,
    pub(crate) reason: String,
    pub(crate) at: UnixMillis,
}
