//! Everybody comes back at once, while others play.
//!
//! ```sh
//! FOURFOLD_SOCKETS=8000 cargo test --release --test it storms -- --nocapture
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fourfold::client::Introduction;
use fourfold::client::load::{Ack, LoadTrouble, PairPlan, Role, Witness, play_pair};
use fourfold::model::clock::TimeControl;
use fourfold::protocol::server::GameEnd;
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Arena, Client, of_environment, pair_up};

/// Clients in the storm; one in five plays.
const SOCKETS: usize = 300;
/// Handshakes at a time while nobody is in a hurry.
const AT_A_TIME: usize = 32;
const TIME: TimeControl = TimeControl { bank_ms: Some(600_000), increment_ms: 0, move_ms: None };

/// Counts moves of those who stay.
#[derive(Default)]
struct Unhurt {
    moves: AtomicU64,
    troubles: AtomicU64,
}

impl Witness for Unhurt {
    fn acked(&self, _: &Ack) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    fn ended(&self, _: Role, _: &GameEnd) {}

    fn trouble(&self, _: LoadTrouble) {
        self.troubles.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_returning_clients_finds_all_as_it_was_and_hurts_nobody() {
    let arena = Arena::in_real_time(|_| {}).await;
    let sockets = of_environment("FOURFOLD_SOCKETS", SOCKETS);
    let opening = stream::iter(0..sockets).map(|_| arena.guest()).buffer_unordered(AT_A_TIME);
    let mut clients: Vec<Client> = opening.collect().await;
    let mut games = Vec::new();
    for pair in clients.chunks_mut(2).take(sockets / 10) {
        let [first, second] = pair else { break };
        let mut pair = pair_up(first, second, json!({"time": TIME})).await;
        pair.play("121212").await;
        games.push(pair.game);
    }

    let (unhurt, stop) = (Arc::new(Unhurt::default()), CancellationToken::new());
    let stay = || Introduction { url: format!("ws://{}", arena.address), ..Introduction::default() };
    let plan = PairPlan {
        challenger: stay(),
        challenged: stay(),
        time: TIME,
        rated: false,
        games: None,
        think: Duration::ZERO,
        seed: 1,
    };
    let witness: Arc<dyn Witness> = Arc::<Unhurt>::clone(&unhurt);
    let playing = tokio::spawn(play_pair(plan, witness, stop.clone()));
    while unhurt.moves.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }

    for client in &mut clients {
        client.settle().await;
    }
    let resumes: Vec<Value> = clients.iter().map(Client::resume_hello).collect();
    drop(clients);
    let (began, before) = (Instant::now(), unhurt.moves.load(Ordering::Relaxed));
    let url = arena.url();
    let mut back: Vec<Client> =
        futures::future::join_all(resumes.into_iter().map(|resume| Client::open(&url, &[], resume))).await;
    for (index, client) in back.iter_mut().enumerate() {
        assert_eq!(client.welcome["resumed"], true);
        let synced = client.until("synced").await;
        assert_eq!(synced["games"], i32::from(index < 2 * games.len()), "client {index}");
    }
    let (took, moves) = (began.elapsed(), unhurt.moves.load(Ordering::Relaxed) - before);
    eprintln!("{sockets} clients were back after {took:?}; others played {moves} moves meanwhile");

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
    assert!(moves > 0, "those who stay play on");
}
