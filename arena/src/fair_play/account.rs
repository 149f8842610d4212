//! The evidence on one player.

use std::collections::HashSet;

use super::decision::Decided;
use super::yardstick::Measure;

/// Evidence from which on an operator should look: an honest player reaches it, ever, with a chance of one in so many.
pub const FOUND: f64 = 10_000.0;

/// The natural logarithm of what evidence is said to be at most: a finite number.
const LOG_MAX: f64 = 600.0;

/// How much of the moves somebody may be helped with: a bet on each, with equal stakes.
const HELP: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.95];

/// Plies for which whoever has kept a value may still be carrying out what was seen then: six moves of each side.
pub(super) const PLAN: u32 = 12;

/// A decision in which people of the rating fail less often than this begins no plan: it is seen at a glance, such as
/// a parry. If every decision began one, fewer of those who are always helped would be found: in 50 games at level 6
/// 72 of 100, not 81.
const PLANNED: f64 = 0.05;

/// A player's hard decisions, and a bet on help.
///
/// Each bet begins with a stake of one. With a share `h` of help, a hard decision in which an honest player keeps the
/// value with a chance of at most `p` is kept with one of `p + h (1 - p)`. A kept one multiplies the stake by
/// `1 + h (1 - p) / p`, a failed one by `1 - h`: on average by one at most, if the player is honest. Such a stake ever
/// reaches N with a chance of 1 / N at most (Ville's inequality), however often one looks.
#[derive(Clone, Debug)]
pub struct Account {
    /// Natural logarithms of the stakes.
    stakes: [f64; HELP.len()],
    highest: f64,
    seen: HashSet<u64>,
    pub decisions: u32,
    pub kept: u32,
    /// Kept by people of the same ratings, on average.
    pub expected: f64,
    variance: f64,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            stakes: [0.0; HELP.len()],
            highest: 0.0,
            seen: HashSet::new(),
            decisions: 0,
            kept: 0,
            expected: 0.0,
            variance: 0.0,
        }
    }
}

impl Account {
    /// Adds a game: each hard decision that the player has not met before, unless it lies within a plan: it may have
    /// been decided with the one that began it, so it is no bet of its own. What was met before may be known by heart.
    /// True if there was one.
    pub fn add(&mut self, measure: Measure<'_>, game: &[Decided]) -> bool {
        let before = self.decisions;
        let mut plan_until = 0;
        for decided in game {
            let ply = decided.decision.ply;
            if ply < plan_until {
                continue;
            }
            if decided.kept && measure.usual(&decided.decision) >= PLANNED {
                plan_until = ply + PLAN;
            }
            self.decide(measure, decided);
        }
        self.highest = self.highest.max(self.log_evidence());
        self.decisions > before
    }

    /// Bets on a decision, if it is hard and new.
    fn decide(&mut self, measure: Measure<'_>, Decided { decision, kept }: &Decided) {
        let Some(fail) = measure.at_least(decision) else { return };
        if !self.seen.insert(decision.key) {
            return;
        }
        let usual = measure.usual(decision);
        self.decisions += 1;
        self.kept += u32::from(*kept);
        self.expected += 1.0 - usual;
        self.variance += usual * (1.0 - usual);
        self.bet(1.0 - fail, *kept);
    }

    fn bet(&mut self, keeps: f64, kept: bool) {
        for (stake, help) in self.stakes.iter_mut().zip(HELP) {
            let factor =
                if kept { 1.0 + help * (1.0 - keeps) / keeps.max(f64::MIN_POSITIVE) } else { 1.0 - help };
            *stake += factor.ln();
        }
    }

    /// The natural logarithm of what the bets are worth now, on average.
    pub fn log_evidence(&self) -> f64 {
        let most = self.stakes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.stakes.iter().map(|stake| (stake - most).exp()).sum();
        most + (sum / f64::from(u32::try_from(HELP.len()).unwrap_or(u32::MAX))).ln()
    }

    /// The highest that the evidence has been after any game: one honest player in so many gets there.
    pub fn evidence(&self) -> f64 {
        self.highest.min(LOG_MAX).exp()
    }

    /// Whether an operator should look.
    pub fn is_found(&self) -> bool {
        self.highest >= FOUND.ln()
    }

    /// Kept decisions of 19 in 20 people of the same ratings, about.
    pub fn range(&self) -> (f64, f64) {
        let spread = 2.0 * self.variance.sqrt();
        ((self.expected - spread).max(0.0), (self.expected + spread).min(f64::from(self.decisions)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::decision::{Decision, LEVELS};
    use super::super::yardstick::{Sample, Yardstick};
    use super::*;

    #[test]
    fn an_honest_player_wins_nothing_on_average() {
        for keeps in [0.05, 0.3, 0.85] {
            let after = |kept| {
                let mut account = Account::default();
                account.bet(keeps, kept);
                account.stakes.map(f64::exp)
            };
            for (kept, failed) in after(true).into_iter().zip(after(false)) {
                assert!((keeps * kept + (1.0 - keeps) * failed - 1.0).abs() < 1e-12);
                assert!(kept > failed, "so who keeps less often loses");
            }
        }
    }

    /// A decision at a ply in which this share fails, of every level.
    fn decision(ply: u32, fail: f64) -> Decision {
        Decision { key: u64::from(ply), ply, class: 0, fails: [fail; LEVELS] }
    }

    #[test]
    fn what_is_kept_within_a_plan_is_no_bet_of_its_own() {
        let hard = decision(10, 0.6);
        let sample = |number: usize| Sample {
            player: number % 6,
            rating: 900,
            decision: &hard,
            kept: number / 6 % 5 >= 3,
        };
        let people = Yardstick::new(&(0..600).map(sample).collect::<Vec<_>>());
        let counted = |game: &[(u32, f64, bool)]| {
            let decided =
                |&(ply, fail, kept): &(u32, f64, bool)| Decided { decision: decision(ply, fail), kept };
            let mut account = Account::default();
            account.add(people.measure(9, 900), &game.iter().map(decided).collect::<Vec<_>>());
            account.decisions
        };
        assert_eq!(counted(&[(10, 0.6, true), (14, 0.6, true), (20, 0.6, false)]), 1);
        assert_eq!(counted(&[(10, 0.6, true), (22, 0.6, true), (32, 0.6, true)]), 2, "twelve plies, no more");
        assert_eq!(counted(&[(10, 0.6, false), (12, 0.6, true)]), 2, "what was not kept was no plan");
        assert_eq!(counted(&[(10, 0.1, true), (14, 0.6, true)]), 0, "it may begin where it is not hard");
        assert_eq!(counted(&[(10, 0.01, true), (14, 0.6, true)]), 1, "but not by a parry");
    }

    #[test]
    fn what_was_won_once_stays_said() {
        let mut account = Account::default();
        for kept in [true; 12].into_iter().chain([false; 12]) {
            account.bet(0.4, kept);
            account.highest = account.highest.max(account.log_evidence());
        }
        assert!(account.is_found() && account.log_evidence() < 0.0);
    }
}
