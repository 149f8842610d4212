//! What is stored of tournaments, besides their games.

use async_trait::async_trait;
use fourfold_engine::Side;

use super::error::StoreError;
use super::record::StoredGame;
use crate::model::clock::TimeControl;
use crate::model::ids::{PairId, PlayerId, TournamentId};
use crate::model::time::UnixMillis;
use crate::model::tournament::TournamentFormat;
use crate::system::config::FormatName;

/// A tournament. All but its end is fixed when it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTournament {
    /// The last part of its link.
    pub(crate) id: TournamentId,
    /// That of the configuration.
    pub(crate) name: String,
    /// The moment of its schedule; no two of the same name share it.
    pub(crate) due_at: UnixMillis,
    pub(crate) format: TournamentFormat,
    /// All different, in the order in which they entered.
    pub(crate) entrants: Vec<PlayerId>,
    /// Pairs of each meeting; on the ladder of all.
    pub(crate) pairs: u64,
    /// Of openings and pairings.
    pub(crate) seed: u64,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// Whether its games count.
    pub(crate) rated: bool,
    /// Games at the same time.
    pub(crate) concurrency: u32,
    /// Whether bots of the house take their time.
    pub(crate) watchable: bool,
    pub(crate) started_at: UnixMillis,
    /// Who has made it; none of the operators' own.
    pub(crate) maker: Option<PlayerId>,
    /// Whether people may come while it goes on, where its format lets them.
    pub(crate) open_people: bool,
    /// How it ended, if it did.
    pub end: Option<TournamentEnd>,
}

/// How a tournament ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TournamentEnd {
    pub reason: EndedBecause,
    pub(crate) at: UnixMillis,
    /// Who came first, if anybody did alone.
    pub(crate) winner: Option<PlayerId>,
    /// Games that it came to, walkovers included.
    pub games: u64,
    /// Why it was called off, if somebody said; never empty.
    pub(crate) because: Option<String>,
}

/// Why a tournament is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndedBecause {
    /// Everything was played.
    Complete,
    /// Too few entrants were left.
    Suspended,
    /// It was called off.
    Cancelled,
}

/// A tournament that somebody has made, until it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TournamentPlan {
    /// That of the tournament which it becomes.
    pub(crate) id: TournamentId,
    /// No two plans share one.
    pub(crate) name: String,
    pub(crate) maker: PlayerId,
    pub(crate) begins_at: UnixMillis,
    pub(crate) format: FormatName,
    /// Of a Swiss, if its maker says.
    pub(crate) rounds: Option<u32>,
    /// How long an arena goes on.
    pub(crate) minutes: Option<u32>,
    /// Pairs of games of each meeting.
    pub(crate) pairs: u32,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// Whether its games count.
    pub(crate) rated: bool,
    /// Whether all remote bots that are open when it begins take part too.
    pub(crate) open_bots: bool,
    /// Who takes part, in the order in which they entered.
    pub(crate) entered: Vec<PlayerId>,
}

/// A game of a tournament's schedule that was lost without being played: somebody was not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walkover {
    /// In the order of the schedule, from 0.
    pub(crate) number: u64,
    /// Who loses by it.
    pub(crate) absent: Side,
}

/// From when on somebody takes part in a tournament, and until when: by the game of its schedule that was due then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attendance {
    /// 0 for whoever was there when it began; for whoever came back, that of their return.
    pub(crate) came: u64,
    /// Nothing while they take part.
    pub(crate) went: Option<u64>,
}

/// The part of a store that is about tournaments.
#[async_trait]
pub trait TournamentStore {
    async fn tournament(&self, id: &TournamentId) -> Result<Option<StoredTournament>, StoreError>;

    /// Tournaments with their numbers, the newest first; only those with a lower number than `before`.
    async fn tournaments(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, StoredTournament)>, StoreError>;

    /// Tournaments that have not ended, the oldest first.
    async fn running_tournaments(&self) -> Result<Vec<StoredTournament>, StoreError>;

    /// Tournaments that people have made and that are to come, the next first.
    async fn tournament_plans(&self) -> Result<Vec<TournamentPlan>, StoreError>;

    /// Games of a tournament's schedule that were lost without being played, in its order.
    async fn walkovers(&self, tournament: &TournamentId) -> Result<Vec<Walkover>, StoreError>;

    /// From when and until when everybody takes part, in the order of the entrants.
    async fn attendance(&self, tournament: &TournamentId) -> Result<Vec<Attendance>, StoreError>;

    /// All games of a series, in the order in which they began. Damaged ones are left out, with a line in the log.
    async fn games_of_series(&self, series: &PairId) -> Result<Vec<StoredGame>, StoreError>;

    /// All games of a tournament, live and finished, in the order in which they began. Damaged ones are left out, with
    /// a line in the log.
    async fn games_of_tournament(&self, tournament: &TournamentId) -> Result<Vec<StoredGame>, StoreError>;
}
