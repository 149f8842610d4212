//! The published ratings: all rated games fitted at once, again whenever games have come.
//!
//! [`rating_sums`] sums games up and fits them, in an order that is fixed, so that the same games give the same digits;
//! it is pure. [`service`] follows the records and does that while the daemon runs. [`Leaderboard`] is where everybody
//! reads what came of it: pages, the HTTP interface, and whoever pairs bots and needs to know what is not known well
//! yet.
//!
//! The live Elo that moves with each game is in [`crate::model::rating`]; what either of them is for, `docs/ratings.md`
//! says.

pub(crate) mod activity;
pub(crate) mod habits;
pub(crate) mod rating_sums;
mod season_sums;
pub(crate) mod seasons;
pub(crate) mod service;
pub(crate) mod standings;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use fourfold_engine::Variant;
use tokio::sync::watch;

use self::seasons::Season;
use self::standings::{Scale, Standings};
use crate::model::ids::PlayerId;
use crate::model::population::Population;
use crate::model::rating::elo::ShownRating;
use crate::play::ratings::{FittedRatings, ShownRatings};

pub(crate) use self::service::{LeaderboardActor, LeaderboardDeps};

/// The published ratings, for reading; cheap to clone. Empty until the first fit.
#[derive(Clone, Debug)]
pub(crate) struct Leaderboard {
    sender: Arc<watch::Sender<Arc<FitSnapshot>>>,
    shown: ShownRatings,
}

impl Default for Leaderboard {
    fn default() -> Self {
        Self::new(ShownRatings::default())
    }
}

impl Leaderboard {
    /// Of no games yet. What is fitted goes into `shown`.
    pub(crate) fn new(shown: ShownRatings) -> Self {
        Self { sender: Arc::new(watch::Sender::new(Arc::default())), shown }
    }

    /// The ratings that everybody is shown.
    pub(crate) fn shown(&self) -> &ShownRatings {
        &self.shown
    }

    /// The ratings as they were fitted last.
    pub(crate) fn now(&self) -> Arc<FitSnapshot> {
        Arc::clone(&self.sender.borrow())
    }

    /// Tells of every fit from now on.
    #[cfg(test)]
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<FitSnapshot>> {
        self.sender.subscribe()
    }

    /// Shows the ratings of a new fit.
    pub(crate) fn show(&self, snapshot: FitSnapshot) {
        self.shown.publish(snapshot.shown());
        self.sender.send_replace(Arc::new(snapshot));
    }
}

/// All joint fits at one point of the records.
#[derive(Clone, Debug, Default)]
pub(crate) struct FitSnapshot {
    /// Number of the last finished game that they rest on; 0 before the first.
    pub(crate) up_to: u64,
    /// By variant, as far as rated games were played there.
    pub(crate) fits: HashMap<Variant, Arc<Fits>>,
    /// The seasons of the configuration, the latest first.
    pub(crate) seasons: Vec<SeasonTable>,
}

/// A season with the ratings of its games.
#[derive(Clone, Debug)]
pub(crate) struct SeasonTable {
    pub(crate) season: Arc<Season>,
    /// None before its first game.
    pub(crate) fits: Option<Arc<Fits>>,
}

/// Both fits of one variant.
#[derive(Clone, Debug)]
pub(crate) struct Fits {
    /// Games between bots alone.
    pub(crate) bots: Standings,
    pub(crate) all: Standings,
}

impl Fits {
    /// The ratings of a list. People have no fit of their own: they are among all.
    pub(crate) fn of(&self, population: Population) -> &Standings {
        match population {
            Population::All | Population::People => &self.all,
            Population::Bots => &self.bots,
        }
    }
}

impl FitSnapshot {
    /// The ratings of one board, if rated games were played there.
    pub(crate) fn field(&self, variant: Variant, population: Population) -> Option<&Standings> {
        Some(self.fits.get(&variant)?.of(population))
    }

    /// Everybody's rating as it is shown: of bots that of the fit between bots, of whoever has met none that of all. A
    /// fit that `random` does not hold to the scale of all others says nothing on that scale.
    fn shown(&self) -> FittedRatings {
        let ratings = |fits: &Arc<Fits>| -> HashMap<PlayerId, ShownRating> {
            let fields = [&fits.all, &fits.bots].into_iter().filter(|field| field.scale == Scale::Random);
            let rows = fields.flat_map(Standings::rows);
            rows.map(|rated| (rated.player.clone(), rated.shown())).collect()
        };
        self.fits.iter().map(|(variant, fits)| (*variant, ratings(fits))).collect()
    }

    /// Boards on which rated games were played, the one with most players first.
    pub(crate) fn variants(&self) -> Vec<Variant> {
        let mut variants: Vec<Variant> = self.fits.keys().copied().collect();
        variants.sort_by_key(|variant| {
            (std::cmp::Reverse(self.fits[variant].all.rows().len()), variant.to_string())
        });
        variants
    }
}
