//! No settings make the reader panic, and what is read can be written.

use fourfold::system::config::Config;

pub(crate) fn hold(text: &str) {
    if let Ok(config) = toml::from_str::<Config>(text) {
        assert_eq!(toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(), config);
    }
}
