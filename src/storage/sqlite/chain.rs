//! The chain of games from before there was one.

use super::db::{self, Connection};
use crate::model::chain_hash::ChainHash;
use crate::storage::chain::{CHAINED_AT_A_TIME, chained};
use crate::storage::rows::chain::select_contents;

/// Chains all finished games, in their order.
pub(super) fn chain_all(connection: &Connection) -> db::Result<()> {
    let (mut head, mut last) = (ChainHash::default(), 0);
    loop {
        let sql = select_contents!("char(10)", "?1", "?2");
        let games: Vec<(i64, String)> =
            db::query_as(sql).bind(last).bind(CHAINED_AT_A_TIME).fetch_all(connection)?;
        let Some((number, _)) = games.last() else { return Ok(()) };
        last = *number;
        for (number, hash) in chained(&mut head, games) {
            let sql = "UPDATE settlement SET hash = ? WHERE number = ?";
            db::query(sql).bind(hash).bind(number).execute(connection)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::durability::Durability;
    use crate::storage::SqliteStore;
    use crate::storage::conformance::{checked_chain, play_various};

    #[tokio::test]
    async fn games_from_before_are_chained_as_if_they_had_always_been() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let store = SqliteStore::open(&path, Durability::Relaxed).await.unwrap();
        play_various(&store).await;
        let before = checked_chain(&store).await;
        store.unpack().await;
        store.execute("UPDATE settlement SET hash = NULL").await;
        chain_all(&Connection::open(&path).unwrap()).unwrap();
        assert_eq!(checked_chain(&store).await, before);
    }
}
