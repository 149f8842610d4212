//! The part of the suite for all back ends that is about versions, self-tests and faults of remote bots.

use super::bot_versions::{BotFault, BotVersion, FAULTS_MAX, FaultKind, StoredTest, VERSIONS_MAX};
use super::conformance::{Fixture, NOON, add_players, after_noon, player_id};
use super::store::{Refused, Store, TestOutcome, Write, Written};

/// Makes a test of each check.
macro_rules! conformance_of_bot_versions {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_bot_versions:
            versions_are_listed_those_seen_last_first,
            a_test_that_was_passed_stays_passed,
            only_so_many_versions_are_kept,
            faults_are_listed_the_newest_first_and_only_so_many_kept,
            whoever_leaves_takes_versions_and_faults_along,
            what_nobody_did_is_refused,
        );
    };
}
pub(crate) use conformance_of_bot_versions;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().pop().unwrap()
}

fn see(version: &str, ms: i64) -> Write {
    Write::SeeVersion { bot: player_id("Ada"), version: version.into(), at: after_noon(ms) }
}

fn test(version: &str, ms: i64, outcome: TestOutcome) -> Write {
    let test = StoredTest { at: after_noon(ms), report: format!("{{\"of\":{ms}}}") };
    Write::SaveTest { bot: player_id("Ada"), version: version.into(), test, outcome }
}

fn fault(ms: i64) -> BotFault {
    BotFault {
        bot: player_id("Ada"),
        game: (ms % 2 == 0).then(|| "g1".parse().unwrap()),
        kind: FaultKind::IllegalMove,
        note: format!("column {ms} is full"),
        at: after_noon(ms),
    }
}

async fn with_ada<F: Fixture>() -> F {
    let fixture = F::create().await;
    add_players(&*fixture.store(), &["Ada", "Bob"]).await;
    fixture
}

pub(crate) async fn versions_are_listed_those_seen_last_first<F: Fixture>() {
    let fixture = with_ada::<F>().await;
    let store = fixture.store();
    for (version, ms) in [("1", 0), ("2", 10), ("1", 20), ("1", 15)] {
        write(&*store, see(version, ms)).await.unwrap();
    }
    let one = BotVersion { last_seen: after_noon(20), ..BotVersion::seen("1", NOON) };
    let expected = [one.clone(), BotVersion::seen("2", after_noon(10))];
    let ada = player_id("Ada");
    assert_eq!(store.bot_versions(&ada).await.unwrap(), expected);
    assert_eq!(store.bot_version(&ada, "1").await.unwrap(), Some(one));
    assert_eq!(store.bot_version(&ada, "3").await.unwrap(), None);
    assert_eq!(store.bot_versions(&player_id("Bob")).await.unwrap(), []);
}

pub(crate) async fn a_test_that_was_passed_stays_passed<F: Fixture>() {
    let fixture = with_ada::<F>().await;
    let ada = player_id("Ada");
    for (ms, outcome, passed_at) in [
        (1, TestOutcome::Failed, None),
        (2, TestOutcome::Passed, Some(after_noon(2))),
        (3, TestOutcome::Failed, Some(after_noon(2))),
    ] {
        let store = fixture.store();
        write(&*store, test("", ms, outcome)).await.unwrap();
        let known = store.bot_version(&ada, "").await.unwrap().unwrap();
        assert_eq!(known.passed_at, passed_at);
        let report = StoredTest { at: after_noon(ms), report: format!("{{\"of\":{ms}}}") };
        assert_eq!(known.tested, Some(report));
    }
    let fixture = fixture.reopen().await;
    let known = fixture.store().bot_version(&ada, "").await.unwrap().unwrap();
    assert_eq!((known.first_seen, known.passed_at), (after_noon(1), Some(after_noon(2))));
}

pub(crate) async fn only_so_many_versions_are_kept<F: Fixture>() {
    let fixture = with_ada::<F>().await;
    let store = fixture.store();
    for ms in 0..=i64::from(VERSIONS_MAX) {
        write(&*store, see(&ms.to_string(), ms)).await.unwrap();
    }
    let versions = store.bot_versions(&player_id("Ada")).await.unwrap();
    assert_eq!(versions.len(), VERSIONS_MAX as usize);
    assert_eq!(versions.last().unwrap().version, "1");
}

pub(crate) async fn faults_are_listed_the_newest_first_and_only_so_many_kept<F: Fixture>() {
    let fixture = with_ada::<F>().await;
    let store = fixture.store();
    let last = i64::from(FAULTS_MAX);
    for ms in 0..=last {
        write(&*store, Write::AddFault(fault(ms))).await.unwrap();
    }
    let ada = player_id("Ada");
    assert_eq!(store.bot_faults(&ada, 2).await.unwrap(), [fault(last), fault(last - 1)]);
    let all = store.bot_faults(&ada, 1_000).await.unwrap();
    assert_eq!((all.len(), all.last()), (FAULTS_MAX as usize, Some(&fault(1))));
    assert_eq!(store.bot_faults(&player_id("Bob"), 9).await.unwrap(), []);
}

pub(crate) async fn whoever_leaves_takes_versions_and_faults_along<F: Fixture>() {
    let fixture = with_ada::<F>().await;
    let store = fixture.store();
    let ada = player_id("Ada");
    for change in [see("1", 0), Write::AddFault(fault(1))] {
        write(&*store, change).await.unwrap();
    }
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: ada.clone(), name }).await.unwrap();
    assert_eq!(store.bot_versions(&ada).await.unwrap(), []);
    assert_eq!(store.bot_faults(&ada, 9).await.unwrap(), []);
}

pub(crate) async fn what_nobody_did_is_refused<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    for change in [see("1", 0), test("1", 0, TestOutcome::Passed), Write::AddFault(fault(0))] {
        assert_eq!(write(&*store, change).await, Err(Refused::NoSuchPlayer));
    }
}
