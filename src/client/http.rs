//! One question over HTTP at a time, for what a bot's token may ask beside the socket.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::handshake;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::ClientError;
use super::address::ServerAddress;
use super::transport;
use crate::model::secret::Secret;

/// How long one question may take.
const ANSWER_WAIT: Duration = Duration::from_secs(20);

/// Asks the daemon behind a socket's address, which [`ServerAddress`] reads. The inner error is the daemon's
/// refusal, in the form that the caller knows.
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
    let address = ServerAddress::parse(url)?;
    let stream = transport::connect(&address).await?;
    let lost = |error: hyper::Error| ClientError::Lost(error.to_string());
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, &address.authority)
        .header(header::AUTHORIZATION, format!("Bearer {}", token.expose()))
        .body(Empty::<Bytes>::new())
        .map_err(|_| ClientError::BadUrl(url.to_owned()))?;
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
