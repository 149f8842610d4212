//! Self-tests of connected bots, and what an operator may require before rated games.
//!
//! The daemon looks at the games of a test from time to time, so time passes here where one is made.

use fourfold::system::config::Config;
use serde_json::{Value, json};

use crate::support::{Arena, Client, blitz, until_stored};

fn required(config: &mut Config) {
    config.limits.rated_requires_selftest = true;
}

/// What a bot says of itself that is tested when it asks for it.
fn version(text: &str) -> Value {
    json!({"bot": {"version": text}, "open": false})
}

fn seek() -> Value {
    json!({"type": "seek", "time": blitz(), "rated": true})
}

/// Begins a self-test, as the pages do.
fn begin(arena: &Arena, bot: &Client) {
    let there = arena.services.sessions.all();
    let session = there.iter().find(|session| session.player().as_str() == bot.id()).unwrap();
    arena.self_tests.begin(session.identity()).unwrap();
}

/// Games of a test: a whole one from each side, and two that end with the next move.
const GAMES: u32 = 4;

/// Plays until the test has ended, with `choose` for the column; comes back when the connection is cut.
async fn play_through(arena: &Arena, mut bot: Client, choose: fn(&Value) -> Value) -> (Client, u32) {
    let (mut games, mut cuts, mut turn) = (0, 0, None);
    loop {
        let message = match bot.next_or_close().await {
            Ok(message) => message,
            Err(code) => {
                assert_eq!(code, 1012);
                cuts += 1;
                bot = Client::open(&arena.url(), &[], bot.resume_hello()).await;
                continue;
            }
        };
        match message["type"].as_str().unwrap() {
            "turn" => {
                bot.say(&answer(&message, choose));
                turn = Some(message);
            }
            // Forgiven: the turn is still open.
            "error" if message["retries_left"].as_u64() > Some(0) => {
                let turn = turn.as_ref().unwrap();
                bot.say(&answer(turn, choose));
            }
            "game_end" => games += 1,
            _ => {}
        }
        if games == GAMES {
            return (bot, cuts);
        }
    }
}

fn answer(turn: &Value, choose: fn(&Value) -> Value) -> Value {
    json!({"type": "move", "game": turn["game"], "ply": turn["ply"], "column": choose(turn)})
}

/// Waits until the report of this version is stored.
async fn report(arena: &Arena, bot: &Client, version: &str) -> (bool, String) {
    let id = bot.id().parse().unwrap();
    loop {
        let known = arena.services.store.bot_version(&id, version).await.unwrap();
        if let Some(known) = known
            && let Some(test) = known.tested
        {
            return (known.passed_at.is_some(), test.report);
        }
        tokio::task::yield_now().await;
    }
}

fn first_legal(turn: &Value) -> Value {
    turn["legal"][0].clone()
}

#[tokio::test]
async fn a_version_plays_rated_games_once_it_has_passed() {
    let arena = Arena::start_with(required).await;
    let mut bot = arena.bot_with("robo", version("1")).await;
    let refused = bot.ask_refused(seek(), "forbidden").await;
    let words = refused["message"].as_str().unwrap();
    assert!(
        words.contains("self-test") && words.contains("check-bot") && words.contains("/bot/robo"),
        "{words}"
    );
    for request in [
        json!({"type": "challenge", "to": "greedy", "time": blitz(), "rated": true}),
        json!({"type": "open_challenge", "time": blitz(), "rated": true}),
        json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "rated": true}),
    ] {
        bot.ask_refused(request, "forbidden").await;
    }
    begin(&arena, &bot);
    let (mut bot, cuts) = play_through(&arena, bot, first_legal).await;
    assert_eq!(cuts, 1);
    let faults = arena.services.store.bot_faults(&bot.id().parse().unwrap(), 9).await.unwrap();
    assert_eq!(faults, [], "the cut is no fault of the bot's");
    let (passed, report) = report(&arena, &bot, "1").await;
    assert!(passed, "{report}");
    for check in "handshake turn drop_and_resume long_game full_column both_sides full_board win legal_moves"
        .split(' ')
    {
        assert!(report.contains(check), "{check}: {report}");
    }
    assert_eq!(bot.ask(seek()).await["type"], "ok");
}

#[tokio::test]
async fn another_version_must_pass_again() {
    let arena = Arena::start_with(required).await;
    let token = arena.token("robo").await;
    let bot = arena.connect_bot(&token, version("1")).await;
    begin(&arena, &bot);
    let (bot, _) = play_through(&arena, bot, first_legal).await;
    let (passed, report) = report(&arena, &bot, "1").await;
    assert!(passed, "{report}");
    let mut newer = arena.connect_bot(&token, version("2")).await;
    let refused = newer.ask_refused(seek(), "forbidden").await;
    assert!(refused["message"].as_str().unwrap().contains("version \"2\""), "{refused}");
    let mut older = arena.connect_bot(&token, version("1")).await;
    assert_eq!(older.ask(seek()).await["type"], "ok");
}

#[tokio::test]
async fn a_bot_that_plays_full_columns_does_not_pass() {
    let arena = Arena::start_with(required).await;
    let bot = arena.bot_with("robo", version("1")).await;
    begin(&arena, &bot);
    // Column 4 while it lasts, and once it is full too: the third time loses the game.
    let (mut bot, _) = play_through(&arena, bot, |_| json!(4)).await;
    let (passed, report) = report(&arena, &bot, "1").await;
    assert!(!passed, "{report}");
    assert!(report.contains("is full"), "the owner reads why: {report}");
    bot.ask_refused(seek(), "forbidden").await;
    let faults = arena.services.store.bot_faults(&bot.id().parse().unwrap(), 9).await.unwrap();
    let kinds: Vec<_> = faults.iter().map(|fault| fault.kind.as_str()).collect();
    assert!(kinds.contains(&"illegal_move"), "{kinds:?}");
}

#[tokio::test]
async fn an_open_bot_is_tested_without_asking() {
    let arena = Arena::start_with(required).await;
    let mut hello = version("1");
    hello["open"] = json!(true);
    let bot = arena.bot_with("robo", hello).await;
    while !arena.self_tests.is_running(&bot.id().parse().unwrap()) {
        tokio::task::yield_now().await;
    }
    let (bot, _) = play_through(&arena, bot, first_legal).await;
    let (passed, report) = report(&arena, &bot, "1").await;
    assert!(passed, "{report}");
}

#[tokio::test(start_paused = true)]
async fn where_nobody_asks_for_it_nothing_is_required() {
    let arena = Arena::start().await;
    let mut bot = arena.bot_with("robo", version("1")).await;
    assert_eq!(bot.ask(seek()).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_in_a_game_is_told_to_the_owner() {
    let arena = Arena::start().await;
    let mut bot = arena.bot_with("robo", version("1")).await;
    let id = bot.id().parse().unwrap();
    bot.ask(json!({"type": "play_bot", "bot": "greedy", "time": blitz(), "side": "first"})).await;
    bot.until("turn").await;
    arena.lose(bot).await;
    until_stored().await;
    let faults = arena.services.store.bot_faults(&id, 9).await.unwrap();
    assert_eq!(faults.iter().map(|fault| fault.kind.as_str()).collect::<Vec<_>>(), ["disconnected"]);
}
