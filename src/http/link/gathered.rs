//! What many write to a link at about the same time leaves together.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// So much is written without waiting for more. Half of what the library puts together before it writes.
const LUMP_BYTES: usize = 8 * 1024;

/// A stream that is written to only once all others who are ready have had their turn, who may have more for it.
///
/// The task of a link is woken by the first client's task that writes, and would be run right after it: the scheduler
/// prefers whoever was woken last. It also is no stream that takes several buffers at once, for to those the library
/// writes each piece of 256 bytes by itself. Either made a lump of what one client is told.
#[derive(Debug)]
pub(super) struct Gathered<S> {
    stream: S,
    others_had_their_turn: bool,
}

impl<S> Gathered<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, others_had_their_turn: false }
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
        if bytes.len() < LUMP_BYTES && !self.others_had_their_turn {
            self.others_had_their_turn = true;
            // A task that wakes itself goes behind all that are ready.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if written.is_ready() {
            self.others_had_their_turn = false;
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
