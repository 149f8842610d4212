//! Builds of `fourfold` for bots' authors, as far as the operator has put any into a folder: whoever has one needs
//! neither kit nor compiler to let a program play here.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::stream;
use tracing::warn;

use super::state::AppState;
use crate::model::world::on_thread;

/// Where they are served; see the shares, of which each download holds a place.
pub(super) const ROUTE: &str = "/programs/{name}";

/// What is read and sent at a time: few enough turns for a file of 40 MB, little memory for a hundred slow readers.
const CHUNK_BYTES: usize = 256 * 1024;

/// Files that are listed: a build for each system and a list of checksums. Whatever else is in the folder is not named.
const LISTED_MAX: usize = 24;

/// A longer name is none of a build.
const NAME_BYTES_MAX: usize = 80;

/// A file that is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ServedProgram {
    pub(super) name: String,
    pub(super) bytes: u64,
}

impl ServedProgram {
    /// Its size in megabytes, as pages say it.
    pub(super) fn megabytes(&self) -> String {
        let tenths = self.bytes.div_ceil(100_000);
        format!("{}.{} MB", tenths / 10, tenths % 10)
    }
}

pub(super) fn router() -> Router<AppState> {
    Router::new().route(ROUTE, get(serve))
}

/// The files of the folder by their names, none if there is no folder. What cannot be read is left out, with a line in
/// the log.
pub(super) async fn listed(state: &AppState) -> Vec<ServedProgram> {
    let Some(folder) = state.site.programs.folder().map(Path::to_owned) else { return Vec::new() };
    let shown = folder.display().to_string();
    match on_thread(move || list(&folder)).await.unwrap_or_else(|failure| Err(io::Error::other(failure))) {
        Ok(found) => found,
        Err(error) => {
            warn!(folder = %shown, error = %error, "the folder of programs cannot be read");
            Vec::new()
        }
    }
}

fn list(folder: &Path) -> io::Result<Vec<ServedProgram>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)) else {
            continue;
        };
        if let Some((_, bytes)) = open(&path) {
            found.push(ServedProgram { name: name.to_owned(), bytes });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found.truncate(LISTED_MAX);
    Ok(found)
}

/// Whether this can be the name of a build: nothing that leads elsewhere, nothing hidden, nothing that needs quoting.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.len() <= NAME_BYTES_MAX
        && name.bytes().all(is_plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// A file and its size; nothing if it is none, or may not be read.
fn open(path: &Path) -> Option<(File, u64)> {
    // Only then opened: a named pipe would wait for somebody to write.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    Some((file, bytes))
}

async fn serve(State(state): State<AppState>, UrlPath(name): UrlPath<String>) -> Response {
    let path: Option<PathBuf> = state.site.programs.folder().map(|folder| folder.join(&name));
    match path.filter(|_| is_name(&name)) {
        Some(path) => download(path, &name).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A file as an answer, which is to be saved under this name.
pub(super) async fn download(path: PathBuf, name: &str) -> Response {
    let Ok(Some((file, bytes))) = on_thread(move || open(&path)).await else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_LENGTH, bytes.into()),
    ]);
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    (headers, Body::from_stream(stream::try_unfold((file, bytes), next_chunk))).into_response()
}

/// What comes next of so many bytes. A file that became shorter breaks the answer off, which its length tells.
async fn next_chunk((file, left): (File, u64)) -> io::Result<Option<(Bytes, (File, u64))>> {
    if left == 0 {
        return Ok(None);
    }
    let read = move || -> io::Result<Option<(Bytes, (File, u64))>> {
        let wanted = left.min(CHUNK_BYTES as u64);
        let mut chunk = Vec::new();
        (&file).take(wanted).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let left = left - chunk.len() as u64;
        Ok(Some((Bytes::from(chunk), (file, left))))
    };
    on_thread(read).await.unwrap_or_else(|failure| Err(io::Error::other(failure)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::site::Site;
    use crate::http::testing::{TestArena, TestSite};

    fn site(folder: &Path) -> TestSite {
        let programs = folder.to_str().unwrap().parse().unwrap();
        TestSite::with(Site { programs, ..Site::default() }, TestArena::default())
    }

    #[tokio::test]
    async fn builds_in_the_folder_are_served_whole_and_nothing_else_is() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("programs");
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(outer.path().join("secret.key"), "secret").unwrap();
        fs::write(folder.join(".hidden"), "secret").unwrap();
        let letters = "abcdefghijklmnopqrstuvw";
        let build: String = letters.chars().cycle().take(CHUNK_BYTES).collect();
        let build = format!("{build}end");
        fs::write(folder.join("fourfold-x86_64-linux"), &build).unwrap();
        let site = site(&folder);
        let answer = site.get("/programs/fourfold-x86_64-linux").await;
        assert_eq!((answer.status, answer.header(header::CONTENT_LENGTH)), (StatusCode::OK, "262147"));
        assert_eq!(
            answer.header(header::CONTENT_DISPOSITION),
            "attachment; filename=\"fourfold-x86_64-linux\""
        );
        assert!(answer.body == build, "{} bytes", answer.body.len());
        for path in ["..%2Fsecret.key", ".hidden", "inner", "none", "%2e%2e", "fourfold-x86_64-linux%00"] {
            let answer = site.get(&format!("/programs/{path}")).await;
            assert_ne!(answer.status, StatusCode::OK, "{path}");
            assert!(!answer.body.contains("secret"), "{path}");
        }
        let page = site.get("/bots/new").await.body;
        assert!(
            page.contains("href=\"/programs/fourfold-x86_64-linux\"") && page.contains("0.3 MB"),
            "{page}"
        );
        assert!(!page.contains("/programs/.hidden") && !page.contains("/programs/inner"));
    }

    #[tokio::test]
    async fn without_a_folder_there_is_nothing() {
        let site = TestSite::new();
        assert_eq!(site.get("/programs/fourfold").await.status, StatusCode::NOT_FOUND);
        assert!(!site.get("/bots/new").await.body.contains("/programs/"));
    }
}
