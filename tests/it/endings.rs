//! How games end.

use serde_json::{Value, json};

use crate::support::{Arena, pair_up};

#[tokio::test(start_paused = true)]
async fn four_in_a_line_win_and_the_line_is_shown() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    let moved = pair.play("1122334").await;
    assert_eq!(moved["event_seq"], 7);
    for client in [pair.first, pair.second] {
        let end = client.until("game_end").await;
        assert_eq!(end["line"], json!([[1, 1], [2, 1], [3, 1], [4, 1]]));
        let expected = json!({
            "game": pair.game, "event_seq": 8, "result": "first", "reason": "four", "moves": "1122334",
            "clock": {"first": 60_000, "second": 60_000},
        });
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&end[field], value, "{field}");
        }
        assert_eq!((&end["by"], &end["rating"]), (&Value::Null, &Value::Null));
        assert!(!client.heard_types().await.contains(&"turn".to_owned()), "nobody is asked any more");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_board_is_a_draw() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({"variant": "4x4"})).await;
    pair.play("4321311144234232").await;
    let end = pair.second.until("game_end").await;
    assert_eq!(
        (&end["result"], &end["reason"], &end["line"]),
        (&json!("draw"), &json!("full"), &Value::Null)
    );
}

#[tokio::test(start_paused = true)]
async fn resigning_is_answered_by_the_end() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4").await;
    let end = pair.resign_first().await;
    assert_eq!(
        (&end["result"], &end["reason"], &end["by"], &end["event_seq"]),
        (&json!("second"), &json!("resign"), &json!("first"), &json!(2))
    );
    let over = pair.second.ask_refused(pair.about("resign"), "game_over").await;
    assert_eq!(over["result"], "second");
    let snapshot = pair.second.ask(pair.about("sync")).await;
    assert_eq!(
        (
            &snapshot["status"],
            &snapshot["result"],
            &snapshot["reason"],
            &snapshot["to_move"],
            &snapshot["you"]
        ),
        (&json!("over"), &json!("second"), &json!("resign"), &Value::Null, &json!("second"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_game_is_aborted_before_each_side_has_moved_and_not_after() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4").await;
    let end = pair.second.ask(pair.about("abort")).await;
    assert_eq!(
        (&end["result"], &end["reason"], &end["by"]),
        (&json!("void"), &json!("aborted"), &json!("second"))
    );
    assert_eq!(pair.first.until("game_end").await["result"], "void");
    pair.first.clear().await;
    pair.second.clear().await;
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("44").await;
    pair.first.ask_refused(pair.about("abort"), "forbidden").await;
}

#[tokio::test(start_paused = true)]
async fn strangers_end_nothing() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.person("eve").await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    for kind in ["resign", "abort", "claim", "takeback", "rematch"] {
        eve.ask_refused(pair.about(kind), "forbidden").await;
    }
}
