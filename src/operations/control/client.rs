//! The other end of the control socket.

use std::io;
use std::path::Path;

use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::address::Address;
use super::request::{ControlAnswer, ControlRefusal, ControlRequest};

/// Why a daemon does not do what it is told.
#[derive(Debug, Error)]
pub enum ControlError {
    /// It cannot be reached, or went away.
    #[error("the daemon does not answer on its control socket")]
    Lost(#[source] io::Error),
    /// It speaks another version.
    #[error("the daemon's answer cannot be read: is it of another version?")]
    Unreadable(#[source] serde_json::Error),
    /// It refuses.
    #[error(transparent)]
    Refused(#[from] ControlRefusal),
}

/// A connection to a daemon's control socket.
#[derive(Debug)]
pub struct ControlClient {
    stream: BufReader<UnixStream>,
}

impl ControlClient {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    ///
    /// There is no socket, nobody listens, or it belongs to somebody else.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(Address::of(path)?.path()).await?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Commands, and waits for what comes of it.
    ///
    /// # Errors
    ///
    /// The daemon refuses or is gone.
    pub async fn call(&mut self, request: &ControlRequest) -> Result<ControlAnswer, ControlError> {
        let mut line = serde_json::to_vec(request).map_err(ControlError::Unreadable)?;
        line.push(b'\n');
        self.stream.write_all(&line).await.map_err(ControlError::Lost)?;
        let mut answer = Vec::new();
        let read = self.stream.read_until(b'\n', &mut answer).await.map_err(ControlError::Lost)?;
        if read == 0 {
            return Err(ControlError::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        match serde_json::from_slice(&answer).map_err(ControlError::Unreadable)? {
            ControlAnswer::Refused(refusal) => Err(refusal.into()),
            answer => Ok(answer),
        }
    }
}
