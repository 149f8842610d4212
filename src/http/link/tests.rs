//! Links over pipes in memory.

use futures::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;

/// A link, and the tunnels that come out at its other end.
struct Linked {
    link: Link,
    arrived: mpsc::UnboundedReceiver<Tunnel>,
    carrying: JoinHandle<()>,
    taking: JoinHandle<()>,
}

impl Linked {
    async fn new() -> Self {
        let (near, far) = duplex(64 * 1024);
        let (out, arrived) = mpsc::unbounded_channel();
        let taking = tokio::spawn(async move {
            let mut arrivals = Arrivals::of(far).await.unwrap();
            while let Some(tunnel) = arrivals.next().await {
                // A test that has seen enough.
                let _ = out.send(tunnel);
            }
        });
        let (link, carrying) = Link::begin(near).await.unwrap();
        Self { link, arrived, carrying: tokio::spawn(carrying), taking }
    }

    /// Both ends of a tunnel.
    async fn tunnel(&mut self) -> (Tunnel, Tunnel) {
        let near = self.link.tunnel().await.unwrap();
        (near, self.arrived.recv().await.unwrap())
    }
}

async fn rest(tunnel: &mut Tunnel) -> Vec<u8> {
    let mut all = Vec::new();
    tunnel.read_to_end(&mut all).await.unwrap();
    all
}

#[tokio::test]
async fn what_is_said_on_either_side_is_heard_on_the_other_to_its_end() {
    let mut linked = Linked::new().await;
    let (mut near, mut far) = linked.tunnel().await;
    near.write_all(b"hello").await.unwrap();
    assert_eq!(far.peek().await.unwrap(), Some(b'h'));
    let mut heard = [0; 5];
    far.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"hello");
    near.shutdown().await.unwrap();
    assert_eq!(rest(&mut far).await, b"", "one side has ended");
    far.write_all(b"the other has not").await.unwrap();
    drop(far);
    assert_eq!(rest(&mut near).await, b"the other has not");
    assert_eq!(near.peek().await.unwrap(), None);
}

#[tokio::test]
async fn much_more_than_may_be_under_way_arrives_whole() {
    let mut linked = Linked::new().await;
    let many = 20;
    let said =
        |client: usize| (0..100_000).map(|at| u8::try_from((at * (client + 3)) % 251).unwrap()).collect();
    let mut both = Vec::new();
    for client in 0..many {
        let (near, far) = linked.tunnel().await;
        both.push((client, near, far));
    }
    let passing = both.into_iter().map(|(client, mut near, mut far)| async move {
        let all: Vec<u8> = said(client);
        let (sent, heard) = tokio::join!(
            async {
                near.write_all(&all).await.unwrap();
                near.shutdown().await.unwrap();
            },
            rest(&mut far)
        );
        let () = sent;
        assert!(heard == all, "{client} was changed on the way");
    });
    join_all(passing).await;
}

#[tokio::test]
async fn who_does_not_read_makes_nobody_else_wait() {
    let mut linked = Linked::new().await;
    let mut deaf = Vec::new();
    for _ in 0..50 {
        let (near, mut far) = linked.tunnel().await;
        let endless = async move { while far.write_all(&[7; 4_096]).await.is_ok() {} };
        deaf.push((near, tokio::spawn(endless)));
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let (mut near, mut far) = linked.tunnel().await;
    let speaking = async move { far.write_all(&vec![9; 100_000]).await.unwrap() };
    let ((), heard) = tokio::join!(speaking, rest(&mut near));
    assert_eq!(heard.len(), 100_000);
    for (mut near, writing) in deaf {
        assert!(!writing.is_finished(), "so much cannot be under way");
        assert_eq!(near.peek().await.unwrap(), Some(7), "what came is there once it is wanted");
        drop(near);
        writing.await.unwrap();
    }
}

#[tokio::test]
async fn clients_who_hang_up_at_once_end_nobody_s_link() {
    let mut linked = Linked::new().await;
    let (mut near, mut far) = linked.tunnel().await;
    for round in 0..20 {
        let hasty: Vec<Tunnel> =
            join_all((0..500).map(|_| linked.link.tunnel())).await.into_iter().flatten().collect();
        assert_eq!(hasty.len(), 500, "round {round}");
        drop(hasty);
        tokio::task::yield_now().await;
    }
    near.write_all(b"still there").await.unwrap();
    near.shutdown().await.unwrap();
    assert_eq!(rest(&mut far).await, b"still there");
    linked.tunnel().await;
    assert!(!linked.carrying.is_finished() && !linked.taking.is_finished());
}

#[tokio::test]
async fn a_link_that_parts_takes_no_more_and_ends_with_its_tunnels() {
    let (near, far) = duplex(64 * 1024);
    let taking = tokio::spawn(async move {
        let mut arrivals = Arrivals::of(far).await.unwrap();
        let tunnel = arrivals.next().await.unwrap();
        arrivals.part();
        let serving = tokio::spawn(async move {
            let mut tunnel = tunnel;
            let said = rest(&mut tunnel).await;
            tunnel.write_all(&said).await.unwrap();
        });
        assert!(arrivals.next().await.is_none());
        serving.await.unwrap();
    });
    let (link, carrying) = Link::begin(near).await.unwrap();
    tokio::spawn(carrying);
    let mut tunnel = link.tunnel().await.unwrap();
    while link.tunnel().await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!taking.is_finished(), "one tunnel is still there");
    tunnel.write_all(b"the last").await.unwrap();
    tunnel.shutdown().await.unwrap();
    assert_eq!(rest(&mut tunnel).await, b"the last");
    drop(tunnel);
    taking.await.unwrap();
}

#[tokio::test]
async fn a_link_that_breaks_ends_its_tunnels() {
    let mut linked = Linked::new().await;
    let (mut near, mut far) = linked.tunnel().await;
    linked.carrying.abort();
    assert!(near.write_all(&vec![0; 100_000]).await.is_err() && near.read_u8().await.is_err());
    assert!(far.read_u8().await.is_err());
    linked.taking.await.unwrap();
    assert!(linked.link.tunnel().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_link_to_one_who_says_nothing_any_more_ends() {
    let (near, far) = duplex(64 * 1024);
    let (stand_still, stood_still) = oneshot::channel::<()>();
    let taking = tokio::spawn(async move {
        let mut arrivals = Arrivals::of(far).await.unwrap();
        tokio::select! {
            _none = arrivals.next() => {}
            stood = stood_still => stood.unwrap(),
        }
        // It is there, and takes what fits into the pipe.
        std::future::pending::<()>().await;
        drop(arrivals);
    });
    let (link, carrying) = Link::begin(near).await.unwrap();
    let carrying = tokio::spawn(carrying);
    sleep(10 * (PING_EVERY + PONG_MAX)).await;
    assert!(link.is_answered());
    stand_still.send(()).unwrap();
    let began = Instant::now();
    sleep(PING_EVERY + PONG_SOON).await;
    assert!(!link.is_answered() && !link.has_ended(), "nobody more is sent that way");
    timeout(Duration::from_mins(1), carrying).await.expect("it ends").unwrap();
    let lasted = began.elapsed();
    assert!((PONG_MAX..=PONG_MAX + PING_EVERY).contains(&lasted), "{lasted:?}");
    assert!(link.has_ended() && link.tunnel().await.is_err());
    assert!(!taking.is_finished());
}

#[tokio::test(start_paused = true)]
async fn whoever_speaks_something_else_is_no_node() {
    async fn refused(answers: impl AsyncFn(DuplexStream)) -> Unlinked {
        let (near, far) = duplex(64 * 1024);
        let begun = async { Link::begin(near).await.map(drop).unwrap_err() };
        tokio::join!(begun, answers(far)).0
    }
    let closed = refused(async |far| drop(far)).await;
    assert!(matches!(closed, Unlinked::Closed | Unlinked::Broken(_)), "{closed}");
    let http =
        refused(async |mut far| far.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap()).await;
    assert!(matches!(http, Unlinked::Closed | Unlinked::Broken(_)), "{http}");
    let (near, _silent) = duplex(64 * 1024);
    assert!(matches!(Link::begin(near).await.map(drop), Err(Unlinked::Silent)));
    let (mut near, far) = duplex(64 * 1024);
    near.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(Arrivals::of(far).await.is_err());
    let (_silent, far) = duplex(64 * 1024);
    assert!(matches!(Arrivals::of(far).await.map(drop), Err(Unlinked::Silent)));
}
