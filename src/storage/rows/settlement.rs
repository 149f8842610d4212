//! What a settlement looks at.

use fourfold_engine::{BySide, Side, Variant, WinDrawLoss};

use super::{Damage, number};
use crate::model::rating::elo::{MilliElo, Standing};
use crate::model::time::UnixMillis;
use crate::storage::record::RatingRow;
use crate::storage::settle::{OpponentStanding, RatingUpdate};

row! {
    #[derive(Debug)]
    pub(crate) struct BeforeRow {
        pub(crate) number: i64,
        pub(crate) head: Option<String>,
        pub(crate) player: i64,
        rating: Option<i64>,
        games: Option<i64>,
        wins: Option<i64>,
        draws: Option<i64>,
        losses: Option<i64>,
        start: Option<i64>,
    }
}

impl BeforeRow {
    pub(crate) fn rating(&self, variant: Variant) -> Result<RatingRow, Damage> {
        let Some(rating) = self.rating else {
            return Ok(RatingRow::beginning(self.start.map(MilliElo), variant));
        };
        let count = |column, value: Option<i64>| number(column, value.unwrap_or_default());
        Ok(RatingRow {
            standing: Standing { rating: MilliElo(rating), games: count("rating.games", self.games)? },
            score: WinDrawLoss {
                wins: count("rating.wins", self.wins)?,
                draws: count("rating.draws", self.draws)?,
                losses: count("rating.losses", self.losses)?,
            },
        })
    }
}

/// What a rated game did to the rating of one player, whose internal key is given as all are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EntryRow {
    pub(crate) player: i64,
    pub(crate) number: i64,
    pub(crate) opponent: i64,
    pub(crate) before: i64,
    pub(crate) delta: i64,
    pub(crate) after: i64,
    /// When the game ended, if the opponent was a newcomer.
    pub(crate) from_newcomer_at: Option<i64>,
}

impl EntryRow {
    pub(crate) fn of(
        players: BySide<i64>,
        side: Side,
        number: i64,
        ended_at: UnixMillis,
        change: &RatingUpdate,
    ) -> Self {
        Self {
            player: players[side],
            number,
            opponent: players[side.opponent()],
            before: change.entry.before.0,
            delta: change.entry.delta,
            after: change.entry.after.0,
            from_newcomer_at: match change.opponent {
                OpponentStanding::New => Some(ended_at.0),
                OpponentStanding::Known => None,
            },
        }
    }
}
