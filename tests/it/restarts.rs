//! Planned stops, kills, and what goes on afterwards.

use std::time::Duration;

use fourfold::system::config::Bounded;
use serde_json::json;

use crate::support::{Arena, Client, advance, bearer, blitz, house_bot_moves, pair_up, time};

#[tokio::test(start_paused = true)]
async fn a_planned_stop_is_announced_and_games_go_on_until_then() {
    let arena = Arena::start_with(|config| config.server.restart_notice_ms = Bounded::new(3_000)).await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("4").await;
    arena.tell_to_stop();
    let notice = pair.first.until("notice").await;
    assert_eq!((&notice["code"], &notice["in_ms"]), (&json!("restarting"), &json!(3_000)));
    pair.second.until("notice").await;
    pair.play_from(1, "4").await;
    let play = json!({"type": "play_bot", "bot": "random", "time": blitz()});
    assert!(pair.first.ask_refused(play, "paused").await["retry_ms"].is_u64());
    advance(Duration::from_millis(3_001)).await;
    assert_eq!(ann.closed().await, 1012);
    assert_eq!(bob.closed().await, 1012);
}

#[tokio::test(start_paused = true)]
async fn a_long_notice_ends_when_the_last_game_is_over() {
    let arena = Arena::start_with(|config| config.server.restart_notice_ms = Bounded::new(120_000)).await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    arena.tell_to_stop();
    assert_eq!(pair.first.until("notice").await["in_ms"], 120_000);
    advance(Duration::from_secs(20)).await;
    pair.play("121212").await;
    pair.play_from(6, "1").await;
    assert_eq!(pair.first.until("game_end").await["reason"], "four");
    advance(Duration::from_millis(200)).await;
    assert_eq!(ann.closed().await, 1012);
    assert_eq!(bob.closed().await, 1012);
}

#[tokio::test(start_paused = true)]
pub(crate) async fn after_a_planned_stop_everybody_goes_on_where_they_were() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let (mut ada, mut guest) = (arena.connect_bot(&token, json!({})).await, arena.guest().await);
    let mut pair = pair_up(&mut ada, &mut guest, json!({"time": time(60_000, 0)})).await;
    pair.play("44").await;
    pair.first.until("turn").await;
    advance(Duration::from_secs(5)).await;
    let game = pair.game.clone();
    for client in [&mut ada, &mut guest] {
        client.clear().await;
    }
    let named = guest.seq;
    let (ada_resumes, guest_resumes) = (ada.resume_hello(), guest.resume_hello());
    let arena = arena.restart().await;
    assert_eq!((ada.closed().await, guest.closed().await), (1012, 1012));
    let mut back = Client::open(&arena.url(), &[], guest_resumes).await;
    assert_eq!((&back.welcome["resumed"], &back.welcome["seq"]), (&json!(true), &json!(named)));
    assert_eq!(back.welcome["you"], guest.welcome["you"]);
    let snapshot = back.next().await;
    assert_eq!(
        (
            &snapshot["game"],
            &snapshot["you"],
            &snapshot["moves"],
            &snapshot["event_seq"],
            &snapshot["frozen_ms"]
        ),
        (&json!(game), &json!("second"), &json!("44"), &json!(2), &json!(60_000))
    );
    assert_eq!(snapshot["clock"], json!({"first": 55_000, "second": 60_000}));
    let synced = back.until("synced").await;
    assert_eq!((&synced["games"], &synced["your_turn"]), (&json!(1), &json!([])));
    advance(Duration::from_secs(30)).await;
    let mut ada = Client::open(&arena.url(), &[bearer(&token)], ada_resumes).await;
    assert_eq!(ada.welcome["resumed"], true);
    assert_eq!(ada.next().await["clock"]["first"], 55_000, "frozen all the time");
    assert_eq!(ada.until("synced").await["your_turn"], json!([game]));
    let turn = ada.next().await;
    assert_eq!(
        (&turn["type"], &turn["clock"]),
        (&json!("turn"), &json!({"you": 65_000, "opponent": 70_000}))
    );
    assert_eq!(turn["budget_ms"], 65_000);
    let moved = ada.ask(json!({"type": "move", "game": game, "ply": 2, "column": 1})).await;
    assert_eq!(
        (&moved["event_seq"], &moved["clock"]),
        (&json!(3), &json!({"first": 65_000, "second": 70_000}))
    );
    assert_eq!(back.until("moved").await["event_seq"], 3, "a pause is no event of the game");
}

#[tokio::test(start_paused = true)]
async fn clocks_run_again_a_minute_after_a_restart_whoever_is_back() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"time": time(60_000, 0)})).await;
    pair.play("44").await;
    let game = pair.game.clone();
    bob.clear().await;
    let resume = bob.resume_hello();
    let arena = arena.restart().await;
    let mut bob = Client::open(&arena.url(), &[], resume).await;
    advance(Duration::from_secs(59)).await;
    assert!(!bob.heard_types().await.contains(&"game_end".to_owned()));
    advance(Duration::from_secs(1)).await;
    bob.settle().await;
    advance(Duration::from_secs(10)).await;
    let snapshot = bob.ask(json!({"type": "sync", "game": game})).await;
    assert_eq!(snapshot["clock"], json!({"first": 60_000, "second": 70_000}));
    advance(Duration::from_secs(20)).await;
    assert_eq!(
        bob.until("game_end").await["reason"],
        "left",
        "30 s of absence after the clocks began to run"
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_acknowledged_survives_a_kill() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"time": time(60_000, 0)})).await;
    let before = pair.play("453").await;
    let (game, stone) = (pair.game.clone(), pair.stone(2, 3));
    ada.settle().await;
    let resume = ada.resume_hello();
    let arena = arena.after_a_kill().await;
    let mut ada = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(ada.welcome["resumed"], true);
    let snapshot = ada.next().await;
    assert_eq!(
        (&snapshot["game"], &snapshot["moves"], &snapshot["event_seq"]),
        (&json!(game), &json!("453"), &json!(3))
    );
    let mut again = ada.ask(stone).await;
    for field in ["seq", "re"] {
        again[field] = before[field].clone();
    }
    assert_eq!(again, before, "the same moved for the same move");
}

#[tokio::test(start_paused = true)]
async fn a_second_restart_gives_the_ten_seconds_again_but_not_twice() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({"time": time(60_000, 0)})).await;
    pair.play("44").await;
    ada.settle().await;
    let resume = ada.resume_hello();
    let arena = arena.restart().await;
    let mut ada = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(ada.until("turn").await["clock"]["you"], 70_000);
    ada.settle().await;
    let resume = ada.resume_hello();
    let arena = arena.after_a_kill().await;
    let mut ada = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(ada.until("turn").await["clock"]["you"], 70_000, "nothing was played since the first restart");
}

#[tokio::test(start_paused = true)]
async fn a_winning_move_is_repeated_safely_after_a_kill() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({})).await;
    let won = pair.play("1212121").await;
    let (last, resign) = (pair.stone(6, 1), pair.about("resign"));
    ada.until("game_end").await;
    let resume = ada.resume_hello();
    let arena = arena.after_a_kill().await;
    let mut ada = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(ada.until("synced").await["games"], 0);
    assert_eq!(ada.ask(last).await["event_seq"], won["event_seq"]);
    assert_eq!(ada.ask_refused(resign, "game_over").await["result"], "first");
}

#[tokio::test(start_paused = true)]
async fn an_end_that_was_stored_and_not_told_before_a_kill_is_told_after_it() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({})).await;
    pair.play("121212").await;
    let game = pair.game.clone();
    pair.second.settle().await;
    let resume = pair.second.resume_hello();
    pair.play_from(6, "1").await;
    bob.until("game_end").await;
    let arena = arena.after_a_kill().await;
    let mut back = Client::open(&arena.url(), &[], resume.clone()).await;
    assert_eq!(back.welcome["resumed"], true);
    let end = back.next().await;
    assert_eq!(
        (&end["type"], &end["game"], &end["result"], &end["reason"], &end["moves"]),
        (&json!("game_end"), &json!(game), &json!("first"), &json!("four"), &json!("1212121"))
    );
    assert_eq!(end["line"], json!([[1, 1], [1, 2], [1, 3], [1, 4]]));
    assert_eq!(back.next().await["type"], "synced");
    let resume = back.resume_hello();
    arena.lose(back).await;
    let mut again = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(again.next().await["type"], "synced", "it has been told");
}

#[tokio::test(start_paused = true)]
async fn a_game_that_ends_before_its_player_is_back_from_a_restart_is_told() {
    let arena = Arena::start().await;
    let (mut ada, mut guest) = (arena.bot("ada").await, arena.guest().await);
    let mut pair = pair_up(&mut ada, &mut guest, json!({})).await;
    pair.play("44").await;
    let resign = pair.about("resign");
    let (ada_resumes, guest_resumes) = (ada.resume_hello(), guest.resume_hello());
    let arena = arena.restart().await;
    let mut ada = Client::open(&arena.url(), &[], ada_resumes).await;
    assert_eq!(ada.ask(resign).await["type"], "game_end");
    let mut guest = Client::open(&arena.url(), &[], guest_resumes).await;
    assert_eq!(guest.next().await["reason"], "resign");
    assert_eq!(guest.next().await["games"], 0);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_was_heard_is_not_told_again_after_a_planned_restart() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({})).await;
    pair.play("121212").await;
    let game = pair.game.clone();
    pair.first.settle().await;
    let has_not_heard = pair.first.resume_hello();
    pair.play_from(6, "1").await;
    bob.until("game_end").await;
    bob.settle().await;
    let has_heard = bob.resume_hello();
    let arena = arena.restart().await;
    let mut ada = Client::open(&arena.url(), &[], has_not_heard).await;
    assert_eq!(ada.next().await["game"], json!(game));
    assert_eq!(ada.next().await["type"], "synced");
    let mut bob = Client::open(&arena.url(), &[], has_heard.clone()).await;
    assert_eq!(bob.next().await["type"], "synced", "it was told before");
    let arena = arena.after_a_kill().await;
    let mut bob = Client::open(&arena.url(), &[], has_heard).await;
    assert_eq!(bob.next().await["type"], "game_end", "nobody knows how the last process left its sessions");
}

#[tokio::test(start_paused = true)]
async fn house_bots_play_on_after_a_restart() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    guest.ask(json!({"type": "play_bot", "bot": "random", "time": blitz(), "side": "first"})).await;
    let game = guest.until("game").await["game"].clone();
    guest.settle().await;
    let resume = guest.resume_hello();
    let arena = arena.restart().await;
    let mut guest = Client::open(&arena.url(), &[], resume).await;
    guest.until("turn").await;
    guest.ask(json!({"type": "move", "game": game, "ply": 0, "column": 4})).await;
    assert_eq!(house_bot_moves(&mut guest).await["by"], "second");
}

#[tokio::test(start_paused = true)]
async fn a_link_that_was_shared_works_after_a_kill_until_it_is_taken() {
    let arena = Arena::start().await;
    let ann = arena.account("ann").await;
    let mut client = arena.connect_person(&ann, crate::support::hello()).await;
    let open = json!({"type": "open_challenge", "time": blitz(), "rated": false, "variant": "8x7", "games": 2,
        "side": "second", "opening": {"kind": "given", "moves": "44"}, "key": "k"});
    let made = client.ask(open.clone()).await;
    let arena = arena.after_a_kill().await;
    let mut client = arena.connect_person(&ann, crate::support::hello()).await;
    let told = client.until("challenge").await;
    for field in ["challenge", "from", "time", "rated", "variant", "games", "side", "opening", "url"] {
        assert_eq!(told[field], made[field], "{field}");
    }
    let left = told["expires_ms"].as_u64().unwrap();
    assert!(left > 86_300_000 && left <= 86_400_000, "{left}");
    assert_eq!(client.ask(open).await["challenge"], made["challenge"], "the key is known, too");
    let accept = json!({"type": "accept", "challenge": made["challenge"]});
    let mut guest = arena.guest().await;
    assert_eq!(guest.ask(accept.clone()).await["how"], "accepted");
    let game = guest.until("game").await;
    assert_eq!(
        (&game["you"], &game["moves"], &game["variant"]),
        (&json!("first"), &json!("44"), &json!("8x7"))
    );
    crate::support::until_stored().await;
    let arena = arena.after_a_kill().await;
    arena.guest().await.ask_refused(accept, "no_such_challenge").await;
}

#[tokio::test(start_paused = true)]
async fn links_that_were_taken_back_stay_so_and_those_of_guests_wait_for_them() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    let open = json!({"type": "open_challenge", "time": blitz(), "rated": false});
    let (kept, canceled) = (guest.ask(open.clone()).await, guest.ask(open).await);
    guest.ask(json!({"type": "cancel", "challenge": canceled["challenge"]})).await;
    crate::support::until_stored().await;
    let resume = guest.resume_hello();
    let accept = |offer: &serde_json::Value| json!({"type": "accept", "challenge": offer["challenge"]});
    let arena = arena.after_a_kill().await;
    let mut friend = arena.guest().await;
    friend.ask_refused(accept(&canceled), "no_such_challenge").await;
    assert_eq!(friend.ask_refused(accept(&kept), "not_accepting").await["field"], "online");
    let _guest = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(friend.ask(accept(&kept)).await["how"], "accepted");
}

#[tokio::test(start_paused = true)]
async fn illegal_moves_count_on_after_a_kill() {
    let arena = Arena::start().await;
    let (mut guest, mut bob) = (arena.guest().await, arena.bot("bob").await);
    let pair = pair_up(&mut guest, &mut bob, json!({})).await;
    let game = pair.game.clone();
    let wrong = json!({"type": "move", "game": game, "ply": 0, "column": 9});
    assert_eq!(guest.ask_refused(wrong.clone(), "illegal_move").await["retries_left"], 2);
    crate::support::until_stored().await;
    let resume = guest.resume_hello();
    let arena = arena.after_a_kill().await;
    let mut guest = Client::open(&arena.url(), &[], resume).await;
    guest.until("turn").await;
    assert_eq!(guest.ask_refused(wrong.clone(), "illegal_move").await["retries_left"], 1);
    guest.ask_refused(wrong, "illegal_move").await;
    assert_eq!(guest.until("game_end").await["reason"], "illegal");
}
