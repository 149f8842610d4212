//! What every store must do alike with links to open challenges.

use fourfold_engine::Variant;

use super::conformance::{Fixture, NOON, add, add_players, after_noon, player, player_id};
use super::links::StoredLink;
use super::record::OpeningSource;
use super::store::{IdleGuests, Refused, Store, Write, Written};
use crate::model::clock::TimeControl;
use crate::model::opening::{OpeningKind, SideChoice};
use crate::model::player::PlayerKind;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn link(id: &str, maker: &str, ends_ms: i64) -> StoredLink {
    StoredLink {
        id: id.parse().unwrap(),
        maker: player_id(maker),
        to: None,
        guest: None,
        variant: Variant::STANDARD,
        time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(5_000) },
        rated: true,
        is_load: false,
        is_private: false,
        is_listed: false,
        opening: None,
        games: 1,
        side: SideChoice::Random,
        site: None,
        key: None,
        expires_at: after_noon(ends_ms),
    }
}

fn open(link: &StoredLink) -> Write {
    Write::OpenLink(Box::new(link.clone()))
}

fn close(link: &StoredLink) -> Write {
    Write::CloseLink(link.id.clone())
}

pub(crate) async fn links_are_read_back_until_they_are_closed<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    let plain = link("plain", "Ada", 2_000);
    let full = StoredLink {
        to: Some(player_id("Ada")),
        guest: Some("Guest-7".parse().unwrap()),
        variant: "9x6x5".parse().unwrap(),
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None },
        rated: false,
        is_load: true,
        is_private: true,
        is_listed: true,
        opening: Some(OpeningSource { kind: OpeningKind::Given, moves: "445".into() }),
        games: 100,
        side: SideChoice::Second,
        site: Some("https://fourfold.example".parse().unwrap()),
        key: Some("ключ ' \" %".into()),
        ..link("full", "nobody-stored", 1_000)
    };
    write(&*store, open(&plain)).await.unwrap();
    write(&*store, open(&full)).await.unwrap();
    let left = StoredLink { side: SideChoice::Opponent, ..link("left", "Ada", 500) };
    write(&*store, open(&left)).await.unwrap();
    write(&*store, close(&left)).await.unwrap();
    assert_eq!(write(&*store, open(&plain)).await, Err(Refused::IdTaken));
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(
        store.links().await.unwrap(),
        [full.clone(), plain.clone()],
        "those that end first come first"
    );
    write(&*store, close(&full)).await.unwrap();
    assert_eq!(write(&*store, close(&full)).await, Err(Refused::NoSuchLink));
    drop(store);
    assert_eq!(fixture.reopen().await.store().links().await.unwrap(), [plain]);
}

pub(crate) async fn the_links_of_whoever_is_gone_are_closed<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("Guest-1", PlayerKind::Guest))).await.unwrap();
    for (id, maker) in [("a", "Ada"), ("b", "Bob"), ("c", "Ada"), ("d", "Guest-1")] {
        write(&*store, open(&link(id, maker, 1_000))).await.unwrap();
    }
    let to_ada = StoredLink { to: Some(player_id("Ada")), ..link("e", "Bob", 1_000) };
    write(&*store, open(&to_ada)).await.unwrap();
    let gone = Write::Retire { player: player_id("Ada"), name: "gone-1".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    let left = |links: Vec<StoredLink>| links.iter().map(|link| link.id.to_string()).collect::<Vec<_>>();
    assert_eq!(left(store.links().await.unwrap()), ["b", "d"]);
    let idle = IdleGuests { stored_before: after_noon(1), tried_before: NOON };
    let (old, new) = (player_id("Guest-1"), player("Guest-2", PlayerKind::Guest));
    write(&*store, Write::ReplaceGuest { old, new, idle }).await.unwrap();
    assert_eq!(left(store.links().await.unwrap()), ["b"]);
}

/// Makes a test of each check.
macro_rules! conformance_of_links {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_links:
            links_are_read_back_until_they_are_closed,
            the_links_of_whoever_is_gone_are_closed,
        );
    };
}
pub(crate) use conformance_of_links;
