//! The network: a pipe for each connection, in memory, that takes its time and can be cut.
//!
//! The daemon's end is served by the same code as a real socket after its upgrade.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use fourfold::session::limits::TransportLimits;
use fourfold::session::port::{Caller, Credential};
use fourfold::session::socket::{SocketDeps, serve};
use fourfold::session::{Services, SessionGateway};
use futures::{SinkExt, StreamExt};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

/// What a pipe holds on its way, in bytes: as much as a socket's buffers.
const PIPE_BYTES: usize = 64 * 1024;

/// What travels at a time, in bytes.
const CHUNK_BYTES: usize = 4 * 1024;

/// How long a chunk is under way, in milliseconds. Whole networks are as slow as the second.
const QUICK_MS: std::ops::Range<u64> = 0..40;
const SLOW_MS: std::ops::Range<u64> = 100..1_500;

/// What a client hears of its connection.
#[derive(Debug)]
pub(crate) enum News {
    Text(String),
    /// It is over, with this code if the daemon has closed it.
    Closed(Option<u16>),
}

/// News of one connection of a client.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) client: usize,
    /// Which of its connections.
    pub(crate) connection: u64,
    pub(crate) news: News,
}

/// How a network treats what is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Weather {
    Quick,
    Slow,
    /// Nothing arrives any more, and nobody is told.
    Hole,
    /// The next chunk arrives in half, and then the connection is gone.
    Tearing,
}

impl Weather {
    const ALL: [Self; 4] = [Self::Quick, Self::Slow, Self::Hole, Self::Tearing];
}

/// The weather on one connection, which changes while it lasts.
#[derive(Debug)]
struct Sky(AtomicU8);

impl Sky {
    fn weather(&self) -> Weather {
        Weather::ALL[usize::from(self.0.load(Ordering::Relaxed))]
    }
}

/// A client's end of a connection. Dropped, the connection is cut.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) connection: u64,
    texts: mpsc::UnboundedSender<String>,
    sky: Arc<Sky>,
    /// Its tasks: the pipe, and the codec at the client's end.
    _tasks: JoinSet<()>,
}

impl Link {
    /// Connects a client; `heard` gets what comes.
    pub(crate) fn open(dial: Dial, services: &Arc<Services>, heard: &mpsc::UnboundedSender<Heard>) -> Self {
        let Dial { client, connection, seed, credential, weather } = dial;
        let (server, far) = tokio::io::duplex(PIPE_BYTES);
        let (near, own) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(serve(server, caller(credential), socket_deps(services)));
        let sky = Arc::new(Sky(AtomicU8::new(weather as u8)));
        let (texts, said) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(carry(far, near, Arc::clone(&sky), ChaCha8Rng::seed_from_u64(seed)));
        tasks.spawn(speak(own, client, connection, said, heard.clone()));
        Self { connection, texts, sky, _tasks: tasks }
    }

    /// Sends a text, unless the connection is over, which the client will hear.
    pub(crate) fn say(&self, text: String) {
        let _ = self.texts.send(text);
    }

    /// Changes the weather. What fell into a hole is lost, so that connection does not recover.
    pub(crate) fn change(&self, weather: Weather) {
        if self.sky.weather() != Weather::Hole {
            self.sky.0.store(weather as u8, Ordering::Relaxed);
        }
    }
}

/// What a connection begins with.
#[derive(Debug)]
pub(crate) struct Dial {
    pub(crate) client: usize,
    pub(crate) connection: u64,
    pub(crate) seed: u64,
    pub(crate) credential: Credential,
    pub(crate) weather: Weather,
}

fn caller(credential: Credential) -> Caller {
    Caller {
        credential,
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        site: None,
        received: tokio::time::Instant::now().into_std(),
    }
}

fn socket_deps(services: &Arc<Services>) -> SocketDeps {
    SocketDeps {
        gateway: Arc::new(SessionGateway::new(Arc::clone(services))),
        limits: Arc::new(TransportLimits::default()),
        stop: CancellationToken::new(),
    }
}

/// Carries bytes both ways until one end is gone, or the pipe tears.
async fn carry(far: DuplexStream, near: DuplexStream, sky: Arc<Sky>, mut chance: ChaCha8Rng) {
    let (far_reader, far_writer) = tokio::io::split(far);
    let (near_reader, near_writer) = tokio::io::split(near);
    let back = ChaCha8Rng::seed_from_u64(chance.random());
    tokio::select! {
        biased;
        () = flow(far_reader, near_writer, &sky, chance) => {}
        () = flow(near_reader, far_writer, &sky, back) => {}
    }
}

/// One direction. A chunk leaves when the one before it has arrived.
async fn flow(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    sky: &Sky,
    mut chance: ChaCha8Rng,
) {
    let mut chunk = [0; CHUNK_BYTES];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        let weather = sky.weather();
        let ms = chance.random_range(if weather == Weather::Slow { SLOW_MS } else { QUICK_MS });
        tokio::time::sleep(Duration::from_millis(ms)).await;
        let arrives = match sky.weather() {
            Weather::Quick | Weather::Slow => read,
            Weather::Hole => continue,
            Weather::Tearing => read / 2,
        };
        if to.write_all(&chunk[..arrives]).await.is_err() || arrives < read {
            return;
        }
    }
}

/// The client's codec: frames in and out, pings answered on the way.
async fn speak(
    own: DuplexStream,
    client: usize,
    connection: u64,
    mut said: mpsc::UnboundedReceiver<String>,
    heard: mpsc::UnboundedSender<Heard>,
) {
    let mut socket = WebSocketStream::from_raw_socket(own, Role::Client, None).await;
    let hear = |news| {
        // Nobody listens when the run is over.
        let _ = heard.send(Heard { client, connection, news });
    };
    loop {
        tokio::select! {
            biased;
            text = said.recv() => {
                let Some(text) = text else { return };
                if socket.send(Message::text(text)).await.is_err() {
                    return hear(News::Closed(None));
                }
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => hear(News::Text(text.to_string())),
                Some(Ok(Message::Close(frame))) => {
                    return hear(News::Closed(frame.map(|frame| frame.code.into())));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return hear(News::Closed(None)),
            },
        }
    }
}
