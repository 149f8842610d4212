//! Logs of finished games that were packed.

use super::{Damage, word};
use crate::storage::packed::PackedLog;
use crate::storage::record::Ending;

/// The columns of a [`PackedRow`], in the order in which it reads them.
macro_rules! packed_columns {
    () => {
        "game, events, notes, result, reason, at_fault"
    };
}
pub(crate) use packed_columns;

row! {
    /// A row of the table.
    #[derive(Debug)]
    pub(crate) struct PackedRow {
        pub(crate) game: i64,
        events: Vec<u8>,
        notes: Option<Vec<u8>>,
        result: String,
        reason: String,
        at_fault: Option<String>,
    }
}

impl PackedRow {
    pub(crate) fn decode(self) -> Result<PackedLog, Damage> {
        let ending = Ending {
            result: word("packed_log.result", &self.result)?,
            reason: word("packed_log.reason", &self.reason)?,
            by: self.at_fault.as_deref().map(|side| word("packed_log.at_fault", side)).transpose()?,
        };
        Ok(PackedLog { events: self.events, notes: self.notes, ending })
    }
}
