//! Rows of the list of nodes.

use std::time::Duration;

use crate::model::time::UnixMillis;
use crate::storage::members::{Member, Standing};

row! {
    pub(in crate::storage) struct MemberRow {
        key: i64,
        name: String,
        address: String,
        version: String,
        began_at: i64,
        holds: bool,
        is_drained: bool,
        serves: bool,
        lives: bool,
        expires_at: i64,
        incarnation: Option<i64>,
        answers_us: Option<i64>,
        /// Whether the database has a column for that.
        pub(in crate::storage) takes_answers: bool,
    }
}

impl MemberRow {
    pub(in crate::storage) fn into_member(self) -> Member {
        Member {
            key: self.key,
            name: self.name,
            address: self.address,
            version: self.version,
            began_at: UnixMillis(self.began_at),
            holds: self.holds,
            is_drained: self.is_drained,
            lives: self.lives,
            expires_at: UnixMillis(self.expires_at),
            standing: Standing { writes_as: self.incarnation, serves: self.serves },
            answers_after: self.answers_us.and_then(|us| u64::try_from(us).ok()).map(Duration::from_micros),
        }
    }
}
