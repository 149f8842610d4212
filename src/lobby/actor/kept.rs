//! How the lobby goes on after a panic: without its seeks and offers, of which it tells those who made them, but with
//! the links that are stored.

use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::seeks::OfferedBots;
use super::{LobbyActor, Pool, RETRY, now};
use crate::lobby::handle::LobbyCommand;
use crate::play::incident::failure;
use crate::protocol::server::{ChallengeOutcome, ServerMessage};
use crate::protocol::{ErrorCode, WireError};
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

impl Kept for LobbyActor {
    fn part(&self) -> Part {
        Part::Lobby
    }

    async fn run(&mut self, _stop: &CancellationToken) -> Result<(), BoxedError> {
        // As long as anybody asks: whoever does while the daemon stops is told so by the host.
        self.work().await;
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), BoxedError> {
        if let Some(reply) = self.answering.take() {
            reply.send(&failure("the lobby has failed", &LobbyPanicked).into());
        }
        let seekers = std::mem::take(&mut self.seekers);
        self.pool = Pool::new(now());
        self.offered_bots = OfferedBots::default();
        let challenges = std::mem::take(&mut self.challenges);
        self.deps.feeds.set_seeks(Vec::new());
        for seeker in seekers.into_values() {
            // Nobody asked, so it belongs to no request.
            let error = failure("the lobby has failed: your seek is gone, seek again", &LobbyPanicked);
            seeker.session.tell(ServerMessage::Error(Box::new(error)));
        }
        let offers = challenges.into_open().filter(|challenge| challenge.to.is_some());
        for challenge in offers {
            self.end(&challenge, ChallengeOutcome::Canceled, None);
        }
        // What cannot be read now is there at the next start.
        if let Err(error) = self.take_up_links().await {
            warn!(error = %error, "open challenges could not be taken up");
        }
        Ok(())
    }

    async fn turn_away(&mut self) {
        // What has no answer concerns seeks and offers, of which there are none.
        while let Some(command) = self.inbox.recv().await {
            if let LobbyCommand::Ask { reply, .. } = command {
                let error = WireError::new(ErrorCode::Busy, "the lobby has failed and pauses");
                reply.send(&error.retry_in(RETRY).into());
            }
        }
    }
}

/// The cause as far as it is known here; the panic hook has logged the rest just before.
#[derive(Debug, Error)]
#[error("the lobby panicked")]
struct LobbyPanicked;
