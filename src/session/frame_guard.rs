//! Watches the frames of a WebSocket as they are read, and stops a peer that sends too many of them.
//!
//! The codec bounds the size of a message, but not the number of its frames: empty continuation frames could keep a
//! message open for ever. And it answers every ping. So this stream, which lies between the socket and the codec,
//! follows the frame headers with the codec's own parser and fails the read when a limit is broken. Whatever else is
//! wrong with a frame is left for the codec to find.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::system::shares::credits::{Budget, Credits};

/// Frames of one message. Nobody splits 4 KiB into more.
const FRAMES_PER_MESSAGE_MAX: u32 = 32;
/// Pings and pongs of a client in [`PING_PERIOD`]: its answers to ours are one in ten seconds.
const PINGS_MAX: u32 = 5;
/// See [`PINGS_MAX`].
const PING_PERIOD: Duration = Duration::from_secs(1);
const PINGS: Budget = Budget::new(PINGS_MAX, PING_PERIOD);
/// The longest frame header: opcode and length byte, eight bytes of length, four of mask.
const HEADER_BYTES_MAX: usize = 14;

/// A limit on frames that was broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum Breach {
    /// A message in more than `FRAMES_PER_MESSAGE_MAX` frames.
    #[error("more than {FRAMES_PER_MESSAGE_MAX} frames in one message")]
    Fragments,
    /// More than `PINGS_MAX` pings a second.
    #[error("more than {PINGS_MAX} pings a second")]
    Pings,
}

/// Follows frame headers through bytes that come in pieces of any size.
#[derive(Clone, Debug)]
struct FrameCounter {
    /// The beginning of a header that was cut.
    header: [u8; HEADER_BYTES_MAX],
    /// How much of it is there.
    header_bytes: usize,
    /// Payload still to be passed over.
    payload_bytes: u64,
    /// Frames of the message that is open.
    frames: u32,
    pings: Credits,
    /// A header was no header: the codec will end the connection, and there is nothing left to follow.
    lost: bool,
}

impl FrameCounter {
    fn new() -> Self {
        Self {
            header: [0; HEADER_BYTES_MAX],
            header_bytes: 0,
            payload_bytes: 0,
            frames: 0,
            pings: Credits::default(),
            lost: false,
        }
    }

    /// Takes in what was read.
    fn follow(&mut self, mut bytes: &[u8], now: impl Fn() -> Instant) -> Result<(), Breach> {
        while !bytes.is_empty() && !self.lost {
            if self.payload_bytes > 0 {
                let passed = usize::try_from(self.payload_bytes).unwrap_or(usize::MAX).min(bytes.len());
                self.payload_bytes -= passed as u64;
                bytes = &bytes[passed..];
            } else if let Some(header) = self.take_header(&mut bytes) {
                self.count(&header, &now)?;
            }
        }
        Ok(())
    }

    /// Takes the next header off `bytes`, or keeps its beginning for later.
    fn take_header(&mut self, bytes: &mut &[u8]) -> Option<FrameHeader> {
        let kept = self.header_bytes;
        let taken = bytes.len().min(HEADER_BYTES_MAX - kept);
        self.header[kept..kept + taken].copy_from_slice(&bytes[..taken]);
        let mut cursor = Cursor::new(&self.header[..kept + taken]);
        match FrameHeader::parse(&mut cursor) {
            Ok(Some((header, payload_bytes))) => {
                let used = usize::try_from(cursor.position()).unwrap_or(HEADER_BYTES_MAX);
                *bytes = &bytes[used.saturating_sub(kept).min(taken)..];
                self.header_bytes = 0;
                self.payload_bytes = payload_bytes;
                Some(header)
            }
            Ok(None) if kept + taken < HEADER_BYTES_MAX => {
                *bytes = &bytes[taken..];
                self.header_bytes = kept + taken;
                None
            }
            Ok(None) | Err(_) => {
                self.lost = true;
                None
            }
        }
    }

    fn count(&mut self, header: &FrameHeader, now: &impl Fn() -> Instant) -> Result<(), Breach> {
        match header.opcode {
            OpCode::Control(Control::Ping | Control::Pong) => {
                self.pings.spend(PINGS, now()).map_err(|_| Breach::Pings)
            }
            OpCode::Control(_) => Ok(()),
            OpCode::Data(kind) => {
                self.frames = if matches!(kind, Data::Continue) { self.frames + 1 } else { 1 };
                if self.frames > FRAMES_PER_MESSAGE_MAX {
                    return Err(Breach::Fragments);
                }
                if header.is_final {
                    self.frames = 0;
                }
                Ok(())
            }
        }
    }
}

/// A stream whose reads fail with a [`Breach`] inside the `io::Error` when the peer breaks a limit on frames.
#[derive(Debug)]
pub(crate) struct FrameGuard<S> {
    stream: S,
    counter: FrameCounter,
}

impl<S> FrameGuard<S> {
    /// Guards a stream that begins with the first frame.
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, counter: FrameCounter::new() }
    }

    /// The stream without the guard, for when frames no longer matter.
    pub(crate) fn unguarded(&mut self) -> &mut S {
        &mut self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let now = || tokio::time::Instant::now().into_std();
        Poll::Ready(self.counter.follow(&buf.filled()[before..], now).map_err(io::Error::other))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FrameGuard<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: u8 = 0x81;
    const TEXT_OPEN: u8 = 0x01;
    const MORE: u8 = 0x00;
    const LAST: u8 = 0x80;
    const PING: u8 = 0x89;
    const PONG: u8 = 0x8a;

    /// A masked frame with `length` bytes of payload.
    fn frame(first: u8, length: usize) -> Vec<u8> {
        let mut bytes = vec![first];
        match length {
            0..=125 => bytes.push(0x80 | u8::try_from(length).unwrap()),
            126..=0xffff => {
                bytes.push(0xfe);
                bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(0xff);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend([1, 2, 3, 4]);
        bytes.extend(std::iter::repeat_n(TEXT_OPEN, length));
        bytes
    }

    fn follow(bytes: &[u8], piece: usize) -> Result<(), Breach> {
        let now = Instant::now();
        let mut counter = FrameCounter::new();
        bytes.chunks(piece).try_for_each(|piece| counter.follow(piece, || now))
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<(), Breach>) {
        for piece in [1, 2, 3, 5, 13, 14, 15, 4_096, usize::MAX / 2] {
            assert_eq!(follow(bytes, piece), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn the_thirty_third_frame_of_a_message_is_one_too_many() {
        let message = |continued: usize| {
            [frame(TEXT_OPEN, 3), frame(MORE, 0).repeat(continued), frame(LAST, 1)].concat()
        };
        check(&message(30).repeat(3), Ok(()));
        check(&message(31), Err(Breach::Fragments));
    }

    #[test]
    fn many_messages_of_one_frame_are_no_breach_at_any_length() {
        let bytes = [0, 1, 125, 126, 4_000, 70_000].map(|length| frame(TEXT, length)).concat();
        check(&bytes.repeat(40), Ok(()));
    }

    #[test]
    fn the_sixth_ping_of_a_second_is_one_too_many_and_pongs_count() {
        check(&frame(PING, 4).repeat(5), Ok(()));
        check(&frame(PING, 4).repeat(6), Err(Breach::Pings));
        check(&[frame(PING, 0).repeat(3), frame(PONG, 8).repeat(3)].concat(), Err(Breach::Pings));
    }

    #[test]
    fn pings_between_the_frames_of_a_message_do_not_close_it() {
        let bytes =
            [frame(TEXT_OPEN, 1), frame(MORE, 0).repeat(16), frame(PING, 0), frame(MORE, 0).repeat(16)];
        check(&bytes.concat(), Err(Breach::Fragments));
    }

    #[test]
    fn a_frame_of_two_to_the_62_is_passed_over_without_overflow() {
        let mut bytes = vec![TEXT, 0xff];
        bytes.extend((1_u64 << 62).to_be_bytes());
        bytes.extend([0; 64]);
        check(&bytes, Ok(()));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_verdict(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            piece in 1_usize..50,
        ) {
            prop_assert_eq!(follow(&bytes, piece), follow(&bytes, usize::MAX / 2));
        }
    }
}
