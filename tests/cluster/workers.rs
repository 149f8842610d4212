//! A worker thinks for the bots of the house while all threads of their node do, and is missed by nobody when it dies.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use crate::bus::Bus;
use crate::daemon::{Daemon, SETTINGS, fourfold};
use crate::server::Server;

/// Guests who play a bot of the house at the same time, which has one thread.
const GUESTS: usize = 4;

/// How long the bot thinks about each move.
const THINKS: Duration = Duration::from_millis(200);

/// The worker dies after so long.
const DIES_AFTER: Duration = Duration::from_secs(1);

/// How long all games may take; they are over in a tenth of that.
const GAMES_MAX: Duration = Duration::from_mins(2);

/// A worker as a process of its own.
struct Worker(Child);

impl Worker {
    fn start(bus: &Bus, log: &Path) -> Self {
        let log = std::fs::File::create(log).expect("a writable directory");
        let mut command = fourfold();
        command.args(["worker", "--cluster", &bus.url(), "--threads", "2"]).stderr(log).stdout(Stdio::null());
        Self(command.spawn().expect("the binary starts"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lets guests play a bot that one thread is too few for, with a worker that dies, and one that is told to stop.
pub(crate) async fn test(directory: &Path, server: &Server, bus: &Bus) -> Vec<String> {
    let own = directory.join("workers");
    std::fs::create_dir(&own).expect("a writable directory");
    server.keep(&own);
    let bot = format!("[[house_bots]]\nname = \"Slow\"\nspec = \"montecarlo:ms={}\"\n", THINKS.as_millis());
    let settings = SETTINGS.replacen("house_bots = []\n", "", 1);
    let settings = format!("{settings}\n[compute]\nthreads = 1\n[cluster]\nbus = \"{}\"\n{bot}", bus.url());
    let node = Daemon::start(&own, None, &settings);
    let first = Worker::start(bus, &own.join("worker-1.log"));
    let second_log = own.join("worker-2.log");
    let mut second = Worker::start(bus, &second_log);
    let began = Instant::now();
    let mut games = JoinSet::new();
    for _ in 0..GUESTS {
        games.spawn(tokio::time::timeout(GAMES_MAX, play(node.address())));
    }
    tokio::time::sleep(DIES_AFTER).await;
    drop(first);
    let mut faults = Vec::new();
    let mut moves = 0;
    while let Some(played) = games.join_next().await {
        match played.expect("a guest does not panic").expect("games end in time") {
            (reason, own_moves) if reason == "four" || reason == "full" => moves += own_moves,
            (reason, _) => faults.push(format!("workers: a game against the bot ended by {reason}")),
        }
    }
    let took = began.elapsed();
    let asked = Command::new("kill").arg(second.0.id().to_string()).status();
    assert!(asked.is_ok_and(|status| status.success()), "the worker was not running any more");
    let status = second.0.wait().expect("a stopped process ends");
    let said = std::fs::read_to_string(&second_log).expect("a readable log");
    let thought: u64 = said.lines().filter_map(thought_of).sum();
    if !status.success() || thought == 0 {
        faults.push(format!("workers: the second ended with {status} after {thought} moves: {said}"));
    }
    println!(
        "workers: {GUESTS} games of {moves} moves against a bot with one thread in {took:.1?}, {thought} moves \
         thought of by the worker that lived"
    );
    node.stop();
    faults
}

/// The number in the line that says how many moves a worker has thought of.
fn thought_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("thought for others")?;
    let digits: String =
        rest.chars().skip_while(|c| *c != '=').skip(1).filter(char::is_ascii_digit).collect();
    digits.strip_prefix("033").map_or(digits.as_str(), |rest| rest).parse().ok()
}

/// Plays one game as a guest, always the first column there is; says how it ended and after how many moves of the bot.
async fn play(address: SocketAddr) -> (String, usize) {
    let (mut socket, _) =
        tokio_tungstenite::connect_async(format!("ws://{address}")).await.expect("the node listens");
    let hello = json!({"type": "hello", "protocol": 1, "client": {"name": "guest", "version": "1"}});
    let wish = json!({"type": "play_bot", "bot": "Slow", "side": "second",
                      "time": {"bank_ms": 300_000, "increment_ms": 0, "move_ms": null}, "pace": "swift"});
    for message in [hello, wish] {
        socket.send(Message::text(message.to_string())).await.expect("the node reads");
    }
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message.expect("the node stays") else { continue };
        let message: Value = serde_json::from_str(&text).expect("JSON");
        match message["type"].as_str() {
            Some("turn") => {
                let answer = json!({"type": "move", "game": message["game"], "ply": message["ply"],
                                    "column": message["legal"][0]});
                socket.send(Message::text(answer.to_string())).await.expect("the node reads");
            }
            Some("game_end") => {
                let moves = message["moves"].as_str().expect("moves").len();
                return (message["reason"].as_str().expect("a reason").to_owned(), moves.div_ceil(2));
            }
            Some("error") => return (text.to_string(), 0),
            _ => {}
        }
    }
    ("the end of the connection".to_owned(), 0)
}
