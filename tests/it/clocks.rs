//! Clocks, to the millisecond.

use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt};
use serde_json::json;

use crate::support::{Arena, Pair, advance, of_environment, pair_up, per_move, time};

/// Flags that fall within half a second, unless `FOURFOLD_FLAGS` asks for more.
const FLAGS: usize = 40;
/// How late, or early, a flag may be told: alone on a machine, and where other tests run meanwhile.
const LATE_MAX: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// What a guest may overrun the bank by, and be given back for the network.
const OVERRUN: Duration = Duration::from_millis(50 + 500);

async fn pass(ms: u64) {
    advance(Duration::from_millis(ms)).await;
}

/// Both sides' first moves, so that no other time than the clock's runs.
async fn opened(mut pair: Pair<'_>) -> Pair<'_> {
    pair.play("44").await;
    pair.first.until("turn").await;
    pair
}

#[tokio::test(start_paused = true)]
async fn thinking_is_charged_and_the_increment_is_added() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let pair = pair_up(&mut ada, &mut bob, json!({"time": time(10_000, 500)})).await;
    pair.first.until("turn").await;
    pass(1_500).await;
    let moved = pair.first.ask(pair.stone(0, 4)).await;
    let network = 1_500 - moved["credited_ms"].as_u64().unwrap();
    assert_eq!(moved["spent_ms"], 1_500);
    assert_eq!(moved["clock"], json!({"first": 10_000 - network + 500, "second": 10_000}));
    let turn = pair.second.until("turn").await;
    assert_eq!(turn["clock"], json!({"you": 10_000, "opponent": 10_500 - network}));
    pass(700).await;
    let snapshot = pair.first.ask(pair.about("sync")).await;
    assert_eq!(snapshot["clock"]["second"], 9_300, "a snapshot tells what is left now");
}

#[tokio::test(start_paused = true)]
async fn a_bank_overrun_of_fifty_milliseconds_costs_a_strike_and_more_the_game() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = opened(pair_up(&mut ada, &mut bob, json!({"time": time(1_000, 0)})).await).await;
    // A bot is given back at most 40 ms a move for the network, and the ping measured next to nothing.
    pass(1_049).await;
    let moved = pair.first.ask(pair.stone(2, 1)).await;
    assert_eq!((&moved["type"], &moved["clock"]["first"]), (&json!("moved"), &json!(0)));
    pair.second.until("moved").await;
    pair.play_from(3, "2").await;
    pair.first.until("turn").await;
    pass(60).await;
    let late = pair.first.ask(pair.stone(4, 1)).await;
    assert_eq!(
        (&late["type"], &late["reason"], &late["result"], &late["by"], &late["clock"]["first"]),
        (&json!("game_end"), &json!("time"), &json!("second"), &json!("first"), &json!(0))
    );
}

#[tokio::test(start_paused = true)]
async fn three_overruns_are_forgiven_and_the_fourth_is_not() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut pair = opened(pair_up(&mut ada, &mut bob, json!({"time": per_move(1_000)})).await).await;
    let mut ply = 2;
    for column in [1, 2, 1] {
        pass(1_045).await;
        let moved = pair.first.ask(pair.stone(ply, column)).await;
        assert_eq!(moved["type"], "moved", "{moved}");
        pair.second.until("moved").await;
        pair.play_from(ply + 1, "7").await;
        let turn = pair.first.until("turn").await;
        assert_eq!((&turn["budget_ms"], &turn["clock"]["you"]), (&json!(1_000), &json!(1_000)));
        ply += 2;
    }
    pass(1_020).await;
    let end = pair.first.ask(pair.stone(ply, 1)).await;
    assert_eq!((&end["type"], &end["reason"]), (&json!("game_end"), &json!("time")));
}

#[tokio::test(start_paused = true)]
async fn a_flag_falls_by_itself() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let pair = opened(pair_up(&mut ada, &mut bob, json!({"time": time(5_000, 0)})).await).await;
    pass(5_050).await;
    assert!(!pair.second.heard_types().await.contains(&"game_end".to_owned()), "within the grace");
    pass(50).await;
    let end = pair.second.until("game_end").await;
    assert_eq!((&end["reason"], &end["by"], &end["event_seq"]), (&json!("time"), &json!("first"), &json!(3)));
}

/// How far from its time the flag of a guest is told, who has about a second.
async fn flag_error(arena: &Arena, number: usize) -> Duration {
    let bank_ms = 1_000 + u32::try_from(number).unwrap() * 37 % 500;
    let (mut ann, mut ben) = (arena.guest().await, arena.guest().await);
    let pair = opened(pair_up(&mut ann, &mut ben, json!({"time": time(bank_ms, 0)})).await).await;
    let began = Instant::now();
    let left = pair.first.ask(pair.about("sync")).await["clock"]["first"].as_u64().unwrap();
    let due = began + Duration::from_millis(left) + OVERRUN;
    let end = pair.second.until("game_end").await;
    let told = Instant::now();
    assert_eq!((&end["reason"], &end["by"]), (&json!("time"), &json!("first")));
    told.saturating_duration_since(due).max(due.saturating_duration_since(told))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_of_many_games_fall_in_time() {
    let arena = Arena::in_real_time(|_| {}).await;
    let flags = of_environment("FOURFOLD_FLAGS", FLAGS);
    let falling = (0..flags).map(|number| flag_error(&arena, number));
    let mut errors: Vec<Duration> = stream::iter(falling).buffer_unordered(flags).collect().await;
    errors.sort_unstable();
    let [p50, p99] = [50, 99].map(|percent| errors[(flags * percent / 100).min(flags - 1)]);
    eprintln!("{flags} flags: p50 {p50:?}, p99 {p99:?} from their time");
    let [alone, beside_others] = LATE_MAX;
    let within = if std::env::var_os("FOURFOLD_FLAGS").is_some() { alone } else { beside_others };
    assert!(p99 <= within, "{p99:?} from its time");
}

#[tokio::test(start_paused = true)]
async fn the_move_limit_bounds_each_move_within_the_bank() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let both = json!({"bank_ms": 60_000, "increment_ms": 0, "move_ms": 2_000});
    let pair = opened(pair_up(&mut ada, &mut bob, json!({"time": both})).await).await;
    pass(2_101).await;
    assert_eq!(pair.second.until("game_end").await["reason"], "time");
}

#[tokio::test(start_paused = true)]
async fn times_out_of_range_are_refused_by_name() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    let _bob = arena.person("bob").await;
    for (time, field) in [
        (time(0, 0), "time.bank_ms"),
        (json!({"bank_ms": null, "increment_ms": 0, "move_ms": null}), "time.bank_ms"),
        (json!({"bank_ms": 1_000, "increment_ms": 2_000, "move_ms": null}), "time.increment_ms"),
        (json!({"bank_ms": 1_000, "increment_ms": -1, "move_ms": null}), "time.increment_ms"),
        (json!({"bank_ms": 1_000, "increment_ms": 0}), "time.move_ms"),
        (json!({"bank_ms": 1_000, "increment_ms": 0, "move_ms": 315_360_000_000_u64}), "time.move_ms"),
    ] {
        for kind in ["challenge", "open_challenge", "seek", "play_bot"] {
            let message = json!({"type": kind, "to": "bob", "bot": "random", "time": time, "rated": false});
            assert_eq!(ann.ask_refused(message, "bad_field").await["field"], field, "{kind} {time}");
        }
    }
}

/// The daemon says that it runs, as its heartbeat does otherwise.
fn beat(arena: &Arena) {
    arena.pauses.beat(tokio::time::Instant::now().into_std());
}

#[tokio::test(start_paused = true)]
async fn while_the_daemon_stands_still_nobodys_time_passes() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let pair = opened(pair_up(&mut ada, &mut bob, json!({"time": time(8_000, 0)})).await).await;
    pass(400).await;
    beat(&arena);
    // The timer of the flag fires, and no heartbeat came before it.
    pass(15_000).await;
    for client in [&mut *pair.first, &mut *pair.second] {
        let told = client.find(|message| message["given_back_ms"].is_u64()).await;
        assert_eq!((&told["type"], &told["given_back_ms"]), (&json!("game"), &json!(15_000)));
        assert_eq!(told["clock"], json!({"first": 7_600, "second": 8_000}));
    }
    beat(&arena);
    pass(300).await;
    let moved = pair.first.ask(pair.stone(2, 4)).await;
    assert_eq!((&moved["type"], &moved["spent_ms"]), (&json!("moved"), &json!(700)));
    // From here on the daemon runs, and flags fall as ever.
    pair.second.find(|message| message["type"] == "turn" && message["ply"] == 3).await;
    for _ in 0..21 {
        beat(&arena);
        pass(400).await;
    }
    assert_eq!(pair.first.until("game_end").await["reason"], "time");
}

#[tokio::test(start_paused = true)]
async fn a_move_that_waited_for_a_daemon_that_stood_still_is_in_time() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let pair = opened(pair_up(&mut ada, &mut bob, json!({"time": per_move(1_000)})).await).await;
    beat(&arena);
    // Nobody gets a turn between the jump and the move: it is read before any timer.
    tokio::time::advance(Duration::from_mins(1)).await;
    let moved = pair.first.ask(pair.stone(2, 4)).await;
    assert_eq!((&moved["type"], &moved["spent_ms"]), (&json!("moved"), &json!(0)));
}

#[tokio::test(start_paused = true)]
async fn an_absence_does_not_grow_while_the_daemon_stands_still() {
    let arena = Arena::start().await;
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let pair = opened(pair_up(&mut ada, &mut bob, json!({"time": time(600_000, 0)})).await).await;
    let (game, resume) = (pair.game.clone(), pair.first.resume_hello());
    arena.lose(ada).await;
    bob.until("opponent_gone").await;
    beat(&arena);
    pass(45_000).await;
    beat(&arena);
    let mut ada = crate::support::Client::open(&arena.url(), &[], resume).await;
    let moved = ada.ask(json!({"type": "move", "game": game, "ply": 2, "column": 4})).await;
    assert_eq!(moved["type"], "moved");
}
