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

    /// The part of what comes in that goes to this class.
    fn share(self) -> f64 {
        match self {
            Self::Quick => QUICK_SHARE,
            Self::Slow => 1.0 - QUICK_SHARE,
        }
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

/// The classes that wait, because another game tells next to nothing: see [`super::calm`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CalmClasses {
    pub(crate) quick: bool,
    pub(crate) slow: bool,
}

impl CalmClasses {
    pub(crate) fn is_calm(self, class: BudgetClass) -> bool {
        match class {
            BudgetClass::Quick => self.quick,
            BudgetClass::Slow => self.slow,
        }
    }

    /// This class is in a hurry again.
    pub(crate) fn wake(&mut self, class: BudgetClass) {
        match class {
            BudgetClass::Quick => self.quick = false,
            BudgetClass::Slow => self.slow = false,
        }
    }

    /// Whether nobody is in a hurry.
    pub(crate) fn is_complete(self) -> bool {
        self.quick && self.slow
    }
}

/// What else goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// Nothing: the bots have the machine.
    Alone,
    /// People play or wait for somebody: they come first.
    People,
}

impl Activity {
    fn part(self) -> f64 {
        match self {
            Self::Alone => 1.0,
            Self::People => WITH_PEOPLE,
        }
    }
}

/// Both compute budgets, in seconds of one core.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Budget {
    /// What comes in per second.
    income: f64,
    /// What comes in per second while there is no hurry.
    calm_income: f64,
    quick: f64,
    slow: f64,
}

impl Budget {
    /// Full budgets on a machine of so many cores, of which `percent` may be used, and while there is no hurry
    /// `calm_percent` of one core, if that is less.
    #[expect(clippy::cast_precision_loss, reason = "no machine has 2^52 cores")]
    pub(crate) fn new(cores: usize, percent: u32, calm_percent: u32) -> Self {
        let income = cores as f64 * f64::from(percent) / 100.0;
        let calm_income = income.min(f64::from(calm_percent) / 100.0);
        let full = |share: f64| share * income * SAVED_MAX;
        Self { income, calm_income, quick: full(QUICK_SHARE), slow: full(1.0 - QUICK_SHARE) }
    }

    /// Time goes by.
    pub(crate) fn pass(&mut self, time: Duration, activity: Activity, calm: CalmClasses) {
        let [quick_comes, slow_comes] = [BudgetClass::Quick, BudgetClass::Slow].map(|class| {
            let full = self.income * activity.part();
            let income = if calm.is_calm(class) { full.min(self.calm_income) } else { full };
            income * class.share() * time.as_secs_f64()
        });
        let quick = self.quick + quick_comes;
        self.quick = quick.min(self.saved_max(BudgetClass::Quick, calm));
        let left_over = (quick - self.quick).min(quick_comes);
        self.slow = (self.slow + slow_comes + left_over).min(self.saved_max(BudgetClass::Slow, calm));
    }

    /// What may be saved: while there is no hurry, what was saved before is not spent either.
    fn saved_max(&self, class: BudgetClass, calm: CalmClasses) -> f64 {
        let income = if calm.is_calm(class) { self.calm_income } else { self.income };
        class.share() * income * SAVED_MAX
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
            BudgetClass::Quick => self.quick = (self.quick - seconds).max(class.share() * debt),
            BudgetClass::Slow => self.slow = (self.slow - seconds).max(class.share() * debt),
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
        let (mut budget, mut used) = (Budget::new(4, 25, 3), 0.0);
        for _ in 0..86_400 {
            budget.pass(SECOND, activity, CalmClasses::default());
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
    }

    #[test]
    fn a_slow_bot_does_not_stop_the_quick_ones() {
        let mut budget = Budget::new(2, 25, 3);
        budget.spend(BudgetClass::Slow, 100 * SECOND);
        assert!(!budget.allows(BudgetClass::Slow) && budget.allows(BudgetClass::Quick));
        budget.spend(BudgetClass::Quick, 100 * SECOND);
        assert!(!budget.allows(BudgetClass::Quick));
        budget.pass(Duration::from_secs_f64(DEBT_MAX + 1.0), Activity::Alone, CalmClasses::default());
        assert!(budget.allows(BudgetClass::Slow) && budget.allows(BudgetClass::Quick), "debts end");
    }

    #[test]
    fn standing_still_is_not_made_up_for() {
        let mut budget = Budget::new(4, 25, 3);
        let full = budget;
        budget.pass(3_600 * SECOND, Activity::Alone, CalmClasses::default());
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
