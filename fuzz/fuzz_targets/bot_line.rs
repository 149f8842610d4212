#![no_main]

#[path = "../properties/bot_line.rs"]
mod bot_line;

libfuzzer_sys::fuzz_target!(|input: (&str, &str)| bot_line::hold(input));
