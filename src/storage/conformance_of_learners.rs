//! The part of the suite for all back ends that is about learners.

use super::conformance::{
    FIRST_WINS, FIRST_WINS_TOO, Fixture, NOON, add, add_players, after_noon, play, player, player_id, spec,
    whole_game,
};
use super::forgetting::Forgetting;
use super::lessons::{CurvePoint, LearnerPlace, LearnerStep, Lesson, StepKind, StoredLearner, StoredVersion};
use super::record::{EventKind, StoredEvent, StoredPlayer};
use super::store::{Refused, Store, Teaching, Write, Written};
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;
use crate::model::rating::elo::MilliElo;
use crate::model::result::{EndReason, GameResult};

/// Makes a test of each check.
macro_rules! conformance_of_learners {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_learners:
            a_learner_is_read_back_as_it_was_written,
            a_step_must_begin_where_the_learner_stands,
            a_withdrawn_game_makes_those_stale_who_learnt_it,
            a_learner_that_is_to_be_made_again_is_stale,
            whoever_keeps_out_is_forgotten,
            versions_are_frozen_once_and_measured_later,
            points_of_a_curve_are_rated_and_measured_in_any_order,
            points_that_lie_beyond_what_is_left_go,
            learners_survive_reopening,
            old_games_lose_what_they_have_beside_their_moves,
        );
    };
}
pub(crate) use conformance_of_learners;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().pop().unwrap()
}

fn name(text: &str) -> PlayerName {
    text.parse().unwrap()
}

fn lesson(number: u64) -> Lesson {
    Lesson { number, changes: format!("what game {number} changed") }
}

fn place(covered: u64, revision: u64) -> LearnerPlace {
    LearnerPlace { covered, revision }
}

/// A step that learns the games after its beginning, up to `covered`.
fn follow(learner: &str, from: LearnerPlace, covered: u64) -> LearnerStep {
    LearnerStep {
        name: name(learner),
        spec: "memory".into(),
        from,
        kind: StepKind::Follow((from.covered + 1..=covered).map(lesson).collect()),
        covered,
        games: covered,
        state: vec![u8::try_from(covered).unwrap(); 3],
        versions: Vec::new(),
        point: None,
    }
}

async fn step(store: &dyn Store, step: LearnerStep) -> Result<Written, Refused> {
    write(store, Write::StepLearner(Box::new(step))).await
}

/// Four games: 1 and 3 of Ada and Bob, 2 and 4 of Eve and Bob.
async fn four_games<F: Fixture>() -> F {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    for (id, first, moves) in [
        ("g1", "Ada", FIRST_WINS),
        ("g2", "Eve", FIRST_WINS),
        ("g3", "Ada", FIRST_WINS_TOO),
        ("g4", "Eve", FIRST_WINS_TOO),
    ] {
        play(&*store, spec(id, first, "Bob"), moves, GameResult::First, EndReason::Four).await;
    }
    fixture
}

async fn numbers(store: &dyn Store, learner: &str) -> Vec<u64> {
    let lessons = store.lessons(&name(learner), 0, 100).await.unwrap();
    lessons.into_iter().map(|lesson| lesson.number).collect()
}

pub(crate) async fn a_learner_is_read_back_as_it_was_written<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    assert_eq!(store.learner(&name("memory")).await.unwrap(), None);
    let point = CurvePoint { games: 3, rating: Some(MilliElo(1_400_001)), decision: None, at: NOON };
    let first = LearnerStep { point: Some(point), ..follow("memory", place(0, 0), 3) };
    step(&*store, first).await.unwrap();
    step(&*store, follow("memory", place(3, 0), 4)).await.unwrap();
    let expected = StoredLearner {
        name: name("memory"),
        spec: "memory".into(),
        place: place(4, 0),
        games: 4,
        stale: false,
        state: vec![4; 3],
    };
    assert_eq!(store.learner(&name("MEMORY")).await.unwrap(), Some(expected));
    assert_eq!(store.lessons(&name("memory"), 1, 2).await.unwrap(), [lesson(2), lesson(3)]);
    assert_eq!(store.last_lessons(&name("memory"), 2).await.unwrap(), [lesson(4), lesson(3)]);
    assert_eq!(store.lesson_count(&name("MEMORY"), 3).await.unwrap(), 3);
    assert_eq!(store.lesson_count(&name("other"), 9).await.unwrap(), 0);
    assert_eq!(store.learner_curve(&name("memory")).await.unwrap(), [point]);
    assert_eq!(store.lessons(&name("other"), 0, 9).await.unwrap(), []);
    assert_eq!(store.learner_versions(&name("other")).await.unwrap(), []);
    assert_eq!(store.learner_curve(&name("other")).await.unwrap(), []);
}

pub(crate) async fn a_step_must_begin_where_the_learner_stands<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    let elsewhere = Err(Refused::LearnerElsewhere);
    assert_eq!(step(&*store, follow("memory", place(1, 0), 2)).await, elsewhere, "there is none yet");
    step(&*store, follow("memory", place(0, 0), 2)).await.unwrap();
    assert_eq!(step(&*store, follow("memory", place(0, 0), 3)).await, elsewhere, "twice");
    assert_eq!(step(&*store, follow("memory", place(3, 0), 4)).await, elsewhere, "a gap");
    let doubled = LearnerStep { kind: StepKind::Follow(vec![lesson(2)]), ..follow("memory", place(2, 0), 3) };
    assert_eq!(step(&*store, doubled).await, elsewhere, "a game that was learnt");
    assert_eq!(numbers(&*store, "memory").await, [1, 2]);
    assert_eq!(store.learner(&name("memory")).await.unwrap().unwrap().state, [2; 3]);
}

pub(crate) async fn a_withdrawn_game_makes_those_stale_who_learnt_it<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    step(&*store, follow("memory", place(0, 0), 4)).await.unwrap();
    let other = LearnerStep { kind: StepKind::Follow(vec![lesson(1)]), ..follow("other", place(0, 0), 4) };
    step(&*store, other).await.unwrap();
    let game = "g2".parse().unwrap();
    write(&*store, Write::WithdrawLesson { game }).await.unwrap();
    assert_eq!(numbers(&*store, "memory").await, [1, 3, 4]);
    assert_eq!(store.lesson_count(&name("memory"), 3).await.unwrap(), 2);
    let learner = |text: &'static str| {
        let store = &store;
        async move { store.learner(&name(text)).await.unwrap().unwrap() }
    };
    let stale = learner("memory").await;
    assert_eq!((stale.stale, stale.place), (true, place(4, 1)));
    assert_eq!((learner("other").await.stale, learner("other").await.place), (false, place(4, 1)));

    let late = follow("memory", place(4, 0), 4);
    assert_eq!(step(&*store, late).await, Err(Refused::LearnerElsewhere), "it began before");
    let stuck = LearnerStep { kind: StepKind::Follow(Vec::new()), ..follow("memory", place(4, 1), 4) };
    assert_eq!(step(&*store, stuck).await, Err(Refused::LearnerElsewhere), "it must be folded again");
    let refold =
        LearnerStep { kind: StepKind::Refold, games: 3, state: vec![7], ..follow("memory", place(4, 1), 4) };
    step(&*store, refold).await.unwrap();
    let fresh = learner("memory").await;
    assert_eq!((fresh.stale, fresh.games, fresh.state), (false, 3, vec![7]));
    assert_eq!(numbers(&*store, "memory").await, [1, 3, 4]);

    let unknown = Write::WithdrawLesson { game: "g9".parse().unwrap() };
    assert_eq!(write(&*store, unknown).await, Err(Refused::NoSuchGame));
}

pub(crate) async fn a_learner_that_is_to_be_made_again_is_stale<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    for learner in ["memory", "other"] {
        step(&*store, follow(learner, place(0, 0), 4)).await.unwrap();
    }
    let remake =
        |learner, revision| write(&*store, Write::RemakeLearner { learner: name(learner), revision });
    remake("Memory", 0).await.unwrap();
    let learner = store.learner(&name("memory")).await.unwrap().unwrap();
    assert_eq!((learner.stale, learner.place), (true, place(4, 1)));
    assert_eq!(numbers(&*store, "memory").await, [1, 2, 3, 4], "its lessons stay");
    let mut of_game = store.lessons_of_game(3).await.unwrap();
    of_game.sort();
    let changes = || lesson(3).changes;
    assert_eq!(of_game, [(name("memory"), changes()), (name("other"), changes())]);
    assert_eq!(store.lessons_of_game(5).await.unwrap(), []);
    let other = store.learner(&name("other")).await.unwrap().unwrap();
    assert_eq!((other.stale, other.place), (false, place(4, 0)));
    assert_eq!(remake("memory", 0).await, Err(Refused::LearnerElsewhere), "it was marked meanwhile");
    assert_eq!(remake("nobody", 0).await, Err(Refused::NoSuchVersion));
}

pub(crate) async fn whoever_keeps_out_is_forgotten<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    step(&*store, follow("memory", place(0, 0), 4)).await.unwrap();
    let eve = player_id("Eve");
    assert_eq!(store.teaching(&eve).await.unwrap(), Teaching::Allowed);
    let set = |teaching| Write::SetTeaching { player: player_id("Eve"), teaching };
    write(&*store, set(Teaching::KeptOut)).await.unwrap();
    assert_eq!(store.teaching(&eve).await.unwrap(), Teaching::KeptOut);
    assert_eq!(store.teaching(&player_id("Bob")).await.unwrap(), Teaching::Allowed);
    assert_eq!(numbers(&*store, "memory").await, [1, 3]);
    assert!(store.learner(&name("memory")).await.unwrap().unwrap().stale);
    write(&*store, set(Teaching::Allowed)).await.unwrap();
    assert_eq!(store.teaching(&eve).await.unwrap(), Teaching::Allowed);
    assert_eq!(numbers(&*store, "memory").await, [1, 3], "what was forgotten does not come back");

    let bot = StoredPlayer { owner: Some(player_id("Ada")), ..player("adabot", PlayerKind::Bot) };
    store.commit(&[add(bot)]).await.unwrap().pop().unwrap().unwrap();
    play(&*store, spec("g5", "adabot", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    play(&*store, spec("g6", "Eve", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    step(&*store, follow("other", place(0, 0), 6)).await.unwrap();
    let set = |teaching| Write::SetTeaching { player: player_id("Ada"), teaching };
    write(&*store, set(Teaching::KeptOut)).await.unwrap();
    assert_eq!(
        store.teaching(&player_id("adabot")).await.unwrap(),
        Teaching::KeptOut,
        "it speaks for its bots"
    );
    assert_eq!(numbers(&*store, "other").await, [2, 4, 6]);
    write(&*store, set(Teaching::Allowed)).await.unwrap();
    assert_eq!(store.teaching(&player_id("adabot")).await.unwrap(), Teaching::Allowed);

    let nobody = Write::SetTeaching { player: player_id("nobody"), teaching: Teaching::KeptOut };
    assert_eq!(write(&*store, nobody).await, Err(Refused::NoSuchPlayer));
}

pub(crate) async fn versions_are_frozen_once_and_measured_later<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    let version = |mark, ms| StoredVersion {
        mark,
        games: mark,
        covered: mark,
        state: vec![u8::try_from(mark).unwrap()],
        frozen_at: after_noon(ms),
        decision: None,
    };
    let freeze = |from, covered, versions| LearnerStep { versions, ..follow("memory", from, covered) };
    step(&*store, freeze(place(0, 0), 2, vec![version(0, 1), version(2, 1)])).await.unwrap();
    let measure = |learner, mark| Write::MeasureVersion { learner: name(learner), mark, decision: 612 };
    write(&*store, measure("memory", 2)).await.unwrap();
    let measured = StoredVersion { decision: Some(612), ..version(2, 1) };
    let versions = store.learner_versions(&name("memory")).await.unwrap();
    assert_eq!(versions, [version(0, 1), measured]);
    for (learner, mark) in [("memory", 3), ("other", 2)] {
        assert_eq!(write(&*store, measure(learner, mark)).await, Err(Refused::NoSuchVersion));
    }
    // Folded again it is another state, frozen when the first one was, and to be measured again.
    let again = StoredVersion { games: 1, state: vec![9], ..version(2, 50) };
    step(&*store, freeze(place(2, 0), 3, vec![again.clone()])).await.unwrap();
    let versions = store.learner_versions(&name("memory")).await.unwrap();
    assert_eq!(versions[1], StoredVersion { frozen_at: after_noon(1), ..again });
}

pub(crate) async fn points_of_a_curve_are_rated_and_measured_in_any_order<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    let measure = |learner, games, decision| Write::MeasurePoint {
        learner: name(learner),
        games,
        decision,
        at: after_noon(5),
    };
    let nobody = write(&*store, measure("memory", 2, 500)).await;
    assert_eq!(nobody, Err(Refused::NoSuchVersion));
    let rated = |games| CurvePoint { games, rating: Some(MilliElo(1_400_000)), decision: None, at: NOON };
    let first = LearnerStep { point: Some(rated(2)), ..follow("memory", place(0, 0), 2) };
    step(&*store, first).await.unwrap();
    for (games, decision) in [(2, 500), (4, 610), (4, 620)] {
        write(&*store, measure("memory", games, decision)).await.unwrap();
    }
    let second = LearnerStep { point: Some(rated(4)), ..follow("memory", place(2, 0), 4) };
    step(&*store, second).await.unwrap();
    let expected =
        [(2, 500), (4, 620)].map(|(games, decision)| CurvePoint { decision: Some(decision), ..rated(games) });
    assert_eq!(store.learner_curve(&name("MEMORY")).await.unwrap(), expected);
}

pub(crate) async fn points_that_lie_beyond_what_is_left_go<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    let point = |games| CurvePoint { games, rating: None, decision: Some(500), at: NOON };
    for learner in ["memory", "other"] {
        let first = LearnerStep { point: Some(point(2)), ..follow(learner, place(0, 0), 2) };
        step(&*store, first).await.unwrap();
        for covered in [3, 4] {
            let next = LearnerStep {
                point: Some(point(covered)),
                ..follow(learner, place(covered - 1, 0), covered)
            };
            step(&*store, next).await.unwrap();
        }
    }
    let refold = LearnerStep { kind: StepKind::Refold, games: 3, ..follow("memory", place(4, 0), 4) };
    step(&*store, refold).await.unwrap();
    assert_eq!(store.learner_curve(&name("memory")).await.unwrap(), [point(2), point(3)]);
    assert_eq!(store.learner_curve(&name("other")).await.unwrap().len(), 3, "its own are left alone");
}

pub(crate) async fn learners_survive_reopening<F: Fixture>() {
    let fixture = four_games::<F>().await;
    let store = fixture.store();
    step(&*store, follow("memory", place(0, 0), 4)).await.unwrap();
    let before = store.learner(&name("memory")).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.learner(&name("memory")).await.unwrap(), before);
    assert_eq!(numbers(&*store, "memory").await, [1, 2, 3, 4]);
}

/// What bots thought at the moves of a game.
async fn notes(store: &dyn Store, game: &str) -> usize {
    let game = store.game(&game.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(game.moves(), FIRST_WINS, "the moves stay");
    let is_noted =
        |event: &&StoredEvent| matches!(&event.kind, EventKind::Move(played) if played.info.is_some());
    game.events.iter().filter(is_noted).count()
}

pub(crate) async fn old_games_lose_what_they_have_beside_their_moves<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    for name in ["six", "random"] {
        let bot = StoredPlayer { house: true, ..player(name, PlayerKind::Bot) };
        write(&*store, add(bot)).await.unwrap();
    }
    // The second is of a person; the third ended an hour later.
    for (id, first, hours) in [("g1", "six", 0), ("g2", "Ada", 0), ("g3", "six", 1)] {
        let mut events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
        for event in &mut events {
            event.at = after_noon(hours * 3_600_000);
            if let EventKind::Move(played) = &mut event.kind {
                played.info = Some("a note".into());
            }
        }
        let game = id.parse().unwrap();
        let writes = [Write::StartGame(spec(id, first, "random")), Write::Finish { game, events }];
        assert!(store.commit(&writes).await.unwrap().iter().all(Result::is_ok));
    }
    step(&*store, follow("hal", LearnerPlace::default(), 3)).await.unwrap();
    let forget = async |lessons: bool, notes: bool, games| {
        let before = Some(after_noon(60_000));
        let forgetting = Forgetting {
            lessons_before: before.filter(|_| lessons),
            notes_before: before.filter(|_| notes),
            games,
        };
        write(&*store, Write::Forget(forgetting)).await.unwrap();
        let done = store.forgotten().await.unwrap();
        (done.lessons, done.notes)
    };
    let texts = async || {
        let lessons = store.lessons(&name("hal"), 0, 9).await.unwrap();
        lessons.into_iter().map(|lesson| lesson.changes).collect::<Vec<_>>()
    };
    assert_eq!(forget(false, false, 9).await, (0, 0));
    assert_eq!((texts().await.len(), notes(&*store, "g1").await), (3, 7));
    assert_eq!(forget(true, false, 1).await, (1, 0));
    assert_eq!(texts().await, ["", "what game 2 changed", "what game 3 changed"], "the game stays learnt");
    assert_eq!(forget(true, true, 9).await, (2, 2), "the third is too young");
    assert_eq!(texts().await, ["", "", "what game 3 changed"]);
    let left = [notes(&*store, "g1").await, notes(&*store, "g2").await, notes(&*store, "g3").await];
    assert_eq!(left, [0, 7, 7], "what was thought against a person stays");
    assert_eq!(forget(true, true, 9).await, (2, 2));
    drop(store);
    let fixture = fixture.reopen().await;
    let done = fixture.store().forgotten().await.unwrap();
    assert_eq!((done.lessons, done.notes), (2, 2));
}
