//! The files that commands read.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::exit::{Code, Exit};

/// A file's lines; `-` is standard input.
///
/// # Errors
///
/// Exit code 66 if it cannot be opened.
pub(in crate::app) fn open(path: &Path) -> Result<Box<dyn BufRead>, Exit> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)
        .map_err(|error| Exit::new(Code::NoInput, format!("cannot open {}: {error}", path.display())))?;
    Ok(Box::new(BufReader::new(file)))
}
