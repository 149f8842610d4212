//! What every store must do alike with sessions that a planned stop has left.

use super::conformance::Fixture;
use super::left_sessions::LeftSession;
use super::store::{Store, Write, Written};

async fn set(store: &dyn Store, sessions: &[LeftSession]) {
    let outcome = store.commit(&[Write::SetLeftSessions(sessions.to_vec())]).await.unwrap().remove(0);
    assert_eq!(outcome, Ok(Written::Done));
}

fn left(session: &str, after: u64, ends: &[(u64, &str)]) -> LeftSession {
    let ends = ends.iter().map(|(message, game)| (*message, game.parse().unwrap())).collect();
    LeftSession { session: session.parse().unwrap(), after, ends }
}

pub(crate) async fn sessions_that_were_left_are_read_back_until_others_take_their_place<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    assert_eq!(store.left_sessions().await.unwrap(), []);
    let longest = "g".repeat(64);
    let silent = left("Anna", 0, &[]);
    let told = left("b-_9", i64::MAX as u64, &[(1, "x"), (u64::MAX, &longest)]);
    set(&*store, &[told.clone(), silent.clone()]).await;
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.left_sessions().await.unwrap(), [silent.clone(), told.clone()]);

    let again = left("b-_9", 7, &[(8, "y")]);
    set(&*store, std::slice::from_ref(&again)).await;
    assert_eq!(store.left_sessions().await.unwrap(), [again]);
    set(&*store, &[]).await;
    assert_eq!(store.left_sessions().await.unwrap(), []);
}

/// Makes a test of each check.
macro_rules! conformance_of_left_sessions {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_left_sessions:
            sessions_that_were_left_are_read_back_until_others_take_their_place,
        );
    };
}
pub(crate) use conformance_of_left_sessions;
