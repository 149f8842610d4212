//! The handshake over a stream in memory, as raw text.

use std::net::SocketAddr;

use async_trait::async_trait;
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::accounts::AccountError;
use crate::http::connection::{self, ConnectionDeps, HangUp};
use crate::http::named_host::NamedHosts;
use crate::model::secret::Secret;
use crate::protocol::client::Hello;
use crate::protocol::{CloseCode, ErrorCode, WireError};
use crate::session::limits::TransportLimits;
use crate::session::port::{Opened, RefusedHello};
use crate::storage::store::StoreError;
use crate::system::part::Part;
use crate::system::tasks::Tasks;

/// Knows the token `good`, cannot ask about `unasked`, and refuses every `hello` with what it knows about the caller.
struct FakeGateway;

#[async_trait]
impl Gateway for FakeGateway {
    async fn check_token(&self, token: &Secret) -> Result<(), AccountError> {
        match token.expose() {
            "good" => Ok(()),
            "unasked" => Err(StoreError::Unreachable("restarting".into()).into()),
            _ => Err(AccountError::Unauthorized),
        }
    }

    async fn open(&self, _: Hello, _: Option<String>, caller: Caller) -> Result<Opened, RefusedHello> {
        let known = match caller.credential {
            Credential::None => "nobody".to_owned(),
            Credential::Token(token) => format!("token {}", token.expose()),
            Credential::Cookie(cookie) => format!("cookie {}", cookie.expose()),
        };
        let error = WireError::new(ErrorCode::Forbidden, format!("{known} at {}", caller.address));
        Err(RefusedHello { error, code: CloseCode::Banned })
    }
}

struct Daemon {
    transport: Transport,
    router: Router,
}

impl Daemon {
    fn new() -> Self {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let extra_origins = vec!["https://play.example.org".parse().unwrap()];
        let site = Arc::new(Site { extra_origins, trusted_proxies, ..Site::default() });
        let limits = TransportLimits { connections: Some(100), per_address: 2, ..TransportLimits::default() };
        let tasks = Tasks::for_tests(Part::Connection);
        let transport = Transport::new(limits, site, CancellationToken::new(), tasks);
        let pages = Router::new().route("/", axum::routing::get(|| async { "the front page" }));
        let router = beside(pages, Arc::new(FakeGateway), transport.clone());
        Self { transport, router }
    }

    /// Sends one request as `peer` and gives the head of the answer, its body, and the stream behind it.
    async fn ask_as(&self, peer: &str, request: &str) -> (String, String, DuplexStream) {
        let (mut near, far) = duplex(64 * 1024);
        let transport = &self.transport;
        let deps = ConnectionDeps {
            router: self.router.clone(),
            limits: transport.limits.clone(),
            stop: CancellationToken::new(),
            hang_up: HangUp::GivesUp,
            hosts: NamedHosts::Any,
        };
        let peer = SocketAddr::new(peer.parse().unwrap(), 4_000);
        let slot = transport
            .connection_limits
            .take(Some(peer.ip()).filter(|ip| !transport.site.trusts(*ip)))
            .unwrap();
        tokio::spawn(connection::serve(far, peer, slot, deps));
        near.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(near.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next());
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        near.read_exact(&mut body).await.unwrap();
        (head, String::from_utf8(body).unwrap(), near)
    }

    async fn ask(&self, request: &str) -> (String, String, DuplexStream) {
        self.ask_as("192.0.2.1", request).await
    }

    /// What the gateway gets to know about who sent these headers.
    async fn caller(&self, peer: &str, headers: &str) -> String {
        let (head, body, stream) = self.ask_as(peer, &handshake_with("/api/v1/socket", headers)).await;
        assert!(head.starts_with("http/1.1 101"), "{head}{body}");
        hello(stream).await
    }

    #[track_caller]
    fn check(answer: &(String, String, DuplexStream), status: u16, code: &str) {
        let (head, body, _) = answer;
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{head}{body}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["code"], code);
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    }
}

const HANDSHAKE: &str = "Host: localhost:4444\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
                         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn handshake_with(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{HANDSHAKE}{headers}\r\n")
}

/// Says `hello` and gives the message of the error that answers it.
async fn hello(stream: DuplexStream) -> String {
    use futures::SinkExt;
    use tokio_tungstenite::tungstenite::Message;
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    socket.send(Message::text(r#"{"type":"hello","protocol":1,"client":{}}"#)).await.unwrap();
    let Some(Ok(Message::Text(text))) = socket.next().await else { panic!() };
    let error: serde_json::Value = serde_json::from_str(&text).unwrap();
    error["message"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_address_of_the_arena_is_enough_for_a_socket() {
    let daemon = Daemon::new();
    let (head, _, stream) = daemon.ask(&handshake_with("/", "Authorization: Bearer good\r\n")).await;
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert_eq!(hello(stream).await, "token good at 192.0.2.1");
    let (head, page, _) = daemon.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert_eq!(page, "the front page");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_is_answered_and_the_subprotocol_named_if_it_was_asked_for() {
    let daemon = Daemon::new();
    let (head, _, stream) = daemon.ask(&handshake_with("/api/v1/socket", "")).await;
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
    assert!(!head.contains("sec-websocket-protocol"), "{head}");
    assert_eq!(hello(stream).await, "nobody at 192.0.2.1");
    for named in ["fourfold.v1", "fourfold.v2, fourfold.v1", "x\r\nSec-WebSocket-Protocol: fourfold.v1"] {
        let headers = format!("Sec-WebSocket-Protocol: {named}\r\n");
        let (head, ..) = daemon.ask_as("10.0.0.1", &handshake_with("/api/v1/socket", &headers)).await;
        assert!(head.contains("\r\nsec-websocket-protocol: fourfold.v1\r\n"), "{head}");
    }
    let answer =
        daemon.ask(&handshake_with("/api/v1/socket", "Sec-WebSocket-Protocol: fourfold.v2\r\n")).await;
    Daemon::check(&answer, 400, "bad_handshake");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_handshake_is_told_what_is_missing() {
    let daemon = Daemon::new();
    let ask = async |request: String| daemon.ask_as("10.0.0.1", &request).await;
    let good = handshake_with("/api/v1/socket", "");

    let plain = ask("GET /api/v1/socket HTTP/1.1\r\nHost: a\r\n\r\n".into()).await;
    Daemon::check(&plain, 426, "upgrade_required");
    assert!(
        plain.0.contains("\r\nsec-websocket-version: 13\r\n")
            && plain.0.contains("\r\nupgrade: websocket\r\n")
    );
    let version = ask(good.replace("Version: 13", "Version: 8")).await;
    Daemon::check(&version, 426, "upgrade_required");
    assert!(version.0.contains("\r\nsec-websocket-version: 13\r\n"), "{}", version.0);

    let line = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    Daemon::check(&ask(good.replace(line, "")).await, 400, "bad_handshake");
    Daemon::check(&ask(good.replace("dGhlIHNhbXBsZSBub25jZQ==", "short")).await, 400, "bad_handshake");

    for method in ["POST", "PUT", "HEAD", "DELETE", "OPTIONS"] {
        let request = good.replace("GET", method).replace("\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n");
        let (mut near, far) = duplex(64 * 1024);
        let deps = ConnectionDeps {
            router: daemon.router.clone(),
            limits: daemon.transport.limits.clone(),
            stop: CancellationToken::new(),
            hang_up: HangUp::GivesUp,
            hosts: NamedHosts::Any,
        };
        let peer = SocketAddr::new("10.0.0.1".parse().unwrap(), 1);
        tokio::spawn(connection::serve(
            far,
            peer,
            daemon.transport.connection_limits.take(None).unwrap(),
            deps,
        ));
        near.write_all(request.as_bytes()).await.unwrap();
        let mut head = vec![0; 2_048];
        let length = near.read(&mut head).await.unwrap();
        let head = String::from_utf8_lossy(&head[..length]).to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 405") && head.contains("\r\nallow: get\r\n"), "{method}: {head}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_in_the_url_is_refused_wherever_it_hides_and_not_repeated() {
    let daemon = Daemon::new();
    for query in
        ["token=c4b_hidden", "a=1&access_token=hidden", "TOKEN=hidden", "tok%65n=hidden", "x=c4b_hidden"]
    {
        let request = handshake_with(&format!("/api/v1/socket?{query}"), "");
        let answer = daemon.ask_as("10.0.0.1", &request).await;
        Daemon::check(&answer, 400, "token_in_url");
        assert!(!answer.1.contains("hidden"), "{}", answer.1);
    }
    let (head, ..) = daemon.ask(&handshake_with("/api/v1/socket?version=1&%zz", "")).await;
    assert!(head.starts_with("http/1.1 101"), "{head}");
}

#[tokio::test(start_paused = true)]
async fn a_bearer_token_is_checked_before_the_upgrade() {
    let daemon = Daemon::new();
    assert_eq!(daemon.caller("192.0.2.1", "Authorization: Bearer good\r\n").await, "token good at 192.0.2.1");
    for wrong in ["Bearer bad", "Bearer ", "Basic Z29vZA==", "good"] {
        let request = handshake_with("/api/v1/socket", &format!("Authorization: {wrong}\r\n"));
        let answer = daemon.ask_as("10.0.0.1", &request).await;
        Daemon::check(&answer, 401, "unauthorized");
        assert!(answer.0.contains("\r\nwww-authenticate: bearer\r\n"), "{}", answer.0);
    }
}

/// A program that is told that its token is wrong gives up for good.
#[tokio::test(start_paused = true)]
async fn a_token_that_nobody_can_look_up_just_now_is_not_called_wrong() {
    let daemon = Daemon::new();
    let request = handshake_with("/api/v1/socket", "Authorization: Bearer unasked\r\n");
    Daemon::check(&daemon.ask_as("10.0.0.1", &request).await, 503, "not_ready");
}

#[tokio::test(start_paused = true)]
async fn a_cookie_counts_only_from_the_sites_own_pages() {
    let daemon = Daemon::new();
    let cookie = "Cookie: other=1; fourfold=abc\r\n";
    for own in ["http://localhost:4444", "https://play.example.org"] {
        let caller = daemon.caller("10.0.0.1", &format!("{cookie}Origin: {own}\r\n")).await;
        assert_eq!(caller, "cookie abc at 10.0.0.1");
    }
    for foreign in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://localhost:4445\r\n",
        "Origin: http://localhost:4444.evil.example\r\n",
        "Origin: http://localhost:4444\r\nOrigin: http://evil.example\r\n",
        "",
    ] {
        let request = handshake_with("/api/v1/socket", &format!("{cookie}{foreign}"));
        Daemon::check(&daemon.ask_as("10.0.0.1", &request).await, 403, "origin_not_allowed");
    }
    let guest = daemon.caller("10.0.0.1", "Cookie: other=1\r\nOrigin: http://evil.example\r\n").await;
    assert_eq!(guest, "nobody at 10.0.0.1", "without our cookie there is nothing to steal");
    let bot = daemon.caller("10.0.0.1", &format!("{cookie}Authorization: Bearer good\r\n")).await;
    assert_eq!(bot, "token good at 10.0.0.1", "no browser sends a token on its own");
}

#[tokio::test(start_paused = true)]
async fn a_forged_address_is_ignored_and_a_proxys_is_believed_and_counted() {
    let daemon = Daemon::new();
    let forwarded = "X-Forwarded-For: 203.0.113.9\r\n";
    assert_eq!(daemon.caller("192.0.2.1", forwarded).await, "nobody at 192.0.2.1");
    assert_eq!(daemon.caller("10.0.0.1", forwarded).await, "nobody at 203.0.113.9");

    let request = handshake_with("/api/v1/socket", "X-Forwarded-For: 198.51.100.7\r\n");
    let _first = daemon.ask_as("10.0.0.1", &request).await;
    let _second = daemon.ask_as("10.0.0.2", &request).await;
    let third = daemon.ask_as("10.0.0.1", &request).await;
    Daemon::check(&third, 429, "rate_limited");
    assert!(third.0.contains("\r\nretry-after: 1\r\n"), "{}", third.0);
}

#[tokio::test(start_paused = true)]
async fn a_socket_holds_its_place_until_it_ends() {
    let daemon = Daemon::new();
    let (_, _, stream) = daemon.ask(&handshake_with("/api/v1/socket", "")).await;
    assert_eq!(daemon.transport.connection_limits.taken(), 1);
    drop(stream);
    daemon.transport.tasks.close();
    daemon.transport.tasks.wait().await;
    assert_eq!(daemon.transport.connection_limits.taken(), 0);
}

#[tokio::test(start_paused = true)]
async fn frames_that_come_with_the_handshake_are_heard() {
    let daemon = Daemon::new();
    // A masked, empty close frame behind the header.
    let request = [handshake_with("/api/v1/socket", "").as_bytes(), &[0x88, 0x80, 1, 2, 3, 4]].concat();
    let (mut near, far) = duplex(64 * 1024);
    let deps = ConnectionDeps {
        router: daemon.router.clone(),
        limits: daemon.transport.limits.clone(),
        stop: CancellationToken::new(),
        hang_up: HangUp::GivesUp,
        hosts: NamedHosts::Any,
    };
    let peer = SocketAddr::new("192.0.2.1".parse().unwrap(), 1);
    tokio::spawn(connection::serve(far, peer, daemon.transport.connection_limits.take(None).unwrap(), deps));
    near.write_all(&request).await.unwrap();
    let mut answer = Vec::new();
    near.read_to_end(&mut answer).await.unwrap();
    assert!(answer.ends_with(b"\r\n\r\n\x88\x00"), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test(start_paused = true)]
async fn while_the_daemon_stops_nothing_is_upgraded() {
    let daemon = Daemon::new();
    daemon.transport.stop.cancel();
    Daemon::check(&daemon.ask(&handshake_with("/api/v1/socket", "")).await, 503, "not_ready");
}
