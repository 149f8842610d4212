//! Statements: a text, its arguments in order, and what its rows become.
//!
//! All are prepared once for each connection and kept. Everything here blocks, so it runs on the writer's own thread,
//! or where [`super::readers`] lets it.

use std::marker::PhantomData;

use rusqlite::types::{FromSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{CachedStatement, Row, ToSql};
pub(super) use rusqlite::{Connection, Error, Result};

use crate::storage::rows::{Cell, Columns, FromRow};

/// Statements kept for each connection: more than there are in the program.
pub(super) const STATEMENTS_KEPT: usize = 256;

/// A statement that gives no rows, or none that matter.
pub(super) fn query(sql: &str) -> Query<'_> {
    Query::new(sql)
}

/// A statement whose rows become structs or tuples.
pub(super) fn query_as(sql: &str) -> Query<'_, Rows> {
    Query::new(sql)
}

/// A statement of whose rows the first column matters.
pub(super) fn query_scalar(sql: &str) -> Query<'_, Scalars> {
    Query::new(sql)
}

/// Executes statements that have no arguments, one after the other, without keeping them.
pub(super) fn execute_all(connection: &Connection, sql: &str) -> Result<()> {
    connection.execute_batch(sql)
}

/// Sets or executes what is called by `PRAGMA`, whatever it answers.
pub(super) fn pragma(connection: &Connection, name: &str, value: impl ToSql) -> Result<()> {
    connection.pragma_update(None, name, value)
}

/// What a statement gives: nothing, rows, or single values.
#[derive(Debug)]
pub(super) struct Nothing;
#[derive(Debug)]
pub(super) struct Rows;
#[derive(Debug)]
pub(super) struct Scalars;

/// A statement with its arguments.
#[derive(Debug)]
#[must_use = "it is not executed yet"]
pub(super) struct Query<'q, Given = Nothing> {
    sql: &'q str,
    arguments: Vec<ToSqlOutput<'q>>,
    given: PhantomData<Given>,
}

impl<'q, Given> Query<'q, Given> {
    fn new(sql: &'q str) -> Self {
        Self { sql, arguments: Vec::new(), given: PhantomData }
    }

    /// Adds the next argument.
    pub(super) fn bind(mut self, argument: impl Argument<'q>) -> Self {
        self.arguments.push(argument.into_sql());
        self
    }

    /// # Errors
    ///
    /// Also if the text does not have as many parameters as there are arguments.
    fn prepare<'c>(&self, connection: &'c Connection) -> Result<CachedStatement<'c>> {
        let mut statement = connection.prepare_cached(self.sql)?;
        let (wanted, given) = (statement.parameter_count(), self.arguments.len());
        if wanted != given {
            return Err(Error::InvalidParameterCount(given, wanted));
        }
        for (index, argument) in (1..).zip(&self.arguments) {
            statement.raw_bind_parameter(index, argument)?;
        }
        Ok(statement)
    }

    fn first<T>(
        &self,
        connection: &Connection,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.prepare(connection)?;
        statement.raw_query().next()?.map(read).transpose()
    }
}

impl Query<'_> {
    /// Executes it, and says how many rows it changed.
    pub(super) fn execute(self, connection: &Connection) -> Result<u64> {
        Ok(self.prepare(connection)?.raw_execute()? as u64)
    }

    /// Whether it gives a row.
    pub(super) fn has_row(self, connection: &Connection) -> Result<bool> {
        Ok(self.first(connection, |_| Ok(()))?.is_some())
    }
}

impl Query<'_, Rows> {
    pub(super) fn fetch_all<T: FromRow>(self, connection: &Connection) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.fetch_each(connection, |row| all.push(row))?;
        Ok(all)
    }

    /// Gives each row on as it is read, so that they need not all be kept.
    pub(super) fn fetch_each<T: FromRow>(
        self,
        connection: &Connection,
        mut take: impl FnMut(T),
    ) -> Result<()> {
        let mut places = Places::default();
        let mut statement = self.prepare(connection)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            take(T::from_row(&mut RowColumns::of(row, &mut places))?);
        }
        Ok(())
    }

    pub(super) fn fetch_optional<T: FromRow>(self, connection: &Connection) -> Result<Option<T>> {
        self.first(connection, |row| T::from_row(&mut RowColumns::of(row, &mut Places::default())))
    }

    /// # Errors
    ///
    /// Also if there is no row.
    pub(super) fn fetch_one<T: FromRow>(self, connection: &Connection) -> Result<T> {
        self.fetch_optional(connection)?.ok_or(Error::QueryReturnedNoRows)
    }
}

impl Query<'_, Scalars> {
    pub(super) fn fetch_all<T: FromSql>(self, connection: &Connection) -> Result<Vec<T>> {
        self.prepare(connection)?.raw_query().mapped(|row| row.get(0)).collect()
    }

    pub(super) fn fetch_optional<T: FromSql>(self, connection: &Connection) -> Result<Option<T>> {
        self.first(connection, |row| row.get(0))
    }

    /// # Errors
    ///
    /// Also if there is no row.
    pub(super) fn fetch_one<T: FromSql>(self, connection: &Connection) -> Result<T> {
        self.fetch_optional(connection)?.ok_or(Error::QueryReturnedNoRows)
    }
}

/// What can be given to a statement: it is borrowed where it can be.
pub(super) trait Argument<'q> {
    fn into_sql(self) -> ToSqlOutput<'q>;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Argument<'_> for $type {
            fn into_sql(self) -> ToSqlOutput<'static> {
                ToSqlOutput::Owned(Value::Integer(i64::from(self)))
            }
        }
    )*};
}

integers!(i64 i32 u32 u16 u8 bool);

impl<'q> Argument<'q> for &'q str {
    fn into_sql(self) -> ToSqlOutput<'q> {
        ToSqlOutput::Borrowed(ValueRef::Text(self.as_bytes()))
    }
}

impl<'q> Argument<'q> for &'q [u8] {
    fn into_sql(self) -> ToSqlOutput<'q> {
        ToSqlOutput::Borrowed(ValueRef::Blob(self))
    }
}

impl<'q> Argument<'q> for &'q Vec<u8> {
    fn into_sql(self) -> ToSqlOutput<'q> {
        self.as_slice().into_sql()
    }
}

impl<'q> Argument<'q> for &'q String {
    fn into_sql(self) -> ToSqlOutput<'q> {
        self.as_str().into_sql()
    }
}

impl Argument<'_> for String {
    fn into_sql(self) -> ToSqlOutput<'static> {
        ToSqlOutput::Owned(Value::Text(self))
    }
}

impl<'q, T: Argument<'q>> Argument<'q> for Option<T> {
    fn into_sql(self) -> ToSqlOutput<'q> {
        self.map_or(ToSqlOutput::Owned(Value::Null), Argument::into_sql)
    }
}

impl<'q> Argument<'q> for &'q Option<String> {
    fn into_sql(self) -> ToSqlOutput<'q> {
        self.as_deref().into_sql()
    }
}

/// Where the columns with names are, in the order in which a row is asked for them. They are looked for in the first
/// row alone: to compare names took a sixth of the time of an export.
#[derive(Debug, Default)]
struct Places(Vec<usize>);

/// The columns of one row.
#[derive(Debug)]
struct RowColumns<'r> {
    row: &'r Row<'r>,
    next: usize,
    /// How many were asked for by name.
    named: usize,
    places: &'r mut Places,
}

impl<'r> RowColumns<'r> {
    fn of(row: &'r Row<'_>, places: &'r mut Places) -> Self {
        Self { row, next: 0, named: 0, places }
    }

    fn place(&mut self, name: &str) -> Result<usize> {
        let statement: &rusqlite::Statement<'_> = self.row.as_ref();
        if let Some(place) = self.places.0.get(self.named) {
            debug_assert_eq!(
                statement.column_name(*place).ok(),
                Some(name),
                "each row is read in the same way"
            );
            return Ok(*place);
        }
        // Mostly the next one, and then no other is looked at.
        let is_next = statement.column_name(self.next).is_ok_and(|next| next == name);
        let place = if is_next { self.next } else { statement.column_index(name)? };
        self.places.0.push(place);
        Ok(place)
    }
}

impl Columns for RowColumns<'_> {
    type Error = Error;

    fn next<T: Cell>(&mut self) -> Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    fn named<T: Cell>(&mut self, name: &str) -> Result<T> {
        self.next = self.place(name)?;
        self.named += 1;
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Debug)]
    struct Pair {
        left: i64,
        right: String,
    }

    impl FromRow for Pair {
        fn from_row<C: Columns>(columns: &mut C) -> std::result::Result<Self, C::Error> {
            Ok(Self { left: columns.named("left")?, right: columns.named("right")? })
        }
    }

    #[test]
    fn columns_are_found_by_name_in_every_row_wherever_they_stand() {
        let connection = Connection::open_in_memory().unwrap();
        let expected = [Pair { left: 1, right: "a".into() }, Pair { left: 2, right: "b".into() }];
        for columns in ["column1 AS left, column2 AS right", "0, column2 AS right, 0, column1 AS left"] {
            let sql = format!("SELECT {columns} FROM (VALUES (1, 'a'), (2, 'b'))");
            assert_eq!(query_as(&sql).fetch_all::<Pair>(&connection).unwrap(), expected, "{columns}");
        }
        let missing = query_as("SELECT 1 AS left").fetch_all::<Pair>(&connection);
        assert!(matches!(missing, Err(Error::InvalidColumnName(name)) if name == "right"));
    }
}
