//! The connections that read.

use std::ops::Deref;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};

use super::PostgresStore;
use super::address::Address;
use super::db::Connection;
use super::tls::Tls;
use crate::model::durability::Durability;
use crate::storage::store::StoreError;

/// Connections that read: a read waits for the way to the server, so there are more than SQLite has.
const READERS: usize = 8;

/// How long to wait for a connection: for one that is free, and for one that is made.
const PATIENCE: Duration = Duration::from_secs(5);

/// A few connections, made when they are first needed.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    pool: Pool,
}

impl Readers {
    pub(super) fn new(address: &Address, durability: Durability) -> Self {
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config(durability), Tls, config);
        let pool = Pool::builder(manager)
            .max_size(READERS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .build()
            .expect("a pool with timeouts has a runtime");
        Self { pool }
    }

    pub(super) fn close(&self) {
        self.pool.close();
    }
}

/// A connection to read from.
#[derive(Debug)]
pub(super) struct Reader {
    object: Object,
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.object
    }
}

/// Reads of one moment: what is committed between two of them is in neither. Dropped before its end, it takes its
/// connection with it, for that is in the middle of something.
#[derive(Debug)]
pub(super) struct Moment {
    object: Option<Object>,
}

impl Deref for Moment {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.object.as_ref().expect("a moment that has not ended has its connection")
    }
}

impl Moment {
    pub(super) async fn end(mut self) -> Result<(), StoreError> {
        self.batch_execute("COMMIT").await?;
        // Back to the others.
        drop(self.object.take());
        Ok(())
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            drop(Object::take(object));
        }
    }
}

impl PostgresStore {
    /// A connection to read from, once one is free.
    pub(super) async fn reader(&self) -> Result<Reader, StoreError> {
        Ok(Reader { object: self.readers.pool.get().await? })
    }

    /// The same for several reads of one moment.
    pub(super) async fn moment(&self) -> Result<Moment, StoreError> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// The same, whose tables are joined in the order in which they are written. Games are read from seven tables: to
    /// look for a better order took the server four milliseconds each time, to join them so as to read fifty games one,
    /// and everybody who comes back after a restart asks for some.
    pub(super) async fn moment_as_written(&self) -> Result<Moment, StoreError> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL join_collapse_limit = 1").await
    }

    async fn begin(&self, sql: &str) -> Result<Moment, StoreError> {
        let moment = Moment { object: Some(self.readers.pool.get().await?) };
        moment.batch_execute(sql).await?;
        Ok(moment)
    }
}
