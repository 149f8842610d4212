//! What every store must do alike with those whom people follow and block.

use super::conformance::{Fixture, add, add_players, after_noon, player, player_id};
use super::follows::{BLOCKS_MAX, FOLLOWS_MAX, Tie, TiedPlayer};
use super::people::IdleGuests;
use super::store::{Refused, Store, Write, Written};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn tie(player: &str, to: &str) -> Tie {
    Tie { player: player_id(player), to: player_id(to), since: after_noon(1) }
}

async fn follow(store: &dyn Store, player: &str, to: &str) -> Result<Written, Refused> {
    write(store, Write::Follow(tie(player, to))).await
}

async fn block(store: &dyn Store, player: &str, to: &str) -> Result<Written, Refused> {
    write(store, Write::Block(tie(player, to))).await
}

/// Names, each with a mark if it is mutual.
fn names(tied: &[TiedPlayer]) -> Vec<String> {
    let mark = |one: &TiedPlayer| if one.is_mutual { "+" } else { "" };
    tied.iter().map(|one| format!("{}{}", one.name, mark(one))).collect()
}

async fn follows(store: &dyn Store, player: &str) -> Vec<String> {
    names(&store.follows_of(&player_id(player)).await.unwrap())
}

async fn blocks(store: &dyn Store, player: &str) -> Vec<String> {
    names(&store.blocks_of(&player_id(player)).await.unwrap())
}

pub(crate) async fn friends_are_two_who_follow_each_other<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["ann", "Bob", "Cleo"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    write(&*store, add(player("guest-1", PlayerKind::Guest))).await.unwrap();
    for (from, to) in
        [("ann", "ann"), ("ann", "nobody"), ("ann", "guest-1"), ("six", "ann"), ("guest-1", "ann")]
    {
        assert_eq!(follow(&*store, from, to).await, Err(Refused::NoSuchPlayer), "{from} {to}");
    }
    for (from, to) in [("ann", "six"), ("ann", "Cleo"), ("ann", "Bob"), ("ann", "Bob"), ("Bob", "ann")] {
        assert_eq!(follow(&*store, from, to).await, Ok(Written::Done), "{from} {to}");
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(follows(&*store, "ann").await, ["Bob+", "Cleo", "six"]);
    assert_eq!(follows(&*store, "Bob").await, ["ann+"]);
    let all = store.follows_of(&player_id("ann")).await.unwrap();
    let six = all.iter().find(|one| one.name.as_str() == "six").unwrap();
    assert_eq!((six.kind, six.house, six.since), (PlayerKind::Bot, false, after_noon(1)));
    let end = |player, followed| Write::Unfollow { player: player_id(player), followed: player_id(followed) };
    for _ in 0..2 {
        write(&*store, end("ann", "Bob")).await.unwrap();
    }
    assert_eq!(follows(&*store, "ann").await, ["Cleo", "six"]);
    assert_eq!(follows(&*store, "Bob").await, ["ann"]);
}

pub(crate) async fn a_block_ends_what_either_follows<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["ann", "bob"]).await;
    let mut house = player("six", PlayerKind::Bot);
    house.house = true;
    write(&*store, add(house)).await.unwrap();
    write(&*store, add(player("guest-1", PlayerKind::Guest))).await.unwrap();
    for (from, to) in [("ann", "ann"), ("ann", "nobody"), ("ann", "six"), ("six", "ann"), ("guest-1", "ann")]
    {
        assert_eq!(block(&*store, from, to).await, Err(Refused::NoSuchPlayer), "{from} {to}");
    }
    follow(&*store, "ann", "bob").await.unwrap();
    follow(&*store, "bob", "ann").await.unwrap();
    for to in ["guest-1", "bob", "bob"] {
        block(&*store, "ann", to).await.unwrap();
    }
    assert_eq!(blocks(&*store, "ann").await, ["bob", "guest-1"]);
    assert_eq!((follows(&*store, "ann").await, follows(&*store, "bob").await), (vec![], vec![]));
    assert_eq!(follow(&*store, "ann", "bob").await, Err(Refused::Blocked));
    assert_eq!(follow(&*store, "bob", "ann").await, Ok(Written::Done), "whoever is blocked learns nothing");
    let mut all = store.all_blocks().await.unwrap();
    all.sort();
    let mut expected = vec![(player_id("ann"), player_id("bob")), (player_id("ann"), player_id("guest-1"))];
    expected.sort();
    assert_eq!(all, expected);
    let end = Write::Unblock { player: player_id("ann"), blocked: player_id("bob") };
    for _ in 0..2 {
        write(&*store, end.clone()).await.unwrap();
    }
    assert_eq!(blocks(&*store, "ann").await, ["guest-1"]);
    assert_eq!(follow(&*store, "ann", "bob").await, Ok(Written::Done));
    assert_eq!(follows(&*store, "ann").await, ["bob+"]);
}

pub(crate) async fn one_follows_and_blocks_so_many<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let many: Vec<String> = (0..=FOLLOWS_MAX.max(BLOCKS_MAX)).map(|number| format!("p{number:03}")).collect();
    let names: Vec<&str> = many.iter().map(String::as_str).collect();
    add_players(&*store, &names).await;
    add_players(&*store, &["ann", "bob"]).await;
    for name in &names[..FOLLOWS_MAX] {
        follow(&*store, "ann", name).await.unwrap();
        follow(&*store, name, "ann").await.unwrap();
    }
    assert_eq!(follow(&*store, "ann", names[FOLLOWS_MAX]).await, Err(Refused::TooMany));
    assert_eq!(follow(&*store, "ann", names[0]).await, Ok(Written::Done), "that one is no more");
    assert_eq!(
        follow(&*store, "bob", "ann").await,
        Ok(Written::Done),
        "anybody may be followed by everybody"
    );
    for name in &names[..BLOCKS_MAX] {
        block(&*store, "bob", name).await.unwrap();
    }
    assert_eq!(block(&*store, "bob", names[BLOCKS_MAX]).await, Err(Refused::TooMany));
    assert_eq!(block(&*store, "bob", names[0]).await, Ok(Written::Done));
    assert_eq!(store.blocks_of(&player_id("bob")).await.unwrap().len(), BLOCKS_MAX);
}

pub(crate) async fn ties_go_with_either_end<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["ann", "bob", "eve"]).await;
    let idle = player("guest-1", PlayerKind::Guest);
    write(&*store, add(idle.clone())).await.unwrap();
    for (from, to) in [("ann", "bob"), ("bob", "ann"), ("bob", "eve")] {
        follow(&*store, from, to).await.unwrap();
    }
    for (from, to) in [("ann", "eve"), ("eve", "bob"), ("bob", "guest-1")] {
        block(&*store, from, to).await.unwrap();
    }
    let new = player("guest-2", PlayerKind::Guest);
    let far = UnixMillis(i64::MAX);
    let idle_before = IdleGuests { stored_before: far, tried_before: far };
    let replaced = Write::ReplaceGuest { old: idle.id, new, idle: idle_before };
    write(&*store, replaced).await.unwrap();
    assert_eq!(blocks(&*store, "bob").await, Vec::<String>::new(), "nobody is blocked for another's sake");
    write(&*store, Write::Retire { player: player_id("bob"), name: "gone-1".parse().unwrap() })
        .await
        .unwrap();
    for name in ["ann", "bob", "eve"] {
        assert_eq!(follows(&*store, name).await, Vec::<String>::new(), "{name}");
    }
    assert_eq!(store.all_blocks().await.unwrap(), [(player_id("ann"), player_id("eve"))]);
}

/// Makes a test of each check.
macro_rules! conformance_of_follows {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_follows:
            friends_are_two_who_follow_each_other,
            a_block_ends_what_either_follows,
            one_follows_and_blocks_so_many,
            ties_go_with_either_end,
        );
    };
}
pub(crate) use conformance_of_follows;
