//! What every store counts alike of attempts that failed.

use std::time::Duration;

use super::attempts::{Attempt, AttemptRule, AttemptStore};
use super::conformance::Fixture;

/// Longer than any machine takes for the few steps of a test.
const LONG: AttemptRule = AttemptRule { name: "long", max: 3, window: Duration::from_mins(10) };

/// To be waited for.
const SHORT: AttemptRule = AttemptRule { name: "short", max: 1, window: Duration::from_secs(2) };

async fn begin(attempts: &dyn AttemptStore, rule: AttemptRule, key: &str) -> Option<i64> {
    match attempts.begin(rule, key).await.unwrap() {
        Attempt::Counted(number) => Some(number),
        Attempt::MustWait(wait) => {
            assert!(!wait.is_zero() && wait <= rule.window, "{wait:?}");
            None
        }
    }
}

pub(crate) async fn so_many_attempts_of_a_key_are_let_through<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let attempts = store.attempts();
    for _ in 0..3 {
        assert!(begin(attempts, LONG, "ada").await.is_some());
    }
    assert_eq!(begin(attempts, LONG, "ada").await, None);
    assert!(begin(attempts, LONG, "bob").await.is_some(), "another key");
    assert!(begin(attempts, SHORT, "ada").await.is_some(), "another rule");
}

pub(crate) async fn attempts_are_taken_back_one_by_one_or_all<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let attempts = store.attempts();
    let mut numbers = Vec::new();
    for _ in 0..3 {
        numbers.push(begin(attempts, LONG, "ada").await.unwrap());
    }
    attempts.withdraw(LONG, "ada", numbers[1]).await.unwrap();
    attempts.withdraw(LONG, "nobody", numbers[0]).await.unwrap();
    assert!(begin(attempts, LONG, "ada").await.is_some());
    assert_eq!(begin(attempts, LONG, "ada").await, None);
    attempts.forget(LONG, "ada").await.unwrap();
    for _ in 0..3 {
        assert!(begin(attempts, LONG, "ada").await.is_some());
    }
    assert_eq!(begin(attempts, LONG, "ada").await, None);
}

pub(crate) async fn attempts_at_the_same_time_do_not_slip_through_together<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let all = (0..12).map(|_| begin(store.attempts(), LONG, "ada"));
    let counted = futures::future::join_all(all).await.into_iter().flatten().count();
    assert_eq!(counted, 3);
}

pub(crate) async fn attempts_are_forgotten_when_their_window_has_passed<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let attempts = store.attempts();
    assert!(matches!(attempts.begin(SHORT, "ada").await.unwrap(), Attempt::Counted(_)));
    while let Attempt::MustWait(wait) = attempts.begin(SHORT, "ada").await.unwrap() {
        assert!(wait <= SHORT.window, "{wait:?}");
        tokio::time::sleep(wait).await;
    }
}

/// Makes a test of each check.
macro_rules! conformance_of_attempts {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_attempts:
            so_many_attempts_of_a_key_are_let_through,
            attempts_are_taken_back_one_by_one_or_all,
            attempts_at_the_same_time_do_not_slip_through_together,
            attempts_are_forgotten_when_their_window_has_passed,
        );
    };
}
pub(crate) use conformance_of_attempts;
