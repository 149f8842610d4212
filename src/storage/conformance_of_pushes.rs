//! What every store must do alike with browsers that show notices.

use super::conformance::{Fixture, add, add_players, after_noon, player, player_id};
use super::pushes::{BROWSERS_MAX, StoredPush};
use super::store::{Refused, Store, Write, Written};
use crate::model::player::PlayerKind;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn push(name: &str, endpoint: &str, since: i64) -> StoredPush {
    StoredPush {
        owner: player_id(name),
        endpoint: format!("https://push.example/{endpoint}"),
        p256dh: format!("key-{since}"),
        auth: "auth".into(),
        language: "de".into(),
        since: after_noon(since),
    }
}

fn adding(push: &StoredPush) -> Write {
    Write::AddPush(Box::new(push.clone()))
}

fn removing(push: &StoredPush) -> Write {
    Write::RemovePush { owner: push.owner.clone(), endpoint: push.endpoint.clone() }
}

pub(crate) async fn a_browser_is_one_accounts_at_a_time<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    for other in ["six", "nobody"] {
        let refused = write(&*store, adding(&push(other, "x", 0))).await;
        assert_eq!(refused, Err(Refused::NoSuchPlayer), "{other}");
    }
    let (home, phone) = (push("Ada", "home", 2), push("Ada", "phone", 1));
    for one in [&home, &phone, &phone] {
        write(&*store, adding(one)).await.unwrap();
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.pushes_of(&player_id("Ada")).await.unwrap(), [phone.clone(), home.clone()]);
    let of_bob = push("Bob", "phone", 3);
    write(&*store, adding(&of_bob)).await.unwrap();
    assert_eq!(store.pushes_of(&player_id("Ada")).await.unwrap(), std::slice::from_ref(&home));
    assert_eq!(store.pushes_of(&player_id("Bob")).await.unwrap(), std::slice::from_ref(&of_bob));
    assert_eq!(write(&*store, removing(&phone)).await, Err(Refused::NoPush), "it is Bob's now");
    write(&*store, removing(&home)).await.unwrap();
    assert_eq!(write(&*store, removing(&home)).await, Err(Refused::NoPush));
    assert_eq!(store.pushes_of(&player_id("Ada")).await.unwrap(), []);
}

pub(crate) async fn the_oldest_browser_goes_for_one_too_many<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, adding(&push("Bob", "other", -1))).await.unwrap();
    let all: Vec<StoredPush> =
        (0..).take(BROWSERS_MAX + 1).map(|since| push("Ada", &since.to_string(), since)).collect();
    for one in &all {
        write(&*store, adding(one)).await.unwrap();
    }
    assert_eq!(store.pushes_of(&player_id("Ada")).await.unwrap(), all[1..]);
    assert_eq!(store.pushes_of(&player_id("Bob")).await.unwrap().len(), 1);
}

pub(crate) async fn whoever_leaves_is_told_nothing_more<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    write(&*store, adding(&push("Ada", "home", 0))).await.unwrap();
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: player_id("Ada"), name }).await.unwrap();
    assert_eq!(store.pushes_of(&player_id("Ada")).await.unwrap(), []);
}

/// Makes a test of each check.
macro_rules! conformance_of_pushes {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_pushes:
            a_browser_is_one_accounts_at_a_time,
            the_oldest_browser_goes_for_one_too_many,
            whoever_leaves_is_told_nothing_more,
        );
    };
}
pub(crate) use conformance_of_pushes;
