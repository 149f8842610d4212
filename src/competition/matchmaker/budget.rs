//! How much thinking the ladder may cost: a share of the machine, measured on the threads that think. Pure.
//!
//! What may be spent comes in steadily, and what was really used is taken off. Bots that move at once and bots that
//! search have budgets of their own: otherwise one slow bot would use up in a game what a hundred games of the quick
//! ones cost.

use std::time::Duration;

/// The part of what comes in that goes to quick bots. They cost so little that a quarter is plenty; what they leave
/// goes to the slow ones.
const QUICK_SHARE: f64 = 0.25;

/// What a compute budget holds at most, in seconds of its income: a ladder that stood still for an hour does not make
/// up for it.
const SAVED_MAX: f64 = 10.0;

/// How deep in debt a compute budget can be, in seconds of its income: a bot that has cost more than was thought stops
/// the others of its class for this long, and not for hours.
const DEBT_MAX: f64 = 120.0;

/// What one game costs besides thinking, in seconds: rooms, messages, the database.
const GAME: f64 = 0.01;

/// A move above this is a slow bot's. In between lies nothing: bots either answer in a millisecond or search.
const QUICK_MOVE_MAX: Duration = Duration::from_millis(10);

/// What a bot is thought to need for a move before it has been measured.
const UNKNOWN_MOVE: Duration = Duration::from_millis(5);

/// Moves of one side in the two games of a pair.
const MOVES_OF_PAIR: f64 = 30.0;

/// Part of the share that is left while people play or wait.
const WITH_PEOPLE: f64 = 0.25;

/// Part of the share while nothing new is to be learnt.
const WHEN_SETTLED: f64 = 0.1;

/// Which budget pays for a bot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BudgetClass {
    /// It moves at once.
    Quick,
    /// It searches.
    Slow,
}

impl BudgetClass {
    /// That of a bot whose moves cost so much on average; of a new one, quick.
    pub(crate) fn of(per_move: Option<Duration>) -> Self {
        if per_move.is_some_and(|cost| cost > QUICK_MOVE_MAX) { Self::Slow } else { Self::Quick }
    }

    /// That of a pair: of the slower one.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Quick, Self::Quick) => Self::Quick,
            (Self::Slow, _) | (_, Self::Slow) => Self::Slow,
        }
    }
}

/// What a bot's part in a pair is expected to cost, in seconds.
pub(crate) fn cost_of_pair(per_move: Option<Duration>) -> f64 {
    GAME + MOVES_OF_PAIR * per_move.unwrap_or(UNKNOWN_MOVE).as_secs_f64()
}

/// What else goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// Nothing: the bots have the machine.
    Alone,
    /// People play or wait for somebody: they come first.
    People,
    /// Nothing, and the order of the bots is known.
    Settled,
}

impl Activity {
    fn part(self) -> f64 {
        match self {
            Self::Alone => 1.0,
            Self::People => WITH_PEOPLE,
            Self::Settled => WHEN_SETTLED,
        }
    }
}

/// Both compute budgets, in seconds of one core.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Budget {
    /// What comes in per second.
    income: f64,
    quick: f64,
    slow: f64,
}

impl Budget {
    /// Full budgets on a machine of so many cores, of which `percent` may be used.
    #[expect(clippy::cast_precision_loss, reason = "no machine has 2^52 cores")]
    pub(crate) fn new(cores: usize, percent: u32) -> Self {
        let income = cores as f64 * f64::from(percent) / 100.0;
        let mut budget = Self { income, quick: 0.0, slow: 0.0 };
        budget.pass(Duration::from_secs_f64(SAVED_MAX), Activity::Alone);
        budget
    }

    /// Time goes by.
    pub(crate) fn pass(&mut self, time: Duration, activity: Activity) {
        let comes = self.income * activity.part() * time.as_secs_f64();
        let quick = self.quick + QUICK_SHARE * comes;
        let quick_max = QUICK_SHARE * self.income * SAVED_MAX;
        self.quick = quick.min(quick_max);
        let left_over = quick - self.quick;
        let slow_max = (1.0 - QUICK_SHARE) * self.income * SAVED_MAX;
        self.slow = (self.slow + (1.0 - QUICK_SHARE) * comes + left_over).min(slow_max);
    }

    /// A bot of this class has thought.
    pub(crate) fn spend(&mut self, class: BudgetClass, thinking: Duration) {
        self.take(class, thinking.as_secs_f64());
    }

    /// A pair of games begins.
    pub(crate) fn begin_pair(&mut self, class: BudgetClass) {
        self.take(class, 2.0 * GAME);
    }

    fn take(&mut self, class: BudgetClass, seconds: f64) {
        let debt = -self.income * DEBT_MAX;
        match class {
            BudgetClass::Quick => self.quick = (self.quick - seconds).max(QUICK_SHARE * debt),
            BudgetClass::Slow => self.slow = (self.slow - seconds).max((1.0 - QUICK_SHARE) * debt),
        }
    }

    /// Whether another pair of this class may begin.
    pub(crate) fn allows(&self, class: BudgetClass) -> bool {
        match class {
            BudgetClass::Quick => self.quick > 0.0,
            BudgetClass::Slow => self.slow > 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Seconds of thinking in a day in which each second somebody thinks for so long, whenever it is allowed.
    fn used_in_a_day(class: BudgetClass, thinking: Duration, activity: Activity) -> f64 {
        let (mut budget, mut used) = (Budget::new(4, 25), 0.0);
        for _ in 0..86_400 {
            budget.pass(SECOND, activity);
            if budget.allows(class) {
                budget.spend(class, thinking);
                used += thinking.as_secs_f64();
            }
        }
        used / 86_400.0
    }

    #[track_caller]
    fn check_used(class: BudgetClass, thinking: Duration, activity: Activity, expected: f64) {
        let used = used_in_a_day(class, thinking, activity);
        assert!((used - expected).abs() < 0.01 * expected.max(0.1), "{used} instead of {expected}");
    }

    #[test]
    fn what_is_used_is_the_share() {
        // A quarter of four cores is one. The slow get what the quick leave.
        check_used(BudgetClass::Slow, 10 * SECOND, Activity::Alone, 1.0);
        check_used(BudgetClass::Quick, SECOND, Activity::Alone, 0.25);
        check_used(BudgetClass::Slow, 10 * SECOND, Activity::People, 0.25);
        check_used(BudgetClass::Slow, 10 * SECOND, Activity::Settled, 0.1);
    }

    #[test]
    fn a_slow_bot_does_not_stop_the_quick_ones() {
        let mut budget = Budget::new(2, 25);
        budget.spend(BudgetClass::Slow, 100 * SECOND);
        assert!(!budget.allows(BudgetClass::Slow) && budget.allows(BudgetClass::Quick));
        budget.spend(BudgetClass::Quick, 100 * SECOND);
        assert!(!budget.allows(BudgetClass::Quick));
        budget.pass(Duration::from_secs_f64(DEBT_MAX + 1.0), Activity::Alone);
        assert!(budget.allows(BudgetClass::Slow) && budget.allows(BudgetClass::Quick), "debts end");
    }

    #[test]
    fn standing_still_is_not_made_up_for() {
        let mut budget = Budget::new(4, 25);
        let full = budget;
        budget.pass(3_600 * SECOND, Activity::Alone);
        assert_eq!(budget, full);
    }

    #[test]
    fn bots_are_told_apart_by_their_moves() {
        assert_eq!(BudgetClass::of(None), BudgetClass::Quick);
        assert_eq!(BudgetClass::of(Some(Duration::from_millis(1))), BudgetClass::Quick);
        assert_eq!(BudgetClass::of(Some(Duration::from_millis(100))), BudgetClass::Slow);
        assert_eq!(BudgetClass::Quick.with(BudgetClass::Slow), BudgetClass::Slow);
        assert!(cost_of_pair(Some(Duration::from_millis(100))) > 2.9);
        assert!(cost_of_pair(Some(Duration::ZERO)) > 0.0);
    }
}
