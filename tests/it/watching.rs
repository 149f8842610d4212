//! Watchers of games and feeds.

use std::time::Duration;

use fourfold::system::config::Bounded;
use serde_json::{Value, json};

use crate::support::{Arena, advance, blitz, pair_up};

#[tokio::test(start_paused = true)]
pub(crate) async fn a_watcher_sees_the_game_and_what_happens_in_it() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4").await;
    let snapshot = eve.ask(pair.about("watch")).await;
    assert_eq!(
        (&snapshot["type"], &snapshot["you"], &snapshot["moves"]),
        (&json!("game"), &Value::Null, &json!("4"))
    );
    assert_eq!(eve.until("crowd").await["watching"], 1);
    let moved = pair.play_from(1, "4").await;
    assert_eq!(eve.until("moved").await["event_seq"], moved["event_seq"]);
    assert!(!eve.heard_types().await.contains(&"turn".to_owned()));
    pair.resign_first().await;
    assert_eq!(eve.until("game_end").await["reason"], "resign");
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_watching_hears_no_more() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    eve.ask(pair.about("watch")).await;
    assert_eq!(eve.ask(pair.about("unwatch")).await["type"], "ok");
    eve.clear().await;
    pair.play("44").await;
    assert_eq!(eve.heard().await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_crowd_is_told_at_most_once_a_second() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let mut watchers = Vec::new();
    for _ in 0..5 {
        let mut guest = arena.guest().await;
        guest.ask(pair.about("watch")).await;
        watchers.push(guest);
    }
    advance(Duration::from_millis(1_001)).await;
    pair.first.until("crowd").await;
    pair.first.settle().await;
    let crowds: Vec<_> = pair.first.heard().await.into_iter().filter(|m| m["type"] == "crowd").collect();
    assert_eq!(crowds.iter().map(|crowd| crowd["watching"].as_u64().unwrap()).collect::<Vec<_>>(), [5]);
}

#[tokio::test(start_paused = true)]
async fn finished_games_are_shown_and_unknown_ones_refused() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4").await;
    pair.resign_first().await;
    for seconds in [0, 120] {
        advance(Duration::from_secs(seconds)).await;
        let snapshot = eve.ask(pair.about("watch")).await;
        assert_eq!(
            (&snapshot["status"], &snapshot["result"], &snapshot["moves"]),
            (&json!("over"), &json!("second"), &json!("4"))
        );
    }
    eve.ask_refused(json!({"type": "watch", "game": "nosuchgame"}), "no_such_game").await;
    eve.ask_refused(json!({"type": "watch"}), "bad_field").await;
}

#[tokio::test(start_paused = true)]
async fn the_feeds_tell_of_seeks_games_ratings_and_results() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    for feed in ["lobby", "tv", "ladder", "results"] {
        assert_eq!(eve.ask(json!({"type": "watch", "feed": feed})).await["type"], "ok");
    }
    assert_eq!(eve.until("tv").await["game"], Value::Null);
    assert_eq!(eve.until("lobby").await["seeks"], json!([]));
    ann.ask(json!({"type": "seek", "time": blitz(), "rated": true})).await;
    advance(Duration::from_secs(1)).await;
    let lobby = eve.until("lobby").await;
    assert_eq!((&lobby["seeks"][0]["player"]["name"], &lobby["online"]), (&json!("ann"), &json!(3)));
    ann.ask(json!({"type": "unseek"})).await;
    let mut pair = pair_up(&mut ann, &mut bob, json!({"rated": true})).await;
    advance(Duration::from_secs(1)).await;
    assert_eq!(eve.until("tv").await["game"]["game"], *pair.game);
    assert_eq!(eve.until("lobby").await["live"], 1);
    pair.play("1212121").await;
    let ladder = eve.until("ladder").await;
    assert_eq!(ladder["changes"][0]["player"]["name"], "ann");
    assert!(ladder["changes"][0]["delta"].as_i64().unwrap() > 0);
    let result = eve.until("result").await;
    assert_eq!(
        (&result["end"]["result"], &result["players"]["second"]["name"]),
        (&json!("first"), &json!("bob"))
    );
    assert_eq!(eve.ask(json!({"type": "unwatch", "feed": "results"})).await["type"], "ok");
    eve.clear().await;
    let mut pair = pair_up(&mut bob, &mut ann, json!({})).await;
    pair.resign_first().await;
    assert!(!eve.heard_types().await.contains(&"result".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_falls_behind_gets_a_snapshot_for_what_it_lost() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut slow = arena.guest_by_a_thin_pipe(1_024).await;
    let mut pair = pair_up(&mut ann, &mut bob, json!({"variant": "8x7"})).await;
    slow.ask(pair.about("watch")).await;
    slow.stop_reading().await;
    for _ in 0..4 {
        // Takebacks make it a long game of few stones.
        pair.play("123456781234567812345678").await;
        for _ in 0..12 {
            pair.first.ask(pair.about("takeback")).await;
            pair.second.ask(json!({"type": "takeback_answer", "game": pair.game, "yes": true})).await;
            advance(Duration::from_secs(1)).await;
        }
    }
    slow.go_on_reading();
    let caught_up = slow.find(|message| message["skipped"].is_u64()).await;
    assert!(caught_up["skipped"].as_u64().unwrap() > 0);
    assert_eq!((&caught_up["type"], &caught_up["you"]), (&json!("game"), &Value::Null));
    slow.clear().await;
}

#[tokio::test(start_paused = true)]
async fn watchers_hear_what_is_certain_but_not_where_people_play_for_ratings() {
    let arena = Arena::start_with(|config| config.watching.truth = true).await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    for (rated, first) in [(false, 41), (true, 0)] {
        let mut pair = pair_up(&mut ann, &mut bob, json!({"rated": rated})).await;
        eve.ask(pair.about("watch")).await;
        if rated {
            pair.play("3").await;
            eve.until("moved").await;
            assert!(!eve.heard_types().await.contains(&"truth".to_owned()));
        } else {
            let truth = eve.until("truth").await;
            assert_eq!(
                (&truth["ply"], &truth["winner"], &truth["plies"]),
                (&json!(0), &json!("first"), &json!(first))
            );
            pair.play("3").await;
            let truth = eve.until("truth").await;
            assert_eq!((&truth["ply"], &truth["winner"]), (&json!(1), &Value::Null));
        }
        pair.resign_first().await;
        assert!(!ann.heard_types().await.contains(&"truth".to_owned()), "players hear nothing of it");
        eve.clear().await;
        ann.clear().await;
        bob.clear().await;
    }
}

#[tokio::test(start_paused = true)]
async fn games_of_people_are_seen_late_everywhere_until_they_are_over() {
    let arena = Arena::start_with(|config| config.watching.delay_ms = Bounded::new(10_000)).await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let seen = eve.ask(pair.about("watch")).await;
    assert_eq!((&seen["moves"], &seen["delay_ms"]), (&json!(""), &json!(10_000)));
    pair.play("4").await;
    advance(Duration::from_secs(4)).await;
    pair.play_from(1, "4").await;
    let to_move = pair.second.ask(pair.about("sync")).await;
    assert_eq!((&to_move["moves"], &to_move["delay_ms"]), (&json!("44"), &Value::Null), "players see all");
    advance(Duration::from_millis(5_900)).await;
    assert!(!eve.heard_types().await.contains(&"moved".to_owned()));
    assert_eq!(eve.ask(pair.about("sync")).await["moves"], "");
    advance(Duration::from_millis(200)).await;
    assert_eq!(eve.until("moved").await["ply"], 1);
    let mut late = arena.guest().await;
    let seen = late.ask(pair.about("watch")).await;
    assert_eq!((&seen["moves"], &seen["ply"], &seen["to_move"]), (&json!("4"), &json!(1), &json!("second")));
    advance(Duration::from_secs(1)).await;
    late.ask(json!({"type": "watch", "feed": "lobby"})).await;
    assert_eq!(late.until("lobby").await["games"][0]["moves"], "4");
    pair.resign_first().await;
    for watcher in [&mut eve, &mut late] {
        assert_eq!(watcher.until("moved").await["ply"], 2, "the end tells all");
        assert_eq!(watcher.until("game_end").await["moves"], "44");
    }
    let mut again = arena.guest().await;
    assert_eq!(again.ask(pair.about("watch")).await["delay_ms"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_private_game_is_in_no_feed_and_its_rematch_neither() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    for feed in ["lobby", "tv", "results", "ladder"] {
        eve.ask(json!({"type": "watch", "feed": feed})).await;
    }
    let mut pair = pair_up(&mut ann, &mut bob, json!({"private": true})).await;
    let (game, snapshot) = (pair.game.clone(), pair.first.ask(pair.about("sync")).await);
    assert_eq!((&snapshot["rated"], &snapshot["unrated_because"]), (&json!(false), &json!("private")));
    pair.play("4").await;
    advance(Duration::from_secs(3)).await;
    pair.resign_first().await;
    for client in [&mut *pair.first, &mut *pair.second] {
        client.ask(json!({"type": "rematch", "game": game})).await;
    }
    let again = pair.first.until("game").await;
    assert_eq!(again["unrated_because"], "private");
    advance(Duration::from_secs(3)).await;
    pair.first.ask(json!({"type": "resign", "game": again["game"]})).await;
    advance(Duration::from_secs(3)).await;
    let heard = eve.heard().await;
    let named = [&game, again["game"].as_str().unwrap()];
    for message in &heard {
        let text = message.to_string();
        assert!(named.iter().all(|id| !text.contains(*id)), "{message}");
    }
    assert!(heard.iter().all(|message| message["type"] != "lobby" || message["live"] == 0), "{heard:?}");
    let watched = eve.ask(json!({"type": "watch", "game": game})).await;
    assert_eq!(watched["status"], "over", "whoever has the address may look");
    eve.ask_refused(
        json!({"type": "open_challenge", "time": blitz(), "rated": true, "private": true}),
        "bad_field",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn no_bot_takes_the_link_to_a_private_game() {
    let arena = Arena::start().await;
    let (mut ann, mut six) = (arena.person("ann").await, arena.bot("six").await);
    let link = json!({"type": "open_challenge", "time": blitz(), "rated": false, "private": true});
    let id = ann.ask(link).await["challenge"].clone();
    let refused = six.ask_refused(json!({"type": "accept", "challenge": id}), "bad_field").await;
    assert_eq!(refused["field"], "private");
}
