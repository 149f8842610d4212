//! What is written to a link by many at about the same time leaves together.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// So much leaves without waiting for more: as much as one system call moves for hardly more than a small one costs.
const LUMP_BYTES: usize = 64 * 1024;

/// What was put together, beyond which memory is given back: most lumps are smaller.
const KEPT_BYTES: usize = LUMP_BYTES + 16 * 1024;

/// A stream that keeps what is written until it is flushed, and lets all others who are ready write first.
///
/// The library flushes after each round, and a round begins as soon as one client's task has written something: the
/// scheduler runs whoever was woken last next. It also writes each piece of 256 bytes by itself to streams that take
/// several buffers. So a lump was what one client is told.
#[derive(Debug)]
pub(super) struct Gathered<S> {
    stream: S,
    waiting: BytesMut,
    /// All who were ready when the flush began have had their turn.
    others_had_their_turn: bool,
}

impl<S> Gathered<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, waiting: BytesMut::new(), others_had_their_turn: false }
    }
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    /// Writes all that waits.
    fn poll_write_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.waiting))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.waiting.advance(written);
        }
        self.others_had_their_turn = false;
        if self.waiting.capacity() > KEPT_BYTES {
            self.waiting = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gathered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gathered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.waiting.len() >= LUMP_BYTES {
            ready!(self.poll_write_out(cx))?;
        }
        let taken = bytes.len().min(LUMP_BYTES);
        self.waiting.extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_little = !self.waiting.is_empty() && self.waiting.len() < LUMP_BYTES;
        if is_little && !self.others_had_their_turn {
            self.others_had_their_turn = true;
            // Woken by itself a task goes behind all that are ready.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        ready!(self.poll_write_out(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_out(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
