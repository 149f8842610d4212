//! Links to open challenges.

use tracing::error;

use super::{Damage, number, parsed, present, word};
use crate::model::clock::TimeControl;
use crate::model::time::UnixMillis;
use crate::storage::links::StoredLink;
use crate::storage::record::OpeningSource;

row! {
    #[derive(Debug)]
    pub(crate) struct LinkRow {
        id: String,
        maker: String,
        asked: Option<String>,
        guest: Option<String>,
        variant: String,
        bank_ms: Option<i64>,
        increment_ms: i64,
        move_ms: Option<i64>,
        rated: bool,
        is_load: bool,
        listed: bool,
        is_private: bool,
        opening_kind: Option<String>,
        opening_moves: Option<String>,
        games: i64,
        side: String,
        site: Option<String>,
        request_key: Option<String>,
        expires_at: i64,
    }
}

impl LinkRow {
    fn decode(self) -> Result<StoredLink, Damage> {
        Ok(StoredLink {
            id: parsed("challenge_link.id", &self.id)?,
            maker: parsed("challenge_link.maker", &self.maker)?,
            to: self.asked.as_deref().map(|to| parsed("challenge_link.asked", to)).transpose()?,
            guest: self.guest.as_deref().map(|name| parsed("challenge_link.guest", name)).transpose()?,
            variant: parsed("challenge_link.variant", &self.variant)?,
            time: TimeControl {
                bank_ms: self.bank_ms.map(|ms| number("challenge_link.bank_ms", ms)).transpose()?,
                increment_ms: number("challenge_link.increment_ms", self.increment_ms)?,
                move_ms: self.move_ms.map(|ms| number("challenge_link.move_ms", ms)).transpose()?,
            },
            rated: self.rated,
            is_load: self.is_load,
            is_listed: self.listed,
            is_private: self.is_private,
            opening: opening(self.opening_kind.as_deref(), self.opening_moves)?,
            games: number("challenge_link.games", self.games)?,
            side: word("challenge_link.side", &self.side)?,
            site: self.site.as_deref().map(|site| parsed("challenge_link.site", site)).transpose()?,
            key: self.request_key,
            expires_at: UnixMillis(self.expires_at),
        })
    }
}

fn opening(kind: Option<&str>, moves: Option<String>) -> Result<Option<OpeningSource>, Damage> {
    let Some(kind) = kind else { return Ok(None) };
    let moves = present("challenge_link.opening_moves", moves)?;
    Ok(Some(OpeningSource { kind: word("challenge_link.opening_kind", kind)?, moves }))
}

/// The links that can be read. One that cannot be harms no other.
pub(crate) fn decode_links(rows: Vec<LinkRow>) -> Vec<StoredLink> {
    let decode = |row: LinkRow| {
        let id = row.id.clone();
        row.decode()
            .map_err(|Damage(what)| error!(challenge = id, what, "a link is damaged and left out"))
            .ok()
    };
    rows.into_iter().filter_map(decode).collect()
}
