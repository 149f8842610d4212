//! The part of the suite for all back ends that is about tournaments.

use fourfold_arena::format::Format;
use fourfold_engine::Side;

use super::conformance::{
    FIRST_WINS, Fixture, NOON, add_players, after_noon, first_wins, player_id, spec, write,
};
use super::record::{GamePair, GameSpec};
use super::store::{Refused, Write, Written};
use super::tournaments::{EndedBecause, StoredTournament, TournamentEnd, Walkover};
use crate::model::clock::TimeControl;
use crate::model::ids::{PairId, TournamentId};

/// Makes a test of each check.
macro_rules! conformance_of_tournaments {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_tournaments:
            a_tournament_is_read_back_as_it_was_written,
            one_moment_begins_one_tournament,
            walkovers_and_ends_are_stored_once,
            games_are_found_by_their_tournament,
        );
    };
}
pub(crate) use conformance_of_tournaments;

fn id(text: &str) -> TournamentId {
    text.parse().unwrap()
}

/// A Swiss between Bob and Ada, due so many milliseconds after noon.
pub(crate) fn tournament(text: &str, due: i64) -> StoredTournament {
    StoredTournament {
        id: id(text),
        name: "Cup".into(),
        due_at: after_noon(due),
        format: Format::Swiss { rounds: 3 },
        entrants: vec![player_id("Bob"), player_id("Ada")],
        pairs: 2,
        seed: u64::MAX - 1,
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None },
        rated: true,
        concurrency: 2,
        watchable: false,
        started_at: NOON,
        end: None,
    }
}

fn end() -> TournamentEnd {
    let winner = Some(player_id("Ada"));
    TournamentEnd { reason: EndedBecause::Suspended, at: after_noon(9), winner, games: 7 }
}

pub(crate) async fn a_tournament_is_read_back_as_it_was_written<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let one = tournament("T1", 0);
    let two = StoredTournament { format: Format::Knockout, ..tournament("T2", 1) };
    for tournament in [&one, &two] {
        assert_eq!(write(&*store, Write::AddTournament(tournament.clone())).await, Ok(Written::Done));
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.tournament(&one.id).await.unwrap(), Some(one.clone()));
    assert_eq!(store.tournament(&id("T9")).await.unwrap(), None);
    assert_eq!(store.running_tournaments().await.unwrap(), [one.clone(), two.clone()]);
    assert_eq!(store.tournaments(None, 9).await.unwrap(), [(2, two.clone()), (1, one.clone())]);
    assert_eq!(store.tournaments(None, 1).await.unwrap(), [(2, two)]);
    assert_eq!(store.tournaments(Some(2), 9).await.unwrap(), [(1, one)]);
}

pub(crate) async fn one_moment_begins_one_tournament<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let add = |tournament: StoredTournament| Write::AddTournament(tournament);
    assert_eq!(write(&*store, add(tournament("T1", 0))).await, Ok(Written::Done));
    assert_eq!(write(&*store, add(tournament("T1", 5))).await, Err(Refused::IdTaken));
    assert_eq!(write(&*store, add(tournament("T2", 0))).await, Err(Refused::IdTaken));
    let strangers = StoredTournament { entrants: vec![player_id("nobody")], ..tournament("T3", 7) };
    assert_eq!(write(&*store, add(strangers)).await, Err(Refused::NoSuchPlayer));
    let renamed = StoredTournament { name: "Other".into(), ..tournament("T4", 0) };
    assert_eq!(write(&*store, add(renamed)).await, Ok(Written::Done));
    assert_eq!(store.tournaments(None, 9).await.unwrap().len(), 2);
}

pub(crate) async fn walkovers_and_ends_are_stored_once<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, Write::AddTournament(tournament("T1", 0))).await.unwrap();
    let walkover =
        |number, absent| Write::WalkOver { tournament: id("T1"), walkover: Walkover { number, absent } };
    assert_eq!(write(&*store, walkover(5, Side::Second)).await, Ok(Written::Done));
    assert_eq!(write(&*store, walkover(3, Side::First)).await, Ok(Written::Done));
    assert_eq!(write(&*store, walkover(5, Side::First)).await, Err(Refused::NoSuchTournament));
    let stored = [(3, Side::First), (5, Side::Second)].map(|(number, absent)| Walkover { number, absent });
    assert_eq!(store.walkovers(&id("T1")).await.unwrap(), stored);
    let ends = |name| Write::EndTournament { tournament: id(name), end: end() };
    assert_eq!(write(&*store, ends("T1")).await, Ok(Written::Done));
    assert_eq!(write(&*store, ends("T1")).await, Err(Refused::NoSuchTournament));
    assert_eq!(write(&*store, ends("T9")).await, Err(Refused::NoSuchTournament));
    assert_eq!(write(&*store, walkover(6, Side::First)).await, Err(Refused::NoSuchTournament));
    assert_eq!(store.tournament(&id("T1")).await.unwrap().unwrap().end, Some(end()));
    assert_eq!(store.running_tournaments().await.unwrap(), []);
}

pub(crate) async fn games_are_found_by_their_tournament<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let of = |game: &str, tournament: &str, pair: u64, leg| GameSpec {
        pair: Some(GamePair { id: PairId::in_tournament(&id(tournament), pair), leg, of: 2 }),
        ..spec(game, "Ada", "Bob")
    };
    first_wins(&*store, of("g1", "T1", 10, 1), FIRST_WINS).await;
    for game in [of("g2", "T1", 9, 2), of("g3", "T10", 0, 1), spec("g4", "Ada", "Bob")] {
        write(&*store, Write::StartGame(game)).await.unwrap();
    }
    let games = store.games_of_tournament(&id("T1")).await.unwrap();
    let found: Vec<_> = games.iter().map(|game| (game.spec.id.as_str(), game.ending().is_some())).collect();
    assert_eq!(found, [("g1", true), ("g2", false)], "in the order in which they began");
    assert_eq!(store.games_of_tournament(&id("T9")).await.unwrap(), []);
    let series = |pair: &str| GamePair { id: pair.parse().unwrap(), leg: 1, of: 4 };
    for (game, pair) in [("g5", "S1-d500x530"), ("g6", "S2-d"), ("g7", "S1-d500x530")] {
        let spec = GameSpec { pair: Some(series(pair)), ..spec(game, "Ada", "Bob") };
        write(&*store, Write::StartGame(spec)).await.unwrap();
    }
    let games = store.games_of_series(&series("S1-d500x530").id).await.unwrap();
    assert_eq!(games.iter().map(|game| game.spec.id.as_str()).collect::<Vec<_>>(), ["g5", "g7"]);
    assert_eq!(store.games_of_series(&series("S3-d").id).await.unwrap(), []);
}
