//! Where a peer's bytes come from: a connection of its own, or another node's link.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::link::Tunnel;

/// A stream to a peer. One type for both ways, so that what serves a connection is compiled once.
#[derive(Debug)]
pub(super) enum PeerStream {
    Own(TcpStream),
    /// Boxed, for few nodes have any, and every connection would be as large.
    Passed(Box<Tunnel>),
}

impl PeerStream {
    /// The first byte of what comes next, which stays to be read; none at the end.
    pub(super) async fn peek(&mut self) -> io::Result<Option<u8>> {
        match self {
            Self::Own(stream) => {
                let mut first = [0];
                let read = stream.peek(&mut first).await?;
                Ok(first.first().copied().filter(|_| read > 0))
            }
            Self::Passed(tunnel) => tunnel.peek().await,
        }
    }

    /// Writes as much as the peer takes at once, to whom nobody will listen.
    pub(super) fn last_words(&mut self, words: &[u8]) {
        // A peer that is gone or takes nothing has no use for them.
        let mut nobody = Context::from_waker(std::task::Waker::noop());
        match self {
            Self::Own(stream) => drop(stream.try_write(words)),
            Self::Passed(tunnel) => drop(Pin::new(&mut **tunnel).poll_write(&mut nobody, words)),
        }
    }
}

impl AsyncRead for PeerStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Own(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Passed(tunnel) => Pin::new(&mut **tunnel).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for PeerStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Own(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Passed(tunnel) => Pin::new(&mut **tunnel).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Own(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Self::Passed(tunnel) => Pin::new(&mut **tunnel).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Own(stream) => stream.is_write_vectored(),
            Self::Passed(tunnel) => tunnel.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Own(stream) => Pin::new(stream).poll_flush(cx),
            Self::Passed(tunnel) => Pin::new(&mut **tunnel).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Own(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Passed(tunnel) => Pin::new(&mut **tunnel).poll_shutdown(cx),
        }
    }
}
