//! What one connection may send, and what becomes of one that sends more.

use std::time::Duration;

use serde_json::json;

use crate::support::{Arena, Client, advance, pair_up, time};

#[tokio::test(start_paused = true)]
async fn a_hundred_messages_are_taken_and_the_next_one_is_told_to_wait() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    for n in 0..100 {
        assert_eq!(guest.ask(json!({"type": "ping", "n": n})).await["n"], n);
    }
    let error = guest.ask_refused(json!({"type": "ping"}), "rate_limited").await;
    assert_eq!((&error["retry_ms"], &error["fatal"]), (&json!(200), &json!(false)));
    advance(Duration::from_millis(200)).await;
    assert_eq!(guest.ask(json!({"type": "ping", "n": 1})).await["type"], "pong");
    guest.ask_refused(json!({"type": "ping"}), "rate_limited").await;
    let last = guest.ask_refused(json!({"type": "ping"}), "rate_limited").await;
    assert_eq!(last["fatal"], true);
    assert_eq!(guest.closed().await, 4429);
}

#[tokio::test(start_paused = true)]
async fn who_only_watches_has_fifty_messages_and_a_player_who_watches_a_hundred() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    assert_eq!(eve.welcome["limits"]["watcher_messages_per_20s"], 50);
    for watcher in [&mut eve, &mut *pair.first] {
        watcher.ask(json!({"type": "watch", "feed": "lobby"})).await;
    }
    // To watch cost one credit: whoever asks for it watches nothing yet.
    for n in 0..49 {
        assert_eq!(eve.ask(json!({"type": "ping", "n": n})).await["n"], n);
        assert_eq!(pair.first.ask(json!({"type": "ping", "n": n})).await["n"], n);
    }
    assert_eq!(eve.ask_refused(json!({"type": "ping"}), "rate_limited").await["retry_ms"], 200);
    assert_eq!(pair.first.ask(json!({"type": "ping", "n": 49})).await["n"], 49, "it plays");
    advance(Duration::from_millis(200)).await;
    assert_eq!(eve.ask(json!({"type": "unwatch", "feed": "lobby"})).await["type"], "ok");
    advance(Duration::from_millis(200)).await;
    assert_eq!(eve.ask(json!({"type": "ping", "n": 1})).await["n"], 1, "it watches nothing any more");
}

#[tokio::test(start_paused = true)]
async fn the_move_that_answers_a_turn_is_free_and_so_is_the_next_try() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("44").await;
    pair.first.until("turn").await;
    for n in 0..100 {
        pair.first.say(&json!({"type": "ping", "n": n}));
    }
    pair.first.find(|message| message["code"] == "rate_limited").await;
    assert_eq!(pair.first.ask_refused(pair.stone(2, 9), "illegal_move").await["retries_left"], 2);
    assert_eq!(pair.first.ask_refused(pair.stone(2, 0), "illegal_move").await["retries_left"], 1);
    assert_eq!(pair.first.ask(pair.stone(2, 4)).await["type"], "moved");
    pair.first.ask_refused(pair.stone(2, 4), "rate_limited").await;
    pair.second.until("moved").await;
}

#[tokio::test(start_paused = true)]
async fn ten_moves_that_answer_nothing_end_the_connection() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    for _ in 0..5 {
        pair.second.ask_refused(pair.stone(0, 4), "not_your_turn").await;
        let nowhere = json!({"type": "move", "game": "nosuchgame", "ply": 0, "column": 1});
        pair.second.ask_refused(nowhere, "no_such_game").await;
    }
    assert_eq!(pair.second.closed().await, 4400);
}

#[tokio::test(start_paused = true)]
async fn useless_moves_between_turns_are_forgotten() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    for ply in [0, 2, 4] {
        for _ in 0..9 {
            pair.second.ask_refused(pair.stone(ply + 1, 4), "not_your_turn").await;
        }
        pair.play_from(ply, "45").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_player_who_does_not_read_is_cut_off_and_may_resume() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    let mut slow = arena.guest_by_a_thin_pipe(1_024).await;
    let pair = pair_up(&mut slow, &mut ann, json!({"time": time(3_600_000, 0)})).await;
    let react = json!({"type": "react", "game": pair.game, "emoji": "👍"});
    pair.first.stop_reading().await;
    let resume = pair.first.resume_hello();
    let mut missed = 0;
    while !pair.second.has("opponent_gone") {
        assert_eq!(pair.second.ask(react.clone()).await["type"], "reaction");
        missed += 1;
        assert!(missed < 200, "64 messages and what the buffers hold");
        advance(Duration::from_millis(200)).await;
    }
    slow.go_on_reading();
    assert_eq!(slow.closed().await, 4408);
    let mut back = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(back.welcome["resumed"], true);
    for _ in 0..missed {
        back.until("reaction").await;
    }
}
