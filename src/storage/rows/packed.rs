//! Logs of finished games that were packed.

use super::{Damage, word};
use crate::storage::packed::PackedLog;
use crate::storage::record::Ending;

/// Selects [`PackedRow`]s of games, whole and with something in the place of the notes.
macro_rules! select_packed {
    ($games:literal, $nothing:literal) => {
        (
            concat!(
                "SELECT game, events, notes, result, reason, at_fault FROM packed_log WHERE game ",
                $games
            ),
            concat!(
                "SELECT game, events, ",
                $nothing,
                " AS notes, result, reason, at_fault FROM packed_log WHERE game ",
                $games
            ),
        )
    };
}
pub(crate) use select_packed;

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
