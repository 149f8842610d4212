//! The service against games in a store.

use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::{Game, Variant};
use proptest::prelude::*;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::rating_sums::RatingSums;
use super::service::{Follower, GATHER};
use super::standings::{Scale, Standings};
use super::{FitSnapshot, Leaderboard, LeaderboardActor, LeaderboardDeps};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::rating::elo::{Standing, settle};
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;
use crate::storage::conformance::{add, after_noon, play, player, player_id, spec, void, whole_game};
use crate::storage::published::RatedGame;
use crate::storage::record::{GamePair, GameSpec, StoredPlayer};
use crate::storage::resets::NewReset;
use crate::storage::store::{Store, Write};
use crate::storage::{MemoryStore, SqliteStore, Writer};

use crate::model::durability::Durability;
use crate::model::population::Population;

/// Seven moves after which nobody has won; others for every number.
fn moves(number: u32) -> String {
    let digits = |mut number: u32| -> String {
        let mut digit = || {
            let digit = number % 7 + 1;
            number /= 7;
            char::from_digit(digit, 10).unwrap()
        };
        (0..7).map(|_| digit()).collect()
    };
    let is_open =
        |text: &String| Game::from_moves(Variant::STANDARD, text).is_ok_and(|game| game.outcome().is_none());
    // Neighbours differ in their first columns.
    (number..number + 1_000).map(|number| digits(number * 48_271 % 823_543)).find(is_open).unwrap()
}

fn bot(name: &str) -> StoredPlayer {
    let house = ["random", "perfect"].contains(&name);
    StoredPlayer { house, ..player(name, PlayerKind::Bot) }
}

/// A store with three bots, two of them of the house, and a person.
async fn fill(store: &dyn Store) {
    let players = ["random", "perfect", "six"].map(bot).into_iter().chain([player("Ada", PlayerKind::Human)]);
    let writes: Vec<Write> = players.map(add).collect();
    store.commit(&writes).await.unwrap();
}

pub(crate) async fn bots() -> MemoryStore {
    let store = MemoryStore::new();
    fill(&store).await;
    store
}

/// A pair of games, each won by whom it says, or drawn.
pub(crate) async fn play_pair(store: &dyn Store, number: u32, names: [&str; 2], results: [GameResult; 2]) {
    let [a, b] = names;
    let id = format!("p{number}").parse().unwrap();
    for (leg, (first, second), result) in [(1, (a, b), results[0]), (2, (b, a), results[1])] {
        let pair = Some(GamePair { id: Clone::clone(&id), leg, of: 2 });
        let spec = GameSpec { pair, ..spec(&format!("g{number}x{leg}"), first, second) };
        play(store, spec, &moves(2 * number + leg), result, EndReason::Resign).await;
    }
}

pub(crate) async fn fit(store: &dyn Store) -> FitSnapshot {
    Follower::default().catch_up(store).await.unwrap().unwrap()
}

fn field(snapshot: &FitSnapshot, list: Population) -> &Standings {
    snapshot.field(Variant::STANDARD, list).unwrap()
}

fn names(field: &Standings) -> Vec<&str> {
    field.ranking().map(|row| row.player.as_str()).collect()
}

#[tokio::test]
async fn three_points_in_four_are_191_elo_points() {
    use GameResult::{First, Second};
    let store = bots().await;
    // Of every two pairs the better one wins three games and loses one, as often with the first move as without.
    for number in 0..100 {
        let results = match number % 4 {
            0 => [First, First],
            1 => [Second, Second],
            _ => [First, Second],
        };
        play_pair(&store, number, ["six", "random"], results).await;
    }
    let snapshot = fit(&store).await;
    let bots = field(&snapshot, Population::Bots);
    assert_eq!((bots.scale, bots.games, bots.pairs, snapshot.up_to), (Scale::Random, 200, 100, 200));
    assert_eq!(names(bots), ["idsix", "idrandom"]);
    let six = bots.get(&player_id("six")).unwrap();
    assert!((six.elo - 190.85).abs() < 1.0, "{six:?}");
    assert_eq!((six.games, six.pairs, six.opponents, six.live.score.wins), (200, 100, 1, 150));
    let random = bots.get(&player_id("random")).unwrap();
    assert_eq!((random.elo_milli().0, random.error_milli()), (0, 0));
    assert!(bots.first_move_advantage.abs() < 1e-6);
    let error = bots.error_between(&six.player, &random.player).unwrap();
    assert!((error - six.error).abs() < 1e-9 && (error - 28.4).abs() < 6.0, "{error}");
    let variance = bots.covariance(&six.player, &six.player).unwrap();
    assert!((variance.sqrt() - six.error).abs() < 1e-9);
    assert!(bots.los(&six.player, &random.player).unwrap() > 0.999);
    assert_eq!(bots.los(&six.player, &player_id("Ada")), None);
}

#[tokio::test]
async fn people_are_in_the_list_of_all_alone() {
    let store = bots().await;
    play_pair(&store, 0, ["six", "random"], [GameResult::First, GameResult::Draw]).await;
    play_pair(&store, 1, ["Ada", "six"], [GameResult::First, GameResult::First]).await;
    let snapshot = fit(&store).await;
    assert_eq!(names(field(&snapshot, Population::Bots)), ["idsix", "idrandom"]);
    let all = field(&snapshot, Population::All);
    assert_eq!((all.rows().len(), all.games), (3, 4));
    assert_eq!(snapshot.variants(), [Variant::STANDARD]);
    // Without the bot that fixes it the scale has its zero at the mean.
    let store = bots().await;
    play_pair(&store, 0, ["Ada", "six"], [GameResult::First, GameResult::Second]).await;
    let snapshot = fit(&store).await;
    let all = field(&snapshot, Population::All);
    assert_eq!((all.scale, &all.ceiling), (Scale::Mean, &None));
    assert!(all.rows().iter().map(|row| row.elo).sum::<f64>().abs() < 1e-9);
    assert!(field(&snapshot, Population::Bots).rows().is_empty());
}

#[tokio::test]
async fn the_one_that_never_errs_is_the_ceiling() {
    let store = bots().await;
    play_pair(&store, 0, ["perfect", "random"], [GameResult::First, GameResult::Second]).await;
    let snapshot = fit(&store).await;
    assert_eq!(field(&snapshot, Population::Bots).ceiling, Some(player_id("perfect")));
}

#[tokio::test]
async fn halves_of_pairs_and_repeated_games_are_not_fitted() {
    let store = bots().await;
    play_pair(&store, 0, ["six", "random"], [GameResult::First, GameResult::Draw]).await;
    let half = GameSpec {
        pair: Some(GamePair { id: "half".parse().unwrap(), leg: 1, of: 2 }),
        ..spec("half", "random", "six")
    };
    play(&store, half, &moves(90), GameResult::First, EndReason::Resign).await;
    // Between repetitions three others are played, so that each is rated.
    for round in 0..3 {
        for number in [50, 51, 52, 53] {
            let spec = spec(&format!("r{round}n{number}"), "six", "random");
            play(&store, spec, &moves(number), GameResult::First, EndReason::Resign).await;
        }
    }
    let snapshot = fit(&store).await;
    let six = field(&snapshot, Population::Bots).get(&player_id("six")).unwrap().clone();
    assert_eq!((six.games, six.pairs, six.live.standing.games), (2 + 4, 1, 3 + 12));
}

#[tokio::test]
async fn equal_games_have_equal_digits_in_either_store_and_step_by_step() {
    use GameResult::{Draw, First, Second};
    let memory = bots().await;
    let directory = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
    fill(&sqlite).await;
    let mut follower = Follower::default();
    let mut last = None;
    for (number, names, results) in [
        (0, ["six", "random"], [First, Second]),
        (1, ["perfect", "random"], [First, Draw]),
        (2, ["perfect", "six"], [First, First]),
        (3, ["Ada", "six"], [Second, Draw]),
    ] {
        play_pair(&memory, number, names, results).await;
        play_pair(&sqlite, number, names, results).await;
        last = follower.catch_up(&memory).await.unwrap();
    }
    assert!(follower.catch_up(&memory).await.unwrap().is_none(), "nothing new");
    let step_by_step = last.unwrap().publication(0);
    assert_eq!(step_by_step.ratings.len(), 3 + 4);
    assert_eq!(fit(&memory).await.publication(0), step_by_step);
    assert_eq!(fit(&sqlite).await.publication(0), step_by_step);
}

#[tokio::test]
async fn whatever_counts_no_more_is_fitted_anew() {
    let store = bots().await;
    for number in 0..3 {
        play_pair(&store, number, ["six", "random"], [GameResult::First, GameResult::Draw]).await;
    }
    let mut follower = Follower::default();
    let leaderboard = Leaderboard::default();
    let watch = leaderboard.watch();
    leaderboard.show(follower.catch_up(&store).await.unwrap().unwrap());
    assert!(watch.has_changed().unwrap());
    assert_eq!(field(&leaderboard.now(), Population::Bots).pairs, 3);
    let void = void("g1x2");
    store.commit(&[void]).await.unwrap().remove(0).unwrap();
    let snapshot = follower.catch_up(&store).await.unwrap().unwrap();
    let bots = field(&snapshot, Population::Bots);
    assert_eq!((bots.pairs, bots.rows()[0].live.standing.games), (2, 5));
    let leave = Write::Retire { player: player_id("six"), name: "gone-1".parse().unwrap() };
    store.commit(&[leave]).await.unwrap().remove(0).unwrap();
    let snapshot = follower.catch_up(&store).await.unwrap().unwrap();
    assert!(field(&snapshot, Population::Bots).rows().is_empty(), "nobody has met anybody who is here");
}

#[tokio::test]
async fn whose_rating_begins_anew_is_another_player_in_the_fit() {
    use GameResult::{First, Second};
    let store = bots().await;
    store.commit(&[add(StoredPlayer { owner: Some(player_id("Ada")), ..bot("mine") })]).await.unwrap();
    for number in 0..6 {
        let results = if number % 3 == 0 { [First, First] } else { [Second, First] };
        play_pair(&store, number, ["mine", "random"], results).await;
        play_pair(
            &store,
            20 + number,
            ["six", "random"],
            [First, if number % 2 == 0 { First } else { Second }],
        )
        .await;
    }
    let mut follower = Follower::default();
    let before = follower.catch_up(&store).await.unwrap().unwrap();
    let was = field(&before, Population::Bots).get(&player_id("mine")).unwrap().clone();
    let reset = NewReset {
        player: player_id("mine"),
        at: after_noon(1),
        version: "2".into(),
        reason: "a tree search".into(),
        not_since: after_noon(0),
    };
    store.commit(&[Write::ResetRating(reset)]).await.unwrap().remove(0).unwrap();
    let snapshot = follower.catch_up(&store).await.unwrap().unwrap();
    let bots = field(&snapshot, Population::Bots);
    assert_eq!(names(bots), ["idsix", "idrandom"], "it has not played since");
    assert!(bots.get(&player_id("mine")).is_none());
    let past: Vec<_> = bots.past(&player_id("mine")).cloned().collect();
    assert_eq!((past.len(), past[0].era, past[0].elo, past[0].games), (1, 0, was.whole_elo(), was.games));
    assert_eq!(bots.pairs, field(&before, Population::Bots).pairs, "its opponents keep their games");
    for number in 40..46 {
        play_pair(&store, number, ["mine", "random"], [First, Second]).await;
    }
    let snapshot = follower.catch_up(&store).await.unwrap().unwrap();
    let bots = field(&snapshot, Population::Bots);
    let now = bots.get(&player_id("mine")).unwrap();
    assert!(now.elo > was.elo + 100.0 && now.games == 12, "{} {}", now.elo, was.elo);
    assert_eq!(bots.past(&player_id("mine")).count(), 1);
    assert!(bots.los(&player_id("mine"), &player_id("six")).unwrap() > 0.5);
    assert_eq!(fit(&store).await.publication(0), snapshot.publication(0), "from the records alone");
    assert_eq!(snapshot.publication(0).ratings.len(), 6, "eras that are over are not published");
}

#[tokio::test]
async fn an_empty_store_has_an_empty_leaderboard() {
    let snapshot = fit(&MemoryStore::new()).await;
    assert_eq!((snapshot.up_to, snapshot.variants().len()), (0, 0));
    assert!(snapshot.field(Variant::STANDARD, Population::All).is_none());
}

/// Plays a game of the pair `p1` as rooms do.
async fn play_leg(writer: &Writer, leg: u32, [first, second]: [&str; 2]) {
    let pair = Some(GamePair { id: "p1".parse().unwrap(), leg, of: 2 });
    let spec = GameSpec { pair, ..spec(&format!("g1x{leg}"), first, second) };
    let events = whole_game(&moves(2 + leg), GameResult::First, EndReason::Resign);
    let finish = Write::Finish { game: spec.id.clone(), events };
    let (started, finished) = tokio::join!(writer.write(Write::StartGame(spec)), writer.write(finish));
    started.and(finished).unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_follows_what_finishes_and_what_counts_no_more_without_a_look_by_the_clock() {
    const QUIET: Duration = Duration::from_hours(1);
    let store: Arc<dyn Store> = Arc::new(bots().await);
    play_pair(&*store, 0, ["six", "random"], [GameResult::First, GameResult::Draw]).await;
    let (writer, writing) = Writer::new(Arc::clone(&store));
    tokio::spawn(writing.run());
    let leaderboard = Leaderboard::default();
    let mut watch = leaderboard.watch();
    let deps = LeaderboardDeps {
        store: Arc::clone(&store),
        writer: writer.clone(),
        leaderboard,
        seasons: Vec::new(),
    };
    let stop = CancellationToken::new();
    let running = tokio::spawn(LeaderboardActor::new(deps).run(stop.clone()));
    let mut shown = async || {
        watch.changed().await.unwrap();
        let snapshot = watch.borrow_and_update().clone();
        (snapshot.up_to, field(&snapshot, Population::Bots).pairs)
    };
    assert_eq!(shown().await, (2, 1), "what was played before");
    tokio::time::sleep(QUIET).await;

    let began = Instant::now();
    play_leg(&writer, 1, ["six", "random"]).await;
    assert_eq!(shown().await, (3, 1));
    assert_eq!(began.elapsed(), Duration::ZERO);
    play_leg(&writer, 2, ["random", "six"]).await;
    assert_eq!(shown().await, (4, 2));
    assert_eq!(began.elapsed(), GATHER, "what comes in a stream is fitted together");
    tokio::time::sleep(QUIET).await;
    assert_eq!(store.publication().await.unwrap().up_to, Some(4), "stored, though nothing came after it");

    let began = Instant::now();
    writer.write(void("g1x2")).await.unwrap();
    assert_eq!(shown().await, (3, 1));
    assert_eq!(began.elapsed(), Duration::ZERO);
    stop.cancel();
    running.await.unwrap();
}

/// A few games between four bots.
fn games() -> impl Strategy<Value = Vec<RatedGame>> {
    let names = ["random", "perfect", "six", "Ada"];
    let one = (0..4_usize, 1..4_usize, 0..3_usize, 0..3_usize);
    let to_games = move |pairs: Vec<(usize, usize, usize, usize)>| {
        let results = [GameResult::First, GameResult::Draw, GameResult::Second];
        let mut games = Vec::new();
        for (number, (a, step, one, two)) in (0_u32..).zip(pairs) {
            let b = (a + step) % 4;
            for (leg, (first, second), result) in [(1, (a, b), one), (2, (b, a), two)] {
                let spec = spec("x", names[first], names[second]);
                games.push(RatedGame {
                    number: u64::from(2 * number + leg),
                    id: spec.id,
                    variant: spec.variant,
                    players: spec.players,
                    pair: Some(GamePair { id: format!("p{number}").parse().unwrap(), leg, of: 2 }),
                    opening_plies: 0,
                    moves: moves(2 * number + leg),
                    result: results[result],
                    ended_at: UnixMillis::default(),
                    ratings: settle(Standing::START, Standing::START, None),
                });
            }
        }
        games
    };
    prop::collection::vec(one, 1..30).prop_map(to_games)
}

fn fitted(games: &[RatedGame]) -> Vec<(PlayerId, u64, u64)> {
    let mut sums = RatingSums::default();
    for game in games {
        sums.book(game);
    }
    sums.introduce(&["random", "perfect", "six"].map(bot));
    sums.introduce(&[player("Ada", PlayerKind::Human)]);
    let snapshot = sums.fit();
    let row =
        |row: &super::standings::FittedPlayer| (row.player.clone(), row.elo.to_bits(), row.error.to_bits());
    let lists = [Population::Bots, Population::All];
    lists
        .into_iter()
        .flat_map(|list| field(&snapshot, list).rows().iter().map(row).collect::<Vec<_>>())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_games_changes_no_digit(games in games(), from in any::<prop::sample::Index>()) {
        let mut others = games.clone();
        others.rotate_left(from.index(games.len()));
        others.reverse();
        prop_assert_eq!(fitted(&games), fitted(&others));
    }
}
