//! Which build this is: while nodes are upgraded, two of the same version may differ.

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use data_encoding::HEXLOWER;
use object::Object as _;
use object::read::ReadCache;

use crate::fourfold_version;

/// The running program, also after another one was put into its place.
const RUNNING: &str = "/proc/self/exe";

/// Bytes of the linker's number that are told: they need only tell a few builds apart.
const TOLD_BYTES: usize = 4;

/// The version, and after a plus, as semantic versions have it, the number that the linker gave this very program,
/// where there is one: `0.1.0+9b81dd38`.
pub(crate) fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let version = fourfold_version();
        build_id(Path::new(RUNNING)).map_or_else(|| version.to_owned(), |id| format!("{version}+{id}"))
    })
}

/// The beginning of a program's build id. Of the file no more is read than its headers and that note.
fn build_id(program: &Path) -> Option<String> {
    let file = ReadCache::new(File::open(program).ok()?);
    let program = object::File::parse(&file).ok()?;
    let id = program.build_id().ok()??;
    Some(HEXLOWER.encode(id.get(..TOLD_BYTES)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_its_version_and_the_linkers_number_if_it_has_one() {
        let told = build();
        let id = told.strip_prefix(fourfold_version()).unwrap();
        match build_id(&std::env::current_exe().unwrap()) {
            Some(own) => assert_eq!(id, format!("+{own}")),
            None => assert_eq!(id, ""),
        }
    }

    #[test]
    fn what_is_no_program_has_no_number() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("text");
        assert_eq!(build_id(&file), None);
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF\x02\x01\x01", &[0xff; 4_096]] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(build_id(&file), None);
        }
    }
}
