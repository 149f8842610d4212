//! Follows what happens to bots, for whoever wants to be told.

use std::collections::HashSet;
use std::time::Duration;

use fourfold_engine::Side;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Webhooks;
use super::event::Event;
use crate::competition::matchmaker::Troubles;
use crate::model::ids::PlayerId;
use crate::play::host::GameOver;
use crate::storage::store::StoreError;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// How often is looked which bots are paused; the shortest pause is five minutes.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Hears of ends of games and looks for pauses.
#[derive(Debug)]
pub(crate) struct WebhookActor {
    webhooks: Webhooks,
    ends: broadcast::Receiver<GameOver>,
    troubles: Troubles,
    /// Bots that were paused when it was last looked.
    paused: HashSet<PlayerId>,
}

impl Kept for WebhookActor {
    fn part(&self) -> Part {
        Part::Webhooks
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            let told = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                end = self.ends.recv() => match end {
                    Ok(over) => self.tell_of_end(&over).await,
                    Err(broadcast::error::RecvError::Lagged(games)) => {
                        self.webhooks.missed(games);
                        info!(games, "owners of bots were not told of ends of games");
                        Ok(())
                    }
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
                _ = look.tick() => self.tell_of_pauses().await,
            };
            if let Err(error) = told {
                warn!(error = %error, "an owner of a bot could not be told something");
            }
        }
    }

    /// What was in hand is not told.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl WebhookActor {
    pub(crate) fn new(webhooks: Webhooks, ends: broadcast::Receiver<GameOver>, troubles: Troubles) -> Self {
        Self { webhooks, ends, troubles, paused: HashSet::new() }
    }

    async fn tell_of_end(&self, over: &GameOver) -> Result<(), StoreError> {
        for side in Side::BOTH {
            if let Some(owner) = &over.public.players[side].identity.owner {
                self.webhooks.tell(owner, &Event::end(over, side)).await?;
            }
        }
        Ok(())
    }

    /// Tells owners of bots that were not paused when it was last looked.
    async fn tell_of_pauses(&mut self) -> Result<(), StoreError> {
        let paused = self.troubles.paused();
        let now = paused.iter().map(|(bot, _)| bot.clone()).collect();
        let before = std::mem::replace(&mut self.paused, now);
        for (bot, trouble) in paused.into_iter().filter(|(bot, _)| !before.contains(bot)) {
            let Some(bot) = self.webhooks.inner.deps.store.player(&bot).await? else { continue };
            if let Some(owner) = &bot.owner {
                self.webhooks.tell(owner, &Event::paused(bot.name, trouble)).await?;
            }
        }
        Ok(())
    }
}
