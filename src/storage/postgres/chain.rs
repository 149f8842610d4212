//! The chain of finished games: its head, and that of games from before there was one.

use super::db::{self, Connection};
use crate::model::chain_hash::ChainHash;
use crate::storage::chain::{CHAINED_AT_A_TIME, chained, head};
use crate::storage::rows::chain::select_contents;
use crate::storage::store::StoreError;

/// The hash of the last finished game.
pub(super) async fn read_head(connection: &Connection) -> Result<ChainHash, StoreError> {
    let sql = "SELECT hash FROM settlement ORDER BY number DESC LIMIT 1";
    let stored: Option<Option<String>> = db::query_scalar(sql).fetch_optional(connection).await?;
    Ok(head(stored.flatten().as_deref()))
}

/// Chains all finished games, in their order.
pub(super) async fn chain_all(connection: &Connection) -> Result<(), StoreError> {
    let (mut head, mut last) = (ChainHash::default(), 0);
    loop {
        let sql = select_contents!("chr(10)", "$1", "$2");
        let games: Vec<(i64, String)> =
            db::query_as(sql).bind(last).bind(CHAINED_AT_A_TIME).fetch_all(connection).await?;
        let Some((number, _)) = games.last() else { return Ok(()) };
        last = *number;
        let (numbers, hashes): (Vec<i64>, Vec<String>) = chained(&mut head, games).into_iter().unzip();
        let sql = "UPDATE settlement n SET hash = c.hash \
                   FROM unnest($1::bigint[], $2::text[]) AS c(number, hash) WHERE n.number = c.number";
        db::query(sql).bind(numbers).bind(hashes).execute(connection).await?;
    }
}
