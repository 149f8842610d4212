//! Why a command is refused: with the code that everybody gets, and with the causes, which only the operator is told.

use axum::response::{IntoResponse, Response};

use crate::accounts::AccountError;
use crate::competition::tournament::{PlanError, TournamentStartError};
use crate::http::error::{ApiCode, ApiError};
use crate::storage::StoreError;
use crate::storage::records::import::ImportError;
use crate::storage::writer::WriteError;
use crate::system::causes::with_causes;

/// A refusal to the operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal(pub(super) ApiError);

impl Refusal {
    pub(super) fn new(code: ApiCode, message: impl Into<String>) -> Self {
        Self(ApiError::new(code, message))
    }

    /// What is named is not there.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ApiCode::NotFound, message)
    }

    /// What is there does not allow it.
    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(ApiCode::Conflict, message)
    }

    /// The code of a refusal with all that led to it.
    fn with_causes_of(causes: String, refusal: ApiError) -> Self {
        Self(ApiError { message: causes, ..refusal })
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl From<AccountError> for Refusal {
    fn from(error: AccountError) -> Self {
        Self::with_causes_of(with_causes(&error), error.into())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::with_causes_of(with_causes(&error), error.into())
    }
}

impl From<ImportError> for Refusal {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(error) => error.into(),
            ImportError::Line(_) | ImportError::Empty => {
                ApiError::bad_field("records", error.to_string()).into()
            }
        }
    }
}

impl From<WriteError> for Refusal {
    fn from(error: WriteError) -> Self {
        let refusal = match &error {
            WriteError::Busy => ApiError::new(ApiCode::Busy, ""),
            WriteError::Obstructed(obstacle) => (*obstacle).into(),
            WriteError::Refused(_) | WriteError::Store(_) => ApiError::internal(&error),
        };
        Self::with_causes_of(with_causes(&error), refusal)
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        let message = error.to_string();
        match error {
            PlanError::Unknown => Self::not_found("no such tournament goes on or is to come".to_owned()),
            PlanError::Start(error) => error.into(),
            PlanError::NameTaken(_) | PlanError::TooMany { .. } | PlanError::NotYours => {
                Self::conflict(message)
            }
            PlanError::Full { .. } | PlanError::Unavailable => Self::new(ApiCode::Busy, message),
        }
    }
}

impl From<TournamentStartError> for Refusal {
    fn from(error: TournamentStartError) -> Self {
        let message = error.to_string();
        match error {
            TournamentStartError::Unknown(_) => Self(ApiError::bad_field("name", message)),
            TournamentStartError::GoesOn(_) | TournamentStartError::Alone(_) => Self::conflict(message),
            TournamentStartError::Unavailable => Self::new(ApiCode::Busy, message),
        }
    }
}
