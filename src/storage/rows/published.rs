//! Games that moved ratings, and the ratings that are published.

use fourfold_engine::BySide;

use super::{Damage, number, parsed, present, word};
use crate::model::population::Population;
use crate::model::rating::elo::{MilliElo, RatingEntry};
use crate::model::time::UnixMillis;
use crate::storage::published::{CorrespondenceResult, PublishedRating, RatedGame};
use crate::storage::record::GamePair;

row! {
    #[derive(Debug)]
    pub(crate) struct RatedRow {
        number: i64,
        id: String,
        variant: String,
        first: String,
        second: String,
        pair_id: Option<String>,
        pair_leg: Option<i64>,
        pair_of: Option<i64>,
        opening_plies: i64,
        moves: String,
        result: String,
        ended_at: i64,
        first_before: i64,
        first_after: i64,
        second_before: i64,
        second_after: i64,
    }
}

impl RatedRow {
    pub(crate) fn decode(self) -> Result<RatedGame, Damage> {
        let entry = |before: i64, after: i64| {
            let delta = after.saturating_sub(before);
            RatingEntry { before: MilliElo(before), delta, after: MilliElo(after) }
        };
        Ok(RatedGame {
            number: number("settlement.number", self.number)?,
            id: parsed("game.id", &self.id)?,
            variant: parsed("game.variant", &self.variant)?,
            players: BySide {
                first: parsed("player.id", &self.first)?,
                second: parsed("player.id", &self.second)?,
            },
            pair: match &self.pair_id {
                None => None,
                Some(id) => Some(GamePair {
                    id: parsed("game.pair_id", id)?,
                    leg: number("game.pair_leg", present("game.pair_leg", self.pair_leg)?)?,
                    of: number("game.pair_of", present("game.pair_of", self.pair_of)?)?,
                }),
            },
            opening_plies: number("game.opening_moves", self.opening_plies)?,
            moves: self.moves,
            result: word("settlement.result", &self.result)?,
            ended_at: UnixMillis(self.ended_at),
            ratings: BySide {
                first: entry(self.first_before, self.first_after),
                second: entry(self.second_before, self.second_after),
            },
        })
    }
}

/// Decodes what can be; the verifier names what cannot.
pub(crate) fn decode(rows: Vec<RatedRow>) -> Vec<RatedGame> {
    rows.into_iter().filter_map(|row| row.decode().ok()).collect()
}

row! {
    #[derive(Debug)]
    pub(crate) struct CorrespondenceRow {
        number: i64,
        variant: String,
        first: String,
        second: String,
        moves: String,
        result: String,
    }
}

impl CorrespondenceRow {
    pub(crate) fn decode(self) -> Result<CorrespondenceResult, Damage> {
        Ok(CorrespondenceResult {
            number: number("settlement.number", self.number)?,
            variant: parsed("game.variant", &self.variant)?,
            players: BySide {
                first: parsed("player.id", &self.first)?,
                second: parsed("player.id", &self.second)?,
            },
            moves: self.moves,
            result: word("settlement.result", &self.result)?,
        })
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct AgainstRow {
        pub(crate) opponent: String,
        pub(crate) first_wins: i64,
        pub(crate) first_draws: i64,
        pub(crate) first_losses: i64,
        pub(crate) second_wins: i64,
        pub(crate) second_draws: i64,
        pub(crate) second_losses: i64,
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct PublishedRow {
        variant: String,
        list: String,
        player: String,
        elo: i64,
        error: i64,
        games: i64,
    }
}

impl PublishedRow {
    pub(crate) fn decode(self) -> Result<PublishedRating, Damage> {
        Ok(PublishedRating {
            variant: parsed("published_rating.variant", &self.variant)?,
            population: fitted_population(&self.list)?,
            player: parsed("player.id", &self.player)?,
            elo: MilliElo(self.elo),
            error: number("published_rating.error", self.error)?,
            games: number("published_rating.games", self.games)?,
        })
    }
}

/// People have no fit of their own.
fn fitted_population(text: &str) -> Result<Population, Damage> {
    match word("published_rating.list", text)? {
        Population::People => Err(Damage::value("published_rating.list", text)),
        population @ (Population::All | Population::Bots) => Ok(population),
    }
}
