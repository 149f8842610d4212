use crate::system::part::Part;
use crate::system::tasks::Tasks;
use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_engine::{BySide, Column};

use super::*;
use crate::accounts::blocks::Blocks;
use crate::analysis::live_value::LiveValues;
use crate::model::clock::{TimeControl, now};
use crate::model::result::{EndReason, GameResult};
use crate::play::room::actor::RoomDeps;
use crate::play::room::state::RoomState;
use crate::play::room::view::SeatedPlayer;
use crate::play::room::{Directory, RoomActor};
use crate::protocol::server::TurnClock;

use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::protocol::terms::WireVariant;
use crate::storage::conformance::{add_players, player, spec};
use crate::storage::games::GameStore;
use crate::storage::record::{Ending, EventKind, GameSpec, StoredGame};
use crate::storage::store::Write;
use crate::storage::{MemoryStore, Writer};
use crate::system::metrics::Metrics;
use crate::system::pauses::Pauses;

#[track_caller]
fn check_time(bank_ms: u64, budget_ms: u64, wish_ms: Option<u64>, expected_ms: u64) {
    let turn = Turn {
        game: "g".parse().unwrap(),
        ply: 0,
        moves: String::new(),
        legal: vec![1],
        clock: TurnClock { you: bank_ms, opponent: bank_ms },
        budget_ms,
        network_ms: 0,
        variant: WireVariant::default(),
    };
    let time = thinking_time(&turn, wish_ms.map(Duration::from_millis));
    assert_eq!(time, Duration::from_millis(expected_ms));
}

#[test]
fn a_bot_never_thinks_past_its_limit() {
    check_time(60_000, 60_000, None, 3_000);
    check_time(10_000, 10_000, None, 500);
    check_time(10_000, 10_000, Some(100), 100);
    check_time(10_000, 120, Some(1_000), 100);
    check_time(10, 10, None, 0);
}

/// A bot that does as it is told.
#[derive(Clone, Copy)]
enum Manner {
    /// Fills the columns from the left.
    Plays,
    /// Thinks until it is told to stop.
    Slow,
    /// Cannot go on.
    Errs,
    /// Is broken.
    Panics,
}

impl Bot for Manner {
    fn choose(
        &mut self,
        position: &Position,
        _budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        match self {
            Self::Plays => {}
            Self::Slow => {
                while !stop.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            }
            Self::Errs => return Err(BotError::Broken { bot: "fake", reason: "on purpose".into() }),
            Self::Panics => panic!("broken on purpose"),
        }
        let legal: Vec<Column> = position.legal_columns().collect();
        Ok(legal[0].into())
    }

    fn move_time(&self) -> Option<Duration> {
        Some(Duration::from_millis(10))
    }
}

/// Lets two bots play a game to its end.
async fn play_out(manners: BySide<Manner>) -> (Ending, String) {
    let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(10_000) };
    let game = play_out_on(&ComputePool::new(1), manners, time).await;
    (*game.ending().unwrap(), game.moves())
}

async fn play_out_on(pool: &ComputePool, manners: BySide<Manner>, time: TimeControl) -> StoredGame {
    let store = Arc::new(MemoryStore::new());
    add_players(&*store, &["Ada", "Bob"]).await;
    let (writer, actor) = Writer::new(store.clone());
    tokio::spawn(actor.run());
    let spec = GameSpec { rated: false, time, ..spec("g1", "Ada", "Bob") };
    writer.write(Write::StartGame(spec.clone())).await.unwrap();
    let seated = |name: &str| {
        let stored = player(name, PlayerKind::Bot);
        let identity = Identity { id: stored.id, name: stored.name, kind: PlayerKind::Bot, owner: None };
        SeatedPlayer { identity, rating: None, version: None }
    };
    let players = BySide { first: seated("Ada"), second: seated("Bob") };
    let state = RoomState::new(spec.clone(), BySide::from_fn(|_| PlayerKind::Bot), now()).unwrap();
    let (news, mut hear_news) = mpsc::channel(8);
    let (directory, metrics) = (Directory::default(), Arc::new(Metrics::new()));
    let live_values = LiveValues::default();
    let deps = RoomDeps {
        writer,
        directory,
        news,
        metrics,
        live_values,
        pauses: Pauses::default(),
        watch_delay: Duration::ZERO,
        blocks: Blocks::default(),
    };
    let (room, mut actor) = RoomActor::new(state, players, deps);
    let lessons = FileLessons::new(Tasks::for_tests(Part::Seat));
    for side in Side::BOTH {
        let bot = Mind::Bot(Box::new(manners[side]));
        let id = spec.players[side].clone();
        let pace = SeatPace::AtLeast(Duration::ZERO);
        let (seat, task) = seat(
            SeatPlayer {
                id,
                side,
                bot,
                time,
                learns_as: None,
                pace,
                priority: Priority::Bots,
                elsewhere: None,
            },
            pool.clone(),
            lessons.clone(),
        );
        let member = MemberId::next();
        actor.seat(side, member, seat);
        tokio::spawn(task.run(room.clone(), member));
    }
    tokio::spawn(actor.run());
    hear_news.recv().await.expect("the game ends");
    store.game(&spec.id).await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_thread_is_charged_to_nobody() {
    let pool = ComputePool::new(1);
    let taken = pool.try_thread().unwrap();
    let others = async {
        // Six times the bank of either side.
        tokio::time::sleep(Duration::from_mins(1)).await;
        drop(taken);
    };
    let time = TimeControl { bank_ms: Some(10_000), increment_ms: 0, move_ms: None };
    let manners = BySide { first: Manner::Plays, second: Manner::Plays };
    let (game, ()) = tokio::join!(play_out_on(&pool, manners, time), others);
    assert_eq!(game.ending().unwrap().reason, EndReason::Four);
    let moves = game.events.iter().filter_map(|event| match &event.kind {
        EventKind::Move(played) => Some((event.clock_ms, played.spent_ms)),
        _ => None,
    });
    let mut left = BySide { first: 10_000, second: 10_000 };
    let mut side = Side::First;
    for (clock_ms, spent_ms) in moves {
        left[side] -= spent_ms;
        assert_eq!(clock_ms, left, "the record adds up");
        side = side.opponent();
    }
    assert!(left.first > 9_000, "{left:?}");
}

#[tokio::test]
async fn two_bots_play_a_game_to_its_end() {
    let (ending, moves) = play_out(BySide { first: Manner::Plays, second: Manner::Plays }).await;
    assert_eq!(ending.reason, EndReason::Four);
    assert!(moves.starts_with("111111222222"), "{moves}");
}

#[tokio::test]
async fn a_slow_bot_is_stopped_and_plays_in_time() {
    let (ending, _) = play_out(BySide { first: Manner::Slow, second: Manner::Slow }).await;
    assert_eq!(ending.reason, EndReason::Four);
}

#[tokio::test]
async fn a_bot_that_errs_or_panics_loses_and_leaves_the_pool_to_others() {
    for broken in [Manner::Errs, Manner::Panics] {
        let (ending, moves) = play_out(BySide { first: Manner::Plays, second: broken }).await;
        assert_eq!(
            (ending.reason, ending.by, moves.as_str()),
            (EndReason::BotFailed, Some(Side::Second), "1")
        );
    }
}

#[tokio::test]
async fn a_bot_with_a_file_learns_from_games_that_count() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.xml");
    let spec = fourfold_bots::BotSpec::new("memory").with("file", file.display());
    let end = |result| GameEnd {
        game: "g1".parse().unwrap(),
        event_seq: 8,
        result,
        reason: EndReason::Four,
        by: None,
        line: None,
        moves: "3747576".into(),
        clock: crate::protocol::terms::Sides { first: 0, second: 0 },
        rating: None,
        unrated_because: None,
    };
    let task = |variant| {
        let bot = Mind::Bot(Box::new(Manner::Plays));
        let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(10_000) };
        let (learns_as, pace) = (Some(spec.clone()), Duration::ZERO);
        let player = SeatPlayer {
            id: "Ada".parse().unwrap(),
            side: Side::First,
            bot,
            time,
            learns_as,
            pace: SeatPace::AtLeast(pace),
            priority: Priority::People,
            elsewhere: None,
        };
        let lessons = FileLessons::new(Tasks::for_tests(Part::Seat));
        BotTask { variant, ..seat(player, ComputePool::new(1), lessons).1 }
    };
    let standard = Some(Variant::STANDARD);
    assert!(task(standard).lesson(&end(GameResult::Void)).is_none(), "void games teach nothing");
    assert!(task(None).lesson(&end(GameResult::First)).is_none(), "it was never its turn");
    assert!(!file.exists());
    let tasks = Tasks::for_tests(Part::Seat);
    let lessons = FileLessons::new(tasks.clone());
    for _ in 0..20 {
        lessons.add(task(standard).lesson(&end(GameResult::First)).unwrap());
    }
    assert_eq!(tasks.len(), 1, "one thread for all of them");
    tasks.close();
    tasks.wait().await;
    let learnt = std::fs::read_to_string(&file).unwrap();
    assert!(learnt.contains("<NumberOfTimesSeenInWinningGame>20<"), "{learnt}");
}
