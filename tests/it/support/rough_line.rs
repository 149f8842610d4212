//! A line between clients and the daemon that delays frames, sends moves twice, loses the last frames before it breaks,
//! and closes one direction only. Chance comes from a seed: the same fates in the same order for each connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Of a thousand frames so many are delayed, by at most [`DELAY_MS_MAX`].
const DELAYED: u32 = 100;
const DELAY_MS_MAX: u64 = 60;
/// So many moves come twice.
const DOUBLED: u32 = 200;
/// With so many the line breaks, and nobody knows whether they arrived: half of them do.
const CUT: u32 = 12;
/// After so many, this direction is closed and the other one goes on.
const HALF_CLOSED: u32 = 4;

/// How often the line did what.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    pub(crate) delayed: AtomicU64,
    pub(crate) doubled: AtomicU64,
    pub(crate) cut: AtomicU64,
    pub(crate) half_closed: AtomicU64,
}

/// The line, as long as it lives.
pub(crate) struct RoughLine {
    pub(crate) address: SocketAddr,
    pub(crate) fates: Arc<Fates>,
    _task: AbortOnDropHandle<()>,
}

impl RoughLine {
    /// A line to the daemon.
    pub(crate) async fn start(daemon: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let fates = Arc::new(Fates::default());
        let task = tokio::spawn(carry_all(listener, daemon, seed, Arc::clone(&fates)));
        Self { address, fates, _task: AbortOnDropHandle::new(task) }
    }
}

async fn carry_all(listener: TcpListener, daemon: SocketAddr, seed: u64, fates: Arc<Fates>) {
    for connection in 0.. {
        let (near, _) = listener.accept().await.unwrap();
        let Ok(far) = TcpStream::connect(daemon).await else { continue };
        let (from_client, to_client) = near.into_split();
        let (from_server, to_server) = far.into_split();
        let cut = CancellationToken::new();
        let direction = |stream: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(2 * connection + stream);
            Direction { rng, cut: cut.clone(), fates: Arc::clone(&fates), frames: 0 }
        };
        tokio::spawn(direction(0).carry(from_client, to_server));
        tokio::spawn(direction(1).carry(from_server, to_client));
    }
}

/// One direction of one connection.
struct Direction {
    rng: ChaCha8Rng,
    cut: CancellationToken,
    fates: Arc<Fates>,
    frames: u64,
}

/// What becomes of the direction after a frame.
#[derive(PartialEq, Eq)]
enum After {
    GoesOn,
    Ends,
}

impl Direction {
    /// Both ends of this direction are dropped with it, which closes it; a cut ends the other one too.
    async fn carry(mut self, from: impl AsyncRead + Unpin, to: impl AsyncWrite + Unpin) {
        let cut = self.cut.clone();
        // An end that is gone is an end like any other.
        let _ = cut.run_until_cancelled(self.carry_frames(from, to)).await;
    }

    async fn carry_frames(
        &mut self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut is_upgraded = false;
        loop {
            while let Some(length) = next_piece(&bytes, is_upgraded) {
                let piece: Vec<u8> = bytes.drain(..length).collect();
                if !is_upgraded {
                    is_upgraded = true;
                    to.write_all(&piece).await?;
                } else if self.pass(&piece, &mut to).await? == After::Ends {
                    return to.shutdown().await;
                }
            }
            if from.read_buf(&mut bytes).await? == 0 {
                return to.shutdown().await;
            }
        }
    }

    /// `hello`, `welcome` and control frames have no other fate than to arrive: or else nobody would get on.
    async fn pass(&mut self, frame: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> io::Result<After> {
        self.frames += 1;
        let is_control = frame[0] & 0x08 != 0;
        if is_control || self.frames == 1 {
            to.write_all(frame).await?;
            return Ok(After::GoesOn);
        }
        if self.rng.random_range(0..1_000) < DELAYED {
            self.fates.delayed.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(self.rng.random_range(1..=DELAY_MS_MAX))).await;
        }
        if self.rng.random_range(0..1_000) < CUT {
            self.fates.cut.fetch_add(1, Ordering::Relaxed);
            if self.rng.random() {
                to.write_all(frame).await?;
                to.flush().await?;
            }
            self.cut.cancel();
            return Ok(After::Ends);
        }
        to.write_all(frame).await?;
        if is_move(frame) && self.rng.random_range(0..1_000) < DOUBLED {
            self.fates.doubled.fetch_add(1, Ordering::Relaxed);
            to.write_all(frame).await?;
        }
        if self.rng.random_range(0..1_000) < HALF_CLOSED {
            self.fates.half_closed.fetch_add(1, Ordering::Relaxed);
            return Ok(After::Ends);
        }
        Ok(After::GoesOn)
    }
}

/// The length of the header of the upgrade, or of the next frame, once all of it is there.
fn next_piece(bytes: &[u8], is_upgraded: bool) -> Option<usize> {
    if !is_upgraded {
        return bytes.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4);
    }
    let (header, payload) = frame_lengths(bytes)?;
    (bytes.len() >= header + payload).then_some(header + payload)
}

/// The lengths of a frame's header, its mask included, and of its payload.
fn frame_lengths(bytes: &[u8]) -> Option<(usize, usize)> {
    let second = *bytes.get(1)?;
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    match second & 0x7f {
        126 => Some((4 + mask, u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?).into())),
        127 => {
            Some((10 + mask, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?))
        }
        short => Some((2 + mask, short.into())),
    }
}

/// Whether a frame of a client is a move.
fn is_move(frame: &[u8]) -> bool {
    let Some((header, _)) = frame_lengths(frame).filter(|_| frame[1] & 0x80 != 0) else { return false };
    let (mask, payload) = (&frame[header - 4..header], &frame[header..]);
    let text: Vec<u8> = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    text.windows(13).any(|word| word == br#""type":"move""#)
}
