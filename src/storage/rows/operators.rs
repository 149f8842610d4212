//! Accounts that are operators.

use super::{Damage, number, parsed};
use crate::model::time::UnixMillis;
use crate::storage::operators::{StoredOperator, split};

row! {
    #[derive(Debug)]
    pub(crate) struct OperatorRow {
        player: String,
        since: i64,
        salt: String,
        last_step: i64,
        recovery: String,
    }
}

impl OperatorRow {
    pub(crate) fn decode(self) -> Result<StoredOperator, Damage> {
        Ok(StoredOperator {
            player: parsed("operator.player", &self.player)?,
            since: UnixMillis(self.since),
            salt: self.salt,
            last_step: number("operator.last_step", self.last_step)?,
            recovery: split(&self.recovery),
        })
    }
}
