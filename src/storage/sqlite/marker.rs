//! A file beside the database, `-running`, from which a start knows whether the write-ahead log has everything that the
//! last process knew to be stored. SQLite alone cannot know: a log that is gone or damaged looks to it like a log in
//! which nothing was ever written, and acknowledged writes would be gone without a word.
//!
//! While a process uses the database, the marker holds the last place of the log up to which the process has seen
//! everything committed: which generation of the log, how many frames, and the checksum over all of them. It is written
//! when the database is opened and then at most once a second behind the commits, which never wait for it.
//!
//! # Why a sound database is never refused
//!
//! What is noted was on the disk before, so a marker is never ahead of the log, only behind. With L for the log:
//!
//! | the process dies, or the power goes, after | on the disk | at the start |
//! |---|---|---|
//! | a commit, before it is noted | marker behind L | L has the noted place and more: fine |
//! | a note that is not on the disk yet, or half | the other of two slots, an older note | the same |
//! | all of L has been moved, L not begun anew | L as it was | the same |
//! | L is begun anew, not noted yet | L of a later generation | fine: the earlier one is in the database |
//! | "may be gone", L not yet emptied | L as noted, or more | fine: nothing is asked for |
//! | L is emptied, the next commit is not noted yet | "may be gone", L empty or new | fine |
//! | the start has read the marker, SQLite has moved L | "may be gone" | fine: it is said before SQLite is let at L |
//! | the marker is removed at the end | no marker | fine: L was emptied before |
//! | half of a transaction's frames | L ends within it | fine: at most one transaction, the last, can be half there |
//!
//! Whatever makes the log shorter or empty says "may be gone" first, and that on the disk. A marker that was created
//! and has no slot yet stands for a process that had not let SQLite at the database. With `relaxed` durability a commit
//! is not on the disk when it is noted, so a power cut may take the end of the log away, which is what that setting
//! means: what is missing is said in the log and not refused, unless there is no log at all.
//!
//! This takes for granted that the disk writes a sector whole or not at all: a slot of the marker, the header of the
//! log.
//!
//! # What is not noticed
//!
//! What was committed within the second before a crash and has not been noted, if the log is cut exactly there or its
//! last transaction is damaged: that looks as if it had never been finished. Damage further forward is noticed, as more
//! than one finished transaction follows on it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::wal::{LogFile, LogPosition};
use crate::model::durability::Durability;
use crate::system::files::{self, beside};

/// Nobody else needs to know.
const MODE: u32 = 0o600;

const SLOT_BYTES: usize = 64;

/// More than any marker has: what is longer is something else.
const BYTES_MAX: u64 = 4 * 1024;

/// The two slots lie in two sectors, so that a write which the power cuts short spoils one of them at most.
const SLOTS_APART: u64 = 512;

const MAGIC: &[u8; 8] = b"4running";

/// What version 0.1.0 wrote while it used the database. When it left without closing it there was another word.
const OLD_RUNNING: &str = "running\n";

/// Ends of transactions that may follow on a frame which is not intact: that of the last one, of which the power left a
/// part.
const HALF_WRITTEN_MAX: u32 = 1;

/// How the last process stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastStop {
    /// The database was closed.
    Clean,
    /// The process died, or left by an error; with what it had noted, unless it was of a version that noted nothing.
    Unclean(Option<Note>),
}

/// What the marker says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Note {
    position: Option<LogPosition>,
    /// The log may have been emptied or removed, as all of it is in the database.
    may_be_gone: bool,
    /// Whether commits were on the disk before they were noted.
    is_strict: bool,
    /// Whether the log was empty at the start of the process, so that nothing of an earlier one lies behind its end.
    began_empty: bool,
}

/// Whether the log has what was noted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LogVerdict {
    /// It has.
    Whole,
    /// Nothing was noted that it could be held against.
    Unknown,
    /// It has lost its end, as `relaxed` durability allows.
    Shortened(String),
    /// Writes are lost: what was found.
    Lost(String),
}

impl LastStop {
    pub(super) fn read(database: &Path) -> io::Result<Self> {
        let path = path(database);
        files::expect_plain_file(&path)?;
        let Some(bytes) = files::read_at_most(&path, BYTES_MAX)? else { return Ok(Self::Clean) };
        let is_of_0_1_0 = bytes == OLD_RUNNING.as_bytes();
        let nothing = (!is_of_0_1_0).then(Note::nothing);
        Ok(Self::Unclean(newest(&bytes).map(|(_, note)| note).or(nothing)))
    }
}

impl Note {
    /// Of a process that has noted nothing yet.
    fn nothing() -> Self {
        Self { position: None, may_be_gone: true, is_strict: true, began_empty: false }
    }

    fn parse(slot: &[u8]) -> Option<(u64, Self)> {
        let slot: &[u8; SLOT_BYTES] = slot.try_into().ok()?;
        let word = |offset: usize| u32::from_le_bytes([0, 1, 2, 3].map(|index| slot[offset + index]));
        let sequence = u64::from(word(8)) | (u64::from(word(12)) << 32);
        if !slot.starts_with(MAGIC) || slot[56..] != checksum(&slot[..56]) {
            return None;
        }
        let flags = word(16);
        let position = LogPosition {
            generation: word(20),
            salts: [word(24), word(28)],
            frames: word(32),
            checksum: [word(36), word(40)],
        };
        let note = Self {
            position: (position.frames > 0).then_some(position),
            may_be_gone: flags & 1 != 0,
            is_strict: flags & 2 != 0,
            began_empty: flags & 4 != 0,
        };
        Some((sequence, note))
    }

    fn slot(&self, sequence: u64) -> [u8; SLOT_BYTES] {
        let mut slot = [0; SLOT_BYTES];
        let mut put = |offset: usize, bytes: &[u8]| slot[offset..offset + bytes.len()].copy_from_slice(bytes);
        let flags = u32::from(self.may_be_gone)
            | (u32::from(self.is_strict) << 1)
            | (u32::from(self.began_empty) << 2);
        put(0, MAGIC);
        put(8, &sequence.to_le_bytes());
        put(16, &flags.to_le_bytes());
        if let Some(LogPosition { generation, salts, frames, checksum }) = self.position {
            let words = [generation, salts[0], salts[1], frames, checksum[0], checksum[1]];
            (0..).zip(words).for_each(|(index, word)| put(20 + 4 * index, &word.to_le_bytes()));
        }
        let sum = checksum(&slot[..56]);
        slot[56..].copy_from_slice(&sum);
        slot
    }

    /// Holds the log against what was noted.
    pub(super) fn check(&self, database: &Path) -> io::Result<LogVerdict> {
        let found = match self.find_loss(&beside(database, "-wal"))? {
            None if self.position.is_none() => return Ok(LogVerdict::Unknown),
            None => return Ok(LogVerdict::Whole),
            Some(found) => found,
        };
        let may_be_short = !self.is_strict && beside(database, "-wal").exists();
        Ok(if may_be_short { LogVerdict::Shortened(found) } else { LogVerdict::Lost(found) })
    }

    /// What the log lacks of that which was noted.
    fn find_loss(&self, log: &Path) -> io::Result<Option<String>> {
        let header = match LogFile::read(log)? {
            LogFile::Readable(header) => header,
            LogFile::Missing | LogFile::Empty | LogFile::Headless if self.may_be_gone => return Ok(None),
            LogFile::Missing => return Ok(Some("is missing".into())),
            LogFile::Empty => return Ok(Some("is empty".into())),
            LogFile::Headless => return Ok(Some("has a damaged header".into())),
        };
        let noted = self.position.filter(|position| position.salts == header.salts);
        let scan = header.scan(log, noted.map_or(0, |position| position.frames))?;
        if let Some(noted) = noted
            && scan.checksum_there != Some(noted.checksum)
        {
            let (intact, frames) = (scan.intact, noted.frames);
            return Ok(Some(format!("has {intact} intact frames, at least {frames} were written")));
        }
        if self.began_empty && scan.commits_behind > HALF_WRITTEN_MAX {
            let (behind, damaged) = (scan.commits_behind, u64::from(scan.intact) + 1);
            return Ok(Some(format!("is damaged in frame {damaged}, on which {behind} transactions follow")));
        }
        let is_earlier = |position: LogPosition| {
            position.salts != header.salts && position.generation > header.generation && !self.may_be_gone
        };
        Ok(self.position.filter(|position| is_earlier(*position)).map(|_| "is one of an earlier time".into()))
    }
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    std::array::from_fn(|index| digest[index])
}

pub(super) fn path(database: &Path) -> PathBuf {
    beside(database, "-running")
}

/// The marker of this process.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
    file: File,
    /// Written by whoever notes and by whoever empties the log.
    state: Mutex<MarkerState>,
}

#[derive(Debug)]
struct MarkerState {
    sequence: u64,
    note: Note,
    /// While the log is being emptied, nothing is noted.
    is_emptying: bool,
    is_removed: bool,
}

impl Marker {
    /// Says durably that a process uses the database, before SQLite is let at it: what was noted stays, but the log may
    /// be gone from now on.
    pub(super) fn begin(database: &Path, last_stop: &LastStop, durability: Durability) -> io::Result<Self> {
        let path = path(database);
        files::expect_plain_file(&path)?;
        let options = OpenOptions::new().write(true).create(true).truncate(false).mode(MODE).clone();
        let file = options.open(&path)?;
        file.set_permissions(fs::Permissions::from_mode(MODE))?;
        let (position, sequence) = match last_stop {
            LastStop::Unclean(Some(note)) => {
                let written = newest(&files::read_at_most(&path, BYTES_MAX)?.unwrap_or_default());
                (note.position, written.map_or(0, |(sequence, _)| sequence))
            }
            LastStop::Unclean(None) | LastStop::Clean => (None, 0),
        };
        let is_strict = durability == Durability::Strict;
        let note = Note { position, is_strict, ..Note::nothing() };
        let state = MarkerState { sequence, note, is_emptying: true, is_removed: false };
        let marker = Self { path, file, state: Mutex::new(state) };
        marker.state().write(&marker.file)?;
        files::sync_directory(&marker.path)?;
        Ok(marker)
    }

    fn state(&self) -> MutexGuard<'_, MarkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes up to where the log is known to be committed. Blocks until that is on the disk.
    pub(super) fn note(&self, position: LogPosition) -> io::Result<()> {
        let mut state = self.state();
        if state.is_emptying || state.is_removed || state.note.position == Some(position) {
            return Ok(());
        }
        state.note.position = Some(position);
        state.note.may_be_gone = false;
        state.write(&self.file)
    }

    /// Says durably that the log may be gone from now on; until [`Self::emptied`] nothing is noted. Blocks.
    pub(super) fn emptying(&self) -> io::Result<()> {
        let mut state = self.state();
        state.is_emptying = true;
        state.note.may_be_gone = true;
        state.write(&self.file)
    }

    /// The log is empty, or was left as it is.
    pub(super) fn emptied(&self, outcome: Emptied) {
        let mut state = self.state();
        state.is_emptying = false;
        match outcome {
            Emptied::Yes => state.note.began_empty = true,
            Emptied::No => {}
        }
    }

    /// Removes the marker, durably: all is in the database file.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.state().is_removed = true;
        fs::remove_file(&self.path)?;
        files::sync_directory(&self.path)
    }

    /// The database is let go without having been closed: SQLite will remove the log, or not come to it.
    pub(super) fn leave(&self) {
        if !self.state().is_removed {
            // Should this fail, the next start misses the log and asks for help: too careful, not wrong.
            let _ = self.emptying();
        }
    }
}

/// Whether nothing is left in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Emptied {
    Yes,
    /// Somebody reads it.
    No,
}

impl MarkerState {
    fn write(&mut self, file: &File) -> io::Result<()> {
        self.sequence += 1;
        let place = (self.sequence % 2) * SLOTS_APART;
        file.write_all_at(&self.note.slot(self.sequence), place)?;
        file.sync_data()
    }
}

/// The slot written last, with its number: the next one goes into the other.
fn newest(bytes: &[u8]) -> Option<(u64, Note)> {
    let far = usize::try_from(SLOTS_APART).unwrap_or(usize::MAX);
    let slots = [0, far].map(|start| bytes.get(start..start + SLOT_BYTES).and_then(Note::parse));
    slots.into_iter().flatten().max_by_key(|(sequence, _)| *sequence)
}

#[cfg(test)]
mod tests;
