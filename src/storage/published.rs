//! What the published ratings are made of, and how they are stored.

use fourfold_engine::{BySide, Variant, WinDrawLoss};

use super::record::GamePair;
use super::record::StoredGame;
use crate::model::ids::{GameId, PlayerId};
use crate::model::population::Population;
use crate::model::rating::elo::{MilliElo, RatingEntry};
use crate::model::result::GameResult;
use crate::model::time::UnixMillis;

/// A game that moved ratings: what statistics need of it, without its events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RatedGame {
    /// Place among all finished games.
    pub number: u64,
    pub id: GameId,
    pub variant: Variant,
    pub players: BySide<PlayerId>,
    /// The series it belongs to.
    pub pair: Option<GamePair>,
    /// How many of the moves are the opening's.
    pub opening_plies: usize,
    /// All moves, the opening's included.
    pub moves: String,
    pub result: GameResult,
    /// What became of both ratings.
    pub ratings: BySide<RatingEntry>,
}

impl RatedGame {
    /// A finished game, if it moved ratings.
    pub fn of(game: &StoredGame) -> Option<Self> {
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
            ratings: settlement.ratings?,
        })
    }
}

/// A row of a player's crosstable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Against {
    pub opponent: PlayerId,
    /// As the player sees them: games in which it moved first, and the others.
    pub score: BySide<WinDrawLoss>,
}

impl Against {
    /// Rated games.
    pub fn games(&self) -> u64 {
        self.score.sum().games()
    }
}

/// A stored rating of a joint fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublishedRating {
    pub variant: Variant,
    /// Whose games were fitted; people have no fit of their own.
    pub population: Population,
    pub player: PlayerId,
    pub elo: MilliElo,
    /// Its standard error, in thousandths of a point.
    pub error: u64,
    pub games: u64,
}

/// All joint fits at one point of the records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Publication {
    /// The revision of the records that they rest on: see [`super::Store::publication`].
    pub revision: u64,
    /// Number of the last finished game that they rest on; `None` if nothing is stored.
    pub up_to: Option<u64>,
    /// By variant, list and player.
    pub ratings: Vec<PublishedRating>,
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
    pub game: GameId,
    pub reason: String,
    pub at: UnixMillis,
}
