//! Games against the bots of the house.

use serde_json::json;

use crate::support::{Arena, blitz, house_bot_moves};

#[tokio::test(start_paused = true)]
pub(crate) async fn a_game_against_a_house_bot_starts_at_once() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    for (side, you) in [("first", "first"), ("second", "second")] {
        let answer =
            guest.ask(json!({"type": "play_bot", "bot": "Random", "time": blitz(), "side": side})).await;
        assert_eq!(answer["type"], "ok");
        let game = guest.until("game").await;
        assert_eq!((&game["you"], &game["rated"]), (&json!(you), &json!(false)));
        let bot = if side == "first" { &game["players"]["second"] } else { &game["players"]["first"] };
        assert_eq!((&bot["name"], &bot["kind"]), (&json!("random"), &json!("bot")));
        assert!(bot["version"].is_string());
        if side == "first" {
            guest.ask(json!({"type": "move", "game": game["game"], "ply": 0, "column": 4})).await;
        }
        guest.clear().await;
        assert_ne!(house_bot_moves(&mut guest).await["by"], you);
        guest.ask(json!({"type": "resign", "game": game["game"]})).await;
        guest.clear().await;
    }
}

#[tokio::test(start_paused = true)]
async fn house_bots_play_other_boards_and_refuse_what_they_cannot() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    let mut play =
        json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "side": "first", "variant": "8x7"});
    guest.ask(play.clone()).await;
    assert_eq!(guest.until("turn").await["legal"], json!([1, 2, 3, 4, 5, 6, 7, 8]));
    play["variant"] = json!("99x99");
    assert_eq!(guest.ask_refused(play.clone(), "bad_field").await["field"], "variant");
    play["bot"] = json!("nobody");
    play["variant"] = json!("7x6");
    guest.ask_refused(play.clone(), "no_such_bot").await;
    play["bot"] = json!("random");
    play["rated"] = json!(true);
    guest.ask_refused(play, "forbidden").await;
}

#[tokio::test(start_paused = true)]
async fn a_casual_game_against_a_house_bot_begins_from_any_position() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    let late = "557152711624545746362464";
    let given = json!({"kind": "given", "moves": late});
    let mut play =
        json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "side": "first", "opening": given});
    assert_eq!(guest.ask(play.clone()).await["type"], "ok");
    let game = guest.until("game").await;
    assert_eq!(
        (&game["moves"], &game["opening"]["kind"], &game["rated"]),
        (&json!(late), &json!("given"), &json!(false))
    );
    assert_eq!(guest.until("turn").await["ply"], 24);
    for moves in ["8", "1212121", "1111111"] {
        play["opening"]["moves"] = json!(moves);
        assert_eq!(guest.ask_refused(play.clone(), "bad_field").await["field"], "opening");
    }
    let mut ann = arena.person("ann").await;
    play["opening"]["moves"] = json!("44");
    play["rated"] = json!(true);
    assert_eq!(ann.ask_refused(play, "bad_field").await["field"], "opening");
}

#[tokio::test(start_paused = true)]
async fn a_house_bot_accepts_every_challenge_and_every_rematch() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    let challenge =
        json!({"type": "challenge", "to": "greedy", "time": blitz(), "rated": true, "side": "first"});
    assert_eq!(ann.ask(challenge).await["type"], "challenge");
    assert_eq!(ann.until("challenge_end").await["how"], "accepted");
    let game = ann.until("game").await;
    assert_eq!((&game["you"], &game["rated"]), (&json!("first"), &json!(true)));
    ann.ask(json!({"type": "resign", "game": game["game"]})).await;
    ann.ask(json!({"type": "rematch", "game": game["game"]})).await;
    let next = ann.until("game").await;
    assert_eq!((&next["you"], &next["rated"]), (&json!("second"), &json!(true)));
    assert_eq!(house_bot_moves(&mut ann).await["by"], "first");
}

#[tokio::test(start_paused = true)]
async fn nobody_plays_more_games_than_their_own_limit() {
    let arena = Arena::start().await;
    let mut bot = arena.bot_with("ada", json!({"max_games": 2})).await;
    let play = json!({"type": "play_bot", "bot": "random", "time": blitz(), "side": "first"});
    for _ in 0..2 {
        assert_eq!(bot.ask(play.clone()).await["type"], "ok");
    }
    assert!(bot.ask_refused(play.clone(), "busy").await["retry_ms"].is_u64());
    assert_eq!(bot.ask(json!({"type": "set", "max_games": 3})).await["type"], "ok");
    assert_eq!(bot.ask(play).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn a_house_bot_keeps_to_the_pace_of_people_if_it_is_asked_to() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    let mut answers_after = Vec::new();
    for pace in ["swift", "human"] {
        let play =
            json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "side": "first", "pace": pace});
        assert_eq!(guest.ask(play).await["type"], "ok");
        let game = guest.until("game").await["game"].clone();
        guest.ask(json!({"type": "move", "game": game, "ply": 0, "column": 4})).await;
        guest.clear().await;
        let answer = house_bot_moves(&mut guest).await;
        answers_after.push(answer["spent_ms"].as_u64().unwrap());
        guest.ask(json!({"type": "resign", "game": game})).await;
        guest.clear().await;
    }
    let [swift, human] = answers_after[..] else { panic!("{answers_after:?}") };
    // Six cells are fallen in 564 ms; a breath, and a thought of 600 ms at least, on its own clock.
    assert!(swift < 700 && (1_400..2_100).contains(&human), "{swift} ms, {human} ms");
    let odd = json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "pace": "slow"});
    assert_eq!(guest.ask_refused(odd, "bad_field").await["field"], "pace");
}

#[tokio::test(start_paused = true)]
async fn a_house_bot_gives_every_move_back() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    let play = json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "side": "first"});
    guest.ask(play).await;
    let game = guest.until("game").await["game"].clone();
    guest.ask(json!({"type": "move", "game": game, "ply": 0, "column": 4})).await;
    house_bot_moves(&mut guest).await;
    guest.ask(json!({"type": "takeback", "game": game})).await;
    let snapshot = guest.until("game").await;
    assert_eq!((&snapshot["moves"], &snapshot["to_move"]), (&json!(""), &json!("first")));
    guest.ask(json!({"type": "move", "game": game, "ply": 0, "column": 1})).await;
    assert_eq!(house_bot_moves(&mut guest).await["ply"], 2, "and plays on");
}
