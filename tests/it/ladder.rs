//! Games that nobody asked for.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Arena, advance, play_out};

async fn arena() -> Arena {
    Arena::start_with(|config| {
        config.ladder.enabled = true;
        config.house_bots.0.clear();
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn open_bots_are_paired_for_two_rated_games() {
    let arena = arena().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    advance(Duration::from_secs(1)).await;
    let game = ada.until("game").await;
    assert_eq!((&game["rated"], &game["opening"]["kind"]), (&json!(true), &json!("balanced")));
    assert_eq!((&game["pair"]["leg"], &game["pair"]["of"]), (&json!(1), &json!(2)));
    let ends = play_out(&mut ada, &mut bob, 2).await;
    assert!(ends.iter().all(|end| end["rating"].is_object()), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn bots_that_are_closed_or_do_not_accept_are_left_alone() {
    let arena = arena().await;
    let mut bots = [
        arena.bot("ada").await,
        arena.bot_with("bob", json!({"open": false})).await,
        arena.bot_with("carol", json!({"accepts": {"rated": false}})).await,
        arena.bot_with("dave", json!({"accepts": {"opponents": ["human"]}})).await,
        arena.bot_with("eve", json!({"max_games": 0})).await,
    ];
    advance(Duration::from_secs(2)).await;
    for bot in &mut bots {
        let games: Vec<Value> = bot.heard().await.into_iter().filter(|m| m["type"] == "game").collect();
        assert_eq!(games, [] as [Value; 0], "{}", bot.name());
    }
}
