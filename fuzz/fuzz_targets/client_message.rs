//! No text of a client makes the reader panic, and a refusal can be told.

#![no_main]

use fourfold::protocol::parse::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Either is fine; what matters is that one of them comes back.
    let _ = parse(text);
});
