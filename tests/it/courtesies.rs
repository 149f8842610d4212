//! Takebacks, rematches, reactions.

use serde_json::json;

use crate::support::{Arena, Client, hello, pair_up};

#[tokio::test(start_paused = true)]
pub(crate) async fn a_move_is_taken_back_when_the_opponent_agrees() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("44").await;
    let offer = pair.first.ask(pair.about("takeback")).await;
    assert_eq!((&offer["type"], &offer["by"]), (&json!("takeback_offer"), &json!("first")));
    assert_eq!(pair.second.until("takeback_offer").await["by"], "first");
    let yes = json!({"type": "takeback_answer", "game": pair.game, "yes": true});
    let snapshot = pair.second.ask(yes).await;
    assert_eq!(
        (&snapshot["type"], &snapshot["moves"], &snapshot["ply"], &snapshot["event_seq"]),
        (&json!("game"), &json!(""), &json!(0), &json!(3)),
        "both moves go, as it was the first side's turn"
    );
    assert_eq!(pair.first.until("game").await["event_seq"], 3);
    let moved = pair.play("5").await;
    assert_eq!((&moved["event_seq"], &moved["column"]), (&json!(4), &json!(5)));
}

#[tokio::test(start_paused = true)]
async fn the_move_just_made_is_taken_back_alone() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("445").await;
    pair.first.ask(pair.about("takeback")).await;
    let no = json!({"type": "takeback_answer", "game": pair.game, "yes": false});
    assert_eq!(pair.second.ask(no.clone()).await["type"], "ok");
    assert_eq!(pair.first.until("takeback_refused").await["by"], "second", "the asker is told");
    pair.second.ask_refused(no, "forbidden").await;
    pair.first.ask(pair.about("takeback")).await;
    let yes = json!({"type": "takeback_answer", "game": pair.game, "yes": true});
    assert_eq!(pair.second.ask(yes).await["moves"], "44");
}

#[tokio::test(start_paused = true)]
async fn takebacks_are_for_people_in_casual_games() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut bot) =
        (arena.person("ann").await, arena.person("bob").await, arena.bot("ada").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({"rated": true})).await;
    pair.play("44").await;
    pair.first.ask_refused(pair.about("takeback"), "forbidden").await;
    ann.clear().await;
    let mut pair = pair_up(&mut ann, &mut bot, json!({})).await;
    pair.play("44").await;
    pair.second.ask_refused(pair.about("takeback"), "forbidden").await;
    pair.first.ask(pair.about("takeback")).await;
    assert_eq!(pair.second.until("takeback_offer").await["by"], "first", "a remote bot may say yes");
    ann.clear().await;
    bob.clear().await;
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.first.ask_refused(pair.about("takeback"), "forbidden").await;
}

#[tokio::test(start_paused = true)]
pub(crate) async fn a_rematch_starts_with_sides_swapped_when_both_have_asked() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.first.ask_refused(pair.about("rematch"), "forbidden").await;
    pair.play("44").await;
    pair.resign_first().await;
    let offer = pair.first.ask(pair.about("rematch")).await;
    assert_eq!((&offer["type"], &offer["by"]), (&json!("rematch_offer"), &json!("first")));
    assert_eq!(pair.second.until("rematch_offer").await["by"], "first");
    assert_eq!(pair.second.ask(pair.about("rematch")).await["type"], "ok");
    let game = pair.first.until("game").await;
    assert_ne!(game["game"], *pair.game);
    assert_eq!((&game["you"], &game["time"]), (&json!("second"), &crate::support::blitz()));
    assert_eq!(pair.second.until("game").await["you"], "first");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_loaded_again_can_offer_and_hear_of_a_rematch() {
    let arena = Arena::start().await;
    let (one, two) = (arena.account("ann").await, arena.account("bob").await);
    let (mut ann, mut bob) =
        (arena.connect_person(&one, hello()).await, arena.connect_person(&two, hello()).await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.resign_first().await;
    let (rematch, watch) = (pair.about("rematch"), pair.about("watch"));
    let mut ann = arena.connect_person(&one, hello()).await;
    let mut bob = arena.connect_person(&two, hello()).await;
    assert_eq!(bob.ask(watch).await["you"], "second", "players are no watchers");
    assert_eq!(ann.ask(rematch.clone()).await["type"], "rematch_offer");
    assert_eq!(bob.until("rematch_offer").await["by"], "first");
    bob.ask(rematch).await;
    assert_eq!(ann.until("game").await["you"], "second");
}

#[tokio::test(start_paused = true)]
async fn reactions_reach_both_players_and_watchers() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.guest().await);
    let pair = pair_up(&mut ann, &mut bob, json!({})).await;
    eve.ask(pair.about("watch")).await;
    let emoji = pair.first.welcome["reactions"][0].clone();
    let react = json!({"type": "react", "game": pair.game, "emoji": emoji});
    let reaction = pair.first.ask(react).await;
    assert_eq!(
        (&reaction["type"], &reaction["by"], &reaction["emoji"]),
        (&json!("reaction"), &json!("first"), &emoji)
    );
    let clients: [&mut Client; 2] = [pair.second, &mut eve];
    for client in clients {
        assert_eq!(client.until("reaction").await["emoji"], emoji);
    }
    let phrase = json!({"type": "react", "game": pair.game, "emoji": "phrase:good_game"});
    assert_eq!(pair.first.ask(phrase).await["emoji"], "phrase:good_game");
    assert_eq!(pair.second.until("reaction").await["emoji"], "phrase:good_game");
    let words = json!({"type": "react", "game": pair.game, "emoji": "you lose"});
    assert_eq!(pair.first.ask_refused(words, "bad_field").await["field"], "emoji");
}
