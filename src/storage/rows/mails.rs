//! Where people have their mail.

use super::{Damage, parsed};
use crate::model::time::UnixMillis;
use crate::storage::mails::StoredMail;

row! {
    #[derive(Debug)]
    pub(crate) struct MailRow {
        owner: String,
        address: String,
        language: String,
        notices: bool,
        since: i64,
        verified_at: Option<i64>,
    }
}

impl MailRow {
    pub(crate) fn decode(self) -> Result<StoredMail, Damage> {
        Ok(StoredMail {
            owner: parsed("mail.owner", &self.owner)?,
            address: parsed("mail.address", &self.address)?,
            language: self.language,
            notices: self.notices,
            since: UnixMillis(self.since),
            verified_at: self.verified_at.map(UnixMillis),
        })
    }
}

pub(crate) fn decode_mails(rows: Vec<MailRow>) -> Result<Vec<StoredMail>, Damage> {
    rows.into_iter().map(MailRow::decode).collect()
}
