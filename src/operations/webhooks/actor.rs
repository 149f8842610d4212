//! Follows what happens to bots, for whoever wants to be told.

use fourfold_engine::Side;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Webhooks;
use super::event::Event;
use crate::competition::matchmaker::Troubles;
use crate::competition::matchmaker::troubles::Pauses;
use crate::play::host::GameOver;
use crate::storage::store::StoreError;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Hears of ends of games and looks for pauses.
#[derive(Debug)]
pub(crate) struct WebhookActor {
    webhooks: Webhooks,
    ends: broadcast::Receiver<GameOver>,
    pauses: Pauses,
}

impl Kept for WebhookActor {
    fn part(&self) -> Part {
        Part::Webhooks
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        let mut look = tokio::time::interval(Pauses::LOOK_EVERY);
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
        Self { webhooks, ends, pauses: Pauses::new(troubles) }
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
        for (bot, trouble) in self.pauses.new_ones() {
            let Some(bot) = self.webhooks.inner.deps.store.player(&bot).await? else { continue };
            if let Some(owner) = &bot.owner {
                self.webhooks.tell(owner, &Event::paused(bot.name, trouble)).await?;
            }
        }
        Ok(())
    }
}
