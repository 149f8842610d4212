//! Events as rows: inserted in bulk, read back one game after the other.

use std::sync::LazyLock;

use fourfold_engine::{BySide, Column, Side};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Sqlite, SqliteConnection};

use super::convert::{number, present, to_sql, word};
use super::error::Damage;
use crate::storage::record::{Ending, EventKind, StoredEvent, StoredMove};

use crate::model::time::UnixMillis;
use crate::storage::store::StoreError;
use crate::storage::words::Word;

/// Rows in one statement, the largest chunk that still fits being taken each time: less than 128 events need at most
/// seven statements.
///
/// A statement costs some 60 us for the way to the connection's thread and back, whatever it does. 4,096 moves on two
/// cores took 35 to 160 ms one by one, 11 to 17 ms as one JSON argument (`json_each`), 5 to 12 ms in chunks of 128 or
/// 512.
const CHUNKS: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 1];

/// One statement for each of [`CHUNKS`].
static INSERTS: LazyLock<[String; 8]> = LazyLock::new(|| {
    let row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    CHUNKS.map(|rows| {
        format!(
            "INSERT INTO event (game, seq, kind, first_ms, second_ms, at, column_no, spent_ms, credited_ms, info, \
             plies, result, reason, at_fault) VALUES {}",
            vec![row; rows].join(", ")
        )
    })
});

type Query<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// An event and the internal key of its game.
pub(super) type NewEvent<'a> = (i64, &'a StoredEvent);

/// Inserts events of any games.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    events: &[NewEvent<'_>],
) -> Result<(), StoreError> {
    let mut rest = events;
    for (rows, sql) in CHUNKS.into_iter().zip(INSERTS.iter()) {
        while let Some((chunk, others)) = rest.split_at_checked(rows) {
            let statement = chunk.iter().fold(sqlx::query(sql.as_str()), bind);
            statement.execute(&mut *connection).await?;
            rest = others;
        }
    }
    Ok(())
}

fn bind<'q>(query: Query<'q>, (game, event): &NewEvent<'q>) -> Query<'q> {
    let query = query.bind(*game).bind(event.seq);
    let common = |query: Query<'q>, kind: &'static str| {
        query
            .bind(kind)
            .bind(to_sql(event.clock_ms.first))
            .bind(to_sql(event.clock_ms.second))
            .bind(event.at.0)
    };
    let none = None::<i64>;
    match &event.kind {
        EventKind::Move(played) => common(query, "move")
            .bind(played.column.number())
            .bind(to_sql(played.spent_ms))
            .bind(to_sql(played.credited_ms))
            .bind(played.info.as_deref())
            .bind(none)
            .bind(none)
            .bind(none)
            .bind(none),
        EventKind::Takeback { plies } => {
            let query = common(query, "takeback").bind(none).bind(none).bind(none).bind(none);
            query.bind(*plies).bind(none).bind(none).bind(none)
        }
        EventKind::Paused => {
            let query = common(query, "paused").bind(none).bind(none).bind(none).bind(none);
            query.bind(none).bind(none).bind(none).bind(none)
        }
        EventKind::Finished(ending) => {
            let query = common(query, "finished").bind(none).bind(none).bind(none).bind(none).bind(none);
            query.bind(ending.result.word()).bind(ending.reason.word()).bind(ending.by.map(Word::word))
        }
    }
}

row! {
    /// A row of the table.
    #[derive(Debug)]
    pub(super) struct EventRow {
        pub(super) game: i64,
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
    pub(super) fn decode(self, due: u32) -> Result<StoredEvent, Damage> {
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
