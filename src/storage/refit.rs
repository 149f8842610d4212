//! Ratings of a variant settled again in small steps, while the arena goes on.
//!
//! Games of a whole account are taken out some at a time, which leaves the ratings of their variants owed from some
//! number on: see [`super::ratings::RatingStore::owed_ratings`]. Then all games of the variant are settled from the
//! first one on, outside the writer, and what has changed is written in portions. Whatever stops that, it is gone on
//! with from what is stored.

use fourfold_engine::{BySide, Variant};

use super::record::{Ending, GameSpec, RatingRow};
use super::refold::{Refold, Voided};
use super::resets::Resets;
use super::settle::{RatingVerdict, Referee};
use super::starts::Starts;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;

/// A finished game that was meant to be rated.
#[derive(Clone, PartialEq, Debug)]
pub struct RefitGame {
    pub(crate) number: u64,
    /// Of which what the settlement does not look at may be left out.
    pub(crate) spec: GameSpec,
    /// All moves, the opening's included.
    pub(crate) moves: String,
    pub(crate) ending: Ending,
    pub(crate) ended_at: UnixMillis,
    pub(crate) voided: Voided,
}

/// A portion of ratings that are owed.
#[derive(Clone, PartialEq, Debug)]
pub struct RefitStep {
    pub(crate) variant: Variant,
    /// The revision of the records that it rests on.
    pub(crate) revision: u64,
    /// The number of the last game of which they are not owed any more.
    pub(crate) after: u64,
    pub(crate) content: RefitContent,
}

/// What is written.
#[derive(Clone, PartialEq, Debug)]
pub enum RefitContent {
    /// The next games, in their order.
    Games(Vec<Resettled>),
    /// There are no more: how all ratings of the variant stand.
    Ratings(Vec<(PlayerId, RatingRow)>),
}

/// A game that was settled again.
#[derive(Clone, PartialEq, Debug)]
pub struct Resettled {
    pub(crate) number: u64,
    pub(crate) players: BySide<PlayerId>,
    pub(crate) ended_at: UnixMillis,
    pub(crate) verdict: RatingVerdict,
}

/// Settles all games of a variant again.
#[derive(Debug)]
pub(crate) struct Refitting {
    variant: Variant,
    revision: u64,
    /// Ratings of games up to this number are not owed.
    after: u64,
    fold: Refold,
}

impl Refitting {
    /// Begins with the first game of the variant, players with their `starts`.
    pub(crate) fn new(variant: Variant, starts: Starts, resets: &Resets, revision: u64, after: u64) -> Self {
        Self { variant, revision, after, fold: Refold::new(starts, resets) }
    }

    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Settles the next games. If some of them are owed, that is to be written.
    pub(crate) fn settle(&mut self, games: Vec<RefitGame>) -> Option<RefitStep> {
        let mut resettled = Vec::new();
        for RefitGame { number, spec, moves, ending, ended_at, voided } in games {
            let referee = Referee { spec: &spec, moves: &moves, ending };
            let verdict = self.fold.settle(number, &referee, ended_at, voided);
            if number > self.after {
                resettled.push(Resettled { number, players: spec.players, ended_at, verdict });
            }
        }
        let last = resettled.last()?.number;
        let step = self.step(RefitContent::Games(resettled));
        self.after = last;
        Some(step)
    }

    /// How all ratings stand after the games so far.
    pub(crate) fn ratings(&self) -> RefitStep {
        self.step(RefitContent::Ratings(self.fold.standing().collect()))
    }

    fn step(&self, content: RefitContent) -> RefitStep {
        RefitStep { variant: self.variant, revision: self.revision, after: self.after, content }
    }
}
