//! The published descriptions. They are made once and then kept.

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;

use super::OPERATIONS;
use crate::http::answer::{Keep, keepable};
use crate::http::endpoint::{Content, Endpoint, Operation};
use crate::http::openapi;

static OPENAPI: LazyLock<String> = LazyLock::new(|| openapi::document(&OPERATIONS).to_string());
static PROTOCOL: LazyLock<String> = LazyLock::new(|| openapi::protocol_schema().to_string());

pub(super) fn endpoints() -> Vec<Endpoint> {
    let openapi =
        Operation::get("/api/v1/openapi.json", "Describes this interface as OpenAPI 3.1", Content::Document);
    let protocol = Operation::get(
        "/api/v1/protocol.schema.json",
        "Describes the messages of the socket as JSON Schema",
        Content::Document,
    );
    vec![
        Endpoint::new("/api/v1/openapi.json", get(openapi_json), [openapi]),
        Endpoint::new("/api/v1/protocol.schema.json", get(protocol_json), [protocol]),
    ]
}

async fn openapi_json(headers: HeaderMap) -> Response {
    keepable(&headers, Keep::Settled, "application/json", OPENAPI.clone())
}

async fn protocol_json(headers: HeaderMap) -> Response {
    keepable(&headers, Keep::Settled, "application/schema+json", PROTOCOL.clone())
}
