//! Messages of a room or a feed for somebody who only listens, over HTTP: a queue that is cut when it is full.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::model::ids::{GameId, PlayerId};
use crate::model::world::chance;
use crate::play::feeds::Feeds;
use crate::play::room::handle::ReplyTo;
use crate::play::room::{Directory, MemberId, Recipient};
use crate::protocol::Frame;
use crate::protocol::client::Feed;
use crate::protocol::server::Urgency;
use crate::system::tasks::Tasks;

/// Messages that may wait for a reader. At one more the feed ends: who reads so slowly begins anew, with a snapshot.
const WAITING_MAX: usize = 64;

/// Feeds at a time. Each holds a connection for as long as somebody listens; one more is turned away.
const FEEDS_MAX: usize = 256;

/// What a feed is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FeedOf {
    /// One game in progress: a snapshot, then all that watchers see, up to its end.
    Game(GameId),
    /// Every game that ends.
    Results,
}

/// Why there is no feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoFeed {
    /// The game is not in progress.
    NotLive,
    /// There are as many as there may be.
    TooMany,
}

/// Opens feeds. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct LineFeeds {
    directory: Directory,
    feeds: Feeds,
    places: Arc<Semaphore>,
    /// Own what follows each feed to its end.
    tasks: Tasks,
    stop: CancellationToken,
}

impl LineFeeds {
    /// Feeds of these games and results, until `stop`.
    pub(crate) fn new(directory: Directory, feeds: Feeds, tasks: Tasks, stop: CancellationToken) -> Self {
        Self { directory, feeds, places: Arc::new(Semaphore::new(FEEDS_MAX)), tasks, stop }
    }

    /// Messages as they come, for a reader that keeps up.
    ///
    /// # Errors
    ///
    /// The game is not in progress, or there are too many feeds.
    pub(crate) fn follow(&self, what: &FeedOf) -> Result<LineFeed, NoFeed> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| NoFeed::TooMany)?;
        let (writer, feed) = LineWriter::pair(place);
        let (member, recipient) = (MemberId::next(), Arc::clone(&writer) as Arc<dyn Recipient>);
        let room = match what {
            FeedOf::Game(game) => {
                let is_live = self.directory.public(game).is_some_and(|public| !public.is_over());
                let room = self.directory.room(game).filter(|_| is_live).ok_or(NoFeed::NotLive)?;
                // Whoever asks watches as nobody: also a player sees what all see.
                let nobody = PlayerId::random(&mut chance());
                room.watch(nobody, ReplyTo { member, recipient, re: None });
                Some(room)
            }
            FeedOf::Results => {
                self.feeds.subscribe(Feed::Results, member, recipient);
                None
            }
        };
        let (feeds, stop) = (self.feeds.clone(), self.stop.clone());
        let cut = Arc::clone(&writer);
        let followed = async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = writer.ended() => {}
            }
            match room {
                Some(room) => room.unwatch(member).await,
                None => feeds.unsubscribe(Feed::Results, member),
            }
            writer.end();
        };
        self.tasks.spawn_or(followed, async move { cut.end() });
        Ok(feed)
    }
}

/// The end that rooms and feeds write to.
#[derive(Debug)]
pub(crate) struct LineWriter {
    /// `None` once it has ended.
    lines: Mutex<Option<mpsc::Sender<Frame>>>,
    /// Set when it ends from this side.
    cut: CancellationToken,
}

/// The end that is read. Dropping it ends the feed.
#[derive(Debug)]
pub(crate) struct LineFeed {
    lines: mpsc::Receiver<Frame>,
    /// Its place among all feeds.
    _place: OwnedSemaphorePermit,
}

impl LineWriter {
    /// Both ends of a feed.
    pub(crate) fn pair(place: OwnedSemaphorePermit) -> (Arc<Self>, LineFeed) {
        let (sender, lines) = mpsc::channel(WAITING_MAX);
        let writer = Self { lines: Mutex::new(Some(sender)), cut: CancellationToken::new() };
        (Arc::new(writer), LineFeed { lines, _place: place })
    }

    /// Ends the feed; what waits can still be read.
    pub(crate) fn end(&self) {
        self.lines().take();
        self.cut.cancel();
    }

    /// Waits until nobody reads any more, or the feed was ended or cut.
    pub(crate) async fn ended(&self) {
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
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        self.lines.recv().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ServerMessage;
    use crate::protocol::server::TvFeed;
    use crate::system::part::Part;
    use crate::testing::{Arena, kind};

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

    fn feeds(arena: &Arena, places: usize) -> LineFeeds {
        let services = &arena.services;
        let (directory, following) = (services.directory.clone(), services.feeds.clone());
        let tasks = Tasks::for_tests(Part::Feeds);
        let feeds = LineFeeds::new(directory, following, tasks, CancellationToken::new());
        LineFeeds { places: Arc::new(Semaphore::new(places)), ..feeds }
    }

    async fn until(feed: &mut LineFeed, wanted: &str) -> ServerMessage {
        loop {
            let frame = feed.next().await.expect("it goes on");
            if kind(frame.message()) == wanted {
                return frame.message().clone();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_follows_a_game_and_another_the_results() {
        let arena = Arena::new().await;
        let (ann, bob) = (arena.person("ann").await, arena.person("bob").await);
        let (first, _second) = (arena.join(&ann).await, arena.join(&bob).await);
        let game = arena.start(&ann.identity, &bob.identity).await;
        arena.settle().await;
        let feeds = feeds(&arena, 2);
        let mut one = feeds.follow(&FeedOf::Game(game.clone())).unwrap();
        let mut all = feeds.follow(&FeedOf::Results).unwrap();
        assert_eq!(feeds.follow(&FeedOf::Results).unwrap_err(), NoFeed::TooMany);
        let ServerMessage::Game(snapshot) = until(&mut one, "game").await else { panic!("a snapshot") };
        assert_eq!((snapshot.game, snapshot.moves.as_str()), (game.clone(), ""));
        first.play(&game, 0, 4).await;
        until(&mut one, "moved").await;
        first.resign(&game).await;
        until(&mut one, "game_end").await;
        until(&mut all, "result").await;
        drop((one, all));
        let over = feeds.follow(&FeedOf::Game(game)).unwrap_err();
        assert_eq!(over, NoFeed::NotLive, "and there is a place again");
    }

    #[tokio::test(start_paused = true)]
    async fn feeds_end_with_the_daemon() {
        let arena = Arena::new().await;
        let feeds = feeds(&arena, 1);
        let mut all = feeds.follow(&FeedOf::Results).unwrap();
        assert_eq!(feeds.tasks.len(), 1, "a panic there is counted");
        feeds.stop.cancel();
        assert!(all.next().await.is_none());
        feeds.tasks.close();
        feeds.tasks.wait().await;
    }
}
