//! Files with all games, as far as the operator has the daemon write any.

use std::path::PathBuf;

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tracing::warn;

use super::programs;
use super::state::AppState;
use crate::model::world::on_thread;
use crate::operations::dumps::{Dump, dumps, is_dump};

/// Where they are served; see the shares, of which each download holds a place.
pub(super) const ROUTE: &str = "/dumps/{name}";

pub(super) fn router() -> Router<AppState> {
    Router::new().route(ROUTE, get(serve))
}

/// All that are whole, the newest first. What cannot be read is left out, with a line in the log.
pub(super) async fn listed(state: &AppState) -> Vec<Dump> {
    let Some(folder) = state.site.dumps.clone() else { return Vec::new() };
    let shown = folder.display().to_string();
    let found = on_thread(move || dumps(&folder)).await;
    match found.unwrap_or_else(|failure| Err(std::io::Error::other(failure))) {
        Ok(found) => found,
        Err(error) => {
            warn!(folder = %shown, %error, "the directory of dumps cannot be read");
            Vec::new()
        }
    }
}

async fn serve(State(state): State<AppState>, UrlPath(name): UrlPath<String>) -> Response {
    let path: Option<PathBuf> = state.site.dumps.as_ref().map(|folder| folder.join(&name));
    match path.filter(|_| is_dump(&name)) {
        Some(path) => programs::download(path, &name).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::http::site::Site;
    use crate::http::testing::{TestArena, TestSite};

    #[tokio::test]
    async fn dumps_are_listed_with_their_checksums_and_served() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("dumps");
        fs::create_dir(&folder).unwrap();
        fs::write(outer.path().join("secret.key"), "secret").unwrap();
        let (one, sum) = ("fourfold-games-20260101T030000Z.ndjson.gz", "a".repeat(64));
        fs::write(folder.join(one), "games").unwrap();
        fs::write(folder.join(format!("{one}.sha256")), format!("{sum}  {one}\n")).unwrap();
        fs::write(folder.join("fourfold-games-20260102T030000Z.ndjson.gz"), "half").unwrap();
        fs::write(folder.join("notes.txt"), "secret").unwrap();
        let site = TestSite::with(Site { dumps: Some(folder), ..Site::default() }, TestArena::default());
        let listed = site.get("/api/v1/dumps").await.json();
        let url = format!("/dumps/{one}");
        let made = "2026-01-01T03:00:00.000Z";
        assert_eq!(
            listed["items"],
            json!([{ "name": one, "url": url, "made_at": made, "bytes": 5, "sha256": sum }])
        );
        assert_eq!(site.get(&url).await.body, "games");
        assert!(site.get(&format!("{url}.sha256")).await.body.starts_with(&sum));
        let page = site.get("/docs").await.body;
        assert!(page.contains(&format!("href=\"{url}\"")) && page.contains(&sum), "{page}");
        for path in ["notes.txt", "..%2Fsecret.key", "fourfold-games-20260109T030000Z.ndjson.gz"] {
            let answer = site.get(&format!("/dumps/{path}")).await;
            assert!(answer.status != StatusCode::OK && !answer.body.contains("secret"), "{path}");
        }
    }

    #[tokio::test]
    async fn where_none_are_written_there_is_nothing() {
        let site = TestSite::new();
        assert_eq!(site.get("/api/v1/dumps").await.json()["items"], json!([]));
        assert!(!site.get("/docs").await.body.contains("/dumps/"));
    }
}
