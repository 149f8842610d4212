//! What every store must do alike with addresses to which owners of bots have it told what happens to their bots.

use super::conformance::{Fixture, NOON, add, add_players, after_noon, player, player_id};
use super::store::{Refused, Store, Write, Written};
use super::webhooks::{Delivery, DeliveryNote, NoAnswer, Outcome, StoredWebhook};
use crate::model::player::PlayerKind;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn webhook(name: &str, salt: &str) -> StoredWebhook {
    StoredWebhook {
        owner: player_id(name),
        url: "https://ada.example/hook".into(),
        salt: salt.into(),
        since: NOON,
        failures: 0,
        last: None,
    }
}

fn note(salt: &str, ms: i64, outcome: Outcome) -> Write {
    let delivery = Delivery { at: after_noon(ms), outcome };
    Write::NoteDelivery(DeliveryNote { owner: player_id("Ada"), salt: salt.into(), delivery })
}

pub(crate) async fn an_account_has_one_webhook<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    for salt in ["old", "new"] {
        write(&*store, Write::SetWebhook(webhook("Ada", salt))).await.unwrap();
    }
    for other in ["six", "nobody"] {
        let refused = write(&*store, Write::SetWebhook(webhook(other, "x"))).await;
        assert_eq!(refused, Err(Refused::NoSuchPlayer), "{other}");
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.webhook(&player_id("Ada")).await.unwrap(), Some(webhook("Ada", "new")));
    assert_eq!(store.webhook(&player_id("Bob")).await.unwrap(), None);
    let remove = || Write::RemoveWebhook { owner: player_id("Ada") };
    write(&*store, remove()).await.unwrap();
    assert_eq!(write(&*store, remove()).await, Err(Refused::NoWebhook));
    assert_eq!(store.webhook(&player_id("Ada")).await.unwrap(), None);
}

pub(crate) async fn failures_are_counted_until_a_delivery_succeeds<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    assert_eq!(write(&*store, note("salt", 0, Outcome::Answered(200))).await, Err(Refused::NoWebhook));
    write(&*store, Write::SetWebhook(webhook("Ada", "salt"))).await.unwrap();
    for (ms, outcome, failures) in [
        (1, Outcome::Answered(500), 1),
        (2, Outcome::Failed(NoAnswer::Timeout), 2),
        (3, Outcome::Answered(204), 0),
        (4, Outcome::Answered(301), 1),
        (5, Outcome::Failed(NoAnswer::PrivateAddress), 2),
    ] {
        write(&*store, note("salt", ms, outcome)).await.unwrap();
        let stored = store.webhook(&player_id("Ada")).await.unwrap().unwrap();
        let last = Delivery { at: after_noon(ms), outcome };
        assert_eq!((stored.failures, stored.last), (failures, Some(last)));
    }
    assert_eq!(
        write(&*store, note("older", 6, Outcome::Answered(200))).await,
        Err(Refused::NoWebhook),
        "of an earlier address"
    );
}

pub(crate) async fn whoever_leaves_takes_the_webhook_along<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    write(&*store, Write::SetWebhook(webhook("Ada", "salt"))).await.unwrap();
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: player_id("Ada"), name }).await.unwrap();
    assert_eq!(store.webhook(&player_id("Ada")).await.unwrap(), None);
}

/// Makes a test of each check.
macro_rules! conformance_of_webhooks {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_webhooks:
            an_account_has_one_webhook,
            failures_are_counted_until_a_delivery_succeeds,
            whoever_leaves_takes_the_webhook_along,
        );
    };
}
pub(crate) use conformance_of_webhooks;
