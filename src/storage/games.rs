//! What is read of games.

use std::collections::HashMap;

use async_trait::async_trait;
use fourfold_engine::{BySide, Variant};

use super::error::StoreError;
use super::filter::RecordFilter;
use super::record::{DamagedGame, GameSpec, StoredGame};
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PairId, PlayerId};
use crate::model::rating::elo::RatingEntry;
use crate::model::result::GameResult;
use crate::model::time::UnixMillis;

/// Which finished games to read, in the order in which they finished.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameQuery {
    /// Only games of this player.
    pub player: Option<PlayerId>,
    /// Only games that ended at or after this time.
    pub since: Option<UnixMillis>,
    /// Only games with a higher number (ascending), or with a lower one (descending).
    pub after: Option<u64>,
    /// The newest first instead of the oldest.
    pub newest_first: bool,
    /// At most so many.
    pub limit: u32,
    /// Whether what bots thought is needed.
    pub notes: Notes,
    /// For whom: of private games nobody hears but their players.
    pub seen_by: SeenBy,
}

/// What bots thought about their moves, which few ask for and which takes a while to unpack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Notes {
    /// It may be there or not.
    #[default]
    Spared,
    /// All that is kept of it.
    Read,
}

/// Who is shown what is read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SeenBy {
    /// The arena itself, or its operator: all there is.
    #[default]
    Arena,
    /// Everybody: no private games.
    Everybody,
    /// This player: private games too if they are the player's own.
    Player(PlayerId),
}

impl SeenBy {
    /// As the statements of the back ends take it: nothing for all games, else who may see private ones, whom nobody is
    /// called like if that is nobody.
    pub(super) fn bound(&self) -> Option<&str> {
        match self {
            Self::Arena => None,
            Self::Everybody => Some(""),
            Self::Player(player) => Some(player.as_str()),
        }
    }

    /// Whether it may be shown this game.
    pub(crate) fn may_see(&self, spec: &GameSpec) -> bool {
        match self {
            Self::Arena => true,
            Self::Everybody => !spec.is_private(),
            Self::Player(player) => {
                !spec.is_private() || [&spec.players.first, &spec.players.second].contains(&player)
            }
        }
    }
}

/// Which finished games to choose, the newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GamesWanted {
    /// Only games of this player.
    pub player: Option<PlayerId>,
    /// Only games that ended at or after this time.
    pub since: Option<UnixMillis>,
    /// Only games with a lower number.
    pub before: Option<u64>,
    /// Only those that it takes.
    pub(crate) filter: RecordFilter,
    /// For whom: of private games nobody hears but their players.
    pub seen_by: SeenBy,
    /// At most so many.
    pub limit: u32,
    /// Of so many games at most, wanted or not: who asks for what is rare asks again for those before them.
    pub look_at: u32,
}

/// Games that were chosen.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChosenGames {
    /// Those that are wanted, the newest first.
    pub games: Vec<StoredGame>,
    /// The lowest number down to which all were looked at; none if there are no more games.
    pub goes_on_before: Option<u64>,
}

impl GamesWanted {
    /// Where the next games begin after `numbers` of those that are wanted, at most one more than the limit, when
    /// `looked_at` games were looked at down to the number `lowest`.
    pub(super) fn goes_on_before(&self, numbers: &[Option<u64>], looked_at: u64, lowest: u64) -> Option<u64> {
        let limit = self.limit as usize;
        if numbers.len() > limit {
            return limit.checked_sub(1).map_or(self.before, |last| numbers[last]);
        }
        (looked_at >= u64::from(self.look_at)).then_some(lowest)
    }
}

/// A finished game without its moves: who played it as what, and what came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct GameOutline {
    pub(crate) id: GameId,
    pub(crate) players: BySide<PlayerId>,
    pub(crate) variant: Variant,
    /// What bots called themselves.
    pub(crate) versions: BySide<Option<Box<str>>>,
    /// The series it belongs to.
    pub(crate) series: Option<PairId>,
    /// Whether it only put load on the arena.
    pub(crate) is_load: bool,
    pub(crate) result: GameResult,
    /// Before and after, if it counted.
    pub(crate) ratings: Option<BySide<RatingEntry>>,
    pub(crate) ended_at: UnixMillis,
}

impl GameOutline {
    /// `None` of a game that goes on.
    pub(crate) fn of(game: &StoredGame) -> Option<Self> {
        let spec = &game.spec;
        Some(Self {
            id: spec.id.clone(),
            players: spec.players.clone(),
            variant: spec.variant,
            versions: spec.versions.clone(),
            series: spec.pair.as_ref().map(|pair| pair.id.clone()),
            is_load: spec.is_load(),
            result: game.ending()?.result,
            ratings: game.settlement.as_ref()?.ratings,
            ended_at: game.last_change(),
        })
    }
}

/// The part of a store that is about games.
#[async_trait]
pub trait GameStore {
    /// All games that have not finished, for the start of the daemon; damaged ones too.
    async fn unfinished_games(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError>;

    /// Those of them that are not damaged.
    async fn live_games(&self) -> Result<Vec<StoredGame>, StoreError> {
        Ok(self.unfinished_games().await?.into_iter().filter_map(Result::ok).collect())
    }

    /// One game, live or finished.
    async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError>;

    /// Finished games. Damaged ones are left out, with a line in the log.
    async fn finished_games(&self, query: &GameQuery) -> Result<Vec<StoredGame>, StoreError>;

    /// Those finished games that are wanted. Damaged ones are left out, with a line in the log.
    async fn chosen_games(&self, wanted: &GamesWanted) -> Result<ChosenGames, StoreError>;

    /// The last finished games of a player, the newest first, at most `limit`, without their moves, which cost most of
    /// the time that [`Self::finished_games`] takes. Damaged ones are left out, with a line in the log.
    async fn outlines(&self, player: &PlayerId, limit: u32) -> Result<Vec<GameOutline>, StoreError> {
        let player = Some(player.clone());
        let query = GameQuery { player, newest_first: true, limit, ..GameQuery::default() };
        Ok(self.finished_games(&query).await?.iter().filter_map(GameOutline::of).collect())
    }

    /// When the last finished game of a player ended, which whoever is back after a restart makes the arena ask.
    async fn last_end_of(&self, player: &PlayerId) -> Result<Option<UnixMillis>, StoreError> {
        Ok(self.outlines(player, 1).await?.first().map(|last| last.ended_at))
    }

    /// The last game of each series, those of tournaments too, that is not complete and whose last game ended at or
    /// after this time. Damaged ones are left out.
    async fn open_series(&self, since: UnixMillis) -> Result<Vec<StoredGame>, StoreError>;

    /// Who has aborted or left a game that ended at or after this time, and when, the earliest first; guests left out.
    async fn departures(&self, since: UnixMillis) -> Result<Vec<(PlayerId, UnixMillis)>, StoreError>;

    /// The illegal moves of both sides in those games that go on in which there were some.
    async fn illegal_moves(&self) -> Result<HashMap<GameId, BySide<u8>>, StoreError>;

    /// What players have said in advance in the games that go on, or in one of them.
    async fn conditional_moves(
        &self,
        only: Option<&GameId>,
    ) -> Result<HashMap<GameId, BySide<Option<ConditionalMoves>>>, StoreError>;

    /// How many rated games two players have begun since a time.
    async fn rated_games_between(
        &self,
        players: &BySide<PlayerId>,
        since: UnixMillis,
    ) -> Result<u32, StoreError>;
}
