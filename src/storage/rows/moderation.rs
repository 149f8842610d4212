//! Entries of the log of what operators did.

use super::{Damage, number, word};
use crate::model::time::UnixMillis;
use crate::storage::error::StoreError;
use crate::storage::moderation::AuditEntry;

row! {
    #[derive(Debug)]
    pub(crate) struct AuditRow {
        number: i64,
        action: String,
        subject: String,
        detail: Option<String>,
        until: Option<i64>,
        reason: String,
        by_whom: Option<String>,
        at: i64,
    }
}

impl AuditRow {
    fn decode(self) -> Result<AuditEntry, Damage> {
        Ok(AuditEntry {
            number: number("audit.number", self.number)?,
            action: word("audit.action", &self.action)?,
            subject: self.subject,
            detail: self.detail,
            until: self.until.map(UnixMillis),
            reason: self.reason,
            by: self.by_whom,
            at: UnixMillis(self.at),
        })
    }
}

pub(crate) fn decode_log(rows: Vec<AuditRow>) -> Result<Vec<AuditEntry>, StoreError> {
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}
