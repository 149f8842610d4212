//! The stream under a client: TCP, and TLS where the address asks for it.
//!
//! Whom to believe is the system's business (`system::trust`). There is no way to look away from a wrong certificate.

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{self, CertificateError};
use tokio_util::either::Either;

use super::ClientError;
use super::address::{Encryption, ServerAddress};
use crate::system::trust;

/// A stream to a server. The state of TLS is large, and most connections of a load have none.
pub(super) type Transport = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// Connects, by the system's certificates.
///
/// # Errors
///
/// The server cannot be reached, does not speak TLS, or has a certificate that nobody trusted vouches for.
pub(super) async fn connect(address: &ServerAddress) -> Result<Transport, ClientError> {
    match address.encryption {
        Encryption::None => Ok(Either::Left(tcp(address).await?)),
        Encryption::Tls => connect_tls(address, &system_trust()?).await,
    }
}

async fn tcp(address: &ServerAddress) -> Result<TcpStream, ClientError> {
    let lost = |error: std::io::Error| ClientError::Lost(error.to_string());
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await.map_err(lost)?;
    stream.set_nodelay(true).map_err(lost)?; // messages are small and awaited one by one
    Ok(stream)
}

async fn connect_tls(address: &ServerAddress, trust: &TlsConnector) -> Result<Transport, ClientError> {
    let name = ServerName::try_from(address.host.clone())
        .map_err(|_| ClientError::BadUrl(format!("wss://{}", address.authority)))?;
    match trust.connect(name, tcp(address).await?).await {
        Ok(stream) => Ok(Either::Right(Box::new(stream))),
        Err(error) => Err(explain(&error, address)),
    }
}

/// What the protocol refuses, it refuses next time too; a stream that ended may be there again.
fn explain(error: &std::io::Error, address: &ServerAddress) -> ClientError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let Some(inner) = inner else { return ClientError::Lost(error.to_string()) };
    let server = &address.authority;
    ClientError::Tls(match inner {
        rustls::Error::InvalidMessage(_) => {
            format!("{server} does not speak TLS: is it a ws:// or http:// address?")
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => format!(
            "nobody trusted vouches for the certificate of {server}; SSL_CERT_FILE can name a file with who does"
        ),
        other => format!("{server}: {other}"),
    })
}

fn system_trust() -> Result<TlsConnector, ClientError> {
    Ok(TlsConnector::from(trust::of_the_system().map_err(ClientError::Tls)?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls_native_certs::CertificateResult;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

    use super::*;

    /// Vouches for `server.pem`, a certificate for 127.0.0.1.
    fn authority() -> TlsConnector {
        let mut found = CertificateResult::default();
        found.certs.push(CertificateDer::from_pem_file("tests/data/tls/ca.pem").unwrap());
        TlsConnector::from(trust::trust_in(found).unwrap())
    }

    /// A server that says `hi` to everybody; its port.
    async fn listen(tls: bool) -> u16 {
        let certificate = CertificateDer::from_pem_file("tests/data/tls/server.pem").unwrap();
        let key = PrivateKeyDer::from_pem_file("tests/data/tls/server.key").unwrap();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                if !tls {
                    let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
                } else if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.write_all(b"hi").await;
                    let _ = stream.shutdown().await;
                }
            }
        });
        port
    }

    fn address(host: &str, port: u16) -> ServerAddress {
        ServerAddress::parse(&format!("wss://{host}:{port}")).unwrap()
    }

    #[tokio::test]
    async fn a_server_whose_authority_is_named_is_reached_over_tls() {
        let trust = authority();
        let mut stream = connect_tls(&address("127.0.0.1", listen(true).await), &trust).await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "hi");
    }

    #[tokio::test]
    async fn certificates_that_do_not_fit_are_refused_for_good() {
        let port = listen(true).await;
        let strangers = RootCertStore { roots: Vec::new() };
        let config = ClientConfig::builder().with_root_certificates(strangers).with_no_client_auth();
        let nobody = TlsConnector::from(Arc::new(config));
        let unknown = connect_tls(&address("127.0.0.1", port), &nobody).await.unwrap_err();
        assert!(unknown.to_string().contains("SSL_CERT_FILE") && !unknown.is_passing(), "{unknown}");
        let trust = authority();
        let other_name = connect_tls(&address("localhost", port), &trust).await.unwrap_err();
        assert!(other_name.to_string().contains("localhost") && !other_name.is_passing(), "{other_name}");
    }

    #[tokio::test]
    async fn a_server_without_tls_is_named_as_such() {
        let trust = authority();
        let plain = connect_tls(&address("127.0.0.1", listen(false).await), &trust).await.unwrap_err();
        assert!(plain.to_string().contains("does not speak TLS") && !plain.is_passing(), "{plain}");
    }
}
