//! An arena moves from one engine to another, row by row.
//!
//! Tables are taken in an order in which no row names one that comes later, and rows in the order of their keys. A
//! portion is written whole or not at all, so the last row that arrived says where to go on after an interruption. At
//! the end both sides are read again and compared.

mod tables;

use std::fmt;

use async_trait::async_trait;
use serde::Serialize;
use thiserror::Error;

use super::error::StoreError;

pub(super) use self::tables::{Kind, Start, TABLES, Table, numbered};

/// A value of a column; a flag is 0 or 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The values of a row, in the order of the table's columns.
pub(super) type Row = Vec<Value>;

/// A store as its tables.
#[async_trait]
pub(super) trait Tables: Send + Sync {
    /// The first rows of a table, or those after a key or at it, in the order of the key: at most one portion.
    async fn rows(&self, table: &'static Table, start: Start, key: &[Value]) -> Result<Vec<Row>, StoreError>;

    /// The last row of a table that has a key.
    async fn last_row(&self, table: &'static Table) -> Result<Option<Row>, StoreError>;

    /// Adds rows, all or none. Of a table without a key they replace what is there.
    async fn put(&self, table: &'static Table, rows: &[Row]) -> Result<(), StoreError>;

    /// The store is going to be read: what it keeps beside its tables for the time being goes into them.
    async fn settle_down(&self) -> Result<(), StoreError>;

    /// All rows are there: keys are counted on from the last ones.
    async fn count_on(&self) -> Result<(), StoreError>;
}

/// What was moved, by table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct MovedTable {
    pub(crate) table: &'static str,
    pub(crate) rows: u64,
}

/// Why an arena was not moved. What has arrived stays where it is, and another attempt goes on from there.
#[derive(Debug, Error)]
pub(crate) enum TransferError {
    #[error("reading from the source failed")]
    Source(#[source] StoreError),
    #[error("writing to the target failed")]
    Target(#[source] StoreError),
    /// The source was used since an earlier attempt, or the target by somebody else.
    #[error(
        "{table} differs at row {key}: the source was used since an earlier attempt; empty the target and begin again"
    )]
    Differs { table: &'static str, key: String },
}

impl TransferError {
    /// The exit status of a program that stops because of it, after `sysexits.h`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Differs { .. } => 65, // EX_DATAERR
            Self::Source(StoreError::Unreachable(_)) | Self::Target(StoreError::Unreachable(_)) => 69, // EX_UNAVAILABLE
            Self::Source(_) | Self::Target(_) => 74, // EX_IOERR
        }
    }
}

/// Where a transfer is: rows are being moved, or have arrived and are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Moved(u64),
    Compared(u64),
}

/// Moves what the target lacks, and compares all of it.
///
/// # Errors
///
/// See [`TransferError`].
pub(super) async fn transfer(
    source: &dyn Tables,
    target: &dyn Tables,
    mut progress: impl FnMut(Step) + Send,
) -> Result<Vec<MovedTable>, TransferError> {
    source.settle_down().await.map_err(TransferError::Source)?;
    for table in TABLES {
        move_table(source, target, table, &mut progress).await?;
    }
    target.count_on().await.map_err(TransferError::Target)?;
    let mut moved = Vec::with_capacity(TABLES.len());
    for table in TABLES {
        let rows = compare(source, target, table, &mut progress).await?;
        moved.push(MovedTable { table: table.name, rows });
    }
    Ok(moved)
}

async fn move_table(
    source: &dyn Tables,
    target: &dyn Tables,
    table: &'static Table,
    progress: &mut (impl FnMut(Step) + Send),
) -> Result<(), TransferError> {
    let mut last = match table.key {
        0 => None,
        _ => target.last_row(table).await.map_err(TransferError::Target)?,
    };
    if let Some(row) = &last {
        // Noticed here, before everything else is moved in vain.
        let key = key_of(table, row);
        let there = source.rows(table, Start::At, key).await.map_err(TransferError::Source)?;
        if there.first() != Some(row) {
            return Err(differs(table, Some(row)));
        }
    }
    loop {
        let rows = after(source, table, last.as_ref()).await.map_err(TransferError::Source)?;
        if rows.is_empty() {
            return Ok(());
        }
        target.put(table, &rows).await.map_err(TransferError::Target)?;
        progress(Step::Moved(rows.len() as u64));
        last = rows.into_iter().next_back();
        if table.key == 0 {
            return Ok(());
        }
    }
}

/// How many rows there are, all of them alike on both sides.
async fn compare(
    source: &dyn Tables,
    target: &dyn Tables,
    table: &'static Table,
    progress: &mut (impl FnMut(Step) + Send),
) -> Result<u64, TransferError> {
    let mut last = None;
    let mut count = 0;
    loop {
        let expected = after(source, table, last.as_ref()).await.map_err(TransferError::Source)?;
        let found = after(target, table, last.as_ref()).await.map_err(TransferError::Target)?;
        if let Some(place) = (0..expected.len().max(found.len())).find(|&n| expected.get(n) != found.get(n)) {
            return Err(differs(table, expected.get(place).or(found.get(place))));
        }
        count += expected.len() as u64;
        progress(Step::Compared(expected.len() as u64));
        last = expected.into_iter().next_back();
        if last.is_none() || table.key == 0 {
            return Ok(count);
        }
    }
}

async fn after(
    tables: &dyn Tables,
    table: &'static Table,
    last: Option<&Row>,
) -> Result<Vec<Row>, StoreError> {
    match last {
        None => tables.rows(table, Start::First, &[]).await,
        Some(row) => tables.rows(table, Start::After, key_of(table, row)).await,
    }
}

fn key_of<'r>(table: &Table, row: &'r Row) -> &'r [Value] {
    row.get(..table.key).unwrap_or(row)
}

fn differs(table: &'static Table, row: Option<&Row>) -> TransferError {
    let key = row.map(|row| key_of(table, row)).unwrap_or_default();
    let key = key.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    TransferError::Differs { table: table.name, key: if key.is_empty() { "1".into() } else { key } }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}
