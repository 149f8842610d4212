//! Everybody comes back at once, while others play.
//!
//! ```sh
//! FOURFOLD_SOCKETS=6000 cargo test --release --test it storms -- --nocapture
//! ```
//!
//! With `FOURFOLD_ARENA=ws://127.0.0.1:4444/api/v1/socket` the storm breaks over a daemon that runs already, so that
//! each end of ten thousand connections has a process of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fourfold::client::Introduction;
use fourfold::client::load::{Ack, GamesPlan, LoadTrouble, PairPlan, Role, Witness, play_pair};
use fourfold::model::clock::TimeControl;
use fourfold::protocol::server::GameEnd;
use fourfold::system::config::Bounded;
use futures::future::try_join_all;
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{Arena, Client, hello, of_environment, pair_up};

/// Clients in the storm; one in five plays.
const SOCKETS: usize = 300;
/// Handshakes at a time while nobody is in a hurry.
const AT_A_TIME: usize = 32;
/// How soon all are back: alone on a machine, and where other tests run meanwhile, which has many times less to do.
const BACK_MAX: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(30)];
/// Attempts to come back: about a minute, half of the time for which a session is kept.
const RETURNS_MAX: u32 = 15;
/// Pairs who play meanwhile, and how long they think: a move of some of them is due all the time, so that a stall is in
/// the figures for as long as it lasts. One pair that plays as fast as it can has one slow move of a thousand then.
const OTHERS: u64 = 20;
const THINK: Duration = Duration::from_millis(200);
const TIME: TimeControl = TimeControl { bank_ms: Some(600_000), increment_ms: 0, move_ms: None };

/// Times moves of those who stay.
#[derive(Default)]
struct Unhurt {
    took: Mutex<Vec<Duration>>,
    troubles: AtomicU64,
}

impl Unhurt {
    fn moves(&self) -> usize {
        self.took.lock().unwrap().len()
    }
}

impl Witness for Unhurt {
    fn acked(&self, ack: &Ack) {
        self.took.lock().unwrap().push(ack.latency);
    }

    fn ended(&self, _: Role, _: &GameEnd) {}

    fn trouble(&self, _: LoadTrouble) {
        self.troubles.fetch_add(1, Ordering::Relaxed);
    }
}

/// Comes back as the protocol asks for: at once, and then after 0.2, 0.4 … 5 seconds. With thousands, both ends of all
/// in this one process, some handshakes find no file or no time. Also says how many attempts it took.
async fn come_back(url: &str, resume: Value) -> (Client, u32) {
    let mut wait = Duration::from_millis(200);
    for attempt in 1..=RETURNS_MAX {
        if let Ok(client) = Client::try_open(url, &[], resume.clone()).await {
            return (client, attempt);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(5));
    }
    panic!("no way back after {RETURNS_MAX} attempts");
}

/// Runs what must not wait for what else this process does, as if it were on another machine.
fn on_their_own<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(task)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_returning_clients_finds_all_as_it_was_and_hurts_nobody() {
    let arena = match std::env::var("FOURFOLD_ARENA") {
        Err(_) => Ok(Arena::in_real_time(|_| {}).await),
        Ok(url) => Err(url),
    };
    let url = arena.as_ref().map_or_else(String::clone, Arena::url);
    let sockets = of_environment("FOURFOLD_SOCKETS", SOCKETS);
    let guest = || Client::open(&url, &[], hello());
    let opening = stream::iter(0..sockets).map(|_| guest()).buffer_unordered(AT_A_TIME);
    let mut clients: Vec<Client> = opening.collect().await;
    let mut games = Vec::new();
    for pair in clients.chunks_mut(2).take(sockets / 10) {
        let [first, second] = pair else { break };
        let mut pair = pair_up(first, second, json!({"time": TIME})).await;
        pair.play("121212").await;
        games.push(pair.game);
    }

    let (unhurt, stop) = (Arc::new(Unhurt::default()), CancellationToken::new());
    let stay = || Introduction { url: url.clone(), ..Introduction::default() };
    let others = (0..OTHERS).map(|seed| {
        let plan = PairPlan {
            challenger: stay(),
            challenged: stay(),
            games: GamesPlan { think: THINK, ..GamesPlan::casual(TIME, seed) },
        };
        let witness: Arc<dyn Witness> = Arc::<Unhurt>::clone(&unhurt);
        play_pair(plan, witness, stop.clone())
    });
    let playing = on_their_own(try_join_all(others.collect::<Vec<_>>()));
    while unhurt.moves() == 0 {
        tokio::task::yield_now().await;
    }

    for client in &mut clients {
        client.settle().await;
    }
    let resumes: Vec<Value> = clients.iter().map(Client::resume_hello).collect();
    drop(clients);
    let (began, before) = (Instant::now(), unhurt.moves());
    let returning = resumes.into_iter().map(|resume| come_back(&url, resume));
    let (mut back, attempts): (Vec<Client>, Vec<u32>) =
        futures::future::join_all(returning).await.into_iter().unzip();
    for (index, client) in back.iter_mut().enumerate() {
        assert_eq!(client.welcome["resumed"], true);
        let synced = client.until("synced").await;
        assert_eq!(synced["games"], i32::from(index < 2 * games.len()), "client {index}");
    }
    let (took, mut moves) = (began.elapsed(), unhurt.took.lock().unwrap().split_off(before));
    moves.sort_unstable();
    let slow = moves.get(moves.len() * 99 / 100).copied().unwrap_or_default();
    let attempts: u32 = attempts.into_iter().sum();
    eprintln!(
        "{sockets} clients were back after {took:?} and {attempts} attempts; others played {} moves meanwhile, p99 {slow:?}",
        moves.len()
    );

    for (pair, game) in back.chunks_mut(2).zip(&games) {
        let won = json!({"type": "move", "game": game, "ply": 6, "column": 1});
        assert_eq!(pair[0].ask(won).await["type"], "moved");
        for client in pair {
            let end = client.find(|message| message["type"] == "game_end" && message["game"] == **game).await;
            assert_eq!(end["result"], "first");
        }
    }
    stop.cancel();
    playing.await.unwrap().unwrap();
    assert_eq!(unhurt.troubles.load(Ordering::Relaxed), 0);
    assert!(!moves.is_empty(), "those who stay play on");
    let [alone, beside_others] = BACK_MAX;
    let within = if std::env::var_os("FOURFOLD_SOCKETS").is_some() { alone } else { beside_others };
    assert!(took <= within, "all are back after {took:?}, which may take {within:?}");
}

/// Moves of a game that is not over after them.
const QUIET_GAME: &str = "12345671234567";
/// Watchers who read nothing, unless `FOURFOLD_WATCHERS` asks for more.
const WATCHERS: usize = 20;
/// Games with and as many without them, alternating, unless `FOURFOLD_GAMES` asks for more.
const GAMES: usize = 8;
/// How many times as long a move may take for the watchers, and how much longer in any case: so many times of next to
/// nothing is nothing.
struct Burden {
    ratio: f64,
    floor_s: f64,
}

/// Of the hundredth move of them that is slowest, when nothing else runs.
const BURDEN: Burden = Burden { ratio: 1.1, floor_s: 0.001 };
/// Of half of them, where other tests run meanwhile.
const BURDEN_BESIDE_OTHERS: Burden = Burden { ratio: 3.0, floor_s: 0.020 };

impl Burden {
    fn bears(&self, alone: f64, watched: f64) -> bool {
        watched <= (alone * self.ratio).max(alone + self.floor_s)
    }
}

/// How long each move took from its sending to its acknowledgement.
async fn timed_game(players: &mut [Client; 2], mut watchers: Vec<Client>, took: &mut Vec<Duration>) {
    let [first, second] = players;
    let mut pair = pair_up(first, second, json!({"time": TIME})).await;
    let watch = json!({"type": "watch", "game": pair.game});
    for watcher in &mut watchers {
        watcher.ask(watch.clone()).await;
        watcher.stop_reading().await;
    }
    for (ply, column) in QUIET_GAME.chars().filter_map(|column| column.to_digit(10)).enumerate() {
        let stone = pair.stone(ply, column);
        let mover = if ply % 2 == 0 { &mut *pair.first } else { &mut *pair.second };
        let began = Instant::now();
        assert_eq!(mover.ask(stone).await["type"], "moved");
        took.push(began.elapsed());
    }
    pair.resign_first().await;
    for client in players {
        client.clear().await;
    }
}

/// Players do not wait for watchers who do not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_who_do_not_read_cost_players_next_to_nothing() {
    let arena = Arena::in_real_time(|config| config.limits.messages_per_20s = Bounded::new(1_000_000)).await;
    let (games, watchers) =
        (of_environment("FOURFOLD_GAMES", GAMES), of_environment("FOURFOLD_WATCHERS", WATCHERS));
    let crowd = || stream::iter(0..watchers).map(|_| arena.guest()).buffer_unordered(AT_A_TIME).collect();
    let mut players = [arena.guest().await, arena.guest().await];
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    // The first game finds everything cold.
    timed_game(&mut players, Vec::new(), &mut Vec::new()).await;
    for _ in 0..games {
        timed_game(&mut players, Vec::new(), &mut alone).await;
        timed_game(&mut players, crowd().await, &mut watched).await;
    }
    let at = |took: &mut Vec<Duration>, percent: usize| {
        took.sort_unstable();
        took[(took.len() * percent / 100).min(took.len() - 1)].as_secs_f64()
    };
    let [p50, p99] = [50, 99].map(|percent| (at(&mut alone, percent), at(&mut watched, percent)));
    eprintln!(
        "{} moves with {} watchers who do not read: p50 {:.2} ms for {:.2} ms, p99 {:.2} ms for {:.2} ms, ratio {:.2}",
        watched.len(),
        watchers,
        p50.1 * 1e3,
        p50.0 * 1e3,
        p99.1 * 1e3,
        p99.0 * 1e3,
        p99.1 / p99.0
    );
    let is_alone = std::env::var_os("FOURFOLD_GAMES").is_some();
    let (burden, (alone, watched)) = if is_alone { (BURDEN, p99) } else { (BURDEN_BESIDE_OTHERS, p50) };
    assert!(burden.bears(alone, watched), "{watched:.4} s with watchers, {alone:.4} s without");
}
