//! The metrics' own listener: what an operator sees is not for everybody.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use subtle::ConstantTimeEq;
use thiserror::Error;

use super::error::ApiError;
use crate::metrics::Metrics;
use crate::secret::Secret;

/// The text format's type, as its specification names it.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics would be open to strangers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("metrics on {0} need a token, because others than this machine can reach it")]
pub struct Exposed(SocketAddr);

/// Checks that a listener of metrics is on loopback or guarded by a token.
///
/// # Errors
///
/// It is neither.
pub fn check_exposure(address: SocketAddr, token: Option<&Secret>) -> Result<(), Exposed> {
    let is_guarded = token.is_some_and(|token| !token.expose().is_empty());
    if is_guarded || address.ip().to_canonical().is_loopback() { Ok(()) } else { Err(Exposed(address)) }
}

#[derive(Clone, Debug)]
struct Guarded {
    metrics: Arc<Metrics>,
    token: Option<Secret>,
}

/// The router of the metrics' listener: `GET /metrics`, with `Authorization: Bearer` if there is a token.
pub fn metrics_router(metrics: Arc<Metrics>, token: Option<Secret>) -> Router {
    Router::new()
        .route("/metrics", get(metrics_text))
        .fallback(|| async { ApiError::not_found("route") })
        .with_state(Guarded { metrics, token })
}

async fn metrics_text(State(guarded): State<Guarded>, headers: HeaderMap) -> Result<Response, ApiError> {
    if let Some(token) = &guarded.token
        && !is_presented(token, &headers)
    {
        return Err(ApiError::unauthorized("the metrics need their token"));
    }
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], guarded.metrics.text()).into_response())
}

fn is_presented(token: &Secret, headers: &HeaderMap) -> bool {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let presented = value.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    presented.as_bytes().ct_eq(token.expose().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt as _;

    use super::*;

    #[track_caller]
    fn check(address: &str, token: Option<&str>, is_allowed: bool) {
        let token = token.map(Secret::new);
        assert_eq!(check_exposure(address.parse().unwrap(), token.as_ref()).is_ok(), is_allowed, "{address}");
    }

    #[test]
    fn strangers_see_metrics_only_with_a_token() {
        check("127.0.0.1:9090", None, true);
        check("[::1]:9090", None, true);
        check("0.0.0.0:9090", None, false);
        check("[::]:9090", None, false);
        check("192.0.2.1:9090", Some(""), false);
        check("192.0.2.1:9090", Some("token"), true);
    }

    async fn status(token: Option<&str>, authorization: Option<&str>) -> StatusCode {
        let router = metrics_router(Arc::new(Metrics::new()), token.map(Secret::new));
        let mut request = Request::get("/metrics");
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn the_token_is_asked_for_if_there_is_one() {
        assert_eq!(status(None, None).await, StatusCode::OK);
        assert_eq!(status(Some("secret"), Some("Bearer secret")).await, StatusCode::OK);
        for authorization in [None, Some("Bearer wrong"), Some("secret"), Some("Bearer ")] {
            assert_eq!(status(Some("secret"), authorization).await, StatusCode::UNAUTHORIZED);
        }
    }
}
