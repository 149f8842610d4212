//! The daemon's end of the control socket.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::warn;

use super::address::Address;
use super::{Control, OPERATOR, control_router};
use crate::http::connection::{self, ConnectionDeps, HangUp};
use crate::http::named_host::NamedHosts;
use crate::session::limits::TransportLimits;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};
use crate::system::tasks::Tasks;

/// Only the user who runs the daemon may command.
const SOCKET_MODE: u32 = 0o600;

/// Connections at the same time; more wait in the system's queue.
const CONNECTIONS_MAX: usize = 16;

/// How long somebody who connected may take to say what to do.
const REQUEST_WAIT: Duration = Duration::from_mins(1);

/// How long commands under way may take when the daemon stops.
const STOP_WAIT: Duration = Duration::from_secs(1);

/// How long nothing is accepted after the system had no file for a connection: the loop must not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The control socket while it is served. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct ControlServer {
    path: PathBuf,
    _task: AbortOnDropHandle<()>,
}

impl ControlServer {
    /// Serves the socket until `shutdown`. The caller holds the data directory, so whatever file is there is left over.
    ///
    /// # Errors
    ///
    /// The socket cannot be made.
    pub(crate) fn start(path: &Path, control: Control, shutdown: CancellationToken) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(Address::of(path)?.path())?;
        fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))?;
        let supervision = control.supervision();
        let listening = Listening {
            listener: Some(listener),
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            tasks: Tasks::new(supervision.clone(), Part::Control),
            deps: Some(ConnectionDeps {
                router: control_router(control),
                limits: Arc::new(limits()),
                stop: shutdown.clone(),
                // What an operator has commanded is done, as if it were still being waited for.
                hang_up: HangUp::CarriesOn,
                // Nobody but the owner of the directory comes here, by whatever name.
                hosts: NamedHosts::Any,
            }),
        };
        let task = AbortOnDropHandle::new(tokio::spawn(supervision.keep(listening, shutdown)));
        Ok(Self { path: path.to_owned(), _task: task })
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        // If it stays, the next daemon removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Operators type; but for that a connection may take what any other may.
fn limits() -> TransportLimits {
    TransportLimits {
        first_byte: REQUEST_WAIT,
        header: REQUEST_WAIT,
        idle: REQUEST_WAIT,
        stop: STOP_WAIT,
        ..TransportLimits::default()
    }
}

/// What is there as long as the socket is served. Listener and router outlive a panic, so that whoever knocks meanwhile
/// waits; both are gone once the daemon stops, for the router holds the store.
struct Listening {
    listener: Option<UnixListener>,
    deps: Option<ConnectionDeps>,
    places: Arc<Semaphore>,
    tasks: Tasks,
}

impl Kept for Listening {
    fn part(&self) -> Part {
        Part::ControlListener
    }

    /// Serves connections until the daemon stops, then waits for those that are there.
    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        if let (Some(listener), Some(deps)) = (&self.listener, &self.deps) {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = self.accept_all(listener, deps) => {}
            }
        }
        (self.listener, self.deps) = (None, None);
        self.tasks.close();
        self.tasks.wait().await;
        Ok(())
    }

    /// The connections that are there are tasks of their own and have noticed nothing.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl Listening {
    async fn accept_all(&self, listener: &UnixListener, deps: &ConnectionDeps) {
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await.expect("nobody closes it");
            match listener.accept().await {
                Ok((stream, _)) => {
                    let operator = SocketAddr::new(OPERATOR, 0);
                    self.tasks.spawn(connection::serve(stream, operator, place, deps.clone()));
                }
                Err(error) => {
                    warn!(%error, "the control socket does not accept");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}
