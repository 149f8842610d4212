//! TLS to the server, where the URL asks for it: for the driver, which knows none itself.
//!
//! The certificate is always verified, against the host's name too: what other programs call `sslmode=verify-full`.
//! With it the handshake of the password need not be bound to the connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::system::trust;

/// Makes connections safe, if the URL asks for that. It is not asked to if the URL does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tls;

/// The same for one host. It is made for those too that nobody speaks TLS to, such as a socket, which has no name.
pub(super) struct TlsTo {
    host: String,
}

/// A safe connection.
pub(super) struct TlsStream<S>(Box<client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = TlsStream<S>;
    type TlsConnect = TlsTo;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<TlsTo> {
        Ok(TlsTo { host: host.to_owned() })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for TlsTo {
    type Stream = TlsStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TlsStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let trusted = trust::of_the_system().map_err(io::Error::other)?;
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let stream = TlsConnector::from(trusted).connect(host, stream).await.map_err(explained)?;
            Ok(TlsStream(Box::new(stream)))
        })
    }
}

/// Says how a server with a certificate of its own is reached.
fn explained(error: io::Error) -> io::Error {
    let is_certificate = error.to_string().contains("certificate");
    if is_certificate {
        io::Error::other(format!("{error}; SSL_CERT_FILE can name a file with who vouches for it"))
    } else {
        error
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for TlsStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
