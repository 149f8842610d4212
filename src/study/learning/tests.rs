mod remaking;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::review::Skill;
use fourfold_engine::{BySide, Variant};
use tokio_util::sync::CancellationToken;

use super::changes::Changes;
use super::deps::{LearningDeps, LearningSettings};
use super::fold::refold;
use super::lesson_history::{LessonsWanted, last_lessons};
use super::service::LearningActor;
use super::verify::{Remedy, verify};
use super::{Learning, plans};
use crate::analysis::background::{MoreWork, Worker};
use crate::analysis::compute::ComputePool;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};
use crate::play::house::HouseBots;
use crate::storage::conformance::{add, add_players, player, player_id, spec, whole_game};
use crate::storage::judgements::{Judgement, JudgingStep};
use crate::storage::lessons::LearnerStore;
use crate::storage::lessons::{LearnerStep, Lesson, StepKind};
use crate::storage::people::PeopleStore;
use crate::storage::puzzles::Harvest;
use crate::storage::ratings::RatingStore;
use crate::storage::record::{GameSpec, StoredPlayer};
use crate::storage::store::{Store, Teaching, Write};
use crate::storage::writer::WriterActor;
use crate::storage::{MemoryStore, Writer};
use crate::system::config::{HouseBotConfig as Configured, ProgramsConfig};
use crate::system::metrics::Metrics;
use crate::system::supervision::Supervision;

/// A store that several learning services use one after the other, as after restarts.
struct Arena {
    store: Arc<MemoryStore>,
    writer: Writer,
    settings: LearningSettings,
    metrics: Arc<Metrics>,
    games: u32,
}

fn name(text: &str) -> PlayerName {
    text.parse().unwrap()
}

impl Arena {
    async fn new(marks: &[u64], practice_games: u64) -> Self {
        let store = Arc::new(MemoryStore::new());
        let (writer, actor) = Writer::new(Arc::clone(&store) as Arc<dyn Store>);
        tokio::spawn(actor.run());
        add_players(&*store, &["Ada", "Bob"]).await;
        let settings = LearningSettings {
            cpu_percent: 100,
            marks: marks.iter().copied().collect(),
            accuracy_min: 0,
            practice_games,
            practice_pause: Duration::ZERO,
            teachers: vec![name("greedy"), name("nobody")],
        };
        Self { store, writer, settings, metrics: Arc::new(Metrics::new()), games: 0 }
    }

    /// Starts a service on what is stored.
    async fn learners(&self) -> (Learning, LearningActor) {
        let greedy = Configured::new(name("greedy"), "greedy".parse().unwrap());
        let (bots, programs) = ([greedy], ProgramsConfig::default());
        let house = HouseBots::set_up(&bots, &programs, Path::new(""), &*self.store, &self.writer);
        let house = house.await.unwrap();
        let learning = Learning::default();
        let deps = LearningDeps {
            store: Arc::clone(&self.store) as Arc<dyn Store>,
            writer: self.writer.clone(),
            house,
            pool: ComputePool::new(1),
            metrics: Arc::clone(&self.metrics),
            supervision: Supervision::new(Arc::clone(&self.metrics)),
            learning: learning.clone(),
            settings: self.settings.clone(),
        };
        (learning, LearningActor::new(deps).await.unwrap())
    }

    /// Lets the learners go on until nothing is new.
    async fn learn(&self) -> Learning {
        let (learning, mut learners) = self.learners().await;
        while learners.round().await == MoreWork::Perhaps {}
        learners.save().await;
        learning
    }

    /// Finishes a game of two players; each is another one.
    async fn play(&mut self, first: PlayerId, second: PlayerId) {
        const GAMES: [(&str, GameResult); 4] = [
            ("1212121", GameResult::First),
            ("3747576", GameResult::First),
            ("44453525", GameResult::Second),
            ("123452627", GameResult::First),
        ];
        self.games += 1;
        let (moves, result) = GAMES[self.games as usize % GAMES.len()];
        let spec =
            GameSpec { players: BySide { first, second }, ..spec(&format!("g{}", self.games), "Ada", "Bob") };
        let finish =
            Write::Finish { game: spec.id.clone(), events: whole_game(moves, result, EndReason::Resign) };
        for answer in self.store.commit(&[Write::StartGame(spec), finish]).await.unwrap() {
            answer.unwrap();
        }
        // The writer was not asked, so it did not tell.
        self.writer.finished().ask_for_the_last().await.unwrap();
    }

    /// From here on nothing is written until what is returned runs.
    fn hold_writer(&mut self) -> WriterActor {
        let (writer, actor) = Writer::new(Arc::clone(&self.store) as Arc<dyn Store>);
        self.writer = writer;
        actor
    }

    async fn learner_id(&self, learner: &str) -> PlayerId {
        self.store.player_by_name(&name(learner)).await.unwrap().unwrap().id
    }

    async fn state(&self, learner: &str) -> Vec<u8> {
        self.store.learner(&name(learner)).await.unwrap().unwrap().state
    }

    async fn games_learnt(&self, learner: &str) -> u64 {
        self.store.learner(&name(learner)).await.unwrap().unwrap().games
    }

    /// The judge says this about the games after `from`.
    async fn judge(&self, from: u64, games: Vec<(u64, Judgement)>) {
        let harvest = Harvest { puzzles: Vec::new(), keep: 0 };
        let step = JudgingStep { harvest, ..JudgingStep::in_order(from, games) };
        self.writer.write(Write::StepJudging(Box::new(step))).await.unwrap();
    }

    async fn check_sound(&self) {
        for report in verify(&*self.store).await.unwrap() {
            assert_eq!(report.findings, [] as [&str; 0], "{report}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_game_is_learnt_once_over_any_number_of_starts() {
    let mut arena = Arena::new(&[0, 5], 0).await;
    arena.learn().await;
    let memory = arena.learner_id("memory").await;
    let house: PlayerId = arena.learner_id("greedy").await;
    for game in 0..20 {
        arena.play(memory.clone(), house.clone()).await;
        arena.play(house.clone(), arena.learner_id("memory-windows").await).await;
        if game % 3 == 0 {
            arena.learn().await;
        }
    }
    let learning = arena.learn().await;
    assert_eq!(arena.games_learnt("memory").await, 20, "its own");
    assert_eq!(arena.games_learnt("memory-spectator").await, 40, "all");
    assert_eq!(learning.learner(&name("memory-windows")).unwrap().games, 40);
    arena.check_sound().await;

    // One service that never stopped knows the same.
    let cut = arena.state("memory-spectator").await;
    let worker = Worker::start("learning", 100, None).unwrap();
    let plan = plans().remove(1);
    let id = arena.learner_id("memory-spectator").await;
    let (fold, _) = refold(&*arena.store, &worker, &plan, &id, &BTreeSet::new(), u64::MAX).await.unwrap();
    assert_eq!(fold.state(), cut);
}

#[tokio::test(start_paused = true)]
async fn lessons_say_at_which_moves_a_learner_would_choose_otherwise() {
    let mut arena = Arena::new(&[0], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..6 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    arena.learn().await;
    for (learner, sides) in [("memory", 1), ("memory-windows", 2), ("ntuple-live", 2)] {
        let lessons = arena.store.last_lessons(&name(learner), 10).await.unwrap();
        let noted =
            lessons.iter().map(|lesson| Changes::parse(&lesson.changes).changed_moves.expect("noted"));
        let changed_moves: Vec<_> = noted.flatten().collect();
        let of_sides: BTreeSet<usize> = changed_moves.iter().map(|it| it.ply % 2).collect();
        assert_eq!(of_sides.len(), sides, "{learner}: {changed_moves:?}");
        assert!(changed_moves.iter().all(|it| it.before != it.after), "{learner}: {changed_moves:?}");
    }
    let history = last_lessons(&*arena.store, &name("memory"), LessonsWanted { newest: 1, changed_moves: 3 })
        .await
        .unwrap();
    assert_eq!(history[0].number, 6, "the newest, whatever it changed");
    assert!(history.iter().skip(1).all(|taught| !taught.changes.turns().is_empty()));
    assert!(history.is_sorted_by(|one, other| one.number > other.number));
    let newest = last_lessons(&*arena.store, &name("memory"), LessonsWanted { newest: 2, changed_moves: 0 })
        .await
        .unwrap();
    assert_eq!(newest.iter().map(|taught| taught.number).collect::<Vec<_>>(), [6, 5]);
}

#[tokio::test(start_paused = true)]
async fn versions_are_frozen_at_their_marks_and_join_the_house() {
    let mut arena = Arena::new(&[0, 2, 7], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..5 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    let learning = arena.learn().await;
    let view = learning.learner(&name("memory")).unwrap();
    let names: Vec<&str> = view.versions.iter().map(|version| version.name.as_str()).collect();
    assert_eq!(names, ["memory@0", "memory@2"]);
    let (again, learners) = arena.learners().await;
    assert_eq!(again.learner(&name("memory")).unwrap().versions.len(), 2, "after a restart too");
    assert!(again.knows(&arena.learner_id("memory@2").await));
    drop(learners);
    let versions = arena.store.learner_versions(&name("memory")).await.unwrap();
    assert_ne!(versions[0].state, versions[1].state);
    assert_ne!(versions[1].state, arena.state("memory").await);
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn one_player_cannot_teach_alone() {
    let mut arena = Arena::new(&[], 0).await;
    arena.learn().await;
    let guest = player("guest-abc", PlayerKind::Guest);
    arena.store.commit(&[add(guest.clone())]).await.unwrap();
    let memory = arena.learner_id("memory").await;
    for _ in 0..40 {
        arena.play(memory.clone(), player_id("Ada")).await;
        arena.play(memory.clone(), guest.id.clone()).await;
    }
    arena.learn().await;
    assert_eq!(arena.games_learnt("memory").await, 50, "25 of Ada, 25 of guests");
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_that_makes_a_learner_panic_is_found_and_left_out() {
    let mut arena = Arena::new(&[], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..5 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    let (_, mut learners) = arena.learners().await;
    learners.choke(&name("memory"), 3);
    for _ in 0..4 {
        while learners.round().await == MoreWork::Perhaps {}
        tokio::time::sleep(Duration::from_mins(2)).await;
    }
    learners.save().await;
    assert_eq!(arena.games_learnt("memory").await, 4, "all but one");
    assert_eq!(arena.games_learnt("memory-spectator").await, 5);
    let text = arena.metrics.text();
    for line in ["panics_total{part=\"learners\"} 2\n", "set_aside_total{part=\"learners\"} 1\n"] {
        assert!(text.contains(line), "{text}");
    }
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_learner_does_not_hold_up_the_others() {
    let mut arena = Arena::new(&[0], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    arena.play(memory.clone(), greedy.clone()).await;
    arena.learn().await;
    // A state that cannot be read, and cannot be made again: one of its lessons is about no game.
    let place = arena.store.learner(&name("memory")).await.unwrap().unwrap().place;
    let step = LearnerStep {
        name: name("memory"),
        spec: "memory".into(),
        from: place,
        kind: StepKind::Follow(vec![Lesson { number: 77, changes: String::new() }]),
        covered: 77,
        games: 2,
        state: b"rubbish".to_vec(),
        versions: Vec::new(),
        point: None,
    };
    arena.writer.write(Write::StepLearner(Box::new(step))).await.unwrap();
    let (learning, mut learners) = arena.learners().await;
    arena.play(memory, greedy).await;
    let began = tokio::time::Instant::now();
    while learners.round().await == MoreWork::Perhaps {}
    assert!(began.elapsed() < Duration::from_secs(10), "nobody waits for it: {:?}", began.elapsed());
    for watching in ["memory-spectator", "memory-windows", "ntuple-live"] {
        assert_eq!(learning.learner(&name(watching)).unwrap().games, 2, "{watching}");
    }
    assert_eq!(arena.state("memory").await, b"rubbish", "nothing is thrown away");
    drop(learners);

    // The others practise, and not with it.
    arena.settings.practice_games = 8;
    let (learning, mut learners) = arena.learners().await;
    let taught = |who: &str| learning.learner(&name(who)).unwrap().games;
    for _ in 0..200 {
        learners.round().await;
    }
    for watching in ["memory-spectator", "memory-windows", "ntuple-live"] {
        assert!(taught(watching) >= 8, "{watching}");
    }
    let played = arena.store.ratings_of(&arena.learner_id("memory").await).await.unwrap();
    assert_eq!(played[0].1.standing.games, 2, "those that were played anyway");
}

#[tokio::test(start_paused = true)]
async fn practice_brings_every_learner_up_and_rates_its_versions() {
    let arena = Arena::new(&[0, 3], 6).await;
    let (learning, mut learners) = arena.learners().await;
    while learning.all().iter().any(|learner| learner.games < 6) {
        assert_eq!(learners.round().await, MoreWork::Perhaps, "there is something to practise");
    }
    for learner in learning.all() {
        assert_eq!(learner.versions.len(), 2, "{}", learner.name);
    }
    learners.save().await;
    let memory = arena.learner_id("memory").await;
    let rating = arena.store.rating(&memory, Variant::STANDARD).await.unwrap();
    assert!(rating.unwrap().standing.games >= 6);
    arena.check_sound().await;
}

/// Practice games after which four learners have 60 rated ones each, in two of which both may be learners.
const PRACTICE_MAX: u32 = 500;

#[tokio::test(start_paused = true)]
async fn nobody_is_busy_when_practice_is_over() {
    let arena = Arena::new(&[], 6).await;
    let (_, mut learners) = arena.learners().await;
    let mut rounds = 0;
    while learners.round().await == MoreWork::Perhaps {
        rounds += 1;
        assert!(rounds < PRACTICE_MAX, "it comes to an end");
    }
    let began = tokio::time::Instant::now();
    let mut rounds = 0;
    while began.elapsed() < Duration::from_secs(20) && rounds < 1_000 {
        let round = tokio::time::Instant::now();
        if learners.round().await == MoreWork::No {
            tokio::time::sleep_until(learners.due(round).expect("somebody may be due later")).await;
        }
        rounds += 1;
    }
    assert!((2..=20).contains(&rounds), "{rounds} rounds in 20 seconds");

    // Nor when the writer is congested and the next look is overdue.
    tokio::time::sleep(Duration::from_mins(1)).await;
    while !arena.writer.is_congested() {
        let nobody = "nobody".parse().unwrap();
        arena.writer.submit(Write::WithdrawLesson { game: nobody }, |_| {});
    }
    let began = tokio::time::Instant::now();
    assert_eq!(learners.round().await, MoreWork::No);
    assert!(learners.due(began).unwrap() > tokio::time::Instant::now());
}

#[tokio::test(start_paused = true)]
async fn versions_are_measured_once_and_the_live_one_as_it_learns() {
    let mut arena = Arena::new(&[0, 3], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..6 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    let learning = arena.learn().await;
    for learner in learning.all() {
        let decided: Vec<_> = learner.versions.iter().map(|version| version.decision).collect();
        assert!(matches!(decided[..], [Some(200..), Some(200..)]), "{}: {decided:?}", learner.name);
        let curve = arena.store.learner_curve(&learner.name).await.unwrap();
        let last = curve.iter().rev().find_map(|point| point.decision);
        assert_eq!(learner.decision, last);
        assert!(last.is_some(), "{}", learner.name);
    }
    let (again, _) = arena.learners().await;
    let of = |learning: &Learning| learning.learner(&name("memory")).unwrap().decision;
    assert_eq!(of(&again), of(&learning), "known after a restart");
}

#[tokio::test(start_paused = true)]
async fn a_large_state_is_stored_now_and_then_and_every_lesson_counts_once() {
    let mut arena = Arena::new(&[0], 0).await;
    arena.learn().await;
    let (ada, bob) = (player_id("Ada"), player_id("Bob"));
    let (learning, mut learners) = arena.learners().await;
    let known = || learning.learner(&name("ntuple-live")).unwrap().games;
    arena.play(ada.clone(), bob.clone()).await;
    while learners.round().await == MoreWork::Perhaps {}
    assert_eq!((known(), arena.games_learnt("ntuple-live").await), (1, 1), "the first time at once");
    arena.play(bob.clone(), ada.clone()).await;
    while learners.round().await == MoreWork::Perhaps {}
    assert_eq!((known(), arena.games_learnt("ntuple-live").await), (2, 1), "shown, but not stored yet");
    let counted = "fourfold_lessons_total{learner=\"ntuple-live\"} 1\n";
    assert!(arena.metrics.text().contains(counted), "nor counted: {}", arena.metrics.text());
    drop(learners); // as by a power cut
    let learning = arena.learn().await;
    assert_eq!(learning.learner(&name("ntuple-live")).unwrap().games, 2);
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_thousand_lessons_wait_to_be_stored_at_most() {
    const GAMES: u64 = 1_100;
    // Whole turns of 64 games.
    const FULL: u64 = 1_024;
    let mut arena = Arena::new(&[0], 0).await;
    arena.learn().await;
    let (ada, greedy) = (arena.learner_id("memory-windows").await, arena.learner_id("greedy").await);
    let (_, mut learners) = arena.learners().await;
    arena.play(ada.clone(), greedy.clone()).await;
    while learners.round().await == MoreWork::Perhaps {}
    assert_eq!(arena.games_learnt("ntuple-live").await, 1, "so the next ones wait");
    for _ in 0..GAMES {
        arena.play(ada.clone(), greedy.clone()).await;
    }
    while learners.round().await == MoreWork::Perhaps {}
    assert_eq!(arena.games_learnt("ntuple-live").await, 1 + FULL);
    learners.save().await;
    drop(learners);

    // While games wait for the writer.
    let actor = arena.hold_writer();
    while !arena.writer.is_congested() {
        let nobody = "nobody".parse().unwrap();
        arena.writer.submit(Write::WithdrawLesson { game: nobody }, |_| {});
    }
    let (learning, mut learners) = arena.learners().await;
    for _ in 0..GAMES {
        arena.play(ada.clone(), greedy.clone()).await;
    }
    while learners.round().await == MoreWork::Perhaps {}
    let known = || learning.learner(&name("ntuple-live")).unwrap().games;
    assert_eq!((known(), arena.games_learnt("ntuple-live").await), (1 + GAMES + FULL, 1 + GAMES));
    tokio::spawn(actor.run());
    while known() < 1 + 2 * GAMES {
        let round = tokio::time::Instant::now();
        if learners.round().await == MoreWork::No {
            tokio::time::sleep_until(learners.due(round).expect("what was learnt is to be stored")).await;
        }
    }
    learners.save().await;
    arena.check_sound().await;
}

/// Time is not paused: what waits for the thread would be out of time at once.
#[tokio::test]
async fn a_planned_stop_stores_what_is_on_the_thread() {
    const GAMES: u64 = 40;
    let mut arena = Arena::new(&[0], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..GAMES {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    arena.settings.cpu_percent = 1;
    let (learning, learners) = arena.learners().await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(learners.run(stop.clone()));
    let known = || learning.learner(&name("memory")).unwrap().knowledge.now().pattern_count();
    let mut looks = 0;
    while known() == 0 && looks < 10_000 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        looks += 1;
    }
    // It has learnt some of them, and rests a hundred times as long.
    stop.cancel();
    running.await.unwrap();
    assert_eq!(arena.games_learnt("memory").await, GAMES, "its turn was under way");
    arena.check_sound().await;
}

/// Looks at the records, each with a new game in them: far more than are ever needed.
const ROUNDS_MAX: u32 = 300;

#[tokio::test(start_paused = true)]
async fn learners_are_measured_and_practise_while_games_keep_coming() {
    let mut arena = Arena::new(&[0], 1_000).await;
    let (learning, mut learners) = arena.learners().await;
    let (ada, bob) = (player_id("Ada"), player_id("Bob"));
    let practised = || learning.learner(&name("memory")).unwrap().games;
    // What is measured and who practises is drawn; a learner that is never idle does neither in any number of rounds.
    for _ in 0..ROUNDS_MAX {
        arena.play(ada.clone(), bob.clone()).await;
        learners.round().await;
        if practised() > 0 && learning.all().iter().all(|learner| learner.versions[0].decision.is_some()) {
            return;
        }
    }
    for learner in learning.all() {
        assert!(learner.versions[0].decision.is_some(), "{}", learner.name);
    }
    assert!(practised() > 0, "it learns from its own games alone");
}

#[tokio::test(start_paused = true)]
async fn games_wait_for_the_judge_if_they_are_to_be_decided_well() {
    let mut arena = Arena::new(&[0], 0).await;
    arena.settings.accuracy_min = 50;
    arena.learn().await;
    let learnt = async |arena: &Arena| {
        arena.learn().await;
        arena.games_learnt("memory-spectator").await
    };
    for _ in 0..3 {
        arena.play(player_id("Ada"), player_id("Bob")).await;
    }
    assert_eq!(learnt(&arena).await, 0, "nobody has judged them");
    {
        let writer = arena.writer.clone();
        let _held = arena.hold_writer();
        arena.settings.practice_games = 10;
        let (_, mut learners) = arena.learners().await;
        for _ in 0..5 {
            let round = tokio::time::timeout(Duration::from_mins(1), learners.round()).await;
            assert_eq!(round, Ok(MoreWork::No), "nothing is stored again, and nobody practises");
        }
        arena.settings.practice_games = 0;
        arena.writer = writer;
    }
    let skill = |good_decisions| Skill { decisions: 4, good_decisions, ..Skill::default() };
    let judged = |first, second| Judgement::Judged(BySide { first: skill(first), second: skill(second) });
    arena.judge(0, vec![(1, judged(2, 4)), (2, judged(4, 1))]).await;
    assert_eq!(learnt(&arena).await, 1, "Bob threw the second away");
    arena.judge(2, vec![(3, judged(3, 3))]).await;
    assert_eq!(learnt(&arena).await, 2);
    // Bots of the house need no word.
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    arena.play(memory, greedy).await;
    assert_eq!(learnt(&arena).await, 3);
    arena.check_sound().await;
}

/// How long nothing happens: longer than anybody would wait to look by the clock.
const QUIET: Duration = Duration::from_hours(1);

#[tokio::test(start_paused = true)]
async fn a_game_that_finishes_is_learnt_without_a_look_by_the_clock() {
    let mut arena = Arena::new(&[], 0).await;
    let (learning, mut learners) = arena.learners().await;
    while learners.round().await == MoreWork::Perhaps {}
    let looks = arena.store.looks();
    let known = arena.writer.finished().news();
    let began = tokio::time::Instant::now();
    tokio::join!(learners.more_to_learn(known), async {
        tokio::time::sleep(QUIET).await;
        arena.play(player_id("Ada"), player_id("Bob")).await;
    });
    assert_eq!(began.elapsed(), QUIET);
    while learners.round().await == MoreWork::Perhaps {}
    assert_eq!(learning.learner(&name("memory-spectator")).unwrap().games, 1);
    assert_eq!(arena.store.looks()[looks.len()..], [(0, 1)], "one question for all learners");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_judge_goes_on_with_its_word() {
    let mut arena = Arena::new(&[], 0).await;
    arena.settings.accuracy_min = 50;
    arena.play(player_id("Ada"), player_id("Bob")).await;
    let (learning, mut learners) = arena.learners().await;
    while learners.round().await == MoreWork::Perhaps {}
    let known = arena.writer.finished().news();
    let began = tokio::time::Instant::now();
    let skill = Skill { decisions: 4, good_decisions: 4, ..Skill::default() };
    tokio::join!(learners.more_to_learn(known), async {
        tokio::time::sleep(QUIET).await;
        arena.judge(0, vec![(1, Judgement::Judged(BySide { first: skill, second: skill }))]).await;
    });
    assert_eq!(began.elapsed(), QUIET);
    while learners.round().await == MoreWork::Perhaps {}
    assert_eq!(learning.learner(&name("memory-spectator")).unwrap().games, 1);
}

#[tokio::test(start_paused = true)]
async fn games_that_cannot_be_read_are_learnt_later_and_once() {
    let mut arena = Arena::new(&[], 0).await;
    arena.learn().await;
    for _ in 0..3 {
        arena.play(player_id("Ada"), player_id("Bob")).await;
    }
    let (learning, mut learners) = arena.learners().await;
    let games = || learning.learner(&name("memory-spectator")).unwrap().games;
    arena.store.fail_looks(u32::try_from(plans().len()).unwrap());
    let began = tokio::time::Instant::now();
    learners.round().await;
    assert_eq!(games(), 0);
    while games() == 0 {
        let round = tokio::time::Instant::now();
        if learners.round().await == MoreWork::No {
            tokio::time::sleep_until(learners.due(round).expect("nothing but time is missing")).await;
        }
    }
    assert!(began.elapsed() >= Duration::from_mins(1), "they are left alone for a while");
    learners.save().await;
    assert_eq!(arena.games_learnt("memory-spectator").await, 3);
    arena.check_sound().await;
}
