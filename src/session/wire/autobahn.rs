//! An echo behind the codec as sockets use it, for the Autobahn test suite: see `scripts/autobahn.sh`.

use futures::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::websocket_config;
use crate::session::frame_guard::FrameGuard;

/// Where the suite looks for it.
const ADDRESS: &str = "127.0.0.1:9001";

async fn echo(stream: TcpStream) {
    let Ok(handshaken) = tokio_tungstenite::accept_async(stream).await else { return };
    let guarded = FrameGuard::new(handshaken.into_inner());
    let mut socket = WebSocketStream::from_raw_socket(guarded, Role::Server, Some(websocket_config())).await;
    while let Some(Ok(message)) = socket.next().await {
        let is_data = message.is_text() || message.is_binary();
        if is_data && socket.send(message).await.is_err() {
            return;
        }
    }
}

/// Runs until it is killed.
#[tokio::test]
#[ignore = "a server for scripts/autobahn.sh"]
async fn echoes_for_autobahn() {
    let listener = TcpListener::bind(ADDRESS).await.unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(echo(stream));
    }
}
