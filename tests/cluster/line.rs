//! A line from a node to a server, which can be cut: what is under way waits, in both directions or in one, as on a
//! network that drops packets; nobody is told. Once it is mended all of it arrives.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::LazyLock;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// What PostgreSQL's clients look for in the directory of a socket.
const POSTGRES_SOCKET: &str = ".s.PGSQL.5432";

/// Read at a time.
const PORTION: usize = 16 * 1_024;

/// A thread for the lines alone: what passes here must not wait for what the test's clients have to do.
static LINES: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    threads.expect("a runtime")
});

/// What does not get through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Cut {
    #[default]
    Nothing,
    Everything,
    /// The node's questions get lost.
    ToServer,
    /// So do the server's answers.
    FromServer,
}

/// Which way something goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Away from the node.
    ToServer,
    /// To the node.
    FromServer,
}

impl Cut {
    pub(crate) fn stops(self, way: Way) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::ToServer => way == Way::ToServer,
            Self::FromServer => way == Way::FromServer,
        }
    }
}

/// A line, until this is dropped.
pub(crate) struct Line {
    cut: watch::Sender<Cut>,
    task: AbortHandle,
}

impl Line {
    /// A line to a database whose server has its socket in one directory, by a socket in another one.
    pub(crate) fn to_database(server: &Path, own: &Path) -> Self {
        std::fs::create_dir_all(own).expect("a writable directory");
        let _on_the_lines = LINES.enter();
        let listener = UnixListener::bind(own.join(POSTGRES_SOCKET)).expect("a short path");
        let server = server.join(POSTGRES_SOCKET);
        let (cut, seen) = watch::channel(Cut::default());
        let task = LINES.spawn(async move {
            let mut streams = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                streams.spawn(pass(client, UnixStream::connect(server.clone()), seen.clone()));
            }
        });
        Self { cut, task: task.abort_handle() }
    }

    /// A line to the bus, and the address at which it begins.
    pub(crate) fn to_bus(server: SocketAddr) -> (SocketAddr, Self) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket that can wait");
        let _on_the_lines = LINES.enter();
        let listener = TcpListener::from_std(listener).expect("a listener");
        let address = listener.local_addr().expect("it is bound");
        let (cut, seen) = watch::channel(Cut::default());
        let task = LINES.spawn(async move {
            let mut streams = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                streams.spawn(pass(client, TcpStream::connect(server), seen.clone()));
            }
        });
        (address, Self { cut, task: task.abort_handle() })
    }

    pub(crate) fn cut(&self, what: Cut) {
        self.cut.send_replace(what);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Passes on what one connection brings, both ways.
async fn pass<S: AsyncRead + AsyncWrite>(
    client: S,
    server: impl Future<Output = io::Result<S>>,
    mut cut: watch::Receiver<Cut>,
) {
    // A connection that begins meanwhile waits as well.
    let _ = cut.wait_for(|cut| !cut.stops(Way::ToServer)).await;
    let Ok(server) = server.await else { return };
    let (from_client, to_client) = split(client);
    let (from_server, to_server) = split(server);
    // Whoever ends it ends it for both.
    tokio::select! {
        _ = flow(from_client, to_server, Way::ToServer, cut.clone()) => {}
        _ = flow(from_server, to_client, Way::FromServer, cut) => {}
    }
}

async fn flow(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    way: Way,
    mut cut: watch::Receiver<Cut>,
) -> io::Result<()> {
    let mut portion = vec![0; PORTION];
    loop {
        let read = from.read(&mut portion).await?;
        let _ = cut.wait_for(|cut| !cut.stops(way)).await;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&portion[..read]).await?;
    }
}
