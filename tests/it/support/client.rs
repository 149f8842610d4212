//! A client that checks what holds for every message: its number, its type, the events of its game.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fourfold::protocol::ServerMessage;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::{ClientRequestBuilder, IntoClientRequest};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::merge;

/// Time stands still while a client waits, so this passes only after a test was found to hang. Where time is real, it
/// is more than any machine needs.
const SILENCE: Duration = Duration::from_mins(1);

/// One connection.
pub(crate) struct Client {
    outgoing: mpsc::UnboundedSender<Message>,
    incoming: mpsc::UnboundedReceiver<Incoming>,
    /// Messages that were passed over, for [`Self::until`] to find.
    kept: VecDeque<Value>,
    pub(crate) welcome: Value,
    /// The number of the last message.
    pub(crate) seq: u64,
    /// The last event of each game.
    events: HashMap<String, u64>,
    asked: u32,
    reading: Arc<AtomicBool>,
    _connection: DropGuard,
}

#[derive(Debug)]
enum Incoming {
    Message(Value),
    Closed(u16),
    Gone,
}

impl Client {
    /// Connects and says hello; `welcome` has come, what follows has not been looked at.
    pub(crate) async fn open(url: &str, headers: &[(&str, String)], hello: Value) -> Self {
        Self::try_open(url, headers, hello).await.unwrap()
    }

    /// The same, where a connection may not come about.
    pub(crate) async fn try_open(url: &str, headers: &[(&str, String)], hello: Value) -> Result<Self, Error> {
        let mut client = Self::connect(url, headers).await?;
        client.say(&hello);
        client.welcome = client.next().await;
        assert_eq!(client.welcome["type"], "welcome", "{}", client.welcome);
        Ok(client)
    }

    /// Connects and says nothing.
    pub(crate) async fn connect(url: &str, headers: &[(&str, String)]) -> Result<Self, Error> {
        let mut request = ClientRequestBuilder::new(url.parse().unwrap()).with_sub_protocol("fourfold.v1");
        for (name, value) in headers {
            request = request.with_header(*name, value);
        }
        Self::connect_by(request.into_client_request()?).await
    }

    /// Connects by this very request.
    pub(crate) async fn connect_by(request: impl IntoClientRequest + Unpin) -> Result<Self, Error> {
        let request = request.into_client_request()?;
        let address = request.uri().authority().unwrap().to_string();
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = tokio_tungstenite::client_async(request, stream).await?;
        Ok(Self::over(socket))
    }

    /// Speaks over a socket.
    pub(crate) fn over<S>(socket: WebSocketStream<S>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (outgoing, to_send) = mpsc::unbounded_channel();
        let (received, incoming) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let reading = Arc::new(AtomicBool::new(true));
        tokio::spawn(carry(socket, to_send, received, Arc::clone(&reading), stop.clone()));
        Self {
            outgoing,
            incoming,
            kept: VecDeque::new(),
            welcome: Value::Null,
            seq: 0,
            events: HashMap::new(),
            asked: 0,
            reading,
            _connection: stop.drop_guard(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        self.welcome["you"]["id"].as_str().unwrap()
    }

    pub(crate) fn name(&self) -> &str {
        self.welcome["you"]["name"].as_str().unwrap()
    }

    /// A `hello` that goes on with this session.
    pub(crate) fn resume_hello(&self) -> Value {
        let Self { welcome, seq, .. } = self;
        let resume = json!({"session": welcome["session"], "secret": welcome["secret"], "seq": seq});
        json!({"type": "hello", "protocol": 1, "client": {"name": "test", "version": "0"}, "resume": resume})
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string());
    }

    /// Says something that may not be JSON.
    pub(crate) fn say_text(&mut self, text: &str) {
        self.send(Message::text(text));
    }

    /// Sends any frame.
    pub(crate) fn send(&mut self, message: Message) {
        // A connection that is gone shows when something is expected of it.
        let _ = self.outgoing.send(message);
    }

    /// Asks for something and waits for the answer, keeping what comes before it.
    pub(crate) async fn ask(&mut self, mut message: Value) -> Value {
        self.asked += 1;
        let id = format!("q{}", self.asked);
        merge(&mut message, json!({"id": id}));
        self.say(&message);
        self.find(|message| message["re"] == *id).await
    }

    /// Asks for what is refused with this code.
    #[track_caller]
    pub(crate) fn ask_refused(&mut self, message: Value, code: &str) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        let code = code.to_owned();
        async move {
            let answer = self.ask(message).await;
            assert_eq!(
                (&answer["type"], &answer["code"]),
                (&json!("error"), &json!(code)),
                "{caller}: {answer}"
            );
            answer
        }
    }

    /// The next message of this type; what comes before it is passed over, but kept.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        self.find(|message| message["type"] == kind).await
    }

    /// The next message that fits; what comes before it is passed over, but kept.
    pub(crate) async fn find(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.kept.iter().position(&fits) {
            return self.kept.remove(index).unwrap();
        }
        loop {
            let message = self.receive().await;
            if fits(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The next message, those that were passed over first.
    pub(crate) async fn next(&mut self) -> Value {
        match self.kept.pop_front() {
            Some(message) => message,
            None => self.receive().await,
        }
    }

    /// The next message, or the code with which the server closed.
    pub(crate) async fn next_or_close(&mut self) -> Result<Value, u16> {
        if let Some(message) = self.kept.pop_front() {
            return Ok(message);
        }
        match self.take().await {
            Incoming::Message(message) => Ok(message),
            Incoming::Closed(code) => Err(code),
            Incoming::Gone => panic!("the connection is gone without a close frame"),
        }
    }

    /// Takes all that has come: whatever the daemon was doing for this client is done.
    pub(crate) async fn settle(&mut self) {
        self.ask(json!({"type": "ping"})).await;
    }

    /// Forgets what has come.
    pub(crate) async fn clear(&mut self) {
        self.settle().await;
        self.kept.clear();
    }

    /// Whether such a message has come and was not looked at.
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.kept.iter().any(|message| message["type"] == kind)
    }

    /// Reads nothing more, as a client that hangs does; the connection stays open.
    pub(crate) async fn stop_reading(&mut self) {
        self.settle().await;
        self.reading.store(false, Ordering::Relaxed);
        self.send(Message::Pong(Bytes::new())); // wakes the task, so that it takes note
    }

    pub(crate) fn go_on_reading(&mut self) {
        self.reading.store(true, Ordering::Relaxed);
        self.send(Message::Pong(Bytes::new()));
    }

    /// All messages that have come and were not looked at.
    pub(crate) async fn heard(&mut self) -> Vec<Value> {
        self.settle().await;
        self.kept.drain(..).collect()
    }

    /// The types of all messages that have come and were not looked at.
    pub(crate) async fn heard_types(&mut self) -> Vec<String> {
        self.heard().await.iter().map(|message| message["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until the server closes, and says with which code.
    pub(crate) async fn closed(&mut self) -> u16 {
        loop {
            match self.take().await {
                Incoming::Message(message) => self.kept.push_back(message),
                Incoming::Closed(code) => return code,
                Incoming::Gone => panic!("the connection is gone without a close frame"),
            }
        }
    }

    /// Waits until the connection is gone, with a close frame or without.
    pub(crate) async fn gone(&mut self) {
        while let Incoming::Message(message) = self.take().await {
            self.kept.push_back(message);
        }
    }

    async fn receive(&mut self) -> Value {
        match self.take().await {
            Incoming::Message(message) => message,
            other => panic!("{other:?} instead of a message; before it came {:?}", self.kept),
        }
    }

    async fn take(&mut self) -> Incoming {
        let Ok(incoming) = timeout(SILENCE, self.incoming.recv()).await else {
            panic!("nothing comes; before it came {:?}", self.kept)
        };
        let incoming = incoming.unwrap_or(Incoming::Gone);
        if let Incoming::Message(message) = &incoming {
            self.check(message);
        }
        incoming
    }

    /// Takes what has come already.
    pub(crate) fn take_what_has_come(&mut self) {
        while let Ok(Incoming::Message(message)) = self.incoming.try_recv() {
            self.check(&message);
            self.kept.push_back(message);
        }
    }

    /// What holds for every message.
    fn check(&mut self, message: &Value) {
        let typed: ServerMessage =
            serde_json::from_value(message.clone()).unwrap_or_else(|error| panic!("{error}: {message}"));
        let seq = message["seq"].as_u64().unwrap_or_else(|| panic!("no seq: {message}"));
        let is_welcome = matches!(typed, ServerMessage::Welcome(_));
        if !is_welcome && self.seq > 0 {
            assert_eq!(seq, self.seq + 1, "numbers have no hole: {message}");
        }
        self.seq = seq;
        match typed {
            ServerMessage::Game(snapshot) => {
                let last = self.events.insert(snapshot.game.to_string(), snapshot.event_seq).unwrap_or(0);
                assert!(snapshot.event_seq >= last, "a game never goes back: {message}");
            }
            ServerMessage::Moved(moved) => self.check_event(moved.game.as_str(), moved.event_seq),
            ServerMessage::GameEnd(end) => self.check_event(end.game.as_str(), end.event_seq),
            _ => {}
        }
    }

    /// Events have no holes; one that came before may come again.
    fn check_event(&mut self, game: &str, event: u64) {
        let last = self.events.entry(game.to_owned()).or_insert(event - 1);
        assert!(event <= *last + 1, "event {event} of {game} follows {last}");
        *last = event.max(*last);
    }
}

async fn carry<S>(
    socket: WebSocketStream<S>,
    mut to_send: mpsc::UnboundedReceiver<Message>,
    received: mpsc::UnboundedSender<Incoming>,
    reading: Arc<AtomicBool>,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut sink, mut stream) = socket.split();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(message) = to_send.recv() => {
                // When this fails, what the server said last is still to be read.
                let _ = sink.send(message).await;
            }
            message = stream.next(), if reading.load(Ordering::Relaxed) => {
                let incoming = match message {
                    Some(Ok(Message::Text(text))) => Incoming::Message(serde_json::from_str(&text).unwrap()),
                    Some(Ok(Message::Close(frame))) => {
                        let code = frame.map_or(1005, |frame| frame.code.into());
                        // The codec's answer leaves with the next flush.
                        let _ = sink.flush().await;
                        Incoming::Closed(code)
                    }
                    Some(Ok(Message::Ping(_))) => {
                        let _ = sink.flush().await;
                        continue;
                    }
                    Some(Ok(_)) => continue,
                    Some(Err(_)) | None => Incoming::Gone,
                };
                let is_last = matches!(incoming, Incoming::Gone);
                if received.send(incoming).is_err() || is_last {
                    return;
                }
            }
        }
    }
}
