//! What is settled again when a game is taken out.

use std::collections::HashMap;

use fourfold_engine::{BySide, Side, Variant};

use super::settlement::EntryRow;
use super::{Damage, games, number, parsed, to_sql, word};
use crate::model::clock::TimeControl;
use crate::model::ids::PlayerId;
use crate::model::rating::newcomers::Footing;
use crate::model::result::EndReason;
use crate::model::time::UnixMillis;
use crate::storage::record::{Ending, GameSpec, OpeningSource, RatingRow, UnratedReason};
use crate::storage::refit::{RefitGame, Resettled};
use crate::storage::refold::{Refold, Voided};
use crate::storage::resets::Resets;
use crate::storage::settle::{RatingVerdict, Referee};
use crate::storage::starts::Starts;

row! {
    /// A finished game that was meant to be rated.
    #[derive(Debug)]
    pub(crate) struct VoidingCandidate {
        number: i64,
        first: String,
        second: String,
        first_key: i64,
        second_key: i64,
        moves: String,
        first_footing: Option<String>,
        second_footing: Option<String>,
        ended_at: i64,
        result: String,
        /// Of short games; whether others ended by a line or otherwise changes nothing.
        reason: Option<String>,
        unrated_because: Option<String>,
    }
}

impl VoidingCandidate {
    /// What judging looks at.
    fn spec(&self, variant: Variant) -> Result<GameSpec, Damage> {
        let players = BySide {
            first: parsed::<PlayerId>("player.id", &self.first)?,
            second: parsed("player.id", &self.second)?,
        };
        Ok(GameSpec {
            id: "x".parse().map_err(|_| Damage("no id".into()))?,
            players,
            variant,
            time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: None },
            rated: true,
            unrated_because: None,
            footing: self.footing()?,
            versions: BySide::default(),
            opening: OpeningSource::default(),
            pair: None,
            started_at: UnixMillis::default(),
        })
    }

    /// The game, for a refit.
    pub(crate) fn decode(&self, variant: Variant) -> Result<RefitGame, Damage> {
        let is_voided = self.unrated_because.as_deref() == Some(UnratedReason::Voided.as_str());
        Ok(RefitGame {
            number: number("settlement.number", self.number)?,
            spec: self.spec(variant)?,
            moves: self.moves.clone(),
            ending: self.ending()?,
            ended_at: UnixMillis(self.ended_at),
            voided: if is_voided { Voided::Yes } else { Voided::No },
        })
    }

    fn footing(&self) -> Result<Option<BySide<Footing>>, Damage> {
        games::footing(self.first_footing.as_deref(), self.second_footing.as_deref())
    }

    fn ending(&self) -> Result<Ending, Damage> {
        let reason = self.reason.as_deref().map(|reason| word("event.reason", reason)).transpose()?;
        let reason = reason.unwrap_or(EndReason::Full);
        Ok(Ending { result: word("settlement.result", &self.result)?, reason, by: None })
    }
}

/// All games of a variant settled again: what has changed from some number on.
#[derive(Debug, Default)]
pub(crate) struct Refolded {
    /// What each rated game did to the ratings, two for each game.
    pub(crate) entries: Vec<EntryRow>,
    /// Games that count now and did not, or the other way round: why they do not.
    pub(crate) unrated: Vec<(i64, Option<UnratedReason>)>,
    /// All ratings, as they are then.
    pub(crate) ratings: Vec<(PlayerId, RatingRow)>,
}

impl Refolded {
    /// Settles the games in their order, which begins with the first one of the variant.
    pub(crate) fn of(
        candidates: &[VoidingCandidate],
        starts: Starts,
        resets: &Resets,
        variant: Variant,
        from: i64,
    ) -> Result<Self, Damage> {
        let (mut fold, mut refolded) = (Refold::new(starts, resets), Self::default());
        for candidate in candidates {
            let (spec, ending) = (candidate.spec(variant)?, candidate.ending()?);
            let before = candidate.unrated_because.as_deref();
            let is_voided = before == Some(UnratedReason::Voided.as_str());
            let voided = if is_voided { Voided::Yes } else { Voided::No };
            let (referee, ended_at) =
                (Referee { spec: &spec, moves: &candidate.moves, ending }, UnixMillis(candidate.ended_at));
            let place = number("settlement.number", candidate.number)?;
            let verdict = fold.settle(place, &referee, ended_at, voided);
            if candidate.number < from {
                continue;
            }
            let unrated =
                match verdict {
                    RatingVerdict::Rated(changes) => {
                        let players = BySide { first: candidate.first_key, second: candidate.second_key };
                        refolded.entries.extend(Side::BOTH.map(|side| {
                            EntryRow::of(players, side, candidate.number, ended_at, &changes[side])
                        }));
                        None
                    }
                    RatingVerdict::Unrated(reason) => reason,
                };
            if unrated.map(UnratedReason::as_str) != before {
                refolded.unrated.push((candidate.number, unrated));
            }
        }
        refolded.ratings = fold.standing().collect();
        Ok(refolded)
    }
}

/// The rows of games that were settled again, by the keys of their players.
pub(crate) fn entries_of(games: &[Resettled], keys: &HashMap<String, i64>) -> Result<Vec<EntryRow>, Damage> {
    let mut entries = Vec::new();
    for game in games {
        let RatingVerdict::Rated(changes) = &game.verdict else { continue };
        let key = |side: Side| {
            let id = game.players[side].as_str();
            keys.get(id).copied().ok_or_else(|| Damage(format!("player {id} is gone")))
        };
        let players = BySide { first: key(Side::First)?, second: key(Side::Second)? };
        let number = to_sql(game.number);
        entries.extend(
            Side::BOTH.map(|side| EntryRow::of(players, side, number, game.ended_at, &changes[side])),
        );
    }
    Ok(entries)
}

/// Why a game that was settled again does not count, as it is stored.
pub(crate) fn unrated_word(verdict: &RatingVerdict) -> Option<&'static str> {
    match verdict {
        RatingVerdict::Rated(_) => None,
        RatingVerdict::Unrated(reason) => reason.map(UnratedReason::as_str),
    }
}
