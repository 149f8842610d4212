//! HTTP connections over streams in memory, with time that jumps.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::routing::{get, post};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::{advance, sleep};

use super::super::connection_limits::ConnectionLimits;
use super::*;

const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4_000);

fn router() -> Router {
    let slow = || async {
        sleep(Duration::from_secs(3)).await;
        "slow"
    };
    let endless = || async {
        sleep(Duration::from_hours(1)).await;
        "never"
    };
    Router::new()
        .route("/", get(|| async { "hi" }))
        .route("/slow", get(slow))
        .route("/endless", get(endless))
        .route("/large", get(|| async { vec![b'x'; 1_000_000] }))
        .route("/peer", get(|Extension(Peer(peer)): Extension<Peer>| async move { peer.to_string() }))
        .route("/fail", get(|| async { ApiError::not_found("thing") }))
        .route("/echo", post(|body: Bytes| async move { body }))
}

struct Peering {
    stream: DuplexStream,
    task: JoinHandle<()>,
    stop: CancellationToken,
    connection_limits: Arc<ConnectionLimits>,
}

fn dial(pipe_bytes: usize) -> Peering {
    dial_named(pipe_bytes, NamedHosts::Any)
}

fn dial_named(pipe_bytes: usize, hosts: NamedHosts) -> Peering {
    let (stream, far) = duplex(pipe_bytes);
    let limits = Arc::new(TransportLimits { connections: Some(10), ..TransportLimits::default() });
    let connection_limits = ConnectionLimits::new(&limits);
    let stop = CancellationToken::new();
    let deps =
        ConnectionDeps { router: router(), limits, stop: stop.clone(), hang_up: HangUp::GivesUp, hosts };
    let task = tokio::spawn(serve(far, PEER, connection_limits.take(None).unwrap(), deps));
    Peering { stream, task, stop, connection_limits }
}

impl Peering {
    async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until `end` has come.
    async fn read_until(&mut self, end: &str) -> String {
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).ends_with(end) {
            read.push(self.stream.read_u8().await.unwrap());
        }
        String::from_utf8(read).unwrap()
    }

    /// Seconds until the connection is gone, and what came before that.
    async fn seconds_to_end(mut self) -> (u64, String) {
        let began = Instant::now();
        let mut read = Vec::new();
        // A connection that is reset has ended too.
        let _ = self.stream.read_to_end(&mut read).await;
        self.task.await.unwrap();
        assert_eq!(self.connection_limits.taken(), 0, "its place is free again");
        (began.elapsed().as_secs(), String::from_utf8_lossy(&read).into_owned())
    }
}

/// The status of the answer to one request, after which the connection is closed.
async fn status_of(request: &str) -> u16 {
    let mut peering = dial(1 << 20);
    peering.write(request).await;
    let (_, answer) = peering.seconds_to_end().await;
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("no answer to {request:.80}")).parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_is_gone_after_five_seconds() {
    assert_eq!(dial(1_024).seconds_to_end().await.0, 5);
}

#[tokio::test(start_paused = true)]
async fn a_header_has_five_seconds_however_it_drips() {
    let mut peering = dial(1_024);
    advance(Duration::from_secs(4)).await;
    peering.write("GET / HTTP/1.1\r\n").await;
    for _ in 0..4 {
        sleep(Duration::from_secs(1)).await;
        peering.write("X: y\r\n").await;
    }
    assert_eq!(peering.seconds_to_end().await.0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_idle_for_a_minute_between_requests() {
    let mut peering = dial(1_024);
    for _ in 0..3 {
        peering.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        peering.read_until("hi").await;
        sleep(Duration::from_secs(59)).await;
    }
    assert_eq!(peering.seconds_to_end().await.0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_later_header_has_no_more_time_than_the_first() {
    let mut peering = dial(1_024);
    peering.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    peering.read_until("hi").await;
    sleep(Duration::from_secs(30)).await;
    peering.write("GET / HT").await;
    assert_eq!(peering.seconds_to_end().await.0, 5);
}

#[tokio::test(start_paused = true)]
async fn a_body_has_ten_seconds_however_it_drips() {
    let mut peering = dial(1_024);
    peering.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n").await;
    for _ in 0..9 {
        sleep(Duration::from_secs(1)).await;
        peering.write("x").await;
    }
    assert_eq!(peering.seconds_to_end().await.0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_take_its_time() {
    let mut peering = dial(1_024);
    peering.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await;
    peering.read_until("slow").await;
}

#[tokio::test(start_paused = true)]
async fn a_response_that_nobody_reads_is_given_up_after_half_a_minute() {
    let mut peering = dial(1_024);
    let began = Instant::now();
    peering.write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await;
    peering.task.await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_read_slowly_arrives() {
    let mut peering = dial(100_000);
    peering.write("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    let mut bytes = 0;
    let mut buffer = vec![0; 100_000];
    loop {
        sleep(Duration::from_secs(20)).await;
        match peering.stream.read(&mut buffer).await.unwrap() {
            0 => break,
            read => bytes += read,
        }
    }
    assert!(bytes > 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn headers_over_the_limits_are_refused_with_431() {
    let with = |headers: &str| format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
    assert_eq!(status_of(&with(&"X: y\r\n".repeat(62))).await, 200);
    assert_eq!(status_of(&with(&"X: y\r\n".repeat(63))).await, 431);
    assert_eq!(status_of(&with(&format!("X: {}\r\n", "y".repeat(15 * 1_024)))).await, 200);
    assert_eq!(status_of(&with(&format!("X: {}\r\n", "y".repeat(16 * 1_024)))).await, 431);
    assert_eq!(status_of(&with(&format!("X: {}\r\n", "y".repeat(300 * 1_024)))).await, 431);
    assert_eq!(status_of(&format!("GET /{} HTTP/1.1\r\n\r\n", "y".repeat(17 * 1_024))).await, 431);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_http_is_refused_with_400() {
    assert_eq!(status_of("\u{16}\u{3}\u{1}\r\n\r\n").await, 400);
    assert_eq!(status_of("GET / HTTP/1.1\r\nBad Header: x\r\n\r\n").await, 400);
    let rest = "\r\nHost: a\r\nConnection: close\r\n\r\nzz\r\nabc\r\n0\r\n\r\n";
    assert_eq!(status_of(&format!("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked{rest}")).await, 400);
    assert_eq!(
        status_of("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab").await,
        400
    );
    assert_eq!(status_of("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n").await, 400);
}

#[tokio::test(start_paused = true)]
async fn a_body_with_two_lengths_is_refused_in_either_order() {
    let body = "\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for (first, second) in [
        ("Content-Length: 13", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 13"),
        ("transfer-encoding:chunked", "CONTENT-LENGTH:13"),
    ] {
        let request = format!("POST /echo HTTP/1.1\r\nHost: a\r\n{first}\r\n{second}{body}");
        assert_eq!(status_of(&request).await, 400, "{first}, {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_others_may_read_in_another_way_is_refused_with_400() {
    let close = "Connection: close\r\n";
    assert_eq!(status_of(&format!("GET / HTTP/1.1\r\n{close}Host: a\r\n\r\n")).await, 200);
    assert_eq!(status_of(&format!("GET / HTTP/1.1\r\n{close}\r\n")).await, 400, "no Host");
    assert_eq!(status_of("GET / HTTP/1.0\r\n\r\n").await, 200, "older than Host");
    assert_eq!(status_of(&format!("GET / HTTP/1.1\r\n{close}Host: a\r\nHost: a\r\n\r\n")).await, 400);
    assert_eq!(status_of("GET / HTTP/1.1\nHost: a\r\n\r\n").await, 400);
    assert_eq!(status_of("GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n").await, 400);
    assert_eq!(status_of("GET / HTTP/1.1\r\nHost: a\r\n\n").await, 400);
    for coding in
        ["chunked\r\nTransfer-Encoding: chunked", "chunked, chunked", "gzip, chunked", "identity, chunked"]
    {
        let body = "3\r\nabc\r\n0\r\n\r\n";
        let request = format!("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n{body}");
        assert_eq!(status_of(&request).await, 400, "{coding}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_handler_sees_is_refused_in_words_too() {
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "y".repeat(17 * 1_024));
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(100));
    let rows = [
        (long, "HTTP/1.1 431 ", r#""code":"header_too_large""#),
        (many, "HTTP/1.1 431 ", r#""code":"header_too_large""#),
        ("\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), "HTTP/1.1 400 ", r#""code":"bad_request""#),
        ("GET / HTTP/1.1\r\nBad Header: x\r\n\r\n".to_owned(), "HTTP/1.1 400 ", r#""code":"bad_request""#),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "HTTP/1.1 400 ", r#""code":"bad_request""#),
    ];
    for (request, status, code) in rows {
        let mut peering = dial(1 << 20);
        peering.write(&request).await;
        let (_, answer) = peering.seconds_to_end().await;
        assert!(answer.starts_with(status) && answer.contains(code), "{answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let length = format!("content-length: {}", body.len());
        assert!(head.to_ascii_lowercase().contains(&length) && head.contains("application/json"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_passes_through_the_thinnest_pipe() {
    let mut peering = dial(7);
    peering.write("\u{16}\u{3}\u{1}\r\n\r\n").await;
    let (_, answer) = peering.seconds_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.ends_with('}'), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_gives_its_own_name_our_address_reads_nothing() {
    let hosts = NamedHosts::of("127.0.0.1:4444".parse().unwrap(), &crate::http::site::Site::default());
    for (target, host, expected) in [
        ("/", "localhost:4444", "200"),
        ("/", "evil.example:4444", "421"),
        ("/", "192.0.2.7", "421"),
        ("http://localhost:4444/", "localhost:4444", "200"),
        ("http://evil.example/", "localhost:4444", "421"),
        ("http://localhost:4444/", "evil.example", "421"),
    ] {
        let mut peering = dial_named(4_096, hosts.clone());
        peering.write(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await;
        let (_, answer) = peering.seconds_to_end().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{host}: {answer}");
        assert_eq!(answer.contains(r#""code":"host_not_allowed""#), expected == "421", "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_chunked_body_is_read_and_the_connection_closed_after_it() {
    let mut peering = dial(4_096);
    peering
        .write("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        .await;
    let (seconds, answer) = peering.seconds_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("abc"), "{answer}");
    assert_eq!(seconds, 0);
}

#[tokio::test(start_paused = true)]
async fn handlers_see_the_other_end() {
    let mut peering = dial(4_096);
    peering.write("GET /peer HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n").await;
    peering.read_until("192.0.2.1:4000").await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_closes_idle_connections_at_once_and_lets_requests_finish() {
    let mut idle = dial(4_096);
    idle.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    idle.read_until("hi").await;
    idle.stop.cancel();
    assert_eq!(idle.seconds_to_end().await.0, 0);

    let mut busy = dial(4_096);
    busy.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(Duration::from_secs(1)).await;
    busy.stop.cancel();
    let (seconds, answer) = busy.seconds_to_end().await;
    assert!(answer.ends_with("slow"), "{answer}");
    assert_eq!(seconds, 2);

    let mut endless = dial(4_096);
    endless.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(Duration::from_secs(1)).await;
    endless.stop.cancel();
    assert_eq!(endless.seconds_to_end().await.0, 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_make_a_connection_panic_or_stay(chunks in prop::collection::vec(
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..80),
            Just(b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
            Just(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec()),
            Just(b"\r\n".to_vec()),
        ],
        0..10,
    )) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut peering = dial(1 << 16);
            for chunk in chunks {
                if peering.stream.write_all(&chunk).await.is_err() {
                    break;
                }
            }
            assert!(peering.seconds_to_end().await.0 <= 60);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn every_answer_names_its_request_and_refusals_do_so_twice() {
    let named = async |path: &str, header: &str| {
        let mut peering = dial(64 * 1024);
        peering.write(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n")).await;
        let mut answer = String::new();
        peering.stream.read_to_string(&mut answer).await.unwrap();
        let id = answer.lines().find_map(|line| line.strip_prefix("x-request-id: "));
        (id.expect("an id").to_owned(), answer)
    };
    let (given, answer) = named("/fail", "X-Request-Id: from.proxy-7\r\n").await;
    assert_eq!(given, "from.proxy-7");
    assert!(answer.ends_with(r#""request_id":"from.proxy-7"}"#), "{answer}");
    let (made, answer) = named("/", "").await;
    assert!(made.len() == 16 && answer.ends_with("hi"), "{answer}");
    let (_, twice) = named("/", "Host: y\r\n").await;
    assert!(twice.starts_with("HTTP/1.1 400 ") && twice.contains(r#""request_id":"#), "{twice}");
}
