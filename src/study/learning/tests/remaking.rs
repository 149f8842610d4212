//! Learners that are made again from their lessons: after withdrawals, by other rules, and when asked.

use super::*;
use crate::storage::lessons::LearnerStore;

#[tokio::test(start_paused = true)]
async fn what_its_lessons_do_not_teach_is_made_again_when_asked() {
    let mut arena = Arena::new(&[0, 2], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..3 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    arena.learn().await;
    let sound = arena.state("memory").await;
    let stored = arena.store.learner(&name("memory")).await.unwrap().unwrap();
    let versions = arena.store.learner_versions(&name("memory")).await.unwrap();
    let damage = LearnerStep {
        name: stored.name,
        spec: stored.spec,
        from: stored.place,
        kind: StepKind::Refold,
        covered: stored.place.covered,
        games: 3,
        state: versions[0].state.clone(),
        versions: Vec::new(),
        point: None,
    };
    arena.writer.write(Write::StepLearner(Box::new(damage))).await.unwrap();
    let found = verify(&*arena.store).await.unwrap();
    assert_eq!(found[0].findings, ["its state is not what its lessons teach"]);
    assert_eq!(found.iter().filter(|report| report.remedy == Remedy::Repair).count(), 1);
    arena.learn().await;
    assert_ne!(arena.state("memory").await, sound, "nobody asked");
    let revision = found[0].revision;
    arena.writer.write(Write::RemakeLearner { learner: name("memory"), revision }).await.unwrap();
    assert_eq!(verify(&*arena.store).await.unwrap()[0].remedy, Remedy::Daemon);
    arena.learn().await;
    assert_eq!(arena.state("memory").await, sound);
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_void_game_and_whoever_keeps_out_are_forgotten() {
    let mut arena = Arena::new(&[0, 2, 4], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    arena.play(memory.clone(), player_id("Ada")).await;
    for _ in 0..3 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    arena.learn().await;
    let before = arena.state("memory").await;
    arena.writer.write(Write::WithdrawLesson { game: "g3".parse().unwrap() }).await.unwrap();
    let stale = verify(&*arena.store).await.unwrap();
    assert_eq!(stale[0].findings.len(), 1, "{}", stale[0]);
    let learning = arena.learn().await;
    assert_eq!(arena.games_learnt("memory").await, 3);
    let curve = arena.store.learner_curve(&name("memory")).await.unwrap();
    let last = curve.last().unwrap();
    assert_eq!((last.games, last.decision.is_some()), (3, true), "nothing of what it knew with four games");
    assert_eq!(learning.learner(&name("memory")).unwrap().decision, last.decision);
    assert_ne!(arena.state("memory").await, before);
    arena.check_sound().await;

    let out = Write::SetTeaching { player: player_id("Ada"), teaching: Teaching::KeptOut };
    arena.writer.write(out).await.unwrap();
    arena.play(memory.clone(), player_id("Ada")).await;
    arena.play(player_id("Bob"), player_id("Ada")).await;
    arena.learn().await;
    assert_eq!(arena.games_learnt("memory").await, 2, "neither the old games of Ada nor the new ones");
    assert_eq!(arena.games_learnt("memory-spectator").await, 2);
    let versions = arena.store.learner_versions(&name("memory")).await.unwrap();
    let games: Vec<_> = versions.iter().map(|version| (version.mark, version.games)).collect();
    assert_eq!(games, [(0, 0), (2, 2), (4, 2)], "a version that was reached before has what is left");
    arena.check_sound().await;

    let short = versions[2].clone();
    for _ in 0..2 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    arena.learn().await;
    arena.check_sound().await;
    let marks = async || -> Vec<(u64, u64)> {
        let versions = arena.store.learner_versions(&name("memory")).await.unwrap();
        versions.iter().map(|version| (version.mark, version.games)).collect()
    };
    assert_eq!(marks().await, [(0, 0), (2, 2), (4, 4)], "until there are as many again");

    // An older program left it as it was.
    let stored = arena.store.learner(&name("memory")).await.unwrap().unwrap();
    let left = LearnerStep {
        name: stored.name,
        spec: stored.spec,
        from: stored.place,
        kind: StepKind::Refold,
        covered: stored.place.covered,
        games: stored.games,
        state: stored.state,
        versions: vec![short],
        point: None,
    };
    arena.writer.write(Write::StepLearner(Box::new(left))).await.unwrap();
    assert_eq!(marks().await, [(0, 0), (2, 2), (4, 2)]);
    arena.learn().await;
    assert_eq!(marks().await, [(0, 0), (2, 2), (4, 4)]);
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn others_go_on_while_a_learner_is_made_again() {
    let mut arena = Arena::new(&[0, 300], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    let windows = arena.learner_id("memory-windows").await;
    for _ in 0..450 {
        arena.play(windows.clone(), greedy.clone()).await;
    }
    arena.learn().await;
    let withdraw = async |arena: &Arena, game: &str| {
        arena.writer.write(Write::WithdrawLesson { game: game.parse().unwrap() }).await.unwrap();
    };
    withdraw(&arena, "g3").await;
    arena.play(memory.clone(), greedy).await;
    arena.settings.practice_games = 10;
    let (learning, mut learners) = arena.learners().await;
    // In the first one it learns and is measured.
    for _ in 0..2 {
        learners.round().await;
    }
    let is_stale =
        async |arena: &Arena| arena.store.learner(&name("memory-spectator")).await.unwrap().unwrap().stale;
    assert!(is_stale(&arena).await, "two pages of lessons are not all");
    assert_eq!(learning.learner(&name("memory")).unwrap().games, 1);
    assert!(arena.metrics.text().contains("fourfold_practice_games_total 1\n"), "somebody practises");
    drop(learners);

    arena.settings.practice_games = 0;
    let rounds = async |arena: &Arena, withdrawn: &str| {
        withdraw(arena, "g4").await;
        let (learning, mut learners) = arena.learners().await;
        learners.round().await;
        withdraw(arena, withdrawn).await;
        learning.lessons_withdrawn();
        let mut rounds = 1;
        while is_stale(arena).await {
            learners.round().await;
            rounds += 1;
        }
        rounds
    };
    // Three pages, a look that there are no more, and what was withdrawn under way costs another one.
    assert_eq!(rounds(&arena, "g440").await, 5, "it was not folded yet");
    arena.check_sound().await;
    withdraw(&arena, "g6").await;
    assert_eq!(rounds(&arena, "g7").await, 6, "it began anew");
    arena.learn().await;
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_keeps_games_out_keeps_those_of_later_bots_out_too() {
    let mut arena = Arena::new(&[], 0).await;
    arena.learn().await;
    let out = Write::SetTeaching { player: player_id("Ada"), teaching: Teaching::KeptOut };
    arena.writer.write(out).await.unwrap();
    let bot = StoredPlayer { owner: Some(player_id("Ada")), ..player("adabot", PlayerKind::Bot) };
    arena.store.commit(&[add(bot.clone())]).await.unwrap();
    let memory = arena.learner_id("memory").await;
    arena.play(memory.clone(), bot.id).await;
    arena.play(memory, player_id("Bob")).await;
    arena.learn().await;
    assert_eq!(arena.games_learnt("memory").await, 1, "the game with Bob");
}

#[tokio::test(start_paused = true)]
async fn one_player_cannot_teach_alone_after_a_void_game_either() {
    let mut arena = Arena::new(&[], 0).await;
    arena.learn().await;
    let memory = arena.learner_id("memory").await;
    arena.play(memory.clone(), arena.learner_id("greedy").await).await;
    for _ in 0..25 {
        arena.play(memory.clone(), player_id("Ada")).await;
    }
    let (_, mut learners) = arena.learners().await;
    while learners.round().await == MoreWork::Perhaps {}
    learners.save().await;
    assert_eq!(arena.games_learnt("memory").await, 26);
    arena.writer.write(Write::WithdrawLesson { game: "g1".parse().unwrap() }).await.unwrap();
    for _ in 0..10 {
        arena.play(memory.clone(), player_id("Ada")).await;
    }
    while learners.round().await == MoreWork::Perhaps {}
    learners.save().await; // is refused: that is how it finds out
    while learners.round().await == MoreWork::Perhaps {}
    learners.save().await;
    assert_eq!(
        arena.games_learnt("memory").await,
        25,
        "the memory was made again, and Ada has had her share"
    );
    arena.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn another_rule_makes_a_learner_again_from_the_same_lessons() {
    let mut arena = Arena::new(&[0], 0).await;
    arena.learn().await;
    let (memory, greedy) = (arena.learner_id("memory").await, arena.learner_id("greedy").await);
    for _ in 0..4 {
        arena.play(memory.clone(), greedy.clone()).await;
    }
    arena.learn().await;
    let sound = arena.store.learner(&name("memory")).await.unwrap().unwrap();
    // As a program of another form would have left it.
    let step = LearnerStep {
        name: name("memory"),
        spec: "memory:snapshots=all".into(),
        from: sound.place,
        kind: StepKind::Refold,
        covered: sound.place.covered,
        games: 4,
        state: b"of another form".to_vec(),
        versions: Vec::new(),
        point: None,
    };
    arena.writer.write(Write::StepLearner(Box::new(step))).await.unwrap();
    arena.learn().await;
    assert_eq!(arena.state("memory").await, sound.state);
    arena.check_sound().await;
}
