//! One HTTP connection: hyper between a peer's stream and the router, within the limits of time.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::body::Body;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, Response, Uri, Version, header};
use axum::response::IntoResponse;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, debug, error_span};

use super::balancer::{Answer, Question};
use super::client_address::Peer;
use super::error::{ApiCode, ApiError};
use super::named_host::NamedHosts;
use super::request_id::{self, RequestId};
use super::slow_peer::{BareLineFeed, ContentLength, HeadFacts, Marks, PacedBody, PacedStream, PeerPace};
use crate::session::limits::TransportLimits;

/// hyper refuses to work with a smaller buffer.
const HYPER_BUFFER_MIN: usize = 8 * 1024;

/// More than any answer to a balancer has.
const BALANCER_ANSWER_BYTES_MAX: usize = 4 * 1024;

/// What all connections share.
#[derive(Clone, Debug)]
pub(super) struct ConnectionDeps {
    pub(super) router: Router,
    pub(super) limits: Arc<TransportLimits>,
    pub(super) stop: CancellationToken,
    pub(super) hang_up: HangUp,
    /// By which names it may be asked for.
    pub(super) hosts: NamedHosts,
}

/// What becomes of a request when the peer hangs up before it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HangUp {
    /// It is given up: nobody wants the answer.
    GivesUp,
    /// It is done all the same.
    CarriesOn,
}

/// How a connection ended, for the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ConnectionEnd {
    /// The peer or the protocol ended it, or it was upgraded.
    Done,
    /// The peer took too long.
    TooSlow,
    /// The daemon stops and a request was still being answered.
    Stopped,
}

/// Serves requests from `stream` until it ends, is upgraded, or is too slow. The connection holds its `place` among
/// all of them as long as it lives.
pub(super) async fn serve<S, P>(stream: S, peer: SocketAddr, place: P, deps: ConnectionDeps)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Unpin + Send + 'static,
{
    let peer_pace = Arc::new(PeerPace::new());
    let router = TowerToHyperService::new(deps.router.clone());
    let service = service_fn(|request| answer(request, peer, &router, &peer_pace, &deps.hosts));
    let io = TokioIo::new(PacedStream::new(stream, peer_pace.clone(), place));
    let mut connection = pin!(builder(&deps).serve_connection(io, service).with_upgrades());
    let ending = tokio::select! {
        biased;
        ending = paced(connection.as_mut(), &peer_pace, &deps.limits) => ending,
        () = deps.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let last = paced(connection.as_mut(), &peer_pace, &deps.limits);
            timeout(deps.limits.stop, last).await.unwrap_or(ConnectionEnd::Stopped)
        }
    };
    debug!(%peer, ?ending, "connection ends");
}

fn builder(deps: &ConnectionDeps) -> http1::Builder {
    let limits = &deps.limits;
    let mut builder = http1::Builder::new();
    builder
        .half_close(deps.hang_up == HangUp::CarriesOn)
        .max_headers(limits.headers)
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes.max(HYPER_BUFFER_MIN))
        // Ours: hyper's would run between requests too.
        .header_read_timeout(None);
    builder
}

/// Runs a connection, but not past the deadlines of its pace.
async fn paced<C, E>(
    mut connection: Pin<&mut C>,
    peer_pace: &PeerPace,
    limits: &TransportLimits,
) -> ConnectionEnd
where
    C: Future<Output = Result<(), E>>,
{
    let mut timer = pin!(sleep_until(Instant::now()));
    std::future::poll_fn(|cx| {
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(ConnectionEnd::Done);
        }
        let Some(deadline) = peer_pace.deadline(limits) else {
            return Poll::Pending;
        };
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| ConnectionEnd::TooSlow)
    })
    .await
}

/// Passes one request to the router, with the other end of the connection as an extension.
async fn answer(
    request: Request<Incoming>,
    peer: SocketAddr,
    router: &TowerToHyperService<Router>,
    peer_pace: &Arc<PeerPace>,
    hosts: &NamedHosts,
) -> Result<Response<PacedBody<Body>>, Infallible> {
    let id = RequestId::of(request.headers());
    let head = peer_pace.request(!request.body().is_end_stream());
    let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
    let refused = check_head(&request, head).err();
    let is_broken = refused.is_some();
    let refused = refused.or_else(|| check_host(&request, hosts).err());
    let mut request = request.map(|body| PacedBody::new(body, peer_pace.clone(), Marks::RequestRead));
    request.extensions_mut().insert(Peer(peer));
    // For an upgrade, which ends its work.
    request.extensions_mut().insert(Arc::clone(peer_pace));
    let answered = async {
        match refused {
            Some(error) => Ok(error.into_response()),
            None => router.call(request).await,
        }
    };
    // Whatever the level of the log, its lines name the request.
    let span = error_span!("request", request_id = %id);
    let mut response = id.scope(answered).instrument(span).await?;
    if let Some(id) = id.to_header() {
        response.headers_mut().insert(request_id::HEADER, id);
    }
    if chunked || is_broken {
        // Whoever sits between may see the end of such a request elsewhere than we do (RFC 9112, section 6.1).
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| PacedBody::new(body, peer_pace.clone(), Marks::Answered)))
}

/// What the router answers to a balancer that asks past TLS.
pub(super) async fn answer_to_balancer(question: Question, peer: SocketAddr, router: &Router) -> Answer {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = Uri::from_static(question.path());
    request.extensions_mut().insert(Peer(peer));
    let Ok(response) = TowerToHyperService::new(router.clone()).call(request).await;
    let status = response.status();
    let body =
        axum::body::to_bytes(response.into_body(), BALANCER_ANSWER_BYTES_MAX).await.unwrap_or_default();
    Answer { status, body: String::from_utf8_lossy(&body).into_owned().into() }
}

/// Refuses headers that others may read in another way than hyper does.
fn check_head<B>(request: &Request<B>, head: HeadFacts) -> Result<(), ApiError> {
    let headers = request.headers();
    let bad = |message| Err(ApiError::new(ApiCode::BadRequest, message));
    if head.bare_line_feed == BareLineFeed::Present {
        return bad("a line of the header ends without a carriage return");
    }
    let hosts = headers.get_all(header::HOST).iter().count();
    if hosts > 1 {
        return bad("the header Host stands there twice");
    }
    if hosts == 0 && request.version() == Version::HTTP_11 {
        return bad("the header Host is missing");
    }
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        if codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return bad("the one Transfer-Encoding is chunked, once");
        }
        if head.content_length == ContentLength::Present {
            return bad("both Content-Length and Transfer-Encoding");
        }
    }
    Ok(())
}

/// Refuses to be somebody else.
///
/// Where the target of a request names a host, it is that one that is asked for (RFC 9112, section 3.2.2).
fn check_host<B>(request: &Request<B>, hosts: &NamedHosts) -> Result<(), ApiError> {
    let target = request.uri().authority().map(Authority::as_str);
    if target.is_none_or(|host| hosts.allow(host)) {
        let Some(value) = request.headers().get(header::HOST) else { return Ok(()) };
        if value.to_str().is_ok_and(|host| hosts.allow(host)) {
            return Ok(());
        }
    }
    let message = "the daemon listens on this machine alone and answers to localhost, 127.0.0.1, [::1] and the host of \
                   server.public_url; set that to reach it by this name";
    Err(ApiError::new(ApiCode::HostNotAllowed, message))
}

#[cfg(test)]
mod tests;
