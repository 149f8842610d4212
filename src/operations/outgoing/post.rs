//! Posts one message: to whom it is written, and nowhere else.

use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{Request, header};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Posting;
use super::network::may_reach;
use super::target::Target;
use crate::storage::webhooks::{NoAnswer, Outcome};
use crate::system::config::IpNetwork;
use crate::system::trust;

/// How long it may take from the look-up of the host until the head of the answer is read; more is no answer. Shorter
/// than requests to us may take, for an owner who tries the address waits for it.
const POST_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes that the head of an answer may have; more is none. The body is not read at all.
const ANSWER_BYTES_MAX: usize = 16 << 10;

/// Addresses of a host that are tried one after the other.
const ADDRESSES_MAX: usize = 4;

/// Posts a message and waits for the head of the answer: no other address that it names is asked.
pub(in crate::operations) async fn post(
    target: &Target,
    allowed: &[IpNetwork],
    message: &Posting,
) -> Outcome {
    match tokio::time::timeout(POST_TIMEOUT, connect_and_post(target, allowed, message)).await {
        Ok(Ok(status)) => Outcome::Answered(status),
        Ok(Err(why)) => Outcome::Failed(why),
        Err(_) => Outcome::Failed(NoAnswer::Timeout),
    }
}

async fn connect_and_post(
    target: &Target,
    allowed: &[IpNetwork],
    message: &Posting,
) -> Result<u16, NoAnswer> {
    let addresses = addresses_of(target, allowed).await?;
    let stream = TcpStream::connect(&addresses[..]).await.map_err(|_| NoAnswer::Unreachable)?;
    if !target.is_encrypted {
        return exchange(stream, target, message).await;
    }
    let trusted = trust::of_the_system().map_err(|_| NoAnswer::Untrusted)?;
    let name = ServerName::try_from(target.host.clone()).map_err(|_| NoAnswer::Untrusted)?;
    let stream = TlsConnector::from(trusted).connect(name, stream).await.map_err(|_| NoAnswer::Untrusted)?;
    exchange(stream, target, message).await
}

/// The addresses that are connected to: the host is looked up once, so that what was checked is what is used. One with
/// any address that messages do not go to is refused whole.
async fn addresses_of(target: &Target, allowed: &[IpNetwork]) -> Result<Vec<SocketAddr>, NoAnswer> {
    let found = lookup_host((target.host.as_str(), target.port)).await.map_err(|_| NoAnswer::UnknownHost)?;
    let mut found: Vec<SocketAddr> = found.collect();
    if found.is_empty() {
        return Err(NoAnswer::UnknownHost);
    }
    if !found.iter().all(|address| may_reach(address.ip(), allowed)) {
        return Err(NoAnswer::PrivateAddress);
    }
    found.truncate(ADDRESSES_MAX);
    Ok(found)
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    target: &Target,
    message: &Posting,
) -> Result<u16, NoAnswer> {
    let lost = |_| NoAnswer::Unreachable;
    let mut client = http1::Builder::new();
    client.max_buf_size(ANSWER_BYTES_MAX);
    let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let mut request = Request::post(&target.path)
        .header(header::HOST, &target.authority)
        .body(Full::new(message.body.clone()))
        .map_err(|_| NoAnswer::Unreachable)?;
    request.headers_mut().extend(message.headers.clone());
    let answered = sender.send_request(request);
    tokio::pin!(answered);
    // The connection moves as long as somebody waits for it. One that ends may have brought the answer first.
    let answer = tokio::select! {
        biased;
        answer = &mut answered => answer,
        _ = connection => answered.await,
    };
    Ok(answer.map_err(lost)?.status().as_u16())
}
