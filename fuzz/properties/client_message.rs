//! No text of a client makes the reader panic, and a refusal can be told.

use fourfold::protocol::parse::parse;

pub(crate) fn hold(text: &str) {
    // Either is fine; what matters is that one of them comes back.
    let _ = parse(text);
}
