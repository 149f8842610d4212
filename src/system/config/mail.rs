//! How mails are sent, if any are.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::value::serde_as_text;
use super::{ConfigError, ListenAddr, SiteOrigin};
use crate::model::mail::{InvalidMailAddress, MailAddress};
use crate::model::secret::Secret;

/// What stands for a secret where settings are shown.
const MASK: &str = "***";

/// Bytes of a file with a password: more is none.
const SECRET_BYTES_MAX: u64 = 4 << 10;

/// How mails are sent, if any are.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MailConfig {
    /// The mail server that takes them; empty for no mails.
    pub(crate) server: MailServerAddr,
    /// How the way there is encrypted.
    pub(crate) security: MailSecurity,
    /// From whom they come.
    pub(crate) from: MailSender,
    /// As whom the server knows us; empty if it need not.
    pub(crate) user: String,
    /// Its password, unless that stands in a file.
    pub(crate) password: HiddenText,
    /// The file with that password, and nothing else in it.
    pub(crate) password_file: SecretFile,
}

impl MailConfig {
    /// The password of the user, from wherever it is.
    pub(crate) fn password(&self) -> Secret {
        self.password.or_in(&self.password_file)
    }

    /// The same for those who look.
    pub(super) fn masked(&self) -> Self {
        Self { password: self.password.masked(), ..self.clone() }
    }

    /// Refuses half of what mails need, and passwords that everybody on the way could read.
    pub(super) fn check(&self, public_url: Option<&SiteOrigin>) -> Result<(), ConfigError> {
        let refused =
            |keys, message: &str| Err(ConfigError::Contradiction { keys, message: message.to_owned() });
        let Some(server) = &self.server.0 else { return Ok(()) };
        if self.from.0.is_none() {
            return refused("mail.server and mail.from", "say from whom the mails come");
        }
        if public_url.is_none() {
            let message = "mails have links in them: say where browsers find the site";
            return refused("mail.server and server.public_url", message);
        }
        let (here, in_file) = (!self.password.is_empty(), !self.password_file.is_empty());
        if here && in_file {
            return refused("mail.password and mail.password_file", "give one of them");
        }
        if self.user.is_empty() == (here || in_file) {
            return refused("mail.user and mail.password", "give both, or none of them");
        }
        if self.security == MailSecurity::None && here | in_file && !server.is_local() {
            let message = "a password goes to another machine encrypted or not at all: starttls or tls";
            return refused("mail.security and mail.password", message);
        }
        if self.user.chars().any(char::is_control) {
            return refused("mail.user", "there are no control characters in a name");
        }
        Ok(())
    }
}

/// How the way to a mail server is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MailSecurity {
    /// After a greeting in the clear, or nothing is sent: mostly port 587.
    #[default]
    Starttls,
    /// From the first byte on: mostly port 465.
    Tls,
    /// Not at all: for a server on this machine.
    None,
}

/// The mail server, `HOST:PORT`; empty for none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct MailServerAddr(pub(crate) Option<ListenAddr>);

/// A text that is no server.
#[derive(Debug, Error)]
#[error("`{0}` is not HOST:PORT of a mail server, such as mail.example.org:587")]
pub(crate) struct InvalidMailServer(String);

impl fmt::Display for MailServerAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |address| address.fmt(f))
    }
}

impl FromStr for MailServerAddr {
    type Err = InvalidMailServer;

    fn from_str(text: &str) -> Result<Self, InvalidMailServer> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let address: ListenAddr = text.parse().map_err(|_| InvalidMailServer(text.to_owned()))?;
        if address.as_pair().1 == 0 {
            return Err(InvalidMailServer(text.to_owned()));
        }
        Ok(Self(Some(address)))
    }
}

serde_as_text!(MailServerAddr);

/// From whom mails come; empty for nobody.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct MailSender(pub(crate) Option<MailAddress>);

impl fmt::Display for MailSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("", MailAddress::as_str))
    }
}

impl FromStr for MailSender {
    type Err = InvalidMailAddress;

    fn from_str(text: &str) -> Result<Self, InvalidMailAddress> {
        Ok(Self(if text.is_empty() { None } else { Some(text.parse()?) }))
    }
}

serde_as_text!(MailSender);

/// A text that nobody should see, so that it is never printed.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct HiddenText(String);

impl HiddenText {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// This one, or what stands in a file.
    pub(super) fn or_in(&self, file: &SecretFile) -> Secret {
        Secret::new(if self.is_empty() { file.text.as_str() } else { self.0.as_str() })
    }

    pub(super) fn masked(&self) -> Self {
        Self(if self.0.is_empty() { String::new() } else { MASK.to_owned() })
    }
}

#[cfg(test)]
impl From<&str> for HiddenText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked().0)
    }
}

/// A file with a secret on its first line, read where it is named; empty for none.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct SecretFile {
    path: String,
    text: String,
}

/// A file that has no secret.
#[derive(Debug, Error)]
pub(crate) enum InvalidSecretFile {
    /// It cannot be read, or is no UTF-8.
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    /// It is empty, or has more in it than a secret.
    #[error("{0} should have a secret on one line, and nothing else in it")]
    NoSecret(String),
}

impl SecretFile {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl fmt::Debug for SecretFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl fmt::Display for SecretFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl FromStr for SecretFile {
    type Err = InvalidSecretFile;

    fn from_str(path: &str) -> Result<Self, InvalidSecretFile> {
        if path.is_empty() {
            return Ok(Self::default());
        }
        let unreadable = |error| InvalidSecretFile::Unreadable(path.to_owned(), error);
        let none = || InvalidSecretFile::NoSecret(path.to_owned());
        if std::fs::metadata(path).map_err(unreadable)?.len() > SECRET_BYTES_MAX {
            return Err(none());
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(none());
        }
        Ok(Self { path: path.to_owned(), text: text.to_owned() })
    }
}

serde_as_text!(SecretFile);

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> MailConfig {
        MailConfig {
            server: "mail.example.org:587".parse().unwrap(),
            from: "arena@example.org".parse().unwrap(),
            user: "arena".into(),
            password: "hunter2".into(),
            ..MailConfig::default()
        }
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut MailConfig), keys: &str) {
        let mut config = whole();
        change(&mut config);
        let site = "https://fourfold.example".parse().unwrap();
        let error = config.check(Some(&site)).unwrap_err().to_string();
        assert!(error.starts_with(keys), "{error}");
    }

    #[test]
    fn half_of_what_mails_need_is_refused_by_its_keys() {
        let site: SiteOrigin = "https://fourfold.example".parse().unwrap();
        whole().check(Some(&site)).unwrap();
        MailConfig::default().check(None).unwrap();
        check_refused(|mail| mail.from = MailSender::default(), "mail.server and mail.from: ");
        check_refused(|mail| mail.user.clear(), "mail.user and mail.password: ");
        check_refused(|mail| mail.password = HiddenText::default(), "mail.user and mail.password: ");
        check_refused(|mail| mail.user = "a\0b".into(), "mail.user: ");
        let error = whole().check(None).unwrap_err().to_string();
        assert!(error.starts_with("mail.server and server.public_url: "), "{error}");
    }

    #[test]
    fn a_password_goes_in_the_clear_to_this_machine_alone() {
        check_refused(|mail| mail.security = MailSecurity::None, "mail.security and mail.password: ");
        let site = "https://fourfold.example".parse().unwrap();
        for server in ["127.0.0.1:25", "[::1]:25", "localhost:25"] {
            let server = server.parse().unwrap();
            MailConfig { server, security: MailSecurity::None, ..whole() }.check(Some(&site)).unwrap();
        }
    }

    #[test]
    fn a_password_is_read_from_its_file_and_shown_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "hunter2\n").unwrap();
        let file: SecretFile = path.to_str().unwrap().parse().unwrap();
        let config = MailConfig { password: HiddenText::default(), password_file: file, ..whole() };
        assert_eq!(config.password().expose(), "hunter2");
        for shown in [format!("{config:?}"), toml::to_string(&config).unwrap(), format!("{:?}", whole())] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        assert!(!toml::to_string(&whole().masked()).unwrap().contains("hunter2"));
        for text in ["", "\n", "two\nlines\n", &"x".repeat(5_000)] {
            std::fs::write(&path, text).unwrap();
            assert!(path.to_str().unwrap().parse::<SecretFile>().is_err(), "{text:?}");
        }
        check_refused(
            |mail| mail.password_file = SecretFile { path: "x".into(), text: "y".into() },
            "mail.password and mail.password_file: ",
        );
    }

    #[test]
    fn what_is_no_server_is_refused() {
        for text in ["mail.example.org", "mail.example.org:0", ":587", "smtp://mail.example.org:587"] {
            assert!(text.parse::<MailServerAddr>().is_err(), "{text}");
        }
    }
}
