//! The connections that read. Each read is done on a thread where it may wait, and is the only one on its connection.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::connection::ConnectionPlan;
use super::db::{self, Connection};
use crate::storage::store::StoreError;

/// Connections that read: two cores' worth of requests and one long export do not wait for each other.
const READERS: u32 = 4;

/// A few connections, made when they are first needed.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    plan: Arc<ConnectionPlan>,
    idle: Arc<Mutex<Vec<Connection>>>,
    /// One permit for each connection that may be used.
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(plan: ConnectionPlan) -> Self {
        Self { plan: Arc::new(plan), idle: Arc::default(), turns: Arc::new(Semaphore::new(READERS as usize)) }
    }

    /// Reads, once a connection is free. Reading goes on to its end even if nobody waits for it any more.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let readers = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let connection = readers.take()?;
            let result = work(&connection);
            readers.lock().push(connection);
            drop(turn);
            result
        });
        reading.await.map_err(|error| StoreError::Failed(Box::new(error)))?
    }

    fn take(&self) -> db::Result<Connection> {
        let idle = self.lock().pop();
        idle.map_or_else(|| self.plan.connect(), Ok)
    }

    /// Waits for the reads that go on, and closes all connections. Nothing can be read afterwards.
    pub(super) async fn close(&self) {
        let all = self.turns.acquire_many(READERS).await;
        self.turns.close();
        drop(all);
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads of one moment: what is committed between two of them is in neither.
pub(super) fn snapshot<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    // Rolled back when it is dropped: nothing was written.
    let _moment = connection.unchecked_transaction()?;
    read(connection)
}
