//! Opening a database.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::address::Address;
use super::db;
use super::lane::Lane;
use super::open_error::PostgresOpenError;
use super::session::{Patience, Session, connect};
use super::transfer::{self, Arrival};
use crate::model::durability::Durability;
use crate::model::time::UnixMillis;
use crate::storage::store::StoreError;

/// How long to wait for a database that another process uses: one that is just stopping, or a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens the database and takes the right to write.
pub(super) async fn open(
    address: &Address,
    durability: Durability,
    arrival: Arrival,
    patience: Patience,
) -> Result<Lane, PostgresOpenError> {
    take_up(address, durability, arrival, patience).await.map_err(|error| forbidden(address, error))
}

async fn take_up(
    address: &Address,
    durability: Durability,
    arrival: Arrival,
    patience: Patience,
) -> Result<Lane, PostgresOpenError> {
    let session = connect(address, durability).await.map_err(|cause| unconnected(address, cause))?;
    session.check_server(durability).await?;
    let is_ours = match patience {
        Patience::None => session.try_lock().await?,
        Patience::Waits => tokio::time::timeout(PATIENCE, wait_for_lock(&session)).await.is_ok(),
    };
    if !is_ours {
        return Err(PostgresOpenError::InUse { address: address.to_string() });
    }
    session.migrate().await?;
    transfer::check(session.connection(), arrival).await?;
    let incarnation = join(&session).await?;
    Ok(Lane::take_up(address.clone(), durability, session, incarnation).await?)
}

async fn wait_for_lock(session: &Session) {
    while let Err(StoreError::Unreachable(_)) = session.take_lock().await {
        if session.is_closed() {
            break;
        }
    }
}

/// Why the server was not connected to.
pub(super) fn unconnected(address: &Address, cause: StoreError) -> PostgresOpenError {
    let address = address.to_string();
    let (StoreError::Failed(error) | StoreError::Unreachable(error)) = &cause else {
        return cause.into();
    };
    match error.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::as_db_error) {
        Some(said) if *said.code() != SqlState::CANNOT_CONNECT_NOW => {
            PostgresOpenError::Refused { address, why: said.message().to_owned() }
        }
        _ => PostgresOpenError::Unreachable { address, cause },
    }
}

/// What we may not do the server refuses: nothing failed.
fn forbidden(address: &Address, error: PostgresOpenError) -> PostgresOpenError {
    let PostgresOpenError::Failed(StoreError::Failed(cause)) = &error else { return error };
    // Whoever may not even look into a schema has none.
    let rights = [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::INVALID_SCHEMA_NAME];
    match cause.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::as_db_error) {
        Some(said) if rights.contains(said.code()) => {
            PostgresOpenError::Refused { address: address.to_string(), why: said.message().to_owned() }
        }
        _ => error,
    }
}

/// Ends every process that wrote before, and begins as a new one. Commits that are under way are waited for; whatever
/// comes later finds itself ended.
async fn join(session: &Session) -> Result<i64, StoreError> {
    let connection = session.connection();
    let sql = "UPDATE node SET ended = 'replaced' WHERE ended IS NULL";
    db::query(sql).execute(connection).await?;
    let sql = "INSERT INTO node (name, version, began_at) VALUES ($1, $2, $3) RETURNING incarnation";
    let query = db::query_scalar(sql).bind(format!("process {}", std::process::id()));
    query.bind(env!("CARGO_PKG_VERSION")).bind(UnixMillis::now().0).fetch_one(connection).await
}
