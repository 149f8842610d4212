#![no_main]

#[path = "../properties/client_message.rs"]
mod client_message;

libfuzzer_sys::fuzz_target!(|text: &str| client_message::hold(text));
