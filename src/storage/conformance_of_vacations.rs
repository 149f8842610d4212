//! What every store must do alike with vacations.

use super::conformance::{Fixture, NOON, add, add_players, after_noon, player, player_id};
use super::store::{Refused, Store, Write, Written};
use crate::model::player::PlayerKind;
use crate::model::vacation::Vacation;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

/// From and until so many milliseconds after noon.
fn vacation(from: i64, until: i64) -> Vacation {
    Vacation { from: after_noon(from), until: after_noon(until) }
}

fn take(name: &str, from: i64, until: i64) -> Write {
    Write::TakeVacation { player: player_id(name), vacation: vacation(from, until) }
}

fn end(name: &str, at: i64) -> Write {
    Write::EndVacation { player: player_id(name), at: after_noon(at) }
}

pub(crate) async fn a_vacation_follows_another_and_may_be_ended<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    for other in ["six", "nobody"] {
        assert_eq!(write(&*store, take(other, 0, 9)).await, Err(Refused::NoSuchPlayer), "{other}");
    }
    write(&*store, end("Ada", 0)).await.unwrap();
    write(&*store, take("Ada", 0, 30)).await.unwrap();
    write(&*store, take("Ada", 0, 100)).await.unwrap();
    write(&*store, take("Bob", 50, 60)).await.unwrap();
    write(&*store, end("Ada", 40)).await.unwrap();
    write(&*store, end("Ada", 45)).await.unwrap();
    write(&*store, take("Ada", 40, 70)).await.unwrap();
    write(&*store, take("Ada", 60, 62)).await.unwrap();
    write(&*store, take("Ada", 80, i64::from(i32::MAX))).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let of_ada = [vacation(0, 40), vacation(40, 60), vacation(60, 62), vacation(80, i64::from(i32::MAX))];
    assert_eq!(store.vacations_of(&player_id("Ada")).await.unwrap(), of_ada);
    assert_eq!(store.vacations_of(&player_id("nobody")).await.unwrap(), []);
    let since = store.vacations_since(after_noon(60)).await.unwrap();
    assert_eq!(since, [(player_id("Ada"), of_ada[2]), (player_id("Ada"), of_ada[3])]);
}

pub(crate) async fn whoever_leaves_is_on_no_vacation<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    write(&*store, take("Ada", 0, 100)).await.unwrap();
    let gone = Write::Retire { player: player_id("Ada"), name: "gone".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    assert_eq!(store.vacations_since(NOON).await.unwrap(), []);
}

/// Makes a test of each check.
macro_rules! conformance_of_vacations {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_vacations:
            a_vacation_follows_another_and_may_be_ended,
            whoever_leaves_is_on_no_vacation,
        );
    };
}
pub(crate) use conformance_of_vacations;
