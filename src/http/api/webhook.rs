//! The address to which somebody has it told what happens to their bots.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::{WebhookView, person};
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::operations::webhooks::{PingError, SetError, Webhooks};
use crate::storage::store::Refused;
use crate::storage::writer::WriteError;

/// A new address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewWebhook {
    /// `https://HOST/PATH` or `http://HOST/PATH`, at most 300 characters; port 80, 443 or from 1024.
    url: String,
}

/// The key of the signatures.
#[derive(Debug, Serialize, JsonSchema)]
struct WebhookSecret {
    /// Shown this once.
    secret: String,
}

/// How a test went.
#[derive(Debug, Serialize, JsonSchema)]
struct WebhookTest {
    /// Whether it was taken: the answer was a success.
    delivered: bool,
    /// As `last_outcome`.
    outcome: String,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/webhook",
        "Shows where one has it told what happens to one's bots",
        Content::Json(schema_of::<WebhookView>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound]);
    let set = Operation::put(
        "/api/v1/account/webhook",
        "Sets the address to which it is told what happens to one's bots, in the place of the one before",
        Content::Json(schema_of::<WebhookSecret>),
    )
    .body(schema_of::<NewWebhook>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    let remove = Operation::delete("/api/v1/account/webhook", "Ends one's webhook", Content::Nothing)
        .status(204)
        .signed_in()
        .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    let test = Operation::post(
        "/api/v1/account/webhook/test",
        "Sends a `ping` to one's webhook and says how that went. One that is taken ends its pause",
        Content::Json(schema_of::<WebhookTest>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed, ApiCode::RateLimited]);
    let one = get(show_webhook).put(set_webhook).delete(remove_webhook);
    vec![
        Endpoint::new("/api/v1/account/webhook", one, [show, set, remove]),
        Endpoint::new("/api/v1/account/webhook/test", post(test_webhook), [test]),
    ]
}

/// What sends messages, where operators let it.
fn webhooks(state: &AppState) -> Result<&Webhooks, ApiError> {
    state.webhooks.as_ref().ok_or_else(|| ApiError::not_found("webhook: this arena sends no messages"))
}

fn unwritten(error: WriteError) -> ApiError {
    match error {
        WriteError::Refused(Refused::NoWebhook) => ApiError::not_found("webhook"),
        other => other.into(),
    }
}

async fn show_webhook(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<WebhookView>, ApiError> {
    let owner = person(session)?.identity.id;
    let webhook = webhooks(&state)?.of(&owner).await?;
    Ok(Json(webhook.ok_or_else(|| ApiError::not_found("webhook"))?.into()))
}

async fn set_webhook(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(NewWebhook { url }): JsonBody<NewWebhook>,
) -> Result<Json<WebhookSecret>, ApiError> {
    let owner = person(session)?.identity.id;
    let secret = webhooks(&state)?.set(&owner, url.trim()).await.map_err(|error| match error {
        error @ (SetError::Target(_) | SetError::Private) => ApiError::bad_field("url", error.to_string()),
        SetError::Write(error) => unwritten(error),
    })?;
    Ok(Json(WebhookSecret { secret: secret.expose().to_owned() }))
}

async fn remove_webhook(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<StatusCode, ApiError> {
    let owner = person(session)?.identity.id;
    webhooks(&state)?.remove(&owner).await.map_err(unwritten)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn test_webhook(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<WebhookTest>, ApiError> {
    let owner = person(session)?.identity;
    let outcome = webhooks(&state)?.ping(&owner).await.map_err(|error| match error {
        PingError::NoWebhook => ApiError::not_found("webhook"),
        PingError::Share(refusal) => refusal.into(),
        PingError::Busy => {
            ApiError::new(ApiCode::Busy, "too many messages are under way, try again in a moment")
        }
        PingError::Store(error) => error.into(),
    })?;
    Ok(Json(WebhookTest { delivered: outcome.is_delivered(), outcome: outcome.to_string() }))
}
