#![no_main]

#[path = "../properties/notation.rs"]
mod notation;

libfuzzer_sys::fuzz_target!(|input: (&str, &str)| notation::hold(input));
