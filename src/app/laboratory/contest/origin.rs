//! With what a run is made: version, machine, and the files of its programs, for the first line of its log.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use fourfold_arena::log::{Origin, ProgramFile};
use fourfold_arena::program::spec::ProgramSpec;

use super::Entered;
use crate::app::terminal::{command_line, machine};
use crate::system::sha256;

/// Larger files are left out: data that a program maps, not the program.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// What this process can tell of a run with these entrants.
pub(super) fn of(entered: &[Entered<'_>], names: &[String]) -> Origin {
    let entrants = entered.iter().zip(names);
    Origin {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        command: command_line(),
        programs: entrants.flat_map(|(entered, name)| files_of(entered.spec, name)).collect(),
    }
}

/// The program and the files among its arguments, each with its checksum. What cannot be read is left out: the run will
/// say so itself.
fn files_of(spec: &str, entrant: &str) -> Vec<ProgramFile> {
    let Some(spec) = ProgramSpec::is_meant_by(spec).then(|| spec.parse::<ProgramSpec>().ok()).flatten()
    else {
        return Vec::new();
    };
    let program = spec.words.first().map(|word| on_path(word));
    let arguments = spec.words.iter().skip(1).map(PathBuf::from);
    let files = program.into_iter().chain(arguments);
    let summed = files.filter_map(|file| Some((checksum(&file).ok()??, file)));
    let entry = |(sha256, file): (String, PathBuf)| ProgramFile {
        entrant: entrant.to_owned(),
        file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        sha256,
    };
    summed.map(entry).collect()
}

/// A bare word is looked for as the system does.
fn on_path(word: &str) -> PathBuf {
    let path = std::env::var_os("PATH").filter(|_| !word.contains('/')).unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(word)).find(|file| file.is_file());
    found.unwrap_or_else(|| PathBuf::from(word))
}

/// `None` if it is no file, or too large.
fn checksum(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let is_summed = about.is_file() && about.len() <= FILE_BYTES_MAX;
    is_summed.then(|| sha256::of_next(&mut file, about.len(), || ())).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_by_their_contents() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("bot.sh");
        std::fs::write(&script, "abc").unwrap();
        let text = format!("mine=cmd:sh {} --depth 4", script.display());
        let entered = [Entered::read(&text).unwrap(), Entered::read("random").unwrap()];
        let origin = of(&entered, &["mine".to_owned(), "random".to_owned()]);
        let seen: Vec<_> =
            origin.programs.iter().map(|file| (file.entrant.as_str(), file.file.as_str())).collect();
        assert_eq!(seen, [("mine", "sh"), ("mine", "bot.sh")]);
        // The example of FIPS 180-2.
        assert!(origin.programs[1].sha256.starts_with("ba7816bf8f01cfea"), "{origin:?}");
        assert!(!origin.machine.is_empty() && origin.version == env!("CARGO_PKG_VERSION"));
    }
}
