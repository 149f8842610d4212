//! What a write-ahead log holds, read from its file without SQLite, which would change it.
//!
//! Offsets are those of the SQLite file format, section 4: a header of 32 bytes, then frames, each of them a page with
//! 24 bytes before it. All numbers are big-endian. A checksum runs from the header through all frames, so that the one
//! of a frame stands for everything up to it. The log is begun anew from its start when all of it is in the database:
//! with other salts and the next generation, so that frames of before do not fit.
//!
//! Opening and closing this file is safe while SQLite uses it. The database and the `-shm` file are not: a process that
//! closes any handle of them loses SQLite's locks.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// The lowest bit says whether checksums read words big-endian.
const MAGIC: u32 = 0x377f_0682;

/// A running checksum.
type Checksum = [u32; 2];

/// The header of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LogHeader {
    /// How often the log was begun anew.
    pub(super) generation: u32,
    pub(super) salts: [u32; 2],
    page_bytes: usize,
    is_big_endian: bool,
    checksum: Checksum,
}

/// A place in a log up to which all was committed, and the checksum of everything before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LogPosition {
    pub(super) generation: u32,
    pub(super) salts: [u32; 2],
    pub(super) frames: u32,
    pub(super) checksum: [u32; 2],
}

/// What is found where a log should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LogFile {
    /// There is no file.
    Missing,
    /// It has no bytes.
    Empty,
    /// It has no header, or one that is damaged.
    Headless,
    Readable(LogHeader),
}

/// What reading a whole log came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LogScan {
    /// Frames from the start whose checksums are right.
    pub(super) intact: u32,
    /// The checksum after the frame that was asked for, if that is one of them.
    pub(super) checksum_there: Option<[u32; 2]>,
    /// Ends of transactions behind the first frame whose checksum is wrong. A process writes the next transaction when
    /// the last one is on the disk, so only one of them can be half written.
    pub(super) commits_behind: u32,
}

/// One frame's header.
struct FrameHeader {
    /// Not 0 if a transaction ends here.
    database_pages: u32,
    salts: [u32; 2],
    checksum: Checksum,
}

impl LogFile {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::Missing),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() == 0 {
            return Ok(Self::Empty);
        }
        let mut bytes = [0; HEADER_BYTES];
        let header = if fill(&mut file, &mut bytes)? { LogHeader::parse(&bytes) } else { None };
        Ok(header.map_or(Self::Headless, Self::Readable))
    }
}

impl LogHeader {
    fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let magic = word(bytes, 0);
        let header = Self {
            generation: word(bytes, 12),
            salts: [word(bytes, 16), word(bytes, 20)],
            page_bytes: usize::try_from(word(bytes, 8)).ok()?,
            is_big_endian: magic & 1 == 1,
            checksum: [word(bytes, 24), word(bytes, 28)],
        };
        let is_page = (512..=65_536).contains(&header.page_bytes) && header.page_bytes.is_power_of_two();
        let is_right = header.add_up([0, 0], &bytes[..24]) == header.checksum;
        (magic & !1 == MAGIC && is_page && is_right).then_some(header)
    }

    /// Goes on with a checksum over words in pairs.
    fn add_up(&self, [mut first, mut second]: Checksum, bytes: &[u8]) -> Checksum {
        for pair in bytes.chunks_exact(8) {
            let number = |bytes: [u8; 4]| {
                if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
            };
            first = first.wrapping_add(number([pair[0], pair[1], pair[2], pair[3]])).wrapping_add(second);
            second = second.wrapping_add(number([pair[4], pair[5], pair[6], pair[7]])).wrapping_add(first);
        }
        [first, second]
    }

    /// Where the frame of this number, counted from 1, begins.
    fn frame_starts(&self, number: u32) -> u64 {
        let frame = (FRAME_HEADER_BYTES + self.page_bytes) as u64;
        HEADER_BYTES as u64 + frame * u64::from(number.saturating_sub(1))
    }

    /// The place behind a frame that is known to be committed; `None` if this log has been begun anew meanwhile.
    pub(super) fn position(&self, log: &Path, frames: u32) -> io::Result<Option<LogPosition>> {
        let mut file = File::open(log)?;
        file.seek(SeekFrom::Start(self.frame_starts(frames)))?;
        let mut bytes = [0; FRAME_HEADER_BYTES];
        if frames == 0 || !fill(&mut file, &mut bytes)? {
            return Ok(None);
        }
        let frame = FrameHeader::parse(&bytes);
        let position =
            LogPosition { generation: self.generation, salts: self.salts, frames, checksum: frame.checksum };
        Ok((frame.salts == self.salts).then_some(position))
    }

    /// Reads all frames, and notes the checksum after `wanted` of them.
    pub(super) fn scan(&self, log: &Path, wanted: u32) -> io::Result<LogScan> {
        let mut file = BufReader::new(File::open(log)?);
        file.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
        let mut frame = vec![0; FRAME_HEADER_BYTES + self.page_bytes];
        let mut scan = LogScan { intact: 0, checksum_there: None, commits_behind: 0 };
        let (mut running, mut is_intact) = (self.checksum, true);
        while fill(&mut file, &mut frame)? {
            let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
            let header = FrameHeader::parse(head);
            let is_of_this_log = header.salts == self.salts;
            if is_intact {
                running = self.add_up(self.add_up(running, &head[..8]), page);
                is_intact = is_of_this_log && running == header.checksum;
            }
            if is_intact {
                scan.intact += 1;
                if scan.intact == wanted {
                    scan.checksum_there = Some(running);
                }
            } else if is_of_this_log && header.database_pages != 0 {
                scan.commits_behind += 1;
            }
        }
        Ok(scan)
    }
}

impl FrameHeader {
    fn parse(bytes: &[u8]) -> Self {
        Self {
            database_pages: word(bytes, 4),
            salts: [word(bytes, 8), word(bytes, 12)],
            checksum: [word(bytes, 16), word(bytes, 20)],
        }
    }
}

fn word(bytes: &[u8], offset: usize) -> u32 {
    u32::from_be_bytes([0, 1, 2, 3].map(|index| bytes[offset + index]))
}

/// Reads as many bytes as fit; `false` if the file ends before.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
