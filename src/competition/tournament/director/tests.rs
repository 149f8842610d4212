use std::collections::BTreeMap;

use super::*;
use crate::competition::tournament::board::{Canceller, EntryError, PlanDecision, PlanError, Wish};
use crate::competition::tournament::plans::PLANS_OF_ONE_MAX;
use crate::model::clock::TimeControl;
use crate::protocol::ServerMessage;
use crate::protocol::server::{Notice, NoticeCode};
use crate::storage::MemoryStore;
use crate::storage::conformance::write;
use crate::storage::games::GameStore;
use crate::storage::moderation::{Because, Measure, MeasureKind};
use crate::storage::tournaments::TournamentStore;
use crate::storage::tournaments::{EndedBecause, TournamentPlan};
use crate::system::config::FormatName;
use crate::system::supervision::Supervision;
use crate::testing::{Account, Arena, Client, Setup, place};

const HOUSE: &[(&str, &str)] =
    &[("Rando", "random:seed=1"), ("Greta", "greedy"), ("Stu", "stupid"), ("Line", "lines69")];

fn config(keys: &str) -> TournamentConfig {
    let text = format!("name = \"Cup\"\nat = \"never\"\nseed = 3\nwatchable = false\n{keys}");
    toml::from_str(&text).unwrap()
}

fn of_house(format: &str) -> TournamentConfig {
    config(&format!(
        "format = \"{format}\"\nentrants = [\"Rando\", \"Greta\", \"Stu\", \"Line\", \"Nobody\"]"
    ))
}

async fn arena() -> Arena {
    Arena::with(Setup { house: HOUSE, ..Setup::default() }).await
}

/// A director at work, what can be seen of it, and how it is stopped.
async fn direct(arena: &Arena, config: TournamentConfig) -> (Tournaments, CancellationToken) {
    let services = &arena.services;
    let deps = DirectorDeps {
        host: services.host.clone(),
        store: Arc::clone(&services.store),
        writer: services.writer.clone(),
        sessions: services.sessions.clone(),
    };
    let (director, board) = Director::new(deps, vec![config]).await.unwrap();
    let stop = CancellationToken::new();
    let supervision = Supervision::new(Arc::default());
    tokio::spawn(supervision.keep(director, stop.clone()));
    (board, stop)
}

async fn ended(store: &MemoryStore, id: &TournamentId) -> TournamentEnd {
    loop {
        if let Some(end) = store.tournament(id).await.unwrap().unwrap().end {
            return end;
        }
        tokio::time::sleep(TICK).await;
    }
}

/// How often each game of the schedule is stored.
async fn stored(store: &MemoryStore, id: &TournamentId) -> BTreeMap<(PairId, u32), usize> {
    let mut counts = BTreeMap::new();
    for game in store.games_of_tournament(id).await.unwrap() {
        let pair = game.spec.pair.unwrap();
        *counts.entry((pair.id, pair.leg)).or_default() += 1;
    }
    counts
}

#[tokio::test(start_paused = true)]
async fn a_knockout_is_played_to_its_end() {
    let arena = arena().await;
    let (board, _stop) = direct(&arena, of_house("knockout")).await;
    let id = board.start("Cup").await.unwrap();
    assert_eq!(board.start("Cup").await, Err(TournamentStartError::GoesOn("Cup".into())));
    assert_eq!(board.start("Cap").await, Err(TournamentStartError::Unknown("Cap".into())));
    let end = ended(&arena.store, &id).await;
    assert_eq!(end.reason, EndedBecause::Complete);
    let view = board.view(&id).await.unwrap().unwrap();
    assert_eq!((view.games, view.games), (end.games, view.known));
    assert_eq!(view.names.len(), 4, "whoever is not there is left out");
    assert!(stored(&arena.store, &id).await.values().all(|count| *count == 1));
    let winner = view.tournament.entrants.iter().position(|entrant| Some(entrant) == end.winner.as_ref());
    assert_eq!(view.table.players[0].name, view.names[winner.unwrap()].as_str());
    let rated = arena.store.game(view.lines[0].game.as_ref().unwrap()).await.unwrap().unwrap().spec.rated;
    assert!(rated);
}

/// A process of its own: when it is dropped, everything in it is gone at once.
fn process() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// Starts a round robin, lets it run until so many games are stored, is killed, and goes on in another process.
fn check_cut_off_after(games: usize) {
    let config = || TournamentConfig {
        concurrency: crate::system::config::Bounded::new(3),
        ..of_house("round-robin")
    };
    let setup = || Setup { house: HOUSE, ..Setup::default() };
    let first = process();
    let (store, id) = first.block_on(async {
        let arena = arena().await;
        let (board, _stop) = direct(&arena, config()).await;
        let id = board.start("Cup").await.unwrap();
        while stored(&arena.store, &id).await.len() < games {
            tokio::task::yield_now().await;
        }
        (Arc::clone(&arena.store), id)
    });
    drop(first);
    process().block_on(async {
        let arena = Arena::restarted_with(Arc::clone(&store), setup()).await;
        let (board, _stop) = direct(&arena, config()).await;
        assert_eq!(
            board.start("Cup").await,
            Err(TournamentStartError::GoesOn("Cup".into())),
            "it was taken up"
        );
        arena.take_up_games().await;
        let end = ended(&store, &id).await;
        assert_eq!((end.reason, end.games), (EndedBecause::Complete, 12));
        let stored = stored(&store, &id).await;
        assert_eq!((stored.len(), stored.values().sum::<usize>()), (12, 12));
        let view = Tournaments::reading(store.clone()).view(&id).await.unwrap().unwrap();
        assert!(view.lines.iter().all(|line| line.outcome.is_some()));
        assert_eq!(view.table, board.view(&id).await.unwrap().unwrap().table);
    });
}

#[test]
fn a_tournament_that_was_cut_off_goes_on_without_losing_or_doubling_a_game() {
    for games in [1, 4, 7, 11] {
        check_cut_off_after(games);
    }
}

async fn two_remote(arena: &Arena) -> ((Account, Client), (Account, Client)) {
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let (ann_client, bob_client) = (arena.join_open(&ann).await, arena.join_open(&bob).await);
    ((ann, ann_client), (bob, bob_client))
}

#[tokio::test(start_paused = true)]
async fn open_bots_enter_and_whoever_stays_away_loses() {
    let arena = arena().await;
    let ((_, mut ann), (_, bob)) = two_remote(&arena).await;
    let config = config("format = \"round-robin\"\nopen_bots = true\ngames = 20\nconcurrency = 1");
    let (board, _stop) = direct(&arena, config).await;
    let id = board.start("Cup").await.unwrap();
    arena.settle().await;
    let game = ann.hear_game().expect("the first game has begun");
    let view = board.view(&id).await.unwrap().unwrap();
    assert_eq!((view.lines.len(), view.games), (1, 0), "a change after a long time is shown at once");
    bob.leave().await;
    ann.resign(&game.game).await;
    tokio::time::sleep(2 * SHOW_EVERY).await;
    assert_eq!(board.view(&id).await.unwrap().unwrap().games, 1, "and soon after another");
    let end = ended(&arena.store, &id).await;
    assert_eq!(end.reason, EndedBecause::Suspended, "one is left");
    let walkovers = arena.store.walkovers(&id).await.unwrap();
    assert_eq!(walkovers.len(), 3, "{walkovers:?}");
    let view = board.view(&id).await.unwrap().unwrap();
    assert_eq!(view.table.players[0].name, "ann");
    assert!(view.table.players[1].standing.unwrap().suspended);
}

#[tokio::test(start_paused = true)]
async fn one_entrant_is_no_tournament() {
    let arena = arena().await;
    let (board, _stop) =
        direct(&arena, config("format = \"swiss\"\nentrants = [\"Greta\", \"Nobody\"]")).await;
    assert_eq!(board.start("Cup").await, Err(TournamentStartError::Alone("Cup".into())));
    arena.services.host.stop();
    assert_eq!(board.start("Cup").await, Err(TournamentStartError::Unavailable));
    assert!(board.list(None, 9).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_due_is_announced_and_begins_with_the_daemon() {
    let arena = arena().await;
    let at_start = TournamentConfig { at: "start".parse().unwrap(), ..of_house("swiss") };
    let (board, _stop) = direct(&arena, at_start).await;
    arena.settle().await;
    let list = board.list(None, 9).await.unwrap();
    assert_eq!((list.len(), list[0].1.tournament.name.as_str()), (1, "Cup"));
    assert_eq!(board.upcoming(), [], "it has begun");
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    arena.settle().await;
    let upcoming = board.upcoming();
    let [Upcoming { name, at: None, open_bots: false, entered: None, id: None, .. }] = &*upcoming else {
        panic!("{upcoming:?}");
    };
    assert_eq!(name, "Cup");
    let daily = TournamentConfig { at: "0 18 * * *".parse().unwrap(), ..of_house("swiss") };
    let (board, _stop) = direct(&arena, daily).await;
    arena.settle().await;
    assert!(board.upcoming()[0].at.is_some_and(|at| at > UnixMillis::now()));
}

#[tokio::test(start_paused = true)]
async fn people_enter_until_it_begins_and_take_part_if_they_are_there() {
    let arena = arena().await;
    let keys = "format = \"round-robin\"\nentrants = [\"Greta\"]\nopen_people = true\nrated = false";
    let (board, _stop) = direct(&arena, config(keys)).await;
    let ada = arena.person("Ada").await;
    let bob = arena.person("Bob").await.identity;
    let _client = arena.join(&ada).await;
    let ada = ada.identity;
    for who in [&ada, &bob, &ada] {
        board.enter("Cup", who, Wish::Enter).await.unwrap();
    }
    let entered = |board: &Tournaments| board.upcoming()[0].entered.clone().unwrap();
    assert_eq!(entered(&board), [ada.name.clone(), bob.name.clone()], "each once");
    assert_eq!(board.enter("Cap", &ada, Wish::Enter).await, Err(EntryError::Unknown("Cap".into())));
    board.enter("Cup", &bob, Wish::Withdraw).await.unwrap();
    board.enter("Cup", &bob, Wish::Withdraw).await.unwrap();
    assert_eq!(entered(&board), std::slice::from_ref(&ada.name));
    board.enter("Cup", &bob, Wish::Enter).await.unwrap();
    let id = board.start("Cup").await.unwrap();
    let view = board.view(&id).await.unwrap().unwrap();
    assert_eq!(view.names, ["Greta".parse().unwrap(), ada.name.clone()], "Bob is not connected");
    assert!(entered(&board).is_empty(), "the next one has its own");
    let (closed, _stop) = direct(&arena, of_house("swiss")).await;
    assert_eq!(closed.enter("Cup", &ada, Wish::Enter).await, Err(EntryError::Closed("Cup".into())));
}

#[test]
fn showing_leaves_most_of_the_time_for_games() {
    assert_eq!(rest_after(Duration::ZERO), SHOW_EVERY);
    assert_eq!(rest_after(Duration::from_millis(200)), Duration::from_secs(4));
}

/// A round robin of so many milliseconds from now.
fn plan(id: &str, maker: &Identity, in_ms: i64) -> TournamentPlan {
    TournamentPlan {
        id: id.parse().unwrap(),
        name: format!("Cup {id}"),
        maker: maker.id.clone(),
        begins_at: UnixMillis(UnixMillis::now().0 + in_ms),
        format: FormatName::RoundRobin,
        rounds: None,
        minutes: None,
        pairs: 1,
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None },
        rated: false,
        open_bots: false,
        entered: vec![maker.id.clone()],
    }
}

/// The notices that have come.
fn notices(client: &mut Client) -> Vec<Notice> {
    let notice = |message| match message {
        ServerMessage::Notice(notice) => Some(notice),
        _ => None,
    };
    client.hear().into_iter().filter_map(notice).collect()
}

async fn people(arena: &Arena, names: [&str; 3]) -> [Account; 3] {
    [arena.person(names[0]).await, arena.person(names[1]).await, arena.person(names[2]).await]
}

#[tokio::test(start_paused = true)]
async fn what_somebody_makes_begins_at_its_time_with_those_who_are_there() {
    let arena = arena().await;
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let _clients = [arena.join(&ada).await, arena.join(&bob).await];
    let [ada, bob, cleo] = [ada, bob, cleo].map(|account| account.identity);
    // The one is due, the other is not: paused time is not that of the calendar.
    let (due, later) = (plan("T1", &ada, -1), plan("T2", &ada, 600_000));
    for plan in [&due, &later] {
        board.make(plan.clone(), &ada, place()).await.unwrap();
        board.enter(&plan.name, &cleo, Wish::Enter).await.unwrap();
    }
    tokio::time::sleep(TICK * 3).await;
    let planned = board.planned(&due.id).unwrap();
    assert_eq!(planned.entered.unwrap(), [&ada, &cleo].map(|who| who.name.clone()), "Cleo is not connected");
    assert_eq!((planned.at, planned.people_max), (Some(due.begins_at), 16));
    assert_eq!(board.view(&due.id).await.unwrap(), None);
    for plan in [&due, &later] {
        board.enter(&plan.name, &bob, Wish::Enter).await.unwrap();
    }
    tokio::time::sleep(TICK * 3).await;
    assert_eq!(board.planned(&due.id), None);
    let view = board.view(&due.id).await.unwrap().unwrap();
    assert_eq!(view.names, [ada.name, bob.name]);
    assert!(board.planned(&later.id).is_some(), "not before its time");
    assert_eq!(arena.store.tournament_plans().await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_new_name_is_shown_and_what_whoever_is_gone_has_planned_is_not_held() {
    let arena = arena().await;
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let _clients = [arena.join(&ada).await, arena.join(&bob).await];
    let [ada, bob, cleo] = [ada, bob, cleo].map(|account| account.identity);
    let (due, adas, bobs) = (plan("T1", &ada, -1), plan("T2", &ada, 600_000), plan("T3", &bob, 600_000));
    board.make(due.clone(), &ada, place()).await.unwrap();
    board.enter(&due.name, &bob, Wish::Enter).await.unwrap();
    tokio::time::sleep(TICK * 3).await;
    for (plan, maker) in [(&adas, &ada), (&bobs, &bob)] {
        board.make(plan.clone(), maker, place()).await.unwrap();
        board.enter(&plan.name, &cleo, Wish::Enter).await.unwrap();
    }
    board.enter(&bobs.name, &ada, Wish::Enter).await.unwrap();
    let name: PlayerName = "lovelace".parse().unwrap();
    let because = Because { reason: "rude".into(), by: "grace".into(), at: UnixMillis::now() };
    let rename = MeasureKind::Rename { from: ada.name.clone(), name: name.clone() };
    let measure = Measure { player: ada.id.clone(), kind: rename, because };
    write(&*arena.store, Write::TakeMeasure(measure)).await.unwrap();
    let ada = Identity { name: name.clone(), ..ada };
    board.renamed(ada.clone()).await;
    tokio::time::sleep(TICK * 3).await;
    assert_eq!(board.planned(&adas.id).unwrap().maker.unwrap(), ada);
    let entered = [&bob, &cleo, &ada].map(|who| who.name.clone());
    assert_eq!(board.planned(&bobs.id).unwrap().entered.unwrap(), entered);
    let names = async || board.view(&due.id).await.unwrap().unwrap().names.clone();
    assert_eq!(names().await, [ada.name.clone(), bob.name.clone()], "of what goes on, too");
    board.gone(ada.id.clone()).await;
    tokio::time::sleep(TICK * 3).await;
    assert_eq!(board.planned(&adas.id), None);
    assert_eq!(board.planned(&bobs.id).unwrap().entered.unwrap(), [bob.name, cleo.name]);
    let stored = arena.store.tournament_plans().await.unwrap();
    assert_eq!(stored.into_iter().map(|plan| plan.id).collect::<Vec<_>>(), [bobs.id]);
}

#[tokio::test(start_paused = true)]
async fn whoever_has_entered_is_called_once_a_moment_before_it_begins() {
    let arena = arena().await;
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let (mut one, mut other) = (arena.join(&ada).await, arena.join(&cleo).await);
    // Paused time is not that of the calendar: the one is near, the other is not.
    let (near, later) = (plan("T1", &ada.identity, 50_000), plan("T2", &ada.identity, 600_000));
    for plan in [&near, &later] {
        board.make(plan.clone(), &ada.identity, place()).await.unwrap();
        board.enter(&plan.name, &bob.identity, Wish::Enter).await.unwrap();
    }
    tokio::time::sleep(TICK * 3).await;
    let mut late = arena.join(&bob).await;
    tokio::time::sleep(TICK * 3).await;
    for client in [&mut one, &mut late] {
        let told = notices(client);
        let [notice] = &told[..] else { panic!("told once: {told:?}") };
        assert_eq!((notice.code, notice.text.as_deref()), (NoticeCode::Tournament, Some("Cup T1")));
        assert_eq!(notice.tournament.as_ref(), Some(&near.id));
        assert!((1..=50_000).contains(&notice.in_ms), "{notice:?}");
    }
    assert_eq!(notices(&mut other), [], "she has not entered");
}

#[tokio::test(start_paused = true)]
async fn its_maker_begins_it_sooner_or_gives_it_up_and_nobody_else_does() {
    let arena = arena().await;
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, _] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let _clients = [arena.join(&ada).await, arena.join(&bob).await];
    let [ada, bob] = [ada, bob].map(|account| account.identity);
    let (first, second) = (plan("T1", &ada, 600_000), plan("T2", &ada, 700_000));
    for plan in [&first, &second] {
        board.make(plan.clone(), &ada, place()).await.unwrap();
    }
    let decide = |plan: &TournamentPlan, who: &Identity, decision| {
        let (board, id, who) = (board.clone(), plan.id.clone(), who.id.clone());
        async move { board.decide(&id, &who, decision).await }
    };
    assert_eq!(decide(&first, &bob, PlanDecision::Drop).await, Err(PlanError::NotYours));
    let alone = TournamentStartError::Alone("Cup T1".into());
    assert_eq!(decide(&first, &ada, PlanDecision::Begin).await, Err(PlanError::Start(alone)));
    board.enter("Cup T1", &bob, Wish::Enter).await.unwrap();
    assert_eq!(decide(&first, &ada, PlanDecision::Begin).await, Ok(()));
    assert!(board.view(&first.id).await.unwrap().is_some());
    assert_eq!(decide(&first, &ada, PlanDecision::Drop).await, Err(PlanError::Unknown), "it has begun");
    assert_eq!(decide(&second, &ada, PlanDecision::Drop).await, Ok(()));
    assert_eq!(board.planned(&second.id), None);
    assert_eq!(arena.store.tournament_plans().await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn nobody_takes_a_name_or_more_than_their_part() {
    let arena = arena().await;
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, _] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let [ada, bob] = [ada, bob].map(|account| account.identity);
    let taken = TournamentPlan { name: "cup".into(), ..plan("T0", &ada, 60_000) };
    let refused = board.make(taken, &ada, place()).await;
    assert_eq!(refused, Err(PlanError::NameTaken("cup".into())), "the operators' own");
    board.make(plan("T1", &ada, 60_000), &ada, place()).await.unwrap();
    let again = TournamentPlan { id: "T9".parse().unwrap(), ..plan("T1", &bob, 60_000) };
    assert_eq!(board.make(again, &bob, place()).await, Err(PlanError::NameTaken("Cup T1".into())));
    board.make(plan("T2", &ada, 60_000), &ada, place()).await.unwrap();
    let max = PLANS_OF_ONE_MAX;
    assert_eq!(board.make(plan("T3", &ada, 60_000), &ada, place()).await, Err(PlanError::TooMany { max }));
    board.make(plan("T4", &bob, 60_000), &bob, place()).await.unwrap();
    for number in 0..15 {
        let who = arena.person(&format!("P{number}")).await.identity;
        board.enter("Cup T4", &who, Wish::Enter).await.unwrap();
    }
    let late = arena.person("Late").await.identity;
    assert_eq!(board.enter("Cup T4", &late, Wish::Enter).await, Err(EntryError::Full { max: 16 }));
}

#[tokio::test(start_paused = true)]
async fn what_was_made_survives_a_kill_and_what_nobody_comes_to_is_given_up() {
    let arena = arena().await;
    let (board, stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let [ada, bob, cleo] = [ada, bob, cleo].map(|account| account.identity);
    let (late, too_late) = (plan("T1", &ada, -240_000), plan("T2", &bob, -301_000));
    board.make(late.clone(), &ada, place()).await.unwrap();
    board.enter("Cup T1", &cleo, Wish::Enter).await.unwrap();
    board.enter("Cup T1", &ada, Wish::Withdraw).await.unwrap();
    stop.cancel();
    write(&*arena.store, Write::PlanTournament(Box::new(too_late.clone()))).await.unwrap();
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    tokio::time::sleep(TICK * 3).await;
    let planned = board.planned(&late.id).expect("somebody may come yet");
    assert_eq!(planned.entered.unwrap(), [cleo.name]);
    assert_eq!(board.planned(&too_late.id), None);
    let left: Vec<_> =
        arena.store.tournament_plans().await.unwrap().into_iter().map(|plan| plan.id).collect();
    assert_eq!(left, [late.id]);
}

/// An arena that began so many milliseconds ago, and lasts one minute, as it is stored.
fn arena_since(ms: i64, entrants: &[&Identity]) -> StoredTournament {
    let identities: Vec<Identity> = entrants.iter().map(|who| (*who).clone()).collect();
    let arena = config("format = \"arena\"\nminutes = 1\nopen_people = true");
    let planned = super::plan(&arena, &identities, UnixMillis::now());
    StoredTournament { started_at: UnixMillis(UnixMillis::now().0 - ms), ..planned }
}

/// Lets an arena of house bots run until so many games are stored, is killed, and goes on in another process.
fn check_arena_cut_off_after(games: usize) {
    let setup = || Setup { house: HOUSE, ..Setup::default() };
    let first = process();
    let (store, id) = first.block_on(async {
        let arena = arena().await;
        let house = arena.services.host.house();
        let bots = ["Rando", "Greta", "Stu", "Line"]
            .map(|name| house.by_name(&name.parse().unwrap()).expect("it is of the house").identity.clone());
        let tournament = arena_since(57_500, &bots.each_ref());
        let id = tournament.id.clone();
        write(&*arena.store, Write::AddTournament(tournament)).await.unwrap();
        let (_board, _stop) = direct(&arena, of_house("swiss")).await;
        while stored(&arena.store, &id).await.len() < games {
            tokio::task::yield_now().await;
        }
        (Arc::clone(&arena.store), id)
    });
    drop(first);
    let before = process().block_on(async { stored(&store, &id).await.len() });
    process().block_on(async {
        let arena = Arena::restarted_with(Arc::clone(&store), setup()).await;
        let (board, _stop) = direct(&arena, of_house("swiss")).await;
        arena.take_up_games().await;
        let end = ended(&store, &id).await;
        assert_eq!(end.reason, EndedBecause::Complete);
        let stored = stored(&store, &id).await;
        assert!(stored.len() > before, "it went on: {before} games before, {} after", stored.len());
        assert!(stored.values().all(|count| *count == 1), "no game has the number of another: {stored:?}");
        let view = Tournaments::reading(store.clone()).view(&id).await.unwrap().unwrap();
        assert_eq!((view.games, view.lines.len()), (end.games, stored.len()));
        assert_eq!(view.table, board.view(&id).await.unwrap().unwrap().table);
        // Nobody met the same one twice in a row: with four there was always somebody else in time.
        let mut last = [None; 4];
        for line in &view.lines {
            let [first, second] = [line.seats.first, line.seats.second];
            assert!(last[first] != Some(second) || last[second] != Some(first), "{:?}", view.lines);
            (last[first], last[second]) = (Some(second), Some(first));
        }
    });
}

#[test]
fn an_arena_that_was_cut_off_goes_on_without_losing_or_doubling_a_game() {
    for games in [1, 5] {
        check_arena_cut_off_after(games);
    }
}

#[tokio::test(start_paused = true)]
async fn people_come_to_an_arena_late_leave_it_and_come_back() {
    let arena = arena().await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let [mut ada_client, mut bob_client] = [arena.join(&ada).await, arena.join(&bob).await];
    let [ada, bob, cleo] = [ada, bob, cleo].map(|account| account.identity);
    let (board, _stop) = direct(&arena, config("format = \"arena\"\nopen_people = true")).await;
    for who in [&ada, &cleo] {
        board.enter("Cup", who, Wish::Enter).await.unwrap();
    }
    assert_eq!(board.start("Cup").await, Err(TournamentStartError::Alone("Cup".into())), "one is there");
    board.enter("Cup", &bob, Wish::Enter).await.unwrap();
    let id = board.start("Cup").await.unwrap();
    arena.settle().await;
    let game = ada_client.hear_game().expect("whoever is there is paired at once");
    assert_eq!(bob_client.hear_game().map(|game| game.game), Some(game.game.clone()));
    assert_eq!(game.pair.as_ref().map(|pair| (pair.leg, pair.of)), Some((1, 1)));
    ada_client.resign(&game.game).await;
    tokio::time::sleep(TICK * 2).await;
    let next = ada_client.hear_game().expect("and again, there being nobody else");
    assert_ne!((next.game.clone(), next.you), (game.game, game.you), "with the other side");

    board.attend(&id, &ada, Wish::Withdraw).await.unwrap();
    board.attend(&id, &ada, Wish::Withdraw).await.unwrap();
    ada_client.resign(&next.game).await;
    tokio::time::sleep(TICK * 3).await;
    assert_eq!(ada_client.hear_game(), None, "whoever has withdrawn is not paired");
    let view = board.view(&id).await.unwrap().unwrap();
    assert_eq!(view.names, [ada.name.clone(), cleo.name.clone(), bob.name.clone()]);
    assert_eq!(
        view.entrants.iter().map(|entrant| entrant.has_left).collect::<Vec<_>>(),
        [true, false, false]
    );
    assert_eq!((view.games, view.table.players[0].standing.unwrap().score), (2, 4), "what was played counts");

    let dora = arena.person("Dora").await;
    let mut dora_client = arena.join(&dora).await;
    board.attend(&id, &dora.identity, Wish::Enter).await.unwrap();
    tokio::time::sleep(TICK * 2).await;
    let third = dora_client.hear_game().expect("a late comer is paired");
    board.attend(&id, &ada, Wish::Enter).await.unwrap();
    dora_client.resign(&third.game).await;
    tokio::time::sleep(TICK * 2).await;
    assert!(ada_client.hear_game().is_some(), "and so is whoever comes back");
    let attendance = arena.store.attendance(&id).await.unwrap();
    assert_eq!(
        attendance.iter().map(|one| (one.came, one.went)).collect::<Vec<_>>()[2..],
        [(0, None), (2, None)]
    );
    assert_eq!(
        board.attend(&"T9".parse().unwrap(), &ada, Wish::Enter).await,
        Err(EntryError::Unknown("T9".into()))
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_comes_to_an_arena_whose_time_is_up_or_that_is_the_operators_own() {
    let arena = arena().await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await.map(|account| account.identity);
    let open = arena_since(10_000, &[&ada, &bob]);
    let closed =
        StoredTournament { open_people: false, name: "Own".into(), ..arena_since(10_000, &[&ada, &bob]) };
    let late = StoredTournament { name: "Late".into(), ..arena_since(60_000, &[&ada, &bob]) };
    for tournament in [&open, &closed, &late] {
        write(&*arena.store, Write::AddTournament(tournament.clone())).await.unwrap();
    }
    let (board, _stop) = direct(&arena, of_house("swiss")).await;
    let come = async |tournament: &StoredTournament| board.attend(&tournament.id, &cleo, Wish::Enter).await;
    assert_eq!(come(&open).await, Ok(()));
    assert_eq!(come(&open).await, Ok(()), "saying so twice is once");
    assert_eq!(come(&closed).await, Err(EntryError::Closed("Own".into())));
    let refused = come(&late).await;
    let is_late = |error: &EntryError| matches!(error, EntryError::Late(_) | EntryError::Unknown(_));
    assert!(refused.as_ref().is_err_and(is_late), "{refused:?}");
    assert_eq!(board.view(&open.id).await.unwrap().unwrap().names.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn people_come_to_a_swiss_while_half_of_it_is_to_come_and_withdraw_for_good() {
    let arena = arena().await;
    let [ada, bob, cleo] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let [mut ada_client, _bob_client, mut cleo_client] =
        [arena.join(&ada).await, arena.join(&bob).await, arena.join(&cleo).await];
    let [ada, bob, cleo] = [ada, bob, cleo].map(|account| account.identity);
    let (board, _stop) = direct(&arena, config("format = \"swiss\"\nrounds = 2\nopen_people = true")).await;
    for who in [&ada, &bob] {
        board.enter("Cup", who, Wish::Enter).await.unwrap();
    }
    let id = board.start("Cup").await.unwrap();
    board.attend(&id, &cleo, Wish::Enter).await.unwrap();
    arena.settle().await;
    let game = ada_client.hear_game().expect("the first round goes on as it was");
    assert!(board.view(&id).await.unwrap().unwrap().may_come(UnixMillis::now()));
    board.attend(&id, &bob, Wish::Withdraw).await.unwrap();
    ada_client.resign(&game.game).await;
    tokio::time::sleep(TICK * 3).await;
    let second =
        cleo_client.hear_game().expect("the game that Bob left is lost at once, and the next round begins");
    assert_eq!(second.pair.map(|pair| pair.id), Some(PairId::in_tournament(&id, 1)));
    assert_eq!(arena.store.walkovers(&id).await.unwrap().len(), 1);
    let attendance = arena.store.attendance(&id).await.unwrap();
    assert_eq!(
        attendance.iter().map(|one| (one.came, one.went)).collect::<Vec<_>>(),
        [(0, None), (0, Some(2)), (2, None)]
    );
    let view = board.view(&id).await.unwrap().unwrap();
    assert!(!view.may_come(UnixMillis::now()), "the last round has begun");
    for who in [&bob, &arena.person("Dora").await.identity] {
        assert_eq!(board.attend(&id, who, Wish::Enter).await, Err(EntryError::Late("Cup".into())));
    }
    let again = Tournaments::reading(arena.store.clone()).view(&id).await.unwrap().unwrap();
    assert_eq!((&again.table, &again.lines), (&view.table, &view.lines), "all of it is stored");
}

#[tokio::test(start_paused = true)]
async fn its_maker_and_operators_call_a_tournament_off() {
    let arena = arena().await;
    let (board, stop) = direct(&arena, of_house("swiss")).await;
    let [ada, bob, _] = people(&arena, ["Ada", "Bob", "Cleo"]).await;
    let [mut ada_client, _bob_client] = [arena.join(&ada).await, arena.join(&bob).await];
    let [ada, bob] = [ada, bob].map(|account| account.identity);
    let plans = [plan("T1", &ada, 600_000), plan("T2", &ada, 700_000), plan("T3", &bob, 700_000)];
    board.make(plans[0].clone(), &ada, place()).await.unwrap();
    board.make(plans[1].clone(), &ada, place()).await.unwrap();
    board.make(plans[2].clone(), &bob, place()).await.unwrap();
    board.enter("Cup T1", &bob, Wish::Enter).await.unwrap();
    board.decide(&plans[0].id, &ada.id, PlanDecision::Begin).await.unwrap();
    let cancel = async |plan: &TournamentPlan, by, because: Option<&str>| {
        board.cancel(&plan.id, by, because.map(ToOwned::to_owned)).await
    };
    let maker = || Canceller::Maker(ada.id.clone());
    assert_eq!(cancel(&plans[0], Canceller::Maker(bob.id.clone()), None).await, Err(PlanError::NotYours));
    assert_eq!(cancel(&plans[0], maker(), Some("it rains")).await, Ok(()));
    assert_eq!(cancel(&plans[0], maker(), None).await, Err(PlanError::Unknown), "once");
    board.attend(&plans[1].id, &ada, Wish::Withdraw).await.unwrap();
    assert_eq!(cancel(&plans[1], maker(), None).await, Ok(()));
    assert_eq!(cancel(&plans[2], maker(), None).await, Err(PlanError::NotYours));
    let because = Because { reason: "rude".into(), by: "root".into(), at: UnixMillis::now() };
    assert_eq!(cancel(&plans[2], Canceller::Operator(because), Some("rude")).await, Ok(()));
    for (plan, games, said) in
        [(&plans[0], 0, Some("it rains")), (&plans[1], 0, None), (&plans[2], 0, Some("rude"))]
    {
        let view = board.view(&plan.id).await.unwrap().unwrap();
        let end = view.tournament.end.clone().expect("it is over");
        assert_eq!((end.reason, end.games, end.because.as_deref()), (EndedBecause::Cancelled, games, said));
        assert_eq!((board.planned(&plan.id), end.winner), (None, None));
    }
    arena.settle().await;
    let game = ada_client.hear_game().expect("what had begun is played on");
    ada_client.resign(&game.game).await;
    stop.cancel();
    let (_board, _stop) = direct(&arena, of_house("swiss")).await;
    tokio::time::sleep(TICK * 3).await;
    assert_eq!(arena.store.running_tournaments().await.unwrap(), []);
    assert_eq!(stored(&arena.store, &plans[0].id).await.len(), 1, "and nothing more begins");
}
