//! Whatever clients say, over the socket and over HTTP, in whatever order: nothing panics, every request has one
//! answer, and what is stored at the end follows from the rules.
//!
//! Messages and requests are made of the published descriptions of both interfaces, so that what is added to them is
//! tried too. Longer runs: `PROPTEST_CASES=10000 cargo test --release -p fourfold --lib server::tests::model`. What was
//! found stays in `proptest-regressions/`.

mod whims;

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use serde_json::Value;

use self::whims::Whims;
use super::*;
use crate::play::presence::outbox::{Attachment, Next};
use crate::protocol::ClientMessage;
use crate::protocol::parse::parse;
use crate::protocol::server::{ServerMessage, Turn};
use crate::session::port::{Disconnected, SessionPort};

/// Runs by default: a quarter of a minute on a slow machine.
const CASES: u32 = 60;

/// Steps of one run.
const STEPS_MAX: usize = 80;

/// Who takes part: two people, two remote bots, a guest.
const CLIENTS: usize = 5;

/// Time is the test's for so long; then something hangs, and it is let go so that whoever waits gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// So often everybody has their turn before nothing more is to be done.
const YIELDS: u32 = 60;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// A client says something.
    Say { client: usize, message: Value },
    /// A client answers its last turn.
    Play { client: usize, column: i64 },
    /// A client's connection ends, by its wish or not.
    Go { client: usize, by_wish: bool },
    /// A client connects anew, perhaps in the place of what it has.
    Come { client: usize, hello: Value },
    /// Somebody asks over HTTP.
    Ask { method: String, path: String, body: Value },
    /// Time passes.
    Wait { ms: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let whims = Whims::of_this_daemon();
    let client = || 0..CLIENTS;
    let waits = prop::sample::select(vec![1, 400, 2_000, 21_000, 61_000, 300_000, 90_000_000]);
    let step = prop_oneof![
        20 => (client(), whims.message()).prop_map(|(client, message)| Step::Say { client, message }),
        10 => (client(), 0..8_i64).prop_map(|(client, column)| Step::Play { client, column }),
        1 => (client(), any::<bool>()).prop_map(|(client, by_wish)| Step::Go { client, by_wish }),
        2 => (client(), whims.hello()).prop_map(|(client, hello)| Step::Come { client, hello }),
        3 => whims.request().prop_map(|(method, path, body)| Step::Ask { method, path, body }),
        3 => waits.prop_map(|ms| Step::Wait { ms }),
    ];
    prop::collection::vec(step, 1..STEPS_MAX)
}

/// A connection.
struct Connection {
    port: Arc<dyn SessionPort>,
    attachment: Attachment,
    turn: Option<Turn>,
    /// Requests without an answer so far.
    unanswered: BTreeSet<String>,
}

/// A daemon and who speaks to it.
struct Run {
    daemon: TestDaemon,
    credentials: Vec<Credential>,
    connections: HashMap<usize, Connection>,
    /// Ids of games, challenges and the like that were heard of, the last one last.
    ids: Vec<String>,
    requests: u64,
}

impl Run {
    async fn begin() -> Self {
        let daemon = TestDaemon::start(quiet()).await;
        let credentials = vec![
            daemon.person("ann").await,
            daemon.person("bob").await,
            daemon.bot("robo").await,
            daemon.bot("tron").await,
            Credential::None,
        ];
        let mut run = Self { daemon, credentials, connections: HashMap::new(), ids: Vec::new(), requests: 0 };
        for client in 0..CLIENTS {
            run.come(client, serde_json::json!({"type": "hello", "protocol": 1, "client": {}, "open": true}))
                .await;
        }
        run
    }

    async fn carry_out(&mut self, step: Step) {
        match step {
            Step::Say { client, message } => self.say(client, message).await,
            Step::Play { client, column } => self.play(client, column).await,
            Step::Go { client, by_wish } => self.go(client, by_wish).await,
            Step::Come { client, hello } => self.come(client, hello).await,
            Step::Ask { method, path, body } => {
                let (path, body) = (self.filled(Value::String(path)), self.filled(body));
                let answer = self.daemon.http(&method, path.as_str().unwrap(), &body.to_string()).await;
                let status = answer.split(' ').nth(1).unwrap_or_default();
                assert!(status != "500" && !status.is_empty(), "{method} {path} {body}: {answer}");
            }
            Step::Wait { ms } => tokio::time::advance(Duration::from_millis(ms)).await,
        }
        self.settle().await;
    }

    /// Lets everything happen that needs no time, and hears what everybody is told.
    async fn settle(&mut self) {
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
        for client in 0..CLIENTS {
            self.hear(client).await;
        }
    }

    /// The same value with ids of things that are there.
    fn filled(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(
                self.ids
                    .iter()
                    .rev()
                    .take(9)
                    .zip('0'..='9')
                    .fold(text, |text, (id, place)| text.replace(&format!("$ID{place}"), id)),
            ),
            Value::Array(items) => items.into_iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (name, self.filled(value))).collect()
            }
            other => other,
        }
    }

    async fn say(&mut self, client: usize, message: Value) {
        let mut message = self.filled(message);
        let Some(connection) = self.connections.get_mut(&client) else { return };
        if !message.is_object() {
            parse(&message.to_string()).unwrap_err();
            return;
        }
        self.requests += 1;
        message["id"] = self.requests.to_string().into();
        match parse(&message.to_string()) {
            Err(refusal) => assert_eq!(refusal.id, Some(self.requests.to_string()), "{message}"),
            // The socket refuses a second one.
            Ok(request) if matches!(request.message, ClientMessage::Hello(_)) => {}
            Ok(request) => {
                let bye = matches!(&request.message, ClientMessage::Bye(bye) if !bye.drain);
                connection.unanswered.insert(self.requests.to_string());
                let port = Arc::clone(&connection.port);
                port.handle(request, now()).await;
                if bye {
                    self.settle().await;
                    self.go(client, true).await;
                }
            }
        }
    }

    async fn play(&mut self, client: usize, column: i64) {
        let Some(turn) = self.connections.get_mut(&client).and_then(|connection| connection.turn.take())
        else {
            return;
        };
        let message = serde_json::json!(
            {"type": "move", "game": turn.game, "ply": turn.ply, "column": column}
        );
        self.say(client, message).await;
    }

    async fn go(&mut self, client: usize, by_wish: bool) {
        let Some(connection) = self.connections.remove(&client) else { return };
        connection.port.outbox().detach(&connection.attachment);
        let how = if by_wish { Disconnected::Bye } else { Disconnected::Lost };
        connection.port.disconnected(connection.attachment, how).await;
    }

    async fn come(&mut self, client: usize, hello: Value) {
        let Ok(request) = parse(&self.filled(hello).to_string()) else { return };
        let ClientMessage::Hello(hello) = request.message else { return };
        let Ok(opened) = self.daemon.open(self.credentials[client].clone(), *hello).await else { return };
        let (port, attachment) = opened.into_parts();
        // What it had is another connection's now: two pages of a person, or a bot that is replaced.
        self.go(client, false).await;
        let connection = Connection { port, attachment, turn: None, unanswered: BTreeSet::new() };
        self.connections.insert(client, connection);
        self.hear(client).await;
    }

    async fn hear(&mut self, client: usize) {
        loop {
            let Some(connection) = self.connections.get_mut(&client) else { return };
            match connection.port.outbox().next(&connection.attachment) {
                Next::Message(outgoing) => {
                    let text: Value = serde_json::from_str(&outgoing.text()).unwrap();
                    if let Some(re) = &outgoing.re {
                        assert!(connection.unanswered.remove(&**re), "a second answer: {text}");
                    }
                    if let ServerMessage::Turn(turn) = outgoing.read() {
                        connection.turn = Some(*turn);
                    }
                    self.note_ids(&text);
                }
                Next::Idle { behind: true } => {
                    let behind = connection.port.outbox().take_behind(&connection.attachment);
                    let port = Arc::clone(&connection.port);
                    for (game, skipped) in behind {
                        port.resync(game, skipped).await;
                    }
                }
                Next::Idle { behind: false } => return,
                Next::Close(_) => return self.go(client, false).await,
            }
        }
    }

    fn note_ids(&mut self, heard: &Value) {
        for name in ["game", "challenge", "id"] {
            if let Value::String(id) = &heard[name]
                && !self.ids.contains(id)
            {
                self.ids.push(id.clone());
            }
        }
    }

    async fn check_end(mut self) {
        for _ in 0..3 {
            tokio::time::advance(Duration::from_secs(2)).await;
            self.settle().await;
        }
        for (client, connection) in self.connections.drain() {
            assert!(connection.unanswered.is_empty(), "client {client} waits: {:?}", connection.unanswered);
        }
        for part in Part::ALL {
            assert_eq!(self.daemon.supervision.metrics().panics_of(part), 0, "{part:?}");
        }
        self.daemon.check_sound().await;
    }
}

/// Time stands still unless a step lets it pass: a thread that waits keeps it from jumping to the next timer.
fn hold_time() -> std::sync::mpsc::Sender<()> {
    let (hold, released) = std::sync::mpsc::channel();
    tokio::task::spawn_blocking(move || released.recv_timeout(PATIENCE));
    hold
}

fn run(steps: Vec<Step>) {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let hold = hold_time();
        let mut run = Box::pin(Run::begin()).await;
        for step in steps {
            run.carry_out(step).await;
        }
        drop(hold);
        run.check_end().await;
    });
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_time: 60_000, ..ProptestConfig::default() })]
    #[test]
    fn whatever_clients_say_the_arena_goes_on(steps in steps()) {
        run(steps);
    }
}

/// The number was rounded up to a whole pair before anybody looked at its size, in a task whose end was the daemon's.
#[test]
fn a_series_of_four_billion_games_is_refused() {
    let message = serde_json::json!({
        "type": "challenge", "to": "random", "rated": true, "games": u32::MAX,
        "time": {"bank_ms": 60_000, "increment_ms": 0, "move_ms": null},
    });
    run((0..CLIENTS).map(|client| Step::Say { client, message: message.clone() }).collect());
}
