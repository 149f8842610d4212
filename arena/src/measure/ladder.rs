//! A fixed ladder: points against opponents that never change, so that figures of different days and programs compare.
//!
//! Both sides of each of the balanced openings are played, and nobody is timed but who asks for time by their own
//! settings: figures of all others repeat with the seed.

use std::io;
use std::num::NonZeroUsize;

use fourfold_bots::{BotError, Recipe};
use fourfold_engine::Variant;

use crate::course::Course;
use crate::entrant::Entrant;
use crate::format::Format;
use crate::house::HouseEntrant;
use crate::measure::subject::Subject;
use crate::plan::Plan;
use crate::runner::{self, Observer, Run, RunError};
use crate::shard::Shard;
use crate::stats::pairs::PairCounts;
use crate::stop::Stop;
use crate::suite::{Orientation, Suite, SuiteError};
use crate::time::BotLimits;
use crate::watchdog::Watchdog;

/// The rungs, from weak to strong.
pub const OPPONENTS: [&str; 4] = ["negamax:depth=2", "negamax:depth=4", "negamax:depth=6", "negamax:depth=8"];

/// Why there are no points.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    #[error(transparent)]
    Bot(#[from] BotError),
    #[error(transparent)]
    Openings(#[from] SuiteError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("no thread can be started to keep time")]
    NoThread(#[source] io::Error),
    /// Someone who fails loses the game, which says nothing about strength.
    #[error("it failed in {faults} of {games} games")]
    Failed { faults: u64, games: u64 },
}

/// How much is played.
#[derive(Clone, Copy, Debug)]
pub struct Climb {
    /// Two games each against every opponent.
    pub pairs: u64,
    /// Which openings, and what bots draw.
    pub seed: u64,
    /// Games at the same time.
    pub concurrency: NonZeroUsize,
    /// Of all pairs only those of this part.
    pub shard: Option<Shard>,
}

impl Climb {
    /// Games against all opponents together.
    pub fn games(self) -> u64 {
        let pairs = self.pairs * OPPONENTS.len() as u64;
        2 * self.shard.map_or(pairs, |shard| shard.count(pairs))
    }

    /// The pairs against each opponent; `None` if it was told to stop.
    ///
    /// # Errors
    ///
    /// A game could not be played to its end by the rules.
    pub fn play(
        self,
        subject: &Subject,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Option<[PairCounts; OPPONENTS.len()]>, LadderError> {
        let watchdog = Watchdog::start().map_err(LadderError::NoThread)?;
        let suite = Suite::balanced(Variant::STANDARD)?;
        let mut entrants: Vec<Box<dyn Entrant>> = vec![subject.entrant(&watchdog)];
        for opponent in OPPONENTS {
            let recipe = Recipe::new(opponent.parse()?, Variant::STANDARD, None)?;
            entrants.push(Box::new(HouseEntrant::new(opponent.to_owned(), recipe, &watchdog)));
        }
        let run = Run {
            course: Course::new(self.plan(&entrants, &suite)),
            entrants: &entrants,
            suite: &suite,
            log: None,
            ahead: Vec::new(),
            concurrency: self.concurrency,
            watchdog: &watchdog,
        };
        let course = runner::run(run, stop, observer)?;
        counts(&course)
    }

    fn plan(self, entrants: &[Box<dyn Entrant>], suite: &Suite) -> Plan {
        Plan {
            format: Format::Gauntlet { seeds: 1 },
            entrants: entrants.iter().map(|entrant| entrant.name().to_owned()).collect(),
            variant: Variant::STANDARD.to_string(),
            openings: suite.kind(),
            openings_crc: suite.checksum(),
            orientation: Orientation::Drawn,
            time: BotLimits::default(),
            margin_ms: 0,
            pairs: self.pairs,
            seed: self.seed,
            faults_max: 0,
            sprt: None,
            shard: self.shard,
        }
    }
}

fn counts(course: &Course) -> Result<Option<[PairCounts; OPPONENTS.len()]>, LadderError> {
    let results = course.results();
    if results.faults() > 0 {
        return Err(LadderError::Failed { faults: results.faults(), games: results.games() });
    }
    let is_complete = course.over().is_some();
    Ok(is_complete.then(|| std::array::from_fn(|rung| results.meeting(0, rung + 1).pairs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Observer for Nobody {}

    fn climb(bot: &str, pairs: u64, stop: &Stop) -> Option<[f64; 4]> {
        let recipe = Recipe::new(bot.parse().unwrap(), Variant::STANDARD, None).unwrap();
        let climb = Climb { pairs, seed: 1, concurrency: NonZeroUsize::new(2).unwrap(), shard: None };
        let counts = climb.play(&Subject::House(recipe), stop, &mut Nobody).unwrap()?;
        Some(counts.map(|pairs| pairs.mean()))
    }

    #[test]
    fn random_loses_and_repeats() {
        let points = climb("random", 3, &Stop::default()).unwrap();
        assert!(points.iter().all(|&points| points < 0.2), "{points:?}");
        assert_eq!(climb("random", 3, &Stop::default()), Some(points));
    }

    #[test]
    fn a_rung_is_a_draw_for_itself() {
        let points = climb("negamax:depth=2", 4, &Stop::default()).unwrap();
        assert!((points[0] - 0.5).abs() < 1e-9 && points[2] < 0.5, "{points:?}");
    }

    #[test]
    fn whoever_is_told_to_stop_has_no_points() {
        let stop = Stop::default();
        stop.set();
        assert_eq!(climb("random", 50, &stop), None);
    }
}
