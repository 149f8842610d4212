//! The accept loop over real connections on loopback.

use axum::Extension;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use super::*;
use crate::http::client_address::Peer;
use crate::system::config::TlsFiles;

struct Daemon {
    address: SocketAddr,
    transport: Transport,
    task: JoinHandle<()>,
}

async fn start(limits: TransportLimits) -> Daemon {
    start_behind(limits, &[]).await
}

async fn start_behind(limits: TransportLimits, balancers: &[IpNetwork]) -> Daemon {
    start_with(limits, balancers, None).await
}

async fn start_with(limits: TransportLimits, balancers: &[IpNetwork], tls: Option<Tls>) -> Daemon {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tasks = Tasks::for_tests(Part::Connection);
    let transport = Transport::new(limits, Arc::default(), CancellationToken::new(), tasks);
    let transport = Transport { tls, ..transport.balanced_by(balancers) };
    let peer = |Extension(Peer(peer)): Extension<Peer>| async move { format!("you are {peer}") };
    let router = Router::new()
        .route("/", get(|| async { "hi" }))
        .route("/peer", get(peer))
        .route("/healthz", get(|| async { "alive" }));
    let serving = transport.clone();
    let mut kept = Listening { part: Part::Listener, listener: Some(listener), router, transport: serving };
    let task = tokio::spawn(async move { kept.run(&CancellationToken::new()).await.unwrap() });
    Daemon { address, transport, task }
}

/// Asks for the front page on a connection that stays open.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = vec![0; 4_096];
    let length = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

/// What the daemon answers to these bytes before it closes.
async fn answer_to(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // Whoever is hung up on may have written more than was read.
    let _reset = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// What a balancer says of the client 203.0.113.9:54321, and of itself.
const OF_CLIENT: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x09\x0a\0\0\x01\xd4\x31\x01\xbb";
const OF_ITSELF: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

const QUESTION: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn a_balancer_is_answered_where_all_places_are_taken_and_players_are_not() {
    let limits = TransportLimits { connections: Some(1), ..TransportLimits::default() };
    let daemon = start_behind(limits, &["127.0.0.1".parse().unwrap()]).await;
    let mut held = TcpStream::connect(daemon.address).await.unwrap();
    held.write_all(OF_CLIENT).await.unwrap();
    assert!(ask(&mut held).await.ends_with("hi"));
    let answer = answer_to(daemon.address, &[OF_ITSELF, QUESTION].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("alive"), "{answer}");
    assert_eq!(answer_to(daemon.address, &[OF_CLIENT, QUESTION].concat()).await, "", "there is no place");
    let page = [OF_ITSELF, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"].concat();
    assert_eq!(answer_to(daemon.address, &page).await, "", "nor for pages");
    assert!(ask(&mut held).await.ends_with("hi"));
}

#[tokio::test]
async fn a_balancer_asks_in_plain_http_after_its_header_where_players_speak_tls() {
    let of = |name: &str| std::path::Path::new("tests/data/tls").join(name);
    let files = TlsFiles { certificate: of("server.pem"), key: of("server.key") };
    let tls = Tls::load(&files).unwrap();
    let daemon = start_with(TransportLimits::default(), &["127.0.0.1".parse().unwrap()], Some(tls)).await;
    for header in [OF_ITSELF, OF_CLIENT] {
        let answer = answer_to(daemon.address, &[header, QUESTION].concat()).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("alive"), "{answer}");
    }
    let page = [OF_ITSELF, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"].concat();
    let answer = answer_to(daemon.address, &page).await;
    assert!(answer.contains("This port speaks TLS"), "{answer}");
}

#[tokio::test]
async fn a_balancer_says_whose_a_connection_is_or_it_is_closed() {
    const ASK: &[u8] = b"GET /peer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let limits = TransportLimits { per_address: 1, ..TransportLimits::default() };
    let daemon = start_behind(limits, &["127.0.0.1".parse().unwrap()]).await;
    let named = answer_to(daemon.address, &[OF_CLIENT, ASK].concat()).await;
    assert!(named.ends_with("you are 203.0.113.9:54321"), "{named}");
    assert_eq!(answer_to(daemon.address, ASK).await, "", "nobody knows whose that is");
    let mut held = TcpStream::connect(daemon.address).await.unwrap();
    held.write_all(OF_CLIENT).await.unwrap();
    assert!(ask(&mut held).await.ends_with("hi"));
    let refused = answer_to(daemon.address, &[OF_CLIENT, ASK].concat()).await;
    assert!(refused.contains("too many connections from this address"), "{refused}");

    let strict = start(TransportLimits::default()).await;
    let nonsense = answer_to(strict.address, &[OF_CLIENT, ASK].concat()).await;
    assert!(nonsense.starts_with("HTTP/1.1 400 "), "{nonsense}");
}

/// Opens a connection and reads until it is closed, without saying anything.
async fn listen(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn small_packets_do_not_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (far, _) = listener.accept().await.unwrap();
    assert!(!far.nodelay().unwrap(), "or else this test shows nothing");
    prepare(&far).unwrap();
    assert!(far.nodelay().unwrap());
}

#[tokio::test]
async fn connections_over_the_total_are_told_so_and_places_come_free() {
    let daemon = start(TransportLimits { connections: Some(1), ..TransportLimits::default() }).await;
    let mut held = TcpStream::connect(daemon.address).await.unwrap();
    assert!(ask(&mut held).await.ends_with("hi"));
    let refused = listen(daemon.address).await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("\r\nRetry-After: 1\r\n") && refused.contains(r#""code":"busy""#), "{refused}");
    drop(held);
    while daemon.transport.connection_limits.taken() > 0 {
        tokio::task::yield_now().await;
    }
    let mut next = TcpStream::connect(daemon.address).await.unwrap();
    assert!(ask(&mut next).await.ends_with("hi"));
}

#[tokio::test]
async fn connections_over_an_addresss_share_are_told_so() {
    let limits = TransportLimits {
        connections: Some(10),
        per_address: 1,
        caps_loopback: true,
        ..TransportLimits::default()
    };
    let daemon = start(limits).await;
    let mut held = TcpStream::connect(daemon.address).await.unwrap();
    assert!(ask(&mut held).await.ends_with("hi"));
    let refused = listen(daemon.address).await;
    assert!(
        refused.starts_with("HTTP/1.1 429 ") && refused.contains(r#""code":"rate_limited""#),
        "{refused}"
    );
}

#[tokio::test]
async fn a_stop_ends_the_loop_and_its_connections() {
    let daemon = start(TransportLimits { connections: Some(10), ..TransportLimits::default() }).await;
    let mut idle = TcpStream::connect(daemon.address).await.unwrap();
    assert!(ask(&mut idle).await.ends_with("hi"));
    daemon.transport.stop.cancel();
    daemon.task.await.unwrap();
    assert_eq!(idle.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(daemon.transport.connection_limits.taken(), 0);
    // Another test may be starting a program, which has a copy of our listener for as long as that takes.
    let refused = async {
        while TcpStream::connect(daemon.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), refused).await.expect("nobody listens any more");
}

#[test]
fn warnings_of_a_kind_are_rare() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut warnings = Warnings::default();
        let mut said = Vec::new();
        for _ in 0..100 {
            warnings.warn(|unsaid| said.push(unsaid));
            tokio::time::advance(Duration::from_millis(200)).await;
        }
        assert_eq!(said, [0, 49]);
    });
}

#[test]
fn what_concerns_one_connection_does_not_pause_the_loop() {
    use io::ErrorKind;
    assert!(is_of_one_connection(&ErrorKind::ConnectionAborted.into()));
    assert!(is_of_one_connection(&ErrorKind::ConnectionReset.into()));
    let too_many_open_files = io::Error::from_raw_os_error(24);
    assert!(!is_of_one_connection(&too_many_open_files));
}

#[tokio::test]
async fn a_crowd_that_comes_at_once_is_let_wait() {
    let listener = bind(&ListenAddr::local(0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody takes any of them. The first who finds no room would not hear a word.
    let waiting = tokio::task::spawn_blocking(move || {
        let patience = Duration::from_secs(5);
        (0..300)
            .map(|_| std::net::TcpStream::connect_timeout(&address, patience))
            .collect::<Result<Vec<_>, _>>()
    });
    assert_eq!(waiting.await.unwrap().unwrap().len(), 300);
}
