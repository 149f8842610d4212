//! Programs of the operator's that play as bots of the house, in their sandbox.

use std::process::Command;
use std::time::{Duration, Instant};

use fourfold::system::config::Bounded;
use serde_json::{Value, json};

use crate::support::{Arena, Client, time};

/// What each program's name says, with the script that does so.
const PROGRAMS: [(&str, &str); 6] = [
    ("decent", "good.sh"),
    ("hanging", "hangs.sh"),
    ("dying", "dies.sh"),
    ("flooding", "floods.sh"),
    ("illegal", "says.sh"),
    ("missing", "no-such.sh"),
];

/// Whether bubblewrap is there and may make a sandbox, which containers often forbid.
fn bubblewrap_works() -> bool {
    let tried = Command::new("bwrap").args(["--unshare-all", "--ro-bind", "/", "/", "true"]).output();
    let works = tried.is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("left out: bubblewrap makes no sandbox here (Debian: apt-get install bubblewrap)");
    }
    works
}

async fn arena() -> Arena {
    Arena::in_real_time(|config| {
        config.programs.allow = true;
        config.programs.processes = Bounded::new(1);
        config.programs.startup_ms = Bounded::new(60_000);
        let bots = PROGRAMS.map(|(name, script)| {
            let spec = format!("cmd:{}/arena/tests/bots/{script} 9", env!("CARGO_MANIFEST_DIR"));
            toml::from_str(&format!("name = \"{name}\"\nspec = \"{spec}\"")).unwrap()
        });
        config.house_bots.0.extend(bots);
    })
    .await
}

fn play(bot: &str, bank_ms: u32) -> Value {
    json!({"type": "play_bot", "bot": bot, "time": time(bank_ms, 0), "side": "second"})
}

/// Plays the column from the left that has room, until the game is over.
async fn play_out(client: &mut Client) -> Value {
    loop {
        let is_wanted = |message: &Value| message["type"] == "turn" || message["type"] == "game_end";
        let message = client.find(is_wanted).await;
        if message["type"] == "game_end" {
            return message;
        }
        let column = &message["legal"][0];
        client
            .ask(json!({"type": "move", "game": message["game"], "ply": message["ply"], "column": column}))
            .await;
    }
}

/// Processes of such a script: none may be left over when its game has ended.
fn processes(script: &str) -> usize {
    let path = format!("arena/tests/bots/{script}");
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let command =
        |process: std::fs::DirEntry| std::fs::read(process.path().join("cmdline")).unwrap_or_default();
    all.map(command).filter(|line| String::from_utf8_lossy(line).contains(&path)).count()
}

async fn until_gone(script: &str) {
    let began = Instant::now();
    while processes(script) > 0 {
        assert!(began.elapsed() < Duration::from_mins(1), "{script} is left over");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_program_of_the_operators_plays_as_a_bot_of_the_house() {
    if !bubblewrap_works() {
        return;
    }
    let arena = arena().await;
    let (mut guest, mut other) = (arena.guest().await, arena.guest().await);
    guest.ask(play("decent", 600_000)).await;
    let game = guest.until("game").await;
    assert_eq!(game["players"]["first"]["name"], "decent");
    let busy = other.ask_refused(play("decent", 600_000), "busy").await;
    assert!(busy["retry_ms"].is_u64(), "it has one process, which plays");
    let end = play_out(&mut guest).await;
    assert_eq!((&end["reason"], &end["result"]), (&json!("four"), &json!("first")), "{end}");
    until_gone("good.sh").await;
    other.ask(play("decent", 600_000)).await;
    other.until("turn").await;
    assert_eq!(processes("good.sh").min(1), 1, "each game has a process of its own");
    drop(arena);
}

#[tokio::test]
async fn programs_that_fail_lose_their_games_and_are_paused() {
    if !bubblewrap_works() {
        return;
    }
    let arena = arena().await;
    let mut guest = arena.guest().await;
    for (bot, script) in PROGRAMS.iter().skip(1) {
        for _ in 0..3 {
            guest.ask(play(bot, if *bot == "hanging" { 500 } else { 600_000 })).await;
            let end = play_out(&mut guest).await;
            // On a full machine the flag may fall before the program's silence is told.
            assert!(end["reason"] == "bot_failed" || (*bot == "hanging" && end["reason"] == "time"), "{end}");
            assert_eq!(end["by"], "first", "{bot}: {end}");
        }
        let paused = guest.ask_refused(play(bot, 600_000), "busy").await;
        let wait = paused["retry_ms"].as_u64().unwrap();
        assert!((1..=60_000).contains(&wait), "{bot}: {paused}");
        until_gone(script).await;
    }
    let mut others = play("decent", 600_000);
    others["side"] = json!("first");
    assert_eq!(guest.ask(others).await["type"], "ok", "it harms no other");
}
