//! What is stored as a whole: the check of all of it, and copies.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::operations::verify::{VerifyReport, verify};
use crate::storage::backup::{Backup, BackupError, Overwrite};
use crate::system::causes::with_causes;

/// What the check of everything came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct CheckReport {
    /// What is wrong with the pages of the database, one line each.
    pub(crate) pages: Vec<String>,
    /// What replaying all games came to.
    pub(crate) games: VerifyReport,
}

impl CheckReport {
    /// How many things are wrong.
    pub(crate) fn findings(&self) -> usize {
        self.pages.len() + self.games.findings.len()
    }
}

/// A copy that is to be made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MakeBackup {
    /// Absolute: whoever commands may stand elsewhere.
    pub(super) path: String,
    /// Whether a file of that name is replaced.
    #[serde(default)]
    pub(super) force: bool,
}

/// A copy that was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MadeBackup {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Of its content, in hexadecimal digits; the file ends with it.
    pub(crate) sha256: String,
    /// Finished games in it.
    pub(crate) games: u64,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/check", post(check)), ("/control/v1/backup", post(back_up))]
}

/// All pages looked at, every game replayed, all ratings computed again.
async fn check(State(control): State<Control>) -> Result<Json<CheckReport>, Refusal> {
    let pages = control.store.audit_pages().await?;
    let games = verify(&*control.store).await?;
    Ok(Json(CheckReport { pages, games }))
}

async fn back_up(
    State(control): State<Control>,
    JsonBody(MakeBackup { path, force }): JsonBody<MakeBackup>,
) -> Result<(StatusCode, Json<MadeBackup>), Refusal> {
    if !Path::new(&path).is_absolute() {
        return Err(ApiError::bad_field("path", "the path must be absolute").into());
    }
    let overwrite = if force { Overwrite::Replace } else { Overwrite::Never };
    let Backup { bytes, sha256, games } = control.store.back_up(Path::new(&path), overwrite).await?;
    tracing::info!(path, bytes, games, "a backup was made");
    Ok((StatusCode::CREATED, Json(MadeBackup { path, bytes, sha256, games })))
}

impl From<BackupError> for Refusal {
    fn from(error: BackupError) -> Self {
        let message = with_causes(&error);
        match error {
            BackupError::Exists { .. } | BackupError::Elsewhere => Self::conflict(message),
            BackupError::BadName { .. } => ApiError::bad_field("path", message).into(),
            BackupError::NoSpace { .. }
            | BackupError::Unwritable { .. }
            | BackupError::NotWhole { .. }
            | BackupError::Store(_) => Self::new(ApiCode::Internal, message),
        }
    }
}
