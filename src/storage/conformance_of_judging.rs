//! The part of the suite for all back ends that is about judged games and puzzles.

use fourfold_engine::review::{Decisions, Encounter, Skill};
use fourfold_engine::{BySide, Variant, WinDrawLoss};

use super::conformance::{
    FIRST_WINS, FIRST_WINS_TOO, Fixture, NOON, add_players, after_noon, because, play, player, player_id,
    spec,
};
use super::judgements::{Judgement, JudgingProgress, JudgingStep, PlayerSkill};
use super::moderation::{Measure, MeasureKind};
use super::puzzles::{
    Goal, Harvest, NewPuzzle, PuzzleEntry, PuzzleTry, StoredPuzzle, Streak, TryRecord, TryResult,
};
use super::record::GameSpec;
use super::rushes::{RushBoard, RushKind, RushPlace, RushResult};
use super::store::{IdleGuests, Refused, Store, Write, Written};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};

/// Makes a test of each check.
macro_rules! conformance_of_judging {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_judging:
            judged_games_are_read_back_and_added_up,
            the_judge_goes_on_where_it_stands,
            games_of_people_may_be_judged_ahead,
            games_that_do_not_count_add_nothing,
            judgements_survive_reopening,
            what_opponents_decided_is_counted_by_opponent,
            puzzles_are_kept_once_and_the_best_of_them,
            only_the_first_attempt_counts,
            attempts_of_guests_count_from_the_third_puzzle_on,
            guests_who_tried_long_ago_make_room,
            the_days_of_the_daily_puzzle_are_kept_for_a_year,
            the_best_run_of_each_account_stands_on_the_board,
            streaks_are_kept,
            whoever_leaves_takes_attempts_and_streak_along,
        );
    };
}
pub(crate) use conformance_of_judging;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().pop().unwrap()
}

async fn step(store: &dyn Store, from: u64, games: Vec<(u64, Judgement)>) -> Result<Written, Refused> {
    let step = JudgingStep::in_order(from, games);
    write(store, Write::StepJudging(Box::new(step))).await
}

fn skill(moves: u64) -> Skill {
    Skill { moves, good: moves - 1, optimal: 2, decisions: 3, good_decisions: 1, loss: 7 }
}

fn judged(first: u64, second: u64) -> Judgement {
    Judgement::Judged(BySide { first: skill(first), second: skill(second) })
}

/// Three games: 1 and 2 of Ada and Bob with sides swapped, 3 of Eve and Bob.
async fn three_games<F: Fixture>() -> F {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    for (id, first, second, moves) in [
        ("g1", "Ada", "Bob", FIRST_WINS),
        ("g2", "Bob", "Ada", FIRST_WINS_TOO),
        ("g3", "Eve", "Bob", FIRST_WINS),
    ] {
        play(&*store, spec(id, first, second), moves, GameResult::First, EndReason::Four).await;
    }
    fixture
}

async fn judgement(store: &dyn Store, game: &str) -> Option<Judgement> {
    store.judgement(&game.parse().unwrap()).await.unwrap()
}

async fn skill_of(store: &dyn Store, name: &str) -> Option<PlayerSkill> {
    let of_player = store.skills_of(&player_id(name)).await.unwrap();
    let of_all = store.skills(Variant::STANDARD).await.unwrap();
    let found = of_all.into_iter().find(|(player, _)| *player == player_id(name)).map(|(_, skill)| skill);
    let alone = of_player.into_iter().find(|(variant, _)| *variant == Variant::STANDARD);
    assert_eq!(found, alone.map(|(_, skill)| skill), "both ways say the same");
    found
}

pub(crate) async fn judged_games_are_read_back_and_added_up<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    let progress = store.judging_progress().await.unwrap();
    assert_eq!((progress, progress.behind()), (JudgingProgress { covered: 0, finished: 3, ahead: 0 }, 3));
    assert_eq!(judgement(&*store, "g1").await, None);
    step(&*store, 0, vec![(1, judged(10, 20)), (2, judged(30, 40))]).await.unwrap();
    step(&*store, 2, vec![(3, Judgement::Unjudged)]).await.unwrap();
    assert_eq!(judgement(&*store, "g1").await, Some(judged(10, 20)));
    assert_eq!(judgement(&*store, "g2").await, Some(judged(30, 40)));
    assert_eq!(judgement(&*store, "g3").await, Some(Judgement::Unjudged));
    assert_eq!(judgement(&*store, "g9").await, None);
    let sums =
        |moves| Skill { moves, good: moves - 2, optimal: 4, decisions: 6, good_decisions: 2, loss: 14 };
    let expected = |moves| Some(PlayerSkill { games: 2, skill: sums(moves) });
    assert_eq!(skill_of(&*store, "Ada").await, expected(50));
    assert_eq!(skill_of(&*store, "Bob").await, expected(50));
    assert_eq!(skill_of(&*store, "Eve").await, None);
    assert_eq!(store.skills("9x6".parse().unwrap()).await.unwrap(), []);
    assert_eq!(store.judging_progress().await.unwrap().behind(), 0);
}

pub(crate) async fn the_judge_goes_on_where_it_stands<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    let elsewhere = Err(Refused::JudgeElsewhere);
    assert_eq!(step(&*store, 1, vec![(2, judged(1, 1))]).await, elsewhere, "a gap");
    step(&*store, 0, vec![(1, judged(1, 1))]).await.unwrap();
    assert_eq!(step(&*store, 0, vec![(1, judged(1, 1))]).await, elsewhere, "twice");
    assert_eq!(step(&*store, 1, vec![(1, judged(1, 1))]).await, elsewhere, "a game before");
    assert_eq!(step(&*store, 1, vec![(3, judged(1, 1)), (2, judged(1, 1))]).await, elsewhere, "no order");
    assert_eq!(step(&*store, 1, vec![(4, judged(1, 1))]).await, elsewhere, "a game to come");
    assert_eq!(skill_of(&*store, "Ada").await.map(|skill| skill.games), Some(1));
    assert_eq!(store.judging_progress().await.unwrap().covered, 1);
}

pub(crate) async fn games_of_people_may_be_judged_ahead<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for name in ["deep", "blue"] {
        write(&*store, Write::AddPlayer { player: player(name, PlayerKind::Bot), password: None })
            .await
            .unwrap();
    }
    let (bots, people) = (["blue", "deep"], ["Ada", "Bob"]);
    for (id, [first, second]) in [("g1", bots), ("g2", people), ("g3", bots), ("g4", people), ("g5", bots)] {
        // The same game once more would not count.
        let moves = if id == "g4" { FIRST_WINS_TOO } else { FIRST_WINS };
        play(&*store, spec(id, first, second), moves, GameResult::First, EndReason::Four).await;
    }
    let of_people = async |limit| store.unjudged_games_of_people(limit).await.unwrap();
    assert_eq!((of_people(9).await, of_people(1).await), (vec![4, 2], vec![4]));
    let ahead = async |from, games, ahead| {
        let step = JudgingStep { ahead, ..JudgingStep::in_order(from, games) };
        write(&*store, Write::StepJudging(Box::new(step))).await
    };
    let elsewhere = Err(Refused::JudgeElsewhere);
    assert_eq!(ahead(0, vec![(1, judged(1, 1))], vec![(1, judged(1, 1))]).await, elsewhere, "twice at once");
    assert_eq!(ahead(0, vec![], vec![(6, judged(1, 1))]).await, elsewhere, "a game to come");
    ahead(0, vec![(1, judged(1, 1))], vec![(4, judged(30, 40))]).await.unwrap();
    assert_eq!(ahead(1, vec![], vec![(4, judged(1, 1))]).await, elsewhere, "twice");
    let progress = store.judging_progress().await.unwrap();
    assert_eq!((progress, progress.behind()), (JudgingProgress { covered: 1, finished: 5, ahead: 1 }, 3));
    assert_eq!(of_people(9).await, [2]);
    let looked_at =
        async |after, up_to| store.judged_ahead(after, up_to).await.unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!((looked_at(1, 5).await, looked_at(3, 4).await), (vec![4], vec![4]));
    assert_eq!((looked_at(1, 3).await, looked_at(4, 5).await), (vec![], vec![]), "those asked about alone");
    let said = async |game| judgement(&*store, game).await;
    assert_eq!((said("g3").await, said("g4").await), (None, Some(judged(30, 40))));
    let games = vec![(2, Judgement::Unjudged), (3, Judgement::Unjudged), (4, judged(1, 1))];
    step(&*store, 1, games).await.unwrap();
    assert_eq!(said("g4").await, Some(judged(30, 40)), "what was said stands");
    assert_eq!((said("g2").await, said("g5").await), (Some(Judgement::Unjudged), None));
    let progress = store.judging_progress().await.unwrap();
    assert_eq!((progress, progress.behind()), (JudgingProgress { covered: 4, finished: 5, ahead: 0 }, 1));
    assert_eq!(skill_of(&*store, "Ada").await.map(|skill| skill.games), Some(1), "added up once");
}

pub(crate) async fn games_that_do_not_count_add_nothing<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let casual = GameSpec { rated: false, ..spec("g1", "Ada", "Bob") };
    play(&*store, casual, FIRST_WINS, GameResult::First, EndReason::Four).await;
    step(&*store, 0, vec![(1, judged(5, 5))]).await.unwrap();
    assert_eq!(judgement(&*store, "g1").await, Some(judged(5, 5)));
    assert_eq!(skill_of(&*store, "Ada").await, None);
}

pub(crate) async fn judgements_survive_reopening<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    step(&*store, 0, vec![(1, judged(10, 20))]).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(judgement(&*store, "g1").await, Some(judged(10, 20)));
    assert_eq!(
        store.judging_progress().await.unwrap(),
        JudgingProgress { covered: 1, finished: 3, ahead: 0 }
    );
}

pub(crate) async fn what_opponents_decided_is_counted_by_opponent<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    let casual = GameSpec { rated: false, ..spec("g4", "Ada", "Bob") };
    play(&*store, casual, FIRST_WINS, GameResult::First, EndReason::Four).await;
    let of = async |name: &str, games| {
        store.encounters_of(&player_id(name), Variant::STANDARD, games).await.unwrap()
    };
    assert_eq!(of("Ada", 9).await, [], "nothing was judged");
    let games = (1..=4).map(|number| (number, judged(10, 20))).collect();
    step(&*store, 0, games).await.unwrap();
    let decisions = |games: u64| Decisions { faced: 3 * games, failed: 2 * games };
    let each = WinDrawLoss { wins: 1, draws: 0, losses: 1 };
    let lost = WinDrawLoss { wins: 0, draws: 0, losses: 1 };
    let encounter = |score, stones_of_wins, faced, elsewhere| Encounter {
        score,
        stones_of_wins,
        faced: decisions(faced),
        elsewhere: decisions(elsewhere),
    };
    assert_eq!(of("Ada", 9).await, [encounter(each, 7, 2, 1)], "Bob met Eve too");
    assert_eq!(of("Ada", 1).await, [encounter(lost, 0, 1, 2)], "the last one alone");
    assert_eq!(of("Bob", 9).await, [encounter(each, 7, 2, 0), encounter(lost, 0, 1, 0)]);
    assert_eq!(of("Nobody", 9).await, []);
    let small = store.encounters_of(&player_id("Ada"), "9x6".parse().unwrap(), 9).await.unwrap();
    assert_eq!(small, []);
}

fn puzzle(id: &str, quality: u32) -> NewPuzzle {
    NewPuzzle {
        id: id.parse().unwrap(),
        moves: "4444".into(),
        line: "453".into(),
        goal: Goal::Draw,
        prior: 1_450,
        quality,
        game: None,
        made_at: NOON,
    }
}

fn found_in(game: &str, id: &str, quality: u32) -> NewPuzzle {
    NewPuzzle { game: Some(game.parse().unwrap()), ..puzzle(id, quality) }
}

async fn add(store: &dyn Store, puzzles: Vec<NewPuzzle>, keep: u32) {
    write(store, Write::AddPuzzles(Harvest { puzzles, keep })).await.unwrap();
}

async fn ids(store: &dyn Store) -> Vec<String> {
    store.puzzles().await.unwrap().into_iter().map(|entry| entry.id.to_string()).collect()
}

pub(crate) async fn puzzles_are_kept_once_and_the_best_of_them<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    let shipped = puzzle("a", 0);
    add(&*store, vec![shipped.clone()], 2).await;
    let fresh = StoredPuzzle { puzzle: shipped, record: TryRecord::default() };
    assert_eq!(store.puzzle(&"a".parse().unwrap()).await.unwrap(), Some(fresh.clone()));
    assert_eq!(store.puzzle(&"z".parse().unwrap()).await.unwrap(), None);
    let harvest = Harvest { puzzles: vec![found_in("g1", "b", 5), found_in("g1", "a", 9)], keep: 2 };
    let found = JudgingStep { harvest, ..JudgingStep::in_order(0, vec![(1, Judgement::Unjudged)]) };
    write(&*store, Write::StepJudging(Box::new(found))).await.unwrap();
    assert_eq!(store.puzzle(&"a".parse().unwrap()).await.unwrap(), Some(fresh), "what is there stays");
    let mined = store.puzzle(&"b".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(mined.puzzle, found_in("g1", "b", 5));
    let graded = |id: &str| NewPuzzle { prior: 900, line: "5".into(), ..puzzle(id, 1) };
    add(&*store, vec![graded("a"), graded("b")], 2).await;
    let regraded = store.puzzle(&"a".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(regraded.puzzle, NewPuzzle { prior: 900, ..puzzle("a", 0) }, "a release grades its own again");
    let mined = store.puzzle(&"b".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(mined.puzzle, found_in("g1", "b", 5), "what was found here stays");
    let attempt = PuzzleTry {
        player: player_id("Ada"),
        puzzle: "b".parse().unwrap(),
        result: TryResult::Failed,
        level: 850,
        at: NOON,
    };
    write(&*store, Write::TryPuzzle(attempt)).await.unwrap();
    add(&*store, vec![found_in("g1", "c", 7), found_in("g2", "d", 8), found_in("g2", "e", 6)], 2).await;
    assert_eq!(ids(&*store).await, ["a", "b", "d"], "what came along and what was tried stays, and the best");
}

pub(crate) async fn only_the_first_attempt_counts<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    add(&*store, vec![puzzle("a", 0), puzzle("b", 0)], 9).await;
    let attempt = |name: &str, id: &str, result, ms| PuzzleTry {
        player: player_id(name),
        puzzle: id.parse().unwrap(),
        result,
        level: if name == "Ada" { 1_300 } else { 850 },
        at: after_noon(ms),
    };
    for (name, id, result) in [
        ("Ada", "b", TryResult::Failed),
        ("Ada", "b", TryResult::Solved),
        ("Bob", "b", TryResult::Solved),
        ("Ada", "a", TryResult::Solved),
    ] {
        write(&*store, Write::TryPuzzle(attempt(name, id, result, 1))).await.unwrap();
    }
    let entry = |id: &str, tries, levels, solved| PuzzleEntry {
        id: id.parse().unwrap(),
        prior: 1_450,
        record: TryRecord { tries, levels, solved },
        made_at: NOON,
    };
    let expected = [entry("a", 1, 1_300, 1), entry("b", 2, 2_150, 1)];
    assert_eq!(store.puzzles().await.unwrap(), expected);
    for PuzzleEntry { id, record, .. } in &expected {
        assert_eq!(store.puzzle(id).await.unwrap().unwrap().record, *record, "both ways say the same");
    }
    let expected = [attempt("Ada", "a", TryResult::Solved, 1), attempt("Ada", "b", TryResult::Failed, 1)];
    assert_eq!(store.puzzle_tries(&player_id("Ada")).await.unwrap(), expected);
    assert_eq!(store.puzzle_tries(&player_id("Eve")).await.unwrap(), []);
    for (name, id, refused) in [("Ada", "z", Refused::NoSuchPuzzle), ("nobody", "a", Refused::NoSuchPlayer)] {
        let wrong = Write::TryPuzzle(attempt(name, id, TryResult::Solved, 1));
        assert_eq!(write(&*store, wrong).await, Err(refused));
    }
}

fn tried(player: &PlayerId, id: &str, result: TryResult, ms: i64) -> Write {
    let (player, puzzle) = (player.clone(), id.parse().unwrap());
    Write::TryPuzzle(PuzzleTry { player, puzzle, result, level: 900, at: after_noon(ms) })
}

async fn guest(store: &dyn Store, name: &str) -> PlayerId {
    let guest = player(name, PlayerKind::Guest);
    write(store, Write::AddPlayer { player: guest.clone(), password: None }).await.unwrap();
    guest.id
}

pub(crate) async fn attempts_of_guests_count_from_the_third_puzzle_on<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    add(&*store, ["a", "b", "c", "d"].map(|id| puzzle(id, 0)).into(), 9).await;
    let records = async || -> Vec<(u64, u64)> {
        let puzzles = store.puzzles().await.unwrap();
        let records = puzzles.iter().map(|entry| entry.record);
        let counted = records.inspect(|record| assert_eq!(record.levels, 900 * record.tries));
        counted.map(|record| (record.tries, record.solved)).collect()
    };
    for n in 0..5 {
        let one_try = guest(&*store, &format!("guest-{n}")).await;
        write(&*store, tried(&one_try, "a", TryResult::Failed, 1)).await.unwrap();
    }
    assert_eq!(records().await, [(0, 0); 4], "made up for one try each");
    let guest = guest(&*store, "guest-stays").await;
    for (id, result) in [("a", TryResult::Solved), ("b", TryResult::Failed), ("b", TryResult::Solved)] {
        write(&*store, tried(&guest, id, result, 1)).await.unwrap();
    }
    assert_eq!(records().await, [(0, 0); 4]);
    write(&*store, tried(&guest, "c", TryResult::Solved, 2)).await.unwrap();
    assert_eq!(records().await, [(1, 1), (1, 0), (1, 1), (0, 0)]);
    write(&*store, tried(&guest, "d", TryResult::Failed, 3)).await.unwrap();
    assert_eq!(records().await, [(1, 1), (1, 0), (1, 1), (1, 0)]);
}

pub(crate) async fn guests_who_tried_long_ago_make_room<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    add(&*store, vec![puzzle("a", 0)], 9).await;
    for (name, ms) in [("guest-long", 1), ("guest-late", 50)] {
        let guest = guest(&*store, name).await;
        write(&*store, tried(&guest, "a", TryResult::Solved, ms)).await.unwrap();
    }
    let idle = IdleGuests { stored_before: after_noon(90), tried_before: after_noon(50) };
    let long = player_id("guest-long");
    assert_eq!(store.idle_guests(idle, 9).await.unwrap(), std::slice::from_ref(&long));
    let new = player("guest-next", PlayerKind::Guest);
    write(&*store, Write::ReplaceGuest { old: long.clone(), new: new.clone(), idle }).await.unwrap();
    assert_eq!(store.puzzle_tries(&new.id).await.unwrap(), [], "the other's tries go with it");
    assert_eq!(store.idle_guests(idle, 9).await.unwrap(), std::slice::from_ref(&new.id));
}

pub(crate) async fn streaks_are_kept<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    let solve = |name: &str, day| Write::SolveDaily { player: player_id(name), day };
    for day in [20_000, 20_001, 20_001] {
        write(&*store, solve("Ada", day)).await.unwrap();
    }
    let expected = Streak { day: 20_001, run: 2, best: 2 };
    assert_eq!(store.puzzle_streak(&player_id("Ada")).await.unwrap(), expected);
    assert_eq!(store.puzzle_streak(&player_id("Bob")).await.unwrap(), Streak::default());
    assert_eq!(write(&*store, solve("nobody", 1)).await, Err(Refused::NoSuchPlayer));
}

pub(crate) async fn the_days_of_the_daily_puzzle_are_kept_for_a_year<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    for day in [20_000, 20_003, 20_003, 20_399] {
        write(&*store, Write::SolveDaily { player: player_id("Ada"), day }).await.unwrap();
    }
    let days = |name: &str, since| {
        let (store, player) = (store.clone(), player_id(name));
        async move { store.puzzle_days(&player, since).await.unwrap() }
    };
    assert_eq!(days("Ada", 0).await, [20_000, 20_003, 20_399]);
    assert_eq!(days("Ada", 20_001).await, [20_003, 20_399]);
    assert_eq!(days("Bob", 0).await, [0; 0]);
    write(&*store, Write::SolveDaily { player: player_id("Ada"), day: 20_401 }).await.unwrap();
    assert_eq!(days("Ada", 0).await, [20_003, 20_399, 20_401], "400 days, and no more");
}

pub(crate) async fn the_best_run_of_each_account_stands_on_the_board<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    let guest = player("guest-abc123", PlayerKind::Guest);
    write(&*store, Write::AddPlayer { player: guest, password: None }).await.unwrap();
    let note = |name: &str, day, solved, ms| {
        let (player, kind) = (player_id(name), RushKind::Minutes);
        Write::NoteRush(RushResult { player, kind, day, solved, at: after_noon(ms) })
    };
    for (name, day, solved, ms) in [
        ("Ada", 90, 30, 1),
        ("Ada", 91, 12, 2),
        ("Ada", 100, 20, 3),
        ("Bob", 100, 25, 4),
        ("Bob", 100, 24, 5),
        ("Eve", 100, 20, 2),
        ("Ada", 101, 5, 6),
    ] {
        write(&*store, note(name, day, solved, ms)).await.unwrap();
    }
    for nobody in ["nobody", "guest-abc123"] {
        assert_eq!(write(&*store, note(nobody, 100, 9, 9)).await, Err(Refused::NoSuchPlayer));
    }
    let board = |kind, since, limit, of: Option<&str>| {
        let (store, of) = (store.clone(), of.map(player_id));
        async move {
            let places =
                store.rush_board(&RushBoard { kind, since, limit, of, now: after_noon(9) }).await.unwrap();
            let row = |place: &RushPlace| format!("{} {} {}", place.rank, place.name, place.solved);
            places.iter().map(row).collect::<Vec<_>>().join(", ")
        }
    };
    let minutes = RushKind::Minutes;
    assert_eq!(board(minutes, 0, 9, None).await, "1 Ada 30, 2 Bob 25, 3 Eve 20");
    assert_eq!(board(minutes, 91, 9, None).await, "1 Bob 25, 2 Eve 20, 3 Ada 20", "that of day 91 is gone");
    assert_eq!(board(minutes, 100, 1, Some("Ada")).await, "1 Bob 25, 3 Ada 20");
    assert_eq!(board(minutes, 101, 9, Some("Bob")).await, "1 Ada 5");
    assert_eq!(board(RushKind::Lives, 0, 9, None).await, "");
    for (until, listed) in [
        (None, "1 Ada 30, 2 Eve 20"),
        (Some(after_noon(10)), "1 Ada 30, 2 Eve 20"),
        (Some(after_noon(9)), "1 Ada 30, 2 Bob 25, 3 Eve 20"),
        (None, "1 Ada 30, 2 Eve 20"),
    ] {
        let (player, kind) = (player_id("Bob"), MeasureKind::Ban { until });
        let ban = Measure { player, kind, because: because("a test") };
        write(&*store, Write::TakeMeasure(ban)).await.unwrap();
        assert_eq!(board(minutes, 0, 9, None).await, listed, "a ban that has run out is none: {until:?}");
    }
    let gone = Write::Retire { player: player_id("Ada"), name: "gone-1".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    assert_eq!(board(minutes, 0, 9, None).await, "1 Eve 20");
}

pub(crate) async fn whoever_leaves_takes_attempts_and_streak_along<F: Fixture>() {
    let fixture = three_games::<F>().await;
    let store = fixture.store();
    add(&*store, vec![puzzle("a", 0)], 9).await;
    for name in ["Ada", "Bob"] {
        let player = player_id(name);
        let attempt = PuzzleTry {
            player: player.clone(),
            puzzle: "a".parse().unwrap(),
            result: TryResult::Solved,
            level: 900,
            at: NOON,
        };
        write(&*store, Write::TryPuzzle(attempt)).await.unwrap();
        write(&*store, Write::SolveDaily { player, day: 1 }).await.unwrap();
    }
    let gone = Write::Retire { player: player_id("Ada"), name: "gone-1".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    assert_eq!(store.puzzle_tries(&player_id("Ada")).await.unwrap(), []);
    assert_eq!(store.puzzle_streak(&player_id("Ada")).await.unwrap(), Streak::default());
    assert_eq!(store.puzzle_tries(&player_id("Bob")).await.unwrap().len(), 1);
    assert_eq!(store.puzzles().await.unwrap()[0].record, TryRecord { tries: 2, levels: 1_800, solved: 2 });
}
