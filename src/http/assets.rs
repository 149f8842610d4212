//! Scripts, styles and pictures, embedded in the binary.
//!
//! Pages name them as `/static/v-VERSION/NAME`, where the version is a digest of all of them: modules import one
//! another by relative paths, so a version in the path reaches every import, which one in a query would not. Such an
//! address never changes its content and is cached for ever; any other is checked against its `ETag` each time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use data_encoding::HEXLOWER;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};
use tower_http::compression::CompressionLayer;

use super::texts::{self, Language};

/// What the addresses of all of them begin with.
pub(super) const PATH: &str = "/static/";

/// What browsers may keep without asking: a year, the longest that means anything.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// What they must ask about each time.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// Bytes of a digest that stand in addresses and `ETag`s: 2^64 versions collide with nobody's.
const VERSION_BYTES: usize = 8;

#[derive(RustEmbed)]
#[folder = "web/static"]
struct AssetFiles;

/// What is served at an address.
struct Asset {
    data: Cow<'static, [u8]>,
    hash: [u8; 32],
    kind: String,
}

/// Digest of all files together, the texts included.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut names: Vec<Cow<'static, str>> = AssetFiles::iter().collect();
    names.sort_unstable();
    let mut digest = Sha256::new();
    for name in names {
        digest.update(name.as_bytes());
        digest.update(AssetFiles::get(&name).map(|file| file.metadata.sha256_hash()).unwrap_or_default());
    }
    texts::hashes().for_each(|hash| digest.update(hash));
    version(&digest.finalize())
});

fn version(digest: &[u8]) -> String {
    HEXLOWER.encode(&digest[..VERSION_BYTES])
}

/// The address of an embedded file, good for as long as its content is the same.
pub(crate) fn url(name: &str) -> String {
    format!("/static/v-{}/{name}", VERSION.as_str())
}

/// The modules that a module needs, directly or through others, so that a page can ask for all of them at once instead
/// of finding them one after the other.
pub(crate) fn imports(module: &str) -> &'static [String] {
    IMPORTS.get(module).map_or(&[], Vec::as_slice)
}

static IMPORTS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let modules = AssetFiles::iter().filter(|name| name.ends_with(".js"));
    modules.map(|name| (name.to_string(), all_imports(&name))).collect()
});

fn all_imports(module: &str) -> Vec<String> {
    let mut found: Vec<String> = direct_imports(module);
    let mut next = 0;
    while let Some(name) = found.get(next) {
        for import in direct_imports(name) {
            if !found.contains(&import) {
                found.push(import);
            }
        }
        next += 1;
    }
    found
}

/// What follows `from "./` and `import "./` at the start of its line, as all our modules write it.
fn direct_imports(module: &str) -> Vec<String> {
    let file = AssetFiles::get(module).map(|file| file.data).unwrap_or_default();
    let text = String::from_utf8_lossy(&file);
    let imports = text.lines().filter(|line| line.starts_with("import "));
    let names = imports.filter_map(|line| line.split_once("\"./")?.1.split('"').next());
    names.map(str::to_owned).collect()
}

/// What stands in quotes in any module and could be the key of a text: keys are never put together, so pages need the
/// texts of no others.
static SAID: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let modules = AssetFiles::iter().filter(|name| name.ends_with(".js"));
    let quoted = |name: Cow<'static, str>| -> Vec<String> {
        let file = AssetFiles::get(&name).map(|file| file.data).unwrap_or_default();
        let text = String::from_utf8_lossy(&file);
        text.split('"').filter(|word| word.contains('.') && !word.contains(' ')).map(str::to_owned).collect()
    };
    modules.flat_map(quoted).collect()
});

/// The address of the module with the texts of a language that modules say.
pub(crate) fn texts_url(language: Language) -> String {
    url(&format!("texts/{}.js", language.tag()))
}

/// The routes under `/static`.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/static/{*path}", get(serve))
        .route("/service-worker.js", get(service_worker))
        .layer(CompressionLayer::new())
}

/// The service worker rules over what lies beside and below its address, so it has one of its own at the top.
async fn service_worker(headers: HeaderMap) -> Response {
    match file("service-worker.js") {
        Some(asset) => answer(asset, false, &headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The icon at the one address at which old browsers look for it.
pub(super) fn favicon(headers: &HeaderMap) -> Response {
    match file("favicon.ico") {
        Some(asset) => answer(asset, false, headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn serve(Path(path): Path<String>, headers: HeaderMap) -> Response {
    let (version, name) = match path.strip_prefix("v-").and_then(|rest| rest.split_once('/')) {
        Some((version, name)) => (Some(version), name),
        None => (None, path.as_str()),
    };
    let is_current = version == Some(VERSION.as_str());
    match text_file(name).or_else(|| file(name)) {
        Some(asset) => answer(asset, is_current, &headers),
        None => (StatusCode::NOT_FOUND, "not found").into_response(),
    }
}

/// The texts of a language as if they were a file: `texts/de.js`.
fn text_file(name: &str) -> Option<Asset> {
    let tag = name.strip_prefix("texts/")?.strip_suffix(".js")?;
    let language = Language::of_tag(tag).filter(|language| language.tag() == tag)?;
    let script = texts::script(language, |key| SAID.contains(key)).into_bytes();
    let hash = Sha256::digest(&script).into();
    Some(Asset { data: script.into(), hash, kind: "text/javascript".to_owned() })
}

fn file(name: &str) -> Option<Asset> {
    let file = AssetFiles::get(name)?;
    let (hash, kind) = (file.metadata.sha256_hash(), file.metadata.mimetype().to_owned());
    Some(Asset { data: file.data, hash, kind })
}

fn answer(asset: Asset, is_current: bool, headers: &HeaderMap) -> Response {
    // Weak, because the same content travels compressed and plain.
    let etag = format!("W/\"{}\"", version(&asset.hash));
    let cache = if is_current { IMMUTABLE } else { REVALIDATE };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let fresh = known.flat_map(|list| list.split(',')).any(|tag| tag.trim() == etag || tag.trim() == "*");
    let validators = [(header::ETAG, HeaderValue::try_from(etag).ok()), (header::CACHE_CONTROL, Some(cache))];
    let mut response = if fresh {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = HeaderValue::try_from(asset.kind);
        let mut response = asset.data.into_response();
        if let Ok(kind) = kind {
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        response
    };
    for (name, value) in validators {
        if let Some(value) = value {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_load_the_texts_that_modules_say_and_no_others() {
        let texts = String::from_utf8(text_file("texts/de.js").unwrap().data.into_owned()).unwrap();
        for said in ["\"game.you_win\":", "\"error.internal\":", "\"running.playing\":"] {
            assert!(texts.contains(said), "{said}");
        }
        for of_the_server in ["ranking.lead", "season.title", "lobby.title"] {
            assert!(!texts.contains(of_the_server), "{of_the_server}");
        }
    }

    async fn fetch(path: &str, etag: Option<&str>) -> Response {
        let mut headers = HeaderMap::new();
        if let Some(etag) = etag {
            headers.insert(header::IF_NONE_MATCH, HeaderValue::try_from(etag).unwrap());
        }
        serve(Path(path.to_owned()), headers).await
    }

    fn text(response: &Response, name: header::HeaderName) -> &str {
        response.headers()[name].to_str().unwrap()
    }

    #[tokio::test]
    async fn a_current_address_is_kept_for_ever() {
        let response = fetch(url("board.js").strip_prefix("/static/").unwrap(), None).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(text(&response, header::CONTENT_TYPE), "text/javascript");
        assert!(text(&response, header::CACHE_CONTROL).contains("immutable"));
    }

    #[tokio::test]
    async fn other_addresses_are_checked_each_time() {
        for path in ["style.css", "v-0000000000000000/style.css"] {
            let response = fetch(path, None).await;
            assert_eq!(text(&response, header::CACHE_CONTROL), "no-cache", "{path}");
            let etag = text(&response, header::ETAG).to_owned();
            assert_eq!(fetch(path, Some(&etag)).await.status(), StatusCode::NOT_MODIFIED, "{path}");
            assert_eq!(fetch(path, Some("W/\"other\"")).await.status(), StatusCode::OK, "{path}");
        }
    }

    #[test]
    fn a_module_brings_all_that_it_imports() {
        let imports = imports("offline-page.js");
        for name in ["board.js", "drawing.js", "dom.js", "rules.js", "texts.js"] {
            assert!(imports.iter().any(|import| import == name), "{name} is not in {imports:?}");
        }
        assert!(imports.iter().all(|import| AssetFiles::get(import).is_some()), "{imports:?}");
        assert!(super::imports("nothing.js").is_empty());
    }

    #[tokio::test]
    async fn unknown_files_are_not_found() {
        for path in ["nothing.js", "../templates/layout.html", "v-/board.js/", ""] {
            assert_eq!(fetch(path, None).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
