//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// How names of drafts end.
const DRAFT_ENDS: &str = ".draft";

/// What SQLite puts after the name of a database that it is writing.
const JOURNAL_ENDS: &str = "-journal";

/// Puts a file in place of the one of this name, if there is one. Whatever happens meanwhile, power loss included, one
/// of the two is there.
///
/// # Errors
///
/// The directory cannot be written to, or the disk is full.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    let written = File::create(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&draft, path)) {
        let _ = fs::remove_file(&draft); // what is left of it helps nobody, and the first error is told
        return Err(error);
    }
    sync_directory(path)
}

/// Makes the creation, renaming or removal of a file durable.
///
/// # Errors
///
/// The directory cannot be opened, or the disk fails.
pub(crate) fn sync_directory(file: &Path) -> io::Result<()> {
    File::open(directory(file))?.sync_all()
}

/// Where a file is written before it takes its place: another one each time, as several may write the same file at
/// once, in this process or another.
pub(crate) fn draft_of(path: &Path) -> PathBuf {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    beside(path, &format!(".{}-{number}{DRAFT_ENDS}", process::id()))
}

/// A file that gets its name when all of it is written: until then it is a draft beside it, which goes when this is
/// dropped. What is there and no file, such as a device or a pipe, is written to as it is.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Where it is now; `None` once it has its name.
    place: Option<PathBuf>,
    path: PathBuf,
    file: File,
}

impl Draft {
    /// Begins a file; one that has the name keeps it until [`Self::finish`].
    ///
    /// # Errors
    ///
    /// The directory is not there or cannot be written to, or the name is a directory's.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let (path, is_file) = match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // Behind a link stands the file that is meant.
            Ok(there) => (fs::canonicalize(path)?, there.is_file()),
            Err(_) => (path.to_owned(), true),
        };
        if !is_file {
            let file = File::options().write(true).open(&path)?;
            return Ok(Self { place: None, path, file });
        }
        let draft = draft_of(&path);
        let file = File::create_new(&draft)?;
        Ok(Self { place: Some(draft), path, file })
    }

    /// Gives the file its name, in place of one that has it.
    ///
    /// # Errors
    ///
    /// The disk is full, or fails.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let Some(draft) = &self.place else { return self.file.flush() };
        self.file.sync_all()?;
        fs::rename(draft, &self.path)?;
        self.place = None;
        sync_directory(&self.path)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(draft) = &self.place {
            let _ = fs::remove_file(draft); // what is left of it helps nobody
        }
    }
}

/// Removes what processes that were killed have left half written of the files whose names `is_ours`: a draft may be as
/// large as the file that it was to become.
///
/// # Errors
///
/// The directory cannot be read, or a draft not be removed.
pub(crate) fn remove_drafts(directory: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_str().and_then(becomes).is_some_and(&is_ours) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The name of the file that a draft was to become; `None` if nothing here gives a draft such a name.
fn becomes(draft: &str) -> Option<&str> {
    let draft = draft.strip_suffix(JOURNAL_ENDS).unwrap_or(draft).strip_suffix(DRAFT_ENDS)?;
    let (name, writer) = draft.rsplit_once('.')?;
    let (process, number) = writer.split_once('-')?;
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    (is_number(process) && is_number(number)).then_some(name)
}

/// Refuses what stands where a file of ours is to be and is none, such as a pipe, a device or a link: to open one may
/// take for ever, and who may read it would be changed for everybody. That nothing is there is well.
///
/// # Errors
///
/// It is so, or cannot be found out.
pub(crate) fn expect_plain_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(no_plain_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What is said of something that is no file.
pub(crate) fn no_plain_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")
}

/// The content, `None` if there is no such file.
///
/// # Errors
///
/// It cannot be read.
pub(crate) fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// As [`read_if_there`], but no more than so many bytes, whatever the file is: some have no end.
///
/// # Errors
///
/// It cannot be read, or is larger.
pub(crate) fn read_at_most(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("it is larger than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(Some(bytes))
}

/// As [`read_at_most`], of a file in the sense of the word: opening a pipe waits for its other end, and a device has no
/// end.
///
/// # Errors
///
/// It is not there, cannot be read, is larger, or is no file.
pub(crate) fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let what = fs::metadata(path)?;
    if what.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !what.is_file() {
        return Err(no_plain_file());
    }
    read_at_most(path, bytes_max)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Which file it is, whatever its name: that of its device, and of it there.
pub(crate) fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Waits for the lock of a file that is there for it alone, and is made for it. The file goes when this is dropped.
///
/// # Errors
///
/// The file cannot be made, or its file system knows no locks.
pub(crate) fn lock(path: &Path) -> io::Result<LockFile> {
    loop {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // Whoever held it before has removed it, and another one may have been made meanwhile.
        match fs::metadata(path) {
            Ok(named) if identity(&named) == identity(&file.metadata()?) => {
                return Ok(LockFile { path: path.to_owned(), _file: file });
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
}

/// A lock that is held.
#[must_use = "the lock goes with it"]
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    _file: File,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Before the lock goes. One that stays is locked by the next.
        let _ = fs::remove_file(&self.path);
    }
}

/// The path of a file that belongs to this one.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// Where a file is.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_not_taken_for_one() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        expect_plain_file(&at("nothing")).unwrap();
        fs::write(at("file"), "x").unwrap();
        expect_plain_file(&at("file")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        for name in ["link", "directory", "/dev/null"] {
            assert_eq!(
                expect_plain_file(&at(name)).unwrap_err().to_string(),
                "it is no regular file",
                "{name}"
            );
        }
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.xml");
        assert_eq!(read_if_there(&path).unwrap(), None);
        for text in ["one", "two"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(read_if_there(&path).unwrap().unwrap(), text.as_bytes());
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_has_no_end_is_no_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_regular(&path, 5).unwrap(), b"12345");
        let refused = |path: &Path, bytes_max| read_regular(path, bytes_max).unwrap_err().kind();
        assert_eq!(refused(&path, 4), io::ErrorKind::FileTooLarge);
        assert_eq!(refused(Path::new("/dev/zero"), 4), io::ErrorKind::InvalidInput);
        assert_eq!(refused(dir.path(), 4), io::ErrorKind::IsADirectory);
        assert_eq!(refused(&dir.path().join("gone"), 4), io::ErrorKind::NotFound);
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(refused(&pipe, 4), io::ErrorKind::InvalidInput, "and nobody waits");
    }

    #[test]
    fn a_draft_gets_its_name_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("a"), dir.path().join("link"));
        let names = || fs::read_dir(dir.path()).unwrap().count();
        let begun = |path: &Path, text: &str| {
            let mut draft = Draft::begin(path).unwrap();
            draft.write_all(text.as_bytes()).unwrap();
            draft
        };
        drop(begun(&path, "half"));
        assert_eq!(names(), 0);
        begun(&path, "whole").finish().unwrap();
        drop(begun(&path, "half"));
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("whole", 1));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        begun(&link, "by a link").finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "by a link");
        begun(Path::new("/dev/null"), "nothing").finish().unwrap();
        assert!(Draft::begin(dir.path()).is_err());
    }

    #[test]
    fn files_written_at_once_are_each_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let texts: Vec<Vec<u8>> = (b'a'..b'e').map(|letter| vec![letter; 100_000]).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..20).for_each(|_| replace(&path, text).unwrap()));
            }
            for _ in 0..200 {
                let read = read_if_there(&path).unwrap();
                assert!(read.is_none_or(|read| texts.contains(&read)), "a torn file");
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn drafts_are_known_by_the_file_that_they_were_to_become() {
        let draft = draft_of(Path::new("a.b"));
        assert_eq!(becomes(draft.to_str().unwrap()), Some("a.b"));
        for (name, expected) in [
            ("a.b.77-0.draft-journal", Some("a.b")),
            ("a.b", None),
            ("a.draft", None),
            ("a.b.draft", None),
            ("a.77-x.draft", None),
            ("77-0.draft", None),
            (".draft", None),
        ] {
            assert_eq!(becomes(name), expected, "{name}");
        }
    }

    #[test]
    fn a_file_is_read_up_to_a_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        assert_eq!(read_at_most(&path, 3).unwrap(), None);
        replace(&path, b"123").unwrap();
        assert_eq!(read_at_most(&path, 3).unwrap().unwrap(), b"123");
        let error = read_at_most(&path, 2).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 2 bytes");
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::create_dir(&path).unwrap(); // a file cannot take a directory's place
        assert!(replace(&path, b"new").is_err());
        assert!(path.is_dir());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
        assert!(replace(&dir.path().join("gone/a"), b"new").is_err());
    }

    #[test]
    fn names_without_a_directory_are_here() {
        assert_eq!(directory(Path::new("a.xml")), Path::new("."));
        assert_eq!(directory(Path::new("d/a.xml")), Path::new("d"));
        assert_eq!(beside(Path::new("d/a.xml"), ".run"), Path::new("d/a.xml.run"));
    }
}
