//! Ratings that began anew.

use super::{Damage, number, parsed};
use crate::model::time::UnixMillis;
use crate::storage::resets::RatingReset;

row! {
    #[derive(Debug)]
    pub(crate) struct ResetRow {
        player: String,
        at: i64,
        after: i64,
        version: String,
        reason: String,
    }
}

pub(crate) fn decode_resets(rows: Vec<ResetRow>) -> Result<Vec<RatingReset>, Damage> {
    let decode = |row: ResetRow| {
        Ok(RatingReset {
            player: parsed("player.id", &row.player)?,
            at: UnixMillis(row.at),
            after: number("rating_reset.after", row.after)?,
            version: row.version,
            reason: row.reason,
        })
    };
    rows.into_iter().map(decode).collect()
}
