//! The WebSocket under a client: text frames in and out.

use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio_tungstenite::tungstenite::client::{ClientRequestBuilder, IntoClientRequest};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::ClientError;
use super::address::ServerAddress;
use super::transport::{self, Transport};
use crate::model::secret::Secret;
use crate::protocol::{SERVER_FRAME_BYTES_MAX, SUBPROTOCOL};

/// How much of a page that is none of ours is shown, in characters.
const SHOWN_CHARS_MAX: usize = 120;

/// The library's own 128 KiB for each connection would make thousands of them expensive; our messages are small.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// One connection.
#[derive(Debug)]
pub(super) struct Socket {
    stream: WebSocketStream<Transport>,
}

impl Socket {
    pub(super) async fn connect(url: &str, token: Option<&Secret>) -> Result<Self, ClientError> {
        let address = ServerAddress::parse(url)?;
        let mut request = ClientRequestBuilder::new(address.socket.clone()).with_sub_protocol(SUBPROTOCOL);
        if let Some(token) = token {
            request = request.with_header("Authorization", format!("Bearer {}", token.expose()));
        }
        let request = request.into_client_request().map_err(|_| ClientError::BadUrl(url.to_owned()))?;
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(SERVER_FRAME_BYTES_MAX))
            .max_frame_size(Some(SERVER_FRAME_BYTES_MAX));
        let stream = transport::connect(&address).await?;
        match client_async_with_config(request, stream, Some(config)).await {
            Ok((stream, _)) => Ok(Self { stream }),
            Err(error) => Err(explain(&error)),
        }
    }

    pub(super) async fn send(&mut self, text: &str) -> Result<(), ClientError> {
        self.stream.send(Message::text(text)).await.map_err(|error| explain(&error))
    }

    /// The next text frame. Pings are answered on the way.
    pub(super) async fn next(&mut self) -> Result<Utf8Bytes, ClientError> {
        loop {
            match self.stream.next().await {
                None => return Err(ClientError::Lost("the stream ended".to_owned())),
                Some(Err(error)) => return Err(explain(&error)),
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Close(frame))) => {
                    let (code, reason) = frame
                        .map_or((1005, String::new()), |frame| (frame.code.into(), frame.reason.to_string()));
                    return Err(ClientError::Closed { code, reason });
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
            }
        }
    }

    pub(super) async fn close(mut self) {
        let _ = self.stream.close(None).await; // it may be closed already
    }
}

/// The status of a refused upgrade says whether trying again can help; everything else is a lost connection.
fn explain(error: &Error) -> ClientError {
    match error {
        Error::Http(response) => refused(response.status(), response.body().as_deref().unwrap_or_default()),
        other => ClientError::Lost(other.to_string()),
    }
}

/// A server that is too busy or about to start again may take us later; any other answer stays as it is.
fn refused(status: StatusCode, body: &[u8]) -> ClientError {
    #[derive(Deserialize)]
    struct Refusal {
        message: String,
    }
    let message = match serde_json::from_slice::<Refusal>(body) {
        Ok(Refusal { message }) => message,
        Err(_) if status.is_success() => "no socket is there".to_owned(),
        Err(_) => String::from_utf8_lossy(body).chars().take(SHOWN_CHARS_MAX).collect(),
    };
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        ClientError::Lost(format!("{status}: {message}"))
    } else {
        ClientError::NoUpgrade { status: status.as_u16(), message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_upgrade_is_told_in_the_servers_words() {
        let wrong_token =
            refused(StatusCode::UNAUTHORIZED, br#"{"code":"unauthorized","message":"no such token"}"#);
        let words = "the server refused the connection with 401: no such token";
        assert_eq!((wrong_token.to_string().as_str(), wrong_token.is_passing()), (words, false));
        assert!(!refused(StatusCode::OK, b"<html>").is_passing());
        for passing in [StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY] {
            assert!(refused(passing, b"later").is_passing());
        }
    }
}
