//! The kits for bots' authors, served as archives, so that nobody needs a clone of the repository to start one.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A block of a tar archive: headers are one, contents are filled up to whole ones.
const BLOCK: usize = 512;

/// Seconds since 1970 that all files bear, so that equal kits are equal bytes: the start of 2026.
const MODIFIED: u64 = 1_767_225_600;

/// Embeds files of the kits by their paths.
macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/bots/kits/", $path)))),+]
    };
}

/// What an author needs: all but the kits' own tests.
const FILES: &[(&str, &[u8])] = files![
    "cpp/README.md",
    "cpp/examples/random_bot.cpp",
    "cpp/fourfold_bot.hpp",
    "go/README.md",
    "go/examples/random_bot/main.go",
    "go/fourfold.go",
    "go/go.mod",
    "javascript/README.md",
    "javascript/examples/random_bot.js",
    "javascript/fourfold_bot.js",
    "javascript/package.json",
    "python/README.md",
    "python/examples/bitbully_simple.py",
    "python/examples/kaggle_agent.py",
    "python/examples/random_bot.py",
    "python/examples/tactical_bot.py",
    "python/pyproject.toml",
    "python/src/fourfold_bot/__init__.py",
    "python/src/fourfold_bot/bridge.py",
    "python/src/fourfold_bot/client.py",
    "python/src/fourfold_bot/connection.py",
    "python/src/fourfold_bot/duels.py",
    "python/src/fourfold_bot/py.typed",
    "python/src/fourfold_bot/rules.py",
    "python/src/fourfold_bot/runner.py",
    "python/src/fourfold_bot/settings.py",
    "python/src/fourfold_bot/turn.py",
    "python/src/fourfold_bot/worker.py",
    "rust/Cargo.toml",
    "rust/README.md",
    "rust/examples/random_bot.rs",
    "rust/src/lib.rs",
];

/// A kit and how a bot of it is started.
#[derive(Debug)]
pub(super) struct Kit {
    /// Its folder among the kits, and the archive's name.
    pub(super) folder: &'static str,
    pub(super) title: &'static str,
    /// What is typed in the folder before the bot runs, if anything.
    prepare: &'static str,
    /// What runs the bot.
    run: &'static str,
    pub(super) encryption: Encryption,
}

/// Whether a kit reaches an arena behind TLS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encryption {
    Tls,
    /// It has no library for it.
    PlainOnly,
}

/// All of them.
pub(super) const ALL: [Kit; 5] = [
    Kit {
        folder: "python",
        title: "Python",
        prepare: "python3 -m venv .venv && .venv/bin/pip install -q . && ",
        run: ".venv/bin/python examples/random_bot.py",
        encryption: Encryption::Tls,
    },
    Kit {
        folder: "javascript",
        title: "JavaScript",
        prepare: "",
        run: "node --experimental-websocket examples/random_bot.js",
        encryption: Encryption::Tls,
    },
    Kit {
        folder: "rust",
        title: "Rust",
        prepare: "",
        run: "cargo run --release --example random_bot",
        encryption: Encryption::Tls,
    },
    Kit {
        folder: "go",
        title: "Go",
        prepare: "",
        run: "go run ./examples/random_bot",
        encryption: Encryption::Tls,
    },
    Kit {
        folder: "cpp",
        title: "C++",
        prepare: "c++ -std=c++17 -O2 -pthread -o random_bot examples/random_bot.cpp && ",
        run: "./random_bot",
        encryption: Encryption::PlainOnly,
    },
];

/// Three shell lines that fetch a kit from `base`, such as `http://127.0.0.1:4444`, and start its bot.
pub(super) fn start_lines(kit: &Kit, base: &str, token: &str) -> String {
    let Kit { folder, prepare, run, .. } = kit;
    let socket = base.replacen("http", "ws", 1);
    format!(
        "curl -s {base}/kits/{folder}.tar | tar x && cd fourfold-{folder}\n\
         export FOURFOLD_URL={socket} FOURFOLD_TOKEN={token}\n\
         {prepare}{run}"
    )
}

/// What stands above the lines for programs of any language.
pub(super) const BRIDGE_TITLE: &str = "C, C#, Java …: a bridge";

/// Three shell lines that let any program play, which needs no more than Python.
pub(super) fn bridge_lines(base: &str, token: &str) -> String {
    let socket = base.replacen("http", "ws", 1);
    format!(
        "export FOURFOLD_URL={socket} FOURFOLD_TOKEN={token}\n\
         curl -s {base}/kits/python.tar | tar x && python3 -m venv .venv && .venv/bin/pip install -q ./fourfold-python\n\
         .venv/bin/python -m fourfold_bot.bridge -- ./mybot   # answers `7x6 1000 4453` with a column, see docs/programs.md"
    )
}

/// The module of the JavaScript kit, which the editor's page runs as it is.
pub(super) const BROWSER_MODULE: &str = "/kits/fourfold_bot.js";

/// The route of the archives and of that module.
pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/kits/{name}", get(serve))
}

static ARCHIVES: LazyLock<[Vec<u8>; 5]> = LazyLock::new(|| ALL.each_ref().map(|kit| archive(kit.folder)));

async fn serve(Path(name): Path<String>) -> Response {
    if BROWSER_MODULE.rsplit('/').next() == Some(name.as_str()) {
        return browser_module();
    }
    let place = ALL.iter().position(|kit| name.strip_suffix(".tar") == Some(kit.folder));
    let Some(place) = place else { return StatusCode::NOT_FOUND.into_response() };
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-tar")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ]);
    (headers, ARCHIVES[place].clone()).into_response()
}

fn browser_module() -> Response {
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("text/javascript")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ]);
    let module = FILES.iter().find(|(path, _)| *path == "javascript/fourfold_bot.js");
    module.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |(_, data)| (headers, *data).into_response())
}

/// A tar archive (POSIX ustar) of a kit, in a folder `fourfold-NAME`.
fn archive(folder: &str) -> Vec<u8> {
    let is_of_it = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let mut tar = Vec::new();
    for (path, data) in FILES.iter().filter(|(path, _)| is_of_it(path)) {
        tar.extend(tar_header(&format!("fourfold-{path}"), data.len()));
        tar.extend_from_slice(data);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    }
    // Two empty blocks end an archive.
    tar.resize(tar.len() + 2 * BLOCK, 0);
    tar
}

/// The header of a file of `size` bytes. Numbers are octal; the sum is taken with blanks in its own place.
fn tar_header(name: &str, size: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, &format!("{MODIFIED:011o}\0"));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::*;

    /// Unpacks an archive with the system's tar.
    fn unpacked(kit: &Kit) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let mut tar = Command::new("tar")
            .args(["x", "-C", directory.path().to_str().unwrap()])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut tar.stdin.take().unwrap(), &archive(kit.folder)).unwrap();
        assert!(tar.wait().unwrap().success());
        directory
    }

    /// The files under a folder of the kits, but for what only tests and builds need.
    fn files_in(folder: &Path) -> Vec<PathBuf> {
        const LEFT_OUT: [&str; 8] = [
            "tests",
            "target",
            "node_modules",
            "__pycache__",
            ".venv",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
        ];
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if LEFT_OUT.contains(&name) || name.ends_with(".egg-info") || name.ends_with("-dev.txt") {
                continue;
            }
            if path.is_dir() { files.extend(files_in(&path)) } else { files.push(path) }
        }
        files.sort();
        files
    }

    #[test]
    fn archives_unpack_to_the_whole_kit_without_its_tests() {
        for kit in &ALL {
            let directory = unpacked(kit);
            let (theirs, ours) = (
                directory.path().join(format!("fourfold-{}", kit.folder)),
                Path::new("bots/kits").join(kit.folder),
            );
            let relative = |root: &Path| -> Vec<PathBuf> {
                files_in(root).iter().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect()
            };
            assert_eq!(relative(&theirs), relative(&ours), "{}", kit.folder);
            for path in relative(&ours) {
                let read = |root: &Path| std::fs::read(root.join(&path)).unwrap();
                assert_eq!(read(&theirs), read(&ours), "{}", path.display());
            }
        }
    }

    #[test]
    fn names_fit_into_their_place() {
        assert!(FILES.iter().all(|(path, _)| path.len() + "fourfold-".len() < 100));
    }

    #[test]
    fn the_lines_lead_to_the_server_that_was_asked() {
        let lines = start_lines(&ALL[1], "https://play.example.org", "c4b_x");
        assert!(lines.starts_with("curl -s https://play.example.org/kits/javascript.tar | tar x"), "{lines}");
        assert!(lines.contains("FOURFOLD_URL=wss://play.example.org FOURFOLD_TOKEN=c4b_x"), "{lines}");
    }
}
