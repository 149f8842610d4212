//! What every store must do alike with logs that were packed: nobody sees a difference.

use fourfold_engine::{BySide, Side};

use super::conformance::{
    FIRST_WINS_TOO, Fixture, add_players, after_noon, checked_chain, event, moves, play, play_various,
    player_id, spec, void, write,
};
use super::forgetting::Forgetting;
use super::games::{GameQuery, Notes};
use super::record::{Ending, EventKind, StoredEvent, StoredGame};
use super::store::{Store, Write, Written};
use crate::model::ids::PlayerId;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;
use crate::operations::verify::verify;

/// Makes a test of each check.
macro_rules! conformance_of_packing {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_packing:
            a_packed_game_is_the_game_that_it_was,
            a_few_games_are_packed_at_a_time_and_none_that_goes_on,
            packed_games_are_taken_out_as_others_are,
            notes_go_from_packed_games_too,
            what_was_read_before_something_changed_is_not_packed,
        );
    };
}
pub(crate) use conformance_of_packing;

/// Packs the next games, of so many at most.
pub(crate) async fn pack(store: &dyn Store, games: u32) {
    if let Some(next) = store.next_packing(games).await.unwrap() {
        assert_eq!(write(store, Write::Pack(next)).await, Ok(Written::Done));
    }
}

/// How many finished games are to be packed.
async fn unpacked(store: &dyn Store) -> u64 {
    store.next_packing(1_000).await.unwrap().map_or(0, |next| next.games())
}

async fn all(store: &dyn Store) -> Vec<StoredGame> {
    store.finished_games(&GameQuery { limit: 100, notes: Notes::Read, ..GameQuery::default() }).await.unwrap()
}

/// A game in which all kinds of things happen, among them notes.
fn eventful(by: Side) -> Vec<StoredEvent> {
    let mut events = moves("445");
    if let EventKind::Move(played) = &mut events[1].kind {
        played.info = Some(r#"{"depth":9,"pv":"4453","text":"ä\u0000"}"#.into());
    }
    events.push(event(4, EventKind::Takeback { plies: 2 }));
    events.push(event(5, EventKind::Paused));
    let mut last = event(
        6,
        EventKind::Finished(Ending { result: GameResult::Void, reason: EndReason::Aborted, by: Some(by) }),
    );
    last.clock_ms = BySide { first: 0, second: i64::MAX.unsigned_abs() };
    events.push(last);
    events
}

pub(crate) async fn a_packed_game_is_the_game_that_it_was<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    play_various(&*store).await;
    for (id, by) in [("e1", Side::First), ("e2", Side::Second)] {
        let batch = [
            Write::StartGame(spec(id, "Ada", "Bob")),
            Write::Finish { game: id.parse().unwrap(), events: eventful(by) },
        ];
        assert!(store.commit(&batch).await.unwrap().iter().all(Result::is_ok));
    }
    let since = after_noon(0);
    let before = (all(&*store).await, store.departures(since).await.unwrap(), checked_chain(&*store).await);
    assert_eq!((before.0.len(), before.1.len()), (6, 2));
    fixture.unpack().await;
    assert_eq!((all(&*store).await, checked_chain(&*store).await), (before.0.clone(), before.2.clone()));
    pack(&*store, 100).await;
    assert_eq!(unpacked(&*store).await, 0);
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let after = (all(&*store).await, store.departures(since).await.unwrap(), checked_chain(&*store).await);
    assert_eq!(after, before);
    for game in before.0 {
        assert_eq!(store.game(&game.spec.id).await.unwrap(), Some(game));
    }
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
    // Nothing is left to do, and that is no error.
    pack(&*store, 100).await;
}

pub(crate) async fn a_few_games_are_packed_at_a_time_and_none_that_goes_on<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    pack(&*store, 20).await;
    add_players(&*store, &["Ada", "Bob"]).await;
    let goes_on = spec("live", "Ada", "Bob");
    let append = |events: &[StoredEvent]| Write::Append { game: goes_on.id.clone(), events: events.to_vec() };
    let events = moves("4453");
    store.commit(&[Write::StartGame(goes_on.clone()), append(&events[..2])]).await.unwrap();
    for n in 0..5 {
        play(
            &*store,
            spec(&format!("g{n}"), "Bob", "Ada"),
            FIRST_WINS_TOO,
            GameResult::First,
            EndReason::Four,
        )
        .await;
    }
    fixture.unpack().await;
    let keeps_logs = unpacked(&*store).await > 0;
    for left in [3, 1, 0, 0] {
        pack(&*store, 2).await;
        assert_eq!(unpacked(&*store).await, if keeps_logs { left } else { 0 });
    }
    assert_eq!(write(&*store, append(&events[2..])).await, Ok(Written::Done));
    let live = store.game(&goes_on.id).await.unwrap().unwrap();
    assert_eq!((live.events, all(&*store).await.len()), (events, 5));
}

pub(crate) async fn packed_games_are_taken_out_as_others_are<F: Fixture>() {
    let ratings = async |packs: bool| {
        let fixture = F::create().await;
        let store = fixture.store();
        add_players(&*store, &["Ada", "Bob"]).await;
        for (id, moves, reason) in
            [("g1", "4455667", EndReason::Four), ("g2", "44", EndReason::Time), ("g3", "4", EndReason::Left)]
        {
            play(&*store, spec(id, "Ada", "Bob"), moves, GameResult::First, reason).await;
        }
        fixture.unpack().await;
        if packs {
            pack(&*store, 100).await;
        }
        write(&*store, void("g1")).await.unwrap();
        let rating = async |of: PlayerId| store.ratings_of(&of).await.unwrap();
        (rating(player_id("Ada")).await, rating(player_id("Bob")).await, all(&*store).await)
    };
    assert_eq!(ratings(true).await, ratings(false).await);
}

pub(crate) async fn notes_go_from_packed_games_too<F: Fixture>() {
    let fixture = with_notes::<F>().await;
    let store = fixture.store();
    pack(&*store, 1).await;
    assert_eq!(notes(&*store).await, (1, "4".into(), 6));
    write(&*store, Write::Forget(ALL_NOTES)).await.unwrap();
    assert_eq!(notes(&*store).await, (0, "4".into(), 6));
}

pub(crate) async fn what_was_read_before_something_changed_is_not_packed<F: Fixture>() {
    let fixture = with_notes::<F>().await;
    let store = fixture.store();
    let Some(read) = store.next_packing(9).await.unwrap() else { return };
    write(&*store, Write::Forget(ALL_NOTES)).await.unwrap();
    write(&*store, Write::Pack(read)).await.unwrap();
    assert_eq!(notes(&*store).await, (0, "4".into(), 6), "they do not come back");
    assert_eq!(unpacked(&*store).await, 1, "it is read again");
    let read = store.next_packing(9).await.unwrap().unwrap();
    for _ in 0..2 {
        write(&*store, Write::Pack(read.clone())).await.unwrap();
        assert_eq!((notes(&*store).await, unpacked(&*store).await), ((0, "4".into(), 6), 0));
    }
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
}

const ALL_NOTES: Forgetting =
    Forgetting { lessons_before: None, notes_before: Some(UnixMillis(i64::MAX)), games: 9 };

/// A store with one game of bots of the house that is not packed, in which there is one note.
async fn with_notes<F: Fixture>() -> F {
    let fixture = F::create().await;
    let store = fixture.store();
    for name in ["Ada", "Bob"] {
        let bot = super::record::StoredPlayer {
            house: true,
            ..super::conformance::player(name, crate::model::player::PlayerKind::Bot)
        };
        write(&*store, super::conformance::add(bot)).await.unwrap();
    }
    let finish = Write::Finish { game: "g1".parse().unwrap(), events: eventful(Side::First) };
    store.commit(&[Write::StartGame(spec("g1", "Ada", "Bob")), finish]).await.unwrap();
    fixture.unpack().await;
    fixture
}

/// How many notes there are in it, its moves, and how many events.
async fn notes(store: &dyn Store) -> (usize, String, usize) {
    let game = store.game(&"g1".parse().unwrap()).await.unwrap().unwrap();
    let is_note = |event: &&StoredEvent| matches!(&event.kind, EventKind::Move(m) if m.info.is_some());
    (game.events.iter().filter(is_note).count(), game.moves(), game.events.len())
}
