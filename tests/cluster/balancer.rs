//! A balancer in front of the nodes, as simple as can be: it passes a connection on to the next node that is up, asks
//! each once a second whether it is, and closes what it has passed to one that is not. One of them asks besides whether
//! players should enter there, as deploy/haproxy.cfg does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// A node that does not answer so soon is down.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Between two questions.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// So many questions that are not answered in a row make a node one that is down.
const UNANSWERED_MAX: u32 = 2;

/// Passes connections on until it is dropped.
pub(crate) struct Balancer {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

/// Which nodes players enter by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// All that are up.
    Anywhere,
    /// Those that say so; if none does, any.
    WhereTold,
}

impl Entrance {
    /// What is asked.
    fn path(self) -> &'static str {
        match self {
            Self::Anywhere => "/healthz",
            Self::WhereTold => "/healthz/players",
        }
    }
}

/// A node as the balancer knows it.
struct Node {
    address: SocketAddr,
    is_up: watch::Sender<bool>,
    is_open: AtomicBool,
}

/// What a node answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Players may enter by it.
    Enter,
    /// It is up, but players should enter elsewhere.
    Elsewhere,
}

impl Balancer {
    /// Begins with the node at this place.
    pub(crate) async fn start(nodes: Vec<SocketAddr>, first: usize, entrance: Entrance) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let known =
            |address| Node { address, is_up: watch::Sender::new(true), is_open: AtomicBool::new(true) };
        let nodes: Arc<[Node]> = nodes.into_iter().map(known).collect();
        let mut tasks = JoinSet::new();
        for node in 0..nodes.len() {
            tasks.spawn(look_after(Arc::clone(&nodes), node, entrance));
        }
        tasks.spawn(async move {
            let next = AtomicUsize::new(first);
            while let Ok((client, _)) = listener.accept().await {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(pass_on(client, Arc::clone(&nodes), turn));
            }
        });
        Self { address, _tasks: tasks }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Asks a node again and again whether it lives.
async fn look_after(nodes: Arc<[Node]>, node: usize, entrance: Entrance) {
    let mut unanswered = 0;
    loop {
        let answer = timeout(ANSWER_MAX, ask(nodes[node].address, entrance)).await.ok().and_then(Result::ok);
        unanswered = if answer.is_some() { 0 } else { unanswered + 1 };
        nodes[node].is_open.store(answer == Some(Answer::Enter), Ordering::Relaxed);
        let is_up = unanswered < UNANSWERED_MAX;
        nodes[node].is_up.send_if_modified(|known| std::mem::replace(known, is_up) != is_up);
        sleep(ASK_EVERY).await;
    }
}

async fn ask(address: SocketAddr, entrance: Entrance) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    let path = entrance.path();
    let question = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(question.as_bytes()).await?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await?;
    match &answer {
        b"HTTP/1.1 200" => Ok(Answer::Enter),
        b"HTTP/1.1 404" if entrance == Entrance::WhereTold => Ok(Answer::Elsewhere),
        _ => Err(std::io::ErrorKind::Other.into()),
    }
}

/// What each of them says about players; nothing if it does not answer.
pub(crate) async fn entrances(nodes: &[SocketAddr]) -> Vec<Option<Answer>> {
    let asked = nodes.iter().map(|node| async {
        timeout(ANSWER_MAX, ask(*node, Entrance::WhereTold)).await.ok().and_then(Result::ok)
    });
    futures::future::join_all(asked).await
}

async fn pass_on(mut client: TcpStream, nodes: Arc<[Node]>, turn: usize) {
    let in_turn = (0..nodes.len()).map(|attempt| &nodes[(turn + attempt) % nodes.len()]);
    let (open, others): (Vec<_>, Vec<_>) = in_turn.partition(|node| node.is_open.load(Ordering::Relaxed));
    for node in open.into_iter().chain(others) {
        let mut is_up = node.is_up.subscribe();
        if !*is_up.borrow() {
            continue;
        }
        if let Ok(Ok(mut server)) = timeout(ANSWER_MAX, TcpStream::connect(node.address)).await {
            let _ = (client.set_nodelay(true), server.set_nodelay(true));
            // However it ends, the client connects again.
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                _ = is_up.wait_for(|is_up| !is_up) => {}
            }
            return;
        }
    }
}
