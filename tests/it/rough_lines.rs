//! Games over lines that delay, repeat and break, in real time: every move counts once, and every game comes to an end.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fourfold::client::Introduction;
use fourfold::client::load::{Ack, GamesPlan, LoadTrouble, PairPlan, Role, Witness, play_pair};
use fourfold::model::clock::TimeControl;
use fourfold::model::ids::GameId;
use fourfold::model::result::GameResult;
use fourfold::protocol::server::GameEnd;
use fourfold::system::config::Bounded;
use tokio_util::sync::CancellationToken;

use crate::support::{Arena, RoughLine, of_environment};

const PAIRS: usize = 6;
/// Games of each pair. `FOURFOLD_GAMES` asks for more.
const GAMES: usize = 4;
/// Far more than is needed: a pair that waits for ever has failed.
const PATIENCE: Duration = Duration::from_mins(4);
const TIME: TimeControl = TimeControl { bank_ms: Some(600_000), increment_ms: 0, move_ms: None };

/// What the players were told.
#[derive(Default)]
struct Heard {
    acks: Vec<Ack>,
    ends: HashMap<GameId, Vec<(GameResult, String)>>,
    returns: u64,
    troubles: Vec<LoadTrouble>,
}

#[derive(Default)]
struct Told(Mutex<Heard>);

impl Told {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap()
    }
}

impl Witness for Told {
    fn acked(&self, ack: &Ack) {
        self.heard().acks.push(ack.clone());
    }

    fn ended(&self, _: Role, end: &GameEnd) {
        let told = (end.result, end.moves.clone());
        self.heard().ends.entry(end.game.clone()).or_default().push(told);
    }

    fn reconnected(&self, _: Role) {
        self.heard().returns += 1;
    }

    fn trouble(&self, trouble: LoadTrouble) {
        // An offer may be gone when it is accepted, for it went with its maker's connection.
        if !matches!(trouble, LoadTrouble::Refused(_)) {
            self.heard().troubles.push(trouble);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_line_that_delays_repeats_and_breaks_every_move_counts_once() {
    let arena = Arena::in_real_time(|config| config.limits.messages_per_20s = Bounded::new(100_000)).await;
    let line = RoughLine::start(arena.address, 7).await;
    let told = Arc::new(Told::default());
    let games = of_environment("FOURFOLD_GAMES", GAMES);
    let playing = (0..PAIRS).map(|pair| {
        let client = || Introduction { url: format!("ws://{}", line.address), ..Introduction::default() };
        let plan = PairPlan {
            challenger: client(),
            challenged: client(),
            games: GamesPlan {
                games: Some(u32::try_from(games).unwrap()),
                ..GamesPlan::casual(TIME, pair as u64)
            },
        };
        let witness: Arc<dyn Witness> = Arc::<Told>::clone(&told);
        play_pair(plan, witness, CancellationToken::new())
    });
    let played = tokio::time::timeout(PATIENCE, futures::future::try_join_all(playing)).await;
    played.expect("all games come to their ends").expect("all players go on to the end");

    let fates = &line.fates;
    let counts = [&fates.delayed, &fates.doubled, &fates.cut, &fates.half_closed];
    let counts = counts.map(|count| count.load(Ordering::Relaxed));
    let heard = std::mem::take(&mut *told.heard());
    eprintln!("delayed, doubled, cut, half closed: {counts:?}; {} returns", heard.returns);
    assert!(counts.into_iter().all(|count| count > 0) && heard.returns > 0, "the line was rough");
    assert_eq!(heard.troubles, [], "nothing was taken back, nobody was forgotten");
    assert!(heard.ends.len() >= PAIRS * games, "{} games ended", heard.ends.len());
    for (game, ends) in &heard.ends {
        let stored = arena.services.store.game(game).await.unwrap().expect("it is stored");
        let expected = (stored.ending().expect("it has ended").result, stored.moves());
        assert!(ends.iter().all(|end| *end == expected), "{game}: {ends:?}, stored is {expected:?}");
    }
    for ack in &heard.acks {
        let moves = arena.services.store.game(&ack.game).await.unwrap().expect("it is stored").moves();
        let stored = moves.chars().nth(ack.ply as usize);
        assert_eq!(stored, char::from_digit(ack.column.into(), 36), "{ack:?} in {moves}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_makes_load_gives_up_when_the_server_has_gone() {
    let arena = Arena::in_real_time(|_| {}).await;
    let client = || Introduction { url: arena.url(), ..Introduction::default() };
    let plan = PairPlan {
        challenger: client(),
        challenged: client(),
        games: GamesPlan {
            think: Duration::from_millis(1),
            patience: Some(Duration::from_millis(100)),
            ..GamesPlan::casual(TIME, 7)
        },
    };
    let told = Arc::new(Told::default());
    let witness: Arc<dyn Witness> = Arc::<Told>::clone(&told);
    let playing = tokio::spawn(play_pair(plan, witness, CancellationToken::new()));
    while told.heard().acks.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    arena.tell_to_stop();
    let ended = tokio::time::timeout(PATIENCE, playing).await.expect("they do not wait for ever").unwrap();
    let words = ended.expect_err("the games had no end").to_string();
    assert!(words.contains("did not come back"), "{words}");
}
