use super::classroom::{Activity, TIME};
use super::*;
use crate::testing::{Arena, Client, place};

/// A class with three pupils who are there, and its teacher.
struct School {
    arena: Arena,
    classes: Classes,
    code: ClassCode,
    teacher: Identity,
    pupils: Vec<(Identity, Client)>,
    stop: CancellationToken,
}

impl School {
    async fn new() -> Self {
        let arena = Arena::new().await;
        let teacher = arena.person("Teacher").await.identity;
        let classes = Classes::default();
        let code = classes.open(teacher.clone(), place(), UnixMillis::now()).unwrap();
        let mut pupils = Vec::new();
        for name in ["Ada", "Bob", "Cleo"] {
            let account = arena.person(name).await;
            let client = arena.join(&account).await;
            classes.change(&code, |class| class.join(account.identity.clone())).unwrap().unwrap();
            pupils.push((account.identity, client));
        }
        let services = &arena.services;
        let keeper = ClassKeeper {
            classes: classes.clone(),
            host: services.host.clone(),
            directory: services.directory.clone(),
            sessions: services.sessions.clone(),
        };
        let stop = CancellationToken::new();
        tokio::spawn(keeper.run(stop.clone()));
        Self { arena, classes, code, teacher, pupils, stop }
    }

    fn class(&self) -> Classroom {
        self.classes.get(&self.code).unwrap()
    }

    /// The pupils who sit at a board of the class.
    fn seated(&self) -> Vec<&str> {
        let class = self.class();
        let seated = self.pupils.iter().filter(|(who, _)| class.game_of(&who.id).is_some());
        seated.map(|(who, _)| who.name.as_str()).collect()
    }

    /// Whoever of these sits first gives up.
    async fn give_up(&self, name: &str) {
        let (who, client) = self.pupils.iter().find(|(who, _)| who.name.as_str() == name).unwrap();
        client.resign(self.class().game_of(&who.id).unwrap()).await;
        self.arena.settle().await;
    }

    fn points(&self) -> Vec<(String, u64)> {
        let class = self.class();
        class.standings().iter().map(|pupil| (pupil.identity.name.to_string(), pupil.score.points)).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_round_begins_at_once_and_its_results_are_noted() {
    let school = School::new().await;
    school.classes.direct(&school.code, &school.teacher.id, |class| class.begin_round(TIME)).unwrap();
    school.arena.settle().await;
    assert_eq!(school.seated(), ["Ada", "Bob"], "of three one rests");
    school.give_up("Ada").await;
    assert!(school.seated().is_empty());
    assert_eq!(school.points()[0], ("Bob".to_owned(), 2));
    tokio::time::sleep(5 * LOOK).await;
    assert!(school.seated().is_empty(), "one round is one round");
    school.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn an_arena_goes_on_while_it_lasts_and_nobody_plays_who_is_away() {
    let school = School::new().await;
    let until = UnixMillis(UnixMillis::now().0 + 60_000);
    school.classes.direct(&school.code, &school.teacher.id, |class| class.begin_arena(until, TIME)).unwrap();
    school.arena.settle().await;
    assert_eq!(school.seated(), ["Ada", "Bob"]);
    school.give_up("Ada").await;
    tokio::time::sleep(2 * LOOK).await;
    assert_eq!(school.seated(), ["Bob", "Cleo"], "the winner meets somebody else");

    school.pupils[0].1.leave().await;
    school.give_up("Cleo").await;
    tokio::time::sleep(2 * LOOK).await;
    assert!(!school.class().pupil(&school.pupils[0].0.id).unwrap().is_there);
    assert_eq!(school.seated(), ["Bob", "Cleo"], "two that are left play again");
    school.give_up("Cleo").await;
    assert_eq!(school.points()[0], ("Bob".to_owned(), 8), "the third win in a row is worth four");

    school
        .classes
        .direct(&school.code, &school.teacher.id, |class| class.hold(true, UnixMillis::now()))
        .unwrap();
    tokio::time::sleep(3 * LOOK).await;
    assert!(school.seated().is_empty(), "nothing begins while all look up");
    school.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn games_stand_still_while_the_class_is_paused_and_go_on_when_it_is_over() {
    let school = School::new().await;
    school.classes.direct(&school.code, &school.teacher.id, |class| class.begin_round(TIME)).unwrap();
    school.arena.settle().await;
    let (ada, _) = &school.pupils[0];
    let game = school.class().game_of(&ada.id).unwrap().clone();
    let room = school.arena.services.directory.room(&game).unwrap();
    let clock = async || {
        school.arena.settle().await;
        let seen = room.look(None).await.unwrap();
        (seen.paused, seen.clock.first)
    };
    tokio::time::sleep(Duration::from_secs(5)).await;
    let hold = |held| {
        let change = |class: &mut Classroom| class.hold(held, UnixMillis::now());
        school.classes.direct(&school.code, &school.teacher.id, change).unwrap();
    };
    hold(true);
    let (paused, before) = clock().await;
    assert!(paused);
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert_eq!(clock().await, (true, before), "not even the time for a first move runs");
    hold(false);
    let (paused, after) = clock().await;
    assert!(!paused && before - after < 2_000, "{before} {after}");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(clock().await.1 < after, "it runs again");
    hold(true);
    assert!(clock().await.0);
    school.classes.end(&school.code, &school.teacher.id).unwrap();
    assert!(!clock().await.0, "a class that is over holds nobody");
    school.stop.cancel();
}

#[tokio::test]
async fn a_class_is_its_teachers_alone_and_each_has_one() {
    let school = School::new().await;
    let again = school.classes.open(school.teacher.clone(), place(), UnixMillis::now());
    assert_eq!(again.as_ref(), Ok(&school.code));
    let stranger = school.pupils[0].0.clone();
    let refused = school.classes.direct(&school.code, &stranger.id, |class| class.begin_round(TIME));
    assert_eq!(refused, Err(ClassError::NotYours));
    assert_eq!(school.classes.end(&school.code, &stranger.id), Err(ClassError::NotYours));
    assert_eq!(school.class().activity, Activity::Waiting);
    school.classes.end(&school.code, &school.teacher.id).unwrap();
    assert!(school.classes.get(&school.code).is_none());
    assert_eq!(school.classes.end(&school.code, &school.teacher.id), Err(ClassError::Unknown));
}

#[tokio::test(start_paused = true)]
async fn a_class_knows_new_names_and_ends_with_its_teacher() {
    let school = School::new().await;
    let [ada, bob] = [0, 1].map(|place: usize| school.pupils[place].0.clone());
    let renamed = Identity { name: "lovelace".parse().unwrap(), ..ada.clone() };
    school.classes.renamed(&renamed);
    school.classes.renamed(&Identity { name: "hopper".parse().unwrap(), ..school.teacher.clone() });
    assert_eq!(school.class().teacher.name.as_str(), "hopper");
    assert_eq!(school.class().pupil(&ada.id).unwrap().identity, renamed);
    school.classes.gone(&bob.id);
    assert!(school.class().pupil(&bob.id).is_none());
    school.classes.direct(&school.code, &school.teacher.id, |class| class.begin_round(TIME)).unwrap();
    school.arena.settle().await;
    let game = school.arena.services.directory.live().remove(0).spec.id.clone();
    let room = school.arena.services.directory.room(&game).unwrap();
    school
        .classes
        .direct(&school.code, &school.teacher.id, |class| class.hold(true, UnixMillis::now()))
        .unwrap();
    school.arena.settle().await;
    assert!(room.look(None).await.unwrap().paused);
    school.classes.gone(&school.teacher.id);
    school.arena.settle().await;
    assert!(school.classes.get(&school.code).is_none());
    assert!(!room.look(None).await.unwrap().paused, "nobody else could let the pupils go on");
    school.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn thirty_pupils_play_at_fifteen_boards() {
    let school = School::new().await;
    let mut others = Vec::new();
    for number in school.pupils.len()..30 {
        let account = school.arena.person(&format!("Pupil{number}")).await;
        others.push(school.arena.join(&account).await);
        school.classes.change(&school.code, |class| class.join(account.identity.clone())).unwrap().unwrap();
    }
    school.classes.direct(&school.code, &school.teacher.id, |class| class.begin_round(TIME)).unwrap();
    school.arena.settle().await;
    let live = school.arena.services.directory.live();
    assert_eq!(live.len(), 15);
    assert!(live.iter().all(|game| school.class().has_game(&game.spec.id) && !game.spec.rated));
    school.stop.cancel();
}
