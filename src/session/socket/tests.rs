//! The socket against a fake gateway, over a stream in memory, with time that jumps.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;

use async_trait::async_trait;
use futures::{SinkExt, StreamExt};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant as Clock, advance};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::super::port::Credential;
use super::*;
use crate::accounts::AccountError;
use crate::model::bounded::BoundedLong;
use crate::model::secret::Secret;
use crate::play::presence::outbox::Delivery;
use crate::protocol::client::Ping;
use crate::protocol::server::{Crowd, Done, Frame, ServerMessage, Urgency};

/// Bytes that are under way in each direction, as in the buffers of a kernel.
const PIPE_BYTES: usize = 64 * 1024;

/// What a session was told.
#[derive(Debug, PartialEq)]
enum SessionCall {
    Handled(Box<ClientMessage>, Instant),
    Misspoke(ErrorCode),
    Measured(Duration),
    Resync(String, u64),
    Disconnected(Disconnected),
}

#[derive(Debug)]
struct FakeSession {
    outbox: Outbox,
    told: mpsc::UnboundedSender<SessionCall>,
    /// `seek` is handled for as long as this is not notified.
    released: Notify,
}

#[async_trait]
impl SessionPort for FakeSession {
    fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    fn is_free(&self, message: &ClientMessage) -> bool {
        matches!(message, ClientMessage::Move(_))
    }

    async fn handle(&self, request: Request, received: Instant) {
        let answer = match &request.message {
            ClientMessage::Ping(Ping { n }) => ServerMessage::Pong(Ping { n: *n }),
            ClientMessage::Seek(_) => {
                self.released.notified().await;
                ServerMessage::Ok(Done {})
            }
            ClientMessage::Unseek => panic!("as ordered"),
            _ => ServerMessage::Ok(Done {}),
        };
        self.outbox.answer(&answer.into(), request.id.as_deref());
        let _ = self.told.send(SessionCall::Handled(Box::new(request.message), received));
    }

    fn misspoke(&self, _: &str, error: &WireError) {
        let _ = self.told.send(SessionCall::Misspoke(error.code));
    }

    fn measured(&self, round_trip: Duration) {
        let _ = self.told.send(SessionCall::Measured(round_trip));
    }

    async fn resync(&self, game: GameId, skipped: u64) {
        let _ = self.told.send(SessionCall::Resync(game.to_string(), skipped));
        self.outbox.forget_game(&game);
    }

    async fn disconnected(&self, _: Attachment, how: Disconnected) {
        let _ = self.told.send(SessionCall::Disconnected(how));
    }
}

/// Opens one session, which can be resumed.
struct FakeGateway {
    session: Arc<FakeSession>,
    refused: Arc<Mutex<Vec<ErrorCode>>>,
}

fn welcome() -> Frame {
    Frame::new(ServerMessage::Pong(Ping::default()))
}

#[async_trait]
impl Gateway for FakeGateway {
    async fn check_token(&self, _: &Secret) -> Result<(), AccountError> {
        Ok(())
    }

    async fn open(&self, hello: Hello, id: Option<String>, _: Caller) -> Result<Opened, RefusedHello> {
        if hello.token.is_some() {
            let error = WireError::new(ErrorCode::Unauthorized, "no such token");
            return Err(RefusedHello { error, code: CloseCode::Credentials });
        }
        if hello.client.name == "slow" {
            tokio::time::sleep(SLOW).await;
        }
        let after = hello.resume.map(|resume| resume.seq.number());
        let attachment = self.session.outbox.attach(after, &welcome(), id.as_deref()).unwrap();
        Ok(Opened::new(self.session.clone(), attachment))
    }

    fn refused(&self, code: ErrorCode) {
        self.refused.lock().unwrap().push(code);
    }
}

/// A daemon with one session.
struct Daemon {
    session: Arc<FakeSession>,
    told: mpsc::UnboundedReceiver<SessionCall>,
    /// What the gateway was told of.
    refused: Arc<Mutex<Vec<ErrorCode>>>,
    deps: SocketDeps,
}

impl Daemon {
    fn new() -> Self {
        let (told, heard) = mpsc::unbounded_channel();
        let session = Arc::new(FakeSession { outbox: Outbox::new(), told, released: Notify::new() });
        let refused = Arc::default();
        let deps = SocketDeps {
            gateway: Arc::new(FakeGateway { session: session.clone(), refused: Arc::clone(&refused) }),
            limits: Arc::new(TransportLimits::default()),
            stop: CancellationToken::new(),
        };
        Self { session, told: heard, refused, deps }
    }

    /// A stream to a new socket, and the socket's task.
    fn dial(&self, pipe_bytes: usize) -> (DuplexStream, JoinHandle<()>) {
        let (near, far) = duplex(pipe_bytes);
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let caller = Caller { credential: Credential::None, address, site: None, received: now() };
        (near, tokio::spawn(serve(far, caller, self.deps.clone())))
    }

    async fn connect(&self) -> Client {
        let (stream, task) = self.dial(PIPE_BYTES);
        Client { socket: WebSocketStream::from_raw_socket(stream, Role::Client, None).await, task }
    }

    /// A client whose `hello` was answered.
    async fn greet(&self) -> Client {
        let mut client = self.connect().await;
        client.say(HELLO).await;
        assert_eq!(client.hear().await["seq"], 1);
        client
    }

    fn tell(&self, n: u64) -> Delivery {
        self.session
            .outbox
            .deliver(&Frame::new(ServerMessage::Pong(Ping { n: BoundedLong::new(n) })), Urgency::Must)
    }

    async fn next_told(&mut self) -> SessionCall {
        loop {
            match self.told.recv().await.unwrap() {
                SessionCall::Measured(_) => {}
                told => return told,
            }
        }
    }
}

/// How long it takes to open a session for a client of this name.
const SLOW: Duration = Duration::from_secs(5);
const SLOW_HELLO: &str = r#"{"type":"hello","protocol":1,"client":{"name":"slow","version":"0"}}"#;

const HELLO: &str = r#"{"type":"hello","protocol":1,"client":{"name":"test","version":"0"}}"#;

struct Client {
    socket: WebSocketStream<DuplexStream>,
    task: JoinHandle<()>,
}

impl Client {
    async fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
    }

    /// The next message, or the close code as a number.
    async fn hear(&mut self) -> Value {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Close(Some(frame)))) => return json!(u16::from(frame.code)),
                Some(Ok(Message::Ping(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends a text and gives `code`, `field` and `re` of the error that answers it.
    async fn ask_wrongly(&mut self, text: &str) -> (Value, Value, Value) {
        self.say(text).await;
        let mut error = self.hear().await;
        assert_eq!(error["type"], "error", "{error}");
        (error["code"].take(), error["field"].take(), error["re"].take())
    }

    /// Checks that the connection closes with `code` and that the task ends.
    async fn check_closed(mut self, code: u16) {
        let heard = loop {
            if let Value::Number(code) = self.hear().await {
                break code;
            }
        };
        assert_eq!(heard, code.into());
        assert!(self.socket.next().await.is_none_or(|last| last.is_err()));
        drop(self.socket);
        self.task.await.unwrap();
    }
}

// --- hello ---

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_say_hello_in_five_seconds_is_closed() {
    let began = Clock::now();
    let mut client = Daemon::new().connect().await;
    assert_eq!(client.hear().await["message"], "no `hello` came within 5 s");
    client.check_closed(4401).await;
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn before_hello_everything_else_is_unauthorized_and_the_socket_stays_open() {
    let daemon = Daemon::new();
    let mut client = daemon.connect().await;
    let refused = client.ask_wrongly(r#"{"type":"ping","id":"a"}"#).await;
    assert_eq!(refused, (json!("unauthorized"), Value::Null, json!("a")));
    assert_eq!(client.ask_wrongly("{").await.0, "bad_json");
    assert_eq!(client.ask_wrongly(r#"{"type":"hello"}"#).await.1, "protocol");
    client.say(HELLO).await;
    assert_eq!(client.hear().await["seq"], 1);
}

#[tokio::test(start_paused = true)]
async fn every_error_that_is_sent_is_counted_once() {
    let daemon = Daemon::new();
    let mut client = daemon.connect().await;
    client.ask_wrongly("{").await;
    client.ask_wrongly(r#"{"type":"unseek"}"#).await;
    client.say(HELLO).await;
    client.hear().await;
    client.ask_wrongly(HELLO).await;
    let error = WireError::new(ErrorCode::Quota, "from a task");
    daemon.session.outbox.deliver(&error.into(), Urgency::Must);
    assert_eq!(client.hear().await["code"], "quota");
    let counted = [ErrorCode::BadJson, ErrorCode::Unauthorized, ErrorCode::BadField, ErrorCode::Quota];
    assert_eq!(*daemon.refused.lock().unwrap(), counted);
}

#[tokio::test(start_paused = true)]
async fn other_versions_are_told_which_one_is_spoken() {
    let mut client = Daemon::new().connect().await;
    client.say(r#"{"type":"hello","id":"h","protocol":2,"client":{}}"#).await;
    let error = client.hear().await;
    assert_eq!(error["code"], "bad_version");
    assert_eq!(
        (&error["supported"], &error["re"], &error["fatal"]),
        (&json!([1]), &json!("h"), &json!(true))
    );
    client.check_closed(4406).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_hello_gets_its_error_and_its_close_code() {
    let mut client = Daemon::new().connect().await;
    client.say(r#"{"type":"hello","id":"h","protocol":1,"client":{},"token":"x"}"#).await;
    let error = client.hear().await;
    assert_eq!(
        (&error["code"], &error["re"], &error["fatal"]),
        (&json!("unauthorized"), &json!("h"), &json!(true))
    );
    client.check_closed(4401).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_gave_up_and_came_back_is_not_replaced_by_its_older_attempt() {
    for says_goodbye in [false, true] {
        let daemon = Daemon::new();
        let mut first = daemon.connect().await;
        first.say(SLOW_HELLO).await;
        advance(Duration::from_secs(1)).await;
        if says_goodbye {
            first.socket.close(None).await.unwrap();
        }
        drop(first.socket);
        let mut second = daemon.greet().await;
        tokio::time::sleep(2 * SLOW).await;
        first.task.await.unwrap();
        daemon.tell(7);
        assert_eq!(second.hear().await["n"], 7, "and no close with 4409");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_while_a_session_opens_is_heard_then() {
    let daemon = Daemon::new();
    let mut client = daemon.connect().await;
    client.say(SLOW_HELLO).await;
    for n in [3, 4, 5] {
        client.say(&format!(r#"{{"type":"ping","n":{n}}}"#)).await;
    }
    let mut heard = Vec::new();
    for _ in 0..4 {
        heard.push(client.hear().await["n"].clone());
    }
    assert_eq!(heard, [json!(0), json!(3), json!(4), json!(5)], "after the greeting, each once");
}

#[tokio::test(start_paused = true)]
async fn a_second_hello_is_refused_by_its_type() {
    let daemon = Daemon::new();
    let mut client = daemon.greet().await;
    assert_eq!(client.ask_wrongly(HELLO).await, (json!("bad_field"), json!("type"), Value::Null));
}

// --- requests ---

#[tokio::test(start_paused = true)]
async fn requests_are_answered_in_order_and_by_their_ids() {
    let daemon = Daemon::new();
    let mut client = daemon.greet().await;
    for n in 0..5 {
        client.say(&format!(r#"{{"type":"ping","n":{n},"id":"r{n}"}}"#)).await;
    }
    for n in 0..5 {
        let expected = json!({ "type": "pong", "seq": n + 2, "re": format!("r{n}"), "n": n });
        assert_eq!(client.hear().await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_flow_and_requests_are_stamped_while_an_earlier_one_is_handled() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    client
        .say(r#"{"type":"seek","rated":false,"time":{"bank_ms":1000,"increment_ms":0,"move_ms":null}}"#)
        .await;
    client.say(r#"{"type":"ping","n":1}"#).await;
    tokio::task::yield_now().await;
    let sent = now();
    daemon.tell(7);
    assert_eq!(client.hear().await["n"], 7, "the handler does not hold up what is sent");
    advance(Duration::from_secs(3)).await;
    daemon.session.released.notify_one();
    assert_eq!(client.hear().await["type"], "ok");
    assert_eq!(client.hear().await["n"], 1);
    assert!(
        matches!(daemon.next_told().await, SessionCall::Handled(message, _) if matches!(*message, ClientMessage::Seek(_)))
    );
    let SessionCall::Handled(_, received) = daemon.next_told().await else { panic!() };
    assert_eq!(received, sent, "not when its turn came");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_faster_than_it_is_answered_has_to_wait() {
    let daemon = Daemon::new();
    let mut client = daemon.greet().await;
    client
        .say(r#"{"type":"seek","rated":false,"time":{"bank_ms":1000,"increment_ms":0,"move_ms":null}}"#)
        .await;
    for _ in 0..40 {
        client.say(r#"{"type":"move","game":"g","ply":0,"column":1}"#).await;
    }
    daemon.session.released.notify_one();
    for seq in 2..=42 {
        assert_eq!(client.hear().await["seq"], seq);
    }
}

#[tokio::test(start_paused = true)]
async fn the_fifth_bad_json_in_ten_seconds_closes() {
    let daemon = Daemon::new();
    let mut client = daemon.greet().await;
    for text in ["{", "[]", "", r#"{"type":"ping","n":1,"n":2}"#, "null"] {
        assert_eq!(client.ask_wrongly(text).await.0, "bad_json", "{text:?}");
    }
    client.check_closed(4400).await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_refused_with_a_hint_and_then_closed() {
    let daemon = Daemon::new();
    let mut client = daemon.greet().await;
    for n in 0..100 {
        client.say(&format!(r#"{{"type":"ping","n":{n}}}"#)).await;
        assert_eq!(client.hear().await["n"], n);
    }
    client.say(r#"{"type":"move","game":"g","ply":0,"column":1}"#).await;
    assert_eq!(client.hear().await["type"], "ok", "the move that answers a turn is free");
    let error = {
        client.say(r#"{"type":"ping","id":"x"}"#).await;
        client.hear().await
    };
    assert_eq!(
        (&error["code"], &error["re"], &error["retry_ms"]),
        (&json!("rate_limited"), &json!("x"), &json!(200))
    );
    advance(Duration::from_millis(200)).await;
    client.say(r#"{"type":"ping","n":1}"#).await;
    assert_eq!(client.hear().await["n"], 1, "whoever waits as told goes on");
    for _ in 0..2 {
        assert_eq!(client.ask_wrongly(r#"{"type":"ping"}"#).await.0, "rate_limited");
    }
    client.check_closed(4429).await;
}

#[tokio::test(start_paused = true)]
async fn bye_is_answered_and_ends_the_session() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    client.say(r#"{"type":"bye","id":"b"}"#).await;
    assert_eq!(client.hear().await, json!({ "type": "ok", "seq": 2, "re": "b" }));
    client.check_closed(1000).await;
    assert!(
        matches!(daemon.next_told().await, SessionCall::Handled(message, _) if matches!(*message, ClientMessage::Bye(_)))
    );
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Bye));
    assert!(!daemon.session.outbox.has_socket());
}

#[tokio::test(start_paused = true)]
async fn bye_with_drain_is_left_to_the_session() {
    let daemon = Daemon::new();
    let mut client = daemon.greet().await;
    client.say(r#"{"type":"bye","drain":true}"#).await;
    assert_eq!(client.hear().await["type"], "ok");
    daemon.tell(3);
    assert_eq!(client.hear().await["n"], 3);
    daemon.session.outbox.close(CloseCode::Bye);
    client.check_closed(1000).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_handler_ends_this_socket_and_its_session_hears_of_it() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    client.say(r#"{"type":"unseek"}"#).await;
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    assert!(client.task.await.unwrap_err().is_panic(), "whoever owns the task counts it");
}

// --- heartbeat, restart, replacement, resumption ---

#[tokio::test(start_paused = true)]
async fn the_servers_ping_measures_the_network() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    advance(Duration::from_millis(30)).await;
    daemon.tell(1);
    assert_eq!(client.hear().await["n"], 1);
    // The pong leaves with the next read or write.
    client.socket.flush().await.unwrap();
    assert_eq!(daemon.told.recv().await, Some(SessionCall::Measured(Duration::from_millis(30))));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_misses_two_pings_is_dropped() {
    let mut daemon = Daemon::new();
    let client = daemon.greet().await;
    let began = Clock::now();
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    let seconds = began.elapsed().as_secs();
    assert!((15..=25).contains(&seconds), "two heartbeats and a half after the last answer, not {seconds} s");
    client.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_answers_pings_stays_for_hours() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    for _ in 0..360 {
        let heard = client.socket.next().await;
        assert!(matches!(heard, Some(Ok(Message::Ping(_)))), "{heard:?}");
    }
    daemon.tell(1);
    assert_eq!(client.hear().await["n"], 1);
    while let Ok(told) = daemon.told.try_recv() {
        assert!(matches!(told, SessionCall::Measured(_)), "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_and_a_plain_close_leave_the_session_to_be_resumed() {
    let mut daemon = Daemon::new();
    drop(daemon.greet().await.socket);
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    let mut client = daemon.greet().await;
    client.socket.close(None).await.unwrap();
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    client.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_stop_of_the_daemon_closes_after_what_waits() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    daemon.tell(5);
    daemon.deps.stop.cancel();
    assert_eq!(client.hear().await["n"], 5);
    client.check_closed(1012).await;
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    let client = daemon.connect().await;
    client.check_closed(1012).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_does_not_hold_up_the_stop() {
    let daemon = Daemon::new();
    let (mut stream, task) = daemon.dial(256);
    stream.write_all(&text_frame(HELLO)).await.unwrap();
    tokio::task::yield_now().await;
    for n in 0..20 {
        daemon.tell(n);
    }
    tokio::task::yield_now().await;
    daemon.deps.stop.cancel();
    let began = Clock::now();
    task.await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_goes_on_without_loss_or_doubling_and_the_older_socket_is_replaced() {
    let mut daemon = Daemon::new();
    let mut older = daemon.greet().await;
    for n in 2..=4 {
        daemon.tell(n);
    }
    assert_eq!(older.hear().await["seq"], 2);
    let mut newer = daemon.connect().await;
    newer
        .say(
            r#"{"type":"hello","protocol":1,"client":{},"id":"h",
                "resume":{"session":"s","secret":"x","seq":2}}"#,
        )
        .await;
    let welcome = newer.hear().await;
    assert_eq!((&welcome["seq"], &welcome["re"]), (&json!(2), &json!("h")));
    daemon.tell(5);
    for seq in 3..=5 {
        assert_eq!(newer.hear().await, json!({ "type": "pong", "seq": seq, "n": seq }));
    }
    older.check_closed(4409).await;
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    daemon.tell(6);
    assert_eq!(newer.hear().await["seq"], 6, "the older socket's end does not detach the newer one");
}

// --- slow readers ---

#[tokio::test(start_paused = true)]
async fn a_player_that_does_not_read_is_closed_as_too_slow_and_costs_no_more_memory() {
    let mut daemon = Daemon::new();
    let (mut stream, task) = daemon.dial(1_024);
    stream.write_all(&text_frame(HELLO)).await.unwrap();
    tokio::task::yield_now().await;
    let mut delivered = 0;
    while daemon.tell(delivered) != Delivery::CutOff {
        delivered += 1;
        assert!(delivered < 2_000, "bounded by the pipe, the codec's buffer and the queue");
        tokio::task::yield_now().await;
    }
    assert_eq!(daemon.next_told().await, SessionCall::Disconnected(Disconnected::Lost));
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    assert_eq!(close_code(&bytes), Some(4408));
    task.await.unwrap();
    let attachment = daemon.session.outbox.attach(Some(delivered), &welcome(), None);
    assert!(attachment.is_ok(), "the session can be resumed");
}

#[tokio::test(start_paused = true)]
async fn a_player_that_never_reads_again_is_gone_in_two_seconds() {
    let daemon = Daemon::new();
    let (mut stream, task) = daemon.dial(512);
    stream.write_all(&text_frame(HELLO)).await.unwrap();
    tokio::task::yield_now().await;
    while daemon.tell(0) != Delivery::CutOff {
        tokio::task::yield_now().await;
    }
    let began = Clock::now();
    task.await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_falls_behind_is_brought_up_to_date_when_it_reads_again() {
    let mut daemon = Daemon::new();
    let mut client = daemon.greet().await;
    let gone = |game: &str| {
        let gone = json!({ "type": "opponent_gone", "game": game, "by": "first", "gone": true });
        Frame::new(serde_json::from_value(gone).unwrap())
    };
    // Nobody runs between these: the queue fills before the socket sees any of it.
    let queued = (0..200)
        .filter(|_| daemon.session.outbox.deliver(&gone("g1"), Urgency::Droppable) == Delivery::Queued)
        .count();
    assert_eq!(queued, 64);
    for seq in 2..66 {
        assert_eq!(client.hear().await["seq"], seq);
    }
    assert_eq!(daemon.next_told().await, SessionCall::Resync("g1".into(), 136));
    let crowd = ServerMessage::Crowd(Crowd { game: "g1".parse().unwrap(), watching: 1 });
    daemon.session.outbox.deliver(&crowd.into(), Urgency::Droppable);
    assert_eq!(client.hear().await["seq"], 66);
}

// --- frames ---

/// A masked frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match u16::try_from(payload.len()).unwrap() {
        length @ 0..=125 => bytes.push(0x80 | length.to_be_bytes()[1]),
        length => {
            bytes.push(0xfe);
            bytes.extend(length.to_be_bytes());
        }
    }
    bytes.extend([7, 7, 7, 7]);
    bytes.extend(payload.iter().map(|byte| byte ^ 7));
    bytes
}

fn text_frame(text: &str) -> Vec<u8> {
    frame(0x81, text.as_bytes())
}

/// The frames that a server sent: first byte and payload.
fn server_frames(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let [first, length, rest @ ..] = bytes {
        let (length, rest) = match (*length, rest) {
            (126, [high, low, rest @ ..]) => (usize::from(u16::from_be_bytes([*high, *low])), rest),
            (length @ 0..=125, rest) => (usize::from(length), rest),
            other => panic!("{other:?}"),
        };
        frames.push((*first, rest[..length].to_vec()));
        bytes = &rest[length..];
    }
    frames
}

fn close_code(bytes: &[u8]) -> Option<u16> {
    match server_frames(bytes).last() {
        Some((0x88, payload)) => Some(u16::from_be_bytes([payload[0], payload[1]])),
        _ => None,
    }
}

/// Sends `hello` and then these bytes; gives all that comes back until the connection ends, two seconds later at most.
async fn exchange(bytes: &[u8]) -> Vec<u8> {
    let daemon = Daemon::new();
    let (stream, task) = daemon.dial(PIPE_BYTES);
    let (mut reader, mut writer) = tokio::io::split(stream);
    let sent = [&text_frame(HELLO), bytes].concat();
    // The other end may be closed before all is written.
    let writing = tokio::spawn(async move {
        let _ = writer.write_all(&sent).await;
        writer
    });
    let began = Clock::now();
    let mut answer = Vec::new();
    reader.read_to_end(&mut answer).await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(2), "the connection ended after {:?}", began.elapsed());
    task.await.unwrap();
    drop(writing.await.unwrap());
    answer
}

#[tokio::test(start_paused = true)]
async fn bad_frames_close_with_the_code_that_says_why() {
    let close = |payload: &[u8]| frame(0x88, payload);
    let huge = [&[0x81, 0xff][..], &(1_u64 << 62).to_be_bytes(), &[0; 4]].concat();
    let rows: Vec<(&str, Vec<u8>, u16)> = vec![
        ("unmasked", vec![0x81, 0x02, b'{', b'}'], 1002),
        ("reserved bit", frame(0xc1, b"{}"), 1002),
        ("unknown data opcode", frame(0x83, b""), 1002),
        ("unknown control opcode", frame(0x8b, b""), 1002),
        ("fragmented ping", frame(0x09, b""), 1002),
        ("ping of 126 bytes", frame(0x89, &[0; 126]), 1002),
        ("continuation of nothing", frame(0x80, b"{}"), 1002),
        ("text inside a text", [frame(0x01, b"{"), frame(0x81, b"}")].concat(), 1002),
        ("binary", frame(0x82, b"{}"), 1003),
        ("not UTF-8", frame(0x81, &[0xff, 0xfe]), 1007),
        ("half a character", [frame(0x01, &[0xc3]), frame(0x80, b"x")].concat(), 1007),
        ("4097 bytes", frame(0x81, &[b' '; 4_097]), 1009),
        ("2^62 bytes", huge, 1009),
        ("4100 bytes in pieces", [frame(0x01, &[b' '; 4_000]), frame(0x80, &[b' '; 100])].concat(), 1009),
        ("33 fragments", [frame(0x01, b""), frame(0x00, b"").repeat(40)].concat(), 1008),
        ("6 pings", frame(0x89, b"").repeat(6), 1008),
        ("a thousand pings", frame(0x89, &[0; 100]).repeat(1_000), 1008),
        ("close code 999", close(&[0x03, 0xe7]), 1002),
        ("close code 1005", close(&[0x03, 0xed]), 1002),
        ("close code 1006", close(&[0x03, 0xee]), 1002),
        ("half a close code", close(&[3]), 1002),
        ("close reason not UTF-8", close(&[0x03, 0xe8, 0xff]), 1007),
        ("close", close(&[0x03, 0xe8]), 1000),
        ("data after close", [close(&[0x03, 0xe8]), text_frame("{}").repeat(1_000)].concat(), 1000),
    ];
    for (name, bytes, code) in rows {
        let answer = exchange(&bytes).await;
        assert_eq!(close_code(&answer), Some(code), "{name}");
        let says_too_large = server_frames(&answer)
            .iter()
            .any(|(_, payload)| String::from_utf8_lossy(payload).contains(r#""code":"too_large""#));
        assert_eq!(says_too_large, code == 1009, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_of_4096_bytes_in_32_frames_is_heard() {
    let text = format!(r#"{{"type":"ping","n":9,"x":"{}"}}"#, "x".repeat(4_096 - 28));
    assert_eq!(text.len(), 4_096);
    let mut bytes = frame(0x01, &text.as_bytes()[..128]);
    for piece in text.as_bytes()[128..].chunks(128) {
        bytes.extend(frame(0x00, piece));
    }
    let last = bytes.len() - 128 - 6 - 2;
    assert_eq!(bytes[last], 0x00);
    bytes[last] = 0x80;
    bytes.extend(frame(0x88, &[0x03, 0xe8]));
    let answer = exchange(&bytes).await;
    let heard = server_frames(&answer);
    assert!(heard.iter().any(|(_, payload)| payload.ends_with(br#""n":9}"#)), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_ignores_our_close_is_gone_in_two_seconds() {
    let daemon = Daemon::new();
    let (mut stream, task) = daemon.dial(PIPE_BYTES);
    stream.write_all(&text_frame(HELLO)).await.unwrap();
    tokio::task::yield_now().await;
    daemon.session.outbox.close(CloseCode::Banned);
    let began = Clock::now();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    assert_eq!(close_code(&bytes), Some(4403));
    task.await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_last_word_comes_before_the_close_and_nobody_waits_for_whoever_does_not_read() {
    let last = Frame::from(WireError::new(ErrorCode::Forbidden, "it was rude").fatal());
    let daemon = Daemon::new();
    let (mut stream, task) = daemon.dial(PIPE_BYTES);
    stream.write_all(&text_frame(HELLO)).await.unwrap();
    tokio::task::yield_now().await;
    daemon.session.outbox.dismiss(&last, CloseCode::Banned);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let heard = String::from_utf8_lossy(&bytes).into_owned();
    assert!(heard.contains(r#""message":"it was rude","fatal":true"#), "{heard}");
    assert_eq!(close_code(&bytes), Some(4403));
    task.await.unwrap();
    let daemon = Daemon::new();
    let (mut stream, task) = daemon.dial(8);
    stream.write_all(&text_frame(HELLO)).await.unwrap();
    tokio::task::yield_now().await;
    daemon.session.outbox.dismiss(&last, CloseCode::Banned);
    let began = Clock::now();
    task.await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(2), "{:?}", began.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_make_a_socket_panic_or_stay(
        greets in any::<bool>(),
        chunks in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..60),
                (0_u8..16, any::<bool>(), prop::collection::vec(any::<u8>(), 0..40))
                    .prop_map(|(opcode, last, payload)| frame(opcode | if last { 0x80 } else { 0 }, &payload)),
                "\\PC{0,40}".prop_map(|text| text_frame(&text)),
            ],
            0..20,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let daemon = Daemon::new();
            let (mut stream, task) = daemon.dial(PIPE_BYTES);
            if greets {
                stream.write_all(&text_frame(HELLO)).await.unwrap();
            }
            for chunk in chunks {
                if stream.write_all(&chunk).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(stream);
            tokio::time::timeout(Duration::from_mins(1), task).await.expect("the task ends").expect("no panic");
        });
    }
}

/// Messages go past the codec, which answers pings and closes: what the line does not take of either must not be torn
/// by the other.
#[tokio::test(start_paused = true)]
async fn through_a_narrow_line_messages_pongs_and_the_close_come_whole_and_in_order() {
    let daemon = Daemon::new();
    let (stream, task) = daemon.dial(40);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    let mut client = Client { socket, task };
    client.say(HELLO).await;
    assert_eq!(client.hear().await["seq"], 1);
    let (mut seq, mut pongs) = (1, 0);
    for round in 0..4_u8 {
        for n in 0..12 {
            assert_eq!(daemon.tell(n), Delivery::Queued);
        }
        client.socket.send(Message::Ping(vec![round; 100].into())).await.unwrap();
        if round == 3 {
            daemon.session.outbox.close(CloseCode::Restart);
        }
        while seq < 1 + 12 * (u64::from(round) + 1) {
            match client.socket.next().await.unwrap().unwrap() {
                Message::Text(text) => {
                    seq += 1;
                    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["seq"], seq);
                }
                Message::Pong(payload) => {
                    assert_eq!(payload.as_ref(), [pongs; 100]);
                    pongs += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(pongs >= 3, "{pongs}");
    let code = loop {
        match client.socket.next().await.unwrap().unwrap() {
            Message::Pong(_) => {}
            Message::Close(Some(frame)) => break u16::from(frame.code),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(code, 1012);
    assert!(client.socket.next().await.is_none_or(|last| last.is_err()));
    drop(client.socket);
    client.task.await.unwrap();
}

/// Thousands wait and say nothing: what each of them holds is what a daemon of many takes.
#[tokio::test]
async fn an_idle_connection_is_small() {
    let daemon = Daemon::new();
    let (_near, far) = duplex(PIPE_BYTES);
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let caller = Caller { credential: Credential::None, address, site: None, received: now() };
    let task = size_of_val(&serve(far, caller, daemon.deps.clone()));
    assert!(task <= 1_024, "{task} bytes");
    let kept = size_of::<OpenSocket<DuplexStream>>() + size_of::<SharedWire<DuplexStream>>();
    assert!(kept <= 1_024, "{kept} bytes");
}
