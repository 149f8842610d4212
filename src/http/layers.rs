//! What happens to every request and answer, whatever the route.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt as _;
use tracing::error;

use super::assets;
use super::error::{ApiCode, ApiError};
use super::pages::embed;
use super::request::{check_content_encoding, check_uri};
use super::site::{Site, host};
use crate::system::metrics::Metrics;
use crate::system::part::Part;

/// How long a handler may take. Hashing a password behind a full queue takes about a second; beyond this the store
/// hangs, and an answer is better than none.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(15);

/// When to come back after such a time-out.
const TIMEOUT_RETRY: Duration = Duration::from_secs(5);

/// Headers that are the same on every page and answer of the interface; what pages are made of has the first.
const SECURITY_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// What pages are made of is no page: a script or a style obeys the policy of the page that takes it, and whoever
/// opens a picture by itself needs nothing else. The long policy on each of forty files would be a seventh of a first
/// visit.
const POLICY_OF_PARTS: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// No cache that several share keeps it, and that of a browser asks before it shows it again.
const FOR_ONE: HeaderValue = HeaderValue::from_static("no-cache, private");

/// Browsers that were here over TLS come over TLS for half a year, whatever a link says.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=15552000");

/// Refuses URLs and bodies that no route takes.
pub(super) async fn check_request(request: Request, next: Next) -> Result<Response, ApiError> {
    check_uri(request.uri())?;
    check_content_encoding(request.headers())?;
    Ok(next.run(request).await)
}

/// Answers for a handler that hangs or panics: only its request is lost.
pub(super) async fn contain(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let handler = std::panic::AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(HANDLER_TIMEOUT, handler).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            metrics.panicked(Part::Request);
            // What it was about has been logged by the panic hook.
            error!("a request handler panicked");
            ApiError::new(ApiCode::Internal, "something failed on our side").into_response()
        }
        Err(_) => ApiError::new(ApiCode::Busy, "this takes too long").retry_in(TIMEOUT_RETRY).into_response(),
    }
}

/// Counts what was answered.
pub(super) async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let method = method_word(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    metrics.http_request(method, route, response.status().as_u16());
    if let Some(code) = response.extensions().get::<ApiCode>() {
        metrics.refused(code.word());
    }
    response
}

/// The method as a label; those that nothing here takes are one.
fn method_word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

/// Adds the headers that keep browsers from doing with an answer what it was not made for.
pub(super) async fn secure(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let may_be_framed = request.uri().path().starts_with(embed::PATH);
    let is_for_somebody = request.uri().path().starts_with("/api/")
        && [header::COOKIE, header::AUTHORIZATION].iter().any(|name| request.headers().contains_key(name));
    let is_part = request.uri().path().starts_with(assets::PATH);
    let policy = if is_part {
        POLICY_OF_PARTS
    } else {
        content_security_policy(&site, request.headers(), may_be_framed)
    };
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if is_for_somebody {
        // What does not say how long it keeps may be about who asks.
        headers.entry(header::CACHE_CONTROL).or_insert(FOR_ONE);
    }
    // The worker of the editor brings its own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    let needed = if is_part { &SECURITY_HEADERS[..1] } else { &SECURITY_HEADERS };
    for (name, value) in needed {
        headers.insert(name, value.clone());
    }
    // Only of a name that the operator gave: `localhost` belongs to other programs too.
    if site.public_url.is_some() && site.is_secure() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
    }
    if may_be_framed {
        headers.remove(header::X_FRAME_OPTIONS);
    }
    response
}

/// Scripts, styles, pictures and connections from this site only, nothing inline, no text turned into markup by
/// scripts. The sockets are named because some browsers do not count them as `'self'`.
///
/// The policies for trusted types are those by which pages name the service worker, and the worker of an author's
/// program.
fn content_security_policy(site: &Site, headers: &HeaderMap, may_be_framed: bool) -> HeaderValue {
    let ancestors = if may_be_framed { "*" } else { "'none'" };
    let host = match &site.public_url {
        Some(url) => url.as_str().split_once("://").map(|(_, host)| host),
        // Not everything that may stand in a Host header may stand in a policy; a port and a name may.
        None => host(headers).filter(|host| host.parse::<axum::http::uri::Authority>().is_ok()),
    };
    let is_plain =
        |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let sockets = host.filter(is_plain).map(|host| format!(" ws://{host} wss://{host}")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'{sockets}; \
         img-src 'self' data:; font-src 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors {ancestors}; \
         form-action 'self'; require-trusted-types-for 'script'; trusted-types service-worker bot-worker"
    );
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}
