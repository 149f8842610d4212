//! Rows of tables as what they stand for: the same for every engine, whose SQL names the columns alike.

/// Declares a struct that is read from the columns with the names of its fields. The fields after `with` are such
/// structs themselves and are read from the same row.
macro_rules! row {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($(#[$of_column:meta])* $column_visible:vis $column:ident: $type:ty,)*
        } $(with {
            $($part_visible:vis $part:ident: $struct:ty,)*
        })?
    ) => {
        $(#[$attribute])*
        $visible struct $name {
            $($(#[$of_column])* $column_visible $column: $type,)*
            $($($part_visible $part: $struct,)*)?
        }

        impl super::FromRow for $name {
            fn from_row<C: super::Columns>(columns: &mut C) -> Result<Self, C::Error> {
                Ok(Self {
                    $($column: columns.named(stringify!($column))?,)*
                    $($($part: super::FromRow::from_row(columns)?,)*)?
                })
            }
        }
    };
}

pub(super) mod bot_versions;
mod bytes;
pub(super) mod chain;
pub(super) mod chosen;
pub(super) mod events;
pub(super) mod follows;
pub(super) mod forgetting;
pub(super) mod games;
pub(super) mod journal;
pub(super) mod judgements;
pub(super) mod learners;
pub(super) mod left_sessions;
pub(super) mod links;
pub(super) mod mails;
pub(super) mod members;
pub(super) mod moderation;
pub(super) mod operators;
pub(super) mod packed;
pub(super) mod players;
pub(super) mod published;
pub(super) mod pushes;
pub(super) mod puzzles;
pub(super) mod ratings;
pub(super) mod refit;
pub(super) mod reports;
pub(super) mod resets;
pub(super) mod rushes;
pub(super) mod settlement;
pub(super) mod studies;
pub(super) mod tournaments;
pub(super) mod vacations;
pub(super) mod voiding;
pub(super) mod webhooks;

use std::str::FromStr;

use super::error::StoreError;
use super::record::DamagedGame;
use super::words::Word;

/// Something that a row becomes. It asks for the same named columns in the same order whatever is in them.
pub(super) trait FromRow: Sized {
    fn from_row<C: Columns>(columns: &mut C) -> Result<Self, C::Error>;
}

/// The columns of one row, taken by name or in order.
pub(super) trait Columns {
    /// What the engine says of a column that is not there, or not of that type.
    type Error;

    fn next<T: Cell>(&mut self) -> Result<T, Self::Error>;

    /// Passes over so many columns without a look at them.
    fn skip(&mut self, columns: usize);

    /// The column with a name. Those after it come next.
    fn named<T: Cell>(&mut self, name: &str) -> Result<T, Self::Error>;
}

/// What every engine can give: `i64`, `bool`, `String`, `Vec<u8>`, options of them, and what is read of their bytes.
pub(super) trait Cell: rusqlite::types::FromSql + tokio_postgres::types::FromSqlOwned {}

impl<T: rusqlite::types::FromSql + tokio_postgres::types::FromSqlOwned> Cell for T {}

macro_rules! tuples {
    ($(($($type:ident)*))*) => {$(
        impl<$($type: Cell),*> FromRow for ($($type,)*) {
            fn from_row<Row: Columns>(columns: &mut Row) -> Result<Self, Row::Error> {
                Ok(($(columns.next::<$type>()?,)*))
            }
        }
    )*};
}

tuples!((A B)(A B C)(A B C D)(A B C D E)(A B C D E F));

/// A count or a duration for an INTEGER column. What would not fit is beyond every limit that we set.
pub(crate) fn to_sql(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Reads a number that cannot be negative, or is narrower than a column.
pub(crate) fn number<T: TryFrom<i64>>(column: &str, value: i64) -> Result<T, Damage> {
    T::try_from(value).map_err(|_| Damage::value(column, value))
}

/// Reads one of the words of a choice.
pub(crate) fn word<T: Word>(column: &str, text: &str) -> Result<T, Damage> {
    T::from_word(text).ok_or_else(|| Damage::value(column, text))
}

/// Reads an id, a name or a variant.
pub(crate) fn parsed<T: FromStr>(column: &str, text: &str) -> Result<T, Damage> {
    text.parse().map_err(|_| Damage::value(column, text))
}

/// Reads a column that other columns say is there.
pub(crate) fn present<T>(column: &str, value: Option<T>) -> Result<T, Damage> {
    value.ok_or_else(|| Damage(format!("{column} is missing")))
}

/// What makes a stored row nonsense.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Damage(pub(crate) String);

impl Damage {
    /// A column holds what it must not.
    pub(crate) fn value(column: &str, value: impl std::fmt::Debug) -> Self {
        Self(format!("{column} is {value:?}"))
    }
}

impl From<Damage> for StoreError {
    fn from(damage: Damage) -> Self {
        Self::Corrupt(damage.0)
    }
}

impl From<DamagedGame> for StoreError {
    fn from(game: DamagedGame) -> Self {
        Self::Corrupt(format!("game {}: {}", game.id, game.what))
    }
}
