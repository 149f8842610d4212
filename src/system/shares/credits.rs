//! Credits that refill evenly: pure, the caller says what time it is.
//!
//! All are there at first, then one comes back each `period / amount`: the leaky bucket as a meter ("generic cell rate
//! algorithm", ITU-T I.371), which needs one time stamp and no timer. A cost may be larger than one, and known only
//! afterwards.

use std::time::{Duration, Instant};

/// So many credits, which take a period to come back. Whoever spends at most `amount` in any period is never refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    pub(crate) amount: u32,
    pub(crate) period: Duration,
}

impl Budget {
    pub(crate) const fn new(amount: u32, period: Duration) -> Self {
        Self { amount, period }
    }

    /// How long it takes for so many credits to come back. No credits at all count as one.
    fn time_of(self, cost: u64) -> Duration {
        let nanos = self.period.as_nanos() * u128::from(cost) / u128::from(self.amount.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// What is left of a budget.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Credits {
    /// When all credits are back; in the past when none is missing.
    full_at: Option<Instant>,
}

impl Credits {
    /// How long until there are so many credits; zero if they are there. Whoever asks for more than there can be waits
    /// for all of them.
    pub(crate) fn wait(self, budget: Budget, cost: u64, now: Instant) -> Duration {
        let cost = cost.min(u64::from(budget.amount.max(1)));
        (self.missing(now) + budget.time_of(cost)).saturating_sub(budget.period)
    }

    /// Takes so many credits, whether they are there or not.
    pub(crate) fn take(&mut self, budget: Budget, cost: u64, now: Instant) {
        // A debt of centuries is none that a clock could hold.
        self.full_at = now.checked_add(self.missing(now) + budget.time_of(cost)).or(self.full_at);
    }

    /// Takes one credit.
    ///
    /// # Errors
    ///
    /// Says how long to wait for the next one. A refusal costs nothing.
    pub(crate) fn spend(&mut self, budget: Budget, now: Instant) -> Result<(), Duration> {
        self.spend_many(budget, 1, now)
    }

    /// Takes so many credits, or none.
    ///
    /// # Errors
    ///
    /// Says how long to wait until they are there. A refusal costs nothing.
    pub(crate) fn spend_many(&mut self, budget: Budget, cost: u64, now: Instant) -> Result<(), Duration> {
        let wait = self.wait(budget, cost, now);
        if cost == 0 || wait.is_zero() {
            self.take(budget, cost, now);
            Ok(())
        } else {
            Err(wait)
        }
    }

    /// How long until nothing is missing.
    pub(crate) fn missing(self, now: Instant) -> Duration {
        self.full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNDRED: Budget = Budget::new(100, Duration::from_secs(20));

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn who_keeps_within_the_budget_of_every_period_is_never_refused() {
        let start = Instant::now();
        let mut credits = Credits::default();
        for period in 0..5 {
            for _ in 0..100 {
                assert_eq!(credits.spend(HUNDRED, start + 20 * ms(1_000) * period), Ok(()));
            }
        }
    }

    #[test]
    fn one_more_waits_for_one_credit_and_a_refusal_costs_nothing() {
        let start = Instant::now();
        let mut credits = Credits::default();
        credits.take(HUNDRED, 100, start);
        assert_eq!(credits.spend(HUNDRED, start), Err(ms(200)));
        assert_eq!(credits.spend(HUNDRED, start + ms(199)), Err(ms(1)));
        assert_eq!(credits.spend(HUNDRED, start + ms(200)), Ok(()));
    }

    #[test]
    fn a_debt_is_waited_for() {
        let start = Instant::now();
        let mut credits = Credits::default();
        assert_eq!(credits.spend(HUNDRED, start), Ok(()));
        credits.take(HUNDRED, 199, start);
        assert_eq!(credits.wait(HUNDRED, 1, start), 20 * ms(1_000) + ms(200));
    }

    #[test]
    fn credits_of_less_than_a_nanosecond_each_are_counted() {
        let start = Instant::now();
        let budget = Budget::new(4_000_000_000, Duration::from_secs(1));
        let mut credits = Credits::default();
        credits.take(budget, 4_000_000_000, start);
        assert_eq!(credits.wait(budget, 2_000_000_000, start), ms(500));
    }

    #[test]
    fn more_than_there_can_be_waits_for_all_and_none_at_all_means_one() {
        let start = Instant::now();
        assert_eq!(Credits::default().wait(HUNDRED, 1_000, start), Duration::ZERO);
        let none = Budget::new(0, Duration::from_secs(1));
        let mut credits = Credits::default();
        assert_eq!(credits.spend(none, start), Ok(()));
        assert_eq!(credits.spend(none, start), Err(Duration::from_secs(1)));
    }

    #[test]
    fn a_cost_without_end_is_no_panic() {
        let start = Instant::now();
        let mut credits = Credits::default();
        for _ in 0..3 {
            credits.take(HUNDRED, u64::MAX, start);
        }
        assert!(credits.spend(HUNDRED, start).is_err());
    }
}
