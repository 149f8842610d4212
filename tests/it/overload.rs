//! More is asked for than the daemon takes: what goes on goes on, and what is new is told when to come again.

use std::time::Duration;

use fourfold::system::config::Bounded;
use serde_json::{Value, json};

use crate::support::{Arena, Client, advance, blitz, pair_up};

/// Games that the daemon of these tests takes.
const GAMES: usize = 20;

async fn arena() -> Arena {
    Arena::start_with(|config| config.limits.games = Bounded::new(20)).await
}

/// A busy daemon says when to ask again.
fn is_busy(answer: &Value) -> bool {
    assert!(answer["type"] != "error" || answer["code"] == "busy", "{answer}");
    answer["type"] == "error" && answer["retry_ms"].as_u64().is_some_and(|ms| ms > 0)
}

/// How many of these got their game, and how many were told to come again.
async fn ask_all(clients: &mut [Client], message: &Value) -> (usize, usize) {
    let (mut begun, mut refused) = (0, 0);
    for client in clients {
        if is_busy(&client.ask(message.clone()).await) { refused += 1 } else { begun += 1 }
    }
    (begun, refused)
}

#[tokio::test(start_paused = true)]
async fn games_go_on_while_three_times_as_many_are_asked_for() {
    let arena = arena().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("44").await;
    let mut crowd = Vec::new();
    for _ in 0..3 * GAMES {
        crowd.push(arena.guest().await);
    }
    let play = json!({"type": "play_bot", "bot": "random", "time": blitz(), "side": "first"});
    let (begun, refused) = ask_all(&mut crowd, &play).await;
    assert_eq!((begun, refused), (GAMES - 1, 2 * GAMES + 1));
    pair.play_from(2, "1213").await;

    // Seeks are taken up, and become games that there is no room for.
    let seek = json!({"type": "seek", "time": blitz(), "rated": false});
    for client in &mut crowd[GAMES..] {
        client.clear().await;
        client.ask(seek.clone()).await;
    }
    for client in &mut crowd[GAMES..] {
        let told = client.until("error").await;
        assert!(is_busy(&told), "{told}");
    }
    pair.play_from(6, "141").await;
    assert_eq!(pair.second.until("game_end").await["reason"], "four");

    // What ended makes room, when its room is gone.
    for client in &mut crowd[..GAMES - 1] {
        let game = client.until("game").await["game"].clone();
        client.ask(json!({"type": "resign", "game": game})).await;
    }
    advance(Duration::from_secs(61)).await;
    assert_eq!(ask_all(&mut crowd[GAMES..2 * GAMES], &play).await, (GAMES, 0));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_guests_and_games_leaves_nothing_behind() {
    let arena = arena().await;
    let _ann = arena.person("ann").await;
    let counts = || {
        let services = &arena.services;
        (services.sessions.all().len(), arena.games())
    };
    assert_eq!(counts(), (1, 0));
    let mut crowd = Vec::new();
    for _ in 0..GAMES {
        let mut guest = arena.guest().await;
        let time = json!({"bank_ms": 900_000, "increment_ms": 0, "move_ms": null});
        guest.ask(json!({"type": "play_bot", "bot": "greedy", "time": time, "side": "first"})).await;
        crowd.push(guest);
    }
    assert_eq!(counts(), (GAMES + 1, GAMES));
    for client in crowd {
        arena.lose(client).await;
    }
    // No first move for half a minute: void. Then the rooms linger, and the guests' sessions after them.
    for _ in 0..10 {
        advance(Duration::from_secs(30)).await;
    }
    assert_eq!(counts(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn guests_play_bots_of_the_house_for_fifteen_minutes_at_most() {
    let arena = arena().await;
    let (mut guest, mut ann) = (arena.guest().await, arena.person("ann").await);
    let play = |bank: u32| {
        json!({
            "type": "play_bot", "bot": "greedy", "side": "first",
            "time": {"bank_ms": bank, "increment_ms": 0, "move_ms": null},
        })
    };
    let refused = guest.ask_refused(play(900_001), "bad_field").await;
    assert_eq!(refused["field"], "time.bank_ms");
    assert!(refused["message"].as_str().unwrap().contains("900000"), "{refused}");
    let challenge = json!({
        "type": "challenge", "to": "greedy", "rated": false,
        "time": {"bank_ms": null, "increment_ms": 0, "move_ms": 900_001},
    });
    assert_eq!(guest.ask_refused(challenge, "bad_field").await["field"], "time.move_ms");
    assert_eq!(guest.ask(play(900_000)).await["type"], "ok");
    assert_eq!(ann.ask(play(86_400_000)).await["type"], "ok", "who has an account may take a day");
}
