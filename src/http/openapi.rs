//! The published descriptions: the HTTP interface as OpenAPI, the socket's messages as JSON Schema. Both are made from
//! the types and routes that serve.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::endpoint::{Access, Content, Operation, schema_of};
use super::error::{ApiCode, ApiError};
use super::shares;
use crate::protocol::client::ClientMessage;
use crate::protocol::server::ServerMessage;
use crate::protocol::{PROTOCOL_VERSION, SUBPROTOCOL};

/// What the variable parts of paths are.
const PATH_PARTS: [(&str, &str); 3] = [
    ("id", "A game's or tournament's id, the last part of its link"),
    ("name", "A player's name, in upper or lower case"),
    ("moves", "One base-36 column digit a move, columns counted from 1; `-` for the empty board"),
];

/// The HTTP interface.
pub(super) fn document(operations: &[Operation]) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.for_serialize().into_generator();
    let mut paths = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.verb.word()] = describe(operation, &mut generator);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fourfold",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Games, players and ratings of this arena. Playing goes over the WebSocket at \
                            /api/v1/socket, whose messages /api/v1/protocol.schema.json describes.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "session": { "type": "apiKey", "in": "cookie", "name": "fourfold",
                             "description": "Set by POST /api/v1/sessions; __Host-fourfold where there is TLS" },
            },
        },
    })
}

fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut described = json!({
        "summary": operation.summary,
        "operationId": operation_id(operation),
        "parameters": parameters(operation, generator),
        "responses": responses(operation, generator),
    });
    if let Some(body) = operation.body {
        described["requestBody"] =
            json!({ "required": true, "content": json_content(body(generator).as_value()) });
    }
    if operation.access == Access::SignedIn {
        described["security"] = json!([{ "session": [] }]);
    }
    described
}

/// A name for generated clients: `get_games_id_svg`.
fn operation_id(operation: &Operation) -> String {
    let path = operation.path.trim_start_matches("/api/v1");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    [operation.verb.word()].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

fn parameters(operation: &Operation, generator: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = PATH_PARTS.iter().filter(|(name, _)| operation.path.contains(&format!("{{{name}}}")));
    let in_path = in_path.map(|(name, about)| {
        json!({ "name": name, "in": "path", "required": true, "description": about,
                "schema": { "type": "string" } })
    });
    let mut parameters: Vec<Value> = in_path.collect();
    for parameter in operation.parameters {
        let schema = (parameter.schema)(generator);
        parameters.push(json!({ "name": parameter.name, "in": "query", "required": false,
                                "description": parameter.about, "schema": schema }));
    }
    parameters
}

fn responses(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let content = match operation.content {
        Content::Nothing => None,
        Content::Json(schema) => Some(json_content(schema(generator).as_value())),
        Content::Lines(schema) => {
            let schema: Value = schema(generator).into();
            Some(json!({ "application/x-ndjson": { "schema": schema } }))
        }
        Content::Table => Some(json!({ "text/tab-separated-values": { "schema": { "type": "string" } } })),
        Content::Csv => Some(json!({ "text/csv": { "schema": { "type": "string" } } })),
        Content::Png => Some(json!({ "image/png": { "schema": { "type": "string" } } })),
        Content::Gif => Some(json!({ "image/gif": { "schema": { "type": "string" } } })),
        Content::Svg => Some(json!({ "image/svg+xml": { "schema": { "type": "string" } } })),
        Content::Document => Some(json_content(&json!({ "type": "object" }))),
    };
    let mut done = json!({ "description": "done" });
    if let Some(content) = content {
        done["content"] = content;
    }
    let mut responses = Map::from_iter([(operation.status.to_string(), done)]);
    let error: Value = schema_of::<ApiError>(generator).into();
    for code in refusals(operation) {
        let status = code.status();
        let described = responses
            .entry(status.as_str())
            .or_insert_with(|| json!({ "description": "", "content": json_content(&error) }));
        let word = json!(code);
        let word = word.as_str().unwrap_or_default();
        let before = described["description"].as_str().unwrap_or_default();
        let separator = if before.is_empty() { "" } else { ", " };
        described["description"] = json!(format!("{before}{separator}{word}"));
    }
    Value::Object(responses)
}

/// What the operation may be refused with, beside `internal` and the like, which everything may be.
fn refusals(operation: &Operation) -> Vec<ApiCode> {
    let mut codes = operation.refusals.to_vec();
    if operation.path.contains('{') {
        codes.push(ApiCode::NotFound);
    }
    if operation.path.contains('{') || !operation.parameters.is_empty() {
        codes.push(ApiCode::BadParameter);
    }
    if operation.body.is_some() {
        codes.extend([
            ApiCode::BadJson,
            ApiCode::BadField,
            ApiCode::TooLarge,
            ApiCode::UnsupportedMediaType,
            ApiCode::OriginNotAllowed,
        ]);
    }
    if operation.access == Access::SignedIn {
        codes.push(ApiCode::Unauthorized);
    }
    if shares::may_refuse(operation.verb, operation.path) && !codes.contains(&ApiCode::RateLimited) {
        codes.push(ApiCode::RateLimited);
    }
    codes
}

fn json_content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// The messages of the socket, both ways.
pub(super) fn protocol_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let client = subschema::<ClientMessage>(&mut generator);
    let server = subschema::<ServerMessage>(&mut generator);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SUBPROTOCOL,
        "description": format!(
            "Messages of the WebSocket protocol, version {PROTOCOL_VERSION}. Clients may add `id` to a message; \
             the server adds `seq` and, in an answer, `re`. Receivers ignore unknown fields."
        ),
        "anyOf": [client, server],
        "$defs": generator.take_definitions(true),
    })
}

fn subschema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().into()
}
