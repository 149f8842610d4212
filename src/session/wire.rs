//! One WebSocket: what is read from it, what is written to it, and how it ends.
//!
//! Reading and writing are one poll in one task. What waits in the outbox is written together as far as the peer takes
//! it, past the codec, so a burst of messages is one system call and a connection has no memory for what it writes.

mod frame_writer;

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Utf8Bytes, protocol};

use self::frame_writer::{FrameWriter, put_text};
use super::frame_guard::{Breach, FrameGuard};
use super::port::Gateway;
use crate::play::presence::outbox::{Attachment, Line, Next, Outbox};
use crate::protocol::{CLIENT_FRAME_BYTES_MAX, CloseCode, Frame, SERVER_FRAME_BYTES_MAX, ServerMessage};

/// Allocated for each connection as long as it lives. The codec's default of 128 KiB costs six times the processor
/// time (it is cleared for every read) and 1.2 GiB for ten thousand watchers; a move has 60 bytes, and what has more is
/// read in several pieces.
const READ_BUFFER_BYTES: usize = 512;
/// Messages are put together up to here: a burst is one system call. Of what the peer does not take at once so much is
/// kept, and one message.
const BURST_BYTES: usize = 4 * 1024;
/// Most that the codec keeps for a peer that does not read, of pings and of what is said before there is a session: the
/// largest message, and frame headers. The codec's default is without limit.
const WRITE_BUFFER_BYTES_MAX: usize = SERVER_FRAME_BYTES_MAX + 2 * BURST_BYTES;
/// What is still read, and thrown away, after a connection failed. A peer that sends more loses our close frame.
const DISCARDED_BYTES_MAX: u64 = 256 * 1024;

/// The one place that sets up the codec.
pub(crate) fn websocket_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(BURST_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_message_size(Some(CLIENT_FRAME_BYTES_MAX))
        .max_frame_size(Some(CLIENT_FRAME_BYTES_MAX))
        .accept_unmasked_frames(false)
}

/// What a connection did wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WireFault {
    /// A message over the limit.
    TooLarge,
    /// A binary message.
    Binary,
    /// Text that is not UTF-8.
    Utf8,
    /// Not the WebSocket protocol.
    Protocol,
    /// A limit on frames was broken.
    Frames(Breach),
}

impl WireFault {
    /// How the socket closes for it.
    pub(crate) fn close_code(self) -> CloseCode {
        match self {
            Self::TooLarge => CloseCode::TooLarge,
            Self::Binary => CloseCode::Binary,
            Self::Utf8 => CloseCode::Utf8,
            Self::Protocol => CloseCode::Protocol,
            Self::Frames(_) => CloseCode::Policy,
        }
    }
}

/// What happened on the wire.
#[derive(Debug)]
pub(crate) enum WireEvent {
    /// A text message, and when it was read.
    Text(Utf8Bytes, Instant),
    /// A pong with this payload, and when it was read.
    Pong(Bytes, Instant),
    /// All that waited has left, and watched games need a snapshot.
    CaughtUp,
    /// The outbox says to close.
    Close(CloseCode),
    /// The peer did something that ends the connection. Nothing more can be read.
    Fault(WireFault),
    /// The peer closes.
    PeerCloses,
    /// The connection is gone.
    Gone,
}

/// Whether more messages may be read now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listening {
    /// Read.
    Yes,
    /// What was read is not done yet; let the peer wait.
    No,
}

/// How a connection is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Farewell {
    /// With a closing handshake that begins here.
    Close(CloseCode),
    /// With a close frame to a peer whose frames can no longer be read.
    Fail(CloseCode),
    /// With the answer to the peer's close frame.
    Answer,
    /// Without a word: nobody is there.
    Drop,
}

/// Where messages to send come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageSource<'a> {
    /// There is no session yet.
    None,
    /// The session's outbox and our hold on it.
    Outbox(&'a Outbox, &'a Attachment),
}

impl MessageSource<'_> {
    fn next(self) -> Next {
        match self {
            Self::None => Next::Idle { behind: false },
            Self::Outbox(outbox, attachment) => outbox.next(attachment),
        }
    }

    fn parted(self) -> Option<CloseCode> {
        match self {
            Self::None => None,
            Self::Outbox(outbox, attachment) => outbox.parted(attachment),
        }
    }
}

thread_local! {
    /// What is put together to be written. One for each thread: it is empty again before another connection's turn.
    static BURST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What writing came to.
enum FrameWritten {
    /// All that waited has left.
    All { behind: bool },
    /// The peer does not take more now.
    Blocked,
    /// Something happened that ends writing.
    Event(WireEvent),
}

/// The server's end of one WebSocket.
pub(crate) struct Wire<S> {
    socket: WebSocketStream<FrameGuard<FrameWriter<S>>>,
    /// Something was given to the codec and not flushed.
    unflushed: bool,
    /// What the peer did while nobody listened, which [`Self::gone`] has read.
    ahead: Option<WireEvent>,
    /// Who counts the errors that are sent.
    counted_by: Option<Arc<dyn Gateway>>,
}

/// The wire of a session: its socket's task reads and writes it, and whoever has something for the client may write,
/// too, when nobody is at it. Both hold the lock for one attempt that does not wait.
pub(crate) struct SharedWire<S>(Mutex<Option<Wire<S>>>);

impl<S> std::fmt::Debug for SharedWire<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedWire").finish_non_exhaustive()
    }
}

impl<S> SharedWire<S> {
    pub(crate) fn new(wire: Wire<S>) -> Self {
        Self(Mutex::new(Some(wire)))
    }

    /// Takes it away from all others. Nothing, if that was done before.
    pub(crate) fn take(&self) -> Option<Wire<S>> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Wire<S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> SharedWire<S> {
    /// Writes what waits in `source`, reads, and returns what happened first. May be dropped and called again.
    pub(crate) async fn event(&self, source: MessageSource<'_>, listening: Listening) -> WireEvent {
        std::future::poll_fn(|cx| match &mut *self.lock() {
            Some(wire) => wire.poll_event(cx, source, listening),
            None => Poll::Ready(WireEvent::Gone),
        })
        .await
    }

    pub(crate) fn ping(&self, payload: Bytes) {
        if let Some(wire) = &mut *self.lock() {
            wire.ping(payload);
        }
    }

    /// Writes what waits as far as the peer takes it at once.
    pub(crate) fn write_now(&self, source: MessageSource<'_>) {
        if let Some(wire) = &mut *self.lock() {
            wire.write_now(source);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Line for SharedWire<S> {
    fn write(&self, outbox: &Outbox, attachment: &Attachment) -> bool {
        // Its task is at it, or was when it panicked.
        let Ok(mut wire) = self.0.try_lock() else { return false };
        wire.as_mut().is_some_and(|wire| wire.write_now(MessageSource::Outbox(outbox, attachment)))
    }
}

impl<S> std::fmt::Debug for Wire<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("unflushed", &self.unflushed).finish_non_exhaustive()
    }
}

impl<S> Wire<S> {
    /// Tells the gateway of errors that are sent.
    pub(crate) fn counted_by(self, gateway: Arc<dyn Gateway>) -> Self {
        Self { counted_by: Some(gateway), ..self }
    }

    fn count(&self, message: &ServerMessage) {
        if let (Some(gateway), ServerMessage::Error(error)) = (&self.counted_by, message) {
            gateway.refused(error.code);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Takes over a stream on which the upgrade was answered.
    pub(crate) async fn new(stream: S) -> Self {
        let guarded = FrameGuard::new(FrameWriter::new(stream));
        let socket = WebSocketStream::from_raw_socket(guarded, Role::Server, Some(websocket_config())).await;
        Self { socket, unflushed: false, ahead: None, counted_by: None }
    }

    /// Writes nothing, reads, and returns what happened first: before there is a session.
    pub(crate) async fn event(&mut self) -> WireEvent {
        std::future::poll_fn(|cx| self.poll_event(cx, MessageSource::None, Listening::Yes)).await
    }

    /// Waits until the peer is gone, or begins to close. What else it does meanwhile comes with the next event; beyond
    /// one message it has to wait. May be dropped and called again.
    pub(crate) async fn gone(&mut self) -> Farewell {
        std::future::poll_fn(|cx| {
            if self.ahead.is_none()
                && let Poll::Ready(event) = self.poll_read(cx)
            {
                self.ahead = Some(event);
            }
            match self.ahead {
                Some(WireEvent::Gone) => Poll::Ready(Farewell::Drop),
                Some(WireEvent::PeerCloses) => Poll::Ready(Farewell::Answer),
                _ => Poll::Pending,
            }
        })
        .await
    }

    /// Queues a message that is not in an outbox: before there is a session.
    pub(crate) fn say(&mut self, frame: &Frame, re: Option<&str>) {
        self.count(frame.message());
        self.start(Message::text(frame.text(0, re)));
    }

    pub(crate) fn ping(&mut self, payload: Bytes) {
        self.start(Message::Ping(payload));
    }

    /// Writes what waits as far as the peer takes it at once. False if there is something left to do.
    pub(crate) fn write_now(&mut self, source: MessageSource<'_>) -> bool {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        matches!(self.poll_write(&mut cx, source), FrameWritten::All { behind: false })
    }

    /// Gives a message to the codec. When its buffer is full the peer does not read, which its silence to pings will
    /// show, so the message is simply lost.
    fn start(&mut self, message: Message) {
        let taken = Pin::new(&mut self.socket).start_send(message).is_ok();
        self.unflushed |= taken;
    }

    /// Writes what waits in `source`, reads, and returns what happened first.
    fn poll_event(
        &mut self,
        cx: &mut Context<'_>,
        source: MessageSource<'_>,
        listening: Listening,
    ) -> Poll<WireEvent> {
        match self.poll_write(cx, source) {
            FrameWritten::Event(event) => return Poll::Ready(event),
            FrameWritten::All { behind: true } => return Poll::Ready(WireEvent::CaughtUp),
            FrameWritten::All { behind: false } | FrameWritten::Blocked => {}
        }
        match listening {
            Listening::Yes => match self.ahead.take() {
                Some(event) => Poll::Ready(event),
                None => self.poll_read(cx),
            },
            Listening::No => Poll::Pending,
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, source: MessageSource<'_>) -> FrameWritten {
        match self.poll_unfinished(cx) {
            Poll::Ready(Ok(())) => BURST.with_borrow_mut(|burst| self.poll_bursts(cx, source, burst)),
            Poll::Ready(Err(_)) => FrameWritten::Event(WireEvent::Gone),
            Poll::Pending => blocked(source),
        }
    }

    /// Writes what an earlier attempt has left.
    fn poll_unfinished(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.unflushed || self.writer().codec_has_rest() {
            ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
            self.unflushed = false;
        }
        self.writer().poll_left(cx).map_err(Error::Io)
    }

    /// Writes what waits in `source`, put together.
    fn poll_bursts(
        &mut self,
        cx: &mut Context<'_>,
        source: MessageSource<'_>,
        burst: &mut Vec<u8>,
    ) -> FrameWritten {
        loop {
            burst.clear();
            let then = loop {
                match source.next() {
                    Next::Message(outgoing) => {
                        if let Some(message) = outgoing.message() {
                            self.count(message);
                        }
                        put_text(burst, &outgoing.numbered());
                        if burst.len() >= BURST_BYTES {
                            break None;
                        }
                    }
                    Next::Close(code) => break Some(FrameWritten::Event(WireEvent::Close(code))),
                    Next::Idle { behind } => break Some(FrameWritten::All { behind }),
                }
            };
            let written =
                if burst.is_empty() { Poll::Ready(Ok(())) } else { self.writer().poll_frames(cx, burst) };
            match (written, then) {
                (Poll::Ready(Err(_)), _) => return FrameWritten::Event(WireEvent::Gone),
                // What is left of it goes before the close frame.
                (_, Some(FrameWritten::Event(event))) => return FrameWritten::Event(event),
                (Poll::Pending, _) => return blocked(source),
                (Poll::Ready(Ok(())), Some(all)) => return all,
                (Poll::Ready(Ok(())), None) => {}
            }
        }
    }

    fn writer(&mut self) -> &mut FrameWriter<S> {
        self.socket.get_mut().unguarded()
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<WireEvent> {
        loop {
            let read = ready!(Pin::new(&mut self.socket).poll_next(cx));
            let now = || tokio::time::Instant::now().into_std();
            return Poll::Ready(match read {
                Some(Ok(Message::Text(text))) => WireEvent::Text(text, now()),
                Some(Ok(Message::Pong(payload))) => WireEvent::Pong(payload, now()),
                // The codec has queued the pong; the next read sends it.
                Some(Ok(Message::Ping(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Binary(_))) => WireEvent::Fault(WireFault::Binary),
                Some(Ok(Message::Close(_))) => WireEvent::PeerCloses,
                Some(Err(error)) => classify(&error).map_or(WireEvent::Gone, WireEvent::Fault),
                None => WireEvent::Gone,
            });
        }
    }

    /// Ends the connection. Returns when it is gone, after `limit` at the latest.
    pub(crate) async fn finish(mut self, farewell: Farewell, limit: Duration) {
        // Whether the peer got our last words in time or not, there is nothing more to do for it.
        let _ = tokio::time::timeout(limit, self.part(farewell)).await;
    }

    async fn part(&mut self, farewell: Farewell) -> Result<(), Error> {
        match farewell {
            Farewell::Close(code) => {
                self.send_close(code).await?;
                self.read_to_end().await;
            }
            Farewell::Fail(code) => self.send_close(code).await?,
            Farewell::Answer => self.read_to_end().await,
            Farewell::Drop => return Ok(()),
        }
        self.discard().await?;
        Ok(())
    }

    async fn send_close(&mut self, code: CloseCode) -> Result<(), Error> {
        let reason = Utf8Bytes::from_static(code.reason());
        let code = protocol::frame::coding::CloseCode::from(code.number());
        self.socket.send(Message::Close(Some(CloseFrame { code, reason }))).await
    }

    /// Reads on, past messages that were under way, until the closing handshake is done.
    async fn read_to_end(&mut self) {
        while let Some(Ok(_)) = self.socket.next().await {}
    }

    /// Says that nothing more comes, and waits for the peer to say the same. With unread bytes in it, a closed socket
    /// resets the connection, and the peer would lose our close frame.
    async fn discard(&mut self) -> io::Result<()> {
        let stream = self.writer();
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(DISCARDED_BYTES_MAX), &mut tokio::io::sink()).await?;
        Ok(())
    }
}

/// The peer takes nothing more now; perhaps it does not have to.
fn blocked(source: MessageSource<'_>) -> FrameWritten {
    source.parted().map_or(FrameWritten::Blocked, |code| FrameWritten::Event(WireEvent::Close(code)))
}

/// What the codec's error says about the peer; `None` if the connection is just gone.
fn classify(error: &Error) -> Option<WireFault> {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => Some(WireFault::TooLarge),
        Error::Utf8(_) => Some(WireFault::Utf8),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(_) => Some(WireFault::Protocol),
        Error::Io(error) => {
            error.get_ref().and_then(|inner| inner.downcast_ref()).copied().map(WireFault::Frames)
        }
        _ => None,
    }
}

#[cfg(test)]
mod autobahn;

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::protocol::client::Ping;

    fn pong() -> Frame {
        Frame::new(ServerMessage::Pong(Ping::default()))
    }

    #[tokio::test]
    async fn whoever_has_something_for_the_client_writes_it_unless_somebody_is_at_the_wire() {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let shared = SharedWire::new(Wire::new(ours).await);
        let outbox = Outbox::new();
        let attachment = outbox.attach(None, &pong(), None).unwrap();
        assert!(shared.write(&outbox, &attachment));
        let mut read = vec![0; 1024];
        let length = theirs.read(&mut read).await.unwrap();
        assert!(read[..length].ends_with(br#"{"seq":1,"type":"pong","n":0}"#), "{read:?}");
        // A client that does not read: its socket's task has to wait for it.
        while shared.write(&outbox, &attachment) {
            let _ = outbox.queue(&pong(), None);
        }
        while !shared.write(&outbox, &attachment) {
            assert!(theirs.read(&mut read).await.unwrap() > 0);
        }
        let wire = shared.lock();
        assert!(!shared.write(&outbox, &attachment), "another is at it");
        drop(wire);
        assert!(shared.take().is_some() && shared.take().is_none());
        assert!(!shared.write(&outbox, &attachment), "it was taken away");
    }

    #[test]
    fn buffers_are_small_and_everything_has_a_limit() {
        let config = websocket_config();
        assert!(
            config.read_buffer_size <= 4 * 1024,
            "a large read buffer costs 6x the time and 16x the memory"
        );
        assert!(config.write_buffer_size <= 4 * 1024);
        assert!(config.max_write_buffer_size <= 80 * 1024);
        assert!(config.max_write_buffer_size > config.write_buffer_size + SERVER_FRAME_BYTES_MAX);
        assert_eq!(config.max_message_size, Some(4 * 1024));
        assert_eq!(config.max_frame_size, Some(4 * 1024));
        assert!(!config.accept_unmasked_frames);
    }
}
