//! Whatever three clients say to a whole arena, in any order and at any time: nothing panics, the daemon goes on, and
//! what is stored at the end follows from the rules.
//!
//! The input is a script of lines: a digit and a text, which that client says; `!` and a digit, whose connection is cut
//! and made again; `~` and a digit, for which time passes. In texts `$g`, `$c`, `$p`, `$s` and `$k` stand for the last
//! game, challenge and ply, and for the client's session with its secret. `fuzz/seeds/arena` has scripts to begin with,
//! `fuzz/arena.dict` the words of the protocol.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use fourfold::app::server::{Daemon, NodeParts, Parts};
use fourfold::model::world::{self, SimulatedWorld};
use fourfold::operations::verify::verify;
use fourfold::session::limits::TransportLimits;
use fourfold::session::port::{Caller, Credential};
use fourfold::session::socket::{SocketDeps, serve};
use fourfold::session::{Services, SessionGateway};
use fourfold::storage::{MemoryStore, Store};
use fourfold::system::config::Config;
use fourfold::system::pauses::Pauses;
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

const CLIENTS: usize = 3;

/// Lines that are carried out: with more of them a run says less and takes longer.
const LINES_MAX: usize = 64;

/// What the wall shows when a run begins.
const WALL_MS: i64 = 1_790_000_000_000;

/// How long an answer may take.
const QUIET: Duration = Duration::from_millis(5);

const PIPE_BYTES: usize = 64 * 1024;

const HELLO: &str = r#"{"type":"hello","protocol":1,"client":{},"open":true}"#;

pub(crate) fn hold(script: &str) {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
    SimulatedWorld::new(1, WALL_MS).enter();
    runtime.block_on(run(script));
    runtime.shutdown_background();
    world::leave_simulation();
}

async fn run(script: &str) {
    let store = Arc::new(MemoryStore::default());
    let daemon = Daemon::start(parts(&store).await).await.expect("an empty store is taken");
    let services = Arc::clone(daemon.services());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(daemon.run(stop.clone()));
    let mut table = Table { services, heard: Heard::default(), clients: Vec::new() };
    for _ in 0..CLIENTS {
        let client = table.connect().await;
        table.clients.push(client);
    }
    for client in 0..CLIENTS {
        table.say(client, HELLO.to_owned()).await;
    }
    for line in script.lines().take(LINES_MAX) {
        table.carry_out(line).await;
    }
    assert!(!serving.is_finished(), "the daemon has ended because of input");
    let report = verify(store.as_ref()).await.expect("a store in memory can be read");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    stop.cancel();
}

/// What was heard last, for texts that name it.
#[derive(Default)]
struct Heard {
    game: String,
    challenge: String,
    ply: u64,
}

struct Client {
    socket: WebSocketStream<DuplexStream>,
    session: String,
    secret: String,
}

struct Table {
    services: Arc<Services>,
    heard: Heard,
    clients: Vec<Client>,
}

impl Table {
    async fn connect(&self) -> Client {
        let (server, own) = tokio::io::duplex(PIPE_BYTES);
        let caller = Caller {
            credential: Credential::None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            site: None,
            received: tokio::time::Instant::now().into_std(),
        };
        let deps = SocketDeps {
            gateway: Arc::new(SessionGateway::new(Arc::clone(&self.services))),
            limits: Arc::new(TransportLimits::default()),
            stop: CancellationToken::new(),
        };
        tokio::spawn(serve(server, caller, deps));
        let socket = WebSocketStream::from_raw_socket(own, Role::Client, None).await;
        Client { socket, session: String::new(), secret: String::new() }
    }

    async fn carry_out(&mut self, line: &str) {
        let mut letters = line.chars();
        let first = letters.next().unwrap_or('~');
        let digit = |letter: Option<char>| letter.and_then(|letter| letter.to_digit(10)).unwrap_or(0);
        match first {
            '!' => {
                let number = digit(letters.next()) as usize % CLIENTS;
                let Client { session, secret, .. } = &self.clients[number];
                let resume = format!(r#"{{"session":"{session}","secret":"{secret}","seq":0}}"#);
                self.clients[number] = self.connect().await;
                self.say(number, HELLO.replace("\"open\"", &format!("\"resume\":{resume},\"open\""))).await;
            }
            '~' => sleep(Duration::from_millis(3_u64.pow(digit(letters.next()) + 4))).await,
            _ => self.say(digit(Some(first)) as usize % CLIENTS, letters.collect()).await,
        }
    }

    /// Says something; everybody hears what comes of it.
    async fn say(&mut self, number: usize, text: String) {
        let Heard { game, challenge, ply } = &self.heard;
        let client = &self.clients[number];
        let text = text.replace("$g", game).replace("$c", challenge).replace("$p", &ply.to_string());
        let text = text.replace("$s", &client.session).replace("$k", &client.secret);
        // It may be closed by now.
        let _ = self.clients[number].socket.send(Message::text(text)).await;
        for client in &mut self.clients {
            while let Ok(Some(Ok(message))) = timeout(QUIET, client.socket.next()).await {
                let Message::Text(text) = message else { continue };
                let message: Value = serde_json::from_str(&text).expect("the daemon speaks JSON");
                let word = |field: &str| message[field].as_str().map(str::to_owned);
                self.heard.game = word("game").unwrap_or(std::mem::take(&mut self.heard.game));
                self.heard.challenge = word("challenge").unwrap_or(std::mem::take(&mut self.heard.challenge));
                self.heard.ply = message["ply"].as_u64().unwrap_or(self.heard.ply);
                if message["type"] == "welcome" {
                    client.session = word("session").unwrap_or_default();
                    client.secret = word("secret").unwrap_or_default();
                }
            }
        }
    }
}

async fn parts(store: &Arc<MemoryStore>) -> Parts {
    let config = Config::quiet(["greedy"]);
    // Nobody connects to it.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    Parts {
        listener,
        metrics_listener: None,
        config,
        store,
        key: [7; 32],
        pauses: Pauses::default(),
        node: NodeParts::default(),
    }
}
