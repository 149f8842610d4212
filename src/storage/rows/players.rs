//! Players and their credentials.

use super::{Damage, parsed, word};
use crate::model::ids::PlayerId;
use crate::model::portrait::Portrait;
use crate::model::rating::elo::MilliElo;
use crate::model::time::UnixMillis;
use crate::storage::error::StoreError;
use crate::storage::record::{Ban, BotProfile, StoredPlayer, StoredToken, TokenScope};
use crate::storage::starts::Starts;

row! {
    /// A player as its row says; other modules select it together with more.
    #[derive(Debug)]
    pub(crate) struct PlayerRow {
        id: String,
        name: String,
        kind: String,
        house: bool,
        owner: Option<String>,
        version: Option<String>,
        about: Option<String>,
        url: Option<String>,
        language: Option<String>,
        created_at: i64,
        banned_because: Option<String>,
        banned_until: Option<i64>,
        muted_because: Option<String>,
        muted_until: Option<i64>,
        start: Option<i64>,
        picture: Option<String>,
        flag: Option<String>,
        line: Option<String>,
    }
}

impl PlayerRow {
    pub(crate) fn decode(self) -> Result<StoredPlayer, Damage> {
        let owner = self.owner.map(|owner| parsed("owner", &owner));
        Ok(StoredPlayer {
            id: parsed("player.id", &self.id)?,
            name: parsed("player.name", &self.name)?,
            kind: word("player.kind", &self.kind)?,
            house: self.house,
            owner: owner.transpose()?,
            profile: BotProfile {
                version: self.version,
                about: self.about,
                url: self.url,
                language: self.language,
            },
            portrait: Portrait {
                picture: self.picture.map(|picture| parsed("player.picture", &picture)).transpose()?,
                flag: self.flag.map(|flag| parsed("player.flag", &flag)).transpose()?,
                line: self.line.map(|line| parsed("player.line", &line)).transpose()?,
            },
            created_at: UnixMillis(self.created_at),
            ban: self.banned_because.map(|reason| Ban { until: self.banned_until.map(UnixMillis), reason }),
            mute: self.muted_because.map(|reason| Ban { until: self.muted_until.map(UnixMillis), reason }),
            start: self.start.map(MilliElo),
        })
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct TokenRow {
        id: String,
        player: String,
        kind: String,
        digest: Vec<u8>,
        created_at: i64,
        expires_at: Option<i64>,
        device: Option<String>,
        used_at: Option<i64>,
        scope: Option<String>,
    }
}

impl TokenRow {
    pub(crate) fn decode(self) -> Result<StoredToken, Damage> {
        Ok(StoredToken {
            id: parsed("token.id", &self.id)?,
            player: parsed("player.id", &self.player)?,
            kind: word("token.kind", &self.kind)?,
            digest: self.digest.try_into().map_err(|_| Damage("token.digest has a wrong length".into()))?,
            created_at: UnixMillis(self.created_at),
            expires_at: self.expires_at.map(UnixMillis),
            device: self.device.map(|device| parsed("token.device", &device)).transpose()?,
            used_at: self.used_at.map(UnixMillis),
            scope: self.scope.map_or(Ok(TokenScope::Manage), |scope| word("token.scope", &scope))?,
        })
    }
}

pub(crate) fn decode_players(rows: Vec<PlayerRow>) -> Result<Vec<StoredPlayer>, StoreError> {
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

/// With what players begin, each as its id and a rating.
pub(crate) fn decode_starts(rows: Vec<(String, i64)>) -> Result<Starts, Damage> {
    rows.into_iter().map(|(id, start)| Ok((parsed::<PlayerId>("player.id", &id)?, MilliElo(start)))).collect()
}

pub(crate) fn decode_tokens(rows: Vec<TokenRow>) -> Result<Vec<StoredToken>, StoreError> {
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}
