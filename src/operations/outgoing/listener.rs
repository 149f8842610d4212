//! Somebody who is sent something, for tests.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Listens on this machine, reads requests one after the other, and answers with these statuses, the last one for ever.
/// `read` gives the connection back.
pub(in crate::operations) async fn listener<T, R>(
    answers: &'static [&'static str],
    read: fn(TcpStream) -> R,
) -> (SocketAddr, mpsc::UnboundedReceiver<T>)
where
    T: Send + 'static,
    R: Future<Output = (TcpStream, T)> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (heard, hear) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let (mut stream, request) = read(stream).await;
            let status = answers.get(number).or(answers.last()).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            // One that has heard enough closes.
            let _ = stream.write_all(answer.as_bytes()).await;
            if heard.send(request).is_err() {
                return;
            }
        }
    });
    (address, hear)
}
