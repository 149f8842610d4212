//! From the types of the program to those of SQLite's functions.

use crate::model::ids::PlayerId;

/// Ids as the one argument of `json_each`, which keeps a statement the same for any count.
pub(super) fn id_list(ids: &[PlayerId]) -> String {
    text_list(ids.iter().map(PlayerId::as_str))
}

/// Texts that need no escaping as such an argument: ids, or words of the schema.
pub(super) fn text_list<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| format!("\"{text}\"")).collect();
    format!("[{}]", texts.join(","))
}
