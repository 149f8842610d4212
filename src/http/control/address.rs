//! Addresses of Unix sockets, which may be shorter than the path of a data directory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Longest path that a Unix socket's address holds on all our systems, the zero byte at its end included.
const ADDRESS_BYTES_MAX: usize = 104;

/// A path by which a socket can be bound or reached, valid as long as this lives.
#[derive(Debug)]
pub(super) struct Address {
    path: PathBuf,
    /// The directory, if the path leads through its descriptor.
    _directory: Option<File>,
}

impl Address {
    /// The path itself if it fits, else one through a descriptor of its directory.
    pub(super) fn of(socket: &Path) -> io::Result<Self> {
        if socket.as_os_str().len() < ADDRESS_BYTES_MAX {
            return Ok(Self { path: socket.to_owned(), _directory: None });
        }
        let no_name = || io::Error::from(io::ErrorKind::InvalidInput);
        let (parent, name) = (socket.parent().ok_or_else(no_name)?, socket.file_name().ok_or_else(no_name)?);
        let directory = File::open(parent)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
        Ok(Self { path, _directory: Some(directory) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
