//! `GET /api/v1/socket`: checks the handshake and who is calling, answers 101, and hands the stream to its task.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures::FutureExt as _;
use futures::future::OptionFuture;
use hyper::upgrade::OnUpgrade;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::error::{Error, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tracing::debug;

use super::auth::{bearer, cookie};
use super::client_address::{ClientAddress, Peer};
use super::connection_limits::ConnectionPlace;
use super::error::{ApiCode, ApiError};
use super::listener::{RETRY, Transport};
use super::site::Site;
use super::slow_peer::PeerPace;
use super::upgraded_stream::UpgradedStream;
use crate::protocol::SUBPROTOCOL;
use crate::session::port::{Caller, Credential, Gateway};
use crate::session::socket::{self, SocketDeps};

/// Where the socket is.
pub(crate) const SOCKET_PATH: &str = "/api/v1/socket";

/// The WebSocket version of RFC 6455, the only one there is.
const WEBSOCKET_VERSION: HeaderValue = HeaderValue::from_static("13");
/// From our 101 to the stream: the time to write the response to a peer that waits for it.
const UPGRADE_MAX: Duration = Duration::from_secs(5);
/// Query keys under which people try to pass a credential. It would end up in logs and histories.
const CREDENTIAL_KEYS: &[&str] = &["token", "access_token", "bearer", "authorization", "secret"];
/// What our tokens begin with, whatever the key.
const TOKEN_PREFIX: &str = "c4b_";

#[derive(Clone)]
struct Sockets {
    gateway: Arc<dyn Gateway>,
    transport: Transport,
}

/// Everything else that is served, with the socket beside it: at its path, and for who asks the front page for an
/// upgrade, so that the address of the arena is all that a bot needs to know.
pub(crate) fn beside(others: Router, gateway: Arc<dyn Gateway>, transport: Transport) -> Router {
    let sockets = Sockets { gateway, transport };
    let socket = Router::new().route(SOCKET_PATH, any(upgrade)).with_state(sockets.clone());
    others.layer(from_fn_with_state(sockets, upgrade_front_page)).merge(socket)
}

async fn upgrade_front_page(
    sockets: State<Sockets>,
    peer: Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let wish = request.headers().get(header::UPGRADE).map(HeaderValue::as_bytes);
    if request.uri().path() == "/" && wish.is_some_and(|wish| wish.eq_ignore_ascii_case(b"websocket")) {
        upgrade(sockets, peer, request).await.into_response()
    } else {
        next.run(request).await
    }
}

/// Why there is no upgrade.
#[derive(Clone, PartialEq, Eq, Debug)]
enum NoUpgrade {
    Method,
    Version,
    Refused(ApiError),
}

impl From<ApiError> for NoUpgrade {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl IntoResponse for NoUpgrade {
    fn into_response(self) -> Response {
        match self {
            Self::Method => {
                let error = ApiError::new(ApiCode::MethodNotAllowed, "a socket is opened by GET");
                ([(header::ALLOW, "GET")], error).into_response()
            }
            Self::Version => {
                let error = ApiError::new(ApiCode::UpgradeRequired, "this is a WebSocket, version 13");
                let headers = [(header::UPGRADE, "websocket"), (header::SEC_WEBSOCKET_VERSION, "13")];
                (headers, error).into_response()
            }
            Self::Refused(error) => error.into_response(),
        }
    }
}

async fn upgrade(
    State(sockets): State<Sockets>,
    Extension(Peer(peer)): Extension<Peer>,
    request: Request,
) -> Result<Response, NoUpgrade> {
    let received = tokio::time::Instant::now().into_std();
    let credential = credential(request.method(), request.uri(), request.headers(), &sockets.transport.site)?;
    let mut response = handshake(&request)?;
    if let Some(subprotocol) = subprotocol(request.headers())? {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, subprotocol);
    }
    if sockets.transport.stop.is_cancelled() {
        return Err(ApiError::new(ApiCode::NotReady, "the arena is restarting").retry_in(RETRY).into());
    }
    if let Credential::Token(token) = &credential {
        sockets.gateway.check_token(token).await.map_err(ApiError::from)?;
    }
    let ClientAddress(address) = ClientAddress::find(&sockets.transport.site, peer.ip(), request.headers());
    let share = share_of(address, peer.ip(), &sockets.transport)?;
    let site = sockets.transport.site.found_at(request.headers(), peer.ip());
    let caller = Caller { credential, address, site, received };
    let peer_pace = request.extensions().get::<Arc<PeerPace>>().cloned();
    let stream = stream_of(hyper::upgrade::on(request), peer_pace, share);
    let Sockets { gateway, transport } = sockets;
    let deps = SocketDeps { gateway, limits: transport.limits, stop: transport.stop };
    // Combined, and not awaited in one block, which would hold what is needed only until the stream is there.
    let attended = stream.then(move |stream| {
        let served = stream.map(|stream| socket::serve(stream, caller, deps));
        OptionFuture::from(served).map(drop)
    });
    transport.tasks.spawn(attended);
    Ok(response)
}

/// The stream, once the peer has the answer. Nobody notes any more how fast it speaks HTTP.
async fn stream_of(
    upgraded: OnUpgrade,
    peer_pace: Option<Arc<PeerPace>>,
    share: Option<ConnectionPlace>,
) -> Option<UpgradedStream> {
    match timeout(UPGRADE_MAX, upgraded).await {
        Ok(Ok(stream)) => {
            if let Some(peer_pace) = peer_pace {
                peer_pace.upgraded();
            }
            return Some(UpgradedStream::of(stream, share));
        }
        Ok(Err(error)) => debug!(%error, "the peer left during the upgrade"),
        Err(_) => debug!("the peer did not take the answer to its upgrade"),
    }
    None
}

/// The place of a client behind a proxy, whose own connection counts for no address.
fn share_of(
    client: IpAddr,
    peer: IpAddr,
    transport: &Transport,
) -> Result<Option<ConnectionPlace>, ApiError> {
    if client == peer.to_canonical() {
        return Ok(None);
    }
    let share = transport.connection_limits.take_behind_proxy(client);
    share.map(Some).map_err(|full| ApiError::new(ApiCode::RateLimited, full.to_string()).retry_in(RETRY))
}

/// Checks all that can be said without the store: where the credential is, and that a cookie comes from our pages.
///
/// Browsers always send an `Origin` with an upgrade, so one without it is nobody whose cookie we take.
fn credential(method: &Method, uri: &Uri, headers: &HeaderMap, site: &Site) -> Result<Credential, NoUpgrade> {
    if has_credential(uri) {
        let message = "a token belongs in the Authorization header or in hello, not in the URL";
        return Err(ApiError::new(ApiCode::TokenInUrl, message).into());
    }
    if method != Method::GET {
        return Err(NoUpgrade::Method);
    }
    if let Some(token) = bearer(headers)? {
        return Ok(Credential::Token(token));
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origin = origins.next().filter(|_| origins.next().is_none()).and_then(|origin| origin.to_str().ok());
    match cookie(site, headers) {
        None => Ok(Credential::None),
        Some(cookie) if origin.is_some_and(|origin| site.is_own_origin(origin, headers)) => {
            Ok(Credential::Cookie(cookie))
        }
        Some(_) => {
            let message = "a cookie is taken from the site's own pages only";
            Err(ApiError::new(ApiCode::OriginNotAllowed, message).into())
        }
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

/// The 101, if the request is a handshake that we understand.
fn handshake(request: &Request) -> Result<Response, NoUpgrade> {
    let version = request.headers().get(header::SEC_WEBSOCKET_VERSION);
    if version.is_some_and(|version| version != WEBSOCKET_VERSION) {
        return Err(NoUpgrade::Version);
    }
    create_response_with_body(request, Body::empty).map_err(|error| match error {
        Error::Protocol(ProtocolError::MissingSecWebSocketKey | ProtocolError::InvalidSecWebSocketKey) => {
            ApiError::new(ApiCode::BadHandshake, error.to_string()).into()
        }
        Error::Protocol(ProtocolError::WrongHttpMethod) => NoUpgrade::Method,
        _ => NoUpgrade::Version,
    })
}

/// The subprotocol to name in the answer: ours if the client named it, nothing if it named none.
fn subprotocol(headers: &HeaderMap) -> Result<Option<HeaderValue>, ApiError> {
    let mut values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().peekable();
    if values.peek().is_none() {
        return Ok(None);
    }
    let mut names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    if names.any(|name| name.trim() == SUBPROTOCOL) {
        Ok(Some(HeaderValue::from_static(SUBPROTOCOL)))
    } else {
        Err(ApiError::new(ApiCode::BadHandshake, format!("the subprotocol spoken here is {SUBPROTOCOL}")))
    }
}

#[cfg(test)]
mod tests;
