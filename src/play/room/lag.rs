//! How much of a move's time is given back for the network: pure.
//!
//! Only round trips that the server measured itself count. People draw on a quota, so that holding back pongs gains
//! at most that quota; bots get a small fixed cap for each move, because they are told their round trip and can
//! plan with it.

use std::time::Duration;

use crate::model::player::PlayerKind;

/// Most that a bot gets back for one move.
const BOT_CREDIT_MAX: Duration = Duration::from_millis(40);

/// Most that a person gets back for one move: above half a second, the connection is the person's to mend.
const PERSON_CREDIT_MAX: Duration = Duration::from_millis(500);

/// What a person's quota starts with.
const QUOTA_START: Duration = Duration::from_secs(1);

/// What each move adds to the quota: an ordinary mobile connection never runs out.
const QUOTA_GAIN: Duration = Duration::from_millis(100);

/// Most that a quota holds.
const QUOTA_MAX: Duration = Duration::from_millis(1_500);

/// The lag allowance of one seat in one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LagAllowance {
    per_move: Duration,
    /// Bots have none: their cap is small enough.
    quota: Option<Duration>,
}

impl LagAllowance {
    /// The allowance at the start of a game.
    pub(crate) fn new(kind: PlayerKind) -> Self {
        match kind {
            PlayerKind::Bot => Self { per_move: BOT_CREDIT_MAX, quota: None },
            PlayerKind::Human | PlayerKind::Guest => {
                Self { per_move: PERSON_CREDIT_MAX, quota: Some(QUOTA_START) }
            }
        }
    }

    /// Most that the next move may get back, whatever its round trip.
    pub(crate) fn limit(&self) -> Duration {
        self.quota.map_or(self.per_move, |quota| quota.min(self.per_move))
    }

    /// What a move with this measured round trip gets back.
    pub(crate) fn credit(&self, round_trip: Duration) -> Duration {
        round_trip.min(self.limit())
    }

    /// Books what a move got back.
    pub(crate) fn spend(&mut self, credited: Duration) {
        if let Some(quota) = &mut self.quota {
            *quota = (quota.saturating_sub(credited) + QUOTA_GAIN).min(QUOTA_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_bot_gets_its_round_trip_up_to_the_cap() {
        let allowance = LagAllowance::new(PlayerKind::Bot);
        assert_eq!(allowance.credit(ms(3)), ms(3));
        assert_eq!(allowance.credit(ms(900)), BOT_CREDIT_MAX);
    }

    #[test]
    fn a_person_with_slow_pongs_gains_at_most_the_quota() {
        let mut allowance = LagAllowance::new(PlayerKind::Human);
        let mut total = Duration::ZERO;
        let moves = 20;
        for _ in 0..moves {
            let credited = allowance.credit(ms(10_000));
            allowance.spend(credited);
            total += credited;
        }
        assert!(total <= QUOTA_START + QUOTA_GAIN * moves, "{total:?}");
    }

    #[test]
    fn an_ordinary_connection_never_runs_out() {
        let mut allowance = LagAllowance::new(PlayerKind::Guest);
        for _ in 0..100 {
            let credited = allowance.credit(ms(80));
            assert_eq!(credited, ms(80));
            allowance.spend(credited);
        }
    }
}
