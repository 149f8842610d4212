//! The files that commands read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use super::exit::{Code, Exit};

/// A file's lines; `-` is standard input.
///
/// # Errors
///
/// Exit code 66 if it cannot be opened, or is a directory.
pub(in crate::app) fn open(path: &Path) -> Result<Box<dyn BufRead>, Exit> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::new(open_file(path)?)))
}

/// A file to be read.
///
/// # Errors
///
/// Exit code 66 if it cannot be opened, or is a directory.
pub(in crate::app) fn open_file(path: &Path) -> Result<File, Exit> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() { Err(ErrorKind::IsADirectory.into()) } else { Ok(file) }
    });
    opened.map_err(|error| Exit::new(Code::NoInput, format!("cannot open {}: {error}", path.display())))
}

/// All of a file.
///
/// # Errors
///
/// As of [`open_file`] and [`unreadable`].
pub(in crate::app) fn read(path: &Path) -> Result<Vec<u8>, Exit> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

/// All of a file, which is text.
///
/// # Errors
///
/// As of [`read`].
pub(in crate::app) fn read_text(path: &Path) -> Result<String, Exit> {
    text(path, read(path)?)
}

/// All of a file, which is text and no longer than this, whatever is read: some have no end.
///
/// # Errors
///
/// As of [`read`]; exit code 65 if it is longer.
pub(in crate::app) fn read_text_at_most(path: &Path, bytes_max: u64) -> Result<String, Exit> {
    let mut bytes = Vec::new();
    let mut file = open_file(path)?.take(bytes_max.saturating_add(1));
    file.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("{} is longer than {bytes_max} bytes, the most that is read", path.display());
        return Err(Exit::new(Code::Data, message));
    }
    text(path, bytes)
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Exit> {
    String::from_utf8(bytes)
        .map_err(|error| Exit::new(Code::Data, format!("cannot read {}: {error}", path.display())))
}

/// Why reading failed: what was read is no text (65), it cannot be read at all (66), or the machine failed (74).
pub(in crate::app) fn unreadable(path: &Path, error: &io::Error) -> Exit {
    Exit::new(code(error), format!("cannot read {}: {error}", path.display()))
}

/// The exit code of [`unreadable`].
pub(in crate::app) fn code(error: &io::Error) -> Code {
    match error.kind() {
        ErrorKind::InvalidData => Code::Data,
        ErrorKind::NotFound
        | ErrorKind::PermissionDenied
        | ErrorKind::IsADirectory
        | ErrorKind::NotADirectory => Code::NoInput,
        _ => Code::Io,
    }
}
