//! Takes the pieces out of the daemon's own sources, each once as it is and once with a mistake in the order of its
//! steps, which the models have to find.
//!
//! The locks and counters of the standard library become those of the tool; the runtime's have the same names there.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the tool does not have, and what stands in for it.
const STAND_INS: [[&str; 2]; 2] =
    [["std::sync::", "shuttle::sync::"], ["commands.closed()", "crate::stand_ins::closed(commands)"]];

/// A file, and a text in it with what stands there instead in the spoilt form.
struct Piece {
    name: &'static str,
    path: &'static str,
    spoilt: Option<[&'static str; 2]>,
}

const fn piece(name: &'static str, path: &'static str, spoilt: [&'static str; 2]) -> Piece {
    Piece { name, path, spoilt: Some(spoilt) }
}

const fn helper(name: &'static str, path: &'static str) -> Piece {
    Piece { name, path, spoilt: None }
}

const PIECES: &[Piece] = &[
    // Whoever is about to wait is not woken.
    piece(
        "outbox",
        "src/play/presence/outbox.rs",
        [
            "        if let Some(line) = &self.line {\n            line.attachment.changed.notify_one();\n        }\n    }\n",
            "        if let Some(line) = &self.line {\n            line.attachment.changed.notify_waiters();\n        }\n    }\n",
        ],
    ),
    // The place in the line is taken before there is a way to be called.
    piece(
        "turns",
        "src/system/shares/turns.rs",
        [
            "            hall.waiting.insert(number, call);\n",
            "            drop(hall);\n            self.lock().waiting.insert(number, call);\n",
        ],
    ),
    helper("line", "src/system/shares/line.rs"),
    helper("network", "src/system/shares/network.rs"),
    // What is left unread in a channel whose owner is gone.
    piece(
        "ask",
        "src/system/ask.rs",
        ["() = commands.closed() => answer.try_recv().ok(),", "() = commands.closed() => None,"],
    ),
    // The look at who waits comes before the ear is open.
    piece(
        "precedence",
        "src/analysis/compute/precedence.rs",
        [
            "                    none_waits.await;\n",
            "                    drop(none_waits);\n                    self.none_waits.notified().await;\n",
        ],
    ),
    // What two threads have written of one position is mixed.
    piece(
        "plain_bucket",
        "engine/src/solver/plain_bucket.rs",
        [
            "if entry.is_of(tag) { entry.0 } else { found }",
            "if entry.is_of(tag) { entry.0 | found } else { found }",
        ],
    ),
    // Whoever reads does not look again whether somebody has written meanwhile.
    piece(
        "versioned_bucket",
        "engine/src/solver/versioned_bucket.rs",
        [
            "version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;",
            "version.is_multiple_of(2);",
        ],
    ),
    helper("bucket", "engine/src/solver/bucket.rs"),
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for piece in PIECES {
        let path = root.join(piece.path);
        println!("cargo::rerun-if-changed={}", path.display());
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", piece.path));
        write(&out.join(format!("{}.rs", piece.name)), &source);
        if let Some([text, instead]) = piece.spoilt {
            assert_eq!(source.matches(text).count(), 1, "{} has this once:\n{text}", piece.path);
            write(&out.join(format!("{}_spoilt.rs", piece.name)), &source.replace(text, instead));
        }
    }
}

/// Leaves the tests out, and docs of the whole file, which cannot stand in an included one.
fn write(path: &Path, source: &str) {
    let product = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut text = product.replace("//!", "//");
    for [ours, theirs] in STAND_INS {
        text = text.replace(ours, theirs);
    }
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
