//! Load for the daemon and the relay that costs less than either: one thread, no runtime, no JSON library.
//!
//! Pairs of clients play whole games at random columns. It writes a line when a phase begins, and waits for a line on
//! its standard input before it goes on, so that whoever started it can look at the server in between:
//!
//! ```text
//! connected ⏎   seated ⏎   [watching ⏎]   measuring   (seconds pass)   measured ⏎   one JSON object
//! ```
//!
//! With watchers, these watch all games of the first pair, which then plays slowly enough for all of them to see each
//! move; those that are stalled ask to watch, and read nothing ever after.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{BufRead, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

/// How long the server may take for one step of the set-up.
const PATIENCE: Duration = Duration::from_secs(30);
/// Connections that are made at the same time.
const SETTING_UP_MAX: usize = 64;
/// How long the pair that is watched thinks, so that a move has reached everybody before the next one.
const WATCHED_PACE: Duration = Duration::from_millis(400);
const TIME: &str = r#"{"bank_ms":600000,"increment_ms":0,"move_ms":null}"#;

struct Plan {
    /// The first client connects to the first, the next to the next, and so on around.
    addresses: Vec<SocketAddr>,
    connections: usize,
    /// Moves a second of all games together; 0 for as many as the server takes.
    rate: f64,
    warm_up: Duration,
    measure: Duration,
    watchers: usize,
    /// So many more, who do not read.
    stalled: usize,
}

impl Plan {
    /// ADDRESS[,ADDRESS...] CONNECTIONS RATE WARM_UP_S MEASURE_S [WATCHERS STALLED]
    fn from_args() -> Result<Self> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let [addresses, connections, rate, warm_up, measure, crowd @ ..] = args.as_slice() else {
            bail!("usage: load ADDRESS[,ADDRESS...] CONNECTIONS RATE WARM_UP_S MEASURE_S [WATCHERS STALLED]");
        };
        let crowd = |at: usize| crowd.get(at).map_or(Ok(0), |number| number.parse()).context("watchers");
        let plan = Self {
            addresses: addresses.split(',').map(str::parse).collect::<Result<_, _>>().context("address")?,
            connections: connections.parse().context("connections")?,
            rate: rate.parse().context("moves a second")?,
            warm_up: Duration::from_secs_f64(warm_up.parse().context("seconds to warm up")?),
            measure: Duration::from_secs_f64(measure.parse().context("seconds to measure")?),
            watchers: crowd(0)?,
            stalled: crowd(1)?,
        };
        ensure!(plan.connections >= 2 && plan.connections % 2 == 0, "connections come in pairs");
        Ok(plan)
    }

    fn address_of(&self, index: usize) -> SocketAddr {
        self.addresses[index % self.addresses.len()]
    }

    /// The game of players that this is of; none of a watcher.
    fn pair_of(&self, index: usize) -> Option<usize> {
        (index < self.connections).then_some(index / 2)
    }

    fn is_stalled(&self, index: usize) -> bool {
        index >= self.connections + self.watchers
    }
}

/// One client. Its partner has the index next to it, and the even one offers the games.
struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
    name: String,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Connecting,
    Upgrading,
    Greeting,
    Ready,
}

/// What is known of the games of a pair.
#[derive(Clone, Default)]
struct Pair {
    /// When the moves were played of which not both have heard. There may be two: one hears of a move and plays the
    /// next before the other, who is at a slower server, has heard of the first.
    sent_at: VecDeque<Instant>,
    /// Moves of which each has heard, those before `sent_at` not counted.
    heard: [usize; 2],
    moves: u32,
}

struct Load {
    plan: Plan,
    poll: Poll,
    clients: Vec<Client>,
    pairs: Vec<Pair>,
    /// Answers to turns that are due later: when, by whom, the text.
    due: BinaryHeap<Reverse<(Instant, usize, String)>>,
    chance: u64,
    is_playing: bool,
    is_measuring: bool,
    ready: usize,
    seated: usize,
    games: u64,
    acked: Vec<u32>,
    both: Vec<u32>,
    /// Until the last watcher has a move.
    last: Vec<u32>,
    /// Of the game that is watched: its name, when its latest move was played, and how many have seen that.
    watched: String,
    watched_at: Option<Instant>,
    seen: usize,
    /// How many clients there shall be by now.
    wanted: usize,
    errors: u64,
}

fn main() -> Result<()> {
    let plan = Plan::from_args()?;
    let mut load = Load {
        poll: Poll::new()?,
        clients: Vec::new(),
        pairs: vec![Pair::default(); plan.connections / 2],
        due: BinaryHeap::new(),
        chance: 0x9e37_79b9_7f4a_7c15,
        is_playing: false,
        is_measuring: false,
        ready: 0,
        seated: 0,
        games: 0,
        acked: Vec::new(),
        both: Vec::new(),
        last: Vec::new(),
        watched: String::new(),
        watched_at: None,
        seen: 0,
        wanted: plan.connections,
        errors: 0,
        plan,
    };
    let began = Instant::now();
    load.connect_all()?;
    let set_up = began.elapsed().as_secs_f64();
    wait_after("connected")?;
    for challenger in (0..load.plan.connections).step_by(2) {
        load.challenge(challenger)?;
        load.turn_round(Duration::ZERO)?;
    }
    let began = Instant::now();
    while load.seated < load.plan.connections {
        ensure!(began.elapsed() < 4 * PATIENCE, "only {} clients were seated", load.seated);
        load.turn_round(Duration::from_millis(100))?;
    }
    wait_after("seated")?;
    if load.plan.watchers + load.plan.stalled > 0 {
        load.wanted += load.plan.watchers + load.plan.stalled;
        load.connect_all()?;
        load.watch()?;
        let all_seen = Instant::now() + Duration::from_secs(1);
        while Instant::now() < all_seen {
            load.turn_round(Duration::from_millis(100))?;
        }
        wait_after("watching")?;
    }
    load.is_playing = true;
    load.run(load.plan.warm_up)?;
    load.is_measuring = true;
    load.pairs.iter_mut().for_each(|pair| pair.moves = 0);
    println!("measuring");
    let began = Instant::now();
    load.run(load.plan.measure)?;
    let seconds = began.elapsed().as_secs_f64();
    wait_after("measured")?;
    println!("{}", load.report(set_up, seconds));
    Ok(())
}

/// Says what has come to pass, and waits until it was seen.
fn wait_after(phase: &str) -> Result<()> {
    println!("{phase}");
    std::io::stdin().lock().read_line(&mut String::new())?;
    Ok(())
}

impl Load {
    fn connect_all(&mut self) -> Result<()> {
        let began = Instant::now();
        while self.ready < self.wanted {
            ensure!(began.elapsed() < 4 * PATIENCE, "only {} clients could connect", self.ready);
            self.connect_more()?;
            self.turn_round(Duration::from_millis(100))?;
        }
        Ok(())
    }

    /// All watchers ask for the game of the first pair.
    fn watch(&mut self) -> Result<()> {
        let text = format!(r#"{{"type":"watch","game":"{}"}}"#, self.watched);
        for index in self.plan.connections..self.clients.len() {
            self.send(index, 1, text.as_bytes())?;
        }
        Ok(())
    }

    fn connect_more(&mut self) -> Result<()> {
        while self.clients.len() < self.wanted && self.clients.len() - self.ready < SETTING_UP_MAX {
            let mut stream = TcpStream::connect(self.plan.address_of(self.clients.len()))?;
            stream.set_nodelay(true)?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut stream, Token(self.clients.len()), interest)?;
            let stage = Stage::Connecting;
            self.clients.push(Client { stream, unread: Vec::new(), name: String::new(), stage });
        }
        Ok(())
    }

    fn run(&mut self, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let due = self.due.peek().map(|Reverse((at, ..))| at.saturating_duration_since(Instant::now()));
            // The system waits in whole milliseconds: shorter waits are spent looking.
            let wait = due.map_or(Duration::from_millis(10), |due| {
                if due < Duration::from_millis(2) { Duration::ZERO } else { due - Duration::from_millis(1) }
            });
            self.turn_round(wait)?;
            while let Some(Reverse((at, ..))) = self.due.peek()
                && *at <= Instant::now()
                && let Some(Reverse((_, index, text))) = self.due.pop()
            {
                self.play(index, &text)?;
            }
        }
        Ok(())
    }

    /// Takes what has come, waiting for it if need be.
    fn turn_round(&mut self, wait: Duration) -> Result<()> {
        let mut events = Events::with_capacity(1_024);
        match self.poll.poll(&mut events, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            result => result?,
        }
        for event in &events {
            let index = event.token().0;
            if self.clients[index].stage == Stage::Connecting && event.is_writable() {
                self.clients[index].stage = Stage::Upgrading;
                let request = format!(
                    "GET /api/v1/socket HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                    self.plan.address_of(index)
                );
                self.clients[index].stream.write_all(request.as_bytes())?;
            }
            let is_deaf = self.plan.is_stalled(index) && self.clients[index].stage == Stage::Ready;
            if event.is_readable() && !is_deaf {
                self.read(index)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, index: usize) -> Result<()> {
        let mut bytes = [0; 16 * 1024];
        loop {
            let count = match self.clients[index].stream.read(&mut bytes) {
                Ok(0) => bail!("the server has closed connection {index}"),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error).with_context(|| format!("connection {index}")),
            };
            let mut unread = std::mem::take(&mut self.clients[index].unread);
            unread.extend_from_slice(&bytes[..count]);
            let taken = self.take(index, &unread)?;
            unread.drain(..taken);
            self.clients[index].unread = unread;
            if count < bytes.len() {
                return Ok(()); // there was no more
            }
        }
    }

    /// Takes whole frames; says how many bytes they had.
    fn take(&mut self, index: usize, bytes: &[u8]) -> Result<usize> {
        let mut taken = 0;
        if self.clients[index].stage == Stage::Upgrading {
            let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(0) };
            ensure!(bytes.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&bytes[..end]));
            taken = end + 4;
            self.clients[index].stage = Stage::Greeting;
            let hello = r#"{"type":"hello","protocol":1,"client":{"name":"load","version":"1"}}"#;
            self.send(index, 1, hello.as_bytes())?;
        }
        while let [head, length, rest @ ..] = &bytes[taken..] {
            let (length, header) = match (length & 0x7f, rest) {
                (126, [high, low, ..]) => (usize::from(u16::from_be_bytes([*high, *low])), 4),
                (126, _) => break,
                (127, _) => bail!("a frame of more than 64 KiB"),
                (short, _) => (usize::from(short), 2),
            };
            let Some(payload) = bytes.get(taken + header..taken + header + length) else { break };
            match head & 0xf {
                1 => self.hear(index, payload)?,
                9 => self.send(index, 10, payload)?,
                8 => bail!("the server closes: {}", String::from_utf8_lossy(payload)),
                _ => {}
            }
            taken += header + length;
        }
        Ok(taken)
    }

    fn hear(&mut self, index: usize, text: &[u8]) -> Result<()> {
        let now = Instant::now();
        match field(text, b"\"type\":\"") {
            b"turn" => self.hear_turn(index, text, now)?,
            // A crowd that is behind is shown the whole game.
            b"moved" | b"game" if self.plan.pair_of(index).is_none() => self.see(now),
            b"game_end" | b"challenge" if self.plan.pair_of(index).is_none() => {}
            b"moved" => {
                let pair = &mut self.pairs[index / 2];
                let sent_at = pair.sent_at.get(pair.heard[index % 2]).context("a move that nobody played")?;
                let us = (now - *sent_at).as_nanos().min(u32::MAX.into()) as u32;
                pair.heard[index % 2] += 1;
                let has_other_heard = pair.heard[(index + 1) % 2] >= pair.heard[index % 2];
                if self.is_measuring && has_other_heard {
                    self.both.push(us);
                    pair.moves += 1;
                } else if self.is_measuring {
                    self.acked.push(us);
                }
                if has_other_heard {
                    pair.sent_at.pop_front();
                    pair.heard.iter_mut().for_each(|heard| *heard -= 1);
                }
            }
            b"game_end" if index % 2 == 0 => {
                self.games += u64::from(self.is_measuring);
                self.challenge(index)?;
            }
            b"game" => {
                self.seated += 1;
                if index == 0 {
                    self.watched = String::from_utf8_lossy(field(text, b"\"game\":\"")).into_owned();
                    self.watch()?;
                }
            }
            b"challenge" if index % 2 == 1 => {
                let id = String::from_utf8_lossy(field(text, b"\"challenge\":\""));
                self.send(index, 1, format!(r#"{{"type":"accept","challenge":"{id}"}}"#).as_bytes())?;
            }
            b"welcome" => {
                let you = find(text, b"\"you\":{").context("a welcome names the client")?;
                let name = field(&text[you..], b"\"name\":\"");
                self.clients[index].name = String::from_utf8_lossy(name).into_owned();
                self.clients[index].stage = Stage::Ready;
                self.ready += 1;
            }
            b"error" => {
                self.errors += 1;
                if self.errors < 5 {
                    eprintln!("{}", String::from_utf8_lossy(text));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A watcher has seen a move of the first pair.
    fn see(&mut self, now: Instant) {
        self.seen += 1;
        if self.seen == self.plan.watchers
            && self.is_measuring
            && let Some(sent_at) = self.watched_at
        {
            self.last.push((now - sent_at).as_nanos().min(u32::MAX.into()) as u32);
        }
    }

    fn hear_turn(&mut self, index: usize, text: &[u8], now: Instant) -> Result<()> {
        let legal = field_until(text, b"\"legal\":[", b']');
        let columns: Vec<u8> = legal.iter().copied().filter(u8::is_ascii_digit).collect();
        ensure!(!columns.is_empty(), "a turn without legal columns");
        let column = char::from(columns[self.random() as usize % columns.len()]);
        let game = String::from_utf8_lossy(field(text, b"\"game\":\""));
        let ply = String::from_utf8_lossy(field_until(text, b"\"ply\":", b','));
        let reply = format!(r#"{{"type":"move","game":"{game}","ply":{ply},"column":{column}}}"#);
        if self.is_playing && self.plan.rate == 0.0 && !(self.plan.watchers > 0 && index < 2) {
            return self.play(index, &reply);
        }
        if self.plan.watchers > 0 && index < 2 {
            self.due.push(Reverse((now + WATCHED_PACE, index, reply)));
            return Ok(());
        }
        let mean = if self.plan.rate == 0.0 { 0.0 } else { self.pairs.len() as f64 / self.plan.rate };
        let spread = 0.5 + self.random() as f64 / u32::MAX as f64;
        self.due.push(Reverse((now + Duration::from_secs_f64(mean * spread), index, reply)));
        Ok(())
    }

    fn challenge(&mut self, challenger: usize) -> Result<()> {
        let to = &self.clients[challenger + 1].name;
        let text =
            format!(r#"{{"type":"challenge","to":"{to}","time":{TIME},"rated":false,"side":"first"}}"#);
        self.send(challenger, 1, text.as_bytes())
    }

    fn play(&mut self, index: usize, text: &str) -> Result<()> {
        let now = Instant::now();
        self.pairs[index / 2].sent_at.push_back(now);
        if index < 2 {
            self.watched_at = Some(now);
            self.seen = 0;
        }
        self.send(index, 1, text.as_bytes())
    }

    /// Sends a frame masked with zeros, which is as good as any mask here. Nothing waits on our side: a client has at
    /// most a few small messages under way.
    fn send(&mut self, index: usize, opcode: u8, payload: &[u8]) -> Result<()> {
        let mut frame = Vec::with_capacity(payload.len() + 8);
        frame.push(0x80 | opcode);
        match payload.len() {
            short @ 0..126 => frame.push(0x80 | short as u8),
            long => {
                frame.push(0x80 | 126);
                frame.extend((long as u16).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend_from_slice(payload);
        self.clients[index].stream.write_all(&frame).with_context(|| format!("connection {index}"))
    }

    /// A number of 32 bits (xorshift).
    fn random(&mut self) -> u32 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 32) as u32
    }

    fn report(&mut self, set_up: f64, seconds: f64) -> String {
        let moves = self.both.len();
        let mut by_pair: Vec<u32> = self.pairs.iter().map(|pair| pair.moves).collect();
        by_pair.sort_unstable();
        let median = by_pair[by_pair.len() / 2].max(1);
        serde_json::json!({
            "connections": self.plan.connections,
            "set_ups_per_s": self.plan.connections as f64 / set_up,
            "seconds": seconds,
            "moves": moves,
            "games": self.games,
            "moves_per_s": moves as f64 / seconds,
            "errors": self.errors,
            "fairness": f64::from(by_pair[0]) / f64::from(median),
            "acked_us": percentiles(&mut self.acked),
            "both_us": percentiles(&mut self.both),
            "last_watcher_us": percentiles(&mut self.last),
        })
        .to_string()
    }
}

fn percentiles(ns: &mut [u32]) -> serde_json::Value {
    ns.sort_unstable();
    let at = |share: f64| {
        let rank = (ns.len() as f64 * share).ceil() as usize;
        ns.get(rank.saturating_sub(1)).map(|ns| f64::from(*ns) / 1_000.0)
    };
    serde_json::json!({ "p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "max": at(1.0) })
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// The string after a key. Our messages have no escapes where we look.
fn field<'a>(text: &'a [u8], key: &[u8]) -> &'a [u8] {
    field_until(text, key, b'"')
}

fn field_until<'a>(text: &'a [u8], key: &[u8], end: u8) -> &'a [u8] {
    let Some(start) = find(text, key) else { return b"" };
    let rest = &text[start + key.len()..];
    &rest[..rest.iter().position(|byte| *byte == end).unwrap_or(rest.len())]
}
