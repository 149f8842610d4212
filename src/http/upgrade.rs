//! `GET /api/v1/socket`: checks the handshake and who is calling, answers 101, and hands the stream to its task.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::error::{Error, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tracing::debug;

use super::client_address::ClientAddress;
use super::listener::Transport;
use super::refusal::Refusal;
use super::slots::Slot;
use crate::protocol::SUBPROTOCOL;
use crate::secret::Secret;
use crate::session::port::{Caller, Credential, Gateway};
use crate::session::socket::{self, SocketDeps};

/// Where the socket is.
pub const SOCKET_PATH: &str = "/api/v1/socket";

/// The WebSocket version of RFC 6455, the only one there is.
const WEBSOCKET_VERSION: HeaderValue = HeaderValue::from_static("13");
/// From our 101 to the stream: the time to write the response to a peer that waits for it.
const UPGRADE_MAX: Duration = Duration::from_secs(5);
/// Query keys under which people try to pass a credential. It would end up in logs and histories.
const CREDENTIAL_KEYS: &[&str] = &["token", "access_token", "bearer", "authorization", "secret"];
/// What our tokens begin with, whatever the key.
const TOKEN_PREFIX: &str = "c4b_";

/// How the site's pages are told from others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// The cookies that say who somebody is, the most trusted first.
    pub cookies: Vec<String>,
    /// Origins besides the one that the `Host` header names: `https://play.example.org`.
    pub origins: Vec<String>,
}

#[derive(Clone)]
struct Sockets {
    gateway: Arc<dyn Gateway>,
    transport: Transport,
    site: Arc<Site>,
}

/// The route of the socket.
pub fn route(gateway: Arc<dyn Gateway>, transport: Transport, site: Site) -> Router {
    let sockets = Sockets { gateway, transport, site: Arc::new(site) };
    Router::new().route(SOCKET_PATH, any(upgrade)).with_state(sockets)
}

/// Why there is no upgrade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NoUpgrade {
    TokenInUrl,
    Method,
    Version,
    Handshake,
    Subprotocol,
    Unauthorized,
    Origin,
    Address,
    Stopping,
}

impl IntoResponse for NoUpgrade {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::TokenInUrl => {
                (StatusCode::BAD_REQUEST, "token_in_url", "a token belongs in the Authorization header or in hello")
            }
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "a socket is opened by GET"),
            Self::Version => {
                (StatusCode::UPGRADE_REQUIRED, "upgrade_required", "this is a WebSocket, version 13")
            }
            Self::Handshake => {
                (StatusCode::BAD_REQUEST, "bad_handshake", "Sec-WebSocket-Key is missing or is not 16 bytes of base64")
            }
            Self::Subprotocol => {
                (StatusCode::BAD_REQUEST, "bad_version", "the subprotocol spoken here is fourfold.v1")
            }
            Self::Unauthorized => {
                (StatusCode::UNAUTHORIZED, "unauthorized", "the token is unknown, expired or revoked")
            }
            Self::Origin => {
                (StatusCode::FORBIDDEN, "origin_not_allowed", "a cookie is taken from the site's own pages only")
            }
            Self::Address => {
                (StatusCode::TOO_MANY_REQUESTS, "rate_limited", "too many connections from this address")
            }
            Self::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "paused", "the arena is restarting"),
        };
        let mut response = Refusal::new(status, code, message).into_response();
        for (name, value) in self.headers() {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl NoUpgrade {
    fn headers(self) -> &'static [(HeaderName, &'static str)] {
        match self {
            Self::Method => &[(header::ALLOW, "GET")],
            Self::Version => &[(header::UPGRADE, "websocket"), (header::SEC_WEBSOCKET_VERSION, "13")],
            Self::Unauthorized => &[(header::WWW_AUTHENTICATE, "Bearer")],
            Self::Address | Self::Stopping => &[(header::RETRY_AFTER, "1")],
            Self::TokenInUrl | Self::Handshake | Self::Subprotocol | Self::Origin => &[],
        }
    }
}

async fn upgrade(
    State(sockets): State<Sockets>, Extension(client): Extension<ClientAddress>, request: Request,
) -> Result<Response, NoUpgrade> {
    let received = tokio::time::Instant::now().into_std();
    let credential = credential(request.method(), request.uri(), request.headers(), &sockets.site)?;
    let mut response = handshake(&request)?;
    if let Some(subprotocol) = subprotocol(request.headers())? {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, subprotocol);
    }
    if sockets.transport.stop.is_cancelled() {
        return Err(NoUpgrade::Stopping);
    }
    if let Credential::Token(token) = &credential {
        sockets.gateway.check_token(token).await.map_err(|_| NoUpgrade::Unauthorized)?;
    }
    let share = client.by_proxy.then(|| sockets.transport.slots.take_behind_proxy(client.address));
    let share = share.transpose().map_err(|_| NoUpgrade::Address)?;
    let caller = Caller { credential, address: client.address, received };
    let upgraded = hyper::upgrade::on(request);
    let transport = sockets.transport.clone();
    transport.tasks.spawn(attend(upgraded, caller, share, sockets));
    Ok(response)
}

/// Waits for the stream and serves it.
async fn attend(upgraded: OnUpgrade, caller: Caller, share: Option<Slot>, sockets: Sockets) {
    let Sockets { gateway, transport, .. } = sockets;
    let deps = SocketDeps { gateway, limits: transport.limits, stop: transport.stop };
    match timeout(UPGRADE_MAX, upgraded).await {
        Ok(Ok(stream)) => socket::serve(TokioIo::new(stream), caller, deps).await,
        Ok(Err(error)) => debug!(%error, "the peer left during the upgrade"),
        Err(_) => debug!("the peer did not take the answer to its upgrade"),
    }
    drop(share);
}

/// Checks all that can be said without the store: where the credential is, and that a cookie comes from our pages.
fn credential(method: &Method, uri: &Uri, headers: &HeaderMap, site: &Site) -> Result<Credential, NoUpgrade> {
    if has_credential(uri) {
        return Err(NoUpgrade::TokenInUrl);
    }
    if method != Method::GET {
        return Err(NoUpgrade::Method);
    }
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        return bearer(authorization).map(Credential::Token).ok_or(NoUpgrade::Unauthorized);
    }
    match site.cookies.iter().find_map(|name| cookie(headers, name)) {
        None => Ok(Credential::None),
        Some(cookie) if is_own_origin(headers, site) => Ok(Credential::Cookie(cookie)),
        Some(_) => Err(NoUpgrade::Origin),
    }
}

/// Whether somebody put a credential into the URL.
fn has_credential(uri: &Uri) -> bool {
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else {
        return false;
    };
    pairs.iter().any(|(key, value)| {
        CREDENTIAL_KEYS.iter().any(|name| key.eq_ignore_ascii_case(name)) || value.starts_with(TOKEN_PREFIX)
    })
}

fn bearer(authorization: &HeaderValue) -> Option<Secret> {
    let (scheme, token) = authorization.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| Secret::new(token))
}

/// The value of a cookie, from any of the `Cookie` headers.
fn cookie(headers: &HeaderMap, name: &str) -> Option<Secret> {
    let headers = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = headers.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| Secret::new(value.trim_matches('"')))
}

/// Whether a browser says that one of our pages is calling. Browsers always send an `Origin` here, so a missing one is
/// nobody whose cookie we take.
fn is_own_origin(headers: &HeaderMap, site: &Site) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next().and_then(|origin| origin.to_str().ok()), origins.next()) else {
        return false;
    };
    if site.origins.iter().any(|own| own.trim_end_matches('/').eq_ignore_ascii_case(origin)) {
        return true;
    }
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let plain = |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
    !host.is_empty() && plain(authority) == plain(host)
}

/// The 101, if the request is a handshake that we understand.
fn handshake(request: &Request) -> Result<Response, NoUpgrade> {
    let version = request.headers().get(header::SEC_WEBSOCKET_VERSION);
    if version.is_some_and(|version| version != WEBSOCKET_VERSION) {
        return Err(NoUpgrade::Version);
    }
    create_response_with_body(request, Body::empty).map_err(|error| match error {
        Error::Protocol(ProtocolError::MissingSecWebSocketKey | ProtocolError::InvalidSecWebSocketKey) => {
            NoUpgrade::Handshake
        }
        Error::Protocol(ProtocolError::WrongHttpMethod) => NoUpgrade::Method,
        _ => NoUpgrade::Version,
    })
}

/// The subprotocol to name in the answer: ours if the client named it, nothing if it named none.
fn subprotocol(headers: &HeaderMap) -> Result<Option<HeaderValue>, NoUpgrade> {
    let mut named = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().peekable();
    if named.peek().is_none() {
        return Ok(None);
    }
    let mut names = named.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    if names.any(|name| name.trim() == SUBPROTOCOL) {
        Ok(Some(HeaderValue::from_static(SUBPROTOCOL)))
    } else {
        Err(NoUpgrade::Subprotocol)
    }
}

#[cfg(test)]
mod tests;
