//! Events of games.

use std::collections::HashMap;

use fourfold_engine::{BySide, Column, Side};

use super::journal::JournaledEvents;
use super::packed::PackedRow;
use super::{Columns, Damage, FromRow, number, present, to_sql, word};
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

/// The columns of an [`EventRow`], in the order in which it reads them.
macro_rules! event_columns {
    () => {
        "game, seq, first_ms, second_ms, at, kind, column_no, spent_ms, credited_ms, info, plies, result, reason, at_fault"
    };
}
pub(crate) use event_columns;

/// A row of the table. Of the columns that only some kinds have, those of the others are not looked at.
#[derive(Debug)]
pub(crate) struct EventRow {
    pub(crate) game: i64,
    seq: i64,
    first_ms: i64,
    second_ms: i64,
    at: i64,
    kind: KindRow,
}

/// What its kind has in columns of its own.
#[derive(Debug)]
enum KindRow {
    Move { column_no: Option<i64>, spent_ms: Option<i64>, credited_ms: Option<i64>, info: Option<String> },
    Takeback { plies: Option<i64> },
    Paused,
    Finished { result: Option<String>, reason: Option<String>, at_fault: Option<String> },
    Unknown(String),
}

/// The word for a kind, for which no memory is taken: nine rows of ten say `move`.
#[derive(Debug)]
enum KindWord {
    Move,
    Takeback,
    Paused,
    Finished,
    Unknown(String),
}

impl From<&str> for KindWord {
    fn from(text: &str) -> Self {
        match text {
            "move" => Self::Move,
            "takeback" => Self::Takeback,
            "paused" => Self::Paused,
            "finished" => Self::Finished,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

impl rusqlite::types::FromSql for KindWord {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        value.as_str().map(Self::from)
    }
}

impl<'r> tokio_postgres::types::FromSql<'r> for KindWord {
    fn from_sql(
        kind: &tokio_postgres::types::Type,
        bytes: &'r [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        <&str>::from_sql(kind, bytes).map(Self::from)
    }

    fn accepts(kind: &tokio_postgres::types::Type) -> bool {
        <&str>::accepts(kind)
    }
}

impl FromRow for EventRow {
    fn from_row<C: Columns>(columns: &mut C) -> Result<Self, C::Error> {
        let (game, seq) = (columns.next()?, columns.next()?);
        let (first_ms, second_ms, at) = (columns.next()?, columns.next()?, columns.next()?);
        let kind = KindRow::of(columns.next()?, columns)?;
        Ok(Self { game, seq, first_ms, second_ms, at, kind })
    }
}

impl KindRow {
    fn of<C: Columns>(kind: KindWord, columns: &mut C) -> Result<Self, C::Error> {
        Ok(match kind {
            KindWord::Move => Self::Move {
                column_no: columns.next()?,
                spent_ms: columns.next()?,
                credited_ms: columns.next()?,
                info: columns.next()?,
            },
            KindWord::Takeback => {
                columns.skip(4);
                Self::Takeback { plies: columns.next()? }
            }
            KindWord::Paused => Self::Paused,
            KindWord::Finished => {
                columns.skip(5);
                Self::Finished { result: columns.next()?, reason: columns.next()?, at_fault: columns.next()? }
            }
            KindWord::Unknown(other) => Self::Unknown(other),
        })
    }

    fn decode(self) -> Result<EventKind, Damage> {
        Ok(match self {
            Self::Move { column_no, spent_ms, credited_ms, info } => {
                let column_no = present("column_no", column_no)?;
                let column = u8::try_from(column_no).ok().and_then(Column::from_number);
                EventKind::Move(StoredMove {
                    column: column.ok_or_else(|| Damage::value("column_no", column_no))?,
                    spent_ms: number("spent_ms", present("spent_ms", spent_ms)?)?,
                    credited_ms: number("credited_ms", present("credited_ms", credited_ms)?)?,
                    info: info.map(String::into_boxed_str),
                })
            }
            Self::Takeback { plies } => {
                EventKind::Takeback { plies: number("plies", present("plies", plies)?)? }
            }
            Self::Paused => EventKind::Paused,
            Self::Finished { result, reason, at_fault } => EventKind::Finished(Ending {
                result: word("result", &present("result", result)?)?,
                reason: word("reason", &present("reason", reason)?)?,
                by: at_fault.as_deref().map(|side| word::<Side>("at_fault", side)).transpose()?,
            }),
            Self::Unknown(other) => return Err(Damage::value("kind", other)),
        })
    }
}

impl EventRow {
    /// The event, which must be the one that is due.
    fn decode(self, due: u32) -> Result<StoredEvent, Damage> {
        if self.seq != i64::from(due) {
            return Err(missing(due, self.seq));
        }
        let clock_ms = BySide {
            first: number("first_ms", self.first_ms)?,
            second: number("second_ms", self.second_ms)?,
        };
        Ok(StoredEvent { seq: due, kind: self.kind.decode()?, clock_ms, at: UnixMillis(self.at) })
    }
}

/// Events that a game mostly has not more of.
const EVENTS_EXPECTED: usize = 32;

/// The events of some games: rows, which come one game after the other, packed logs, and what the journal has.
#[derive(Debug, Default)]
pub(crate) struct EventsOfGames {
    /// By the keys of the games, which rise. Of a damaged game there is what is wrong first.
    games: Vec<(i64, Result<Vec<StoredEvent>, Damage>)>,
    packed: HashMap<i64, PackedRow>,
    journaled: HashMap<i64, Vec<StoredEvent>>,
}

impl EventsOfGames {
    pub(crate) fn add(&mut self, row: EventRow) {
        let key = row.game;
        if self.games.last().is_none_or(|(last, _)| *last != key) {
            self.games.push((key, Ok(Vec::with_capacity(EVENTS_EXPECTED))));
        }
        let Some((_, read)) = self.games.last_mut() else { return };
        let Ok(events) = read else { return };
        match row.decode(u32::try_from(events.len() + 1).unwrap_or(u32::MAX)) {
            Ok(event) => events.push(event),
            Err(damage) => *read = Err(damage),
        }
    }

    pub(crate) fn add_packed(&mut self, row: PackedRow) {
        self.packed.insert(row.game, row);
    }

    pub(crate) fn add_journaled(&mut self, events: JournaledEvents) {
        self.journaled = events.into_games();
    }

    /// Those of the game with this key, once.
    pub(crate) fn take(&mut self, key: i64) -> Result<Vec<StoredEvent>, Damage> {
        let found = self.games.binary_search_by_key(&key, |(key, _)| *key);
        let rows = match (self.packed.remove(&key), found) {
            (Some(_), Ok(_)) => {
                return Err(Damage("its log is packed, and there are events beside it".into()));
            }
            (Some(row), Err(_)) => return row.decode()?.unpack(),
            (None, Ok(place)) => std::mem::replace(&mut self.games[place].1, Ok(Vec::new()))?,
            (None, Err(_)) => Vec::new(),
        };
        match self.journaled.remove(&key) {
            None => Ok(rows),
            Some(events) => joined(rows, events),
        }
    }
}

/// Rows, and what the journal has of the same game, the first of which may be among the rows by now.
fn joined(mut rows: Vec<StoredEvent>, journaled: Vec<StoredEvent>) -> Result<Vec<StoredEvent>, Damage> {
    let last = rows.last().map_or(0, |event| event.seq);
    for event in journaled.into_iter().filter(|event| event.seq > last) {
        let due = rows.len() + 1;
        if usize::try_from(event.seq) != Ok(due) {
            return Err(missing(due, event.seq));
        }
        rows.push(event);
    }
    Ok(rows)
}

fn missing(due: impl std::fmt::Display, found: impl std::fmt::Display) -> Damage {
    Damage(format!("event {due} is missing, {found} follows"))
}
