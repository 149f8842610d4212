//! One run: everything that happens, in the order of its time. Between nodes is the bus, between them and the
//! database a network of its own; both delay, lose, and let things overtake each other.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use fourfold_engine::{Column, Game};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::client::{self, Client, Wish};
use super::database::{Database, at_once};
use super::defect::Defect;
use super::node::{Node, Season};
use super::plan::{Blow, NODES, Plan, TROUBLE_MS};
use super::words::{Call, Frame, Output, Packet, Reply, SessionNumber};
use crate::cluster::Incarnation;
use crate::model::ids::GameId;
use crate::model::player::PlayerKind;
use crate::model::result::EndReason;
use crate::operations::verify::verify;
use crate::storage::audit::AuditStore;
use crate::storage::conformance::{add, player};
use crate::storage::record::StoredGame;

/// How often a node looks at its clocks, in milliseconds.
const TICK_MS: u64 = 100;

/// How long the games may take to end after the last fault, in milliseconds.
const CALM_MS: u64 = 180_000;

/// After so long a node that stands still loses its clients: a proxy looks each second and closes their connections.
const PROXY_MS: u64 = 6_000;

/// Something that will happen.
#[derive(Debug)]
enum Event {
    Start { slot: usize },
    Tick { node: Incarnation },
    Packet { to: Incarnation, packet: Packet },
    Call { by: Incarnation, call: Call },
    Reply { to: Incarnation, reply: Reply },
    Frame { session: SessionNumber, frame: Frame },
    Wish { session: SessionNumber, wish: Wish },
    Hello { session: SessionNumber },
    Bye { to: Incarnation, session: SessionNumber },
    Client { number: usize },
    Blow(Blow),
    Proxy { node: Incarnation },
}

/// What a run came to.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) faults: Vec<String>,
    /// Of all that clients heard, and of all that is kept.
    pub(super) hash: u64,
    pub(super) figures: Figures,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Figures {
    pub(super) games: u64,
    pub(super) acked: u64,
    pub(super) kills: u64,
    pub(super) taken_over: u64,
    pub(super) handed_over: u64,
    pub(super) fenced: u64,
    pub(super) holes: u64,
    pub(super) packets: u64,
    pub(super) simulated_ms: u64,
}

/// A process.
#[derive(Debug)]
struct Process {
    slot: usize,
    node: Node,
    /// Until when it stands still, in milliseconds.
    suspended_ms: u64,
}

struct Run {
    plan: Plan,
    is_loud: bool,
    origin: Instant,
    now_ms: u64,
    queue: BTreeMap<(u64, u64), Event>,
    queued: u64,
    chance: ChaCha8Rng,
    database: Database,
    processes: BTreeMap<Incarnation, Process>,
    clients: Vec<Client>,
    /// Whose session it is, and at which node.
    sessions: BTreeMap<SessionNumber, (usize, Incarnation)>,
    /// When what was sent last on a connection arrives, in milliseconds.
    lines: BTreeMap<SessionNumber, u64>,
    /// The same between two nodes.
    wires: BTreeMap<(Incarnation, Incarnation), u64>,
    /// Until when a fault lasts, in milliseconds.
    bus_cut: BTreeMap<(usize, usize), u64>,
    bus_gone: u64,
    bus_slow: (u64, u64),
    database_cut: BTreeMap<usize, u64>,
    database_gone: u64,
    database_slow: (u64, u64),
    hasher: DefaultHasher,
    faults: Vec<String>,
    figures: Figures,
    defect: Option<Defect>,
}

/// Carries a plan out.
pub(super) fn run(plan: &Plan, defect: Option<Defect>, is_loud: bool) -> Verdict {
    let mut run = Run::new(plan, defect, is_loud);
    while let Some(((at_ms, _), event)) = run.queue.pop_first() {
        run.now_ms = at_ms;
        run.happen(event);
        // What was planted is found as soon as something is wrong.
        let is_found = defect.is_some() && run.has_faults();
        if is_found || (at_ms > TROUBLE_MS && run.is_quiet()) {
            break;
        }
        if at_ms > TROUBLE_MS + CALM_MS {
            run.despair();
            break;
        }
    }
    run.judge()
}

impl Run {
    fn new(plan: &Plan, defect: Option<Defect>, is_loud: bool) -> Self {
        let mut run = Self {
            is_loud,
            origin: Instant::now(),
            now_ms: 0,
            queue: BTreeMap::new(),
            queued: 0,
            chance: ChaCha8Rng::seed_from_u64(plan.seed.wrapping_mul(1_000_003)),
            database: Database::new(defect),
            processes: BTreeMap::new(),
            clients: (0..plan.clients).map(|number| Client::new(number, plan.seed)).collect(),
            sessions: BTreeMap::new(),
            lines: BTreeMap::new(),
            wires: BTreeMap::new(),
            bus_cut: BTreeMap::new(),
            bus_gone: 0,
            bus_slow: (0, 0),
            database_cut: BTreeMap::new(),
            database_gone: 0,
            database_slow: (0, 0),
            hasher: DefaultHasher::new(),
            faults: Vec::new(),
            figures: Figures::default(),
            defect,
            plan: plan.clone(),
        };
        for number in 0..plan.clients {
            let added = run.database.games.apply(&[add(player(&client::name(number), PlayerKind::Human))]);
            assert!(added.iter().all(Result::is_ok), "{added:?}");
            run.at(300 + number as u64, Event::Client { number });
        }
        for slot in 0..NODES {
            run.at(slot as u64 * 40, Event::Start { slot });
        }
        for (at_ms, blow) in &plan.blows {
            run.at(*at_ms, Event::Blow(*blow));
        }
        run
    }

    fn has_faults(&self) -> bool {
        !self.database.faults.is_empty() || self.clients.iter().any(|client| !client.faults.is_empty())
    }

    fn now(&self) -> Instant {
        self.origin + Duration::from_millis(self.now_ms)
    }

    fn at(&mut self, at_ms: u64, event: Event) {
        self.queued += 1;
        self.queue.insert((at_ms.max(self.now_ms), self.queued), event);
    }

    fn after(&mut self, delay_ms: u64, event: Event) {
        self.at(self.now_ms + delay_ms, event);
    }

    fn tell(&self, what: std::fmt::Arguments<'_>) {
        if self.is_loud {
            println!("{:>7} {what}", self.now_ms);
        }
    }

    fn is_calm(&self) -> bool {
        self.now_ms > TROUBLE_MS
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Start { slot } => self.start(slot),
            Event::Tick { node } => {
                let season = if self.is_calm() { Season::Closed } else { Season::Open };
                if self.with_node(node, Event::Tick { node }, |node, now| node.tick(season, now)) {
                    self.after(TICK_MS, Event::Tick { node });
                }
            }
            Event::Packet { to, packet } => {
                let kept = packet.clone();
                self.with_node(to, Event::Packet { to, packet: kept }, |node, now| node.receive(packet, now));
            }
            Event::Call { by, call } => self.call_arrives(by, call),
            Event::Reply { to, reply } => {
                let kept = reply.clone();
                self.with_node(to, Event::Reply { to, reply: kept }, |node, now| {
                    node.hear_database(reply, now);
                });
            }
            Event::Frame { session, frame } => self.frame_arrives(session, &frame),
            Event::Wish { session, wish } => self.wish_arrives(session, wish),
            Event::Hello { session } => {
                let Some((client, node)) = self.sessions.get(&session).copied() else { return };
                let player = self.clients[client].player.clone();
                self.with_node(node, Event::Hello { session }, |node, now| node.hello(session, &player, now));
            }
            Event::Bye { to, session } => {
                self.with_node(to, Event::Bye { to, session }, |node, now| node.bye(session, now));
            }
            Event::Client { number } => self.client_acts(number),
            Event::Blow(blow) => self.strike(blow),
            Event::Proxy { node } => {
                if self.processes.get(&node).is_some_and(|process| process.suspended_ms > self.now_ms) {
                    self.lose_clients(node);
                }
            }
        }
    }

    /// Lets a node do something, or later what came while it stood still. Whether it is there.
    fn with_node(&mut self, id: Incarnation, again: Event, deed: impl FnOnce(&mut Node, Instant)) -> bool {
        let now = self.now();
        let Some(process) = self.processes.get_mut(&id) else { return false };
        if process.suspended_ms > self.now_ms {
            let until_ms = process.suspended_ms;
            self.at(until_ms, again);
            return false;
        }
        deed(&mut process.node, now);
        let outputs = process.node.outputs(now);
        for output in outputs {
            self.put_out(id, output);
        }
        self.processes.contains_key(&id)
    }

    fn put_out(&mut self, by: Incarnation, output: Output) {
        match output {
            Output::Send { to, packet } => self.send(by, to, &packet),
            Output::Call(call) => self.call(by, call),
            Output::Tell { session, frame } => {
                let at_ms = self.in_line(session);
                self.at(at_ms, Event::Frame { session, frame });
            }
            Output::End => {
                self.tell(format_args!("{by} finds itself replaced and ends"));
                self.end(by, 500);
            }
        }
    }

    /// When what is sent now on a connection arrives: after all that was sent on it before.
    fn in_line(&mut self, session: SessionNumber) -> u64 {
        let at_ms = self.now_ms + self.chance.random_range(6..20);
        let last_ms = self.lines.entry(session).or_default();
        *last_ms = at_ms.max(*last_ms);
        *last_ms
    }

    fn send(&mut self, by: Incarnation, to: Incarnation, packet: &Packet) {
        self.figures.packets += 1;
        let slot = |node: &Incarnation| self.processes.get(node).map(|process| process.slot);
        let (Some(from_slot), Some(to_slot)) = (slot(&by), slot(&to)) else { return };
        let cut_ms = self.bus_cut.get(&(from_slot, to_slot)).copied().unwrap_or_default();
        let is_lost = self.chance.random_range(0..1_000) < self.plan.lost && !self.is_calm();
        if is_lost || cut_ms > self.now_ms || self.bus_gone > self.now_ms {
            return;
        }
        let copies = if self.chance.random_range(0..1_000) < self.plan.doubled { 2 } else { 1 };
        for _ in 0..copies {
            let at_ms = self.on_the_bus(by, to);
            self.at(at_ms, Event::Packet { to, packet: packet.clone() });
        }
    }

    /// When a packet arrives: after those before it, unless the bus is slow, when packets overtake each other.
    fn on_the_bus(&mut self, by: Incarnation, to: Incarnation) -> u64 {
        let (slow_ms, until_ms) = self.bus_slow;
        if until_ms > self.now_ms {
            return self.now_ms + self.chance.random_range(1..slow_ms.max(3));
        }
        let at_ms = self.now_ms + self.chance.random_range(1..3);
        let last_ms = self.wires.entry((by, to)).or_default();
        *last_ms = at_ms.max(*last_ms);
        *last_ms
    }

    fn database_delay_ms(&mut self, by: Incarnation) -> Option<u64> {
        let slot = self.processes.get(&by)?.slot;
        let cut_ms = self.database_cut.get(&slot).copied().unwrap_or_default();
        if cut_ms > self.now_ms || self.database_gone > self.now_ms {
            return None;
        }
        let (slow_ms, until_ms) = self.database_slow;
        let most = if until_ms > self.now_ms { slow_ms.max(6) } else { 6 };
        Some(self.chance.random_range(1..most))
    }

    fn call(&mut self, by: Incarnation, call: Call) {
        if let Some(delay_ms) = self.database_delay_ms(by) {
            self.after(delay_ms, Event::Call { by, call });
        }
    }

    /// A call is carried out, though its node may be gone; the answer may find no way back.
    fn call_arrives(&mut self, by: Incarnation, call: Call) {
        let now = self.now();
        if self.is_loud
            && let Call::Commit { number, batch } = &call
        {
            self.tell(format_args!("{by} commits {number}: {batch:?}"));
        }
        let Some(reply) = self.database.answer(by, call, now) else { return };
        if let Some(delay_ms) = self.database_delay_ms(by) {
            self.after(delay_ms, Event::Reply { to: by, reply });
        }
    }

    fn start(&mut self, slot: usize) {
        if self.database_gone > self.now_ms {
            return self.after(500, Event::Start { slot });
        }
        let id = self.database.join(self.now());
        let chance = ChaCha8Rng::seed_from_u64(self.plan.seed ^ (id.0 << 32));
        let node = Node::new(id, chance, self.defect, self.now());
        self.tell(format_args!("{id} begins in slot {slot}"));
        self.processes.insert(id, Process { slot, node, suspended_ms: 0 });
        self.with_node(id, Event::Tick { node: id }, |_, _| {});
        self.after(TICK_MS, Event::Tick { node: id });
    }

    /// A process ends, and another one begins in its place.
    fn end(&mut self, node: Incarnation, down_ms: u64) {
        let Some(process) = self.processes.remove(&node) else { return };
        self.figures.holes += process.node.holes;
        self.database.lose_session(node);
        self.lose_clients(node);
        self.after(down_ms, Event::Start { slot: process.slot });
    }

    fn lose_clients(&mut self, node: Incarnation) {
        let theirs = self.sessions.iter().filter(|(_, (_, at))| *at == node);
        let theirs: Vec<(SessionNumber, usize)> =
            theirs.map(|(session, (client, _))| (*session, *client)).collect();
        for (session, client) in theirs {
            self.disconnect(session, client);
        }
    }

    fn disconnect(&mut self, session: SessionNumber, client: usize) {
        if let Some((_, node)) = self.sessions.remove(&session) {
            self.after(5, Event::Bye { to: node, session });
        }
        let now_ms = self.now_ms;
        self.clients[client].cut(now_ms);
        let due_ms = self.clients[client].due_ms;
        self.at(due_ms, Event::Client { number: client });
    }

    fn strike(&mut self, blow: Blow) {
        self.tell(format_args!("{blow:?}"));
        let now_ms = self.now_ms;
        let until_ms = |for_ms: u64| (now_ms + for_ms).min(TROUBLE_MS);
        match blow {
            Blow::Kill { node, down_ms } => {
                if let Some(node) = self.in_slot(node) {
                    self.figures.kills += 1;
                    self.end(node, down_ms);
                }
            }
            Blow::Suspend { node, for_ms } => {
                let Some(node) = self.in_slot(node) else { return };
                if let Some(process) = self.processes.get_mut(&node) {
                    process.suspended_ms = until_ms(for_ms);
                    self.after(PROXY_MS, Event::Proxy { node });
                }
            }
            Blow::CutBus { from, to, for_ms } => {
                self.bus_cut.insert((from, to), until_ms(for_ms));
            }
            Blow::NoBus { for_ms } => self.bus_gone = until_ms(for_ms),
            Blow::SlowBus { delay_ms, for_ms } => self.bus_slow = (delay_ms, until_ms(for_ms)),
            Blow::CutDatabase { node, for_ms } => {
                self.database_cut.insert(node, until_ms(for_ms));
            }
            Blow::NoDatabase { for_ms } => self.database_gone = until_ms(for_ms),
            Blow::SlowDatabase { delay_ms, for_ms } => self.database_slow = (delay_ms, until_ms(for_ms)),
            Blow::Disconnect { client } => {
                if let Some((_, session)) = self.clients[client].connection {
                    self.disconnect(session, client);
                }
            }
        }
    }

    fn in_slot(&self, slot: usize) -> Option<Incarnation> {
        self.processes.iter().find(|(_, process)| process.slot == slot).map(|(node, _)| *node)
    }

    fn client_acts(&mut self, number: usize) {
        let now_ms = self.now_ms;
        let client = &mut self.clients[number];
        if client.due_ms > now_ms {
            return; // it has something else in mind by now
        }
        let wish = client.act(now_ms);
        let due_ms = client.due_ms;
        self.at(due_ms, Event::Client { number });
        if let Some(wish) = wish {
            self.grant(number, wish);
        }
    }

    fn grant(&mut self, number: usize, wish: Wish) {
        match (wish, self.clients[number].connection) {
            (Wish::Connect, _) => self.connect(number),
            (Wish::Disconnect, Some((_, session))) => self.disconnect(session, number),
            (wish, Some((_, session))) => {
                let at_ms = self.in_line(session);
                self.at(at_ms, Event::Wish { session, wish });
            }
            (_, None) => {}
        }
    }

    /// A proxy gives the client some node that answers.
    fn connect(&mut self, number: usize) {
        let ready = self.processes.iter().filter(|(_, process)| process.suspended_ms <= self.now_ms);
        let ready: Vec<Incarnation> = ready.map(|(node, _)| *node).collect();
        if ready.is_empty() {
            return;
        }
        let node = ready[self.chance.random_range(0..ready.len())];
        self.queued += 1;
        let session = self.queued;
        self.sessions.insert(session, (number, node));
        self.clients[number].connection = Some((node, session));
        self.after(5, Event::Hello { session });
        if let Some(wish) = self.clients[number].resumed() {
            self.grant(number, wish);
        }
    }

    fn wish_arrives(&mut self, session: SessionNumber, wish: Wish) {
        let Some((_, node)) = self.sessions.get(&session).copied() else { return };
        let again = Event::Wish { session, wish: wish.clone() };
        self.with_node(node, again, |node, now| match wish {
            Wish::Play { game, ply, column } => node.play(session, game, (ply, column), now),
            Wish::Resume { game } => node.resume(session, game, now),
            Wish::Sync => node.sync(session, now),
            Wish::Connect | Wish::Disconnect => {}
        });
    }

    fn frame_arrives(&mut self, session: SessionNumber, frame: &Frame) {
        let Some((number, _)) = self.sessions.get(&session).copied() else { return };
        (self.now_ms, number, frame).hash(&mut self.hasher);
        self.tell(format_args!("client{number} <- {frame:?}"));
        let now_ms = self.now_ms;
        let wish = self.clients[number].hear(frame, now_ms);
        let due_ms = self.clients[number].due_ms;
        self.at(due_ms, Event::Client { number });
        if let Some(wish) = wish {
            self.grant(number, wish);
        }
    }

    fn is_quiet(&self) -> bool {
        self.database.is_quiet()
            && self.clients.iter().all(|client| !client.is_playing())
            && self.processes.len() == NODES
            && self.processes.values().all(|process| process.node.is_quiet())
    }

    /// Says what is still not over.
    fn despair(&mut self) {
        let live: Vec<String> = self.database.live().map(ToString::to_string).collect();
        self.faults.push(format!("games do not end: {live:?}"));
        for client in self.clients.iter().filter(|client| client.is_playing()) {
            self.faults.push(format!("{:?} waits for ever", client.player));
        }
        for (node, process) in self.processes.iter().filter(|(_, process)| !process.node.is_quiet()) {
            self.faults.push(format!("I9: something is left at {node}: {}", process.node.what_is_left()));
        }
    }

    fn judge(mut self) -> Verdict {
        let store = &self.database.games;
        self.faults.append(&mut self.database.faults);
        let report = at_once(verify(store)).expect("a readable store");
        self.faults.extend(report.findings.into_iter().map(|finding| format!("I3 to I5: {finding}")));
        let mut games: BTreeMap<GameId, (StoredGame, Vec<Column>)> = BTreeMap::new();
        let finished = at_once(store.audit_finished(0, u32::MAX)).expect("readable games");
        let live = at_once(store.audit_live()).expect("readable games");
        for stored in finished.into_iter().chain(live).map(|game| game.expect("no game is damaged")) {
            let moves = Game::from_moves(stored.spec.variant, &stored.moves()).expect("a legal game");
            format!("{stored:?}").hash(&mut self.hasher);
            if stored.ending().is_some_and(|ending| ending.reason == EndReason::Time) {
                self.faults.push(format!("I7: a flag fell in {}", stored.spec.id));
            }
            games.insert(stored.spec.id.clone(), (stored, moves.moves().to_vec()));
        }
        for client in &self.clients {
            self.faults.extend(client.judge(&games));
            self.figures.acked += client.acked() as u64;
        }
        self.figures.games = games.len() as u64;
        self.figures.fenced = self.database.fenced;
        self.figures.taken_over = self.database.taken_over;
        self.figures.handed_over = self.database.handed_over;
        self.figures.holes += self.processes.values().map(|process| process.node.holes).sum::<u64>();
        self.figures.simulated_ms = self.now_ms;
        Verdict { faults: self.faults, hash: self.hasher.finish(), figures: self.figures }
    }
}
