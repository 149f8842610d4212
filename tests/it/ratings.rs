//! Which games are rated, and what that does.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Arena, Client, advance, blitz, house_bot_moves, pair_up};

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
    // What is live and what is shown have one scale.
    let shown = snapshot["players"]["second"]["rating"]["elo"].as_i64();
    assert_eq!(shown, first["after"].as_i64());
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
    let over = pair.first.ask(pair.about("sync")).await;
    assert_eq!((&over["rated"], &over["unrated_because"]), (&json!(false), &json!("too_short")), "{over}");
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

/// Courses that nobody has won after seven stones, each another game.
const THROWN: [&str; 8] =
    ["1234567", "2345671", "3456712", "4567123", "5671234", "6712345", "7123456", "1357246"];

/// The second of two gives up after these moves. Gives its `game_end`.
async fn throw(winner: &mut Client, loser: &mut Client, moves: &str) -> Value {
    let mut pair = pair_up(loser, winner, json!({"rated": true})).await;
    pair.play(moves).await;
    let end = pair.resign_first().await;
    winner.clear().await;
    loser.clear().await;
    end
}

#[tokio::test(start_paused = true)]
async fn a_ring_of_new_accounts_lifts_nobody_by_more_than_forty_points_a_day() {
    let arena = Arena::start().await;
    let mut farmer = arena.person("farmer").await;
    let mut elo = 750;
    for number in 0..12 {
        let mut feeder = arena.person(&format!("feeder{number}")).await;
        for moves in THROWN {
            let end = throw(&mut farmer, &mut feeder, moves).await;
            assert_eq!(end["unrated_because"], Value::Null, "{end}");
            let after = end["rating"]["second"]["after"].as_i64().unwrap();
            assert!((elo..=elo + 2).contains(&after), "{end}");
            elo = after;
        }
        // The farmer's credits for messages come back.
        advance(Duration::from_secs(20)).await;
    }
    assert_eq!(elo, 790, "96 games were given away");
    let alarms = arena.rating_alarms().await;
    assert!(alarms.iter().any(|alarm| alarm.starts_with("boosting farmer feeder")), "{alarms:?}");
    let sandbaggers = alarms.iter().filter(|alarm| alarm.starts_with("sandbagging feeder")).count();
    assert_eq!(sandbaggers, 12, "{alarms:?}");
}

#[tokio::test(start_paused = true)]
async fn bots_of_the_house_are_no_newcomers() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    let play = json!({"type": "play_bot", "bot": "random", "time": blitz(), "side": "second", "rated": true});
    ann.ask(play).await;
    let game = ann.until("game").await["game"].clone();
    for ply in [1, 3, 5] {
        house_bot_moves(&mut ann).await;
        let legal =
            ann.find(|message| message["type"] == "turn" && message["ply"] == ply).await["legal"].clone();
        ann.ask(json!({"type": "move", "game": game, "ply": ply, "column": legal[0]})).await;
    }
    house_bot_moves(&mut ann).await;
    // Now and then a bot that plays at random has won by its fourth move.
    ann.say(&json!({"type": "resign", "game": game}));
    let end = ann.find(|message| message["type"] == "game_end").await;
    let rating = &end["rating"]["second"];
    let number = |key: &str| rating[key].as_i64().unwrap_or_else(|| panic!("no `{key}` in {end}"));
    assert!(number("after") - number("before") < -2, "{end}");
}
