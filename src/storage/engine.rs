//! The store that an arena is told to use: one file, or a database of a server.

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::error::StoreError;
use super::postgres::{PostgresOpenError, PostgresStore};
use super::sqlite::{self, OpenError, SqliteStore};
use super::store::Store;
use super::transfer::{self, MovedTable, Step, Tables, TransferError};
use crate::model::durability::Durability;

/// An open store, by what it is kept in.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    File(Arc<SqliteStore>),
    Server(Arc<PostgresStore>),
}

/// Why a store cannot be used.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error(transparent)]
    File(#[from] OpenError),
    #[error(transparent)]
    Server(#[from] PostgresOpenError),
}

impl EngineError {
    /// The exit status of a program that stops because of it, after `sysexits.h`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::File(error) => error.exit_code(),
            Self::Server(error) => error.exit_code(),
        }
    }
}

/// How closing went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closed {
    /// The next start has nothing to look for.
    Cleanly,
    /// Somebody still reads.
    InUse,
}

impl Engine {
    /// Opens the database of a server if a URL is given, else the file.
    ///
    /// # Errors
    ///
    /// See [`EngineError`].
    pub(crate) async fn open(
        url: Option<&str>,
        file: &Path,
        durability: Durability,
    ) -> Result<Self, EngineError> {
        Ok(match url {
            None => Self::File(Arc::new(SqliteStore::open(file, durability).await?)),
            Some(url) => Self::Server(Arc::new(PostgresStore::open(url, durability).await?)),
        })
    }

    /// Opens the database of a server if nobody has it now.
    ///
    /// # Errors
    ///
    /// See [`PostgresOpenError`]; somebody has it.
    pub(crate) async fn open_now(
        url: &str,
        durability: Durability,
    ) -> Result<(Self, i64), PostgresOpenError> {
        let store = PostgresStore::open_now(url, durability).await?;
        let incarnation = store.incarnation();
        Ok((Self::Server(Arc::new(store)), incarnation))
    }

    /// Opens what an arena is to be moved to: nothing yet, or what an earlier attempt has left.
    ///
    /// # Errors
    ///
    /// See [`EngineError`]; there may be an arena already.
    pub(crate) async fn open_arriving(url: Option<&str>, file: &Path) -> Result<Self, EngineError> {
        Ok(match url {
            None => Self::File(Arc::new(sqlite::transfer::open_arriving(file).await?)),
            Some(url) => Self::Server(Arc::new(PostgresStore::open_arriving(url).await?)),
        })
    }

    /// Moves an arena here, as far as it has not arrived yet, and compares all of it.
    ///
    /// # Errors
    ///
    /// See [`TransferError`].
    pub(crate) async fn receive(
        &self,
        source: &Self,
        progress: impl FnMut(Step) + Send,
    ) -> Result<Vec<MovedTable>, TransferError> {
        transfer::transfer(source.tables(), self.tables(), progress).await
    }

    fn tables(&self) -> &dyn Tables {
        match self {
            Self::File(store) => &**store,
            Self::Server(store) => &**store,
        }
    }

    /// Closes it; from now on a daemon may use it.
    ///
    /// # Errors
    ///
    /// It cannot be closed or released: another attempt to move will find everything there.
    pub(crate) async fn arrive(self) -> Result<(), StoreError> {
        match &self {
            Self::File(store) => {
                let path = store.path().to_owned();
                if self.close().await? == Closed::InUse {
                    return Err(StoreError::Failed("somebody still reads what has arrived".into()));
                }
                sqlite::transfer::arrive(&path).map_err(|error| StoreError::Failed(Box::new(error)))
            }
            Self::Server(store) => {
                store.arrive().await?;
                self.close().await.map(drop)
            }
        }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::File(store) => Arc::<SqliteStore>::clone(store),
            Self::Server(store) => Arc::<PostgresStore>::clone(store),
        }
    }

    /// The file, if it was not closed and is so large that nobody has looked through it yet.
    pub(crate) fn unchecked(&self) -> Option<Arc<SqliteStore>> {
        match self {
            Self::File(store) if store.is_unchecked() => Some(Arc::clone(store)),
            Self::File(_) | Self::Server(_) => None,
        }
    }

    /// Lets another process write, whoever still reads here; whatever is written here from now on fails.
    ///
    /// # Errors
    ///
    /// The server cannot be told; it will notice.
    pub(crate) async fn release(&self) -> Result<(), StoreError> {
        match self {
            Self::Server(store) => store.release().await,
            Self::File(_) => Ok(()),
        }
    }

    /// Closes it in good order, if nobody else has it.
    ///
    /// # Errors
    ///
    /// Nothing is lost, but the next start may have to look.
    pub(crate) async fn close(self) -> Result<Closed, StoreError> {
        match self {
            Self::File(store) => match Arc::try_unwrap(store) {
                Ok(store) => store.close().await?,
                Err(_) => return Ok(Closed::InUse),
            },
            Self::Server(store) => match Arc::try_unwrap(store) {
                Ok(store) => store.close().await?,
                Err(_) => return Ok(Closed::InUse),
            },
        }
        Ok(Closed::Cleanly)
    }
}
