//! The metrics' own listener: what an operator sees is not for everybody. The configuration lets it listen on this
//! machine only.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::connection_limits::ConnectionLimits;
use super::control::footprint;
use super::error::ApiError;
use crate::system::metrics::{Machine, Metrics};

/// The text format's type, as its specification names it.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is looked at when somebody asks, beside what was counted.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) metrics: Arc<Metrics>,
    /// The places of those who come to the site.
    pub(crate) places: Arc<ConnectionLimits>,
    /// Where everything is kept.
    pub(crate) data: PathBuf,
}

impl Observed {
    fn look(&self) {
        self.metrics.looked(Machine {
            connections: self.places.taken(),
            connections_max: self.places.total(),
            memory_bytes: footprint::memory_bytes(),
            data_bytes: footprint::data_bytes(&self.data),
            disk_free_bytes: footprint::disk_free_bytes(&self.data),
        });
    }
}

/// The router of the metrics' listener: `GET /metrics`.
pub(crate) fn metrics_router(observed: Observed) -> Router {
    Router::new()
        .route("/metrics", get(metrics_text))
        .fallback(|| async { ApiError::not_found("route") })
        .with_state(observed)
}

async fn metrics_text(State(observed): State<Observed>) -> Response {
    observed.look();
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], observed.metrics.text()).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt as _;

    use super::*;
    use crate::session::limits::TransportLimits;

    fn observed() -> Observed {
        let limits = TransportLimits { connections: Some(70), ..TransportLimits::default() };
        let places = ConnectionLimits::new(&limits);
        Observed { metrics: Arc::default(), places, data: PathBuf::from("tests/data/tls") }
    }

    #[test]
    fn the_machine_is_looked_at_when_somebody_asks() {
        let observed = observed();
        let _place = observed.places.take(None).unwrap();
        observed.look();
        let text = observed.metrics.text();
        for line in
            ["fourfold_connections 1", "fourfold_connections_max 70", "fourfold_failed_writes_total 0"]
        {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        let figure = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).unwrap();
            line.parse().unwrap()
        };
        assert!(figure("fourfold_database_bytes") > 1_000.0 && figure("fourfold_start_time_seconds") > 1e9);
        assert!(figure("fourfold_memory_bytes") > 1e6 && figure("fourfold_disk_free_bytes") > 0.0);
        assert!(text.contains(concat!("fourfold_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1")));
    }

    #[tokio::test]
    async fn metrics_are_served_and_nothing_else_is() {
        let status = async |path| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            metrics_router(observed()).oneshot(request).await.unwrap().status()
        };
        assert_eq!(status("/metrics").await, StatusCode::OK);
        assert_eq!(status("/").await, StatusCode::NOT_FOUND);
    }
}
