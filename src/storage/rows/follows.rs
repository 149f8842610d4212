//! Whom people follow, and whom they block.

use super::{Damage, parsed, word};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::follows::TiedPlayer;

row! {
    #[derive(Debug)]
    pub(crate) struct TiedRow {
        id: String,
        name: String,
        kind: String,
        house: bool,
        is_mutual: bool,
        since: i64,
    }
}

impl TiedRow {
    pub(crate) fn decode(self) -> Result<TiedPlayer, Damage> {
        Ok(TiedPlayer {
            id: parsed("player.id", &self.id)?,
            name: parsed("player.name", &self.name)?,
            kind: word("player.kind", &self.kind)?,
            house: self.house,
            is_mutual: self.is_mutual,
            since: UnixMillis(self.since),
        })
    }
}

/// Who blocks whom.
pub(crate) fn decode_pairs(rows: Vec<(String, String)>) -> Result<Vec<(PlayerId, PlayerId)>, Damage> {
    let id = |text: &str| parsed("player.id", text);
    rows.into_iter().map(|(player, blocked)| Ok((id(&player)?, id(&blocked)?))).collect()
}
