//! Whom people follow, and whom they block, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::storage::follows::{BLOCKS_MAX, FOLLOWS_MAX, FollowStore, Tie, TiedPlayer};
use crate::storage::record::StoredPlayer;
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    /// A person with an account, and somebody else.
    fn ends(&self, tie: &Tie, may_be: impl Fn(&StoredPlayer) -> bool) -> Result<(), Refused> {
        let is_person = self.players.get(&tie.player).is_some_and(|player| player.kind == PlayerKind::Human);
        let is_other = tie.player != tie.to && self.players.get(&tie.to).is_some_and(may_be);
        (is_person && is_other).then_some(()).ok_or(Refused::NoSuchPlayer)
    }

    pub(super) fn follow(&mut self, follow: &Tie) -> Result<Written, Refused> {
        self.ends(follow, |player| player.kind != PlayerKind::Guest)?;
        if is_tied(&self.blocks, &follow.player, &follow.to) {
            return Err(Refused::Blocked);
        }
        tie(&mut self.follows, follow, FOLLOWS_MAX)
    }

    pub(super) fn unfollow(&mut self, player: &PlayerId, followed: &PlayerId) -> Written {
        self.follows.retain(|tie| tie.player != *player || tie.to != *followed);
        Written::Done
    }

    pub(super) fn block(&mut self, block: &Tie) -> Result<Written, Refused> {
        self.ends(block, |player| !player.house)?;
        tie(&mut self.blocks, block, BLOCKS_MAX)?;
        self.unfollow(&block.player, &block.to);
        Ok(self.unfollow(&block.to, &block.player))
    }

    pub(super) fn unblock(&mut self, player: &PlayerId, blocked: &PlayerId) -> Written {
        self.blocks.retain(|tie| tie.player != *player || tie.to != *blocked);
        Written::Done
    }

    pub(super) fn forget_ties(&mut self, player: &PlayerId) {
        for ties in [&mut self.follows, &mut self.blocks] {
            ties.retain(|tie| tie.player != *player && tie.to != *player);
        }
    }

    fn tied(&self, ties: &[Tie], player: &PlayerId) -> Vec<TiedPlayer> {
        let of_player = ties.iter().filter(|tie| tie.player == *player);
        let mut players: Vec<TiedPlayer> = of_player
            .filter_map(|tie| {
                let StoredPlayer { id, name, kind, house, .. } = self.players.get(&tie.to)?.clone();
                let is_mutual = is_tied(ties, &id, player);
                Some(TiedPlayer { id, name, kind, house, is_mutual, since: tie.since })
            })
            .collect();
        players.sort_by_key(|player| player.name.key());
        players
    }
}

fn is_tied(ties: &[Tie], player: &PlayerId, to: &PlayerId) -> bool {
    ties.iter().any(|tie| tie.player == *player && tie.to == *to)
}

fn tie(ties: &mut Vec<Tie>, new: &Tie, max: usize) -> Result<Written, Refused> {
    if is_tied(ties, &new.player, &new.to) {
        return Ok(Written::Done);
    }
    if ties.iter().filter(|tie| tie.player == new.player).count() >= max {
        return Err(Refused::TooMany);
    }
    ties.push(new.clone());
    Ok(Written::Done)
}

#[async_trait]
impl FollowStore for MemoryStore {
    async fn follows_of(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
        let tables = self.tables();
        Ok(tables.tied(&tables.follows, player))
    }

    async fn blocks_of(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
        let tables = self.tables();
        Ok(tables.tied(&tables.blocks, player))
    }

    async fn all_blocks(&self) -> Result<Vec<(PlayerId, PlayerId)>, StoreError> {
        let tables = self.tables();
        Ok(tables.blocks.iter().map(|block| (block.player.clone(), block.to.clone())).collect())
    }
}
