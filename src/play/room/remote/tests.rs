//! A room that is reached over a bus, and what the bus does to it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use fourfold_engine::{BySide, Column, Side};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::words::{Answered, Letter, Order, OrderId, Presence};
use super::*;
use crate::accounts::blocks::Blocks;
use crate::analysis::live_value::LiveValues;
use crate::cluster::orders::OrderNumber;
use crate::model::clock::now;
use crate::model::fault::ILLEGAL_FORGIVEN;
use crate::model::player::{Identity, PlayerKind};
use crate::play::room::actor::{Closed, RoomDeps, RoomNews};
use crate::play::room::command::{Action, Connection, ReplyTo, SeatWait, TakenSeat};
use crate::play::room::state::{NoColumn, Play, RoomState, Standstill};
use crate::play::room::view::SeatedPlayer;
use crate::play::room::{Directory, RoomActor, RoomHandle};
use crate::protocol::server::{Frame, GameStatus, ServerMessage, Urgency};
use crate::protocol::{ErrorCode, INFO_BYTES_MAX, REACTIONS, WireError};
use crate::storage::conformance::{FIRST_WINS, add_players, player, spec};
use crate::storage::games::GameStore;
use crate::storage::store::Write;
use crate::storage::{MemoryStore, Writer};
use crate::system::metrics::Metrics;
use crate::system::pauses::Pauses;

/// Somebody who listens.
struct Ear {
    member: MemberId,
    is_up: AtomicBool,
    round_trip_ms: AtomicU32,
    useless: AtomicU32,
    knows_the_end: AtomicBool,
    heard: Mutex<Vec<(ServerMessage, Option<String>)>>,
}

impl Ear {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            member: MemberId::next(),
            is_up: AtomicBool::new(true),
            round_trip_ms: AtomicU32::new(0),
            useless: AtomicU32::new(0),
            knows_the_end: AtomicBool::new(false),
            heard: Mutex::default(),
        })
    }

    fn recipient(self: &Arc<Self>) -> Arc<dyn Recipient> {
        Arc::clone(self) as Arc<dyn Recipient>
    }

    fn reply(self: &Arc<Self>, re: &str) -> ReplyTo {
        ReplyTo { member: self.member, recipient: self.recipient(), re: Some(re.into()) }
    }

    fn take(&self) -> Vec<(ServerMessage, Option<String>)> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    /// What was heard since this was last asked: kinds, and the request that is answered behind a slash.
    fn take_kinds(&self) -> Vec<String> {
        let kind = |(message, re): (ServerMessage, Option<String>)| {
            let kind = crate::testing::kind(&message);
            re.map_or_else(|| kind.clone(), |re| format!("{kind}/{re}"))
        };
        self.take().into_iter().map(kind).collect()
    }

    fn take_errors(&self) -> Vec<WireError> {
        let errors = self.take().into_iter().filter_map(|(message, _)| match message {
            ServerMessage::Error(error) => Some(*error),
            _ => None,
        });
        errors.collect()
    }
}

impl Recipient for Ear {
    fn deliver(&self, frame: &Frame, re: Option<&str>, _: Urgency) {
        let is_over = match frame.message() {
            ServerMessage::Game(snapshot) => snapshot.status == GameStatus::Over,
            ServerMessage::GameEnd(_) => true,
            _ => false,
        };
        self.knows_the_end.fetch_or(is_over, Ordering::Relaxed);
        self.heard.lock().unwrap().push((frame.message().clone(), re.map(Into::into)));
    }

    fn round_trip(&self) -> Duration {
        Duration::from_millis(self.round_trip_ms.load(Ordering::Relaxed).into())
    }

    fn is_connected(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    fn useless_move(&self) {
        self.useless.fetch_add(1, Ordering::Relaxed);
    }
}

/// A running game. Ada is at the gateway; so is Bob, or at the room's own node.
struct Table {
    bus: MemoryBus,
    nodes: TwoNodes,
    store: Arc<MemoryStore>,
    /// The room as the gateway reaches it, and as its own node does.
    room: RoomHandle,
    local: RoomHandle,
    ada: Arc<Ear>,
    bob: Arc<Ear>,
    closed: JoinHandle<Closed>,
    _news: mpsc::Receiver<RoomNews>,
}

fn id(name: &str) -> PlayerId {
    player(name, PlayerKind::Human).id
}

fn seated(name: &str) -> SeatedPlayer {
    let stored = player(name, PlayerKind::Human);
    let identity = Identity { id: stored.id, name: stored.name, kind: stored.kind, owner: None };
    SeatedPlayer { identity, rating: None, version: None }
}

#[derive(Clone, Copy)]
enum Bob {
    AtTheGateway,
    AtTheRoom,
}

impl Table {
    async fn new(where_bob_is: Bob) -> Self {
        Self::on(MemoryBus::new(Faults::NONE), where_bob_is).await
    }

    async fn on(bus: MemoryBus, where_bob_is: Bob) -> Self {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let (writer, actor) = Writer::new(store.clone());
        tokio::spawn(actor.run());
        let spec = spec("g1", "Ada", "Bob");
        writer.write(Write::StartGame(spec.clone())).await.unwrap();
        let kinds = BySide { first: PlayerKind::Human, second: PlayerKind::Human };
        let state = RoomState::new(spec, kinds, now()).unwrap();
        let (news, kept) = mpsc::channel(8);
        let directory = Directory::default();
        let deps = RoomDeps {
            writer,
            directory: directory.clone(),
            news,
            metrics: Arc::new(Metrics::new()),
            live_values: LiveValues::default(),
            pauses: Pauses::default(),
            watch_delay: Duration::ZERO,
            blocks: Blocks::default(),
        };
        let players = BySide { first: seated("Ada"), second: seated("Bob") };
        let (local, mut actor) = RoomActor::new(state, players, deps);
        let (nodes, inboxes) = TwoNodes::on(&bus);
        let room = RoomHandle::remote(local.game().clone(), nodes.gateway().clone());
        let (ada, bob) = (Ear::new(), Ear::new());
        let (member, recipient) = nodes.seat(room.game(), &id("Ada"), ada.member, &ada.recipient());
        actor.seat(Side::First, member, recipient);
        let (member, recipient) = match where_bob_is {
            Bob::AtTheGateway => nodes.seat(room.game(), &id("Bob"), bob.member, &bob.recipient()),
            Bob::AtTheRoom => (bob.member, bob.recipient()),
        };
        actor.seat(Side::Second, member, recipient);
        let inbox_of = move |game: &GameId| directory.room(game)?.inbox().cloned();
        tokio::spawn(nodes.clone().run(inboxes, inbox_of));
        let closed = tokio::spawn(actor.run());
        let table = Self { bus, nodes, store, room, local, ada, bob, closed, _news: kept };
        table.settle().await;
        table
    }

    /// Lets everything happen that needs next to no time.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// Nothing gets from the room's node to the gateway, or does again.
    fn mute_room(&self, is_mute: bool) {
        self.bus.set_cut(ROOMS, SESSIONS, is_mute);
    }

    fn play(&self, room: &RoomHandle, who: &str, ply: u32, column: u8, re: &str) {
        let ear = if who == "Ada" { &self.ada } else { &self.bob };
        let stone = Play {
            ply,
            column: Column::from_number(column).ok_or(NoColumn::OutOfRange(column.into())),
            forgiven: ILLEGAL_FORGIVEN,
            info: None,
            said: None,
            received: now(),
            round_trip: ear.round_trip(),
        };
        room.play(id(who), stone, ear.reply(re));
    }

    fn react(&self, re: &str) {
        let emoji = REACTIONS[0].to_owned();
        self.room.act(id("Ada"), Action::React { emoji }, self.ada.reply(re));
    }

    async fn moves(&self) -> String {
        self.store.game(self.room.game()).await.unwrap().unwrap().moves()
    }
}

#[tokio::test(start_paused = true)]
async fn all_that_a_room_can_be_told_is_done_and_answered_over_the_bus() {
    let table = Table::new(Bob::AtTheGateway).await;
    assert_eq!(table.ada.take_kinds(), ["game", "turn"]);
    assert_eq!(table.bob.take_kinds(), ["game"]);
    let (room, eve) = (&table.room, Ear::new());
    room.watch(id("Eve"), eve.reply("w"));
    table.settle().await;
    assert_eq!(eve.take_kinds(), ["game/w", "crowd"]);
    table.play(room, "Ada", 0, 4, "p");
    table.settle().await;
    assert_eq!(table.ada.take_kinds(), ["crowd", "moved/p"]);
    assert_eq!(table.bob.take_kinds(), ["crowd", "moved", "turn"]);
    assert_eq!(eve.take_kinds(), ["moved"]);
    // The same again is answered as before; a move out of turn is refused, and counted.
    table.play(room, "Ada", 0, 4, "again");
    table.play(room, "Ada", 1, 4, "early");
    table.play(room, "Bob", 1, 9, "wrong");
    room.sync(Some(id("Bob")), table.bob.reply("s"), None);
    room.prompt(table.bob.member).await;
    table.settle().await;
    assert_eq!(table.ada.take_kinds(), ["moved/again", "error/early"]);
    assert_eq!(table.ada.useless.load(Ordering::Relaxed), 1);
    assert_eq!(table.bob.take_kinds(), ["error/wrong", "game/s", "turn"]);
    table.react("r");
    table.settle().await;
    room.unwatch(eve.member).await;
    assert_eq!(table.ada.take_kinds(), ["reaction/r"]);
    assert_eq!(eve.take_kinds(), ["reaction"]);
    table.ada.is_up.store(false, Ordering::Relaxed);
    room.connected(table.ada.member, Connection::Lost).await;
    table.settle().await;
    assert_eq!(table.bob.take_kinds(), ["reaction", "opponent_gone"]);
    let second = Ear::new();
    let seat = room.sit(id("Ada"), second.member, second.recipient()).await;
    assert_eq!(seat, Some(TakenSeat { your_turn: false, live: true }));
    assert_eq!(room.sit(id("Eve"), eve.member, eve.recipient()).await, None);
    room.leave(second.member).await;
    let seen = room.look(Some(id("Bob"))).await.unwrap();
    assert_eq!((seen.moves.as_str(), seen.watching, seen.you.is_some()), ("4", 0, true));
    room.hold(Side::Second).await;
    let held = room.look(None).await.unwrap().clock;
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(room.look(None).await.unwrap().clock, held, "its clock stands");
    room.release(Side::Second).await;
    room.fail(Side::Second).await;
    room.expel(id("Ada")).await;
    table.settle().await;
    let end = room.look(None).await.unwrap();
    assert_eq!(end.status, GameStatus::Over);
    room.pause().await;
    assert_eq!(table.closed.await.unwrap(), Closed::Done);
    assert_eq!(table.nodes.counts().map(|counts| counts.unreadable() + counts.holes()), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_planned_stop_reaches_a_room_and_closed_ones_refuse() {
    let table = Table::new(Bob::AtTheGateway).await;
    table.ada.take();
    table.room.pause().await;
    table.settle().await;
    assert!(table.closed.is_finished());
    table.play(&table.room, "Ada", 0, 4, "p");
    table.settle().await;
    assert_eq!(table.ada.take_errors()[0].code, ErrorCode::Paused, "the owner says that it is closed");
    table.nodes.closed(table.room.game());
    table.play(&table.room, "Ada", 0, 4, "p");
    assert_eq!(table.ada.take_errors()[0].code, ErrorCode::Paused, "the gateway knows");
    assert_eq!(table.room.look(None).await, None);
}

#[tokio::test(start_paused = true)]
async fn an_order_that_comes_again_is_answered_and_not_done_again() {
    let table = Table::new(Bob::AtTheRoom).await;
    table.ada.take();
    table.bob.take();
    table.mute_room(true);
    table.react("r");
    table.play(&table.room, "Ada", 0, 9, "wrong");
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    assert_eq!(table.ada.take_kinds(), [""; 0]);
    assert_eq!(table.bob.take_kinds(), ["reaction"], "it was sent four times");
    table.mute_room(false);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let kinds = table.ada.take_kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "reaction/r").count(), 1, "{kinds:?}");
    table.play(&table.room, "Ada", 0, 9, "wrong");
    table.settle().await;
    let left = table.ada.take_errors()[0].retries_left;
    assert_eq!(left, Some(ILLEGAL_FORGIVEN - 1), "each wrong move was counted once");
}

#[tokio::test(start_paused = true)]
async fn orders_are_done_in_their_order_whatever_gets_lost() {
    let table = Table::new(Bob::AtTheRoom).await;
    table.bus.set_cut(SESSIONS, ROOMS, true);
    table.room.hold(Side::First).await;
    table.bus.set_cut(SESSIONS, ROOMS, false);
    let began = now();
    let clock = table.room.look(None).await.unwrap().clock;
    assert!(now() - began < Duration::from_millis(500), "what is missing is sent again at once");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(table.room.look(None).await.unwrap().clock, clock, "it was held before it was looked at");
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_is_asked_for() {
    let table = Table::new(Bob::AtTheRoom).await;
    let eve = Ear::new();
    table.room.watch(id("Eve"), eve.reply("w"));
    table.play(&table.room, "Ada", 0, 4, "p");
    table.settle().await;
    table.mute_room(true);
    table.play(&table.local, "Bob", 1, 4, "p");
    table.settle().await;
    table.ada.take();
    eve.take();
    table.mute_room(false);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let heard = table.ada.take();
    assert!(matches!(&heard[0].0, ServerMessage::Game(snapshot) if snapshot.moves == "44"), "{heard:?}");
    assert!(matches!(&heard[1].0, ServerMessage::Turn(turn) if turn.ply == 2), "{heard:?}");
    let heard = eve.take();
    assert!(matches!(&heard[0].0, ServerMessage::Game(snapshot) if snapshot.moves == "44"), "{heard:?}");
    assert_eq!(heard.len(), 1, "one snapshot for all who watch");
}

#[tokio::test(start_paused = true)]
async fn who_gets_no_answer_is_told_so_and_later_orders_are_done() {
    let table = Table::new(Bob::AtTheRoom).await;
    table.ada.take();
    table.bus.set_cut(SESSIONS, ROOMS, true);
    table.play(&table.room, "Ada", 0, 4, "p");
    let began = now();
    assert_eq!(table.room.look(None).await, None);
    let waited = now() - began;
    assert!((5_000..5_500).contains(&waited.as_millis()), "{waited:?}");
    let refused = table.ada.take_errors();
    assert_eq!((refused.len(), refused[0].code, refused[0].retry_ms), (1, ErrorCode::Busy, Some(1_000)));
    table.bus.set_cut(SESSIONS, ROOMS, false);
    assert_eq!(table.room.look(None).await.unwrap().moves, "", "what was given up is not done later");
    table.play(&table.room, "Ada", 0, 3, "p2");
    table.settle().await;
    assert_eq!(table.ada.take_kinds(), ["moved/p2"]);
    assert_eq!(table.moves().await, "3");
}

#[tokio::test(start_paused = true)]
async fn many_watchers_at_one_node_cost_one_stream() {
    let table = Table::new(Bob::AtTheRoom).await;
    let crowd: Vec<Arc<Ear>> = (0..30).map(|_| Ear::new()).collect();
    for watcher in &crowd {
        table.room.watch(id("Eve"), watcher.reply("w"));
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    for watcher in &crowd {
        watcher.take();
    }
    let packets = || table.nodes.gateway().counts().taken();
    let before = packets();
    table.play(&table.room, "Ada", 0, 4, "p");
    table.settle().await;
    assert_eq!(packets() - before, 2, "one to the mover, one to all who watch");
    for watcher in &crowd {
        assert_eq!(watcher.take_kinds(), ["moved"]);
    }
    assert_eq!(table.room.look(None).await.unwrap().watching, 30);
    for watcher in &crowd {
        table.room.unwatch(watcher.member).await;
    }
    assert_eq!(table.room.look(None).await.unwrap().watching, 0);
}

#[tokio::test(start_paused = true)]
async fn a_room_knows_how_a_connection_elsewhere_was_last() {
    let table = Table::new(Bob::AtTheRoom).await;
    table.ada.take();
    table.ada.round_trip_ms.store(80, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(1)).await;
    table.local.prompt(MemberId::of(SESSIONS, table.ada.member.number())).await;
    table.settle().await;
    let heard = table.ada.take();
    assert!(matches!(&heard[0].0, ServerMessage::Turn(turn) if turn.network_ms == 80), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_of_an_earlier_count_or_too_large_has_no_effect() {
    let table = Table::new(Bob::AtTheRoom).await;
    table.room.look(None).await.unwrap();
    let inbox = table.local.inbox();
    let presence = Presence { member: 1, is_connected: true, round_trip_us: 0 };
    let letter = |stream: u64, order: Order| Letter {
        id: OrderId { stream, number: OrderNumber::FIRST.next() },
        oldest: OrderNumber::FIRST,
        game: table.room.game().clone(),
        member: Some(1),
        presence: Some(presence),
        re: None,
        order,
    };
    let owner = &table.nodes.owner;
    let resign = || Order::Act { player: id("Ada"), action: Action::Resign };
    assert!(owner.order(SESSIONS, letter(0, resign()), inbox).is_none());
    // Without a connection nobody can be answered.
    let nobody = Letter { member: None, ..letter(1, resign()) };
    assert!(owner.order(SESSIONS, nobody, inbox).is_none());
    table.settle().await;
    assert_eq!(table.local.look(None).await.unwrap().status, GameStatus::Live);
    let play = |bytes: usize| Order::Play {
        player: id("Ada"),
        ply: 0,
        column: Ok(4),
        forgiven: 0,
        info: Some("x".repeat(bytes).into()),
        said: None,
        round_trip_us: 0,
    };
    assert!(letter(1, play(INFO_BYTES_MAX)).is_sound());
    assert!(!letter(1, play(INFO_BYTES_MAX + 1)).is_sound());
    assert!(!Letter { re: Some("x".repeat(33).into()), ..letter(1, resign()) }.is_sound());
    let emoji = "x".repeat(65);
    assert!(!letter(1, Order::Act { player: id("Ada"), action: Action::React { emoji } }).is_sound());
}

/// Plays a game over a bus that fails, as clients do that repeat what is refused as busy, and checks that each move
/// counted once and everybody sees the end.
async fn check_game_over_a_bad_bus(seed: u64) -> [u64; 4] {
    let faults = Faults {
        seed,
        lost_percent: 10,
        repeated_percent: 20,
        late_percent: 20,
        late_max: Duration::from_millis(200),
    };
    let table = Table::on(MemoryBus::new(faults), Bob::AtTheGateway).await;
    let eve = Ear::new();
    table.room.watch(id("Eve"), eve.reply("w"));
    table.play(&table.room, "Ada", 0, 9, "wrong");
    for (ply, column) in (0..).zip(FIRST_WINS.bytes().map(|digit| digit - b'0')) {
        let (who, ear) = if ply % 2 == 0 { ("Ada", &table.ada) } else { ("Bob", &table.bob) };
        let answer = format!("moved/p{ply}");
        let mut looks = 0;
        loop {
            if looks % 120 == 0 {
                table.play(&table.room, who, ply, column, &format!("p{ply}"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            if ear.take_kinds().contains(&answer) {
                break;
            }
            looks += 1;
            assert!(looks < 1_000, "seed {seed}: no answer to ply {ply}");
        }
    }
    assert_eq!(table.moves().await, FIRST_WINS, "seed {seed}");
    tokio::time::sleep(Duration::from_secs(15)).await;
    for (name, ear) in [("Ada", &table.ada), ("Bob", &table.bob), ("Eve", &eve)] {
        assert!(ear.knows_the_end.load(Ordering::Relaxed), "seed {seed}: {name} {:?}", ear.take());
    }
    let [gateway, owner] = table.nodes.counts();
    assert_eq!((gateway.unreadable(), owner.unreadable()), (0, 0));
    [gateway.replayed(), owner.replayed(), gateway.holes(), owner.holes()]
}

#[tokio::test(start_paused = true)]
async fn over_a_bus_that_fails_each_move_counts_once_and_all_see_the_end() {
    let mut seen = [0; 4];
    for seed in 1..=6 {
        let counted = check_game_over_a_bad_bus(seed).await;
        for (seen, counted) in seen.iter_mut().zip(counted) {
            *seen += counted;
        }
    }
    assert!(seen.iter().all(|seen| *seen > 6), "the bus failed too little: {seen:?}");
}

#[test]
fn orders_and_their_names_are_read_as_they_were_written() {
    let ada = || id("Ada");
    let orders = [
        Order::Play {
            player: ada(),
            ply: u32::MAX,
            column: Err(NoColumn::OutOfRange(i64::MIN)),
            forgiven: 2,
            info: Some("\"\\\u{0}".into()),
            said: Some("{\"type\":\"move\"}".into()),
            round_trip_us: u64::MAX,
        },
        Order::Act { player: ada(), action: Action::TakebackAnswer { yes: true } },
        Order::Act { player: ada(), action: Action::React { emoji: "👍".to_owned() } },
        Order::Fail { side: Side::First.into() },
        Order::Expel { player: ada() },
        Order::Vacation { player: ada(), lasts: Some(Duration::MAX) },
        Order::StandStill { standstill: Standstill::Begins },
        Order::Conditional { player: ada(), moves: Some("44 34".to_owned()) },
        Order::Wait { side: Side::Second.into(), wait: SeatWait::Ends },
        Order::Sit { player: ada() },
        Order::Prompt,
        Order::Connected { connection: Connection::Left },
        Order::Leave,
        Order::Watch { player: ada() },
        Order::Unwatch,
        Order::Sync { player: None, skipped: Some(u64::MAX) },
        Order::Look { player: Some(ada()) },
        Order::Pause,
    ];
    for order in orders {
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<Order>(&text).unwrap(), order, "{text}");
    }
    for re in [None, Some(""), Some("a b  c"), Some("👍")] {
        let order = OrderId { stream: 7, number: OrderNumber::FIRST };
        let answered = Answered { order, re: re.map(Into::into) };
        assert_eq!(Answered::of_tag(&answered.to_tag()), Some(answered));
    }
    assert_eq!(Answered::of_tag("hello"), None);
}
