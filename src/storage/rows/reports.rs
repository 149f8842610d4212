//! What people report about others.

use super::{Damage, number, parsed, word};
use crate::model::time::UnixMillis;
use crate::storage::error::StoreError;
use crate::storage::reports::StoredReport;

row! {
    #[derive(Debug)]
    pub(crate) struct ReportRow {
        number: i64,
        reporter: Option<String>,
        player: String,
        game: Option<String>,
        reason: String,
        note: String,
        at: i64,
        state: String,
        handled_by: Option<String>,
    }
}

impl ReportRow {
    fn decode(self) -> Result<StoredReport, Damage> {
        Ok(StoredReport {
            number: number("report.number", self.number)?,
            reporter: self.reporter.map(|id| parsed("report.reporter", &id)).transpose()?,
            player: parsed("report.player", &self.player)?,
            game: self.game.map(|game| parsed("report.game", &game)).transpose()?,
            reason: word("report.reason", &self.reason)?,
            note: self.note,
            at: UnixMillis(self.at),
            state: word("report.state", &self.state)?,
            handled_by: self.handled_by,
        })
    }
}

pub(crate) fn decode_reports(rows: Vec<ReportRow>) -> Result<Vec<StoredReport>, StoreError> {
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}
