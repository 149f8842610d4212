//! The address of a server as people type it: pure.

use hyper::Uri;

use super::ClientError;

/// The path of the socket, for addresses given without one.
const SOCKET_PATH: &str = "/api/v1/socket";

/// Whether what is said is encrypted on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encryption {
    None,
    Tls,
}

/// Where a server listens, and where its socket is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ServerAddress {
    pub(super) encryption: Encryption,
    /// A name or an IP address; IPv6 without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and port as they were typed.
    pub(super) authority: String,
    /// `ws` or `wss`, with the path of the socket.
    pub(super) socket: Uri,
}

impl ServerAddress {
    /// Reads `ws://HOST:PORT` or `wss://HOST`, which `http` and `https` stand for as well, with a path or without one.
    ///
    /// # Errors
    ///
    /// It is no such address.
    pub(super) fn parse(url: &str) -> Result<Self, ClientError> {
        let bad_url = || ClientError::BadUrl(url.to_owned());
        let uri: Uri = url.trim_end_matches('/').parse().map_err(|_| bad_url())?;
        let (encryption, scheme, port) = match uri.scheme_str() {
            Some("ws" | "http") => (Encryption::None, "ws", 80),
            Some("wss" | "https") => (Encryption::Tls, "wss", 443),
            Some(_) | None => return Err(bad_url()),
        };
        let authority =
            uri.authority().filter(|authority| !authority.host().is_empty()).ok_or_else(bad_url)?;
        let path = uri.path_and_query().map(ToString::to_string).filter(|path| path != "/");
        let socket = Uri::builder()
            .scheme(scheme)
            .authority(authority.clone())
            .path_and_query(path.unwrap_or_else(|| SOCKET_PATH.to_owned()))
            .build()
            .map_err(|_| bad_url())?;
        Ok(Self {
            encryption,
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(port),
            authority: authority.to_string(),
            socket,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, encryption: Encryption, host: &str, port: u16, socket: &str) {
        let address = ServerAddress::parse(url).unwrap();
        let seen = (address.encryption, address.host.as_str(), address.port, address.socket.to_string());
        assert_eq!(seen, (encryption, host, port, socket.to_owned()), "{url}");
    }

    #[test]
    fn addresses_are_completed() {
        use Encryption::{None, Tls};
        check("ws://127.0.0.1:4444", None, "127.0.0.1", 4444, "ws://127.0.0.1:4444/api/v1/socket");
        check("http://127.0.0.1:4444/", None, "127.0.0.1", 4444, "ws://127.0.0.1:4444/api/v1/socket");
        check("ws://a.example/x/socket", None, "a.example", 80, "ws://a.example/x/socket");
        check("wss://a.example", Tls, "a.example", 443, "wss://a.example/api/v1/socket");
        check("https://[::1]:4943", Tls, "::1", 4943, "wss://[::1]:4943/api/v1/socket");
    }

    #[test]
    fn what_is_no_address_is_said_to_be_none() {
        for url in ["", "127.0.0.1:4444", "a.example", "ftp://a.example", "wss://", "ws:///x", "wss:// "] {
            let error = ServerAddress::parse(url).unwrap_err();
            assert!(matches!(error, ClientError::BadUrl(_)) && !error.is_passing(), "{url}: {error}");
        }
    }
}
