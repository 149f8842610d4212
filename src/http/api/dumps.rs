//! Files with all games.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::answer::List;
use crate::http::dumps;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::state::AppState;
use crate::operations::dumps::Dump;

/// A file with all games, one record a line, compressed by gzip.
#[derive(Debug, Serialize, JsonSchema)]
struct GamesDump {
    /// What it is called.
    name: String,
    /// Where it is; with `.sha256` behind it, its checksum as `sha256sum --check` reads it.
    url: String,
    /// When it was begun, RFC 3339.
    made_at: String,
    /// Its size.
    bytes: u64,
    /// Its checksum, in hexadecimal.
    sha256: String,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/dumps",
        "Lists the files with all finished games that the operator has written, the newest first",
        Content::Json(schema_of::<List<GamesDump>>),
    );
    vec![Endpoint::new("/api/v1/dumps", get(list_dumps), [list])]
}

async fn list_dumps(State(state): State<AppState>) -> Json<List<GamesDump>> {
    let view = |Dump { name, made, bytes, sha256 }: Dump| GamesDump {
        url: state.site.url(&format!("/dumps/{name}")),
        name,
        made_at: made.to_string(),
        bytes,
        sha256,
    };
    Json(List::whole(dumps::listed(&state).await.into_iter().map(view).collect()))
}
