//! What a program in a sandbox sees: the system's programs and libraries, its own folder, nothing that can be written
//! but a folder in memory, and no network.
//!
//! Bubblewrap makes the sandbox; here stands what it is told. Whatever is not named is not there, so a program reads
//! neither the folder of a daemon nor its operator's letters.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Programs and libraries of the system; those that are not there are left out.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
];

/// Where it runs and may write, in memory that goes with it.
const SCRATCH: &str = "/tmp";

/// What marks a virtual environment of Python, of which `bin` is one part.
const PYTHON_ENVIRONMENT: &str = "pyvenv.cfg";

/// The words that start a program in a sandbox. Words that name files are made absolute: it runs in another folder.
pub(super) fn wrapped(words: &[String]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| absolute(word)).collect();
    let mut all = vec!["bwrap".to_owned()];
    let mut say = |words: &[&str]| all.extend(words.iter().map(|word| (*word).to_owned()));
    say(&["--unshare-all", "--die-with-parent", "--new-session"]);
    for path in SYSTEM {
        say(&["--ro-bind-try", path, path]);
    }
    say(&[
        "--dev", "/dev", "--proc", "/proc", "--tmpfs", SCRATCH, "--chdir", SCRATCH, "--setenv", "HOME",
        SCRATCH,
    ]);
    for shown in shown(&words) {
        let Some(path) = shown.to_str() else { continue };
        say(&["--ro-bind", path, path]);
        for hidden in private_folders(&shown) {
            say(&["--tmpfs", &hidden]);
        }
    }
    say(&["--"]);
    all.extend(words);
    all
}

/// A word that names a file, from the root; any other as it is.
fn absolute(word: &str) -> String {
    let path = Path::new(word);
    // The name of a program that is looked for on the path stays one.
    let names_file = word.contains('/') || word.contains('.');
    let whole = if names_file && path.exists() { std::path::absolute(path).ok() } else { None };
    whole.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_else(|| word.to_owned())
}

/// The folders of the program and of the files that it is given, outside the system's. A file right below the root
/// comes alone.
fn shown(words: &[String]) -> BTreeSet<PathBuf> {
    let files = words.iter().map(Path::new).filter(|path| path.is_absolute());
    let files = files.flat_map(|path| [Some(path.to_owned()), fs::canonicalize(path).ok()]).flatten();
    files
        .filter(|path| !SYSTEM.iter().any(|system| path.starts_with(system)))
        .filter_map(|path| folder(&path))
        .collect()
}

fn folder(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return path.parent().map(|_| path.to_owned());
    }
    let folder = path.parent()?;
    match folder.parent() {
        None => Some(path.to_owned()),
        Some(around) if around.join(PYTHON_ENVIRONMENT).is_file() => Some(around.to_owned()),
        Some(_) => Some(folder.to_owned()),
    }
}

/// Folders right below that only their owner may enter, as a daemon's data directory is: a program beside one does not
/// see into it.
fn private_folders(folder: &Path) -> Vec<String> {
    /// Permissions of whoever is not the owner.
    const OTHERS: u32 = 0o077;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_private = |path: &PathBuf| {
        let metadata = fs::symlink_metadata(path);
        metadata.is_ok_and(|metadata| metadata.is_dir() && metadata.permissions().mode() & OTHERS == 0)
    };
    let private = entries.map(|entry| entry.path()).filter(is_private);
    let mut private: Vec<String> =
        private.filter_map(|path| path.into_os_string().into_string().ok()).collect();
    private.sort();
    private
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// What is bound beside the system, and what is hidden of it.
    fn seen(words: &[&str]) -> Vec<[String; 2]> {
        let all = wrapped(&strings(words));
        let from = all.iter().position(|word| word == "HOME").unwrap() + 2;
        let to = all.iter().position(|word| word == "--").unwrap();
        let mut seen = Vec::new();
        let mut rest = all[from..to].iter();
        while let (Some(what), Some(path)) = (rest.next(), rest.next()) {
            if what == "--ro-bind" {
                assert_eq!(rest.next(), Some(path), "it is where it was");
            }
            seen.push([what.clone(), path.clone()]);
        }
        seen
    }

    #[test]
    fn a_program_of_the_system_sees_the_system_alone() {
        assert_eq!(seen(&["python3", "-u"]), [["", ""]; 0]);
        assert_eq!(seen(&["/bin/sh", "-c", "echo 4"]), [["", ""]; 0]);
        assert!(!wrapped(&strings(&["/bin/sh"])).contains(&"/".to_owned()));
    }

    #[test]
    fn a_program_sees_its_folder_without_what_is_private_there() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for (name, mode) in [("data", 0o700), ("weights", 0o755)] {
            fs::create_dir(root.join(name)).unwrap();
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let bot = root.join("bot.sh");
        fs::write(&bot, "").unwrap();
        let (bot, root) = (bot.to_str().unwrap(), root.to_str().unwrap());
        let expected =
            [["--ro-bind".to_owned(), root.to_owned()], ["--tmpfs".to_owned(), format!("{root}/data")]];
        assert_eq!(seen(&[bot, "--deep"]), expected);
        assert_eq!(seen(&["python3", bot]), expected, "of its arguments too");
    }

    #[test]
    fn an_environment_of_python_is_seen_whole() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(root.path().join(PYTHON_ENVIRONMENT), "").unwrap();
        let python = root.path().join("bin/python");
        fs::write(&python, "").unwrap();
        let root = root.path().to_str().unwrap();
        assert_eq!(seen(&[python.to_str().unwrap()]), [["--ro-bind".to_owned(), root.to_owned()]]);
    }

    #[test]
    fn the_root_is_never_shown() {
        assert_eq!(folder(Path::new("/")), None);
        assert_eq!(folder(Path::new("/no-such-bot")), Some(PathBuf::from("/no-such-bot")));
    }
}
