//! Which games are rated, and what that does.

use serde_json::{Value, json};

use crate::support::{Arena, Client, pair_up};

/// Seven stones, so that the game counts, and a winner.
async fn win(first: &mut Client, second: &mut Client, terms: Value) -> Value {
    let mut pair = pair_up(first, second, terms).await;
    pair.play("1212121").await;
    pair.first.until("game_end").await;
    pair.second.until("game_end").await
}

#[tokio::test(start_paused = true)]
async fn a_rated_game_tells_what_it_did_to_both() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let end = win(&mut ann, &mut bob, json!({"rated": true})).await;
    let (first, second) = (&end["rating"]["first"], &end["rating"]["second"]);
    let change = |side: &Value| side["after"].as_i64().unwrap() - side["before"].as_i64().unwrap();
    assert!(change(first) > 0 && change(second) < 0, "{end}");
    assert_eq!(end["unrated_because"], Value::Null);
    let pair = pair_up(&mut bob, &mut ann, json!({})).await;
    let snapshot = pair.first.ask(pair.about("sync")).await;
    assert_eq!(snapshot["players"]["second"]["rating"]["elo"], first["after"]);
}

#[tokio::test(start_paused = true)]
async fn a_casual_game_has_no_rating_and_no_reason() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let end = win(&mut ann, &mut bob, json!({})).await;
    assert_eq!((&end["rating"], &end["unrated_because"]), (&Value::Null, &Value::Null));
}

#[tokio::test(start_paused = true)]
async fn rated_games_within_one_family_are_played_unrated_as_they_were_asked_for() {
    let arena = Arena::start().await;
    let owner = arena.account("ann").await;
    let mut ann = arena.connect_person(&owner, crate::support::hello()).await;
    let (one, two) = (arena.token_of(&owner, "one").await, arena.token_of(&owner, "two").await);
    let (mut one, mut two) =
        (arena.connect_bot(&one, json!({})).await, arena.connect_bot(&two, json!({})).await);
    check_family(&mut one, &mut two).await;
    check_family(&mut ann, &mut one).await;
}

async fn check_family(first: &mut Client, second: &mut Client) {
    let mut pair = pair_up(first, second, json!({"rated": true})).await;
    let snapshot = pair.first.ask(pair.about("sync")).await;
    assert_eq!((&snapshot["rated"], &snapshot["unrated_because"]), (&json!(false), &json!("same_owner")));
    assert_eq!((&snapshot["pair"], &snapshot["moves"]), (&Value::Null, &json!("")));
    let end = pair.resign_first().await;
    assert_eq!((&end["rating"], &end["unrated_because"]), (&Value::Null, &json!("same_owner")));
    first.clear().await;
    second.clear().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_given_up_at_once_does_not_count() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({"rated": true})).await;
    pair.play("44").await;
    assert_eq!(pair.resign_first().await["unrated_because"], "too_short");
}

#[tokio::test(start_paused = true)]
async fn the_same_game_again_does_not_count() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    win(&mut ann, &mut bob, json!({"rated": true})).await;
    ann.clear().await;
    bob.clear().await;
    let end = win(&mut ann, &mut bob, json!({"rated": true})).await;
    assert_eq!((&end["rating"], &end["unrated_because"]), (&Value::Null, &json!("repeated")));
}
