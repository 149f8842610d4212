//! What every store must do alike with reports of players about others.

use super::conformance::{
    FIRST_WINS, Fixture, NOON, add, add_players, after_noon, because, play, player, player_id, spec,
};
use super::moderation::AuditAction;
use super::people::IdleGuests;
use super::reports::{
    NewReport, REPORTS_MAX, ReportQuery, ReportReason, ReportState, ReportStep, ReportVerdict, StoredReport,
};
use super::store::{Refused, Store, Write, Written};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn report(reporter: &str, about: &str) -> NewReport {
    NewReport {
        reporter: player_id(reporter),
        player: player_id(about),
        game: Some("g1".parse().unwrap()),
        reason: ReportReason::Stalling,
        note: "left\nthe game".into(),
        at: NOON,
    }
}

fn handle(number: u64, step: ReportStep) -> Write {
    Write::HandleReport(ReportVerdict { number, step, because: because("looked at it") })
}

async fn states(store: &dyn Store, query: ReportQuery) -> Vec<(u64, ReportState)> {
    let reports = store.reports(query, 9).await.unwrap();
    reports.into_iter().map(|report| (report.number, report.state)).collect()
}

pub(crate) async fn a_report_is_read_back_as_it_was_made<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, Write::AddReport(report("Ada", "Bob"))).await.unwrap();
    let bare = NewReport { game: None, note: String::new(), at: after_noon(1), ..report("Bob", "Ada") };
    write(&*store, Write::AddReport(bare)).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let expected = StoredReport {
        number: 1,
        reporter: Some(player_id("Ada")),
        player: player_id("Bob"),
        game: Some("g1".parse().unwrap()),
        reason: ReportReason::Stalling,
        note: "left\nthe game".into(),
        at: NOON,
        state: ReportState::Open,
        handled_by: None,
    };
    let open = store.reports(ReportQuery::Open, 9).await.unwrap();
    assert_eq!((open.len(), &open[0]), (2, &expected), "the oldest first");
    assert_eq!((open[1].game.as_ref(), &*open[1].note, open[1].at), (None, "", after_noon(1)));
    assert_eq!(store.reports(ReportQuery::Open, 1).await.unwrap().len(), 1);
    assert_eq!(store.reports_by(&player_id("Ada")).await.unwrap(), [expected]);
    for (reporter, about) in [("nobody", "Bob"), ("Ada", "nobody")] {
        let refused = write(&*store, Write::AddReport(report(reporter, about))).await;
        assert_eq!(refused, Err(Refused::NoSuchPlayer));
    }
}

pub(crate) async fn somebody_has_one_open_report_about_somebody<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    let add = |reporter: &str, about: &str| Write::AddReport(report(reporter, about));
    write(&*store, add("Ada", "Bob")).await.unwrap();
    assert_eq!(write(&*store, add("Ada", "Bob")).await, Err(Refused::ReportedAlready));
    write(&*store, add("Eve", "Bob")).await.unwrap();
    write(&*store, add("Ada", "Eve")).await.unwrap();
    write(&*store, handle(1, ReportStep::Take)).await.unwrap();
    assert_eq!(write(&*store, add("Ada", "Bob")).await, Err(Refused::ReportedAlready));
    write(&*store, handle(1, ReportStep::Dismiss)).await.unwrap();
    assert_eq!(write(&*store, add("Ada", "Bob")).await, Ok(Written::Done));
}

pub(crate) async fn what_operators_do_with_a_report_stands_in_the_log<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    for reporter in ["Ada", "Eve"] {
        write(&*store, Write::AddReport(report(reporter, "Bob"))).await.unwrap();
    }
    write(&*store, handle(2, ReportStep::Take)).await.unwrap();
    let open = store.reports(ReportQuery::Open, 9).await.unwrap();
    assert_eq!(open[1].handled_by.as_deref(), Some("a test"));
    write(&*store, handle(2, ReportStep::Resolve)).await.unwrap();
    for step in [ReportStep::Take, ReportStep::Dismiss, ReportStep::Resolve] {
        assert_eq!(write(&*store, handle(2, step)).await, Err(Refused::ReportClosed));
        assert_eq!(write(&*store, handle(3, step)).await, Err(Refused::NoSuchReport));
        assert_eq!(write(&*store, handle(u64::MAX, step)).await, Err(Refused::NoSuchReport));
    }
    assert_eq!(states(&*store, ReportQuery::Open).await, [(1, ReportState::Open)]);
    let all = [(2, ReportState::Resolved), (1, ReportState::Open)];
    assert_eq!(states(&*store, ReportQuery::All).await, all);
    let log = store.audit_log(None, 9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.action, entry.detail.as_deref())).collect();
    let steps = [AuditAction::ResolveReport, AuditAction::TakeReport];
    assert_eq!(told, steps.map(|action| (action, Some("report 2"))));
    assert_eq!((log[0].subject.as_str(), &*log[0].reason), (player_id("Bob").as_str(), "looked at it"));
}

pub(crate) async fn of_whoever_leaves_the_words_go_and_the_report_stays<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    play(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    write(&*store, Write::AddReport(report("Ada", "Bob"))).await.unwrap();
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: player_id("Ada"), name }).await.unwrap();
    let left = store.reports(ReportQuery::Open, 9).await.unwrap().remove(0);
    assert_eq!((&*left.note, left.reporter), ("", Some(player_id("Ada"))));
}

pub(crate) async fn a_guest_who_has_gone_is_not_the_next_ones_reporter<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    write(&*store, add(player("guest-old", PlayerKind::Guest))).await.unwrap();
    for (reporter, about) in [("guest-old", "Ada"), ("Ada", "guest-old")] {
        write(&*store, Write::AddReport(report(reporter, about))).await.unwrap();
    }
    let idle = IdleGuests { stored_before: after_noon(9), tried_before: after_noon(9) };
    let new = player("guest-new", PlayerKind::Guest);
    write(&*store, Write::ReplaceGuest { old: player_id("guest-old"), new, idle }).await.unwrap();
    let left = store.reports(ReportQuery::All, 9).await.unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((&left[0].reporter, &left[0].player), (&None, &player_id("Ada")));
    assert_eq!(store.reports_by(&player_id("guest-new")).await.unwrap(), []);
}

pub(crate) async fn only_so_many_reports_are_kept<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let names: Vec<String> = (0..=100).map(|number| format!("p{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    add_players(&*store, &names).await;
    let pairs = names.iter().flat_map(|a| names.iter().map(move |b| (a, b))).filter(|(a, b)| a != b);
    let reports: Vec<Write> = pairs.map(|(a, b)| Write::AddReport(report(a, b))).collect();
    let (kept, over) = reports.split_at(REPORTS_MAX as usize);
    for batch in kept.chunks(100) {
        assert!(store.commit(batch).await.unwrap().iter().all(Result::is_ok));
    }
    assert_eq!(write(&*store, over[0].clone()).await, Err(Refused::TooMany));
    write(&*store, handle(7, ReportStep::Dismiss)).await.unwrap();
    write(&*store, over[0].clone()).await.unwrap();
    assert_eq!(write(&*store, handle(7, ReportStep::Take)).await, Err(Refused::NoSuchReport));
    let newest = store.reports(ReportQuery::All, 1).await.unwrap();
    assert_eq!(newest[0].number, u64::from(REPORTS_MAX) + 1);
}

/// Makes a test of each check.
macro_rules! conformance_of_reports {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_reports:
            a_report_is_read_back_as_it_was_made,
            somebody_has_one_open_report_about_somebody,
            what_operators_do_with_a_report_stands_in_the_log,
            of_whoever_leaves_the_words_go_and_the_report_stays,
            a_guest_who_has_gone_is_not_the_next_ones_reporter,
            only_so_many_reports_are_kept,
        );
    };
}
pub(crate) use conformance_of_reports;
