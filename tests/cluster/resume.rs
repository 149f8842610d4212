//! Clients that change nodes while they hear how all games end: each goes on as who it was, misses nothing and hears
//! nothing twice, for the node that has its session lives.

use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// How long a client waits for one message.
const PATIENCE: Duration = Duration::from_secs(30);

/// Clients that are on their way at the same time: more would measure how fast two cores greet.
const AT_A_TIME: usize = 100;

/// Changes of the node for each client.
const CHANGES: usize = 4;

/// Messages before each change.
const MESSAGES: u64 = 5;

/// How long a client is away: some games end meanwhile.
const AWAY: Duration = Duration::from_millis(100);

/// What came of it, of some clients.
#[derive(Default)]
struct Changes {
    done: usize,
    /// Messages of the time that it was away for.
    came_later: u64,
    faults: Vec<String>,
}

/// A client, whichever node it is connected to.
struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    session: Value,
    secret: Value,
    player: Value,
    /// Of the last message that it has heard.
    seq: u64,
    /// How many questions it has asked.
    asked: u64,
}

/// Lets so many clients change nodes, by turns through all of them.
pub(crate) async fn test(nodes: &[SocketAddr], clients: usize) -> Vec<String> {
    let mut running = JoinSet::new();
    let mut all = Changes::default();
    for client in 0..clients {
        if running.len() == AT_A_TIME {
            all.add(running.join_next().await.expect("some run").expect("a client does not panic"));
        }
        let mut nodes = nodes.to_vec();
        let nodes_len = nodes.len();
        nodes.rotate_left(client % nodes_len);
        running.spawn(async move { change_nodes(&nodes).await });
    }
    while let Some(changes) = running.join_next().await {
        all.add(changes.expect("a client does not panic"));
    }
    println!(
        "{clients} clients changed nodes {} times: {} messages came after the change, {} faults",
        all.done,
        all.came_later,
        all.faults.len()
    );
    all.faults.truncate(20);
    all.faults
}

impl Changes {
    fn add(&mut self, other: Self) {
        self.done += other.done;
        self.came_later += other.came_later;
        self.faults.extend(other.faults);
    }
}

/// One client, by one node after the other.
async fn change_nodes(nodes: &[SocketAddr]) -> Changes {
    let mut changes = Changes::default();
    let mut client = match Client::connect(nodes[0]).await {
        Ok(client) => client,
        Err(why) => return Changes { faults: vec![why], ..changes },
    };
    for change in 1..=CHANGES {
        match client.change_to(nodes[change % nodes.len()]).await {
            Ok(came_later) => {
                changes.done += 1;
                changes.came_later += came_later;
            }
            Err(why) => {
                changes.faults.push(why);
                return changes;
            }
        }
    }
    changes
}

impl Client {
    async fn connect(node: SocketAddr) -> Result<Self, String> {
        let socket = open(node).await?;
        let nothing = Value::Null;
        let (session, secret, player) = (nothing.clone(), nothing.clone(), nothing);
        let mut client = Self { socket, session, secret, player, seq: 0, asked: 0 };
        client.greet(Value::Null).await?;
        client.say(&json!({"type": "watch", "feed": "results"})).await?;
        Ok(client)
    }

    /// Hears some messages, changes the node, and hears on; how many messages came of the time between.
    async fn change_to(&mut self, node: SocketAddr) -> Result<u64, String> {
        for _ in 0..MESSAGES {
            self.hear().await?;
        }
        self.go_on_at(node).await?;
        let before = self.seq;
        self.asked += 1;
        let question = self.asked.to_string();
        self.say(&json!({"type": "watch", "id": question, "game": "none"})).await?;
        while self.hear().await?["re"] != question {}
        // The answer is none of them.
        Ok(self.seq - before - 1)
    }

    /// Leaves without a word, and resumes at another node a moment later.
    async fn go_on_at(&mut self, node: SocketAddr) -> Result<(), String> {
        let gone = self.socket.get_mut().shutdown().await;
        gone.map_err(|error| error.to_string())?;
        tokio::time::sleep(AWAY).await;
        self.socket = open(node).await?;
        let resume = json!({"session": self.session, "secret": self.secret, "seq": self.seq});
        let (session, player) = (self.session.clone(), self.player.clone());
        let welcome = self.greet(resume).await?;
        if welcome["resumed"] != true {
            return Err(format!("a session was not resumed: {welcome}"));
        }
        if self.session != session || self.player != player {
            return Err(format!("{player} of {session} is {} of {} now", self.player, self.session));
        }
        Ok(())
    }

    async fn greet(&mut self, resume: Value) -> Result<Value, String> {
        let mut hello = json!({"type": "hello", "protocol": 1, "client": {"name": "resume", "version": "1"}});
        if !resume.is_null() {
            hello["resume"] = resume;
        }
        self.say(&hello).await?;
        let welcome = self.next().await?;
        if welcome["type"] != "welcome" {
            return Err(format!("no welcome: {welcome}"));
        }
        self.session = welcome["session"].clone();
        self.secret = welcome["secret"].clone();
        self.player = welcome["you"]["id"].clone();
        if welcome["resumed"] != true {
            self.seq = welcome["seq"].as_u64().ok_or("a welcome without a number")?;
        }
        Ok(welcome)
    }

    /// Hears one message, which must have the number that is due.
    async fn hear(&mut self) -> Result<Value, String> {
        let message = self.next().await?;
        if message["seq"] != self.seq + 1 {
            return Err(format!("after message {} came {message}", self.seq));
        }
        self.seq += 1;
        Ok(message)
    }

    async fn say(&mut self, message: &Value) -> Result<(), String> {
        self.socket.send(Message::text(message.to_string())).await.map_err(|error| error.to_string())
    }

    async fn next(&mut self) -> Result<Value, String> {
        timeout(PATIENCE, self.next_text())
            .await
            .map_err(|_| format!("nothing came after message {}", self.seq))?
    }

    async fn next_text(&mut self) -> Result<Value, String> {
        loop {
            let message = self.socket.next().await.ok_or("the connection ended")?;
            match message.map_err(|error| error.to_string())? {
                Message::Text(text) => return serde_json::from_str(&text).map_err(|error| error.to_string()),
                Message::Close(frame) => return Err(format!("closed: {frame:?}")),
                _ => {}
            }
        }
    }
}

async fn open(node: SocketAddr) -> Result<WebSocketStream<MaybeTlsStream<TcpStream>>, String> {
    let opened = timeout(PATIENCE, tokio_tungstenite::connect_async(format!("ws://{node}"))).await;
    Ok(opened.map_err(|_| "no connection in time")?.map_err(|error| error.to_string())?.0)
}
