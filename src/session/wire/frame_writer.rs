//! Writes messages past the codec: all that waits is put into one buffer of the thread, as frames, and goes to the
//! socket from there.
//!
//! Through the codec each message was copied into memory of its own and from there into the codec's buffer, which each
//! connection then kept at the length of its first message, the longest. What the socket does not take is kept here
//! until it does, and the codec, which still writes pings and all that ends a connection, waits for it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::protocol::server::NumberedText;

/// Puts a message behind others, as one frame.
pub(super) fn put_text(frames: &mut Vec<u8>, text: &NumberedText<'_>) {
    let header = FrameHeader { opcode: OpCode::Data(Data::Text), mask: None, ..FrameHeader::default() };
    // Memory takes all, and a text frame has no limit.
    let _ = header.format(text.len() as u64, frames);
    text.put(frames);
}

/// A stream to which whole frames are written besides what the codec writes.
#[derive(Debug)]
pub(super) struct FrameWriter<S> {
    stream: S,
    /// Of whole frames what the peer has not taken yet. Holds no memory when it is empty.
    left: Vec<u8>,
    /// Something was written and not flushed.
    is_unflushed: bool,
    /// The codec's last write left something, so that what comes next must be the rest of it.
    codec_has_rest: bool,
}

impl<S> FrameWriter<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, left: Vec::new(), is_unflushed: false, codec_has_rest: false }
    }

    /// Whether the codec may be within a frame. Then it has to be flushed before others are written.
    pub(super) fn codec_has_rest(&self) -> bool {
        self.codec_has_rest
    }
}

impl<S: AsyncWrite + Unpin> FrameWriter<S> {
    /// Writes what is left, and flushes it.
    pub(super) fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.left.is_empty() {
            let mut written = 0;
            let result = poll_all(&mut self.stream, cx, &self.left, &mut written);
            self.is_unflushed |= written > 0;
            self.left.drain(..written);
            ready!(result)?;
            self.left = Vec::new();
        }
        if self.is_unflushed {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes frames and flushes them. They are taken either way: what the peer does not take now is kept. Nothing may
    /// be left of earlier ones.
    pub(super) fn poll_frames(&mut self, cx: &mut Context<'_>, frames: &[u8]) -> Poll<io::Result<()>> {
        debug_assert!(self.left.is_empty() && !self.codec_has_rest);
        let mut written = 0;
        let result = poll_all(&mut self.stream, cx, frames, &mut written);
        self.is_unflushed |= written > 0;
        if result.is_pending() {
            self.left = frames[written..].to_vec();
        }
        ready!(result)?;
        self.poll_left(cx)
    }
}

/// Writes it all, and counts what was written until the peer took no more.
fn poll_all<S: AsyncWrite + Unpin>(
    stream: &mut S,
    cx: &mut Context<'_>,
    bytes: &[u8],
    written: &mut usize,
) -> Poll<io::Result<()>> {
    while *written < bytes.len() {
        match ready!(Pin::new(&mut *stream).poll_write(cx, &bytes[*written..]))? {
            0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            more => *written += more,
        }
    }
    Poll::Ready(Ok(()))
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameWriter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

/// What the codec writes.
impl<S: AsyncWrite + Unpin> AsyncWrite for FrameWriter<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_left(cx))?;
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.codec_has_rest = written < bytes.len();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_left(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_left(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn frames(bodies: &[&str]) -> Vec<u8> {
        let mut frames = Vec::new();
        for (seq, body) in (1..).zip(bodies) {
            put_text(&mut frames, &NumberedText::new(body, seq, None));
        }
        frames
    }

    #[test]
    fn a_message_is_one_frame_with_the_shortest_length() {
        assert_eq!(frames(&["{\"n\":1}"]), b"\x81\x0f{\"seq\":1,\"n\":1}");
        for (length, header) in
            [(125, vec![0x81, 125]), (126, vec![0x81, 126, 0, 126]), (65_535, vec![0x81, 126, 0xff, 0xff])]
        {
            let body = format!("{{{}", "x".repeat(length - "{\"seq\":1,".len()));
            let frame = frames(&[&body]);
            assert_eq!((&frame[..header.len()], frame.len()), (&header[..], header.len() + length));
        }
    }

    #[tokio::test]
    async fn what_the_peer_does_not_take_is_kept_and_goes_before_the_codec() {
        let (ours, mut theirs) = tokio::io::duplex(10);
        let mut writer = FrameWriter::new(ours);
        let mut cx = Context::from_waker(Waker::noop());
        let all = frames(&["{\"n\":1}", "{\"n\":2}"]);
        assert!(writer.poll_frames(&mut cx, &all).is_pending());
        assert_eq!(writer.left.len(), all.len() - 10);
        assert!(Pin::new(&mut writer).poll_write(&mut cx, b"ping").is_pending(), "it waits");
        let mut read = vec![0; all.len() + 4];
        let reading = async { theirs.read_exact(&mut read).await.unwrap() };
        let writing = async {
            writer.write_all(b"ping").await.unwrap();
            writer.flush().await.unwrap();
        };
        tokio::join!(reading, writing);
        assert_eq!(read, [&all[..], b"ping"].concat());
        assert_eq!(writer.left.capacity(), 0, "it holds no memory");
    }

    #[tokio::test]
    async fn it_knows_whether_the_codec_is_within_a_frame() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let mut writer = FrameWriter::new(ours);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(Pin::new(&mut writer).poll_write(&mut cx, b"abcdef"), Poll::Ready(Ok(4))));
        assert!(writer.codec_has_rest());
        assert!(Pin::new(&mut writer).poll_write(&mut cx, b"ef").is_pending());
        assert!(writer.codec_has_rest(), "still");
        let mut read = [0; 4];
        theirs.read_exact(&mut read).await.unwrap();
        writer.write_all(b"ef").await.unwrap();
        assert!(!writer.codec_has_rest());
    }

    #[tokio::test]
    async fn a_peer_that_is_gone_is_an_error() {
        let (ours, theirs) = tokio::io::duplex(4);
        drop(theirs);
        let mut writer = FrameWriter::new(ours);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(writer.poll_frames(&mut cx, b"abcdef"), Poll::Ready(Err(_))));
    }
}
