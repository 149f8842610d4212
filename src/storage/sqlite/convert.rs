//! Between the types of the program and those of the tables.

use std::str::FromStr;

use super::error::Damage;
use crate::model::ids::PlayerId;
use crate::storage::words::Word;

/// A count or a duration for an INTEGER column. What would not fit is beyond every limit that we set.
pub(super) fn to_sql(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Ids as the one argument of `json_each`, which keeps a statement the same for any count; they need no escaping.
pub(super) fn id_list(ids: &[PlayerId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{}\"", id.as_str())).collect();
    format!("[{}]", ids.join(","))
}

/// Reads a number that cannot be negative, or is narrower than a column.
pub(super) fn number<T: TryFrom<i64>>(column: &str, value: i64) -> Result<T, Damage> {
    T::try_from(value).map_err(|_| Damage::value(column, value))
}

/// Reads one of the words of a choice.
pub(super) fn word<T: Word>(column: &str, text: &str) -> Result<T, Damage> {
    T::from_word(text).ok_or_else(|| Damage::value(column, text))
}

/// Reads an id, a name or a variant.
pub(super) fn parsed<T: FromStr>(column: &str, text: &str) -> Result<T, Damage> {
    text.parse().map_err(|_| Damage::value(column, text))
}

/// Reads a column that other columns say is there.
pub(super) fn present<T>(column: &str, value: Option<T>) -> Result<T, Damage> {
    value.ok_or_else(|| Damage(format!("{column} is missing")))
}
