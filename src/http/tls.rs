//! TLS of the daemon's own, for arenas without a proxy. Certificate and key can be exchanged while it serves.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

use super::peer_stream::PeerStream;
use crate::system::config::TlsFiles;

/// How long a peer may take to agree on TLS: two ways there and back, on a bad line from the other side of the world.
pub(super) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// The first byte of whoever speaks TLS: a record of the handshake (RFC 8446, section 5.1).
const HANDSHAKE_RECORD: u8 = 22;

/// What whoever speaks plain HTTP is told.
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 50\r\nConnection: close\r\n\r\nThis port speaks TLS: begin the link with https.\r\n";

/// Why there is no TLS by these files.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file is not there, or somebody else's.
    #[error("server.{key}: {} cannot be read: {source}", path.display())]
    Unreadable { key: &'static str, path: PathBuf, source: io::Error },
    /// A file has not what it should.
    #[error("server.{key}: {} has no {wanted}", path.display())]
    Empty { key: &'static str, path: PathBuf, wanted: &'static str },
    /// A file is no PEM.
    #[error("server.{key}: {} is not PEM: {source}", path.display())]
    NotPem { key: &'static str, path: PathBuf, source: pem::Error },
    /// The key is another certificate's, or of a kind that nobody uses any more.
    #[error("server.tls_key: {} does not go with {}: {source}", key.display(), certificate.display())]
    Mismatch { key: PathBuf, certificate: PathBuf, source: rustls::Error },
}

/// The certificate that is shown now. Cheap to share.
#[derive(Clone, Debug)]
pub(crate) struct Tls(watch::Sender<Arc<ServerConfig>>);

impl Tls {
    /// Reads certificate and key.
    ///
    /// # Errors
    ///
    /// Names the setting whose file cannot be used, and why.
    pub(crate) fn load(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self(watch::Sender::new(read(files)?)))
    }

    /// Reads them again: connections from now on see the new certificate, those that are there go on.
    ///
    /// # Errors
    ///
    /// As of [`Tls::load`]; the old ones stay.
    pub(crate) fn reload(&self, files: &TlsFiles) -> Result<(), TlsError> {
        self.0.send_replace(read(files)?);
        Ok(())
    }

    /// Agrees on TLS with a peer, which the caller does not wait for longer than [`HANDSHAKE_MAX`].
    ///
    /// # Errors
    ///
    /// The connection is broken, or the peer speaks something else; in plain HTTP it is told what is spoken here.
    pub(super) async fn accept(&self, mut stream: PeerStream) -> io::Result<TlsStream<PeerStream>> {
        let config = Arc::clone(&self.0.borrow());
        if stream.peek().await?.is_some_and(|first| first != HANDSHAKE_RECORD) {
            stream.write_all(NOT_TLS).await?;
            stream.shutdown().await?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        TlsAcceptor::from(config).accept(stream).await
    }
}

fn read(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let TlsFiles { certificate, key } = files;
    let chain = read_chain(certificate)?;
    let private = read_key(key)?;
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, private).map_err(|source| {
            TlsError::Mismatch { key: key.clone(), certificate: certificate.clone(), source }
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let key = "tls_cert";
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(key, path)?).collect();
    match chain {
        Ok(chain) if chain.is_empty() => {
            Err(TlsError::Empty { key, path: path.to_owned(), wanted: "certificate (BEGIN CERTIFICATE)" })
        }
        Ok(chain) => Ok(chain),
        Err(source) => Err(TlsError::NotPem { key, path: path.to_owned(), source }),
    }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let key = "tls_key";
    PrivateKeyDer::from_pem_slice(&bytes(key, path)?).map_err(|source| match source {
        pem::Error::NoItemsFound => TlsError::Empty {
            key,
            path: path.to_owned(),
            wanted: "private key without a password (BEGIN PRIVATE KEY)",
        },
        source => TlsError::NotPem { key, path: path.to_owned(), source },
    })
}

fn bytes(key: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable { key, path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(certificate: &str, key: &str) -> TlsFiles {
        let of = |name: &str| Path::new("tests/data/tls").join(name);
        TlsFiles { certificate: of(certificate), key: of(key) }
    }

    #[track_caller]
    fn check_refused(certificate: &str, key: &str, expected: &str) {
        let tls = Tls::load(&files("server.pem", "server.key")).unwrap();
        let before = Arc::clone(&tls.0.borrow());
        let error = tls.reload(&files(certificate, key)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(Arc::ptr_eq(&before, &tls.0.borrow()), "the old one stays");
    }

    #[test]
    fn what_is_wrong_with_a_certificate_is_said_and_the_old_one_stays() {
        check_refused("none.pem", "server.key", "server.tls_cert: tests/data/tls/none.pem cannot be read");
        check_refused(
            "server.key",
            "server.key",
            "server.tls_cert: tests/data/tls/server.key has no certificate",
        );
        check_refused(
            "server.pem",
            "server.pem",
            "server.tls_key: tests/data/tls/server.pem has no private key",
        );
        check_refused(
            "server.pem",
            "renewed.key",
            "server.tls_key: tests/data/tls/renewed.key does not go with",
        );
        check_refused("../../wire/client.json", "server.key", "has no certificate");
    }

    #[test]
    fn another_certificate_takes_the_place_of_the_first() {
        let tls = Tls::load(&files("server.pem", "server.key")).unwrap();
        let before = Arc::clone(&tls.0.borrow());
        tls.reload(&files("renewed.pem", "renewed.key")).unwrap();
        assert!(!Arc::ptr_eq(&before, &tls.0.borrow()));
    }

    #[test]
    fn what_plain_http_is_told_is_as_long_as_it_says() {
        let text = std::str::from_utf8(NOT_TLS).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{}", body.len());
    }
}
