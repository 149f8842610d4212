//! Tournaments of the daemon, as remote bots meet them.

use std::time::Duration;

use fourfold::storage::tournaments::EndedBecause;
use fourfold::system::config::Config;
use serde_json::json;

use crate::support::{Arena, advance, play_out};

fn settings(config: &mut Config) {
    let cup = "name = \"Cup\"\nat = \"never\"\nformat = \"round-robin\"\nopen_bots = true\nconcurrency = 1";
    config.tournaments.0 = vec![toml::from_str(cup).unwrap()];
}

#[tokio::test(start_paused = true)]
async fn a_tournament_goes_on_after_a_restart_where_it_was() {
    let arena = Arena::start_with(settings).await;
    let (ada_token, bob_token) = (arena.token("ada").await, arena.token("bob").await);
    let (mut ada, mut bob) =
        (arena.connect_bot(&ada_token, json!({})).await, arena.connect_bot(&bob_token, json!({})).await);
    let id = arena.tournaments.start("Cup").await.unwrap();
    let game = ada.until("game").await;
    assert_eq!((&game["rated"], &game["opening"]["kind"]), (&json!(true), &json!("balanced")));
    assert_eq!(game["pair"], json!({"id": format!("{id}-t0"), "leg": 1, "of": 2}));
    bob.until("game").await;
    let first = play_out(&mut ada, &mut bob, 1).await.remove(0);
    let second = ada.until("game").await;
    assert_eq!((&second["pair"]["leg"], &second["opening"]), (&json!(2), &game["opening"]));

    let arena = arena.restart().await;
    assert_eq!((ada.closed().await, bob.closed().await), (1012, 1012));
    let (mut ada, mut bob) =
        (arena.connect_bot(&ada_token, json!({})).await, arena.connect_bot(&bob_token, json!({})).await);
    assert_eq!(ada.until("game").await["game"], second["game"], "the same game, and no other");
    bob.until("game").await;
    let last = play_out(&mut ada, &mut bob, 1).await.remove(0);
    assert_eq!(last["game"], second["game"]);
    let end = loop {
        if let Some(end) = arena.services.store.tournament(&id).await.unwrap().unwrap().end {
            break end;
        }
        advance(Duration::from_millis(10)).await;
    };
    assert_eq!((end.reason, end.games), (EndedBecause::Complete, 2));
    let view = arena.tournaments.view(&id).await.unwrap().unwrap();
    let games: Vec<_> = view.lines.iter().map(|line| json!(line.game)).collect();
    assert_eq!(games, [first["game"].clone(), second["game"].clone()]);
}
