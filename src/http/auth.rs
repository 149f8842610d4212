//! Who asks: a bot by its token, a person by the session cookie, a guest by a signed one.

use axum::extract::{FromRequestParts, OptionalFromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;

use super::error::{ApiCode, ApiError};
use super::site::Site;
use super::state::AppState;
use crate::accounts::token::SESSION_PREFIX;
use crate::accounts::{AccountError, Authenticated, GUEST_LIFETIME_MS, Guest, SESSION_LIFETIME_MS};
use crate::model::ids::TokenId;
use crate::model::player::Identity;
use crate::model::secret::Secret;
use crate::storage::record::TokenScope;

/// The cookie's name where TLS protects it: browsers then take it from this host and for the whole site only.
const SECURE_COOKIE: &str = "__Host-fourfold";

/// Its name where there is no TLS, which browsers would not take under the other one.
const PLAIN_COOKIE: &str = "fourfold";

/// What proved the identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum IdentityProof {
    /// A bot's token in the `Authorization` header.
    Bearer(TokenId, TokenScope),
    /// The cookie of somebody who signed in.
    Session(TokenId),
    /// A guest's cookie.
    Guest,
}

impl IdentityProof {
    /// The stored credential whose revocation ends this, if there is one.
    pub(crate) fn token(&self) -> Option<&TokenId> {
        match self {
            Self::Bearer(token, _) | Self::Session(token) => Some(token),
            Self::Guest => None,
        }
    }
}

/// Whoever asks. As an extractor it refuses a wrong token, and makes a guest of everybody else who is not known; on
/// pages, [`guest_cookie`] has done so already and lets the browser remember. `Option<Viewer>` makes no guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Viewer {
    pub(crate) identity: Identity,
    pub(crate) credential: IdentityProof,
}

impl Viewer {
    /// Whether it is a person with an account or a bot, not a guest.
    pub(crate) fn is_signed_in(&self) -> bool {
        self.credential.token().is_some()
    }
}

impl Viewer {
    /// Refuses what a token does that is for less.
    fn check(self, method: &Method) -> Result<Self, ApiError> {
        match &self.credential {
            IdentityProof::Bearer(_, TokenScope::Play | TokenScope::Read) if !method.is_safe() => {
                Err(ApiError::new(
                    ApiCode::Forbidden,
                    "this token may read, but ask for nothing: one of scope manage may",
                ))
            }
            IdentityProof::Bearer(..) | IdentityProof::Session(_) | IdentityProof::Guest => Ok(self),
        }
    }
}

/// Somebody with an account, or a bot: guests are refused with 401.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SignedIn(pub(crate) Authenticated);

/// Says who asks, by the headers of the request: the token if there is one, else the cookie.
///
/// # Errors
///
/// 401 if an `Authorization` header is there and no valid token is in it. A cookie that is not valid (any more) counts
/// as none: the browser cannot help it.
pub(crate) async fn identify(state: &AppState, headers: &HeaderMap) -> Result<Option<Viewer>, ApiError> {
    Ok(find(state, headers).await?.map(|(viewer, _)| viewer))
}

/// As [`identify`], with a new cookie if the guest's is getting old.
async fn find(state: &AppState, headers: &HeaderMap) -> Result<Option<(Viewer, Option<Secret>)>, ApiError> {
    if let Some(token) = bearer(headers)? {
        let Authenticated { identity, token, scope } = state.accounts.authenticate(&token).await?;
        return Ok(Some((Viewer { identity, credential: IdentityProof::Bearer(token, scope) }, None)));
    }
    let Some(cookie) = cookie(&state.site, headers) else { return Ok(None) };
    if cookie.expose().starts_with(SESSION_PREFIX) {
        return match state.accounts.session(&cookie).await {
            Ok(Authenticated { identity, token, .. }) => {
                Ok(Some((Viewer { identity, credential: IdentityProof::Session(token) }, None)))
            }
            // Whoever is kept out is told when signing in; pages are there for everybody.
            Err(AccountError::Unauthorized | AccountError::Banned(_)) => Ok(None),
            Err(other) => Err(other.into()),
        };
    }
    let guest = state.accounts.guest(&cookie).await?;
    Ok(guest
        .map(|Guest { identity, cookie }| (Viewer { identity, credential: IdentityProof::Guest }, cookie)))
}

/// The token of the `Authorization` header, if there is such a header.
pub(super) fn bearer(headers: &HeaderMap) -> Result<Option<Secret>, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, second) = (values.next(), values.next());
    match (value, second) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let token = value.to_str().ok().and_then(|text| text.split_once(' '));
            let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            match token {
                Some((_, token)) => Ok(Some(Secret::new(token.trim()))),
                None => Err(ApiError::unauthorized("the Authorization header must be `Bearer` and a token")),
            }
        }
        (Some(_), Some(_)) => Err(ApiError::unauthorized("there is more than one Authorization header")),
    }
}

/// The value of the site's cookie. Another cookie of the same name, set by somebody else for a wider domain, cannot
/// come first: the most specific one does.
pub(super) fn cookie(site: &Site, headers: &HeaderMap) -> Option<Secret> {
    let name = cookie_name(site);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| Secret::new(value))
}

fn cookie_name(site: &Site) -> &'static str {
    if site.is_secure() { SECURE_COOKIE } else { PLAIN_COOKIE }
}

/// The `Set-Cookie` header that lets a browser remember.
pub fn set_cookie(site: &Site, secret: &Secret) -> HeaderValue {
    let is_session = secret.expose().starts_with(SESSION_PREFIX);
    // As long as it proves anything: browsers need not keep and send it any longer.
    let lifetime_ms = if is_session { SESSION_LIFETIME_MS } else { GUEST_LIFETIME_MS };
    cookie_header(site, secret.expose(), lifetime_ms / 1_000)
}

/// The `Set-Cookie` header that makes a browser forget.
pub(crate) fn clear_cookie(site: &Site) -> HeaderValue {
    cookie_header(site, "", 0)
}

fn cookie_header(site: &Site, value: &str, seconds: i64) -> HeaderValue {
    let name = cookie_name(site);
    let secure = if site.is_secure() { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut header =
        HeaderValue::try_from(text).expect("cookies have base64url characters and full stops only");
    header.set_sensitive(true);
    header
}

/// Refuses what a page of another site makes a browser do.
///
/// A bot's token is sent by no browser on its own, so requests that carry one need no origin. All others: an `Origin`
/// must be the site's own; if there is none but the site's cookie is, the browser must say that the page is ours.
///
/// # Errors
///
/// 403 `origin_not_allowed`.
pub(crate) fn check_origin(site: &Site, headers: &HeaderMap) -> Result<(), ApiError> {
    let has_cookie = cookie(site, headers).is_some();
    if headers.contains_key(header::AUTHORIZATION) {
        return Ok(());
    }
    let is_own = match headers.get(header::ORIGIN) {
        Some(origin) => origin.to_str().is_ok_and(|origin| site.is_own_origin(origin, headers)),
        None => !has_cookie || headers.get("sec-fetch-site").is_some_and(|value| value == "same-origin"),
    };
    if is_own {
        Ok(())
    } else {
        Err(ApiError::new(ApiCode::OriginNotAllowed, "this request must come from a page of this site"))
    }
}

/// Middleware: [`check_origin`] for all methods but those that only read.
///
/// # Errors
///
/// 403 `origin_not_allowed`.
pub(crate) async fn require_own_origin(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if !request.method().is_safe() {
        check_origin(&state.site, request.headers())?;
    }
    Ok(next.run(request).await)
}

/// Middleware for pages: whoever is not known becomes a guest and gets a cookie; an ageing one is renewed.
///
/// # Errors
///
/// As [`identify`].
pub(crate) async fn guest_cookie(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let (viewer, cookie) = match find(&state, request.headers()).await? {
        Some(found) => found,
        None => new_guest(&state),
    };
    request.extensions_mut().insert(viewer);
    let mut response = next.run(request).await;
    // A handler that signs somebody in or out has set the cookie itself.
    if let Some(cookie) = cookie
        && !response.headers().contains_key(header::SET_COOKIE)
    {
        response.headers_mut().insert(header::SET_COOKIE, set_cookie(&state.site, &cookie));
    }
    Ok(response)
}

fn new_guest(state: &AppState) -> (Viewer, Option<Secret>) {
    let Guest { identity, cookie } = state.accounts.new_guest();
    (Viewer { identity, credential: IdentityProof::Guest }, cookie)
}

impl FromRequestParts<AppState> for Viewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let viewer = <Self as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await?;
        Ok(viewer.unwrap_or_else(|| new_guest(state).0))
    }
}

impl OptionalFromRequestParts<AppState> for Viewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Option<Self>, ApiError> {
        if let Some(viewer) = parts.extensions.get::<Self>() {
            return Ok(Some(viewer.clone()));
        }
        let viewer = identify(state, &parts.headers).await?;
        viewer.map(|viewer| viewer.check(&parts.method)).transpose()
    }
}

impl FromRequestParts<AppState> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let viewer = <Viewer as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await?;
        match viewer {
            Some(Viewer { identity, credential: IdentityProof::Bearer(token, scope) }) => {
                Ok(Self(Authenticated { identity, token, scope }))
            }
            Some(Viewer { identity, credential: IdentityProof::Session(token) }) => {
                Ok(Self(Authenticated { identity, token, scope: TokenScope::Manage }))
            }
            Some(Viewer { credential: IdentityProof::Guest, .. }) | None => {
                Err(ApiError::unauthorized("sign in first"))
            }
        }
    }
}
