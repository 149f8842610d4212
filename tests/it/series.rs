//! Several games in a row.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Arena, Client, advance, blitz, hello, pair_up, play_out};

/// The games that a client was told of, in order.
async fn games(client: &mut Client) -> Vec<Value> {
    client.heard().await.into_iter().filter(|message| message["type"] == "game").collect()
}

#[tokio::test(start_paused = true)]
async fn the_games_of_a_series_follow_each_other_with_sides_swapped() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let offer = json!({"type": "challenge", "to": "bob", "time": blitz(), "rated": false, "side": "first", "games": 4});
    let id = ann.ask(offer).await["challenge"].clone();
    bob.ask(json!({"type": "accept", "challenge": id})).await;
    let mut seen = Vec::new();
    for leg in 1..=4 {
        let game = ann.until("game").await;
        assert_eq!((&game["pair"]["leg"], &game["pair"]["of"]), (&json!(leg), &json!(4)));
        assert_eq!(game["you"], if leg % 2 == 1 { "first" } else { "second" });
        seen.push(game["pair"]["id"].clone());
        ann.ask(json!({"type": "resign", "game": game["game"]})).await;
        ann.ask_refused(json!({"type": "rematch", "game": game["game"]}), "forbidden").await;
    }
    assert!(seen.iter().all(|id| *id == seen[0]));
    assert_eq!(games(&mut ann).await, [] as [Value; 0], "four and no more");
}

#[tokio::test(start_paused = true)]
async fn other_numbers_of_games_are_refused() {
    let arena = Arena::start().await;
    let (mut ann, _bob) = (arena.person("ann").await, arena.person("bob").await);
    for games in [0, 7, 99, 1_000] {
        let offer =
            json!({"type": "challenge", "to": "bob", "time": blitz(), "rated": false, "games": games});
        assert_eq!(ann.ask_refused(offer, "bad_field").await["field"], "games");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rated_pair_of_bots_cannot_ask_for_more_games_than_there_are_numbers() {
    let arena = Arena::start().await;
    let (mut ada, _bob) = (arena.bot("ada").await, arena.bot("bob").await);
    for games in [101, u32::MAX - 1, u32::MAX] {
        let offer = json!({"type": "challenge", "to": "bob", "time": blitz(), "rated": true, "games": games});
        assert_eq!(ada.ask_refused(offer, "bad_field").await["field"], "games");
    }
    let offer = json!({"type": "challenge", "to": "bob", "time": blitz(), "rated": true, "games": 2});
    assert_eq!(ada.ask(offer).await["games"], 2, "the lobby goes on");
}

#[tokio::test(start_paused = true)]
async fn rated_bots_of_different_owners_play_a_pair_from_one_balanced_opening() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let pair = pair_up(&mut ada, &mut bob, json!({"rated": true})).await;
    let first = pair.first.ask(pair.about("sync")).await;
    assert_eq!(
        (&first["rated"], &first["pair"]["leg"], &first["pair"]["of"]),
        (&json!(true), &json!(1), &json!(2))
    );
    assert_eq!(first["opening"]["kind"], "balanced");
    assert_eq!(first["opening"]["moves"], first["moves"]);
    assert!(!first["moves"].as_str().unwrap().is_empty());
    let ends = play_out(&mut ada, &mut bob, 2).await;
    assert!(ends.iter().all(|end| end["rating"]["first"]["before"].is_i64()), "{ends:?}");
    let snapshot = ada.ask(json!({"type": "sync", "game": ends[1]["game"]})).await;
    assert_eq!((&snapshot["pair"]["leg"], &snapshot["you"]), (&json!(2), &json!("second")));
    assert_eq!(snapshot["opening"], first["opening"]);
}

#[tokio::test(start_paused = true)]
async fn the_next_game_of_a_series_needs_no_free_place() {
    let arena = Arena::start().await;
    let one = json!({"max_games": 1});
    let (mut ada, mut bob) = (arena.bot_with("ada", one.clone()).await, arena.bot_with("bob", one).await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"games": 2})).await;
    pair.first.ask(json!({"type": "set", "max_games": 0})).await;
    pair.resign_first().await;
    assert_eq!(ada.until("game").await["pair"]["leg"], 2);
}

#[tokio::test(start_paused = true)]
async fn whoever_drains_plays_no_next_game() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"games": 2})).await;
    pair.first.ask(json!({"type": "bye", "drain": true})).await;
    pair.resign_first().await;
    assert_eq!(ada.closed().await, 1000);
    assert_eq!(bob.until("error").await["code"], "busy");
}

/// Two people begin a series of which the better wins; `ann` moves first in its first game.
async fn best_of(ann: &mut Client, bob: &mut Client, games: u32) -> Value {
    let offer = json!({"type": "challenge", "to": bob.name(), "time": blitz(), "rated": false, "side": "first",
        "games": games});
    let id = ann.ask(offer).await["challenge"].clone();
    bob.ask(json!({"type": "accept", "challenge": id})).await;
    bob.until("game").await;
    ann.until("game").await
}

/// Gives a game up when both have moved.
async fn give_up(loser: &mut Client, game: &Value) {
    loser.ask(json!({"type": "resign", "game": game["game"]})).await;
}

#[tokio::test(start_paused = true)]
async fn the_better_of_a_few_games_wins_and_no_more_are_played_than_it_takes() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let first = best_of(&mut ann, &mut bob, 3).await;
    let expected = json!({"leg": 1, "of": 3, "half_points": {"first": 0, "second": 0}});
    assert_eq!(first["series"], expected);
    give_up(&mut bob, &first).await;
    ann.until("game_end").await;
    advance(Duration::from_secs(5)).await;
    assert_eq!(games(&mut ann).await, [] as [Value; 0], "the end is seen first");
    advance(Duration::from_secs(3)).await;
    let second = ann.until("game").await;
    assert_eq!(second["you"], "second", "sides are swapped");
    let expected = json!({"leg": 2, "of": 3, "half_points": {"first": 0, "second": 2}});
    assert_eq!(second["series"], expected);
    let live = ann.ask(json!({"type": "watch", "feed": "lobby"})).await;
    let lobby = if live["type"] == "lobby" { live } else { ann.until("lobby").await };
    assert_eq!(lobby["games"][0]["series"], expected, "lists say it too");
    give_up(&mut ann, &second).await;
    advance(Duration::from_secs(8)).await;
    let third = ann.until("game").await;
    assert_eq!(third["series"]["half_points"], json!({"first": 2, "second": 2}));
    give_up(&mut bob, &third).await;
    advance(Duration::from_secs(200)).await;
    assert_eq!(games(&mut ann).await, [] as [Value; 0], "three and no more");

    let first = best_of(&mut ann, &mut bob, 3).await;
    give_up(&mut bob, &first).await;
    advance(Duration::from_secs(8)).await;
    let second = ann.until("game").await;
    give_up(&mut bob, &second).await;
    advance(Duration::from_secs(200)).await;
    assert_eq!(games(&mut ann).await, [] as [Value; 0], "two decide it");
    let seen = ann.ask(json!({"type": "watch", "game": second["game"]})).await;
    assert_eq!(seen["series"], second["series"], "a finished game still says how it stood before");
}

#[tokio::test(start_paused = true)]
async fn a_series_waits_two_minutes_for_whoever_left_between_its_games() {
    let arena = Arena::start().await;
    for (away, goes_on, names) in [(60, true, ["ann", "bob"]), (140, false, ["cid", "dot"])] {
        let account = arena.account(names[1]).await;
        let mut ann = arena.person(names[0]).await;
        let mut bob = arena.connect_person(&account, hello()).await;
        let first = best_of(&mut ann, &mut bob, 5).await;
        give_up(&mut bob, &first).await;
        arena.lose(bob).await;
        for _ in 0..away / 10 {
            advance(Duration::from_secs(10)).await;
            // Whoever is here answers pings.
            assert_eq!(games(&mut ann).await, [] as [Value; 0], "nobody plays against an empty chair");
        }
        let _bob = arena.connect_person(&account, hello()).await;
        advance(Duration::from_secs(3)).await;
        if goes_on {
            assert_eq!(ann.until("game").await["pair"]["leg"], 2, "after {away} s");
        } else {
            assert_eq!(games(&mut ann).await, [] as [Value; 0], "after {away} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_game_that_comes_to_nothing_ends_the_series() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let first = best_of(&mut ann, &mut bob, 3).await;
    ann.ask(json!({"type": "abort", "game": first["game"]})).await;
    advance(Duration::from_secs(200)).await;
    assert_eq!(games(&mut ann).await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_series_of_which_the_better_wins_goes_on_after_a_restart() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let first = best_of(&mut ann, &mut bob, 3).await;
    give_up(&mut bob, &first).await;
    ann.until("game_end").await;
    let (one, other) = (ann.resume_hello(), bob.resume_hello());
    let arena = arena.restart().await;
    let mut ann = Client::open(&arena.url(), &[], one).await;
    let _bob = Client::open(&arena.url(), &[], other).await;
    advance(Duration::from_secs(10)).await;
    let second = ann.until("game").await;
    let expected = json!({"leg": 2, "of": 3, "half_points": {"first": 0, "second": 2}});
    assert_eq!((&second["series"], &second["you"]), (&expected, &json!("second")));
}
