//! Connections that are passed on, over real ones on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::routing::get;
use axum::{Extension, Router};
use tokio::io::AsyncReadExt as _;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::http::client_address::Peer;
use crate::http::listener::{Listening, Transport};
use crate::http::site::Site;
use crate::session::limits::TransportLimits;
use crate::system::config::IpNetwork;
use crate::system::part::Part;
use crate::system::supervision::Kept as _;
use crate::system::tasks::Tasks;

const KEY: [u8; 32] = [7; 32];
const ASK: &[u8] = b"GET /peer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A leader's listener for nodes; it says to everybody who they are.
struct Leader {
    address: SocketAddr,
    _serving: JoinHandle<()>,
}

impl Leader {
    async fn start(limits: TransportLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tasks = Tasks::for_tests(Part::Connection);
        let transport = Transport::new(limits, Arc::default(), CancellationToken::new(), tasks);
        let transport = transport.for_nodes(Signer::new(&KEY));
        let peer = |Extension(Peer(peer)): Extension<Peer>| async move { format!("you are {peer}") };
        let router = Router::new().route("/peer", get(peer));
        let mut kept = Listening { part: Part::NodeListener, listener: Some(listener), router, transport };
        let serving = tokio::spawn(async move { kept.run(&CancellationToken::new()).await.unwrap() });
        Self { address, _serving: serving }
    }

    fn upstream(&self, incarnation: i64) -> Upstream {
        Upstream { address: self.address.to_string(), incarnation }
    }
}

/// A leader of the version before, which takes nothing but connections one by one, and counts them.
async fn start_without_links() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let said = proxy_protocol::from_node(&mut stream, &Signer::new(&KEY)).await;
                if let Ok(proxy_protocol::FromNode::Client(client)) = said {
                    let answer = format!("HTTP/1.1 200 OK\r\n\r\nyou are {client}");
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (address, count)
}

/// Passes bytes on to a leader, and counts the connections that it makes to it; those that are there can be cut.
async fn start_between(leader: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let cut = Arc::<Notify>::default();
    let (counted, until) = (Arc::clone(&count), Arc::clone(&cut));
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            let until = Arc::clone(&until);
            tokio::spawn(async move {
                let mut far = TcpStream::connect(leader).await.unwrap();
                tokio::select! {
                    _ended = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                    () = until.notified() => {}
                }
            });
        }
    });
    (address, count, cut)
}

/// A node that passes on to whom it is told.
struct Node {
    address: SocketAddr,
    leader: watch::Sender<Option<Upstream>>,
    relaying: JoinHandle<()>,
}

impl Node {
    async fn start(leader: Option<Upstream>, limits: TransportLimits) -> Self {
        Self::start_for(leader, limits, Site::default()).await
    }

    async fn start_for(leader: Option<Upstream>, limits: TransportLimits, site: Site) -> Self {
        Self::start_behind(leader, limits, site, &[]).await
    }

    async fn start_behind(
        leader: Option<Upstream>,
        limits: TransportLimits,
        site: Site,
        balancers: &[IpNetwork],
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (leader, upstream) = watch::channel(leader);
        let tasks = Tasks::for_tests(Part::Connection);
        let transport = Transport::new(limits, Arc::new(site), CancellationToken::new(), tasks);
        let transport = transport.balanced_by(balancers);
        let relay = Relay::new(transport, Signer::new(&KEY), upstream);
        let relaying = tokio::spawn(async move { match relay.run(&listener).await {} });
        Self { address, leader, relaying }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

/// What comes until the other side closes.
async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn the_leader_hears_whose_a_connection_is_that_another_node_passes_on() {
    let leader = Leader::start(TransportLimits::default()).await;
    let node = Node::start(Some(leader.upstream(1)), TransportLimits::default()).await;
    let mut stream = node.connect().await;
    stream.write_all(ASK).await.unwrap();
    let own = stream.local_addr().unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.ends_with(&format!("you are {own}")), "{answer}");
    let mut direct = TcpStream::connect(leader.address).await.unwrap();
    direct.write_all(ASK).await.unwrap();
    assert_eq!(rest(&mut direct).await, "", "who has not the key is no node");
}

#[tokio::test]
async fn who_connects_while_nobody_leads_waits_for_a_leader() {
    let leader = Leader::start(TransportLimits::default()).await;
    let node = Node::start(None, TransportLimits::default()).await;
    let mut stream = node.connect().await;
    stream.write_all(ASK).await.unwrap();
    let early = timeout(Duration::from_millis(100), rest(&mut stream)).await;
    assert!(early.is_err(), "{early:?}");
    // One that does not listen any more is not the last word.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    node.leader.send_replace(Some(Upstream { address: gone.to_string(), incarnation: 1 }));
    sleep(Duration::from_millis(100)).await;
    node.leader.send_replace(Some(leader.upstream(2)));
    assert!(rest(&mut stream).await.contains("you are "));
}

#[tokio::test]
async fn a_connection_to_one_who_leads_no_more_is_closed() {
    let leader = Leader::start(TransportLimits::default()).await;
    for next in [None, Some(leader.upstream(2))] {
        let node = Node::start(Some(leader.upstream(1)), TransportLimits::default()).await;
        let mut stream = node.connect().await;
        stream.write_all(&ASK[..20]).await.unwrap();
        sleep(Duration::from_millis(100)).await;
        node.leader.send_replace(next);
        assert_eq!(timeout(Duration::from_secs(5), rest(&mut stream)).await.unwrap(), "");
    }
}

#[tokio::test]
async fn one_address_has_its_share_at_every_node() {
    let few = TransportLimits { per_address: 1, caps_loopback: true, ..TransportLimits::default() };
    let leader = Leader::start(TransportLimits::default()).await;
    let node = Node::start(Some(leader.upstream(1)), few).await;
    let _held = node.connect().await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(rest(&mut node.connect().await).await, "");
}

#[tokio::test]
async fn a_proxy_that_speaks_for_many_has_no_share() {
    let few = TransportLimits { per_address: 1, caps_loopback: true, ..TransportLimits::default() };
    let site = Site { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..Site::default() };
    let leader = Leader::start(TransportLimits::default()).await;
    let node = Node::start_for(Some(leader.upstream(1)), few, site).await;
    let _held = node.connect().await;
    sleep(Duration::from_millis(100)).await;
    let mut stream = node.connect().await;
    stream.write_all(ASK).await.unwrap();
    assert!(rest(&mut stream).await.contains("you are "));
}

#[tokio::test]
async fn who_stands_by_says_for_itself_that_it_lives() {
    let node = Node::start(None, TransportLimits::default()).await;
    for path in ["/healthz", "/healthz/players"] {
        let mut stream = node.connect().await;
        let question = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(question.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {answer}");
        assert!(answer.ends_with("\r\n\r\n{\"status\":\"ok\"}"), "{path}: {answer}");
    }
    let leader = Leader::start(TransportLimits::default()).await;
    node.leader.send_replace(Some(leader.upstream(1)));
    for path in ["/healthzz", "/healthz/", "/healthz/playerss", "/healthz/players/"] {
        let mut stream = node.connect().await;
        let question = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_balancer_is_answered_whatever_else_it_says() {
    let node = Node::start(None, TransportLimits::default()).await;
    let cookie = format!("GET /healthz HTTP/1.1\r\nCookie: {}\r\n\r\n", "c".repeat(8 * 1024));
    let body = "GET /healthz HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody";
    let two = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    let too_much = format!("GET /healthz HTTP/1.1\r\nCookie: {}", "c".repeat(40 * 1024));
    for said in [&cookie, body, two, &too_much, "GET /healthz HTTP/1.1\r\nHost: "] {
        let mut stream = node.connect().await;
        // It is answered, and hung up on, before it has said everything.
        let _reset = stream.write_all(said.as_bytes()).await;
        let mut begin = [0; 15];
        stream.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200 OK", "{}", &said[..50.min(said.len())]);
    }
}

#[tokio::test]
async fn a_balancer_is_answered_where_all_places_are_taken() {
    const OF_ITSELF: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";
    let limits = TransportLimits { connections: Some(1), ..TransportLimits::default() };
    let balancers = ["127.0.0.1".parse().unwrap()];
    let node = Node::start_behind(None, limits, Site::default(), &balancers).await;
    // It says nothing yet, and has the place.
    let _held = node.connect().await;
    for (path, expected) in [("/healthz", "HTTP/1.1 200 "), ("/healthz/players", "HTTP/1.1 404 ")] {
        let mut stream = node.connect().await;
        let question = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(&[OF_ITSELF, question.as_bytes()].concat()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with(expected), "{path}: {answer}");
    }
    let mut player = node.connect().await;
    player.write_all(&[OF_ITSELF, ASK].concat()).await.unwrap();
    assert_eq!(timeout(Duration::from_secs(5), rest(&mut player)).await.unwrap(), "");
}

/// What a node answers about players, each time that it is asked.
async fn entrance(node: &Node) -> String {
    let mut stream = node.connect().await;
    stream.write_all(b"GET /healthz/players HTTP/1.1\r\n\r\n").await.unwrap();
    rest(&mut stream).await
}

/// Asks until the node says that players may enter.
async fn until_open(node: &Node) {
    let open = async { while !entrance(node).await.starts_with("HTTP/1.1 200 ") {} };
    timeout(Duration::from_secs(30), open).await.expect("it reaches the leader");
}

#[tokio::test]
async fn who_does_not_reach_the_leader_sends_players_elsewhere() {
    let node = Node::start(None, TransportLimits::default()).await;
    // It takes connections, and says nothing.
    let still = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = Upstream { address: still.local_addr().unwrap().to_string(), incarnation: 1 };
    node.leader.send_replace(Some(upstream));
    let answer = entrance(&node).await;
    assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("does not reach"), "{answer}");
    // Nobody listens there, which is known at once.
    node.leader.send_replace(Some(Upstream { address: "127.0.0.1:1".to_owned(), incarnation: 7 }));
    assert!(entrance(&node).await.starts_with("HTTP/1.1 404 "));
    let mut stream = node.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200 "), "it lives");
    let leader = Leader::start(TransportLimits::default()).await;
    node.leader.send_replace(Some(leader.upstream(2)));
    until_open(&node).await;
    let (old, _count) = start_without_links().await;
    node.leader.send_replace(Some(Upstream { address: old.to_string(), incarnation: 3 }));
    until_open(&node).await;
}

#[tokio::test]
async fn a_link_that_was_lost_is_begun_again_by_a_balancer_s_question() {
    let leader = Leader::start(TransportLimits::default()).await;
    let (between, count, cut) = start_between(leader.address).await;
    let upstream = Upstream { address: between.to_string(), incarnation: 1 };
    let node = Node::start(Some(upstream), TransportLimits::default()).await;
    until_open(&node).await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
    cut.notify_waiters();
    let again = async {
        while count.load(Ordering::Relaxed) == 1 {
            entrance(&node).await;
        }
    };
    timeout(Duration::from_secs(30), again).await.expect("another link is begun");
    until_open(&node).await;
}

#[tokio::test]
async fn a_relay_that_is_stopped_accepts_nothing_more() {
    let node = Node::start(None, TransportLimits::default()).await;
    node.relaying.abort();
    assert!(node.relaying.await.unwrap_err().is_cancelled());
    TcpStream::connect(node.address).await.unwrap_err();
}

#[tokio::test]
async fn all_clients_of_a_node_share_one_connection_to_the_leader() {
    let leader = Leader::start(TransportLimits::default()).await;
    let (between, count, _cut) = start_between(leader.address).await;
    let node = Node::start(
        Some(Upstream { address: between.to_string(), incarnation: 1 }),
        TransportLimits::default(),
    )
    .await;
    let asking = (0..50).map(|_| async {
        let mut stream = node.connect().await;
        stream.write_all(ASK).await.unwrap();
        let own = stream.local_addr().unwrap();
        assert!(rest(&mut stream).await.ends_with(&format!("you are {own}")));
    });
    futures::future::join_all(asking).await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_leader_of_the_version_before_gets_connections_one_by_one() {
    let (leader, count) = start_without_links().await;
    let upstream = Upstream { address: leader.to_string(), incarnation: 1 };
    let node = Node::start(Some(upstream), TransportLimits::default()).await;
    for asked in 1..=3 {
        let mut stream = node.connect().await;
        stream.write_all(ASK).await.unwrap();
        let own = stream.local_addr().unwrap();
        assert!(rest(&mut stream).await.ends_with(&format!("you are {own}")));
        // One more was a link that it did not take.
        assert_eq!(count.load(Ordering::Relaxed), asked + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_who_does_not_hang_up_after_the_leader_is_not_waited_for() {
    let (mut client, near) = tokio::io::duplex(64);
    let (far, mut leader) = tokio::io::duplex(64);
    let carrying = tokio::spawn(carry(near, far));
    leader.write_all(b"enough").await.unwrap();
    drop(leader);
    let mut heard = [0; 6];
    client.read_exact(&mut heard).await.unwrap();
    let began = tokio::time::Instant::now();
    carrying.await.unwrap().unwrap();
    assert_eq!((&heard, began.elapsed()), (b"enough", LINGER_MAX));
}

#[tokio::test]
async fn a_leader_that_stands_still_holds_nobody_up_once_there_is_another() {
    let still = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = Upstream { address: still.local_addr().unwrap().to_string(), incarnation: 1 };
    let node = Node::start(Some(upstream), TransportLimits::default()).await;
    // What its question has begun goes on.
    assert!(entrance(&node).await.starts_with("HTTP/1.1 404 "));
    let mut waiting = node.connect().await;
    waiting.write_all(ASK).await.unwrap();
    let mut another = node.connect().await;
    another.write_all(ASK).await.unwrap();
    let early = timeout(Duration::from_millis(200), rest(&mut waiting)).await;
    assert!(early.is_err(), "{early:?}");
    let leader = Leader::start(TransportLimits::default()).await;
    node.leader.send_replace(Some(leader.upstream(2)));
    for stream in [&mut waiting, &mut another] {
        let answer = timeout(Duration::from_secs(2), rest(stream)).await;
        assert!(answer.is_ok_and(|answer| answer.contains("you are ")), "it goes on with the new one");
    }
}
