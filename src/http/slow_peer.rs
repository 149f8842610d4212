//! Watches how fast a peer speaks HTTP, so that nobody holds a connection by doing nothing.
//!
//! hyper has one timer for the header, which runs between requests too; here a header has seconds and an idle
//! connection a minute, and the body and a response that nobody reads have their limits as well. The stream, the
//! service and the bodies note what happens in a [`PeerPace`]; the connection's task asks it for the next deadline.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::http::StatusCode;
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::error::{ApiCode, ApiError};
use crate::session::limits::TransportLimits;

/// How far a connection is with its present request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Connected, nothing has come.
    Silent,
    /// The header is coming.
    Header,
    /// The body is coming.
    Body,
    /// The request is there, the response is being made or sent.
    Answering,
    /// The response was made, the next request has not begun.
    Idle,
}

#[derive(Debug)]
struct PeerState {
    phase: Phase,
    since: Instant,
    /// Since when the peer takes no bytes.
    stalled: Option<Instant>,
    head: HeadScan,
}

/// What one connection is doing.
#[derive(Debug)]
pub(super) struct PeerPace {
    state: Mutex<PeerState>,
    /// It speaks HTTP no more, and nothing of what follows is noted.
    is_upgraded: AtomicBool,
}

impl PeerPace {
    pub(super) fn new() -> Self {
        let state = PeerState {
            phase: Phase::Silent,
            since: Instant::now(),
            stalled: None,
            head: HeadScan::default(),
        };
        Self { state: Mutex::new(state), is_upgraded: AtomicBool::new(false) }
    }

    /// The stream has been handed on to somebody with limits of their own.
    pub(super) fn upgraded(&self) {
        self.is_upgraded.store(true, Ordering::Relaxed);
    }

    fn is_upgraded(&self) -> bool {
        self.is_upgraded.load(Ordering::Relaxed)
    }

    /// When the connection must be ended if nothing happens until then.
    pub(super) fn deadline(&self, limits: &TransportLimits) -> Option<Instant> {
        let state = self.lock();
        let stalled = state.stalled.map(|since| since + limits.write_stall);
        let slow = match state.phase {
            Phase::Silent => Some(state.since + limits.first_byte),
            Phase::Header => Some(state.since + limits.header),
            Phase::Body => Some(state.since + limits.body),
            Phase::Answering => None,
            // The response was made, but is not out yet: nobody is idle.
            Phase::Idle if stalled.is_some() => None,
            Phase::Idle => Some(state.since + limits.idle),
        };
        slow.into_iter().chain(stalled).min()
    }

    /// A request has come, up to its body. Gives what hyper does not tell of its header.
    pub(super) fn request(&self, has_body: bool) -> HeadFacts {
        self.enter(if has_body { Phase::Body } else { Phase::Answering });
        self.lock().head.facts
    }

    /// Whether no request has come yet that anybody could answer.
    fn has_no_request(&self) -> bool {
        matches!(self.lock().phase, Phase::Silent | Phase::Header)
    }

    fn body_ended(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Body {
            state.phase = Phase::Answering;
        }
    }

    fn answered(&self) {
        self.enter(Phase::Idle);
        self.lock().head = HeadScan::default();
    }

    fn enter(&self, phase: Phase) {
        let mut state = self.lock();
        state.phase = phase;
        state.since = Instant::now();
    }

    fn read(&self, bytes: &[u8]) {
        if bytes.is_empty() || self.is_upgraded() {
            return;
        }
        let mut state = self.lock();
        if matches!(state.phase, Phase::Silent | Phase::Idle) {
            state.phase = Phase::Header;
            state.since = Instant::now();
        }
        if state.phase == Phase::Header {
            state.head.scan(bytes);
        }
    }

    fn wrote<T>(&self, result: &Poll<T>) {
        if self.is_upgraded() {
            return;
        }
        let mut state = self.lock();
        match result {
            Poll::Ready(_) => {
                state.stalled = None;
                if state.phase == Phase::Idle {
                    state.since = Instant::now();
                }
            }
            Poll::Pending if state.stalled.is_none() => state.stalled = Some(Instant::now()),
            Poll::Pending => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, PeerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a header had the field `Content-Length`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ContentLength {
    #[default]
    Absent,
    Present,
}

/// Whether a line of a header ended with a line feed alone. hyper takes it for a line's end, others do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum BareLineFeed {
    #[default]
    Absent,
    Present,
}

/// What hyper does not tell of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct HeadFacts {
    /// hyper hides it when there is a `Transfer-Encoding` too.
    pub(super) content_length: ContentLength,
    pub(super) bare_line_feed: BareLineFeed,
}

/// Looks for `Content-Length` at the beginnings of a header's lines, and at how they end, in pieces of any size.
#[derive(Debug, Default)]
struct HeadScan {
    /// The beginning of the present line.
    name: [u8; CONTENT_LENGTH.len()],
    /// Bytes of the present line, without line ends.
    length: usize,
    /// The request line was there.
    begun: bool,
    /// The empty line was there.
    ended: bool,
    /// The byte before was a carriage return.
    returned: bool,
    facts: HeadFacts,
}

/// How the line begins that we look for. hyper refuses blanks before the colon.
const CONTENT_LENGTH: &[u8] = b"content-length:";

impl HeadScan {
    fn scan(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                _ if self.ended => return,
                b'\r' => {}
                b'\n' => {
                    if !self.returned {
                        self.facts.bare_line_feed = BareLineFeed::Present;
                    }
                    self.ended = self.begun && self.length == 0;
                    self.begun |= self.length > 0;
                    self.length = 0;
                }
                _ => self.take(byte),
            }
            self.returned = byte == b'\r';
        }
    }

    fn take(&mut self, byte: u8) {
        if let Some(place) = self.name.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
        if self.length == CONTENT_LENGTH.len() && self.name.eq_ignore_ascii_case(CONTENT_LENGTH) {
            self.facts.content_length = ContentLength::Present;
        }
    }
}

/// A peer's stream that notes what happens on it. It holds the peer's place among the connections as long as it lives,
/// through an upgrade too.
#[derive(Debug)]
pub(super) struct PacedStream<S, P> {
    stream: S,
    peer_pace: Arc<PeerPace>,
    refusal: Option<Refusal>,
    place: P,
}

/// Our answer to a header that hyper cannot read, in the place of its own, which says nothing.
#[derive(Debug)]
struct Refusal {
    text: String,
    sent: usize,
}

impl Refusal {
    /// What stands for hyper's answer, whose status says what was wrong. It has a header and nothing else.
    fn in_place_of(answer: &[u8]) -> Option<Self> {
        let answer = answer.strip_suffix(b"\r\n\r\n")?;
        let line = std::str::from_utf8(answer.strip_prefix(b"HTTP/1.1 ")?.get(..3)?).ok()?;
        let status = StatusCode::from_u16(line.parse().ok()?).ok().filter(StatusCode::is_client_error)?;
        let error = match status {
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE | StatusCode::URI_TOO_LONG => {
                ApiError::new(ApiCode::HeaderTooLarge, "the header has too many bytes or fields")
            }
            _ => ApiError::new(ApiCode::BadRequest, "this is not HTTP/1.1 as it should be"),
        };
        Some(Self { text: error.to_http_text(status), sent: 0 })
    }
}

impl<S, P> PacedStream<S, P> {
    pub(super) fn new(stream: S, peer_pace: Arc<PeerPace>, place: P) -> Self {
        Self { stream, peer_pace, refusal: None, place }
    }

    /// The stream and the place, when nobody speaks HTTP any more.
    pub(super) fn into_parts(self) -> (S, P) {
        (self.stream, self.place)
    }
}

impl<S: AsyncWrite + Unpin, P: Unpin> PacedStream<S, P> {
    /// Writes our refusal in the place of `answer`, if that is one of hyper's own. Ready when all of it is out.
    fn poll_refuse(&mut self, cx: &mut Context<'_>, answer: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.refusal.is_none() && !self.peer_pace.is_upgraded() && self.peer_pace.has_no_request() {
            self.refusal = Refusal::in_place_of(answer);
        }
        let refusal = self.refusal.as_mut()?;
        while let Some(rest) = refusal.text.as_bytes().get(refusal.sent..).filter(|rest| !rest.is_empty()) {
            let result = Pin::new(&mut self.stream).poll_write(cx, rest);
            self.peer_pace.wrote(&result);
            match result {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
                Poll::Ready(Ok(sent)) => refusal.sent += sent,
                other => return Some(other),
            }
        }
        Some(Poll::Ready(Ok(answer.len())))
    }
}

impl<S: AsyncRead + Unpin, P: Unpin> AsyncRead for PacedStream<S, P> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.peer_pace.read(&buf.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin, P: Unpin> AsyncWrite for PacedStream<S, P> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(refused) = self.poll_refuse(cx, bytes) {
            return refused;
        }
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.peer_pace.wrote(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // hyper's own answer is in one piece.
        let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
        if let Some(refused) = self.poll_refuse(cx, first) {
            return refused;
        }
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.peer_pace.wrote(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Which of its two ends a body marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Marks {
    /// It is a request's: its end is the end of reading.
    RequestRead,
    /// It is a response's: its end is the end of the exchange.
    Answered,
}

/// A body that notes its end, or that nobody wants it any more.
#[derive(Debug)]
pub(super) struct PacedBody<B> {
    body: B,
    peer_pace: Arc<PeerPace>,
    marks: Marks,
}

impl<B> PacedBody<B> {
    pub(super) fn new(body: B, peer_pace: Arc<PeerPace>, marks: Marks) -> Self {
        Self { body, peer_pace, marks }
    }
}

impl<B> Drop for PacedBody<B> {
    fn drop(&mut self) {
        match self.marks {
            Marks::RequestRead => self.peer_pace.body_ended(),
            Marks::Answered => self.peer_pace.answered(),
        }
    }
}

impl<B: Body + Unpin> Body for PacedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() && self.marks == Marks::RequestRead {
            self.peer_pace.body_ended();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_scan(head: &str, expected: ContentLength) {
        for piece in [1, 2, 7, 4_096] {
            let mut scan = HeadScan::default();
            head.as_bytes().chunks(piece).for_each(|piece| scan.scan(piece));
            assert_eq!(scan.facts.content_length, expected, "{head:?} in pieces of {piece}");
            let bare = head.replace("\r\n", "").contains('\n');
            let expected = if bare { BareLineFeed::Present } else { BareLineFeed::Absent };
            assert_eq!(scan.facts.bare_line_feed, expected, "{head:?} in pieces of {piece}");
        }
    }

    #[test]
    fn a_content_length_is_seen_in_the_header_and_nowhere_else() {
        check_scan("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", ContentLength::Present);
        check_scan("POST / HTTP/1.1\r\nCONTENT-length:3\r\n\r\n", ContentLength::Present);
        check_scan("\r\n\r\nPOST / HTTP/1.1\nContent-Length: 3\n\n", ContentLength::Present);
        check_scan("POST / HTTP/1.1\r\nX: Content-Length: 3\r\n\r\n", ContentLength::Absent);
        check_scan("POST / HTTP/1.1\r\nX-Content-Length: 3\r\n\r\n", ContentLength::Absent);
        check_scan("POST / HTTP/1.1\r\nHost: a\r\n\r\nContent-Length: 3\r\n", ContentLength::Absent);
    }
}
