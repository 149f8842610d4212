use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::task::JoinHandle;

use super::telling::{CROWD_EVERY, LINGER_BOTS, LINGER_PEOPLE};
use super::*;
use crate::accounts::blocks::Blocks;
use crate::analysis::values::Analysis;
use crate::model::fault::ILLEGAL_FORGIVEN;
use crate::model::ids::PlayerId;
use crate::model::result::EndReason;
use crate::play::room::directory::LINGERING_MAX;
use crate::play::room::handle::{Action, TakenSeat};
use crate::play::room::state::{NoColumn, Play};
use crate::play::room::view::SeatedPlayer;
use fourfold_engine::Column;

use crate::protocol::server::{Frame, Urgency};

use crate::model::player::Identity;
use crate::model::player::PlayerKind;

use crate::protocol::terms::WireSide;
use crate::protocol::{ErrorCode, REACTIONS, ServerMessage, WireError};
use crate::storage::conformance::{FIRST_WINS, add_players, player, spec};
use crate::storage::games::GameStore;
use crate::storage::memory::{CommitFault, MemoryStore};
use crate::storage::store::Store;
use crate::system::shares::Shares;

/// Names of what was heard, by all, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// Somebody who writes down what the room says.
struct Hearer {
    name: &'static str,
    member: MemberId,
    up: AtomicBool,
    heard: Mutex<Vec<(Frame, Option<String>)>>,
    log: Log,
}

impl Hearer {
    fn new(name: &'static str, log: &Log) -> Arc<Self> {
        Arc::new(Self {
            name,
            member: MemberId::next(),
            up: AtomicBool::new(true),
            heard: Mutex::default(),
            log: Arc::clone(log),
        })
    }

    fn recipient(self: &Arc<Self>) -> Arc<dyn Recipient> {
        Arc::clone(self) as Arc<dyn Recipient>
    }

    fn reply(self: &Arc<Self>, re: Option<&str>) -> ReplyTo {
        ReplyTo { member: self.member, recipient: self.recipient(), re: re.map(Into::into) }
    }

    /// What was heard since this was last asked.
    fn take(&self) -> Vec<(Frame, Option<String>)> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    fn take_kinds(&self) -> Vec<String> {
        self.take().iter().map(|(frame, _)| kind(frame)).collect()
    }

    fn take_errors(&self) -> Vec<WireError> {
        let errors = self.take().into_iter().filter_map(|(frame, _)| match frame.message() {
            ServerMessage::Error(error) => Some((**error).clone()),
            _ => None,
        });
        errors.collect()
    }
}

fn kind(frame: &Frame) -> String {
    let value: serde_json::Value = serde_json::from_str(frame.body()).unwrap();
    value["type"].as_str().unwrap().to_owned()
}

impl Recipient for Hearer {
    fn deliver(&self, frame: &Frame, re: Option<&str>, _urgency: Urgency) {
        self.heard.lock().unwrap().push((frame.clone(), re.map(Into::into)));
        let line = format!("{} {}", self.name, kind(frame));
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn round_trip(&self) -> Duration {
        Duration::ZERO
    }

    fn is_connected(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }
}

struct Setup {
    store: Arc<MemoryStore>,
    directory: Directory,
    room: RoomHandle,
    ada: Arc<Hearer>,
    bob: Arc<Hearer>,
    news: mpsc::Receiver<RoomNews>,
    deps: RoomDeps,
    log: Log,
    closed: JoinHandle<Closed>,
}

fn seated(name: &str, kind: PlayerKind) -> SeatedPlayer {
    let stored = player(name, kind);
    let identity = Identity { id: stored.id, name: stored.name, kind, owner: None };
    SeatedPlayer { identity, rating: None, version: None }
}

/// Somebody who does not play here.
fn stranger() -> PlayerId {
    player("Eve", PlayerKind::Human).id
}

/// A running casual game between two people who are there and have heard of it.
async fn set_up() -> Setup {
    let setup = set_up_with(PlayerKind::Human).await;
    setup.settle().await;
    setup.ada.take();
    setup.bob.take();
    setup.log.lock().unwrap().clear();
    setup
}

async fn set_up_with(kind: PlayerKind) -> Setup {
    set_up_told(kind, false, LiveValues::default()).await
}

/// The same where watchers are told what the game is worth.
async fn set_up_solved(kind: PlayerKind, rated: bool) -> Setup {
    let live_values = LiveValues::new(Analysis::new(1, &Shares::default()), Duration::ZERO);
    set_up_told(kind, rated, live_values).await
}

async fn set_up_told(kind: PlayerKind, rated: bool, live_values: LiveValues) -> Setup {
    let store = Arc::new(MemoryStore::new());
    add_players(&*store, &["Ada", "Bob"]).await;
    let (writer, actor) = Writer::new(store.clone());
    tokio::spawn(actor.run());
    let spec = GameSpec { rated, ..spec("g1", "Ada", "Bob") };
    writer.write(Write::StartGame(spec.clone())).await.unwrap();
    let players = BySide { first: seated("Ada", kind), second: seated("Bob", kind) };
    let kinds = players.as_ref().map(|player| player.identity.kind);
    let state = RoomState::new(spec, kinds, now()).unwrap();
    let (news_sender, news) = mpsc::channel(8);
    let directory = Directory::default();
    let metrics = Arc::new(Metrics::new());
    let deps = RoomDeps {
        writer,
        directory: directory.clone(),
        news: news_sender,
        metrics,
        live_values,
        pauses: Pauses::default(),
        watch_delay: Duration::ZERO,
        blocks: Blocks::default(),
    };
    let (room, mut actor) = RoomActor::new(state, players, deps.clone());
    let log = Log::default();
    let (ada, bob) = (Hearer::new("ada", &log), Hearer::new("bob", &log));
    actor.seat(Side::First, ada.member, ada.recipient());
    actor.seat(Side::Second, bob.member, bob.recipient());
    let closed = tokio::spawn(actor.run());
    Setup { store, directory, room, ada, bob, news, deps, log, closed }
}

impl Setup {
    /// Lets everything happen that can happen without time passing, or nearly so.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    fn send(&self, who: &Arc<Hearer>, ply: u32, column: i64) {
        let player = self.player_of(who);
        let column = u8::try_from(column).ok().and_then(Column::from_number);
        let column = column.ok_or(NoColumn::OutOfRange(0));
        let stone = Play {
            ply,
            column,
            forgiven: ILLEGAL_FORGIVEN,
            info: None,
            said: None,
            received: now(),
            round_trip: Duration::ZERO,
        };
        self.room.play(player, stone, who.reply(Some("r1")));
    }

    fn player_of(&self, who: &Arc<Hearer>) -> PlayerId {
        player(if Arc::ptr_eq(who, &self.ada) { "Ada" } else { "Bob" }, PlayerKind::Human).id
    }

    fn act(&self, who: &Arc<Hearer>, action: Action) {
        self.room.act(self.player_of(who), action, who.reply(Some("r1")));
    }

    async fn play_all(&self, moves: &str) {
        for (ply, column) in (0..).zip(moves.chars()) {
            let who = if ply % 2 == 0 { &self.ada } else { &self.bob };
            self.send(who, ply, column.to_digit(10).unwrap().into());
            self.settle().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_game_is_shown_to_both_and_the_first_is_asked() {
    let setup = set_up_with(PlayerKind::Human).await;
    setup.settle().await;
    assert_eq!(setup.ada.take_kinds(), ["game", "turn"]);
    assert_eq!(setup.bob.take_kinds(), ["game"]);
}

#[tokio::test(start_paused = true)]
async fn a_move_is_answered_after_its_commit_to_the_mover_first_and_to_watchers_last() {
    let setup = set_up().await;
    let eve = Hearer::new("eve", &setup.log);
    setup.room.watch(stranger(), eve.reply(None));
    setup.settle().await;
    setup.log.lock().unwrap().clear();
    setup.ada.take();
    setup.store.inject(CommitFault::Slow(Duration::from_millis(300)));
    setup.send(&setup.ada, 0, 4);
    setup.settle().await;
    assert_eq!(*setup.log.lock().unwrap(), Vec::<String>::new(), "nothing is public before the commit");
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(*setup.log.lock().unwrap(), ["ada moved", "bob moved", "bob turn", "eve moved"]);
    assert_eq!(setup.ada.take()[0].1.as_deref(), Some("r1"), "only the mover's has a `re`");
    assert!(setup.bob.take().iter().all(|(_, re)| re.is_none()));
}

#[tokio::test(start_paused = true)]
async fn what_comes_during_a_commit_is_judged_after_it() {
    let setup = set_up().await;
    setup.store.inject(CommitFault::Slow(Duration::from_secs(1)));
    setup.send(&setup.ada, 0, 4);
    setup.send(&setup.ada, 0, 4);
    setup.send(&setup.ada, 0, 5);
    setup.send(&setup.bob, 1, 4);
    setup.act(&setup.bob, Action::Resign);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(setup.ada.take_kinds(), ["moved", "moved", "error", "moved", "turn", "game_end"]);
    assert_eq!(setup.bob.take_kinds(), ["moved", "turn", "moved", "game_end"]);
    assert_eq!(setup.store.game(setup.room.game()).await.unwrap().unwrap().events.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_flood_during_a_commit_is_refused_and_the_commit_stands() {
    let setup = set_up().await;
    setup.store.inject(CommitFault::Slow(Duration::from_secs(1)));
    setup.send(&setup.ada, 0, 4);
    setup.settle().await;
    for _ in 0..=DEFERRED_MAX {
        setup.send(&setup.bob, 9, 4);
    }
    setup.settle().await;
    assert_eq!(setup.bob.take_errors().iter().map(|e| e.code).collect::<Vec<_>>(), [ErrorCode::Busy]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let errors = setup.bob.take_errors();
    assert_eq!(errors.len(), DEFERRED_MAX);
    assert!(errors.iter().all(|error| error.code == ErrorCode::NotYourTurn));
}

#[tokio::test(start_paused = true)]
async fn a_failing_bot_loses_even_if_a_flood_came_before_it() {
    let setup = set_up().await;
    setup.store.inject(CommitFault::Slow(Duration::from_secs(1)));
    setup.send(&setup.ada, 0, 4);
    setup.settle().await;
    for _ in 0..DEFERRED_MAX {
        setup.send(&setup.bob, 9, 4);
    }
    setup.room.fail(Side::First).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let end = setup.store.game(setup.room.game()).await.unwrap().unwrap();
    assert_eq!(end.ending().map(|ending| ending.reason), Some(EndReason::BotFailed));
}

#[tokio::test(start_paused = true)]
async fn strangers_may_watch_and_nothing_else() {
    let setup = set_up().await;
    let eve = Hearer::new("eve", &setup.log);
    setup.room.act(stranger(), Action::Resign, eve.reply(None));
    setup.settle().await;
    assert_eq!(eve.take_errors()[0].code, ErrorCode::Forbidden);
    assert_eq!(setup.room.sit(stranger(), eve.member, eve.recipient()).await, None);
    setup.room.watch(stranger(), eve.reply(Some("w")));
    setup.settle().await;
    let heard = eve.take();
    let ServerMessage::Game(snapshot) = heard[0].0.message() else { panic!("{heard:?}") };
    assert_eq!((snapshot.you, heard[0].1.as_deref()), (None, Some("w")));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_counted_once_a_second() {
    let setup = set_up().await;
    let crowd: Vec<_> = (0..20).map(|_| Hearer::new("crowd", &setup.log)).collect();
    setup.room.watch(stranger(), crowd[0].reply(None));
    setup.settle().await;
    for hearer in &crowd {
        setup.room.watch(stranger(), hearer.reply(None));
    }
    setup.settle().await;
    let counts = |hearer: &Hearer| -> Vec<u32> {
        let crowds = hearer.take().into_iter().filter_map(|(frame, _)| match frame.message() {
            ServerMessage::Crowd(crowd) => Some(crowd.watching),
            _ => None,
        });
        crowds.collect()
    };
    assert_eq!(counts(&setup.ada), [1]);
    tokio::time::sleep(CROWD_EVERY).await;
    assert_eq!(counts(&setup.ada), [20]);
    setup.room.unwatch(crowd[0].member).await;
    setup.room.unwatch(crowd[0].member).await;
    setup.room.leave(crowd[1].member).await;
    tokio::time::sleep(CROWD_EVERY).await;
    assert_eq!(counts(&setup.ada), [18]);
    assert_eq!(setup.directory.public(setup.room.game()).unwrap().watching(), 18);
    setup.room.unwatch(crowd[1].member).await;
    tokio::time::sleep(CROWD_EVERY).await;
    assert_eq!(counts(&setup.ada), Vec::<u32>::new(), "nobody came or went");
}

#[tokio::test(start_paused = true)]
async fn players_are_free_at_the_end_and_the_room_lingers_for_a_rematch() {
    let mut setup = set_up().await;
    let ada = setup.player_of(&setup.ada);
    assert_eq!(setup.directory.games_of(&ada), 1);
    setup.play_all(FIRST_WINS).await;
    assert_eq!(setup.ada.take_kinds().last().map(String::as_str), Some("game_end"));
    assert_eq!(setup.directory.games_of(&ada), 0);
    assert!(matches!(setup.news.recv().await, Some(RoomNews::Finished { .. })));
    setup.act(&setup.ada, Action::Rematch);
    setup.act(&setup.bob, Action::Rematch);
    assert!(matches!(setup.news.recv().await, Some(RoomNews::RematchAgreed { .. })));
    assert_eq!(setup.bob.take_kinds().iter().rev().take(2).collect::<Vec<_>>(), ["ok", "rematch_offer"]);
    tokio::time::sleep(LINGER_PEOPLE).await;
    assert_eq!(setup.closed.await.unwrap(), Closed::Done);
    assert!(setup.directory.room(setup.room.game()).is_none());
    setup.room.act(ada, Action::Rematch, setup.ada.reply(None));
    assert_eq!(setup.ada.take_errors()[0].code, ErrorCode::Paused);
}

#[tokio::test(start_paused = true)]
async fn rooms_of_bots_close_soon() {
    let setup = set_up_with(PlayerKind::Bot).await;
    setup.play_all(FIRST_WINS).await;
    tokio::time::sleep(LINGER_BOTS).await;
    assert_eq!(setup.closed.await.unwrap(), Closed::Done);
}

#[tokio::test(start_paused = true)]
async fn where_many_games_have_just_ended_rooms_of_people_close_soon_too() {
    let setup = set_up().await;
    let so_many_may = (0..LINGERING_MAX).all(|_| !setup.directory.lingers());
    assert!(so_many_may);
    setup.play_all(FIRST_WINS).await;
    tokio::time::sleep(LINGER_BOTS).await;
    assert_eq!(setup.closed.await.unwrap(), Closed::Done);
}

#[tokio::test(start_paused = true)]
async fn a_room_that_closes_makes_way_for_another_one_that_lingers() {
    let setup = set_up().await;
    assert!((1..LINGERING_MAX).all(|_| !setup.directory.lingers()));
    setup.play_all(FIRST_WINS).await;
    tokio::time::sleep(LINGER_PEOPLE).await;
    assert_eq!(setup.closed.await.unwrap(), Closed::Done);
    assert!(!setup.directory.lingers());
}

#[tokio::test(start_paused = true)]
async fn news_of_a_connection_may_come_in_any_order() {
    let setup = set_up().await;
    setup.bob.up.store(false, Ordering::Relaxed);
    setup.bob.up.store(true, Ordering::Relaxed);
    // The new socket's news overtook the old one's.
    setup.room.connected(setup.bob.member, Connection::Up).await;
    setup.room.connected(setup.bob.member, Connection::Lost).await;
    setup.settle().await;
    assert_eq!(setup.ada.take_kinds(), Vec::<String>::new());
    setup.bob.up.store(false, Ordering::Relaxed);
    setup.room.connected(setup.bob.member, Connection::Lost).await;
    setup.settle().await;
    assert_eq!(setup.ada.take_kinds(), ["opponent_gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_player_with_two_connections_is_away_when_both_are() {
    let setup = set_up().await;
    let tablet = Hearer::new("tablet", &setup.log);
    let seated = setup.room.sit(setup.player_of(&setup.bob), tablet.member, tablet.recipient()).await;
    assert_eq!(seated, Some(TakenSeat { your_turn: false, live: true }));
    setup.room.leave(setup.bob.member).await;
    setup.settle().await;
    assert_eq!(setup.ada.take_kinds(), Vec::<String>::new());
    tablet.up.store(false, Ordering::Relaxed);
    setup.room.connected(tablet.member, Connection::Lost).await;
    setup.settle().await;
    assert_eq!(setup.ada.take_kinds(), ["opponent_gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_planned_stop_stores_the_clocks_and_closes_the_room() {
    let setup = set_up().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    setup.room.pause().await;
    assert_eq!(setup.closed.await.unwrap(), Closed::Done);
    let game = setup.store.game(setup.room.game()).await.unwrap().unwrap();
    assert!((54_000..=55_000).contains(&game.events[0].clock_ms.first), "{:?}", game.events);
    assert_eq!(setup.ada.take_kinds(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_move_that_is_being_stored() {
    let setup = set_up().await;
    setup.store.inject(CommitFault::Slow(Duration::from_secs(1)));
    setup.send(&setup.ada, 0, 4);
    setup.settle().await;
    setup.room.pause().await;
    assert_eq!(setup.ada.take_kinds(), ["moved"]);
    assert_eq!(setup.store.game(setup.room.game()).await.unwrap().unwrap().events.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_knows_the_game_otherwise_closes_the_room_as_out_of_step() {
    let setup = set_up().await;
    let foreign = crate::storage::conformance::moves("5");
    let append = Write::Append { game: setup.room.game().clone(), events: foreign };
    setup.store.commit(&[append]).await.unwrap();
    setup.send(&setup.ada, 0, 4);
    assert_eq!(setup.closed.await.unwrap(), Closed::OutOfStep);
    assert!(setup.directory.room(setup.room.game()).is_none());
    assert_eq!(setup.ada.take_kinds(), Vec::<String>::new(), "what is not stored is not acknowledged");
}

#[tokio::test(start_paused = true)]
async fn a_failed_store_acknowledges_nothing() {
    let setup = set_up().await;
    setup.store.inject(CommitFault::Failed);
    setup.send(&setup.ada, 0, 4);
    assert_eq!(setup.closed.await.unwrap(), Closed::Done);
    assert_eq!(setup.ada.take_kinds(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_costs_nobody_the_game() {
    let setup = set_up().await;
    for _ in 0..100 {
        setup.store.inject(CommitFault::Full);
    }
    setup.send(&setup.ada, 0, 4);
    tokio::time::sleep(Duration::from_secs(110)).await;
    assert_eq!(setup.ada.take_kinds(), ["moved"]);
    assert_eq!(setup.bob.take_kinds()[..2], ["moved", "turn"]);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_cannot_follow_gets_a_snapshot_and_then_the_end() {
    let setup = set_up().await;
    let crowd: Vec<Arc<Hearer>> = (0..40).map(|_| Hearer::new("eve", &setup.log)).collect();
    for watcher in &crowd {
        setup.room.watch(stranger(), watcher.reply(None));
        setup.settle().await;
    }
    for watcher in &crowd {
        watcher.take();
    }
    for (ply, column) in [(0, 4), (1, 4), (2, 5)] {
        setup.send(if ply % 2 == 0 { &setup.ada } else { &setup.bob }, ply, column);
        setup.settle().await;
    }
    let game_kinds = |watcher: &Hearer| {
        let kinds = watcher.take_kinds().into_iter();
        kinds.filter(|kind| matches!(kind.as_str(), "moved" | "game" | "game_end")).collect::<Vec<_>>()
    };
    assert_eq!(game_kinds(&crowd[0]), ["moved"]);
    assert_eq!(
        setup.ada.take_kinds().iter().filter(|kind| *kind == "moved").count(),
        3,
        "players hear of each"
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(game_kinds(&crowd[0]), ["game"]);
    setup.send(&setup.bob, 3, 5);
    setup.act(&setup.ada, Action::Resign);
    setup.settle().await;
    assert_eq!(game_kinds(&crowd[0]), ["game", "game_end"]);
    assert!(crowd.iter().skip(1).all(|watcher| game_kinds(watcher) == ["moved", "game", "game", "game_end"]));
}

#[tokio::test(start_paused = true)]
async fn reactions_are_from_the_list_and_reach_both() {
    let setup = set_up().await;
    setup.act(&setup.ada, Action::React { emoji: "💣".into() });
    setup.settle().await;
    assert_eq!(setup.ada.take_errors()[0].field.as_deref(), Some("emoji"));
    setup.act(&setup.ada, Action::React { emoji: "phrase:you_lose".into() });
    setup.settle().await;
    assert_eq!(setup.ada.take_errors()[0].field.as_deref(), Some("emoji"), "phrases are those of the list");
    for emoji in [REACTIONS[0], "phrase:well_played"] {
        setup.act(&setup.ada, Action::React { emoji: emoji.into() });
        setup.settle().await;
        assert_eq!(
            (setup.ada.take_kinds(), setup.bob.take_kinds()),
            (vec!["reaction".into()], vec!["reaction".into()])
        );
    }
}

/// Half a room and an idle connection together may take 12 KB.
#[tokio::test]
async fn an_idle_room_is_small() {
    let actor = size_of::<RoomActor>();
    assert!(actor <= 1_792, "{actor} bytes");
    let setup = set_up_with(PlayerKind::Human).await;
    let (_, room) = RoomActor::new(
        RoomState::new(spec("g2", "Ada", "Bob"), BySide::from_fn(|_| PlayerKind::Human), now()).unwrap(),
        BySide { first: seated("Ada", PlayerKind::Human), second: seated("Bob", PlayerKind::Human) },
        setup.deps.clone(),
    );
    let task = size_of_val(&room.run());
    assert!(task <= 2_304, "{task} bytes");
}

impl Setup {
    /// Lets the solver's threads, which know no paused time, finish; then all that follows from it.
    async fn until_told(&self, hearer: &Hearer) {
        while !hearer.heard.lock().unwrap().iter().any(|(frame, _)| value_of(frame).is_some()) {
            tokio::task::yield_now().await;
        }
    }
}

/// Ply, winner and plies to the end.
fn value_of(frame: &Frame) -> Option<(u32, Option<WireSide>, u32)> {
    match frame.message() {
        ServerMessage::Truth(told) => Some((told.ply, told.winner, told.plies)),
        _ => None,
    }
}

fn values_of(hearer: &Hearer) -> Vec<(u32, Option<WireSide>, u32)> {
    hearer.take().iter().filter_map(|(frame, _)| value_of(frame)).collect()
}

#[tokio::test]
async fn watchers_hear_what_the_position_is_worth_and_players_do_not() {
    let setup = set_up_solved(PlayerKind::Human, false).await;
    let (eve, late) = (Hearer::new("eve", &setup.log), Hearer::new("late", &setup.log));
    setup.room.watch(stranger(), eve.reply(None));
    setup.until_told(&eve).await;
    assert_eq!(values_of(&eve), [(0, Some(WireSide::First), 41)]);
    setup.send(&setup.ada, 0, 4);
    setup.until_told(&eve).await;
    assert_eq!(values_of(&eve), [(1, Some(WireSide::First), 40)]);
    setup.room.watch(stranger(), late.reply(None));
    setup.until_told(&late).await;
    assert_eq!(values_of(&late), [(1, Some(WireSide::First), 40)], "what is known is repeated");
    assert!(values_of(&setup.ada).is_empty() && values_of(&setup.bob).is_empty());
}

#[tokio::test(start_paused = true)]
async fn nobody_hears_it_where_people_play_for_their_ratings() {
    let setup = set_up_solved(PlayerKind::Human, true).await;
    let eve = Hearer::new("eve", &setup.log);
    setup.room.watch(stranger(), eve.reply(None));
    setup.send(&setup.ada, 0, 4);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let kinds = eve.take_kinds();
    assert!(kinds.contains(&"moved".to_owned()) && !kinds.contains(&"truth".to_owned()), "{kinds:?}");
}
