//! One question over HTTP at a time, for what a bot's token may ask beside the socket.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::handshake;
use hyper::{Method, Request, StatusCode, Uri, header};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ClientError;
use crate::model::secret::Secret;

/// How long one question may take.
const ANSWER_WAIT: Duration = Duration::from_secs(20);

/// Asks the daemon behind a socket's address, `ws://HOST:PORT` or `http://HOST:PORT`, with or without a path. The inner
/// error is the daemon's refusal, in the form that the caller knows.
///
/// # Errors
///
/// The address makes no sense, the daemon cannot be reached, or its answer is none.
pub(crate) async fn call<T: DeserializeOwned, E: DeserializeOwned>(
    url: &str,
    token: &Secret,
    method: Method,
    path: &str,
) -> Result<Result<T, E>, ClientError> {
    let asked = timeout(ANSWER_WAIT, ask(url, token, method, path)).await;
    let (status, body) = asked.map_err(|_| ClientError::Silent(ANSWER_WAIT))??;
    let unreadable =
        |error: serde_json::Error| ClientError::Unreadable(format!("{path} answered {status}: {error}"));
    if status.is_success() {
        Ok(Ok(serde_json::from_slice(&body).map_err(unreadable)?))
    } else {
        Ok(Err(serde_json::from_slice(&body).map_err(unreadable)?))
    }
}

async fn ask(
    url: &str,
    token: &Secret,
    method: Method,
    path: &str,
) -> Result<(StatusCode, Bytes), ClientError> {
    let bad_url = || ClientError::BadUrl(url.to_owned());
    let uri: Uri = url.parse().map_err(|_| bad_url())?;
    let authority = uri.authority().ok_or_else(bad_url)?.to_string();
    if !matches!(uri.scheme_str(), Some("ws" | "http")) {
        return Err(bad_url());
    }
    let address = if uri.port().is_some() { authority.clone() } else { format!("{authority}:80") };
    let stream = TcpStream::connect(address).await.map_err(|error| ClientError::Lost(error.to_string()))?;
    let lost = |error: hyper::Error| ClientError::Lost(error.to_string());
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, authority)
        .header(header::AUTHORIZATION, format!("Bearer {}", token.expose()))
        .body(Empty::<Bytes>::new())
        .map_err(|_| bad_url())?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(lost)?;
        let status = response.status();
        Ok((status, response.into_body().collect().await.map_err(lost)?.to_bytes()))
    };
    // The connection moves as long as somebody waits for it, and ends with it.
    tokio::select! {
        answer = exchange => answer,
        ended = connection => Err(ClientError::Lost(ended.err().map_or_else(
            || "the connection ended".to_owned(),
            |error| error.to_string(),
        ))),
    }
}
