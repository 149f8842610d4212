//! From the types of the program to those of SQLite's functions.

use crate::model::ids::PlayerId;

/// Ids as the one argument of `json_each`, which keeps a statement the same for any count; they need no escaping.
pub(super) fn id_list(ids: &[PlayerId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{}\"", id.as_str())).collect();
    format!("[{}]", ids.join(","))
}
