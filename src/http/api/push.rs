//! Browsers that show somebody notices while nobody looks.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::{PushView, person};
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::operations::push::{AddError, NewBrowser, Pusher, TryError};
use crate::storage::store::Refused;
use crate::storage::writer::WriteError;

/// A browser that is to show notices, as its `PushSubscription` describes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewPush {
    /// Where its push service takes them: `https`, at most 1024 characters.
    endpoint: String,
    keys: PushKeys,
    /// The tag of the language in which it shows them; without, English.
    language: Option<String>,
}

/// What is encrypted with for a browser.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PushKeys {
    /// Its public key, base64url.
    p256dh: String,
    /// Its secret, base64url.
    auth: String,
}

/// Which browser.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PushEndpoint {
    /// Where its push service takes notices.
    endpoint: String,
}

/// Browsers that show one's notices.
#[derive(Debug, Serialize, JsonSchema)]
struct Pushes {
    /// What a browser needs to subscribe, as `applicationServerKey`.
    public_key: String,
    /// At most five, the oldest first.
    browsers: Vec<PushView>,
}

/// How a test went.
#[derive(Debug, Serialize, JsonSchema)]
struct PushTest {
    /// Push services that took the notice.
    taken: usize,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/push",
        "Lists the browsers that show one's notices, with the key to subscribe one more",
        Content::Json(schema_of::<Pushes>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound]);
    let add = Operation::put(
        "/api/v1/account/push",
        "Has a browser show one's notices, in the place of what was known of it; of more than five the oldest goes",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<NewPush>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    let remove =
        Operation::delete("/api/v1/account/push", "Has a browser show no more notices", Content::Nothing)
            .status(204)
            .body(schema_of::<PushEndpoint>)
            .signed_in()
            .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    let test = Operation::post(
        "/api/v1/account/push/test",
        "Has all these browsers show a notice to try with, and says how many push services took it",
        Content::Json(schema_of::<PushTest>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed, ApiCode::RateLimited]);
    let one = get(show_pushes).put(add_push).delete(remove_push);
    vec![
        Endpoint::new("/api/v1/account/push", one, [show, add, remove]),
        Endpoint::new("/api/v1/account/push/test", post(test_push), [test]),
    ]
}

/// What tells browsers, where operators have keys.
fn pusher(state: &AppState) -> Result<&Pusher, ApiError> {
    state.pusher.as_ref().ok_or_else(|| ApiError::not_found("push: this arena sends no notices"))
}

fn unwritten(error: WriteError) -> ApiError {
    match error {
        WriteError::Refused(Refused::NoPush) => ApiError::not_found("push"),
        other => other.into(),
    }
}

async fn show_pushes(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<Pushes>, ApiError> {
    let owner = person(session)?.identity.id;
    let pusher = pusher(&state)?;
    let browsers = pusher.browsers_of(&owner).await?.into_iter().map(PushView::from).collect();
    Ok(Json(Pushes { public_key: pusher.public_key().to_owned(), browsers }))
}

async fn add_push(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(NewPush { endpoint, keys, language }): JsonBody<NewPush>,
) -> Result<StatusCode, ApiError> {
    let owner = person(session)?.identity.id;
    let language = language.and_then(|tag| Language::of_tag(&tag)).unwrap_or(Language::ALL[0]);
    let PushKeys { p256dh, auth } = keys;
    let browser = NewBrowser { endpoint, p256dh, auth, language: language.tag().to_owned() };
    pusher(&state)?.add(&owner, browser).await.map_err(|error| match error {
        error @ (AddError::Endpoint | AddError::Private) => {
            ApiError::bad_field("endpoint", error.to_string())
        }
        error @ AddError::Key(_) => ApiError::bad_field("keys", error.to_string()),
        AddError::Write(error) => unwritten(error),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_push(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(PushEndpoint { endpoint }): JsonBody<PushEndpoint>,
) -> Result<StatusCode, ApiError> {
    let owner = person(session)?.identity.id;
    pusher(&state)?.remove(&owner, &endpoint).await.map_err(unwritten)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn test_push(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<PushTest>, ApiError> {
    let owner = person(session)?.identity.id;
    let taken = pusher(&state)?.try_out(&owner).await.map_err(|error| match error {
        TryError::Share(refusal) => refusal.into(),
        TryError::Busy => {
            ApiError::new(ApiCode::Busy, "too many notices are under way, try again in a moment")
        }
        TryError::Store(error) => error.into(),
    })?;
    Ok(Json(PushTest { taken }))
}
