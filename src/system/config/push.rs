//! Whether browsers are told something by push services, and how those know us.

use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::mail::{HiddenText, SecretFile};
use crate::system::vapid::{InvalidVapidKey, VapidKey};

/// Characters of `push.subject`: it is part of each request.
const SUBJECT_CHARS_MAX: usize = 200;

/// Whether browsers are told something by push services, and how those know us.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PushConfig {
    /// The public key; empty for no notices.
    pub(crate) public_key: String,
    /// The private key, unless that stands in a file.
    pub(crate) private_key: HiddenText,
    /// The file with that key, and nothing else in it.
    pub(crate) private_key_file: SecretFile,
    /// Where the operators of push services reach the operator: `mailto:` or `https:`.
    pub(crate) subject: String,
}

impl PushConfig {
    /// The pair of keys, if there is one.
    ///
    /// # Errors
    ///
    /// They are not whole, or do not belong together.
    pub(crate) fn key(&self) -> Result<Option<VapidKey>, ConfigError> {
        let refused = |keys, message: String| Err(ConfigError::Contradiction { keys, message });
        let (here, in_file) = (!self.private_key.is_empty(), !self.private_key_file.is_empty());
        if here && in_file {
            return refused("push.private_key and push.private_key_file", "give one of them".into());
        }
        if self.public_key.is_empty() && !here && !in_file {
            return Ok(None);
        }
        if self.public_key.is_empty() || !(here || in_file) {
            return refused("push.public_key and push.private_key", "give both, or none of them".into());
        }
        match VapidKey::read(&self.public_key, &self.private_key.or_in(&self.private_key_file)) {
            Ok(key) => Ok(Some(key)),
            Err(error @ InvalidVapidKey::Public) => refused("push.public_key", error.to_string()),
            Err(error @ InvalidVapidKey::Private) => refused("push.private_key", error.to_string()),
            Err(error @ InvalidVapidKey::NoPair) => {
                refused("push.public_key and push.private_key", error.to_string())
            }
        }
    }

    /// The same for those who look.
    pub(super) fn masked(&self) -> Self {
        Self { private_key: self.private_key.masked(), ..self.clone() }
    }

    /// Refuses keys that are none, and a subject that nobody is reached by.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.key()?.is_none() {
            return Ok(());
        }
        let rest = self.subject.strip_prefix("mailto:").or_else(|| self.subject.strip_prefix("https://"));
        let is_plain = |text: &str| !text.is_empty() && text.chars().all(|char| char.is_ascii_graphic());
        if rest.is_some_and(is_plain) && self.subject.len() <= SUBJECT_CHARS_MAX {
            return Ok(());
        }
        let message =
            "push services ask whom to reach: mailto:ops@example.org, or https://example.org/contact";
        Err(ConfigError::Contradiction { keys: "push.subject", message: message.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::vapid::NewVapidKey;

    fn whole() -> PushConfig {
        let NewVapidKey { public, private } = VapidKey::generate().unwrap();
        PushConfig {
            public_key: public,
            private_key: private.expose().into(),
            subject: "mailto:ops@example.org".into(),
            ..PushConfig::default()
        }
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut PushConfig), keys: &str) {
        let mut config = whole();
        change(&mut config);
        let error = config.check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{keys}: ")), "{error}");
    }

    #[test]
    fn keys_that_are_none_are_refused_by_their_names() {
        whole().check().unwrap();
        PushConfig::default().check().unwrap();
        let both = "push.public_key and push.private_key";
        check_refused(|push| push.public_key.clear(), both);
        check_refused(|push| push.private_key = HiddenText::default(), both);
        check_refused(|push| push.public_key = whole().public_key, both);
        check_refused(|push| push.public_key.truncate(20), "push.public_key");
        check_refused(|push| push.private_key = "hunter2".into(), "push.private_key");
        for subject in ["", "ops@example.org", "mailto:", "http://example.org", "mailto:a b@example.org"] {
            check_refused(|push| push.subject = subject.into(), "push.subject");
        }
        check_refused(|push| push.subject = format!("mailto:{}", "x".repeat(200)), "push.subject");
    }

    #[test]
    fn the_private_key_is_read_from_its_file_and_shown_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let NewVapidKey { public, private } = VapidKey::generate().unwrap();
        std::fs::write(&path, format!("{}\n", private.expose())).unwrap();
        let file: SecretFile = path.to_str().unwrap().parse().unwrap();
        let config = PushConfig {
            public_key: public,
            private_key: HiddenText::default(),
            private_key_file: file,
            ..whole()
        };
        config.check().unwrap();
        for shown in [format!("{config:?}"), toml::to_string(&config).unwrap()] {
            assert!(!shown.contains(private.expose()), "{shown}");
        }
        let here = PushConfig { private_key: private.expose().into(), ..config.clone() };
        assert!(!toml::to_string(&here.masked()).unwrap().contains(private.expose()));
        let error = here.check().unwrap_err().to_string();
        assert!(error.starts_with("push.private_key and push.private_key_file: "), "{error}");
    }
}
