//! What a finished game does to the ratings: pure, so that every back end and the verifier agree.

use fourfold_engine::{BySide, SideResult};

use super::record::{Ending, GameSpec, RatingRow, UnratedReason};
use crate::model::rating::eligibility;
use crate::model::result::GameResult;

use crate::model::rating::eligibility::GameFingerprint;
use crate::model::rating::elo;

use crate::model::rating::elo::RatingEntry;

/// Judges one finished game.
#[derive(Debug)]
pub(crate) struct Referee<'a> {
    pub(crate) spec: &'a GameSpec,
    /// All moves, the opening's included.
    pub(crate) moves: &'a str,
    pub(crate) ending: Ending,
}

/// What becomes of the ratings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RatingVerdict {
    /// They change.
    Rated(BySide<RatingUpdate>),
    /// They do not; why, if it was meant to be rated.
    Unrated(Option<UnratedReason>),
}

/// What becomes of one player's rating.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RatingUpdate {
    pub(crate) entry: RatingEntry,
    /// The player's row from now on.
    pub(crate) row: RatingRow,
}

impl Referee<'_> {
    /// The verdict, if what was fixed at the start is enough for it.
    ///
    /// A back end asks this first, because only a game that may be rated needs the arguments of [`Self::judge`].
    pub(crate) fn judge_start(&self) -> Option<RatingVerdict> {
        let spec = self.spec;
        if !spec.rated || spec.unrated_because.is_some() {
            Some(RatingVerdict::Unrated(spec.unrated_because))
        } else if spec.players.first == spec.players.second {
            Some(RatingVerdict::Unrated(Some(UnratedReason::SameOwner)))
        } else {
            None
        }
    }

    /// The verdict on a game that may be rated.
    ///
    /// `rows` are the players' ratings before it. `remembered` are the last [`eligibility::REMEMBERED_GAMES`] rated
    /// games of these two players in this variant.
    pub(crate) fn judge(&self, rows: BySide<RatingRow>, remembered: &[GameFingerprint]) -> RatingVerdict {
        if let Some(verdict) = self.judge_start() {
            return verdict;
        }
        let unrated = eligibility::unrated_because(&self.course(), self.ending.reason, remembered);
        let winner = match (unrated, self.ending.result) {
            (Some(reason), _) => return RatingVerdict::Unrated(Some(reason)),
            (None, GameResult::Void) => return RatingVerdict::Unrated(Some(UnratedReason::Void)),
            (None, result) => result.winner(),
        };
        let entries = elo::settle(rows.first.standing, rows.second.standing, winner);
        RatingVerdict::Rated(BySide::from_fn(|side| {
            let entry = entries[side];
            RatingUpdate { entry, row: rows[side].after(entry, SideResult::of(side, winner)) }
        }))
    }

    /// By what later games are compared with this one.
    pub(crate) fn course(&self) -> GameFingerprint {
        GameFingerprint {
            first: self.spec.players.first.clone(),
            moves: self.moves.to_owned(),
            result: self.ending.result,
        }
    }
}

impl RatingRow {
    /// The row after one more rated game.
    pub(crate) fn after(mut self, entry: RatingEntry, result: SideResult) -> Self {
        self.standing.rating = entry.after;
        self.standing.games += 1;
        self.score.count(result);
        self
    }
}
