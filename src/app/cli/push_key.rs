//! `fourfold push-key`: the keys by which push services know an arena.

use std::io::{self, Write};

use anyhow::anyhow;

use crate::system::vapid::{NewVapidKey, VapidKey};

/// Make a pair of keys for notices to browsers, as the lines of the settings that take them.
///
/// Browsers name the public key when they subscribe: with another pair, all of them have to be turned on anew.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold push-key >> fourfold.toml")]
pub(super) struct PushKeyCommand;

impl PushKeyCommand {
    pub(super) fn run() -> anyhow::Result<()> {
        let key = VapidKey::generate().map_err(|_| anyhow!("the system has no random numbers"))?;
        Ok(io::stdout().write_all(settings(&key).as_bytes())?)
    }
}

fn settings(NewVapidKey { public, private }: &NewVapidKey) -> String {
    let private = private.expose();
    format!(
        "[push]\npublic_key = \"{public}\"\nprivate_key = \"{private}\"\n\
         subject = \"mailto:\" # your address, for operators of push services\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::config::Config;

    #[test]
    fn the_lines_are_settings_once_an_address_is_in_them() {
        let key = VapidKey::generate().unwrap();
        let lines = settings(&key).replace("mailto:", "mailto:ops@example.org");
        let config: Config = toml::from_str(&lines).unwrap();
        assert_eq!(config.push.key().unwrap().unwrap().public(), key.public);
        assert_eq!(config.push.subject, "mailto:ops@example.org");
    }
}
