//! Players who look for an opponent.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Arena, Client, advance, blitz, hello, merge, time};

fn seek(more: Value) -> Value {
    let mut seek = json!({"type": "seek", "time": blitz(), "rated": false});
    merge(&mut seek, more);
    seek
}

async fn check_paired(a: &mut Client, b: &mut Client) {
    let (one, two) = (a.until("game").await, b.until("game").await);
    assert_eq!(one["game"], two["game"]);
    assert_ne!(one["you"], two["you"]);
}

async fn check_waiting(clients: &mut [&mut Client]) {
    advance(Duration::from_secs(2)).await;
    for client in clients {
        assert!(!client.heard_types().await.contains(&"game".to_owned()), "{} plays", client.name());
    }
}

#[tokio::test(start_paused = true)]
async fn two_equal_seeks_are_paired_at_once() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    assert_eq!(ann.ask(seek(json!({"rated": true}))).await["type"], "ok");
    assert_eq!(bob.ask(seek(json!({"rated": true}))).await["type"], "ok");
    check_paired(&mut ann, &mut bob).await;
}

#[tokio::test(start_paused = true)]
async fn seeks_of_other_terms_are_not_paired() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    ann.ask(seek(json!({}))).await;
    for other in [
        json!({"time": time(60_000, 1)}),
        json!({"rated": true}),
        json!({"variant": "8x7"}),
        json!({"opponents": ["bot"]}),
        json!({"rating": [1, 2]}),
    ] {
        bob.ask(seek(other)).await;
        check_waiting(&mut [&mut ann, &mut bob]).await;
    }
    bob.ask(seek(json!({"opponents": ["human"]}))).await;
    check_paired(&mut ann, &mut bob).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_player_accepts_counts_where_the_seek_says_nothing() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    ada.ask(json!({"type": "set", "accepts": {"opponents": ["human"]}})).await;
    ada.ask(seek(json!({}))).await;
    bob.ask(seek(json!({}))).await;
    check_waiting(&mut [&mut ada, &mut bob]).await;
    ada.ask(seek(json!({"opponents": ["bot"]}))).await;
    check_paired(&mut ada, &mut bob).await;
}

#[tokio::test(start_paused = true)]
async fn a_seek_ends_by_unseek_and_with_its_connection() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    ann.ask(seek(json!({}))).await;
    assert_eq!(ann.ask(json!({"type": "unseek"})).await["type"], "ok");
    bob.ask(seek(json!({}))).await;
    check_waiting(&mut [&mut ann, &mut bob]).await;
    arena.lose(bob).await;
    ann.ask(seek(json!({}))).await;
    check_waiting(&mut [&mut ann]).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_is_paired_with_themselves() {
    let arena = Arena::start().await;
    let ann = arena.account("ann").await;
    let mut desk = arena.connect_person(&ann, hello()).await;
    let mut phone = arena.connect_person(&ann, hello()).await;
    desk.ask(seek(json!({}))).await;
    phone.ask(seek(json!({}))).await;
    check_waiting(&mut [&mut desk, &mut phone]).await;
}

#[tokio::test(start_paused = true)]
async fn a_seeker_without_a_place_waits_for_one() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot_with("ada", json!({"max_games": 1})).await, arena.bot("bob").await);
    ada.ask(seek(json!({}))).await;
    ada.ask(json!({"type": "play_bot", "bot": "random", "time": blitz(), "side": "first"})).await;
    let game = ada.until("game").await["game"].clone();
    ada.ask_refused(seek(json!({})), "busy").await;
    bob.ask(seek(json!({}))).await;
    check_waiting(&mut [&mut ada, &mut bob]).await;
    ada.ask(json!({"type": "resign", "game": game})).await;
    ada.ask(seek(json!({}))).await;
    check_paired(&mut ada, &mut bob).await;
}

#[tokio::test(start_paused = true)]
async fn a_house_bot_is_offered_after_ten_seconds_and_never_unasked() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    ann.ask(seek(json!({}))).await;
    advance(Duration::from_secs(9)).await;
    assert!(!ann.heard_types().await.contains(&"bot_offer".to_owned()));
    advance(Duration::from_secs(2)).await;
    let offer = ann.until("bot_offer").await;
    assert_eq!((&offer["time"], &offer["bot"]["kind"]), (&blitz(), &json!("bot")));
    check_waiting(&mut [&mut ann]).await;
    ann.ask(json!({"type": "unseek"})).await;
    ann.ask(json!({"type": "play_bot", "bot": offer["bot"]["name"], "time": blitz(), "side": "first"})).await;
    let game = ann.until("game").await;
    let (offered, seated) = (&offer["bot"], &game["players"]["second"]);
    assert_eq!((&offered["rating"], &offered["name"]), (&seated["rating"], &seated["name"]));
    assert!(offered["rating"]["elo"].is_number(), "{offered}");
}

#[tokio::test(start_paused = true)]
async fn guests_seek_casual_games_only() {
    let arena = Arena::start().await;
    let (mut one, mut two) = (arena.guest().await, arena.guest().await);
    one.ask_refused(seek(json!({"rated": true})), "forbidden").await;
    one.ask(seek(json!({}))).await;
    two.ask(seek(json!({}))).await;
    check_paired(&mut one, &mut two).await;
}
