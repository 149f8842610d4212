//! Events of games.

use fourfold_engine::{BySide, Column, Side};

use super::{Damage, number, present, to_sql, word};
use crate::model::time::UnixMillis;
use crate::storage::record::{Ending, EventKind, StoredEvent, StoredMove};
use crate::storage::words::Word;

/// The columns that only some kinds of events have.
#[derive(Default)]
pub(crate) struct NewRow<'a> {
    pub(crate) kind: &'static str,
    pub(crate) column_no: Option<u8>,
    pub(crate) spent_ms: Option<i64>,
    pub(crate) credited_ms: Option<i64>,
    pub(crate) info: Option<&'a str>,
    pub(crate) plies: Option<u32>,
    pub(crate) result: Option<&'static str>,
    pub(crate) reason: Option<&'static str>,
    pub(crate) at_fault: Option<&'static str>,
}

impl<'a> NewRow<'a> {
    pub(crate) fn of(kind: &'a EventKind) -> Self {
        match kind {
            EventKind::Move(played) => Self {
                kind: "move",
                column_no: Some(played.column.number()),
                spent_ms: Some(to_sql(played.spent_ms)),
                credited_ms: Some(to_sql(played.credited_ms)),
                info: played.info.as_deref(),
                ..Self::default()
            },
            EventKind::Takeback { plies } => {
                Self { kind: "takeback", plies: Some(*plies), ..Self::default() }
            }
            EventKind::Paused => Self { kind: "paused", ..Self::default() },
            EventKind::Finished(ending) => Self {
                kind: "finished",
                result: Some(ending.result.word()),
                reason: Some(ending.reason.word()),
                at_fault: ending.by.map(Word::word),
                ..Self::default()
            },
        }
    }
}

row! {
    /// A row of the table.
    #[derive(Debug)]
    pub(crate) struct EventRow {
        pub(crate) game: i64,
        seq: i64,
        kind: String,
        first_ms: i64,
        second_ms: i64,
        at: i64,
        column_no: Option<i64>,
        spent_ms: Option<i64>,
        credited_ms: Option<i64>,
        info: Option<String>,
        plies: Option<i64>,
        result: Option<String>,
        reason: Option<String>,
        at_fault: Option<String>,
    }
}

impl EventRow {
    /// The event, which must be the one that is due.
    pub(crate) fn decode(self, due: u32) -> Result<StoredEvent, Damage> {
        if self.seq != i64::from(due) {
            return Err(Damage(format!("event {due} is missing, {} follows", self.seq)));
        }
        let clock_ms = BySide {
            first: number("first_ms", self.first_ms)?,
            second: number("second_ms", self.second_ms)?,
        };
        let at = UnixMillis(self.at);
        let kind = match self.kind.as_str() {
            "move" => EventKind::Move(self.decode_move()?),
            "takeback" => EventKind::Takeback { plies: number("plies", present("plies", self.plies)?)? },
            "paused" => EventKind::Paused,
            "finished" => EventKind::Finished(self.decode_ending()?),
            other => return Err(Damage::value("kind", other)),
        };
        Ok(StoredEvent { seq: due, kind, clock_ms, at })
    }

    fn decode_move(self) -> Result<StoredMove, Damage> {
        let column_no = present("column_no", self.column_no)?;
        let column = u8::try_from(column_no).ok().and_then(Column::from_number);
        Ok(StoredMove {
            column: column.ok_or_else(|| Damage::value("column_no", column_no))?,
            spent_ms: number("spent_ms", present("spent_ms", self.spent_ms)?)?,
            credited_ms: number("credited_ms", present("credited_ms", self.credited_ms)?)?,
            info: self.info.map(String::into_boxed_str),
        })
    }

    fn decode_ending(&self) -> Result<Ending, Damage> {
        let text = |column, value: &Option<String>| present(column, value.clone());
        let by = self.at_fault.as_deref().map(|side| word::<Side>("at_fault", side));
        Ok(Ending {
            result: word("result", &text("result", &self.result)?)?,
            reason: word("reason", &text("reason", &self.reason)?)?,
            by: by.transpose()?,
        })
    }
}
