//! The database as its tables, for moving it to another engine or from one.

use std::path::Path;
use std::{fs, io};

use async_trait::async_trait;
use rusqlite::types::ToSqlOutput;

use super::db::{self, Connection};
use super::{OpenError, SqliteStore};
use crate::model::durability::Durability;
use crate::storage::store::StoreError;
use crate::storage::transfer::{Row, Start, Table, Tables, Value, numbered};
use crate::system::files::{beside, sync_directory};

/// What a database is called until everything has arrived.
const ARRIVING: &str = ".arriving";

/// Opens the database that is to become one of this name, or begins it.
///
/// # Errors
///
/// See [`OpenError`]; there may be one of this name already.
pub(crate) async fn open_arriving(database: &Path) -> Result<SqliteStore, OpenError> {
    if database.exists() {
        return Err(OpenError::Exists { path: database.to_owned() });
    }
    SqliteStore::open(&beside(database, ARRIVING), Durability::Strict).await
}

/// Gives a database its name. It is closed, so it is one file.
///
/// # Errors
///
/// The directory cannot be written to.
pub(crate) fn arrive(arriving: &Path) -> io::Result<()> {
    fs::rename(arriving, arriving.with_extension(""))?;
    sync_directory(arriving)
}

impl SqliteStore {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[async_trait]
impl Tables for SqliteStore {
    async fn rows(&self, table: &'static Table, start: Start, key: &[Value]) -> Result<Vec<Row>, StoreError> {
        let mut arguments = key.to_vec();
        arguments.push(Value::Number(table.portion.into()));
        self.readers
            .read(move |connection| Ok(rows(connection, table, &table.select(start), &arguments)?))
            .await
    }

    async fn last_row(&self, table: &'static Table) -> Result<Option<Row>, StoreError> {
        let one = [Value::Number(1)];
        let read = move |connection: &Connection| rows(connection, table, &table.select_last(), &one);
        Ok(self.readers.read(move |connection| Ok(read(connection)?)).await?.pop())
    }

    async fn put(&self, table: &'static Table, rows: &[Row]) -> Result<(), StoreError> {
        let Table { name, columns, .. } = table;
        let lock = self.write_connection.lock().await;
        let transaction = lock.connection().unchecked_transaction()?;
        if table.key == 0 {
            db::query(&format!("DELETE FROM {name}")).execute(&transaction)?;
        }
        let insert = format!("INSERT INTO {name} ({}) VALUES ({})", table.names(), numbered(columns.len()));
        {
            let mut statement = transaction.prepare_cached(&insert)?;
            for row in rows {
                statement.execute(rusqlite::params_from_iter(row))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    async fn settle_down(&self) -> Result<(), StoreError> {
        self.write_connection.lock().await.empty_journal()
    }

    async fn count_on(&self) -> Result<(), StoreError> {
        // SQLite looks for the last key itself.
        Ok(())
    }
}

fn rows(
    connection: &Connection,
    table: &'static Table,
    sql: &str,
    arguments: &[Value],
) -> db::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(arguments), |row| {
        (0..table.columns.len())
            .map(|column| Ok(row.get::<_, rusqlite::types::Value>(column)?.into()))
            .collect()
    });
    rows?.collect()
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> db::Result<ToSqlOutput<'_>> {
        use rusqlite::types::ValueRef;
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<rusqlite::types::Value> for Value {
    fn from(value: rusqlite::types::Value) -> Self {
        use rusqlite::types::Value as Sql;
        match value {
            Sql::Null => Self::Null,
            Sql::Integer(number) => Self::Number(number),
            // No column of ours is REAL: a STRICT table refuses it.
            Sql::Real(number) => Self::Text(number.to_string()),
            Sql::Text(text) => Self::Text(text),
            Sql::Blob(bytes) => Self::Bytes(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::transfer::{Kind, TABLES};

    #[tokio::test]
    async fn every_table_and_column_is_moved() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
        let sql = "SELECT t.name, c.name, c.type, c.pk FROM sqlite_schema t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'";
        let lock = store.write_connection.lock().await;
        let found: Vec<(String, String, String, i64)> =
            db::query_as(sql).fetch_all(lock.connection()).unwrap();
        let mut found: Vec<_> = found
            .into_iter()
            // Of a table with one row, the column that says so is the engine's own affair, and so is the journal.
            .filter(|(table, column, ..)| {
                let names = (table.as_str(), column.as_str());
                !matches!(names, ("publication", "key") | ("judging", "only") | ("journal", _))
            })
            .map(|(table, column, sql_type, place)| {
                (table, column, sql_type, usize::try_from(place).unwrap())
            })
            .collect();
        let mut moved: Vec<_> = TABLES
            .iter()
            .flat_map(|table| {
                (1..).zip(table.columns).map(move |(place, (column, kind))| (table, place, *column, *kind))
            })
            .map(|(table, place, column, kind)| {
                let sql_type = match kind {
                    Kind::Number | Kind::Flag => "INTEGER",
                    Kind::Text => "TEXT",
                    Kind::Bytes => "BLOB",
                };
                let place = if place <= table.key { place } else { 0 };
                (table.name.to_owned(), column.to_owned(), sql_type.to_owned(), place)
            })
            .collect();
        found.sort();
        moved.sort();
        assert_eq!(moved, found);
    }
}
