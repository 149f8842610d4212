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

/// A stream that holds its places as long as it lives.
#[derive(Debug)]
pub(super) struct UpgradedStream {
    carrier: Carrier,
    /// That of a client whom a proxy has named in the request.
    _share: Option<ConnectionPlace>,
}

/// One type for both kinds, so that what serves a socket is compiled once.
#[derive(Debug)]
enum Carrier {
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
    pub(super) fn of(upgraded: Upgraded, share: Option<ConnectionPlace>) -> Self {
        Self { carrier: Carrier::of(upgraded), _share: share }
    }
}

impl Carrier {
    fn of(upgraded: Upgraded) -> Self {
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
        match &mut self.get_mut().carrier {
            Carrier::Bare { stream, ahead, .. } if ahead.is_empty() => Pin::new(stream).poll_read(cx, buffer),
            Carrier::Bare { ahead, .. } => {
                let taken = ahead.split_to(ahead.len().min(buffer.remaining()));
                buffer.put_slice(&taken);
                Poll::Ready(Ok(()))
            }
            Carrier::Wrapped(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for UpgradedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().carrier {
            Carrier::Bare { stream, .. } => Pin::new(stream).poll_write(cx, bytes),
            Carrier::Wrapped(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().carrier {
            Carrier::Bare { stream, .. } => Pin::new(stream).poll_write_vectored(cx, parts),
            Carrier::Wrapped(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.carrier {
            Carrier::Bare { stream, .. } => stream.is_write_vectored(),
            Carrier::Wrapped(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().carrier {
            Carrier::Bare { stream, .. } => Pin::new(stream).poll_flush(cx),
            Carrier::Wrapped(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().carrier {
            Carrier::Bare { stream, .. } => Pin::new(stream).poll_shutdown(cx),
            Carrier::Wrapped(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
