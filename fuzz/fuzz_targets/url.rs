#![no_main]

#[path = "../properties/url.rs"]
mod url;

libfuzzer_sys::fuzz_target!(|text: &str| url::hold(text));
