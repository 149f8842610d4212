//! The daemon's end of the control socket.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::REQUEST_BYTES_MAX;
use super::address::Address;
use super::execute::{Control, execute};
use super::request::{ControlAnswer, ControlRefusal, ControlRequest, RefusalKind};

/// Only the user who runs the daemon may command.
const SOCKET_MODE: u32 = 0o600;

/// Commands at the same time; more wait in the system's queue.
const CONNECTIONS_MAX: usize = 16;

/// How long somebody who connected may take to say what to do.
const REQUEST_WAIT: Duration = Duration::from_mins(1);

/// The control socket while it is served. Dropping it removes the file.
#[derive(Debug)]
pub struct ControlServer {
    path: PathBuf,
    _tasks: JoinSet<()>,
}

impl ControlServer {
    /// Serves the socket until `shutdown`. The caller holds the data directory, so whatever file is there is left over.
    ///
    /// # Errors
    ///
    /// The socket cannot be made.
    pub fn start(path: &Path, control: Control, shutdown: CancellationToken) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(Address::of(path)?.path())?;
        fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))?;
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            shutdown.run_until_cancelled(accept(listener, control)).await;
        });
        Ok(Self { path: path.to_owned(), _tasks: tasks })
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        // If it stays, the next daemon removes it.
        let _ = fs::remove_file(&self.path);
    }
}

async fn accept(listener: UnixListener, control: Control) {
    let mut connections = JoinSet::new();
    loop {
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let control = control.clone();
                connections.spawn(async move {
                    if let Err(error) = converse(stream, &control).await {
                        warn!(%error, "a control connection broke");
                    }
                });
            }
            Err(error) => {
                warn!(%error, "the control socket does not accept");
                tokio::time::sleep(Duration::from_millis(50)).await; // never spin when descriptors run out
            }
        }
    }
}

/// Answers one line after the other until the other end closes.
async fn converse(stream: UnixStream, control: &Control) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        let mut bounded = (&mut reader).take(REQUEST_BYTES_MAX);
        match timeout(REQUEST_WAIT, bounded.read_until(b'\n', &mut line)).await {
            Ok(read) => read?,
            Err(_) => return Ok(()),
        };
        if line.is_empty() {
            return Ok(());
        }
        let answer = answer(&line, control).await;
        let mut text = serde_json::to_vec(&answer)?;
        text.push(b'\n');
        writer.write_all(&text).await?;
        if !line.ends_with(b"\n") {
            return Ok(()); // too long, or cut off
        }
    }
}

async fn answer(line: &[u8], control: &Control) -> ControlAnswer {
    let request: ControlRequest = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => {
            return ControlAnswer::Refused(ControlRefusal::new(RefusalKind::Usage, error.to_string()));
        }
    };
    let command = request.name();
    match execute(control, request).await {
        Ok(answer) => {
            info!(command, "operator's command done");
            answer
        }
        Err(refusal) => {
            info!(command, reason = %refusal, "operator's command refused");
            ControlAnswer::Refused(refusal)
        }
    }
}
