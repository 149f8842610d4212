//! What carries a WebSocket once HTTP has handed it on.
//!
//! A connection without TLS is taken out of all that spoke HTTP over it: each read and each write went through six
//! layers, which were a fiftieth of what a move cost.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection_limits::ConnectionPlace;
use super::peer_stream::PeerStream;
use super::slow_peer::PacedStream;

/// A connection's place, and that of its client if it comes from a proxy.
pub(super) type Places = (ConnectionPlace, Option<ConnectionPlace>);

/// A stream that holds its places as long as it lives. One type for both kinds, so that what serves a socket is
/// compiled once.
#[derive(Debug)]
pub(super) enum UpgradedStream {
    Bare {
        stream: PeerStream,
        /// What the client said before it had the answer to its upgrade.
        ahead: Bytes,
        _places: Places,
    },
    /// Whatever else speaks HTTP: TLS, above all.
    Wrapped(TokioIo<Upgraded>),
}

impl UpgradedStream {
    pub(super) fn of(upgraded: Upgraded) -> Self {
        match upgraded.downcast::<TokioIo<PacedStream<PeerStream, Places>>>() {
            Ok(parts) => {
                let (stream, places) = parts.io.into_inner().into_parts();
                // Copied, for it holds the whole buffer, from which HTTP was read, as long as it lives.
                let ahead = Bytes::copy_from_slice(&parts.read_buf);
                Self::Bare { stream, ahead, _places: places }
            }
            Err(upgraded) => Self::Wrapped(TokioIo::new(upgraded)),
        }
    }
}

impl AsyncRead for UpgradedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Bare { stream, ahead, .. } if ahead.is_empty() => Pin::new(stream).poll_read(cx, buffer),
            Self::Bare { ahead, .. } => {
                let taken = ahead.split_to(ahead.len().min(buffer.remaining()));
                buffer.put_slice(&taken);
                Poll::Ready(Ok(()))
            }
            Self::Wrapped(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for UpgradedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Bare { stream, .. } => Pin::new(stream).poll_write(cx, bytes),
            Self::Wrapped(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Bare { stream, .. } => Pin::new(stream).poll_write_vectored(cx, parts),
            Self::Wrapped(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Bare { stream, .. } => stream.is_write_vectored(),
            Self::Wrapped(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Bare { stream, .. } => Pin::new(stream).poll_flush(cx),
            Self::Wrapped(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Bare { stream, .. } => Pin::new(stream).poll_shutdown(cx),
            Self::Wrapped(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
