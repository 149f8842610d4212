//! Where a message goes, as its owner wrote it.

use std::net::IpAddr;
use std::str::FromStr;

use axum::http::Uri;
use thiserror::Error;

/// Characters of an address: some services put long keys into theirs.
const CHARACTERS_MAX: usize = 300;

/// Below it only those of the web: a message is no greeting for mail servers and the like.
const PORT_MIN: u16 = 1_024;

/// Where a message goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::operations) struct Target {
    pub(in crate::operations) is_encrypted: bool,
    /// A name, or an address without brackets.
    pub(in crate::operations) host: String,
    pub(in crate::operations) port: u16,
    /// As it stands in the `Host` header.
    pub(in crate::operations) authority: String,
    /// With the query, as the request names it.
    pub(in crate::operations) path: String,
}

/// A text that is no address for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "must be `https://HOST/PATH` or `http://HOST/PATH`, port 80, 443 or from {PORT_MIN}, without name and password, \
     at most {CHARACTERS_MAX} characters"
)]
pub(crate) struct InvalidTarget;

impl Target {
    /// Reads one that may have so many bytes.
    ///
    /// # Errors
    ///
    /// It is none.
    pub(in crate::operations) fn read(text: &str, bytes_max: usize) -> Result<Self, InvalidTarget> {
        if text.len() > bytes_max {
            return Err(InvalidTarget);
        }
        read(text)
    }

    /// Whose it is, as browsers write an origin.
    pub(in crate::operations) fn origin(&self) -> String {
        format!("{}://{}", if self.is_encrypted { "https" } else { "http" }, self.authority)
    }

    /// The address, if the host is one.
    pub(in crate::operations) fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

impl FromStr for Target {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        Self::read(text, CHARACTERS_MAX)
    }
}

fn read(text: &str) -> Result<Target, InvalidTarget> {
    let uri: Uri = text.parse().map_err(|_| InvalidTarget)?;
    let (scheme, authority) = (uri.scheme_str(), uri.authority().ok_or(InvalidTarget)?);
    let is_encrypted = match scheme {
        Some("https") => true,
        Some("http") => false,
        Some(_) | None => return Err(InvalidTarget),
    };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    if host.is_empty() || authority.as_str().contains('@') {
        return Err(InvalidTarget);
    }
    // A port that is no number is none to the library.
    let names_port = authority.as_str() != authority.host();
    let port = match (authority.port_u16(), is_encrypted) {
        (Some(port), _) => port,
        (None, _) if names_port => return Err(InvalidTarget),
        (None, true) => 443,
        (None, false) => 80,
    };
    if port < PORT_MIN && port != 80 && port != 443 {
        return Err(InvalidTarget);
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    Ok(Target { is_encrypted, host, port, authority: authority.to_string(), path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_their_parts() {
        let target: Target = "https://ada.example:8443/hook?key=1".parse().unwrap();
        let expected = Target {
            is_encrypted: true,
            host: "ada.example".into(),
            port: 8443,
            authority: "ada.example:8443".into(),
            path: "/hook?key=1".into(),
        };
        assert_eq!(target, expected);
        let plain: Target = "http://[::1]".parse().unwrap();
        assert_eq!((plain.host.as_str(), plain.port, plain.path.as_str()), ("::1", 80, "/"));
        assert_eq!((plain.address(), target.address()), (Some("::1".parse().unwrap()), None));
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("https://ada.example/{}", "x".repeat(CHARACTERS_MAX));
        for text in [
            "",
            "ada.example",
            "/hook",
            "ftp://ada.example/",
            "file:///etc/passwd",
            "https://",
            "https:///x",
            "https://ada:secret@ada.example/",
            "https://ada.example:0/",
            "https://ada.example:99999/",
            "https://ada.example:/",
            "https://ada.example:25/",
            "https://ada.example/\r\nX: y",
            "https://ada example/",
            "gopher://x/",
            &long,
        ] {
            assert_eq!(text.parse::<Target>(), Err(InvalidTarget), "{text}");
        }
    }
}
