//! Messages of a room or a feed for somebody who only listens, over HTTP: a queue that is cut when it is full.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use crate::protocol::Frame;
use crate::protocol::server::Urgency;
use crate::room::Recipient;

/// Messages that may wait for a reader. At one more the feed ends: who reads so slowly begins anew, with a snapshot.
const WAITING_MAX: usize = 64;

/// The end that rooms and feeds write to.
#[derive(Debug)]
pub struct LineWriter {
    /// `None` once it has ended.
    lines: Mutex<Option<mpsc::Sender<Frame>>>,
    /// Set when it ends from this side.
    cut: CancellationToken,
}

/// The end that is read. Dropping it ends the feed.
#[derive(Debug)]
pub struct LineFeed {
    lines: mpsc::Receiver<Frame>,
    /// Its place among all feeds.
    _place: OwnedSemaphorePermit,
}

impl LineWriter {
    /// Both ends of a feed.
    #[must_use]
    pub fn pair(place: OwnedSemaphorePermit) -> (Arc<Self>, LineFeed) {
        let (sender, lines) = mpsc::channel(WAITING_MAX);
        let writer = Self { lines: Mutex::new(Some(sender)), cut: CancellationToken::new() };
        (Arc::new(writer), LineFeed { lines, _place: place })
    }

    /// Ends the feed; what waits can still be read.
    pub fn end(&self) {
        self.lines().take();
        self.cut.cancel();
    }

    /// Waits until nobody reads any more, or the feed was ended or cut.
    pub async fn ended(&self) {
        let Some(sender) = self.lines().clone() else { return };
        tokio::select! {
            () = sender.closed() => {}
            () = self.cut.cancelled() => {}
        }
    }

    fn lines(&self) -> MutexGuard<'_, Option<mpsc::Sender<Frame>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recipient for LineWriter {
    fn deliver(&self, frame: &Frame, _: Option<&str>, _: Urgency) {
        let is_cut = self.lines().as_ref().is_some_and(|lines| lines.try_send(frame.clone()).is_err());
        if is_cut {
            self.end();
        }
    }

    fn round_trip(&self) -> Duration {
        Duration::ZERO
    }

    fn is_connected(&self) -> bool {
        self.lines().as_ref().is_some_and(|lines| !lines.is_closed())
    }
}

impl LineFeed {
    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Frame> {
        self.lines.recv().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;
    use crate::protocol::ServerMessage;
    use crate::protocol::server::TvFeed;

    async fn pair() -> (Arc<LineWriter>, LineFeed) {
        LineWriter::pair(Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap())
    }

    fn frame() -> Frame {
        ServerMessage::Tv(TvFeed { game: None }).into()
    }

    #[tokio::test]
    async fn who_reads_too_slowly_is_cut_off() {
        let (writer, mut feed) = pair().await;
        for _ in 0..=WAITING_MAX {
            writer.deliver(&frame(), None, Urgency::Droppable);
        }
        assert!(!writer.is_connected());
        let mut read = 0;
        while feed.next().await.is_some() {
            read += 1;
        }
        assert_eq!(read, WAITING_MAX, "what waited is read, then it ends");
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_ends_from_either_end() {
        let (writer, feed) = pair().await;
        assert!(writer.is_connected());
        drop(feed);
        writer.ended().await;
        assert!(!writer.is_connected());
        let (writer, mut feed) = pair().await;
        writer.end();
        writer.ended().await;
        assert!(feed.next().await.is_none());
    }
}
