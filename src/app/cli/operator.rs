//! Commands on a data directory, whether a daemon uses it or not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::accounts::Accounts;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::runtime;
use crate::app::terminal::storage_url::StorageUrl;
use crate::http::control::{Control, ControlClient};
use crate::model::durability::Durability;
use crate::model::signing::Signer;
use crate::storage::Writer;
use crate::storage::engine::Engine;
use crate::study::learning::Learning;
use crate::system::data_dir::{self, DataDir, DataDirError};
use crate::system::shares::Shares;

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
    #[command(flatten)]
    storage_url: StorageUrl,
}

/// Whoever does commands: the daemon that uses the directory, or this process.
struct Operator {
    client: ControlClient,
    /// What is to be closed, if it is this process.
    here: Option<Here>,
}

/// The directory's services in this process.
struct Here {
    engine: Engine,
    writing: tokio::task::JoinHandle<()>,
    /// Released last, after what uses it.
    _data: DataDir,
}

impl From<PathBuf> for DataArg {
    fn from(path: PathBuf) -> Self {
        Self { path, storage_url: StorageUrl::of_environment() }
    }
}

impl DataArg {
    pub(super) fn directory(&self) -> &Path {
        &self.path
    }

    /// Whether a daemon or a command has ever stored anything in it, or somewhere else as it says. A daemon that runs
    /// in it knows where.
    pub(super) fn has_database(&self) -> bool {
        let known = [data_dir::database(&self.path), data_dir::control_socket(&self.path)];
        self.url().is_some() || known.iter().any(|path| path.exists())
    }

    /// The server that keeps everything, if one does.
    pub(super) fn url(&self) -> Option<&str> {
        self.storage_url.get()
    }

    /// Commands, on a directory that is made if it is not there.
    pub(super) fn command_new<T, E: Into<anyhow::Error>>(
        &self,
        command: impl AsyncFnOnce(&ControlClient) -> Result<T, E>,
    ) -> anyhow::Result<T> {
        runtime()?.block_on(async {
            let operator = Operator::open(&self.path, self.url()).await?;
            let done = command(&operator.client).await;
            operator.close().await?;
            done.map_err(Into::into)
        })
    }

    /// Commands what makes no sense on a directory that is not there.
    pub(super) fn command<T, E: Into<anyhow::Error>>(
        &self,
        command: impl AsyncFnOnce(&ControlClient) -> Result<T, E>,
    ) -> anyhow::Result<T> {
        if !self.has_database() {
            return Err(no_database(&self.path).into());
        }
        self.command_new(command)
    }
}

impl Operator {
    async fn open(path: &Path, url: Option<&str>) -> anyhow::Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let locked = match DataDir::open(path) {
                Ok(data) => return Self::here(data, url).await,
                Err(error @ DataDirError::Locked { .. }) => error,
                Err(error) => return Err(error.into()),
            };
            if let Ok(client) = ControlClient::connect(&data_dir::control_socket(path)).await {
                return Ok(Self { client, here: None });
            }
            if Instant::now() >= deadline {
                return Err(locked.into());
            }
            sleep(RETRY).await;
        }
    }

    async fn here(data: DataDir, url: Option<&str>) -> anyhow::Result<Self> {
        let engine = open_store(&data, url).await?;
        let shared = engine.store();
        let (writer, actor) = Writer::new(Arc::clone(&shared));
        let signer = Signer::new(data.secret()?.bytes());
        let accounts = Accounts::new(Arc::clone(&shared), writer.clone(), signer, Shares::default());
        let writing = tokio::spawn(async move {
            // A write that failed is told to whoever asked for it.
            let _ = actor.run().await;
        });
        let control = Control {
            accounts,
            store: shared,
            writer,
            learning: Learning::default(),
            daemon: None,
            nodes: None,
        };
        let here = Here { engine, writing, _data: data };
        Ok(Self { client: ControlClient::here(control), here: Some(here) })
    }

    /// Ends in good order.
    async fn close(self) -> anyhow::Result<()> {
        // The writer ends when nobody can write any more.
        drop(self.client);
        match self.here {
            Some(here) => here.close().await,
            None => Ok(()),
        }
    }
}

impl Here {
    /// Writes what waits and closes the database, so that the next start need not check it.
    async fn close(self) -> anyhow::Result<()> {
        // That the writer was cancelled or panicked changes nothing here.
        let _ = self.writing.await;
        self.engine.close().await?;
        Ok(())
    }
}

/// What a directory lacks; that of an arena which a server keeps has none.
fn no_database(directory: &Path) -> Exit {
    let path = directory.display();
    let message = format!(
        "there is no database in {path}: name another directory with `--data`, or the server that keeps the arena with \
         `--storage-url` or FOURFOLD_STORAGE_URL"
    );
    Exit::new(Code::NoInput, message)
}

/// The store of a directory: its file, unless it is told to be elsewhere.
async fn open_store(data: &DataDir, url: Option<&str>) -> anyhow::Result<Engine> {
    if url.is_none() {
        data.expect_database()?;
    }
    Ok(Engine::open(url, &data.database(), Durability::Strict).await?)
}
