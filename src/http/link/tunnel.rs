//! One client's bytes on a link: a stream of HTTP/2 that is read and written as a connection is.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Where bytes come from.
#[derive(Debug)]
enum Receiving {
    /// The other side has yet to say that it takes the tunnel; what is sent meanwhile waits there.
    Asked(ResponseFuture),
    Open(RecvStream),
}

/// Carries one client's bytes both ways. When it is dropped, the other side can write no more, and reads the end; after
/// all that was written, if this is the end that took the tunnel.
#[derive(Debug)]
pub(in crate::http) struct Tunnel {
    sending: SendStream<Bytes>,
    receiving: Receiving,
    /// What has come and was not read yet, and how much it was at first: so much may be sent again once it is read.
    came: Bytes,
    came_bytes: usize,
}

impl Tunnel {
    pub(super) fn new(sending: SendStream<Bytes>, receiving: RecvStream) -> Self {
        Self { sending, receiving: Receiving::Open(receiving), came: Bytes::new(), came_bytes: 0 }
    }

    pub(super) fn asked_for(sending: SendStream<Bytes>, answer: ResponseFuture) -> Self {
        Self { sending, receiving: Receiving::Asked(answer), came: Bytes::new(), came_bytes: 0 }
    }

    /// The first byte of what comes next, which stays to be read; none at the end.
    pub(in crate::http) async fn peek(&mut self) -> io::Result<Option<u8>> {
        std::future::poll_fn(|cx| self.poll_filled(cx)).await?;
        Ok(self.came.first().copied())
    }

    /// Waits until there is something to read, or nothing more will come.
    fn poll_filled(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.came.is_empty() {
            let receiving = ready!(self.poll_open(cx))?;
            match ready!(receiving.poll_data(cx)) {
                Some(Ok(came)) => {
                    self.came_bytes = came.len();
                    self.came = came;
                }
                Some(Err(error)) => return Poll::Ready(end_or_error(error)),
                None => return Poll::Ready(Ok(())),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&mut RecvStream>> {
        if let Receiving::Asked(answer) = &mut self.receiving {
            let answer = ready!(Pin::new(answer).poll(cx)).map_err(io_error)?;
            self.receiving = Receiving::Open(answer.into_body());
        }
        match &mut self.receiving {
            Receiving::Open(receiving) => Poll::Ready(Ok(receiving)),
            Receiving::Asked(_) => Poll::Pending,
        }
    }

    /// What has come was read: as much may come again.
    fn make_room(&mut self) {
        if let Receiving::Open(receiving) = &mut self.receiving {
            // It fails only for more than has come.
            let _ = receiving.flow_control().release_capacity(std::mem::take(&mut self.came_bytes));
        }
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_filled(cx))?;
        if !self.came.is_empty() {
            let taken = self.came.len().min(buffer.remaining());
            buffer.put_slice(&self.came[..taken]);
            self.came.advance(taken);
            if self.came.is_empty() {
                self.make_room();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.sending.reserve_capacity(bytes.len());
        let room = loop {
            // What is there needs no wake-up; asking for it would wait for a change.
            match self.sending.capacity() {
                0 => match ready!(self.sending.poll_capacity(cx)) {
                    Some(room) => drop(room.map_err(io_error)?),
                    None => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
                },
                room => break room.min(bytes.len()),
            }
        };
        let sent = self.sending.send_data(Bytes::copy_from_slice(&bytes[..room]), false);
        Poll::Ready(sent.map(|()| room).map_err(io_error))
    }

    /// The link writes as soon as it can, for all tunnels together.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Whether it was ended before or the other side is gone: nothing more will be sent.
        let _ = self.sending.send_data(Bytes::new(), true);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Tunnel {
    /// Says that nothing more comes. Without that the library would take the stream for given up at the end that took
    /// it, and throw away what was not sent yet.
    fn drop(&mut self) {
        let _ = self.sending.send_data(Bytes::new(), true);
    }
}

/// The other side has dropped its end, which is the end of what it said; or something is wrong.
fn end_or_error(error: h2::Error) -> io::Result<()> {
    match error.reason() {
        Some(Reason::NO_ERROR | Reason::CANCEL) => Ok(()),
        _ => Err(io_error(error)),
    }
}

fn io_error(error: h2::Error) -> io::Error {
    match error.reason() {
        Some(Reason::NO_ERROR | Reason::CANCEL | Reason::STREAM_CLOSED) => {
            io::Error::new(io::ErrorKind::BrokenPipe, error)
        }
        _ if error.is_io() => error.into_io().unwrap_or_else(|| io::ErrorKind::ConnectionReset.into()),
        _ => io::Error::new(io::ErrorKind::ConnectionReset, error),
    }
}
