//! A client of the test's own, which says no more than it is told to and counts what it hears.

use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// How long a client waits for one message.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was sent before has come by then.
const UNHEARD: Duration = Duration::from_millis(200);

/// A client, whichever node it is connected to.
pub(crate) struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    session: Value,
    secret: Value,
    player: Value,
    name: Value,
    /// Of the last message that it has heard.
    seq: u64,
}

impl Client {
    /// A new guest.
    pub(crate) async fn connect(node: SocketAddr) -> Result<Self, String> {
        let socket = open(node).await?;
        let nothing = || Value::Null;
        let mut client = Self {
            socket,
            session: nothing(),
            secret: nothing(),
            player: nothing(),
            name: nothing(),
            seq: 0,
        };
        client.greet(Value::Null).await?;
        Ok(client)
    }

    /// What others call it.
    pub(crate) fn name(&self) -> &Value {
        &self.name
    }

    /// The number of the last message that it has heard.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Leaves without a word.
    pub(crate) async fn leave(&mut self) -> Result<(), String> {
        self.socket.get_mut().shutdown().await.map_err(|error| error.to_string())
    }

    /// Goes on with its session at a node.
    pub(crate) async fn go_on_at(&mut self, node: SocketAddr) -> Result<(), String> {
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
        self.name = welcome["you"]["name"].clone();
        if welcome["resumed"] != true {
            self.seq = welcome["seq"].as_u64().ok_or("a welcome without a number")?;
        }
        Ok(welcome)
    }

    /// Hears one message, which must have the number that is due.
    pub(crate) async fn hear(&mut self) -> Result<Value, String> {
        let message = self.next().await?;
        if message["seq"] != self.seq + 1 {
            return Err(format!("after message {} came {message}", self.seq));
        }
        self.seq += 1;
        Ok(message)
    }

    /// Hears messages until one of this type has come.
    pub(crate) async fn hear_until(&mut self, kind: &str) -> Result<Value, String> {
        loop {
            let message = self.hear().await?;
            match message["type"].as_str() {
                Some(heard) if heard == kind => return Ok(message),
                Some("error") => return Err(format!("refused: {message}")),
                _ => {}
            }
        }
    }

    /// The messages that have come and that nobody waited for, each as it was written.
    pub(crate) async fn unheard(&mut self) -> Vec<String> {
        let mut unheard = Vec::new();
        let hearing = async {
            while let Ok(message) = self.next_text().await {
                unheard.push(message.to_string());
            }
        };
        let _until_then = timeout(UNHEARD, hearing).await;
        unheard
    }

    /// Hears messages until the connection is lost, however long that takes.
    pub(crate) async fn hear_to_the_end(&mut self) {
        while let Ok(message) = self.next_text().await {
            self.seq = message["seq"].as_u64().unwrap_or(self.seq);
        }
    }

    pub(crate) async fn say(&mut self, message: &Value) -> Result<(), String> {
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
