//! All that can end a game, in one instant, over real tasks and in real time: one thing does, and everybody says which.

use std::time::{Duration, Instant};

use fourfold::storage::store::GameQuery;
use fourfold::system::config::Bounded;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::support::{Arena, Client, Pair, blitz, hello, of_environment, pair_up, per_move};

/// Races of all lanes together. `FOURFOLD_TRIALS` asks for more.
const TRIALS: usize = 2_000;
/// Races at the same time.
const LANES: usize = 4;
/// Aborted games of a player after which the next one would have to wait.
const ABORTS_MAX: usize = 5;
/// One more stone in the first column wins.
const ALMOST_WON: &str = "121212";
/// Shortest time for a move. With what is forgiven and may be credited to the network, a bot's flag falls after 100 ms.
const MOVE_MS: u32 = 10;
const FLAG: Duration = Duration::from_millis(100);

/// Something that may end the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    Win,
    /// The same ply on the player's other connection.
    OtherColumn,
    Resign(Seat),
    Abort(Seat),
    Vanish,
    /// All waits until the flag is about to fall.
    Flag,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seat {
    First,
    Second,
}

const DEEDS: &[Deed] = &[
    Deed::Win,
    Deed::Win,
    Deed::OtherColumn,
    Deed::Resign(Seat::First),
    Deed::Resign(Seat::Second),
    Deed::Abort(Seat::First),
    Deed::Abort(Seat::Second),
    Deed::Vanish,
    Deed::Flag,
];

/// Those who race against each other, again and again.
struct Lane {
    first: Client,
    second: Client,
    /// Another connection of the first, if it is a person.
    beside: Option<Client>,
    rng: ChaCha8Rng,
}

impl Lane {
    /// Lanes with odd numbers are of bots, whose flags fall soon; the others of people, who have several connections.
    async fn new(arena: &Arena, number: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(number);
        let [first, second] = ["a", "b"].map(|name| format!("{name}{number}"));
        if number % 2 == 1 {
            return Self {
                first: arena.bot(&first).await,
                second: arena.bot(&second).await,
                beside: None,
                rng,
            };
        }
        let identity = arena.account(&first).await;
        let beside = arena.connect_person(&identity, hello()).await;
        let first = arena.connect_person(&identity, hello()).await;
        Self { first, second: arena.person(&second).await, beside: Some(beside), rng }
    }

    async fn race(&mut self, arena: &Arena) -> Value {
        let deeds: Vec<Deed> =
            (0..self.rng.random_range(2..=4)).map(|_| *DEEDS.choose(&mut self.rng).unwrap()).collect();
        let flags = self.beside.is_none() && deeds.contains(&Deed::Flag);
        let time = if flags { per_move(MOVE_MS) } else { blitz() };
        let opening = json!({"kind": "given", "moves": ALMOST_WON});
        let pair =
            pair_up(&mut self.first, &mut self.second, json!({"opening": opening, "time": time})).await;
        let game = pair.game.clone();
        self.first.until("turn").await;
        if flags {
            let early = Duration::from_millis(self.rng.random_range(0..6));
            tokio::time::sleep(FLAG.saturating_sub(early)).await;
        }
        let mut vanished = None;
        for deed in &deeds {
            if *deed == Deed::Vanish {
                vanished = Some(self.second.resume_hello());
            } else {
                self.act(&game, *deed);
            }
        }
        if let Some(resume) = vanished {
            self.second = Client::open(&arena.url(), &[], resume).await;
        }
        // Whatever was done, now it ends.
        self.second.say(&json!({"type": "resign", "game": game}));
        self.hear_end(&game, &deeds).await
    }

    fn act(&mut self, game: &str, deed: Deed) {
        let stone =
            |column: u32| json!({"type": "move", "game": game, "ply": ALMOST_WON.len(), "column": column});
        let about = |kind: &str| json!({"type": kind, "game": game});
        match deed {
            Deed::Win => self.first.say(&stone(1)),
            Deed::OtherColumn => self.beside.as_mut().unwrap_or(&mut self.first).say(&stone(3)),
            Deed::Resign(Seat::First) => {
                self.beside.as_mut().unwrap_or(&mut self.first).say(&about("resign"));
            }
            Deed::Resign(Seat::Second) => self.second.say(&about("resign")),
            Deed::Abort(Seat::First) => self.first.say(&about("abort")),
            Deed::Abort(Seat::Second) => self.second.say(&about("abort")),
            Deed::Vanish | Deed::Flag => {}
        }
    }

    /// All connections hear of one end, and of the same.
    async fn hear_end(&mut self, game: &str, deeds: &[Deed]) -> Value {
        let is_end = |message: &Value| message["type"] == "game_end" && message["game"] == game;
        let mut told: Option<Value> = None;
        for client in
            [Some(&mut self.first), Some(&mut self.second), self.beside.as_mut()].into_iter().flatten()
        {
            let mut end = client.find(is_end).await;
            let more: Vec<Value> = client.heard().await.into_iter().filter(is_end).collect();
            assert_eq!(more, Vec::<Value>::new(), "{deeds:?}: told again");
            for field in ["seq", "re"] {
                end.as_object_mut().unwrap().remove(field);
            }
            assert_eq!(told.get_or_insert_with(|| end.clone()), &end, "{deeds:?}");
        }
        told.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_all_that_ends_a_game_in_one_instant_one_thing_does() {
    let arena = Arena::in_real_time(|config| config.limits.messages_per_20s = Bounded::new(1_000_000)).await;
    let trials = of_environment("FOURFOLD_TRIALS", TRIALS) / LANES;
    let lanes = (0..LANES as u64).map(async |number| {
        let mut lane = Lane::new(&arena, number).await;
        let (mut ends, mut aborted, mut name) = (Vec::new(), 0, number);
        for _ in 0..trials {
            let end = lane.race(&arena).await;
            aborted += usize::from(end["reason"] == "aborted");
            ends.push(end);
            if aborted == ABORTS_MAX {
                // Others go on in their place, of the same kind and by the same chance.
                (aborted, name) = (0, name + LANES as u64);
                lane = Lane { rng: lane.rng, ..Lane::new(&arena, name).await };
            }
        }
        ends
    });
    let ends: Vec<Value> = futures::future::join_all(lanes).await.concat();
    let mut query = GameQuery { limit: 1_000, ..GameQuery::default() };
    let mut stored = 0;
    loop {
        let page = arena.services.store.finished_games(&query).await.unwrap();
        let Some(last) = page.last() else { break };
        query.after = Some(last.settlement.as_ref().unwrap().number);
        for game in &page {
            let mut told = ends.iter().filter(|end| end["game"] == *game.spec.id.as_str());
            let end = told.next().unwrap_or_else(|| panic!("nobody was told of the end of {}", game.spec.id));
            assert!(told.next().is_none(), "{} has ended twice", game.spec.id);
            let ending = game.ending().unwrap();
            assert_eq!((&end["result"], &end["moves"]), (&json!(ending.result), &json!(game.moves())));
            assert_eq!(end["reason"], json!(ending.reason));
            stored += 1;
        }
    }
    assert_eq!(
        (stored, query.after),
        (ends.len(), Some(ends.len() as u64)),
        "each end once, and no number left out"
    );
    let of_reason = |reason: &str| ends.iter().filter(|end| end["reason"] == reason).count();
    let counts = ["four", "resign", "aborted", "time"].map(|reason| (reason, of_reason(reason)));
    eprintln!("{} races: {counts:?}", ends.len());
    assert!(counts.iter().all(|(_, count)| *count > 0), "all of them win sometimes: {counts:?}");
}

/// How much later than the rules say flags fall, as far as clients can tell: reported, for it depends on the machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_late_flags_fall_is_reported() {
    let arena = Arena::in_real_time(|config| config.limits.messages_per_20s = Bounded::new(1_000_000)).await;
    let trials = of_environment("FOURFOLD_TRIALS", 40);
    let (mut ada, mut bob) = (arena.bot("ada").await, arena.bot("bob").await);
    let mut late = Vec::new();
    for _ in 0..trials {
        let Pair { first, .. } = pair_up(&mut ada, &mut bob, json!({"time": per_move(MOVE_MS)})).await;
        first.until("turn").await;
        let asked = Instant::now();
        assert_eq!(first.until("game_end").await["reason"], "time");
        late.push(asked.elapsed().saturating_sub(FLAG));
        bob.until("game_end").await;
    }
    late.sort_unstable();
    let at = |percent: usize| late[(late.len() * percent / 100).min(late.len() - 1)];
    eprintln!("{trials} flags: p50 {:?}, p90 {:?}, p99 {:?}, max {:?} late", at(50), at(90), at(99), at(100));
}
