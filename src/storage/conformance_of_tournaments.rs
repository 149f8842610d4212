//! The part of the suite for all back ends that is about tournaments.

use fourfold_arena::format::Format;
use fourfold_engine::Side;

use super::conformance::{
    FIRST_WINS, Fixture, NOON, add_players, after_noon, first_wins, player_id, spec, write,
};
use super::moderation::{AuditAction, Because};
use super::record::{GamePair, GameSpec};
use super::store::{Refused, Write, Written};
use super::tournaments::{
    Attendance, EndedBecause, StoredTournament, TournamentEnd, TournamentPlan, Walkover,
};
use crate::model::clock::TimeControl;
use crate::model::ids::{PairId, TournamentId};
use crate::model::tournament::TournamentFormat;
use crate::system::config::FormatName;

/// Makes a test of each check.
macro_rules! conformance_of_tournaments {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_tournaments:
            a_tournament_is_read_back_as_it_was_written,
            one_moment_begins_one_tournament,
            walkovers_and_ends_are_stored_once,
            entrants_come_late_leave_and_come_back,
            a_tournament_is_called_off_before_it_begins_or_later,
            games_are_found_by_their_tournament,
            a_plan_is_kept_with_its_entrants_until_it_begins,
            plans_go_with_whoever_made_them,
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
        format: Format::Swiss { rounds: 3 }.into(),
        entrants: vec![player_id("Bob"), player_id("Ada")],
        pairs: 2,
        seed: u64::MAX - 1,
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None },
        rated: true,
        concurrency: 2,
        watchable: false,
        started_at: NOON,
        maker: None,
        open_people: false,
        end: None,
    }
}

fn end() -> TournamentEnd {
    let winner = Some(player_id("Ada"));
    TournamentEnd { reason: EndedBecause::Suspended, at: after_noon(9), winner, games: 7, because: None }
}

pub(crate) async fn a_tournament_is_read_back_as_it_was_written<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let one = tournament("T1", 0);
    let two = StoredTournament { format: Format::Knockout.into(), ..tournament("T2", 1) };
    let format = TournamentFormat::Arena { minutes: 45 };
    let called_off = Some(TournamentEnd {
        reason: EndedBecause::Cancelled,
        winner: None,
        because: Some("rain".into()),
        ..end()
    });
    let maker = Some(player_id("Bob"));
    let three = StoredTournament { format, maker, open_people: true, end: called_off, ..tournament("T3", 2) };
    for tournament in [&one, &two, &three] {
        assert_eq!(write(&*store, Write::AddTournament(tournament.clone())).await, Ok(Written::Done));
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.tournament(&one.id).await.unwrap(), Some(one.clone()));
    assert_eq!(store.tournament(&id("T9")).await.unwrap(), None);
    assert_eq!(store.running_tournaments().await.unwrap(), [one.clone(), two.clone()]);
    let all = [(3, three.clone()), (2, two), (1, one.clone())];
    assert_eq!(store.tournaments(None, 9).await.unwrap(), all);
    assert_eq!(store.tournaments(None, 1).await.unwrap(), [(3, three)]);
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

pub(crate) async fn entrants_come_late_leave_and_come_back<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Cleo"]).await;
    write(&*store, Write::AddTournament(tournament("T1", 0))).await.unwrap();
    let joins =
        |name, player, came| Write::JoinTournament { tournament: id(name), player: player_id(player), came };
    let quits =
        |name, player, went| Write::QuitTournament { tournament: id(name), player: player_id(player), went };
    for (one, expected) in [
        (joins("T1", "Cleo", 4), Ok(Written::Done)),
        (quits("T1", "Ada", 5), Ok(Written::Done)),
        (quits("T1", "Bob", 6), Ok(Written::Done)),
        (quits("T1", "Bob", 7), Err(Refused::NoSuchPlayer)),
        (joins("T1", "Ada", 8), Ok(Written::Done)),
        (joins("T1", "nobody", 8), Err(Refused::NoSuchPlayer)),
        (quits("T1", "nobody", 8), Err(Refused::NoSuchPlayer)),
        (joins("T9", "Cleo", 8), Err(Refused::NoSuchTournament)),
        (quits("T9", "Cleo", 8), Err(Refused::NoSuchTournament)),
    ] {
        assert_eq!(write(&*store, one.clone()).await, expected, "{one:?}");
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let entrants = store.tournament(&id("T1")).await.unwrap().unwrap().entrants;
    assert_eq!(entrants, ["Bob", "Ada", "Cleo"].map(player_id));
    let attendance = [(0, Some(6)), (8, None), (4, None)].map(|(came, went)| Attendance { came, went });
    assert_eq!(store.attendance(&id("T1")).await.unwrap(), attendance);
    assert_eq!(store.attendance(&id("T9")).await.unwrap(), []);
    write(&*store, Write::EndTournament { tournament: id("T1"), end: end() }).await.unwrap();
    assert_eq!(write(&*store, joins("T1", "Cleo", 9)).await, Err(Refused::NoSuchTournament));
    assert_eq!(write(&*store, quits("T1", "Cleo", 9)).await, Err(Refused::NoSuchTournament));
}

pub(crate) async fn a_tournament_is_called_off_before_it_begins_or_later<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let called_off = |tournament: StoredTournament, because: &str| {
        let because = Some(because.to_owned());
        let end = TournamentEnd { reason: EndedBecause::Cancelled, winner: None, because, ..end() };
        StoredTournament { end: Some(end), ..tournament }
    };
    let cancel = |tournament: &StoredTournament, because| Write::CancelTournament {
        tournament: Box::new(tournament.clone()),
        because,
    };
    let running = called_off(tournament("T1", 0), "rain");
    write(&*store, Write::AddTournament(tournament("T1", 0))).await.unwrap();
    assert_eq!(write(&*store, cancel(&running, None)).await, Ok(Written::Done));
    assert_eq!(write(&*store, cancel(&running, None)).await, Err(Refused::IdTaken));
    write(&*store, Write::PlanTournament(Box::new(plan("P1", 5)))).await.unwrap();
    let planned =
        StoredTournament { entrants: Vec::new(), ..called_off(tournament("P1", 5), "nobody comes") };
    let operator = Because { reason: "nobody comes".into(), by: "root".into(), at: NOON };
    assert_eq!(write(&*store, cancel(&planned, Some(operator))).await, Ok(Written::Done));
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.running_tournaments().await.unwrap(), []);
    assert_eq!(store.tournament_plans().await.unwrap(), []);
    let all = store.tournaments(None, 9).await.unwrap();
    assert_eq!(all.into_iter().map(|(_, tournament)| tournament).collect::<Vec<_>>(), [planned, running]);
    let log = store.audit_log(None, 9).await.unwrap();
    let noted: Vec<_> = log.iter().map(|entry| (entry.action, entry.subject.as_str())).collect();
    assert_eq!(noted, [(AuditAction::CancelTournament, "P1")], "what its maker does is none of the log's");
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

/// A knockout of Bob's, to begin so many milliseconds after noon.
fn plan(text: &str, begins: i64) -> TournamentPlan {
    TournamentPlan {
        id: id(text),
        name: format!("Cup {text}"),
        maker: player_id("Bob"),
        begins_at: after_noon(begins),
        format: FormatName::Knockout,
        rounds: None,
        minutes: None,
        pairs: 1,
        time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(5_000) },
        rated: false,
        open_bots: true,
        entered: Vec::new(),
    }
}

pub(crate) async fn a_plan_is_kept_with_its_entrants_until_it_begins<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Cleo"]).await;
    let add = |plan: &TournamentPlan| Write::PlanTournament(Box::new(plan.clone()));
    let later = plan("P1", 2_000);
    let arena = TournamentPlan { format: FormatName::Arena, minutes: Some(60), ..plan("P0", 3_000) };
    let sooner = TournamentPlan {
        format: FormatName::Swiss,
        rounds: Some(4),
        pairs: 3,
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None },
        rated: true,
        open_bots: false,
        entered: vec![player_id("Cleo"), player_id("Bob")],
        ..plan("P2", 1_000)
    };
    for plan in [&later, &sooner, &arena] {
        assert_eq!(write(&*store, add(plan)).await, Ok(Written::Done));
        assert_eq!(write(&*store, add(plan)).await, Err(Refused::IdTaken));
    }
    let namesake = TournamentPlan { name: later.name.clone(), ..plan("P3", 3_000) };
    assert_eq!(write(&*store, add(&namesake)).await, Err(Refused::IdTaken));
    let strangers = TournamentPlan { entered: vec![player_id("nobody")], ..plan("P4", 3_000) };
    assert_eq!(write(&*store, add(&strangers)).await, Err(Refused::NoSuchPlayer));
    let nobodys = TournamentPlan { maker: player_id("nobody"), ..plan("P5", 3_000) };
    assert_eq!(write(&*store, add(&nobodys)).await, Err(Refused::NoSuchPlayer));
    let enters = |plan, player| Write::EnterPlan { plan: id(plan), player: player_id(player) };
    let leaves = |plan, player| Write::LeavePlan { plan: id(plan), player: player_id(player) };
    for (one, expected) in [
        (enters("P1", "Cleo"), Ok(Written::Done)),
        (enters("P1", "Ada"), Ok(Written::Done)),
        (enters("P1", "Cleo"), Ok(Written::Done)),
        (leaves("P2", "Cleo"), Ok(Written::Done)),
        (leaves("P2", "Cleo"), Ok(Written::Done)),
        (enters("P9", "Ada"), Err(Refused::NoSuchPlan)),
        (enters("P1", "nobody"), Err(Refused::NoSuchPlayer)),
        (leaves("P9", "Ada"), Err(Refused::NoSuchPlan)),
        (Write::DropPlan(id("P9")), Err(Refused::NoSuchPlan)),
    ] {
        assert_eq!(write(&*store, one).await, expected);
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let later = TournamentPlan { entered: vec![player_id("Cleo"), player_id("Ada")], ..later };
    let sooner = TournamentPlan { entered: vec![player_id("Bob")], ..sooner };
    assert_eq!(
        store.tournament_plans().await.unwrap(),
        [sooner, later.clone(), arena.clone()],
        "the next comes first"
    );
    let begun = StoredTournament { id: id("P2"), ..tournament("P2", 0) };
    write(&*store, Write::AddTournament(begun)).await.unwrap();
    assert_eq!(store.tournament_plans().await.unwrap(), [later, arena.clone()]);
    write(&*store, Write::DropPlan(id("P1"))).await.unwrap();
    assert_eq!(store.tournament_plans().await.unwrap(), [arena]);
    assert_eq!(write(&*store, enters("P1", "Ada")).await, Err(Refused::NoSuchPlan));
}

pub(crate) async fn plans_go_with_whoever_made_them<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Cleo"]).await;
    let both = vec![player_id("Ada"), player_id("Bob")];
    let bobs = TournamentPlan { entered: both.clone(), ..plan("P1", 0) };
    let adas = TournamentPlan { maker: player_id("Ada"), entered: both, ..plan("P2", 1) };
    for plan in [&bobs, &adas] {
        write(&*store, Write::PlanTournament(Box::new(plan.clone()))).await.unwrap();
    }
    let gone = Write::Retire { player: player_id("Ada"), name: "gone-1".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    let left = TournamentPlan { entered: vec![player_id("Bob")], ..bobs };
    assert_eq!(store.tournament_plans().await.unwrap(), [left]);
}
