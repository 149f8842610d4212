//! What the first bytes of the file say, read before SQLite touches it.
//!
//! Offsets are those of the SQLite file format, section 1.3. Numbers are big-endian.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const HEADER_BYTES: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What of the header matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) application_id: u32,
    pub(super) schema: u32,
    /// What the file must at least have, unless a write-ahead log holds the rest.
    pub(super) bytes: u64,
}

/// Why there is no header.
#[derive(Debug)]
pub(super) enum NoHeader {
    /// The file has no bytes at all.
    Empty,
    /// The bytes are not those of a database.
    Foreign,
    /// The file cannot be read.
    Unreadable(io::Error),
}

impl Header {
    pub(super) fn read(path: &Path) -> Result<Self, NoHeader> {
        let file = File::open(path).map_err(NoHeader::Unreadable)?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        file.take(HEADER_BYTES as u64).read_to_end(&mut bytes).map_err(NoHeader::Unreadable)?;
        if bytes.is_empty() {
            return Err(NoHeader::Empty);
        }
        <&[u8; HEADER_BYTES]>::try_from(bytes.as_slice()).ok().and_then(Self::parse).ok_or(NoHeader::Foreign)
    }

    fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |offset: usize| u32::from_be_bytes([0, 1, 2, 3].map(|index| bytes[offset + index]));
        let page_size = match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => 65_536,
            size => u64::from(size),
        };
        // The page count is only kept up to date if the change counter (24) equals the one it was written with (92).
        let pages = if word(24) == word(92) { word(28) } else { 0 };
        bytes.starts_with(MAGIC).then(|| Self {
            application_id: word(68),
            schema: word(60),
            bytes: page_size * u64::from(pages),
        })
    }
}
