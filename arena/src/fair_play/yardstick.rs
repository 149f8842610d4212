//! What people of a rating manage, from their own games.

use std::collections::{BTreeMap, HashSet};

use fourfold_bots::Level;

use super::decision::{CLASSES, Decision, LEVELS};

/// Points of rating of one band.
pub(super) const BAND: i32 = 200;

/// Decisions of others in a band before it says anything: the level is then known to within half of one.
const DECISIONS_MIN: f64 = 300.0;

/// Others in a band: fewer may be a family, or one person with several accounts.
const PLAYERS_MIN: usize = 5;

/// Levels by which an honest player may be better than people of the same rating: see the table in `docs/fair-play.md`
/// for what less would cost. One level sees two plies further.
const SLACK: f64 = 2.0;

/// How many decisions of a class the shipped expectation counts for, beside those of the arena.
const PRIOR: f64 = 50.0;

/// A decision is hard if people of the rating fail so often in it, at least, even if they are better than it.
const HARD: f64 = 0.15;

/// A decision of somebody in a rated game.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    pub player: usize,
    /// What it was before the game.
    pub rating: i32,
    pub decision: &'a Decision,
    pub kept: bool,
}

/// Sums over decisions.
#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    /// How many failures each level would make.
    expected: [f64; LEVELS],
    failed: f64,
    decisions: f64,
}

impl Sums {
    /// Adds others, or takes them away.
    fn add(&mut self, other: &Self, sign: f64) {
        for (sum, part) in self.expected.iter_mut().zip(&other.expected) {
            *sum += sign * part;
        }
        self.failed += sign * other.failed;
        self.decisions += sign * other.decisions;
    }

    /// Who fails as often as these did, or a little less often: two standard deviations.
    fn level(&self) -> f64 {
        let failed = (self.failed - 2.0 * self.failed.max(0.0).sqrt()).max(0.0);
        let mut before: Option<(f64, f64)> = None;
        for (level, &expected) in (1..).zip(&self.expected) {
            let level = f64::from(level);
            if expected <= failed {
                return before.map_or(level, |(lower, more)| lower + (more - failed) / (more - expected));
            }
            before = Some((level, expected));
        }
        f64::from(Level::MAX)
    }
}

/// What people of each rating manage.
#[derive(Debug, Default)]
pub struct Yardstick {
    /// By player, by band.
    own: BTreeMap<(usize, i32), Sums>,
    bands: BTreeMap<i32, (Sums, HashSet<usize>)>,
    /// Failures and those expected, by class.
    classes: [(f64, f64); CLASSES],
}

impl Yardstick {
    /// Of all decisions of people in rated games against people.
    pub fn new(samples: &[Sample<'_>]) -> Self {
        let mut made = Self::default();
        for sample in samples {
            let band = sample.rating.div_euclid(BAND);
            let failed = if sample.kept { 0.0 } else { 1.0 };
            let sums = Sums { expected: sample.decision.fails, failed, decisions: 1.0 };
            made.own.entry((sample.player, band)).or_default().add(&sums, 1.0);
            let (of_band, players) = made.bands.entry(band).or_default();
            of_band.add(&sums, 1.0);
            players.insert(sample.player);
        }
        let levels: BTreeMap<i32, f64> =
            made.bands.iter().map(|(&band, (sums, _))| (band, sums.level())).collect();
        for sample in samples {
            let expected = sample.decision.fail_at(levels[&sample.rating.div_euclid(BAND)]);
            let (failures, of_level) = &mut made.classes[sample.decision.class];
            *failures += if sample.kept { 0.0 } else { 1.0 };
            *of_level += expected;
        }
        made
    }

    /// The level of the people around this rating, without the player who is held against them. Where they are few,
    /// those of the bands above are taken in; where these are few too, it is the highest.
    fn level(&self, player: usize, rating: i32) -> f64 {
        let (mut sums, mut others) = (Sums::default(), HashSet::new());
        for (&band, (of_band, players)) in self.bands.range(rating.div_euclid(BAND)..) {
            sums.add(of_band, 1.0);
            if let Some(own) = self.own.get(&(player, band)) {
                sums.add(own, -1.0);
            }
            others.extend(players.iter().copied().filter(|other| *other != player));
            if sums.decisions >= DECISIONS_MIN && others.len() >= PLAYERS_MIN {
                return sums.level();
            }
        }
        f64::from(Level::MAX)
    }

    /// What a player of a rating is held against.
    pub fn measure(&self, player: usize, rating: i32) -> Measure<'_> {
        Measure { yardstick: self, level: self.level(player, rating) }
    }
}

/// What people of one rating manage.
#[derive(Clone, Copy, Debug)]
pub struct Measure<'a> {
    yardstick: &'a Yardstick,
    level: f64,
}

impl Measure<'_> {
    /// How likely people of the rating fail, as far as they are known.
    pub(super) fn usual(&self, decision: &Decision) -> f64 {
        self.corrected(decision, decision.fail_at(self.level))
    }

    /// How likely an honest player fails at least. `None` if the decision is not hard.
    pub(super) fn at_least(&self, decision: &Decision) -> Option<f64> {
        Some(self.corrected(decision, decision.least_up_to(self.level + SLACK))).filter(|fail| *fail >= HARD)
    }

    /// In classes in which people fail less often than the levels do, less is expected; never more.
    fn corrected(&self, decision: &Decision, fail: f64) -> f64 {
        let (failed, expected) = self.yardstick.classes[decision.class];
        fail * ((failed + PRIOR) / (expected + PRIOR)).min(1.0)
    }
}
