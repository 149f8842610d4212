//! What every store must do alike with studies.

use fourfold_engine::Variant;

use super::conformance::{Fixture, add, add_players, after_noon, player, player_id};
use super::moderation::{AuditAction, Because};
use super::store::{Refused, Store, Write, Written};
use super::studies::{NewStudy, STUDIES_MAX, StoredStudy, StudyChange};
use crate::model::ids::StudyId;
use crate::model::player::PlayerKind;
use crate::model::study::{Study, StudyComment, StudyListing};

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn id(text: &str) -> StudyId {
    text.parse().unwrap()
}

pub(crate) fn study(title: &str, listing: StudyListing) -> Study {
    let comments = vec![
        StudyComment { ply: 2, text: "Both have one.".into() },
        StudyComment { ply: 4, text: "Zwei Türme,\nund dann?".into() },
    ];
    Study::new(title, (Variant::STANDARD, "4433", 2), comments, listing).unwrap()
}

pub(crate) fn new(study_id: &str, owner: &str, study: Study) -> Write {
    let at = after_noon(1);
    Write::AddStudy(Box::new(NewStudy { id: id(study_id), owner: player_id(owner), study, at }))
}

fn change(study_id: &str, owner: &str, version: u32, study: Study) -> Write {
    let (id, owner, at) = (id(study_id), player_id(owner), after_noon(9));
    Write::ChangeStudy(Box::new(StudyChange { id, owner, study, version, at }))
}

fn drop_by(study: &str, owner: &str) -> Write {
    Write::DropStudy { study: id(study), owner: player_id(owner) }
}

fn ids(studies: &[StoredStudy]) -> Vec<&str> {
    studies.iter().map(|study| study.id.as_str()).collect()
}

pub(crate) async fn a_study_is_read_back_changed_and_dropped<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let first = study("Two towers", StudyListing::ByLink);
    assert_eq!(write(&*store, new("s1", "Ada", first.clone())).await, Ok(Written::Done));
    assert_eq!(write(&*store, new("s1", "Bob", first.clone())).await, Err(Refused::IdTaken));
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let read = store.study(&id("s1")).await.unwrap().unwrap();
    assert_eq!((&read.study, &read.owner, read.version), (&first, &player_id("Ada"), 1));
    assert_eq!((read.made_at, read.changed_at), (after_noon(1), after_noon(1)));
    assert_eq!(store.study(&id("s2")).await.unwrap(), None);
    assert_eq!(store.audit_studies(0, 9).await.unwrap(), [Ok(read)]);

    let second = Study::new("5x4", ("5x4".parse().unwrap(), "", 0), vec![], StudyListing::Listed).unwrap();
    for (wrong, refused) in [
        (change("s1", "Bob", 1, second.clone()), Refused::NoSuchStudy),
        (change("s2", "Ada", 1, second.clone()), Refused::NoSuchStudy),
        (change("s1", "Ada", 2, second.clone()), Refused::StudyChanged),
        (drop_by("s1", "Bob"), Refused::NoSuchStudy),
        (drop_by("s2", "Ada"), Refused::NoSuchStudy),
    ] {
        assert_eq!(write(&*store, wrong).await, Err(refused));
    }
    assert_eq!(write(&*store, change("s1", "Ada", 1, second.clone())).await, Ok(Written::Done));
    let again = write(&*store, change("s1", "Ada", 1, first)).await;
    assert_eq!(again, Err(Refused::StudyChanged), "of two who read the same version one comes too late");
    let read = store.study(&id("s1")).await.unwrap().unwrap();
    assert_eq!((read.study, read.version), (second, 2));
    assert_eq!((read.made_at, read.changed_at), (after_noon(1), after_noon(9)));
    assert_eq!(write(&*store, drop_by("s1", "Ada")).await, Ok(Written::Done));
    assert_eq!(store.study(&id("s1")).await.unwrap(), None);
}

pub(crate) async fn listed_studies_are_found_page_by_page<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for (name, owner, listing) in [
        ("s1", "Ada", StudyListing::Listed),
        ("s2", "Bob", StudyListing::ByLink),
        ("s3", "Bob", StudyListing::Listed),
        ("s4", "Ada", StudyListing::Listed),
    ] {
        write(&*store, new(name, owner, study(name, listing))).await.unwrap();
    }
    let page = store.listed_studies(None, 2).await.unwrap();
    assert_eq!(ids(&page), ["s4", "s3"]);
    let older = store.listed_studies(Some(page[1].number), 2).await.unwrap();
    assert_eq!(ids(&older), ["s1"]);
    assert_eq!(ids(&store.studies_of(&player_id("Bob")).await.unwrap()), ["s3", "s2"]);
    assert_eq!(ids(&store.studies_of(&player_id("nobody")).await.unwrap()), Vec::<&str>::new());
}

pub(crate) async fn an_account_has_so_many_studies<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    write(&*store, add(player("guest-1", PlayerKind::Guest))).await.unwrap();
    let of = |owner, number| new(&format!("s{owner}{number}"), owner, study("x", StudyListing::ByLink));
    for nobody in ["six", "guest-1", "nobody"] {
        assert_eq!(write(&*store, of(nobody, 0)).await, Err(Refused::NoSuchPlayer), "{nobody}");
    }
    let all: Vec<_> = (0..STUDIES_MAX).map(|number| of("Ada", number)).collect();
    assert!(store.commit(&all).await.unwrap().iter().all(Result::is_ok));
    assert_eq!(write(&*store, of("Ada", STUDIES_MAX)).await, Err(Refused::TooMany));
    assert_eq!(write(&*store, of("Bob", 0)).await, Ok(Written::Done));
    write(&*store, drop_by("sAda0", "Ada")).await.unwrap();
    assert_eq!(write(&*store, of("Ada", STUDIES_MAX)).await, Ok(Written::Done));
}

pub(crate) async fn studies_go_with_their_owner_or_by_an_operator<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, new("s1", "Ada", study("Rude", StudyListing::Listed))).await.unwrap();
    write(&*store, new("s2", "Bob", study("Mine", StudyListing::Listed))).await.unwrap();
    let because = Because { reason: "rude".into(), by: "root".into(), at: after_noon(5) };
    let remove = |study| Write::RemoveStudy { study: id(study), because: because.clone() };
    assert_eq!(write(&*store, remove("s1")).await, Ok(Written::Done));
    assert_eq!(write(&*store, remove("s1")).await, Err(Refused::NoSuchStudy));
    let log = store.audit_log(None, 9).await.unwrap();
    let noted: Vec<_> = log.iter().map(|one| (one.action, &*one.subject, one.detail.as_deref())).collect();
    assert_eq!(noted, [(AuditAction::RemoveStudy, "s1", Some("Rude"))]);
    let gone = Write::Retire { player: player_id("Bob"), name: "gone".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    assert_eq!(store.listed_studies(None, 9).await.unwrap(), []);
}

/// Makes a test of each check.
macro_rules! conformance_of_studies {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_studies:
            a_study_is_read_back_changed_and_dropped,
            listed_studies_are_found_page_by_page,
            an_account_has_so_many_studies,
            studies_go_with_their_owner_or_by_an_operator,
        );
    };
}
pub(crate) use conformance_of_studies;
