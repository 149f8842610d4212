#![no_main]

#[path = "../properties/config.rs"]
mod config;

libfuzzer_sys::fuzz_target!(|text: &str| config::hold(text));
