//! Players who go away.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Arena, advance, pair_up, time};

async fn pass(seconds: u64) {
    advance(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_is_away_for_thirty_seconds_of_its_turn_has_lost() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"time": time(600_000, 0)})).await;
    pair.play("44").await;
    let game = pair.game.clone();
    drop(ada);
    let gone = bob.until("opponent_gone").await;
    assert_eq!(
        (&gone["game"], &gone["gone"], &gone["claim_ms"]),
        (&json!(game), &json!(true), &json!(30_000))
    );
    pass(29).await;
    assert!(!bob.heard_types().await.contains(&"game_end".to_owned()));
    pass(1).await;
    let end = bob.until("game_end").await;
    assert_eq!(
        (&end["reason"], &end["by"], &end["result"]),
        (&json!("left"), &json!("first"), &json!("second"))
    );
}

#[tokio::test(start_paused = true)]
async fn absence_counts_only_while_it_is_the_absent_sides_turn() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"time": time(600_000, 0)})).await;
    pair.play("4").await;
    let stone = pair.stone(1, 4);
    drop(ada);
    let gone = bob.until("opponent_gone").await;
    assert_eq!((&gone["gone"], &gone["claim_ms"]), (&json!(true), &Value::Null));
    pass(60).await;
    bob.until("turn").await;
    assert_eq!(bob.ask(stone).await["type"], "moved");
    assert_eq!(bob.until("opponent_gone").await["claim_ms"], 30_000);
    pass(29).await;
    assert!(!bob.heard_types().await.contains(&"game_end".to_owned()));
    pass(2).await;
    assert_eq!(bob.until("game_end").await["reason"], "left");
}

#[tokio::test(start_paused = true)]
pub(crate) async fn a_bot_that_comes_back_in_time_goes_on() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let (mut ada, mut bob) = (arena.connect_bot(&token, json!({})).await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"time": time(600_000, 0)})).await;
    pair.play("44").await;
    let stone = pair.stone(2, 4);
    drop(ada);
    bob.until("opponent_gone").await;
    pass(20).await;
    let mut ada = arena.connect_bot(&token, json!({})).await;
    assert_eq!(bob.until("opponent_gone").await["gone"], false);
    pass(20).await;
    let moved = ada.ask(stone).await;
    assert_eq!((&moved["type"], &moved["spent_ms"]), (&json!("moved"), &json!(40_000)));
}

#[tokio::test(start_paused = true)]
async fn the_win_over_an_absent_person_is_claimed() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("44").await;
    let claim = pair.about("claim");
    pair.second.ask_refused(claim.clone(), "forbidden").await;
    drop(ann);
    assert_eq!(bob.until("opponent_gone").await["claim_ms"], 30_000);
    pass(10).await;
    assert_eq!(bob.ask_refused(claim.clone(), "forbidden").await["retry_ms"], 20_000);
    pass(20).await;
    assert!(!bob.heard_types().await.contains(&"game_end".to_owned()), "people claim themselves");
    let end = bob.ask(claim).await;
    assert_eq!(
        (&end["type"], &end["reason"], &end["by"]),
        (&json!("game_end"), &json!("left"), &json!("first"))
    );
}

#[tokio::test(start_paused = true)]
async fn slow_games_wait_longer_for_people_and_not_for_those_who_left_on_purpose() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({"time": time(900_000, 0)})).await;
    pair.play("44").await;
    drop(ann);
    assert_eq!(bob.until("opponent_gone").await["claim_ms"], 120_000);
    let mut ann = arena.person("ann2").await;
    bob.clear().await;
    let mut pair = pair_up(&mut ann, &mut bob, json!({"time": time(900_000, 0)})).await;
    pair.play("44").await;
    ann.ask(json!({"type": "bye"})).await;
    assert_eq!(bob.until("opponent_gone").await["claim_ms"], 10_000);
}

#[tokio::test(start_paused = true)]
async fn a_person_who_does_not_begin_within_thirty_seconds_voids_the_game() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({"time": time(900_000, 0)})).await;
    pair.play("4").await;
    pass(29).await;
    assert!(!pair.second.heard_types().await.contains(&"game_end".to_owned()));
    pass(1).await;
    let end = pair.first.until("game_end").await;
    assert_eq!(
        (&end["result"], &end["reason"], &end["by"]),
        (&json!("void"), &json!("aborted"), &json!("second"))
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_misses_two_pings_is_away() {
    let arena = Arena::start_with(|config| {
        config.server.heartbeat_ms = fourfold::system::config::Bounded::new(1_000);
    })
    .await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("44").await;
    pair.first.stop_reading().await;
    for _ in 0..8 {
        advance(Duration::from_millis(500)).await;
        bob.settle().await;
    }
    assert_eq!(bob.until("opponent_gone").await["gone"], true);
}
