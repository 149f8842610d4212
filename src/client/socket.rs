//! The WebSocket under a client: text frames in and out.

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::{ClientRequestBuilder, IntoClientRequest};
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::ClientError;
use crate::model::secret::Secret;
use crate::protocol::{SERVER_FRAME_BYTES_MAX, SUBPROTOCOL};

/// The library's own 128 KiB for each connection would make thousands of them expensive; our messages are small.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// One connection.
#[derive(Debug)]
pub(super) struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    pub(super) async fn connect(url: &str, token: Option<&Secret>) -> Result<Self, ClientError> {
        let bad_url = || ClientError::BadUrl(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad_url())?;
        if uri.scheme_str() != Some("ws") || uri.host().is_none() {
            return Err(bad_url());
        }
        let mut request = ClientRequestBuilder::new(uri).with_sub_protocol(SUBPROTOCOL);
        if let Some(token) = token {
            request = request.with_header("Authorization", format!("Bearer {}", token.expose()));
        }
        let request = request.into_client_request().map_err(|_| bad_url())?;
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(SERVER_FRAME_BYTES_MAX))
            .max_frame_size(Some(SERVER_FRAME_BYTES_MAX));
        let no_delay = true; // messages are small and awaited one by one
        match connect_async_with_config(request, Some(config), no_delay).await {
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
        Error::Http(response) if response.status().is_client_error() => {
            let status = response.status();
            let body = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            if status.as_u16() == 429 {
                ClientError::Lost(format!("{status}: {body}"))
            } else {
                ClientError::Unreadable(format!("the upgrade was refused with {status}: {body}"))
            }
        }
        other => ClientError::Lost(other.to_string()),
    }
}
