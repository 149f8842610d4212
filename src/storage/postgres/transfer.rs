//! The database as its tables, for moving it to another engine or from one.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::db::{self, Boxed, Connection};
use super::session::Patience;
use super::{PostgresOpenError, PostgresStore};
use crate::model::durability::Durability;
use crate::model::time::UnixMillis;
use crate::storage::store::StoreError;
use crate::storage::transfer::{Kind, Row, Start, Table, Tables, Value};

/// Whether a daemon may use a database in which not all has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// No.
    Done,
    /// It is what is being written, or an empty one to begin with.
    UnderWay,
}

impl PostgresStore {
    /// Opens the database that an arena is to be moved to: an empty one, or what an earlier attempt has left.
    ///
    /// # Errors
    ///
    /// See [`PostgresOpenError`]; there may be another arena in it.
    pub(crate) async fn open_arriving(url: &str) -> Result<Self, PostgresOpenError> {
        Self::open_as(url, Durability::Strict, Arrival::UnderWay, Patience::Waits).await
    }

    /// Everything is there: a daemon may use it.
    ///
    /// # Errors
    ///
    /// The server cannot be told.
    pub(crate) async fn arrive(&self) -> Result<(), StoreError> {
        let lane = self.lane.lock().await;
        db::query("DELETE FROM transfer").execute(lane.connection()?).await?;
        Ok(())
    }
}

/// Looks whether everything that was to arrive has, and begins a transfer where that is what the database is for.
pub(super) async fn check(connection: &Connection, arrival: Arrival) -> Result<(), PostgresOpenError> {
    let unfit = |what: &str| Err(PostgresOpenError::Unfit(what.to_owned()));
    let is_arriving = db::query("SELECT 1 FROM transfer").has_row(connection).await?;
    match arrival {
        Arrival::Done if is_arriving => unfit(
            "only a part of an arena has been moved to this database: go on with `fourfold migrate`, or give an empty one",
        ),
        Arrival::Done => Ok(()),
        Arrival::UnderWay if is_arriving => Ok(()),
        Arrival::UnderWay => {
            if db::query("SELECT 1 FROM player LIMIT 1").has_row(connection).await? {
                return unfit("the database holds an arena already: give an empty one");
            }
            let insert = db::query("INSERT INTO transfer (began_at) VALUES ($1)").bind(UnixMillis::now().0);
            insert.execute(connection).await?;
            Ok(())
        }
    }
}

#[async_trait]
impl Tables for PostgresStore {
    async fn rows(&self, table: &'static Table, start: Start, key: &[Value]) -> Result<Vec<Row>, StoreError> {
        let mut arguments: Vec<Boxed<'_>> = key.iter().map(boxed).collect();
        arguments.push(Box::new(i64::from(table.portion)));
        rows(&*self.reader().await?, table, &table.select(start), &arguments).await
    }

    async fn last_row(&self, table: &'static Table) -> Result<Option<Row>, StoreError> {
        let one: Boxed<'_> = Box::new(1_i64);
        Ok(rows(&*self.reader().await?, table, &table.select_last(), &[one]).await?.pop())
    }

    async fn put(&self, table: &'static Table, rows: &[Row]) -> Result<(), StoreError> {
        let lane = self.lane.lock().await;
        let connection = lane.connection()?;
        let Table { name, columns, .. } = table;
        let arrays: Vec<_> = (1..)
            .zip(*columns)
            .map(|(number, (_, kind))| format!("${number}::{}[]", sql_type(*kind)))
            .collect();
        let insert =
            format!("INSERT INTO {name} ({}) SELECT * FROM unnest({})", table.names(), arrays.join(", "));
        let arguments = (0..).zip(*columns).map(|(column, (_, kind))| array(rows, column, *kind)).collect();
        if table.key > 0 {
            db::query(&insert).bind_all(arguments).execute(connection).await?;
            return Ok(());
        }
        connection.batch_execute(&format!("BEGIN; DELETE FROM {name}")).await?;
        db::query(&insert).bind_all(arguments).execute(connection).await?;
        Ok(connection.batch_execute("COMMIT").await?)
    }

    async fn settle_down(&self) -> Result<(), StoreError> {
        // Everything is in its tables.
        Ok(())
    }

    async fn count_on(&self) -> Result<(), StoreError> {
        let lane = self.lane.lock().await;
        let connection = lane.connection()?;
        for table in crate::storage::transfer::TABLES.iter().filter(|table| table.is_numbered) {
            let [(key, _)] = table.key_columns() else { continue };
            let name = table.name;
            let sql = format!(
                "SELECT setval(pg_get_serial_sequence('{name}', '{key}'), max({key})) FROM {name} \
                 HAVING max({key}) IS NOT NULL"
            );
            db::query(&sql).execute(connection).await?;
        }
        Ok(())
    }
}

async fn rows(
    connection: &Connection,
    table: &'static Table,
    sql: &str,
    arguments: &[Boxed<'_>],
) -> Result<Vec<Row>, StoreError> {
    let statement = connection.prepare_cached(sql).await?;
    let arguments: Vec<_> = arguments.iter().map(|argument| &**argument as &(dyn ToSql + Sync)).collect();
    let found = connection.query(&statement, &arguments).await?;
    let values = |row: &tokio_postgres::Row| {
        let columns = (0..).zip(table.columns);
        columns.map(|(column, (_, kind))| value(row, column, *kind)).collect::<Result<Row, _>>()
    };
    Ok(found.iter().map(values).collect::<Result<_, tokio_postgres::Error>>()?)
}

fn value(row: &tokio_postgres::Row, column: usize, kind: Kind) -> Result<Value, tokio_postgres::Error> {
    Ok(match kind {
        Kind::Number => row.try_get::<_, Option<i64>>(column)?.map(Value::Number),
        Kind::Flag => row.try_get::<_, Option<bool>>(column)?.map(|flag| Value::Number(flag.into())),
        Kind::Text => row.try_get::<_, Option<String>>(column)?.map(Value::Text),
        Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(column)?.map(Value::Bytes),
    }
    .unwrap_or(Value::Null))
}

/// A value of a key, none of which is a flag.
fn boxed(value: &Value) -> Boxed<'_> {
    match value {
        Value::Null => Box::new(None::<i64>),
        Value::Number(number) => Box::new(*number),
        Value::Text(text) => Box::new(text.as_str()),
        Value::Bytes(bytes) => Box::new(bytes.as_slice()),
    }
}

fn sql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "bigint",
        Kind::Flag => "boolean",
        Kind::Text => "text",
        Kind::Bytes => "bytea",
    }
}

/// The values of a column in all rows.
fn array(rows: &[Row], column: usize, kind: Kind) -> Boxed<'_> {
    let values = rows.iter().map(|row| row.get(column).unwrap_or(&Value::Null));
    match kind {
        Kind::Number => Box::new(values.map(Value::number).collect::<Vec<_>>()),
        Kind::Flag => Box::new(values.map(|value| value.number().map(|flag| flag != 0)).collect::<Vec<_>>()),
        Kind::Text => Box::new(values.map(Value::text).collect::<Vec<_>>()),
        Kind::Bytes => Box::new(values.map(Value::bytes).collect::<Vec<_>>()),
    }
}

impl Value {
    fn number(&self) -> Option<i64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}
