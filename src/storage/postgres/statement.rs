//! The one statement that a commit of games is: it does nothing at all unless this process may still write.
//!
//! One statement without a transaction around it, so that a process which stands still can never leave one open, and
//! one way to the server and back.

use std::fmt::Write as _;

use tokio_postgres::SimpleQueryMessage;

use super::db::{self, Boxed, Connection};
use crate::storage::error::StoreError;

/// Inserts and deletions that take effect together or not at all.
pub(super) struct Statement<'b> {
    sql: String,
    arguments: Vec<Boxed<'b>>,
    parts: usize,
}

/// A column of rows that are given as arrays: its type and its values.
pub(super) type Column<'b> = (&'static str, Boxed<'b>);

/// A column of numbers.
pub(super) fn numbers<'b>(values: impl Iterator<Item = i64>) -> Column<'b> {
    ("bigint[]", Box::new(values.collect::<Vec<i64>>()))
}

/// A column of numbers that may be missing.
pub(super) fn numbers_or_none<'b>(values: impl Iterator<Item = Option<i64>>) -> Column<'b> {
    ("bigint[]", Box::new(values.collect::<Vec<Option<i64>>>()))
}

/// A column of texts.
pub(super) fn texts<'b>(values: impl Iterator<Item = &'b str>) -> Column<'b> {
    ("text[]", Box::new(values.collect::<Vec<&'b str>>()))
}

/// A column of texts that may be missing.
pub(super) fn texts_or_none<'b>(values: impl Iterator<Item = Option<&'b str>>) -> Column<'b> {
    ("text[]", Box::new(values.collect::<Vec<Option<&'b str>>>()))
}

/// A column of texts that were made for it.
pub(super) fn made_texts<'b>(values: impl Iterator<Item = String>) -> Column<'b> {
    ("text[]", Box::new(values.collect::<Vec<String>>()))
}

/// A column of truths.
pub(super) fn truths<'b>(values: impl Iterator<Item = bool>) -> Column<'b> {
    ("boolean[]", Box::new(values.collect::<Vec<bool>>()))
}

/// Begins a transaction behind the same fence as [`Statement::fenced`]; says whether this process could still write.
/// Both are one text, of which nothing is done if its beginning fails: one way to the server and back, for which all
/// moves wait.
pub(super) async fn begin_fenced(
    connection: &Connection,
    incarnation: i64,
    commit: i64,
) -> Result<bool, StoreError> {
    let sql = format!(
        "BEGIN; UPDATE node SET commits = {commit} WHERE incarnation = {incarnation} AND ended IS NULL"
    );
    let answers = connection.simple_query(&sql).await?;
    Ok(matches!(answers.last(), Some(SimpleQueryMessage::CommandComplete(1))))
}

impl<'b> Statement<'b> {
    /// The fence: the row of this process, which whoever takes the arena over marks as ended before. It counts the
    /// commits too, which tells afterwards whether one took effect.
    pub(super) fn fenced(incarnation: i64, commit: i64) -> Self {
        let sql = "WITH alive AS (UPDATE node SET commits = $2 WHERE incarnation = $1 AND ended IS NULL RETURNING 1)";
        Self { sql: sql.to_owned(), arguments: vec![Box::new(incarnation), Box::new(commit)], parts: 0 }
    }

    /// Adds rows to a table, whose columns are named with it.
    pub(super) fn insert(&mut self, table: &str, columns: Vec<Column<'b>>, conflict: &str) {
        let mut values = String::new();
        for (kind, value) in columns {
            self.arguments.push(value);
            let comma = if values.is_empty() { "" } else { ", " };
            // Writing to a string never fails.
            let _ = write!(values, "{comma}${}::{kind}", self.arguments.len());
        }
        self.part(&format!(
            "INSERT INTO {table} SELECT * FROM unnest({values}) WHERE EXISTS (SELECT FROM alive) {conflict}"
        ));
    }

    /// Takes games from the list of those that go on.
    pub(super) fn end_games(&mut self, games: Vec<i64>) {
        self.arguments.push(Box::new(games));
        let argument = self.arguments.len();
        self.part(&format!(
            "DELETE FROM live_game WHERE game = ANY (${argument}::bigint[]) AND EXISTS (SELECT FROM alive)"
        ));
    }

    fn part(&mut self, sql: &str) {
        let _ = write!(self.sql, ", part{} AS ({sql})", self.parts);
        self.parts += 1;
    }

    /// Does it all; says whether this process could still write.
    pub(super) async fn execute(mut self, connection: &Connection) -> Result<bool, StoreError> {
        self.sql.push_str(" SELECT count(*) FROM alive");
        let query = db::query_scalar(&self.sql).bind_all(self.arguments);
        let alive: i64 = query.fetch_one(connection).await?;
        Ok(alive == 1)
    }
}
