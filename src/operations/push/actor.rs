//! Looks for what people are to be told who are not on the site, and has their browsers show it.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Pusher;
use super::notice::{News, Notice};
use crate::lobby::ChallengedAway;
use crate::operations::turns::BY_PUSH;
use crate::play::open_turns;
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::storage::Store;
use crate::storage::store::StoreError;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Where it is seen what people are told.
#[derive(Debug)]
pub(crate) struct PushOccasions {
    /// Where the games by correspondence are.
    pub(crate) directory: Directory,
    /// Who is connected, and sees it on the page.
    pub(crate) sessions: Sessions,
    /// Who is challenged and is not.
    pub(crate) challenged: broadcast::Receiver<ChallengedAway>,
}

/// Tells people what they are not there to see.
#[derive(Debug)]
pub(crate) struct PushActor {
    pusher: Pusher,
    store: Arc<dyn Store>,
    seen: PushOccasions,
    news: News,
}

impl Kept for PushActor {
    fn part(&self) -> Part {
        Part::Push
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        let mut look = tokio::time::interval(BY_PUSH.look_every);
        loop {
            let told = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                away = self.seen.challenged.recv() => match away {
                    Ok(away) => self.pusher.tell(&away.to.clone(), &Notice::from(away)).await,
                    Err(broadcast::error::RecvError::Lagged(challenges)) => {
                        info!(challenges, "people who are away were not told of challenges");
                        Ok(())
                    }
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
                _ = look.tick() => self.look().await,
            };
            if let Err(error) = told {
                warn!(%error, "people who are away could not be told something");
            }
        }
    }

    /// What was in hand is not told.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl PushActor {
    pub(crate) fn new(pusher: Pusher, store: Arc<dyn Store>, seen: PushOccasions) -> Self {
        Self { pusher, store, seen, news: News::new() }
    }

    /// Tells what has happened since the last look.
    pub(super) async fn look(&mut self) -> Result<(), StoreError> {
        let games = open_turns::all(&self.seen.directory).await;
        let running = self.store.running_tournaments().await?;
        let sessions = &self.seen.sessions;
        for (player, notice) in self.news.due(games, &running, |player| sessions.is_online(player)) {
            self.pusher.tell(&player, &notice).await?;
        }
        Ok(())
    }
}
