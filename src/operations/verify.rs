//! Checks a whole store: replays every game, and refolds every rating from the first game on.
//!
//! The logs of the games are the only thing believed, and the audit log as to which of them were taken out. What was
//! stored as following from them is computed again, by the same rules but from scratch, and compared to the last digit.
//! Nothing follows from studies: each is read, for itself.

mod fold;
mod published;
mod studies;
#[cfg(test)]
mod tests;

use std::fmt;

use fourfold_engine::Variant;
use serde::{Deserialize, Serialize};

use self::fold::RatingFold;
use self::published::Refit;
use crate::model::chain_hash::ChainHash;
use crate::model::ids::PlayerId;
use crate::storage::chain::then_game;
use crate::storage::record::{DamagedGame, RatingRow, StoredGame};
use crate::storage::records::rules;
use crate::storage::resets::Resets;
use crate::storage::starts::Starts;
use crate::storage::{Store, StoreError};

/// Games read at a time: few enough to stay small in memory, enough to make reading fast.
const PAGE: u32 = 500;

/// How often the ratings are read again because games have finished meanwhile: an arena in which some always do would
/// never be checked.
const OVERTAKEN_MAX: u32 = 1_000;

/// What a check came to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct VerifyReport {
    pub(crate) finished: u64,
    /// Those of them that moved ratings.
    pub(crate) rated: u64,
    /// Games that go on.
    pub(crate) live: u64,
    /// Events of all games that could be read.
    pub(crate) events: u64,
    pub(crate) ratings: u64,
    /// Games that operators took out.
    pub(crate) voided: u64,
    pub(crate) published: u64,
    #[serde(default)]
    pub(crate) studies: u64,
    /// The hash of the last game in the chain of finished games; empty if there is none.
    #[serde(default)]
    pub(crate) head: String,
    /// All that is not as it should be, one line each.
    pub findings: Vec<String>,
}

impl VerifyReport {
    fn find(&mut self, game: impl fmt::Display, what: impl fmt::Display) {
        self.findings.push(format!("game {game}: {what}"));
    }
}

impl fmt::Display for VerifyReport {
    /// Each finding on a line of its own, then the counts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finished, rated, live, events, ratings, voided, published, studies, findings, .. } = self;
        for finding in findings {
            writeln!(f, "{finding}")?;
        }
        let verdict = if findings.is_empty() { "everything agrees" } else { "not everything agrees" };
        write!(
            f,
            "{finished} finished games ({rated} rated, {voided} voided), {live} live games, {events} events, \
             {ratings} ratings, {published} published ratings, {studies} studies: {verdict}"
        )
    }
}

/// Checks everything.
///
/// # Errors
///
/// The store cannot be read. Whatever is wrong with what was read is in the report.
pub async fn verify(store: &dyn Store) -> Result<VerifyReport, StoreError> {
    let resets = Resets::of(&store.rating_resets(None).await?);
    let mut check = Check {
        report: VerifyReport::default(),
        last_number: 0,
        head: Some(ChainHash::default()),
        refit: Refit::begin(store, resets.clone()).await?,
        fold: RatingFold::new(
            published::voided(store).await?,
            Starts::of(&store.house_bots().await?),
            &resets,
        ),
        owed: store.owed_ratings().await?,
    };
    check.read_finished(store).await?;
    for loaded in store.audit_live().await? {
        check_live(&mut check.report, loaded);
    }
    let ratings = check.read_ratings(store).await?;
    let Check { mut report, refit, mut fold, head, owed, .. } = check;
    for (variant, after) in &owed {
        fold.forget(*variant);
        report.findings.push(format!(
            "ratings in {variant} are owed from game {} on, since games of a player were taken out: say so again, with \
             `fourfold admin void --player`",
            after + 1
        ));
    }
    report.head = head.filter(|_| report.finished > 0).map(|head| head.to_string()).unwrap_or_default();
    fold.compare(&mut report, ratings);
    if owed.is_empty() {
        refit.compare(&mut report, store).await?;
    }
    studies::check(&mut report, store).await?;
    Ok(report)
}

/// A check under way.
struct Check {
    report: VerifyReport,
    /// Of the finished games that were read.
    last_number: u64,
    /// The hash of the last of them; `None` if it is not known, for something is wrong with that game.
    head: Option<ChainHash>,
    refit: Refit,
    fold: RatingFold,
    /// Ratings that somebody is about to compute again: what they should be is known when that is done.
    owed: Vec<(Variant, u64)>,
}

impl Check {
    /// Reads the games that have finished since it was asked last, and says whether there are any.
    async fn read_finished(&mut self, store: &dyn Store) -> Result<bool, StoreError> {
        let before = self.last_number;
        loop {
            let page = store.audit_finished(self.last_number, PAGE).await?;
            let is_last = page.len() < PAGE as usize;
            for loaded in page {
                if let Ok(game) = &loaded {
                    self.refit.add(game);
                }
                let known = self.report.findings.len();
                self.last_number = check_number(&mut self.report, self.last_number, &loaded);
                let is_owed = loaded.as_ref().is_ok_and(|game| self.is_owed(game));
                let settled = if is_owed {
                    self.pass_over(loaded)
                } else {
                    check_finished(&mut self.report, &mut self.fold, loaded)
                };
                let is_sound = self.report.findings.len() == known;
                self.head = check_chain(&mut self.report, self.head.as_ref().filter(|_| is_sound), settled);
            }
            if is_last {
                return Ok(self.last_number > before);
            }
        }
    }

    fn is_owed(&self, game: &StoredGame) -> bool {
        self.owed.iter().any(|(variant, _)| *variant == game.spec.variant)
    }

    /// Replays a game whose ratings are owed, and asks no more of it.
    fn pass_over(&mut self, loaded: Result<StoredGame, DamagedGame>) -> Option<StoredGame> {
        let game = loaded.ok()?;
        self.report.finished += 1;
        self.report.events += game.events.len() as u64;
        if let Err(what) = rules::replay(&game) {
            self.report.find(&game.spec.id, what);
        }
        self.fold.met(&mut self.report, &game);
        Some(game)
    }

    /// Reads the ratings as they are after the games that were read. Where games finish while a daemon plays on, both
    /// are read until none did in between.
    async fn read_ratings(
        &mut self,
        store: &dyn Store,
    ) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
        let mut ratings = store.audit_ratings().await?;
        for _ in 0..OVERTAKEN_MAX {
            if !self.read_finished(store).await? {
                break;
            }
            ratings = store.audit_ratings().await?;
        }
        Ok(ratings)
    }
}

/// Gives the game back, if it can be read.
fn check_finished(
    report: &mut VerifyReport,
    fold: &mut RatingFold,
    loaded: Result<StoredGame, DamagedGame>,
) -> Option<StoredGame> {
    report.finished += 1;
    match loaded {
        Err(damaged) => {
            report.find(damaged.id, damaged.what);
            None
        }
        Ok(game) => {
            report.events += game.events.len() as u64;
            if let Some(settlement) = &game.settlement {
                fold.reach(settlement.number);
            }
            match (rules::replay(&game), &game.settlement) {
                (Err(what), None) => report.find(&game.spec.id, what),
                (Err(what), Some(settlement)) => {
                    report.find(&game.spec.id, what);
                    fold.adopt(&game, settlement);
                }
                (Ok(_), None) => {
                    report.find(&game.spec.id, "is listed as finished, but is not settled");
                }
                (Ok(replayed), Some(settlement)) => fold.add(report, &game, settlement, &replayed),
            }
            Some(game)
        }
    }
}

/// Compares the hash of a game with what follows from the one before; if that is not known, or something else is wrong
/// with the game, the chain goes on from what is stored, so that one defect is one finding.
fn check_chain(
    report: &mut VerifyReport,
    before: Option<&ChainHash>,
    game: Option<StoredGame>,
) -> Option<ChainHash> {
    let game = game?;
    let stored = game.settlement.as_ref()?.hash.clone();
    match (before.and_then(|before| then_game(before, &game)), &stored) {
        (Some(_), None) => report.find(&game.spec.id, "has no hash in the chain of finished games"),
        (Some(computed), Some(stored)) if computed != *stored => {
            report.find(&game.spec.id, format!("its hash in the chain is {stored}, computed {computed}"));
        }
        _ => {}
    }
    stored
}

/// Numbers are dense from 1. Gives the one to go on behind, which is behind a hole if there is one.
fn check_number(report: &mut VerifyReport, last: u64, loaded: &Result<StoredGame, DamagedGame>) -> u64 {
    let (id, number): (&dyn fmt::Display, _) = match loaded {
        Ok(game) => (&game.spec.id, game.settlement.as_ref().map(|settlement| settlement.number)),
        Err(damaged) => (&damaged.id, damaged.number),
    };
    let due = last + 1;
    let number = number.unwrap_or(due);
    if number != due {
        report.find(id, format!("is number {number} of the finished games, due was {due}"));
    }
    number.max(due)
}

fn check_live(report: &mut VerifyReport, loaded: Result<StoredGame, DamagedGame>) {
    report.live += 1;
    match loaded {
        Err(damaged) => report.find(damaged.id, damaged.what),
        Ok(game) => {
            report.events += game.events.len() as u64;
            if let Err(what) = rules::replay(&game) {
                report.find(&game.spec.id, what);
            }
            if game.ending().is_some() || game.settlement.is_some() {
                report.find(&game.spec.id, "is listed as live, but has ended");
            }
        }
    }
}
