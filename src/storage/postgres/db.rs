//! Statements: a text, its arguments in order, and what its rows become.
//!
//! All are prepared once for each connection and kept.

use std::marker::PhantomData;

pub(super) use deadpool_postgres::ClientWrapper as Connection;
use futures::future::try_join_all;
use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Error, Row};

use super::error::unexpected;
use crate::storage::error::StoreError;
use crate::storage::rows::{Cell, Columns, FromRow};

/// An argument as the driver takes it.
pub(super) type Boxed<'q> = Box<dyn ToSql + Sync + Send + 'q>;

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

/// Executes statements in their order, each sent before the one before it is answered: however many there are, they
/// take one way there and back, for which all moves of the next commit wait. Says how many rows each has changed.
///
/// # Errors
///
/// That of the first which fails. In a transaction those after it fail with it.
pub(super) async fn execute_all(
    connection: &Connection,
    queries: &[Query<'_>],
) -> Result<Vec<u64>, StoreError> {
    let mut statements = Vec::with_capacity(queries.len());
    for query in queries {
        statements.push(connection.prepare_cached(query.sql).await?);
    }
    let arguments: Vec<_> = queries.iter().map(Query::parameters).collect();
    // Polled for the first time one after the other, which is when each is sent.
    let executing = statements
        .iter()
        .zip(&arguments)
        .map(|(statement, parameters)| connection.execute(statement, parameters));
    Ok(try_join_all(executing).await?)
}

/// What a statement gives: nothing, rows, or single values.
#[derive(Debug)]
pub(super) struct Nothing;
#[derive(Debug)]
pub(super) struct Rows;
#[derive(Debug)]
pub(super) struct Scalars;

/// A statement with its arguments.
#[must_use = "it is not executed yet"]
pub(super) struct Query<'q, Given = Nothing> {
    sql: &'q str,
    arguments: Vec<Boxed<'q>>,
    given: PhantomData<fn() -> Given>,
}

impl<'q, Given> Query<'q, Given> {
    fn new(sql: &'q str) -> Self {
        Self { sql, arguments: Vec::new(), given: PhantomData }
    }

    /// Adds the next argument.
    pub(super) fn bind(mut self, argument: impl Argument<'q>) -> Self {
        self.arguments.push(Box::new(argument.into_sql()));
        self
    }

    /// Adds the next arguments.
    pub(super) fn bind_all(mut self, arguments: Vec<Boxed<'q>>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.arguments.iter().map(|argument| &**argument as &(dyn ToSql + Sync)).collect()
    }

    async fn rows(&self, connection: &Connection) -> Result<Vec<Row>, Error> {
        let statement = connection.prepare_cached(self.sql).await?;
        connection.query(&statement, &self.parameters()).await
    }
}

impl Query<'_> {
    /// Executes it, and says how many rows it changed.
    pub(super) async fn execute(self, connection: &Connection) -> Result<u64, StoreError> {
        let statement = connection.prepare_cached(self.sql).await?;
        Ok(connection.execute(&statement, &self.parameters()).await?)
    }

    /// Whether it gives a row.
    pub(super) async fn has_row(self, connection: &Connection) -> Result<bool, StoreError> {
        Ok(!self.rows(connection).await?.is_empty())
    }
}

impl Query<'_, Rows> {
    pub(super) async fn fetch_all<T: FromRow>(self, connection: &Connection) -> Result<Vec<T>, StoreError> {
        let rows = self.rows(connection).await?;
        Ok(rows
            .iter()
            .map(|row| T::from_row(&mut RowColumns { row, next: 0 }))
            .collect::<Result<_, Error>>()?)
    }

    pub(super) async fn fetch_optional<T: FromRow>(
        self,
        connection: &Connection,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.rows(connection).await?;
        Ok(rows.first().map(|row| T::from_row(&mut RowColumns { row, next: 0 })).transpose()?)
    }

    /// # Errors
    ///
    /// Also if there is no row.
    pub(super) async fn fetch_one<T: FromRow>(self, connection: &Connection) -> Result<T, StoreError> {
        self.fetch_optional(connection).await?.ok_or_else(|| unexpected("a row is missing"))
    }
}

impl Query<'_, Scalars> {
    pub(super) async fn fetch_all<T: FromSqlOwned>(
        self,
        connection: &Connection,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.rows(connection).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, Error>>()?)
    }

    pub(super) async fn fetch_optional<T: FromSqlOwned>(
        self,
        connection: &Connection,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.rows(connection).await?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }

    /// # Errors
    ///
    /// Also if there is no row.
    pub(super) async fn fetch_one<T: FromSqlOwned>(self, connection: &Connection) -> Result<T, StoreError> {
        self.fetch_optional(connection).await?.ok_or_else(|| unexpected("a row is missing"))
    }
}

/// What can be given to a statement. Every number is a BIGINT.
pub(super) trait Argument<'q> {
    type Sql: ToSql + Sync + Send + 'q;

    fn into_sql(self) -> Self::Sql;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Argument<'_> for $type {
            type Sql = i64;

            fn into_sql(self) -> i64 {
                i64::from(self)
            }
        }
    )*};
}

integers!(i64 i32 u32 u16 u8);

macro_rules! themselves {
    ($($type:ty)*) => {$(
        impl<'q> Argument<'q> for $type {
            type Sql = Self;

            fn into_sql(self) -> Self {
                self
            }
        }
    )*};
}

themselves!(bool String &'q str &'q [u8] Vec<i64> Vec<Option<i64>> Vec<String> Vec<&'q str>);
themselves!(Vec<Option<&'q str>> Vec<Vec<u8>>);

impl<'q> Argument<'q> for &'q Vec<u8> {
    type Sql = &'q [u8];

    fn into_sql(self) -> Self::Sql {
        self.as_slice()
    }
}

impl<'q> Argument<'q> for &'q String {
    type Sql = &'q str;

    fn into_sql(self) -> Self::Sql {
        self.as_str()
    }
}

impl<'q, T: Argument<'q>> Argument<'q> for Option<T> {
    type Sql = Option<T::Sql>;

    fn into_sql(self) -> Self::Sql {
        self.map(Argument::into_sql)
    }
}

impl<'q> Argument<'q> for &'q Option<String> {
    type Sql = Option<&'q str>;

    fn into_sql(self) -> Self::Sql {
        self.as_deref()
    }
}

/// The columns of one row. The one that is wanted mostly is the next one, and then no other is looked at.
struct RowColumns<'r> {
    row: &'r Row,
    next: usize,
}

impl Columns for RowColumns<'_> {
    type Error = Error;

    fn next<T: Cell>(&mut self) -> Result<T, Error> {
        self.next += 1;
        self.row.try_get(self.next - 1)
    }

    fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    fn named<T: Cell>(&mut self, name: &str) -> Result<T, Error> {
        let columns = self.row.columns();
        if columns.get(self.next).is_none_or(|column| column.name() != name) {
            let found = columns.iter().position(|column| column.name() == name);
            // Past the end if there is none, which the driver says.
            self.next = found.unwrap_or(columns.len());
        }
        self.next()
    }
}
