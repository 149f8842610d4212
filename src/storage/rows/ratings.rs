//! Ratings.

use fourfold_engine::{Variant, WinDrawLoss};

use super::players::PlayerRow;
use super::{Damage, number, parsed};
use crate::model::rating::elo::{MilliElo, Standing};
use crate::storage::record::{RatingRow, StoredPlayer};

row! {
    #[derive(Debug)]
    pub(crate) struct PlayerRatingRow {
        pub(crate) player: String,
        variant: String,
        rating: i64,
        games: i64,
        wins: i64,
        draws: i64,
        losses: i64,
    }
}

impl PlayerRatingRow {
    pub(crate) fn variant(&self) -> Result<Variant, Damage> {
        parsed("rating.variant", &self.variant)
    }

    pub(crate) fn decode(&self) -> Result<RatingRow, Damage> {
        Ok(RatingRow {
            standing: Standing { rating: MilliElo(self.rating), games: number("rating.games", self.games)? },
            score: WinDrawLoss {
                wins: number("rating.wins", self.wins)?,
                draws: number("rating.draws", self.draws)?,
                losses: number("rating.losses", self.losses)?,
            },
        })
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct BoardRow {
        rating: i64,
        games: i64,
        wins: i64,
        draws: i64,
        losses: i64,
    } with {
        player: PlayerRow,
    }
}

impl BoardRow {
    pub(crate) fn decode(self) -> Result<(StoredPlayer, RatingRow), Damage> {
        let rating = RatingRow {
            standing: Standing { rating: MilliElo(self.rating), games: number("rating.games", self.games)? },
            score: WinDrawLoss {
                wins: number("rating.wins", self.wins)?,
                draws: number("rating.draws", self.draws)?,
                losses: number("rating.losses", self.losses)?,
            },
        };
        Ok((self.player.decode()?, rating))
    }
}
