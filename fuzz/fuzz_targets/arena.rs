#![no_main]

#[path = "../properties/arena.rs"]
mod arena;

libfuzzer_sys::fuzz_target!(|script: &str| arena::hold(script));
