//! What holds on an open connection, and for several of one player.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::support::{Arena, Client, advance, bearer, blitz, hello, pair_up};

#[tokio::test(start_paused = true)]
async fn an_answer_carries_the_id_of_its_request() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    guest.until("synced").await;
    guest.say(&json!({"type": "ping", "n": 7, "id": "a"}));
    assert_eq!(guest.next().await, json!({"type": "pong", "seq": 3, "re": "a", "n": 7}));
    guest.say(&json!({"type": "ping", "n": 8}));
    assert_eq!(guest.next().await, json!({"type": "pong", "seq": 4, "n": 8}));
    guest.say(&json!({"type": "unseek", "id": "ä".repeat(32)}));
    assert_eq!(guest.next().await, json!({"type": "ok", "seq": 5, "re": "ä".repeat(32)}));
    guest.say(&json!({"type": "pong", "n": 1}));
    guest.say(&json!({"type": "set", "open": true, "id": "s", "unknown": {"field": []}}));
    assert_eq!(guest.next().await, json!({"type": "ok", "seq": 6, "re": "s"}));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_refused_by_name() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    for (message, code, field) in [
        (json!({"type": "dance"}), "bad_field", Some("type")),
        (json!({"n": 1}), "bad_field", Some("type")),
        (json!({"type": "ping", "n": "x"}), "bad_field", Some("n")),
        (json!({"type": "resign"}), "bad_field", Some("game")),
        (json!({"type": "watch", "feed": "news"}), "bad_field", Some("feed")),
        (json!({"type": "unseek", "id": "x".repeat(33)}), "bad_field", Some("id")),
        (json!({"type": "set", "accepts": {"rating": [1]}}), "bad_field", Some("accepts.rating")),
        (json!({"type": "unseek", "deep": [[[[[[[[]]]]]]]]}), "bad_json", None),
    ] {
        guest.say(&message);
        let error = guest.until("error").await;
        assert_eq!((&error["code"], error["field"].as_str()), (&json!(code), field), "{message}: {error}");
        assert_eq!(error["fatal"], false);
    }
    guest.say_text(r#"{"type":"ping","n":1,"n":2}"#);
    assert_eq!(guest.until("error").await["code"], "bad_json");
    guest.settle().await;
}

#[tokio::test(start_paused = true)]
async fn five_unreadable_messages_in_ten_seconds_end_the_connection() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    for text in ["{", "[]", "null", "", "{\"type\":\"unseek\"}x"] {
        guest.say_text(text);
        assert_eq!(guest.until("error").await["code"], "bad_json", "{text}");
    }
    assert_eq!(guest.closed().await, 4400);
}

#[tokio::test(start_paused = true)]
async fn hundreds_of_slow_peers_are_let_go_in_time_and_hold_nobody_up() {
    let arena = Arena::start().await;
    let mut slow = Vec::new();
    for bytes in ["", "GET / HTTP/1.1\r\nHost: local", "G"] {
        for _ in 0..100 {
            let mut stream = TcpStream::connect(arena.address).await.unwrap();
            stream.write_all(bytes.as_bytes()).await.unwrap();
            slow.push(stream);
        }
    }
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(Client::connect(&arena.url(), &[]).await.unwrap());
    }
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4453").await;
    advance(Duration::from_millis(5_001)).await;
    for mut stream in slow {
        let mut rest = Vec::new();
        // One that is reset is gone too.
        let _ = stream.read_to_end(&mut rest).await;
    }
    for mut client in silent {
        assert_eq!(client.closed().await, 4401);
    }
    pair.play_from(4, "5").await;
}

#[tokio::test(start_paused = true)]
async fn frames_of_other_kinds_and_sizes_close_with_their_codes() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    guest.send(Message::Binary(Bytes::from_static(b"{}")));
    assert_eq!(guest.closed().await, 1003);
    let mut guest = arena.guest().await;
    guest.say_text(&" ".repeat(4_096 - 2));
    assert_eq!(guest.until("error").await["code"], "bad_json", "4 KiB are allowed");
    guest.say_text(&"x".repeat(4_097));
    let error = guest.until("error").await;
    assert_eq!((&error["code"], &error["fatal"]), (&json!("too_large"), &json!(true)));
    assert_eq!(guest.closed().await, 1009);
}

#[tokio::test(start_paused = true)]
async fn bye_closes_with_1000() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    assert_eq!(guest.ask(json!({"type": "bye"})).await["type"], "ok");
    assert_eq!(guest.closed().await, 1000);
}

#[tokio::test(start_paused = true)]
async fn draining_lets_games_end_and_begins_none() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({})).await;
    assert_eq!(pair.first.ask(json!({"type": "bye", "drain": true})).await["type"], "ok");
    let seek = json!({"type": "seek", "time": blitz(), "rated": false});
    let error = pair.first.ask_refused(seek, "paused").await;
    assert!(error["retry_ms"].is_u64());
    let challenge = json!({"type": "challenge", "to": "ada", "time": blitz(), "rated": false});
    pair.second.ask_refused(challenge, "paused").await;
    pair.play("44").await;
    pair.resign_first().await;
    assert_eq!(ada.closed().await, 1000);
}

#[tokio::test(start_paused = true)]
async fn draining_without_games_ends_at_once() {
    let arena = Arena::start().await;
    let mut bot = arena.bot("ada").await;
    bot.ask(json!({"type": "bye", "drain": true})).await;
    assert_eq!(bot.closed().await, 1000);
}

#[tokio::test(start_paused = true)]
async fn a_newer_connection_of_a_bot_takes_over() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let (mut older, mut bob) = (arena.connect_bot(&token, json!({})).await, arena.bot("bob").await);
    let mut pair = pair_up(&mut older, &mut bob, json!({})).await;
    pair.play("4").await;
    pair.play_from(1, "4").await;
    let game = pair.game.clone();
    let mut newer = arena.connect_bot(&token, json!({})).await;
    assert_eq!(older.closed().await, 4409);
    let snapshot = newer.next().await;
    assert_eq!(
        (&snapshot["type"], &snapshot["game"], &snapshot["you"], &snapshot["moves"]),
        (&json!("game"), &json!(game), &json!("first"), &json!("44"))
    );
    assert_eq!(newer.next().await, json!({"type": "synced", "seq": 3, "games": 1, "your_turn": [game]}));
    let turn = newer.next().await;
    assert_eq!((&turn["type"], &turn["ply"]), (&json!("turn"), &json!(2)));
    let moved = newer.ask(json!({"type": "move", "game": game, "ply": 2, "column": 1})).await;
    assert_eq!(moved["type"], "moved");
    assert_eq!(bob.until("moved").await["ply"], 3);
    let gone: Vec<_> = bob.heard().await.into_iter().filter(|m| m["type"] == "opponent_gone").collect();
    assert_eq!(gone, [] as [serde_json::Value; 0], "the seat was never empty");
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_declares_lasts_as_long_as_its_connection() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let _open = arena.connect_bot(&token, json!({"accepts": {"rated": true}})).await;
    let mut bob = arena.bot("bob").await;
    let challenge = json!({"type": "challenge", "to": "ada", "time": blitz(), "rated": false});
    assert_eq!(bob.ask_refused(challenge.clone(), "not_accepting").await["field"], "rated");
    let _closed = crate::support::Client::open(&arena.url(), &[bearer(&token)], hello()).await;
    assert_eq!(bob.ask_refused(challenge, "not_accepting").await["field"], "open");
}

#[tokio::test(start_paused = true)]
async fn every_connection_of_a_person_sees_everything() {
    let arena = Arena::start().await;
    let ann = arena.account("ann").await;
    let mut desk = arena.connect_person(&ann, hello()).await;
    let mut phone = arena.connect_person(&ann, hello()).await;
    let mut bob = arena.person("bob").await;
    let offer = desk
        .ask(json!({"type": "challenge", "to": "bob", "time": blitz(), "rated": false, "side": "first"}))
        .await;
    assert_eq!(phone.until("challenge").await["challenge"], offer["challenge"]);
    bob.ask(json!({"type": "accept", "challenge": offer["challenge"]})).await;
    for client in [&mut desk, &mut phone] {
        assert_eq!(client.until("challenge_end").await["how"], "accepted");
        assert_eq!(client.until("turn").await["ply"], 0);
    }
    let game = phone.until("game").await["game"].clone();
    let stone = json!({"type": "move", "game": game, "ply": 0, "column": 4});
    assert_eq!(phone.ask(stone.clone()).await["ply"], 1);
    assert_eq!(desk.until("moved").await["column"], 4);
    assert_eq!(desk.ask(stone).await["event_seq"], 1, "the other connection's move is the same move");
    drop(desk);
    bob.until("turn").await;
    bob.ask(json!({"type": "move", "game": game, "ply": 1, "column": 4})).await;
    assert_eq!(phone.until("turn").await["ply"], 2);
    assert!(!bob.heard_types().await.contains(&"opponent_gone".to_owned()), "one connection is enough");
}

#[tokio::test(start_paused = true)]
async fn requests_about_unknown_things_are_refused_and_not_abuse() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    for _ in 0..3 {
        for kind in ["resign", "abort", "claim", "sync", "rematch", "takeback", "watch"] {
            let error =
                guest.ask_refused(json!({"type": kind, "game": "no-such-game"}), "no_such_game").await;
            assert_eq!(error["game"], "no-such-game");
        }
    }
    for kind in ["accept", "decline", "cancel"] {
        guest.ask_refused(json!({"type": kind, "challenge": "nope"}), "no_such_challenge").await;
    }
    let nobody = json!({"type": "challenge", "to": "nobody with that name", "time": blitz(), "rated": false});
    guest.ask_refused(nobody, "no_such_player").await;
    guest
        .ask_refused(json!({"type": "play_bot", "bot": "no such bot!", "time": blitz()}), "no_such_bot")
        .await;
}
