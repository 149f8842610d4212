//! Types of single values: reading one is checking it.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fourfold_bots::{BotError, BotSpec, registry};
use fourfold_engine::Variant;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use tracing_subscriber::filter::Targets;

use crate::model::ids::PlayerName;
use crate::system::files;

/// Implements serde through `Display` and `FromStr`.
macro_rules! serde_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}
pub(super) use serde_as_text;

/// Where the store is: empty for the file in the data directory, else the URL of a database server. It may hold a
/// password, so that it is never printed.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct StorageUrl(String);

impl StorageUrl {
    /// The URL, if one is given. Whether it is one is found out by whoever opens it.
    pub(crate) fn expose(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|url| !url.is_empty())
    }

    /// The same for those who only need know whether there is one.
    pub(crate) fn masked(&self) -> Self {
        Self(if self.0.is_empty() { String::new() } else { "***".to_owned() })
    }
}

impl From<String> for StorageUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for StorageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "file" } else { "***" })
    }
}

/// Where to listen: `HOST:PORT`. The host is an IP address (IPv6 in brackets) or a name; port 0 is any free one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListenAddr {
    host: String,
    port: u16,
}

/// A text that is no address to listen on.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidListenAddr {
    /// Not host and port.
    #[error("`{0}` is not HOST:PORT, such as 127.0.0.1:4444 or [::1]:4444")]
    Form(String),
    /// The port is no number of 16 bits.
    #[error("port `{0}` is not a number from 0 to 65535")]
    Port(String),
}

impl ListenAddr {
    /// A port of this machine that others cannot reach.
    pub(crate) fn local(port: u16) -> Self {
        Self { host: "127.0.0.1".to_owned(), port }
    }

    /// As the system's resolver takes it.
    pub(crate) fn as_pair(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// The same host with another port.
    pub(crate) fn at_port(&self, port: u16) -> Self {
        Self { host: self.host.clone(), port }
    }

    /// Whether it stands for all addresses of the machine.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.host.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified())
    }

    /// Whether one of the two cannot be had where the other one is.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let is_all = |addr: &Self| addr.host.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified());
        let is_same = self.host == other.host || is_all(self) || is_all(other);
        // Of port 0 each gets another one.
        self.port != 0 && self.port == other.port && is_same
    }

    /// Whether only this machine can connect.
    pub(crate) fn is_local(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

impl fmt::Display for ListenAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl FromStr for ListenAddr {
    type Err = InvalidListenAddr;

    fn from_str(text: &str) -> Result<Self, InvalidListenAddr> {
        let form = || InvalidListenAddr::Form(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(form)?;
        let host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inner) => inner.parse::<Ipv6Addr>().map_err(|_| form())?.to_string(),
            None => host.to_owned(),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        if host.is_empty() || !(host.parse::<Ipv6Addr>().is_ok() || host.chars().all(is_name)) {
            return Err(form());
        }
        let port = port.parse().map_err(|_| InvalidListenAddr::Port(port.to_owned()))?;
        Ok(Self { host, port })
    }
}

serde_as_text!(ListenAddr);

/// Scheme, host and port of a site, such as `https://fourfold.example`: what browsers call an origin.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SiteOrigin(String);

/// A text that is no origin.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "`{0}` is not scheme, host and port of a site, such as https://fourfold.example or http://localhost:8080"
)]
pub struct InvalidOrigin(String);

impl SiteOrigin {
    /// As browsers write it: lower case, without a path or the scheme's usual port.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, without the port.
    pub(crate) fn host(&self) -> &str {
        let (_, authority) = self.0.split_once("://").unwrap_or_default();
        match authority.split_once(']') {
            Some((address, _)) => authority.get(..=address.len()).unwrap_or(authority),
            None => authority.split(':').next().unwrap_or(authority),
        }
    }

    /// Whether browsers reach it over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl fmt::Display for SiteOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SiteOrigin {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let invalid = || InvalidOrigin(text.to_owned());
        let uri: hyper::Uri = text.parse().map_err(|_| invalid())?;
        let (scheme, authority) = (uri.scheme_str(), uri.authority());
        match (scheme, authority) {
            (Some(scheme @ ("http" | "https")), Some(authority))
                if matches!(uri.path(), "" | "/")
                    && uri.query().is_none()
                    && !authority.as_str().contains('@')
                    && !authority.host().is_empty()
                    && !authority.as_str().ends_with(':') =>
            {
                let usual_port = if scheme == "https" { ":443" } else { ":80" };
                let authority = authority.as_str();
                let authority = authority.strip_suffix(usual_port).unwrap_or(authority);
                Ok(Self(format!("{scheme}://{authority}").to_ascii_lowercase()))
            }
            _ => Err(invalid()),
        }
    }
}

serde_as_text!(SiteOrigin);

/// A range of IP addresses: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpNetwork {
    address: IpAddr,
    /// Leading bits that all addresses of the range share.
    prefix: u8,
}

/// A text that is no range of addresses.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is not an IP address or a range of them, such as 10.0.0.7, 10.0.0.0/8 or fd00::/8")]
pub struct InvalidNetwork(String);

impl IpNetwork {
    /// Whether `address` is in the range. An IPv4 address written as IPv6 counts as IPv4.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let (bits, width) = address_bits(address);
        let (own_bits, own_width) = address_bits(self.address);
        // A shift by the full width would overflow: with prefix 0 every address of the family fits.
        width == own_width && (bits ^ own_bits).checked_shr(u32::from(width - self.prefix)).unwrap_or(0) == 0
    }
}

/// An address as a number, and how many bits the number has.
fn address_bits(address: IpAddr) -> (u128, u8) {
    match address.to_canonical() {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for IpNetwork {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let invalid = || InvalidNetwork(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let address = address.to_canonical();
        let (_, width) = address_bits(address);
        let prefix = prefix.map_or(Ok(width), str::parse).map_err(|_| invalid())?;
        if prefix > width { Err(invalid()) } else { Ok(Self { address, prefix }) }
    }
}

serde_as_text!(IpNetwork);

/// Which events are logged: a level, or levels by module as `RUST_LOG` has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogFilter(String);

/// A text that is no filter.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is not a level (error, warn, info, debug, trace) nor a list such as warn,fourfold=debug")]
pub struct InvalidLogFilter(String);

impl LogFilter {
    /// The filter as the logger takes it.
    ///
    /// # Panics
    ///
    /// Never: only texts that are filters become one of these.
    pub(crate) fn to_targets(&self) -> Targets {
        self.0.parse().expect("checked when it was read")
    }
}

impl Default for LogFilter {
    fn default() -> Self {
        Self("info".to_owned())
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for LogFilter {
    type Err = InvalidLogFilter;

    fn from_str(text: &str) -> Result<Self, InvalidLogFilter> {
        // A lone word is read as a module's name by the library: a misspelt level would silence everything.
        let levels = ["off", "error", "warn", "info", "debug", "trace"];
        let is_known = |part: &str| match part.split_once('=') {
            // Levels are by module; `RUST_LOG` may also have spans, in brackets.
            Some((module, _)) => !module.contains('['),
            None => levels.contains(&part.trim().to_ascii_lowercase().as_str()),
        };
        if text.split(',').all(is_known) && text.parse::<Targets>().is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidLogFilter(text.to_owned()))
        }
    }
}

serde_as_text!(LogFilter);

/// Whom to write to: a mail address, or the address of a page; empty for nobody.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contact(String);

/// A text that leads to nobody.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "`{0}` is neither a mail address, such as arena@example.org, nor a page, such as https://example.org/contact"
)]
pub struct InvalidContact(String);

impl Contact {
    /// As it was given.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// As a link has it; nothing for nobody.
    pub(crate) fn link(&self) -> Option<String> {
        match self.0.as_str() {
            "" => None,
            page if page.starts_with("https://") => Some(page.to_owned()),
            mail => Some(format!("mailto:{mail}")),
        }
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Contact {
    type Err = InvalidContact;

    fn from_str(text: &str) -> Result<Self, InvalidContact> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"()[]\\`".contains(&byte));
        let is_mail = || {
            let parts = text.split_once('@');
            parts.is_some_and(|(who, host)| !who.is_empty() && !host.contains('@') && host.contains('.'))
        };
        let is_page = || text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty());
        let is_one = text.is_empty() || (is_plain && (is_page() || (!text.contains(':') && is_mail())));
        if is_one { Ok(Self(text.to_owned())) } else { Err(InvalidContact(text.to_owned())) }
    }
}

serde_as_text!(Contact);

/// What a file of Markdown may have at most: a page that people read.
const TEXT_BYTES_MAX: u64 = 256 * 1024;

/// A file of text for a page, read where it is named; empty for none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextFile {
    path: String,
    text: String,
}

/// A file that cannot be shown.
#[derive(Debug, Error)]
pub enum InvalidTextFile {
    /// It cannot be read, or is no UTF-8.
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    /// Nobody would read it.
    #[error("{0} has {1} bytes, {max} are allowed", max = TEXT_BYTES_MAX)]
    TooLarge(String, u64),
}

impl TextFile {
    /// What is in it; nothing if none was named.
    pub(crate) fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|_| !self.path.is_empty())
    }
}

impl fmt::Display for TextFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl FromStr for TextFile {
    type Err = InvalidTextFile;

    fn from_str(path: &str) -> Result<Self, InvalidTextFile> {
        if path.is_empty() {
            return Ok(Self::default());
        }
        let unreadable = |error| InvalidTextFile::Unreadable(path.to_owned(), error);
        let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
        if bytes > TEXT_BYTES_MAX {
            return Err(InvalidTextFile::TooLarge(path.to_owned(), bytes));
        }
        let bytes = files::read_regular(Path::new(path), TEXT_BYTES_MAX).map_err(unreadable)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        Ok(Self { path: path.to_owned(), text })
    }
}

serde_as_text!(TextFile);

/// A folder of programs that the site gives away; empty for none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramFolder(PathBuf);

/// A folder that cannot be served.
#[derive(Debug, Error)]
pub enum InvalidProgramFolder {
    /// It is not there, or may not be looked into.
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, std::io::Error),
}

impl ProgramFolder {
    /// Where they are; nothing if there are none.
    pub(crate) fn folder(&self) -> Option<&Path> {
        Some(self.0.as_path()).filter(|folder| !folder.as_os_str().is_empty())
    }
}

impl fmt::Display for ProgramFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.display(), f)
    }
}

impl FromStr for ProgramFolder {
    type Err = InvalidProgramFolder;

    fn from_str(path: &str) -> Result<Self, InvalidProgramFolder> {
        if !path.is_empty() {
            let unreadable = |error| InvalidProgramFolder::Unreadable(path.to_owned(), error);
            std::fs::read_dir(path).map_err(unreadable)?;
        }
        Ok(Self(path.into()))
    }
}

serde_as_text!(ProgramFolder);

/// An optional value that an empty text leaves out, so that its key can stand in the documented file.
pub(super) mod empty_is_none {
    use super::{Deserialize, Deserializer, Serializer, SiteOrigin};
    use serde::de::Error as _;

    #[expect(clippy::ref_option, reason = "serde passes the field as it is")]
    pub(in crate::system) fn serialize<S: Serializer>(
        value: &Option<SiteOrigin>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(value.as_ref().map_or("", SiteOrigin::as_str))
    }

    pub(in crate::system) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<SiteOrigin>, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(D::Error::custom) }
    }
}

/// A name that people could register too.
pub(super) fn registrable_name<'de, D: Deserializer<'de>>(from: D) -> Result<PlayerName, D::Error> {
    PlayerName::register(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// A bot that the registry knows, with settings that it has. Whether it works is found out when it plays.
pub(super) fn known_bot(text: &str) -> Result<BotSpec, BotError> {
    let spec: BotSpec = text.parse()?;
    match registry::build(&spec, Variant::STANDARD) {
        Ok(_)
        | Err(
            BotError::Broken { .. }
            | BotError::VariantNotPlayed { .. }
            | BotError::OtherBot { .. }
            | BotError::GameOver
            | BotError::LearnsNothing { .. }
            | BotError::BadState { .. },
        ) => Ok(spec),
        Err(
            error @ (BotError::Unreadable { .. }
            | BotError::UnknownBot { .. }
            | BotError::UnknownSetting { .. }
            | BotError::RepeatedSetting { .. }
            | BotError::BadValue { .. }),
        ) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: FromStr + fmt::Display>(text: &str, printed: Option<&str>) {
        let read = text.parse::<T>().ok().map(|value| value.to_string());
        assert_eq!(read.as_deref(), printed, "{text}");
    }

    #[test]
    fn addresses_to_listen_on() {
        check::<ListenAddr>("127.0.0.1:0", Some("127.0.0.1:0"));
        check::<ListenAddr>("localhost:4444", Some("localhost:4444"));
        check::<ListenAddr>("[::1]:4444", Some("[::1]:4444"));
        for text in
            ["", "4444", ":4444", "127.0.0.1", "127.0.0.1:70000", "127.0.0.1:-1", "[::1", "a b:1", "[x]:1"]
        {
            check::<ListenAddr>(text, None);
        }
    }

    #[test]
    fn only_loopback_is_local() {
        let is_local = |text: &str| text.parse::<ListenAddr>().unwrap().is_local();
        assert!(is_local("127.0.0.1:1") && is_local("[::1]:1") && is_local("localhost:1"));
        assert!(!is_local("0.0.0.0:1") && !is_local("[::]:1") && !is_local("192.0.2.1:1"));
    }

    #[test]
    fn origins_have_no_path() {
        check::<SiteOrigin>("https://Fourfold.example", Some("https://fourfold.example"));
        check::<SiteOrigin>("http://localhost:8080/", Some("http://localhost:8080"));
        check::<SiteOrigin>("https://a.example:443", Some("https://a.example"));
        check::<SiteOrigin>("http://a.example:443", Some("http://a.example:443"));
        for text in [
            "",
            "fourfold.example",
            "https://",
            "ftp://a.example",
            "https://a.example/x",
            "https://u@a.example",
        ] {
            check::<SiteOrigin>(text, None);
        }
    }

    #[track_caller]
    fn check_contains(network: &str, address: &str, expected: bool) {
        let network: IpNetwork = network.parse().unwrap();
        assert_eq!(network.contains(address.parse().unwrap()), expected, "{network} {address}");
    }

    #[test]
    fn networks_contain_what_shares_their_prefix() {
        check_contains("10.0.0.0/8", "10.255.0.1", true);
        check_contains("10.0.0.0/8", "11.0.0.1", false);
        check_contains("10.0.0.0/8", "::ffff:10.1.2.3", true);
        check_contains("192.0.2.7", "192.0.2.7", true);
        check_contains("192.0.2.7", "192.0.2.6", false);
        check_contains("0.0.0.0/0", "255.255.255.255", true);
        check_contains("0.0.0.0/0", "::1", false);
        check_contains("::/0", "fd00::1", true);
        check_contains("fd00::/8", "fe00::1", false);
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/", "host/8"] {
            check::<IpNetwork>(text, None);
        }
    }

    #[test]
    fn misspelt_levels_are_refused() {
        check::<LogFilter>("warn,fourfold=debug", Some("warn,fourfold=debug"));
        check::<LogFilter>("inof", None);
        check::<LogFilter>("fourfold=loud", None);
        check::<LogFilter>("[game]=debug", None);
        check::<LogFilter>("fourfold[{game=1}]=debug", None);
        check::<LogFilter>("", None);
    }

    #[test]
    fn contacts_are_mail_addresses_or_pages() {
        for (text, link) in [
            ("arena@example.org", Some("mailto:arena@example.org")),
            ("https://example.org/contact", Some("https://example.org/contact")),
            ("", None),
        ] {
            assert_eq!(text.parse::<Contact>().unwrap().link().as_deref(), link);
        }
        for text in [
            "javascript:alert(1)@a.b",
            "me",
            "@a.b",
            "a@b",
            "http://a.b",
            "https://",
            "a b@c.d",
            "a@b.c\nX: y",
        ] {
            assert!(text.parse::<Contact>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_for_a_page_is_read_where_it_is_named() {
        let file: TextFile = "LICENSE-MIT".parse().unwrap();
        assert!(file.text().unwrap().contains("MIT") && file.to_string() == "LICENSE-MIT");
        assert_eq!("".parse::<TextFile>().unwrap().text(), None);
        let error = "no/such/file.md".parse::<TextFile>().unwrap_err().to_string();
        assert!(error.starts_with("no/such/file.md cannot be read"), "{error}");
        assert!("src".parse::<TextFile>().is_err(), "a folder");
    }

    #[test]
    fn a_folder_of_programs_is_there_or_none_is_named() {
        assert_eq!("src".parse::<ProgramFolder>().unwrap().folder(), Some(Path::new("src")));
        assert_eq!("".parse::<ProgramFolder>().unwrap().folder(), None);
        for path in ["no/such/folder", "LICENSE-MIT"] {
            let error = path.parse::<ProgramFolder>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{path} cannot be read: ")), "{error}");
        }
    }
}
