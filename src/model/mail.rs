//! Mail addresses: text that goes into commands and headers of mails, so that nothing else gets into them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Characters before the `@`, by RFC 5321.
const LOCAL_MAX: usize = 64;

/// Characters in all, by the same.
const ADDRESS_MAX: usize = 254;

/// Characters of a part of a host's name, by RFC 1035.
const LABEL_MAX: usize = 63;

/// The address of a mailbox, `ada@example.org`: ASCII letters, digits and a few signs, without names and quotes. The
/// host is in small letters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MailAddress(String);

/// A text that is no mail address.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("this is no mail address such as ada@example.org, of at most {ADDRESS_MAX} plain characters")]
pub struct InvalidMailAddress;

impl MailAddress {
    /// As it was given, but for the host.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The host that takes mails for it.
    pub(crate) fn host(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, host)| host)
    }

    /// The same for all ways in which people write it: hardly any mailbox tells capitals from small letters.
    pub(crate) fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Logs do not say where people have their mail.
impl fmt::Debug for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "…@{}", self.host())
    }
}

fn is_local(text: &str) -> bool {
    // RFC 5322, `dot-atom`.
    let is_atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    text.len() <= LOCAL_MAX && text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom))
}

fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LABEL_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_name = text.rsplit('.').next().is_some_and(|last| !last.bytes().all(|byte| byte.is_ascii_digit()));
    is_name && text.contains('.') && text.split('.').all(is_label)
}

impl FromStr for MailAddress {
    type Err = InvalidMailAddress;

    fn from_str(text: &str) -> Result<Self, InvalidMailAddress> {
        let (local, host) = text.split_once('@').ok_or(InvalidMailAddress)?;
        if text.len() > ADDRESS_MAX || !is_local(local) || !is_host(host) {
            return Err(InvalidMailAddress);
        }
        Ok(Self(format!("{local}@{}", host.to_ascii_lowercase())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_kept_as_people_write_them() {
        for (text, shown) in [
            ("ada@example.org", "ada@example.org"),
            ("Ada.L+arena@Mail.Example.ORG", "Ada.L+arena@mail.example.org"),
            ("o'neil_=7@xn--bcher-kva.example", "o'neil_=7@xn--bcher-kva.example"),
        ] {
            let address: MailAddress = text.parse().unwrap();
            assert_eq!(address.as_str(), shown);
        }
        let address: MailAddress = "Ada@Example.org".parse().unwrap();
        assert_eq!((address.folded().as_str(), address.host()), ("ada@example.org", "example.org"));
        assert_eq!(format!("{address:?}"), "…@example.org");
    }

    #[test]
    fn what_could_end_a_command_or_a_header_is_no_address() {
        let long_local = format!("{}@example.org", "a".repeat(LOCAL_MAX + 1));
        let long_label = format!("a@{}.org", "b".repeat(LABEL_MAX + 1));
        let long = format!("a@{}org", "example.".repeat(32));
        for text in [
            "",
            "ada",
            "@example.org",
            "ada@",
            "ada@localhost",
            "ada@[127.0.0.1]",
            "ada@127.0.0.1",
            "ada@example..org",
            "ada@-example.org",
            "ada@example-.org",
            ".ada@example.org",
            "a..da@example.org",
            "ada@example.org\r\nBcc: all@example.org",
            "ada@example.org\n",
            "ada\r\n@example.org",
            "ada@example.org>",
            "<ada@example.org>",
            "Ada <ada@example.org>",
            "ada@example.org,bob@example.org",
            "ada@bob@example.org",
            "\"ada\"@example.org",
            "ada lovelace@example.org",
            "adä@example.org",
            "ada@exämple.org",
            "ada\0@example.org",
            &long_local,
            &long_label,
            &long,
        ] {
            assert_eq!(text.parse::<MailAddress>(), Err(InvalidMailAddress), "{text:?}");
        }
    }
}
