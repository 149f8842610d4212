//! Commands on a data directory, whether a daemon uses it or not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::accounts::Accounts;
use crate::operations::control::{Control, ControlAnswer, ControlClient, ControlRequest, execute};
use crate::system::data_dir;

use crate::model::durability::Durability;
use crate::model::signing::Signer;
use crate::study::learning::Learning;
use crate::system::data_dir::{DataDir, DataDirError};

use crate::storage::{SqliteStore, Store, Writer};
use tokio::time::{Instant, sleep};

use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;

/// How long to wait for a directory that is in use without a daemon answering: one that is just starting, or another
/// command.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two attempts.
const RETRY: Duration = Duration::from_millis(50);

/// `--data`, as all these commands have it.
#[derive(Debug, clap::Args)]
pub(super) struct DataArg {
    /// The daemon's data directory.
    #[arg(long = "data", value_name = "DIR", env = "FOURFOLD_DATA", default_value = "./fourfold-data")]
    path: PathBuf,
}

/// Somebody who does commands: the daemon that uses the directory, or this process.
pub(super) enum Operator {
    Daemon(ControlClient),
    Here(Here),
}

/// The directory's services in this process.
pub(super) struct Here {
    control: Control,
    store: Arc<SqliteStore>,
    writing: tokio::task::JoinHandle<()>,
    /// Released last, after what uses it.
    _data: DataDir,
}

impl From<PathBuf> for DataArg {
    fn from(path: PathBuf) -> Self {
        Self { path }
    }
}

impl DataArg {
    pub(super) fn directory(&self) -> &Path {
        &self.path
    }

    /// Whether a daemon or a command has ever stored anything in it.
    pub(super) fn has_database(&self) -> bool {
        data_dir::database(&self.path).exists()
    }

    /// For commands that may be the first on a new directory.
    pub(super) async fn open_or_create(&self) -> anyhow::Result<Operator> {
        Operator::open(&self.path).await
    }

    /// For commands that make no sense on a directory that is not there.
    pub(super) async fn open(&self) -> anyhow::Result<Operator> {
        if !self.has_database() {
            let message = format!("there is no database in {}", self.path.display());
            return Err(Exit::new(Code::NoInput, message).into());
        }
        self.open_or_create().await
    }
}

impl Operator {
    async fn open(path: &Path) -> anyhow::Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let locked = match DataDir::open(path) {
                Ok(data) => return Ok(Self::Here(Here::open(data).await?)),
                Err(error @ DataDirError::Locked { .. }) => error,
                Err(error) => return Err(error.into()),
            };
            if let Ok(client) = ControlClient::connect(&data_dir::control_socket(path)).await {
                return Ok(Self::Daemon(client));
            }
            if Instant::now() >= deadline {
                return Err(locked.into());
            }
            sleep(RETRY).await;
        }
    }

    pub(super) async fn call(&mut self, request: ControlRequest) -> anyhow::Result<ControlAnswer> {
        match self {
            Self::Daemon(client) => Ok(client.call(&request).await?),
            Self::Here(here) => Ok(execute(&here.control, request).await?),
        }
    }

    /// Ends in good order.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Daemon(_) => Ok(()),
            Self::Here(here) => here.close().await,
        }
    }
}

impl Here {
    async fn open(data: DataDir) -> anyhow::Result<Self> {
        let store = Arc::new(SqliteStore::open(&data.database(), Durability::Strict).await?);
        let shared: Arc<dyn Store> = Arc::<SqliteStore>::clone(&store);
        let (writer, actor) = Writer::new(Arc::clone(&shared));
        let accounts =
            Accounts::new(Arc::clone(&shared), writer.clone(), Signer::new(data.secret()?.bytes()));
        let writing = tokio::spawn(async move {
            // A write that failed is told to whoever asked for it.
            let _ = actor.run().await;
        });
        let control = Control {
            accounts,
            store: shared,
            writer,
            learning: Learning::default(),
            status: None,
            tournaments: None,
        };
        Ok(Self { control, store, writing, _data: data })
    }

    /// Writes what waits and closes the database, so that the next start need not check it.
    async fn close(self) -> anyhow::Result<()> {
        drop(self.control);
        // The writer ends when nobody can write any more; that it was cancelled or panicked changes nothing here.
        let _ = self.writing.await;
        if let Ok(store) = Arc::try_unwrap(self.store) {
            store.close().await?;
        }
        Ok(())
    }
}
