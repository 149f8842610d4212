use proptest::prelude::*;

use super::*;
use crate::model::player::PlayerKind;

const NOW: UnixMillis = UnixMillis(1_000_000);

fn somebody(name: &str) -> Identity {
    let id = format!("{name:x<10}").parse().unwrap();
    Identity { id, name: name.parse().unwrap(), kind: PlayerKind::Guest, owner: None }
}

fn class_of(names: &[&str]) -> Classroom {
    let mut class = Classroom::new(somebody("teacher"), NOW);
    for name in names {
        class.join(somebody(name)).unwrap();
    }
    class
}

fn begin(class: &mut Classroom, game: &str, first: &str, second: &str) -> GameId {
    let game: GameId = game.parse().unwrap();
    class.started(game.clone(), BySide { first: somebody(first).id, second: somebody(second).id });
    game
}

fn play(class: &mut Classroom, first: &str, second: &str, result: GameResult) {
    let game = begin(class, "gggggggggg", first, second);
    class.ended(&game, result);
}

fn names(pairs: &[BySide<Identity>]) -> Vec<String> {
    pairs.iter().map(|pair| format!("{}-{}", pair.first.name, pair.second.name)).collect()
}

fn table(class: &Classroom) -> Vec<(String, u64)> {
    class.standings().iter().map(|pupil| (pupil.identity.name.to_string(), pupil.score.points)).collect()
}

#[test]
fn a_class_takes_everybody_once_up_to_a_number() {
    let mut class = class_of(&["ada", "bob"]);
    let renamed = Identity { name: "Adele".parse().unwrap(), ..somebody("ada") };
    class.join(renamed).unwrap();
    assert_eq!(table(&class), [("Adele".to_owned(), 0), ("bob".to_owned(), 0)]);
    assert_eq!(class.join(somebody("teacher")), Err(JoinError::IsTeacher));
    for number in 0..PUPILS_MAX - 2 {
        class.join(somebody(&format!("p{number}"))).unwrap();
    }
    assert_eq!(class.join(somebody("late")), Err(JoinError::Full));
    let bob = class.called(&"BOB".parse().unwrap()).unwrap();
    assert!(class.remove(&bob) && !class.remove(&bob));
    class.join(somebody("late")).unwrap();
}

#[test]
fn a_round_pairs_all_who_are_free_once() {
    let mut class = class_of(&["ada", "bob", "cleo", "dan", "eve"]);
    assert!(class.pairs(|_| true).is_empty(), "nobody has asked for a round");
    class.begin_round(TIME);
    let eve = somebody("eve").id;
    let pairs = class.pairs(|id| *id != eve);
    assert_eq!(names(&pairs), ["ada-bob", "cleo-dan"]);
    assert!(class.pairs(|_| true).is_empty(), "a round is one round");

    for pair in pairs {
        play(&mut class, pair.first.name.as_str(), pair.second.name.as_str(), GameResult::First);
    }
    class.begin_round(TIME);
    // Of five one rests, of those with most games; winners meet winners.
    assert_eq!(names(&class.pairs(|_| true)), ["ada-cleo", "bob-eve"]);
}

#[test]
fn whoever_has_met_meets_somebody_else() {
    let mut class = class_of(&["ada", "bob", "cleo", "dan"]);
    play(&mut class, "ada", "bob", GameResult::Draw);
    class.begin_round(TIME);
    let pairs = class.pairs(|_| true);
    assert!(!names(&pairs).iter().any(|pair| pair == "ada-bob" || pair == "bob-ada"), "{pairs:?}");
}

#[test]
fn an_arena_pairs_whoever_is_free_until_its_end() {
    let mut class = class_of(&["ada", "bob", "cleo"]);
    let until = UnixMillis(NOW.0 + 60_000);
    class.begin_arena(until, TIME);
    let cleo = somebody("cleo").id;
    assert_eq!(names(&class.pairs(|id| *id != cleo)), ["ada-bob"]);
    play(&mut class, "ada", "bob", GameResult::Second);
    assert!(class.pairs(|id| *id != cleo).is_empty(), "not the same two at once while a third is there");
    class.look(NOW, |id| *id != cleo, |_| true);
    assert_eq!(
        names(&class.pairs(|id| *id != cleo)),
        ["bob-ada"],
        "two alone play each other, with the other colour"
    );
    class.hold(true, UnixMillis(0));
    assert!(class.pairs(|_| true).is_empty());
    class.hold(false, UnixMillis(0));
    class.look(until, |_| true, |_| true);
    assert_eq!(class.activity, Activity::Waiting);
    assert!(class.pairs(|_| true).is_empty());
}

#[test]
fn points_double_after_two_wins_in_a_row() {
    let mut class = class_of(&["ada", "bob"]);
    for expected in [2, 4, 8, 12] {
        play(&mut class, "ada", "bob", GameResult::First);
        assert_eq!(class.pupil(&somebody("ada").id).unwrap().score.points, expected);
    }
    play(&mut class, "bob", "ada", GameResult::Draw);
    assert_eq!(
        table(&class),
        [("ada".to_owned(), 14), ("bob".to_owned(), 1)],
        "a draw doubles too, and ends it"
    );
    play(&mut class, "ada", "bob", GameResult::First);
    assert_eq!(class.pupil(&somebody("ada").id).unwrap().score.points, 16);
    play(&mut class, "ada", "bob", GameResult::Void);
    assert_eq!(
        class.pupil(&somebody("ada").id).unwrap().score.games.games(),
        6,
        "a void game counts for nothing"
    );

    class.begin_arena(UnixMillis(NOW.0 + 1), TIME);
    assert_eq!(table(&class), [("ada".to_owned(), 0), ("bob".to_owned(), 0)]);
}

#[test]
fn games_of_others_and_games_that_are_gone_count_for_nothing() {
    let mut class = class_of(&["ada", "bob"]);
    let game = begin(&mut class, "gggggggggg", "ada", "bob");
    class.ended(&"hhhhhhhhhh".parse().unwrap(), GameResult::First);
    assert_eq!(class.game_of(&somebody("bob").id), Some(&game));
    for _ in 0..LOOKS_GONE_MAX {
        assert!(class.has_game(&game), "its end may be told yet");
        class.look(NOW, |_| true, |_| false);
    }
    assert!(!class.has_game(&game));
    class.ended(&game, GameResult::First);
    assert_eq!(table(&class), [("ada".to_owned(), 0), ("bob".to_owned(), 0)]);
}

#[test]
fn a_class_is_deserted_half_a_day_after_its_teacher() {
    let mut class = class_of(&[]);
    class.seen(NOW);
    assert!(!class.is_deserted(UnixMillis(NOW.0 + LIFETIME_MS)));
    assert!(class.is_deserted(UnixMillis(NOW.0 + LIFETIME_MS + 1)));
}

proptest! {
    #[test]
    fn nobody_sits_at_two_boards_and_one_rests_at_most(
        pupils in 0_usize..=PUPILS_MAX,
        rounds in prop::collection::vec((0_u8..4, any::<u64>()), 1..12),
    ) {
        let all: Vec<String> = (0..pupils).map(|number| format!("p{number}")).collect();
        let mut class = class_of(&all.iter().map(String::as_str).collect::<Vec<_>>());
        for (result, free) in rounds {
            class.begin_round(TIME);
            let is_free = |id: &PlayerId| {
                let number: usize = id.as_str()[1..].trim_end_matches('x').parse().unwrap_or(0);
                free >> (number % 64) & 1 == 1
            };
            let waiting = class.standings().iter().filter(|pupil| is_free(&pupil.identity.id)).count();
            let pairs = class.pairs(is_free);
            let seats: HashSet<PlayerId> =
                pairs.iter().flat_map(|pair| [pair.first.id.clone(), pair.second.id.clone()]).collect();
            prop_assert_eq!(seats.len(), waiting / 2 * 2);
            prop_assert_eq!(pairs.len(), waiting / 2);
            prop_assert!(seats.iter().all(is_free));
            let result = [GameResult::First, GameResult::Second, GameResult::Draw, GameResult::Void][usize::from(result)];
            for pair in pairs {
                play(&mut class, pair.first.name.as_str(), pair.second.name.as_str(), result);
            }
        }
    }
}

#[test]
fn an_arena_lasts_longer_by_its_pauses() {
    let mut class = class_of(&["ada", "bob"]);
    let after = |ms: i64| UnixMillis(NOW.0 + ms);
    class.begin_arena(after(60_000), TIME);
    class.hold(true, after(10_000));
    class.hold(true, after(20_000));
    class.look(after(70_000), |_| true, |_| true);
    assert_eq!(class.activity, Activity::Arena { until: after(60_000) }, "it does not end while all look up");
    class.hold(false, after(100_000));
    assert_eq!(class.activity, Activity::Arena { until: after(150_000) });
    class.look(after(150_000), |_| true, |_| true);
    assert_eq!(class.activity, Activity::Waiting);
}

#[test]
fn each_game_is_told_once_that_it_stands_still() {
    let mut class = class_of(&["ada", "bob"]);
    let players = BySide { first: somebody("ada").id, second: somebody("bob").id };
    let game: GameId = "g1".parse().unwrap();
    class.started(game.clone(), players);
    assert_eq!(class.untold(), []);
    class.hold(true, NOW);
    assert_eq!(class.untold(), [(game.clone(), Standstill::Begins)]);
    assert_eq!(class.untold(), []);
    class.hold_lesson(None);
    assert_eq!(class.untold(), [(game.clone(), Standstill::Ends)], "a lesson ends a pause");
    class.hold(true, NOW);
    class.untold();
    assert_eq!(class.into_still().collect::<Vec<_>>(), [game]);
}
