//! Refusals over HTTP: a code, words, and a hint when waiting helps.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::error;

use super::request_id;
use crate::accounts::{AccountError, TieError};
use crate::analysis::compute::ComputeError;
use crate::analysis::values::AnalysisError;
use crate::model::ids::InvalidName;
use crate::storage::StoreError;
use crate::storage::writer::{Obstacle, WriteError};
use crate::system::shares::{Refusal, Whose};

/// How long to wait when the daemon is busy: passwords and writes that wait are done by then.
const BUSY_RETRY: Duration = Duration::from_secs(2);

/// Why a request was refused. The set only grows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApiCode {
    /// The body is not one JSON object, or a key stands in it twice.
    BadJson,
    /// A part of the path or query is not allowed; `field` names it.
    BadParameter,
    /// The request is not HTTP as it should be.
    BadRequest,
    /// The WebSocket handshake lacks something, or names no subprotocol that is spoken here.
    BadHandshake,
    /// A token stands in the URL, where logs and histories see it.
    TokenInUrl,
    /// A field of the body is missing or not allowed; `field` names it.
    BadField,
    /// The arena keeps the name for itself.
    NameReserved,
    /// Somebody has the name.
    NameTaken,
    /// What is there does not allow it now.
    Conflict,
    /// Credentials missing, wrong, expired or revoked.
    Unauthorized,
    /// Known, but not allowed.
    Forbidden,
    /// The request names a host that is not ours.
    HostNotAllowed,
    /// The header, or the URL in it, is over the limit.
    HeaderTooLarge,
    /// A page of another site tried to act for somebody.
    OriginNotAllowed,
    /// Nothing is there.
    NotFound,
    /// Something is there, but not for this method; `Allow` lists those that are.
    MethodNotAllowed,
    /// There is a WebSocket here, version 13, and nothing else.
    UpgradeRequired,
    /// The body did not come in time.
    Timeout,
    /// The body is over the limit.
    TooLarge,
    /// The body is not JSON, or compressed.
    UnsupportedMediaType,
    /// Too many attempts; `retry_ms` says when to go on.
    RateLimited,
    /// Our fault; the log says more.
    Internal,
    /// Too much is going on; `retry_ms` says when to try again.
    Busy,
    /// The daemon is starting or stopping.
    NotReady,
}

impl ApiCode {
    /// As it stands in answers.
    pub(super) fn word(self) -> String {
        serde_json::to_value(self).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::BadJson | Self::BadParameter | Self::BadRequest | Self::BadHandshake | Self::TokenInUrl => {
                StatusCode::BAD_REQUEST
            }
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::OriginNotAllowed => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::HostNotAllowed => StatusCode::MISDIRECTED_REQUEST,
            Self::HeaderTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::UpgradeRequired => StatusCode::UPGRADE_REQUIRED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::NameTaken | Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BadField | Self::NameReserved => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Busy | Self::NotReady => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// A refusal as it stands in the body of the answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ApiError {
    /// Stable and documented.
    pub(crate) code: ApiCode,
    /// For a reader, with values.
    pub(crate) message: String,
    /// The field or parameter at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// When to try again, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_ms: Option<u64>,
    /// Of `not_ready`: what is not all there, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<String>,
    /// The name of the request, in the log and in the header `X-Request-Id` too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
}

impl ApiError {
    /// A refusal that says nothing more than its words.
    pub(crate) fn new(code: ApiCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            field: None,
            retry_ms: None,
            reasons: Vec::new(),
            request_id: None,
        }
    }

    /// A part of the path or query that is not allowed.
    pub(crate) fn bad_parameter(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(name.into()), ..Self::new(ApiCode::BadParameter, message) }
    }

    /// A field of the body that is missing or not allowed.
    pub(crate) fn bad_field(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(name.into()), ..Self::new(ApiCode::BadField, message) }
    }

    /// The same about a field of the body, whose content is not allowed for what it means.
    pub(crate) fn of(self, field: &str) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// Nothing of that kind is there.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(ApiCode::NotFound, format!("there is no such {what}"))
    }

    /// Credentials are needed and missing or not valid.
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(ApiCode::Unauthorized, message)
    }

    /// Adds when to try again.
    pub(crate) fn retry_in(self, wait: Duration) -> Self {
        Self { retry_ms: Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)), ..self }
    }

    /// The whole answer as it travels, for whom there is no request to answer. The connection ends with it.
    pub(super) fn to_http_text(&self, status: StatusCode) -> String {
        let body = serde_json::to_string(self).unwrap_or_default();
        let retry =
            self.retry_ms.map_or_else(String::new, |ms| format!("Retry-After: {}\r\n", ms.div_ceil(1_000)));
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{retry}\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
            body.len(),
        )
    }

    /// Something failed that the asker cannot help. The log gets the cause, the asker does not.
    pub(crate) fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        error!(error = ?cause, "a request failed");
        Self::new(ApiCode::Internal, "something failed on our side")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let code = self.code;
        // Whole seconds, rounded up: half a second early would be refused again.
        let retry_after = self.retry_ms.map(|ms| ms.div_ceil(1_000));
        let named = Self { request_id: request_id::current(), ..self };
        let mut response = (code.status(), Json(named)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if code == ApiCode::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // For the counter of refusals.
        response.extensions_mut().insert(code);
        response
    }
}

impl From<Obstacle> for ApiError {
    fn from(obstacle: Obstacle) -> Self {
        Self::new(ApiCode::Busy, format!("nothing can be stored: {obstacle}")).retry_in(BUSY_RETRY)
    }
}

impl From<WriteError> for ApiError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Busy => Self::new(ApiCode::Busy, "too much is going on, try again in a moment"),
            WriteError::Obstructed(obstacle) => obstacle.into(),
            WriteError::Refused(_) | WriteError::Store(_) => Self::internal(&error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed => Self::new(ApiCode::NotReady, "the daemon is stopping").retry_in(BUSY_RETRY),
            StoreError::Unreachable(_) => {
                Self::new(ApiCode::NotReady, "the database cannot be reached").retry_in(BUSY_RETRY)
            }
            StoreError::Full(_)
            | StoreError::Locked(_)
            | StoreError::Failed(_)
            | StoreError::Corrupt(_)
            | StoreError::Unusable(_) => Self::internal(&error),
        }
    }
}

impl From<AnalysisError> for ApiError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Busy { retry } => Self::new(ApiCode::Busy, error.to_string()).retry_in(retry),
            AnalysisError::Compute(ComputeError::Closed) => {
                Self::new(ApiCode::NotReady, "the daemon is stopping").retry_in(BUSY_RETRY)
            }
            AnalysisError::Share(refusal) => refusal.into(),
            AnalysisError::Compute(ComputeError::NoThread) => {
                Self::new(ApiCode::Busy, error.to_string()).retry_in(BUSY_RETRY)
            }
            AnalysisError::TooHard | AnalysisError::Compute(ComputeError::Panicked) => Self::internal(&error),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.whose {
            Whose::Network | Whose::Account => ApiCode::RateLimited,
            Whose::Everybody => ApiCode::Busy,
        };
        Self::new(code, refusal.to_string()).retry_in(refusal.wait)
    }
}

fn name_refused(error: &InvalidName, message: String) -> ApiError {
    match error {
        InvalidName::Reserved { name: _ } => ApiError::new(ApiCode::NameReserved, message).of("name"),
        InvalidName::Length { .. } | InvalidName::Character { .. } => ApiError::bad_field("name", message),
    }
}

fn tie_refused(error: TieError) -> ApiCode {
    match error {
        TieError::NobodyToFollow | TieError::NobodyToBlock => ApiCode::Forbidden,
        TieError::Blocked | TieError::TooManyFollows { max: _ } | TieError::TooManyBlocks { max: _ } => {
            ApiCode::Conflict
        }
    }
}

impl From<AccountError> for ApiError {
    fn from(error: AccountError) -> Self {
        let message = error.to_string();
        match error {
            AccountError::Name(error) => name_refused(&error, message),
            AccountError::NameForbidden => Self::new(ApiCode::NameReserved, message).of("name"),
            AccountError::Tie(error) => Self::new(tie_refused(error), message),
            AccountError::Password(_) => Self::bad_field("password", message),
            AccountError::NameTaken | AccountError::NameLooksLike { other: _ } => {
                Self::new(ApiCode::NameTaken, message).of("name")
            }
            AccountError::BadCredentials | AccountError::Unauthorized => Self::unauthorized(message),
            AccountError::Share(refusal) => Self::from(refusal),
            AccountError::TooManyAttempts { wait } | AccountError::ResetTooSoon { wait } => {
                Self::new(ApiCode::RateLimited, message).retry_in(wait)
            }
            AccountError::Busy => Self::new(ApiCode::Busy, message).retry_in(BUSY_RETRY),
            AccountError::Obstructed(obstacle) => obstacle.into(),
            AccountError::NoAccount
            | AccountError::TooManyBots { max: _ }
            | AccountError::TooManyTokens { max: _ }
            | AccountError::Banned(_)
            | AccountError::NotYours => Self::new(ApiCode::Forbidden, message),
            AccountError::VacationUsedUp { left: _ } => Self::bad_field("days", message),
            AccountError::InvitationUsedUp => Self::new(ApiCode::Conflict, message).of("invitation"),
            AccountError::NotBanned
            | AccountError::NotMuted
            | AccountError::ReportedAlready
            | AccountError::OperatorAlready
            | AccountError::NoOperator => Self::new(ApiCode::Conflict, message),
            AccountError::WrongCode => Self::new(ApiCode::Forbidden, message).of("code"),
            AccountError::TooManyReports => Self::new(ApiCode::Busy, message),
            AccountError::NoSuchBot
            | AccountError::NoSuchSession
            | AccountError::NoSuchToken
            | AccountError::NoMail => Self::new(ApiCode::NotFound, message),
            AccountError::LinkUsed => Self::new(ApiCode::NotFound, message).of("link"),
            AccountError::Read(error) => error.into(),
            AccountError::Write(_) | AccountError::Unexpected(_) | AccountError::Hash => {
                Self::internal(&error)
            }
        }
    }
}
