//! The metrics' own listener: what an operator sees is not for everybody. The configuration lets it listen on this
//! machine only.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::error::ApiError;
use crate::system::metrics::Metrics;

/// The text format's type, as its specification names it.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The router of the metrics' listener: `GET /metrics`.
pub(crate) fn metrics_router(metrics: Arc<Metrics>) -> Router {
    Router::new()
        .route("/metrics", get(metrics_text))
        .fallback(|| async { ApiError::not_found("route") })
        .with_state(metrics)
}

async fn metrics_text(State(metrics): State<Arc<Metrics>>) -> Response {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.text()).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn metrics_are_served_and_nothing_else_is() {
        let status = async |path| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            metrics_router(Arc::new(Metrics::new())).oneshot(request).await.unwrap().status()
        };
        assert_eq!(status("/metrics").await, StatusCode::OK);
        assert_eq!(status("/").await, StatusCode::NOT_FOUND);
    }
}
