//! No settings make the reader panic, and what is read can be written.

#![no_main]

use fourfold::system::config::Config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(config) = toml::from_str::<Config>(text) {
        assert_eq!(toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(), config);
    }
});
