//! Turns, moves and their refusals.

use fourfold::system::config::Bounded;
use serde_json::{Value, json};

use crate::support::{Arena, advance, blitz, pair_up};

#[tokio::test(start_paused = true)]
async fn a_game_begins_with_a_snapshot_and_the_first_turn() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    ann.clear().await;
    bob.clear().await;
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let game = pair.game.clone();
    let snapshot = pair.first.ask(json!({"type": "sync", "game": game})).await;
    let expected = json!({
        "game": game, "you": "first", "rated": false, "time": blitz(), "variant": "7x6",
        "opening": {"kind": "none", "moves": ""}, "moves": "", "ply": 0,
        "clock": {"first": 60_000, "second": 60_000}, "to_move": "first", "event_seq": 0, "status": "live",
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&snapshot[field], value, "{field}");
    }
    assert_eq!(snapshot["players"]["second"]["name"], "bob");
    assert_eq!(snapshot["players"]["second"]["rating"]["provisional"], true);
    let turn = pair.first.until("turn").await;
    let expected = json!({
        "type": "turn", "seq": turn["seq"], "game": game, "ply": 0, "moves": "", "legal": [1, 2, 3, 4, 5, 6, 7],
        "clock": {"you": 60_000, "opponent": 60_000}, "budget_ms": 60_000, "network_ms": turn["network_ms"],
        "variant": "7x6",
    });
    assert_eq!(turn, expected);
    assert!(!pair.second.heard_types().await.contains(&"turn".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_move_is_told_to_both_sides_and_asks_the_other_one() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let moved = pair.first.ask(pair.stone(0, 4)).await;
    let expected = json!({
        "type": "moved", "seq": moved["seq"], "re": moved["re"], "game": pair.game, "event_seq": 1, "ply": 1,
        "column": 4, "by": "first", "clock": {"first": 60_000, "second": 60_000}, "spent_ms": 0, "credited_ms": 0,
    });
    assert_eq!(moved, expected);
    let mut heard = pair.second.until("moved").await;
    assert_eq!(heard["re"], Value::Null);
    for field in ["seq", "re"] {
        heard[field] = moved[field].clone();
    }
    assert_eq!(heard, moved);
    let turn = pair.second.until("turn").await;
    assert_eq!((&turn["ply"], &turn["moves"]), (&json!(1), &json!("4")));
}

#[tokio::test(start_paused = true)]
pub(crate) async fn the_same_move_again_gets_the_same_answer() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let mut before = pair.first.ask(pair.stone(0, 4)).await;
    pair.play_from(1, "4").await;
    let again = pair.first.ask(pair.stone(0, 4)).await;
    for field in ["seq", "re"] {
        before[field] = again[field].clone();
    }
    assert_eq!(again, before);
    let stale = pair.first.ask_refused(pair.stone(0, 5), "stale_ply").await;
    assert_eq!((&stale["column"], &stale["game"]), (&json!(4), &json!(pair.game)));
    for _ in 0..20 {
        assert_eq!(pair.first.ask(pair.stone(0, 4)).await["type"], "moved", "repeats are no abuse");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repeated_move_is_answered_after_the_end_too() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({})).await;
    let won = pair.play("1212121").await;
    assert_eq!(pair.first.until("game_end").await["reason"], "four");
    let (last, next) = (pair.stone(6, 1), pair.stone(7, 1));
    for minutes in [0, 5] {
        advance(std::time::Duration::from_secs(60 * minutes)).await;
        let again = pair.first.ask(last.clone()).await;
        assert_eq!((&again["type"], &again["event_seq"]), (&json!("moved"), &won["event_seq"]));
        assert_eq!(pair.first.ask_refused(next.clone(), "game_over").await["result"], "first");
        pair.first.ask_refused(pair.stone(6, 2), "stale_ply").await;
        let over = pair.first.ask_refused(pair.about("resign"), "game_over").await;
        assert_eq!(over["result"], "first");
    }
}

#[tokio::test(start_paused = true)]
async fn moves_out_of_turn_are_refused_with_the_ply() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.person("eve").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    assert_eq!(pair.second.ask_refused(pair.stone(0, 4), "not_your_turn").await["ply"], 0);
    assert_eq!(pair.first.ask_refused(pair.stone(1, 4), "not_your_turn").await["ply"], 0);
    pair.play("4").await;
    assert_eq!(pair.first.ask_refused(pair.stone(1, 4), "not_your_turn").await["ply"], 1);
    assert_eq!(pair.second.ask_refused(pair.stone(40, 9), "not_your_turn").await["ply"], 1);
    let theirs = pair.stone(1, 4);
    eve.ask_refused(theirs, "forbidden").await;
    eve.ask_refused(json!({"type": "move", "game": "nosuchgame", "ply": 0, "column": 1}), "no_such_game")
        .await;
}

#[tokio::test(start_paused = true)]
pub(crate) async fn the_third_wrong_column_loses_the_game() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("444444").await;
    let full = pair.first.ask_refused(pair.stone(6, 4), "illegal_move").await;
    assert_eq!(full["retries_left"], 2);
    let outside = pair.first.ask_refused(pair.stone(6, 8), "illegal_move").await;
    assert_eq!(outside["retries_left"], 1);
    assert_eq!(pair.first.ask(pair.stone(6, 3)).await["type"], "moved", "two are forgiven");
    pair.second.until("moved").await;
    pair.play_from(7, "3").await;
    let mut malformed = pair.stone(8, 0);
    malformed["column"] = json!("3");
    let refusal = pair.first.ask_refused(malformed, "bad_field").await;
    assert_eq!((&refusal["field"], &refusal["retries_left"]), (&json!("column"), &json!(0)));
    let end = pair.second.until("game_end").await;
    assert_eq!(
        (&end["result"], &end["reason"], &end["by"], &end["event_seq"]),
        (&json!("second"), &json!("illegal"), &json!("first"), &json!(9))
    );
}

#[tokio::test(start_paused = true)]
async fn who_is_strict_loses_with_the_first_wrong_column_and_the_other_side_does_not() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    ann.ask(json!({"type": "set", "strict": true})).await;
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4").await;
    assert_eq!(pair.second.ask_refused(pair.stone(1, 8), "illegal_move").await["retries_left"], 2);
    pair.play_from(1, "4").await;
    assert_eq!(pair.first.ask_refused(pair.stone(2, 8), "illegal_move").await["retries_left"], 0);
    let end = pair.second.until("game_end").await;
    assert_eq!((&end["reason"], &end["by"]), (&json!("illegal"), &json!("first")));
}

#[tokio::test(start_paused = true)]
async fn in_a_strict_arena_the_first_wrong_column_loses() {
    let arena = Arena::start_with(|config| config.limits.illegal_retries = Bounded::new(0)).await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    assert_eq!(ann.welcome["limits"]["illegal_retries"], 0);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    assert_eq!(pair.first.ask_refused(pair.stone(0, 8), "illegal_move").await["retries_left"], 0);
    assert_eq!(pair.second.until("game_end").await["reason"], "illegal");
}

#[tokio::test(start_paused = true)]
async fn every_form_of_a_wrong_column_counts() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let wrong = [
        (json!(0), "illegal_move"),
        (json!(-1), "illegal_move"),
        (json!(256), "illegal_move"),
        (json!(3.0), "bad_field"),
        (json!(null), "bad_field"),
        (json!([1]), "bad_field"),
        (json!(1e30), "bad_field"),
    ];
    for (column, code) in wrong {
        let pair = pair_up(&mut ann, &mut bob, json!({})).await;
        let mut stone = pair.stone(0, 1);
        stone["column"] = column;
        for retries_left in [2, 1, 0] {
            assert_eq!(
                pair.first.ask_refused(stone.clone(), code).await["retries_left"],
                retries_left,
                "{stone}"
            );
        }
        assert_eq!(pair.second.until("game_end").await["reason"], "illegal");
        pair.first.clear().await;
        pair.second.clear().await;
        advance(std::time::Duration::from_secs(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_column_out_of_turn_counts_nothing() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    for _ in 0..4 {
        pair.second.ask_refused(pair.stone(0, 9), "not_your_turn").await;
    }
    pair.play("44").await;
}

#[tokio::test(start_paused = true)]
async fn info_of_512_bytes_is_taken_and_more_is_not() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let mut stone = pair.stone(0, 4);
    stone["info"] = json!({"score": -1.5, "depth": 3, "nodes": 99, "pv": "44", "note": "x".repeat(512)});
    assert_eq!(pair.first.ask_refused(stone.clone(), "bad_field").await["field"], "info");
    stone["info"]["note"] = json!("x".repeat(440));
    assert_eq!(pair.first.ask(stone).await["type"], "moved");
    let moved = pair.second.until("moved").await;
    assert_eq!(moved["info"], Value::Null, "it is for the owner alone");
}

#[tokio::test(start_paused = true)]
async fn boards_of_other_sizes_are_played() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let pair = pair_up(&mut ann, &mut bob, json!({"variant": "5x4x3"})).await;
    let turn = pair.first.find(|m| m["type"] == "turn").await;
    assert_eq!((&turn["variant"], &turn["legal"]), (&json!("5x4x3"), &json!([1, 2, 3, 4, 5])));
    assert_eq!(pair.first.ask_refused(pair.stone(0, 6), "illegal_move").await["retries_left"], 2);
    for (ply, column) in [1, 1, 2, 2, 3].into_iter().enumerate() {
        let stone = pair.stone(ply, column);
        let mover = if ply % 2 == 0 { &mut *pair.first } else { &mut *pair.second };
        mover.ask(stone).await;
    }
    let end = pair.second.until("game_end").await;
    assert_eq!(end["line"], json!([[1, 1], [2, 1], [3, 1]]));
}

#[tokio::test(start_paused = true)]
async fn a_given_opening_stands_on_the_board() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let opening = json!({"kind": "given", "moves": "444"});
    let mut pair = pair_up(&mut ann, &mut bob, json!({"opening": opening})).await;
    let snapshot = pair.first.ask(pair.about("sync")).await;
    assert_eq!((&snapshot["opening"], &snapshot["moves"]), (&opening, &json!("444")));
    assert_eq!((&snapshot["ply"], &snapshot["to_move"]), (&json!(3), &json!("second")));
    pair.first.ask_refused(pair.stone(2, 4), "stale_ply").await;
    let moved = pair.play_from(3, "4").await;
    assert_eq!((&moved["ply"], &moved["event_seq"], &moved["by"]), (&json!(4), &json!(1), &json!("second")));
}
