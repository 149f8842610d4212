use super::*;
use crate::model::ids::PairId;
use crate::model::result::{EndReason, GameResult};
use crate::model::tournament::TournamentFormat;
use crate::storage::conformance::{NOON, after_noon, event, player_id, spec};
use crate::storage::conformance_of_tournaments::tournament;
use crate::storage::record::{Ending, EventKind, GamePair, GameSpec};

const NAMES: [&str; 4] = ["Ada", "Bob", "Carl", "Dora"];
const MINUTES: u32 = 30;

fn stored_arena() -> (StoredTournament, Vec<PlayerName>) {
    let entrants = NAMES.map(player_id).to_vec();
    let format = TournamentFormat::Arena { minutes: MINUTES };
    let names = NAMES.map(|name| name.parse().unwrap()).to_vec();
    (StoredTournament { format, entrants, started_at: NOON, ..tournament("T1", 0) }, names)
}

fn replay(attendance: &[Attendance], games: &[StoredGame]) -> ArenaProgress {
    let (stored, names) = stored_arena();
    ArenaProgress::replay(stored, MINUTES, names, attendance, games).unwrap()
}

fn game(number: u64, seats: [usize; 2], ending: Option<Ending>) -> StoredGame {
    let id = PairId::in_tournament(&"T1".parse().unwrap(), number);
    let [first, second] = seats.map(|place| NAMES[place]);
    let spec =
        GameSpec { pair: Some(GamePair { id, leg: 1, of: 1 }), ..spec(&format!("g{number}"), first, second) };
    let events = ending.map(|ending| event(1, EventKind::Finished(ending))).into_iter().collect();
    StoredGame { spec, events, settlement: None }
}

fn ended(result: GameResult) -> Ending {
    Ending { result, reason: EndReason::Four, by: None }
}

fn broken_off(by: Side) -> Ending {
    Ending { result: GameResult::Void, reason: EndReason::Aborted, by: Some(by) }
}

/// Names and points, by rank.
fn table(arena: &ArenaProgress) -> Vec<(String, u64)> {
    arena.table().players.into_iter().map(|row| (row.name, row.standing.unwrap().score)).collect()
}

#[test]
fn points_follow_from_the_games() {
    let games = [
        game(0, [0, 1], Some(ended(GameResult::First))),
        game(1, [2, 3], Some(ended(GameResult::Draw))),
        game(2, [2, 0], Some(ended(GameResult::Second))),
        game(3, [0, 3], Some(ended(GameResult::First))),
        game(4, [1, 2], None),
    ];
    let arena = replay(&[], &games);
    let points =
        [("Ada", 8), ("Carl", 1), ("Dora", 1), ("Bob", 0)].map(|(name, points)| (name.to_owned(), points));
    assert_eq!(table(&arena), points, "the third win in a row counts double");
    assert_eq!((arena.games(), arena.winner(), arena.due()), ((4, 5), Some(0), 5));
    assert!(arena.is_on_streak(0) && !arena.is_on_streak(1));
    assert_eq!(arena.idle(), [0, 3], "Bob and Carl play");
    let waiting = arena.waiting(&[(0, NOON), (3, NOON)]);
    assert_eq!((waiting[0].rank, waiting[0].last_met, waiting[0].begun_more), (0, Some(3), 1));
    assert_eq!((waiting[1].rank, waiting[1].last_met, waiting[1].begun_more), (1, Some(0), -2));
}

#[test]
fn it_ends_with_its_last_game_after_its_time() {
    let mut arena = replay(&[], &[game(0, [0, 1], None)]);
    let end = i64::from(MINUTES) * 60_000;
    assert_eq!((arena.ends_at(), arena.over(after_noon(end))), (after_noon(end), None));
    arena.finished(0, Decided::of(&game(0, [0, 1], Some(ended(GameResult::First)))));
    assert_eq!(arena.over(after_noon(end - 1)), None);
    assert_eq!(arena.over(after_noon(end)), Some(EndedBecause::Complete));
    assert_eq!(table(&arena)[0], ("Ada".to_owned(), 2), "what began in time counts");
}

#[test]
fn a_game_that_nobody_broke_off_and_nobody_ended_counts_for_nothing() {
    let stopped = Ending { result: GameResult::Void, reason: EndReason::Stopped, by: None };
    let arena = replay(&[], &[game(0, [0, 1], Some(stopped))]);
    assert_eq!((arena.games(), arena.due(), arena.winner()), ((0, 0), 1, None));
    assert_eq!((arena.lines().count(), arena.idle().len()), (0, 4));
}

#[test]
fn whoever_breaks_off_again_and_again_is_named_until_they_come_back() {
    let mut arena = replay(&[], &[]);
    let abort = |arena: &mut ArenaProgress, number| {
        arena.started(number, BySide { first: 0, second: 1 }, format!("g{number}").parse().unwrap());
        arena.finished(number, Decided::of(&game(number, [0, 1], Some(broken_off(Side::Second)))))
    };
    assert_eq!((abort(&mut arena, 0), abort(&mut arena, 1)), (None, Some(1)));
    assert_eq!(table(&arena)[0], ("Ada".to_owned(), 4));
    arena.quit(1);
    assert!(arena.has_left(1) && !arena.idle().contains(&1));
    arena.join(player_id("Bob"), "Bob".parse().unwrap());
    assert!(!arena.has_left(1), "a click, and one plays on");
    assert_eq!(abort(&mut arena, 2), None);
    // The same by what is stored: the faults before the return are not held against anybody.
    let games: Vec<StoredGame> =
        (0..3).map(|number| game(number, [0, 1], Some(broken_off(Side::Second)))).collect();
    let back = [Attendance::default(), Attendance { came: 2, went: None }];
    let mut replayed = replay(&back, &games);
    assert_eq!((table(&replayed), abort(&mut replayed, 3)), (table(&arena), Some(1)));
}

#[test]
fn a_late_comer_stands_last_and_plays() {
    let mut arena = replay(&[], &[game(0, [0, 1], Some(ended(GameResult::Draw)))]);
    arena.join(player_id("Eve"), "Eve".parse().unwrap());
    assert_eq!((arena.idle(), table(&arena).pop()), (vec![0, 1, 2, 3, 4], Some(("Eve".to_owned(), 0))));
    arena.join(player_id("Eve"), "Eve".parse().unwrap());
    assert_eq!(arena.names().len(), 5, "each once");
}

#[test]
fn a_replay_stands_where_the_arena_stood_after_every_game() {
    let results = [GameResult::First, GameResult::Second, GameResult::Draw, GameResult::First];
    let games: Vec<StoredGame> = (0..24)
        .map(|number| {
            let (first, second) = (number % 4, (number % 4 + 1 + number / 8) % 4);
            game(number as u64, [first, second], Some(ended(results[number * 7 % 4])))
        })
        .collect();
    let mut straight = replay(&[], &[]);
    for (number, played) in games.iter().enumerate() {
        let (_, seats) = straight.place_of(played).unwrap();
        straight.started(number as u64, seats, played.spec.id.clone());
        straight.finished(number as u64, Decided::of(played));
        let replayed = replay(&[], &games[..=number]);
        assert_eq!(table(&replayed), table(&straight), "{number}");
        assert_eq!(replayed.entrants, straight.entrants, "{number}");
        assert_eq!(replayed.next_game(), straight.next_game());
        assert!(replayed.lines().eq(straight.lines()));
    }
}
