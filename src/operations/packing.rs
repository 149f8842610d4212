//! Logs of finished games are packed soon after their end, a few games at a time: see
//! [`crate::storage::forgetting`].

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::rounds::look_every;
use crate::storage::store::Write;
use crate::storage::{Store, StoreError, Writer};

/// How often it is looked for games that have ended.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Games of one write: some hundred rows are deleted, so that a move waits for it a few milliseconds at most.
const GAMES: u32 = 20;

/// Between two writes. A default ladder ends eight games a second; those of a million games from before are packed in
/// an hour and a half.
const PAUSE: Duration = Duration::from_millis(100);

/// Packs them.
#[derive(Clone, Debug)]
pub(crate) struct Packer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
}

impl Packer {
    /// Runs until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        look_every(LOOK_EVERY, &stop, || self.look()).await;
    }

    async fn look(&self) {
        if let Err(error) = self.pack_all().await {
            warn!(%error, "logs of finished games cannot be packed now");
        }
    }

    /// Goes on until none is left; after how many writes.
    async fn pack_all(&self) -> Result<u64, StoreError> {
        let mut writes = 0;
        while let Some(packing) = self.store.next_packing(GAMES).await? {
            let games = packing.games();
            // What could not be written is tried again at the next look.
            if let Err(error) = self.writer.write(Write::Pack(packing)).await {
                debug!(%error, "logs of finished games stay as they are for now");
                break;
            }
            debug!(games, "logs of finished games are packed");
            writes += 1;
            sleep(PAUSE).await;
        }
        Ok(writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::durability::Durability;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::SqliteStore;
    use crate::storage::conformance::{FIRST_WINS, add_players, play, spec};
    use crate::storage::forgetting::ForgettingStore as _;

    #[tokio::test]
    async fn what_has_ended_is_packed_in_small_portions() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("test.db");
        let store = Arc::new(SqliteStore::open(&file, Durability::Relaxed).await.unwrap());
        add_players(&*store, &["Ada", "Bob"]).await;
        for game in 0..=2 * GAMES {
            let spec = spec(&format!("g{game}"), "Ada", "Bob");
            play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        }
        store.unpack().await;
        let (writer, actor) = Writer::new(Arc::clone(&store) as Arc<dyn Store>);
        let writing = tokio::spawn(actor.run());
        let packer = Packer { store: store.clone(), writer };
        let left = async || store.next_packing(3 * GAMES).await.unwrap().map_or(0, |next| next.games());
        assert_eq!(left().await, 2 * u64::from(GAMES) + 1);
        assert_eq!(packer.pack_all().await.unwrap(), 3);
        assert_eq!(left().await, 0);
        assert_eq!(packer.pack_all().await.unwrap(), 0);
        writing.abort();
    }
}
