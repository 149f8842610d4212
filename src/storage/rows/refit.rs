//! What is owed after games were taken out, as the tables say it.

use fourfold_engine::Variant;

use super::{Damage, number, parsed};
use crate::model::ids::GameId;

/// Variants, and the number behind which ratings are owed.
pub(crate) fn decode_owed(rows: Vec<(String, i64)>) -> Result<Vec<(Variant, u64)>, Damage> {
    let decode = |(variant, after): (String, i64)| {
        Ok((parsed("refit.variant", &variant)?, number("refit.after", after)?))
    };
    rows.into_iter().map(decode).collect()
}

/// Games by their numbers.
pub(crate) fn decode_numbered(rows: Vec<(i64, String)>) -> Result<Vec<(u64, GameId)>, Damage> {
    let decode = |(at, id): (i64, String)| Ok((number("settlement.number", at)?, parsed("game.id", &id)?));
    rows.into_iter().map(decode).collect()
}
