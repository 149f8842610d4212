//! A refusal over HTTP: a status, and JSON with a code and words.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A refused request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    status: StatusCode,
    body: Body,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Body {
    code: &'static str,
    message: String,
}

impl Refusal {
    /// `code` is stable and documented, `message` is for a reader.
    #[must_use]
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, body: Body { code, message: message.into() } }
    }

    /// The JSON object alone.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(&self.body).unwrap_or_default()
    }

    /// The status line's number and words.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
