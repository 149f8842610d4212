//! Registering, signing in, signing out.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::routing::{post, put};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::{Invited, Issued};
use crate::http::auth::{self, SignedIn, Viewer};
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::model::device::Device;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::invitation::InvitationCode;
use crate::model::player::{Identity, PlayerKind};
use crate::model::secret::Secret;
use crate::model::time::UnixMillis;
use crate::system::config::Registration;

/// A name and its password.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Credentials {
    /// 2 to 20 letters, digits, `_` or `-`, in upper or lower case alike.
    pub(in crate::http) name: String,
    /// 8 to 200 characters.
    pub(in crate::http) password: Secret,
}

/// A name and its password, for a new account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NewAccount {
    /// 2 to 20 letters, digits, `_` or `-`, in upper or lower case alike.
    name: String,
    /// 8 to 200 characters.
    password: Secret,
    /// The code of an invitation, where nobody registers without.
    #[serde(default)]
    invitation: Option<String>,
}

/// What a guest wants to be called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GuestName {
    /// 2 to 14 letters, digits, `_` or `-`.
    name: String,
}

/// A guest as everybody sees them.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Guest")]
struct GuestView {
    /// Stays the same as long as the cookie does.
    id: PlayerId,
    /// `guest-` and the name that was chosen.
    name: PlayerName,
    /// Always `guest`.
    kind: PlayerKind,
}

/// Who signed in. The session itself is in the cookie.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Account")]
pub(crate) struct SignedInView {
    /// Stays the same for ever.
    pub(crate) id: PlayerId,
    /// As it was registered.
    pub(crate) name: PlayerName,
    /// Always `human`.
    pub(crate) kind: PlayerKind,
}

impl From<Identity> for SignedInView {
    fn from(account: Identity) -> Self {
        Self { id: account.id, name: account.name, kind: account.kind }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let register = Operation::post(
        "/api/v1/accounts",
        "Makes an account and signs in: sets the session cookie. A guest keeps the games played so far",
        Content::Json(schema_of::<SignedInView>),
    )
    .body(schema_of::<NewAccount>)
    .refusals(&[
        ApiCode::NameTaken,
        ApiCode::NameReserved,
        ApiCode::Forbidden,
        ApiCode::Conflict,
        ApiCode::RateLimited,
        ApiCode::Busy,
    ]);
    let sign_in = Operation::post(
        "/api/v1/sessions",
        "Signs in: sets the session cookie",
        Content::Json(schema_of::<SignedInView>),
    )
    .body(schema_of::<Credentials>)
    .refusals(&[ApiCode::Unauthorized, ApiCode::RateLimited, ApiCode::Busy]);
    let sign_out = Operation::delete("/api/v1/sessions", "Signs out: ends the session", Content::Nothing)
        .status(204)
        .signed_in()
        .refusals(&[ApiCode::OriginNotAllowed]);
    vec![
        Endpoint::new("/api/v1/guest", put(name_guest), [of_guest()]),
        Endpoint::new("/api/v1/accounts", post(create_account), [register]),
        Endpoint::new("/api/v1/sessions", post(create_session).delete(delete_session), [sign_in, sign_out]),
    ]
}

/// How guests choose a name.
fn of_guest() -> Operation {
    Operation::put(
        "/api/v1/guest",
        "Gives a guest, whom the site's cookie names, the name that they choose",
        Content::Json(schema_of::<GuestView>),
    )
    .body(schema_of::<GuestName>)
    .refusals(&[
        ApiCode::Unauthorized,
        ApiCode::Forbidden,
        ApiCode::NameTaken,
        ApiCode::NameReserved,
        ApiCode::RateLimited,
        ApiCode::OriginNotAllowed,
    ])
}

async fn create_account(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    viewer: Option<Viewer>,
    headers: HeaderMap,
    JsonBody(NewAccount { name, password, invitation }): JsonBody<NewAccount>,
) -> Result<impl IntoResponse, ApiError> {
    let invited = admission(&state, from, invitation.as_deref())?;
    let (accounts, guest) = (&state.accounts, viewer.map(|viewer| viewer.identity));
    let identity = accounts.register_guest(from, guest.as_ref(), &name, password, invited.as_ref()).await?;
    let issued = state.accounts.open_session(&identity.id, device(&headers)).await?;
    Ok(signed_in(&state, issued))
}

async fn name_guest(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    viewer: Option<Viewer>,
    JsonBody(GuestName { name }): JsonBody<GuestName>,
) -> Result<impl IntoResponse, ApiError> {
    let viewer = viewer.ok_or_else(|| ApiError::unauthorized("a guest is known by the site's cookie"))?;
    if viewer.is_signed_in() || !state.access.guests {
        return Err(ApiError::new(ApiCode::Forbidden, "only guests who play here choose a name like this"));
    }
    let Identity { id, name, kind, .. } = state.accounts.name_guest(from, &viewer.identity, &name).await?;
    Ok(Json(GuestView { id, name, kind }))
}

/// What the request comes from, by what it says.
fn device(headers: &HeaderMap) -> Device {
    let said = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    said.map(Device::of).unwrap_or_default()
}

/// By which invitation somebody may register, if it takes one.
fn admission(state: &AppState, from: IpAddr, code: Option<&str>) -> Result<Option<Invited>, ApiError> {
    match state.access.registration {
        Registration::Open => return Ok(None),
        Registration::Closed => {
            let message = "accounts are made by the operators of this arena, ask them for one";
            return Err(ApiError::new(ApiCode::Forbidden, message));
        }
        Registration::Code => {}
    }
    let Some(code) = code.map(str::trim).filter(|code| !code.is_empty()) else {
        return Err(ApiError::bad_field("invitation", "the code of an invitation is needed"));
    };
    state.accounts.note_invitation(from)?;
    let code = code.parse::<InvitationCode>().ok();
    let orders = state.arena.orders();
    let found =
        orders.invitations(UnixMillis::now()).find(|invitation| Some(&invitation.code) == code.as_ref());
    let Some(found) = found else {
        let refused = ApiError::new(ApiCode::Forbidden, "there is no such invitation, or it has ended");
        return Err(refused.of("invitation"));
    };
    Ok(Some(Invited { code: found.code.clone(), uses: found.uses }))
}

async fn create_session(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    headers: HeaderMap,
    JsonBody(Credentials { name, password }): JsonBody<Credentials>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(signed_in(&state, state.accounts.sign_in(from, &name, password, device(&headers)).await?))
}

async fn delete_session(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<impl IntoResponse, ApiError> {
    match session.identity.kind {
        PlayerKind::Human => {}
        PlayerKind::Bot | PlayerKind::Guest => {
            return Err(ApiError::new(ApiCode::Forbidden, "a token ends by DELETE /api/v1/bots/NAME/tokens"));
        }
    }
    state.accounts.sign_out(&session).await?;
    Ok((StatusCode::NO_CONTENT, cookie_header(auth::clear_cookie(&state.site))))
}

fn signed_in(state: &AppState, issued: Issued) -> impl IntoResponse + use<> {
    let Issued { identity, token: _, secret } = issued;
    let cookie = auth::set_cookie(&state.site, &secret);
    (StatusCode::CREATED, cookie_header(cookie), Json(SignedInView::from(identity)))
}

pub(super) fn cookie_header(value: HeaderValue) -> AppendHeaders<[(HeaderName, HeaderValue); 1]> {
    AppendHeaders([(header::SET_COOKIE, value)])
}
