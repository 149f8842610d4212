//! Whom people block.
//!
//! Pairing, challenges and rooms ask of it at every step and cannot wait for a disk, so all blocks are in memory: also
//! those of people who are away, whose open offers stand meanwhile. They are read at the start. What changes is taken
//! over by the writer's answer, in the order in which it is stored.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::oneshot;
use tracing::info;

use super::{AccountError, Accounts, TieError, refused};
use crate::model::ids::PlayerId;
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::storage::StoreError;
use crate::storage::follows::{BLOCKS_MAX, Tie, TiedPlayer};
use crate::storage::store::{Refused, Write};

/// Whom one player blocks.
pub(crate) type Blocked = Arc<HashSet<PlayerId>>;

/// Who blocks whom; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// A lock, for rooms ask while the lobby does. It is held for one look or one change.
    by_player: Arc<RwLock<HashMap<PlayerId, Blocked>>>,
    nobody: Blocked,
}

impl Blocks {
    /// Whom a player blocks.
    pub(crate) fn of(&self, player: &PlayerId) -> Blocked {
        let by_player = self.by_player.read().unwrap_or_else(PoisonError::into_inner);
        by_player.get(player).unwrap_or(&self.nobody).clone()
    }

    /// Whether a player blocks another, or whoever owns that one.
    pub(crate) fn has(&self, player: &PlayerId, other: &Identity) -> bool {
        excludes(&self.of(player), &other.id, other.owner.as_ref())
    }

    /// Whether either of two blocks the other.
    pub(crate) fn part(&self, one: &Identity, other: &Identity) -> bool {
        self.has(&one.id, other) || self.has(&other.id, one)
    }

    fn change(&self, player: &PlayerId, change: impl FnOnce(&mut HashSet<PlayerId>)) {
        let mut by_player = self.by_player.write().unwrap_or_else(PoisonError::into_inner);
        let blocked = by_player.entry(player.clone()).or_default();
        change(Arc::make_mut(blocked));
        if blocked.is_empty() {
            by_player.remove(player);
        }
    }

    pub(crate) fn add(&self, player: &PlayerId, blocked: PlayerId) {
        self.change(player, |of_player| {
            of_player.insert(blocked);
        });
    }

    fn remove(&self, player: &PlayerId, blocked: &PlayerId) {
        self.change(player, |of_player| {
            of_player.remove(blocked);
        });
    }

    /// Forgets whom somebody blocked who is gone for good. That others blocked them means nothing any more, and goes
    /// with the next start.
    pub(super) fn forget(&self, player: &PlayerId) {
        self.change(player, HashSet::clear);
    }
}

/// Whether somebody who blocks these blocks a player, by the own id or by that of the owner: whoever is blocked does
/// not come back as a bot.
pub(crate) fn excludes(blocked: &HashSet<PlayerId>, player: &PlayerId, owner: Option<&PlayerId>) -> bool {
    !blocked.is_empty() && (blocked.contains(player) || owner.is_some_and(|owner| blocked.contains(owner)))
}

impl Accounts {
    /// Who blocks whom.
    pub(crate) fn blocks(&self) -> &Blocks {
        &self.inner.blocks
    }

    /// Reads all blocks, once at the start.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn read_blocks(&self) -> Result<(), StoreError> {
        for (player, blocked) in self.inner.store.all_blocks().await? {
            self.inner.blocks.add(&player, blocked);
        }
        Ok(())
    }

    /// Whom a player blocks, by name.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn blocked_by(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
        self.inner.store.blocks_of(player).await
    }

    /// A person blocks somebody from now on, and neither follows the other any more; saying so twice is once.
    ///
    /// # Errors
    ///
    /// [`TieError::NobodyToBlock`] unless it is somebody else who is no bot of the house,
    /// [`TieError::TooManyBlocks`], or the store failed.
    pub(crate) async fn block(&self, player: &PlayerId, blocked: &PlayerId) -> Result<(), AccountError> {
        let tie = Tie { player: player.clone(), to: blocked.clone(), since: UnixMillis::now() };
        let (who, whom) = (player.clone(), blocked.clone());
        let written = self.change_blocks(Write::Block(tie), move |blocks| blocks.add(&who, whom)).await;
        written.map_err(|error| match error {
            AccountError::Unexpected(Refused::NoSuchPlayer) => TieError::NobodyToBlock.into(),
            other => other.if_too_many(TieError::TooManyBlocks { max: BLOCKS_MAX }.into()),
        })?;
        info!(%player, %blocked, "somebody is blocked");
        Ok(())
    }

    /// They do so no more.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn unblock(&self, player: &PlayerId, blocked: &PlayerId) -> Result<(), AccountError> {
        let (player, blocked) = (player.clone(), blocked.clone());
        let write = Write::Unblock { player: player.clone(), blocked: blocked.clone() };
        self.change_blocks(write, move |blocks| blocks.remove(&player, &blocked)).await
    }

    /// Writes, and takes it over before the next write is answered, whether or not whoever asked still waits.
    async fn change_blocks(
        &self,
        write: Write,
        change: impl FnOnce(&Blocks) + Send + 'static,
    ) -> Result<(), AccountError> {
        let (reply, answer) = oneshot::channel();
        let blocks = self.inner.blocks.clone();
        self.inner.writer.submit(write, move |written| {
            if written.is_ok() {
                change(&blocks);
            }
            // Whoever asked may have gone.
            let _ = reply.send(written);
        });
        let written = answer.await.map_err(|_| AccountError::Write(Arc::new(StoreError::Closed)))?;
        written.map(|_| ()).map_err(refused)
    }
}
