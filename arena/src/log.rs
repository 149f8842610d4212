//! The log of a run: one append-only file of JSON lines that is the only truth about it. Tables, counts and ratings
//! are computed from it.
//!
//! A line is the record of a finished game or has an `event`. Games stand in the order of the schedule whatever order
//! they finished in, so equal runs have equal logs but for times. Every line ends with a checksum, `"crc"`, over
//! itself and all lines before it: a lost or changed line is found. A last line that a crash tore is cut off; anything
//! else that does not fit is an error that names the line.
//!
//! A game that finishes before its turn waits in a second file, `FILE.ahead`, until it can be written: nothing that is
//! finished is lost, whenever the process dies.

mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::lines::Chain;
use self::lines::Tail;
use crate::plan::Plan;
use crate::record::MatchRecord;

/// A line of the log that is not a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first line: what is played, and by what.
    Start {
        schema: u32,
        plan: Plan,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Box<Origin>>,
    },
    /// An entrant plays no more.
    Suspended { entrant: String, faults_in_a_row: u32 },
    /// Everything is played or decided.
    End { games: u64, why: Why },
}

/// With what a run was made, for who wants to make it again. Nothing is compared with it: a run may go on elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// Of the program that wrote the log.
    pub version: String,
    /// System, processor and how many of them.
    pub machine: String,
    /// The words of the command; empty in logs of 0.1 and before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The files of entrants that are programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFile>,
}

/// A file that an entrant is made of, its program or one that is named among its arguments.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramFile {
    pub entrant: String,
    pub file: String,
    pub sha256: String,
}

/// Changes when the meaning of a line does.
pub const SCHEMA: u32 = 1;

/// Why a run is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// All games of the schedule are played.
    Complete,
    /// The sequential test has decided.
    Decided,
    /// Too many entrants broke to go on.
    Suspended,
}

/// What a log holds.
#[derive(Clone, PartialEq, Debug)]
enum LogEntry {
    Game(Box<MatchRecord>),
    Event(Event),
}

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("{path} is there already: go on with it (--resume) or name another file")]
    Exists { path: String },
    #[error("{path} is in use by another run")]
    InUse { path: String },
    #[error("{path}, line {line}: {reason}")]
    Corrupt { path: String, line: u64, reason: String },
    #[error("{path} is the log of another run: its {what}")]
    OtherRun { path: String, what: String },
    #[error("{path}")]
    Io {
        path: String,
        #[source]
        source: io::Error,
    },
}

/// A log that is written to.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Arc<File>,
    chain: Chain,
    /// Lines that are not written yet.
    buffer: Vec<u8>,
    /// Whether something was written since the last look.
    is_unsynced: bool,
    ahead: Ahead,
}

/// What was found in a log that is taken up again.
#[derive(Debug, Default)]
pub struct Found {
    /// `None` if the file was empty or its first line torn: the run had not begun.
    pub plan: Option<Plan>,
    pub origin: Option<Origin>,
    /// In the order of the schedule.
    pub games: Vec<MatchRecord>,
    /// Whether the last line is an event that followed from the last game: nothing was torn off behind it.
    pub ends_with_event: bool,
    /// Finished games whose turn had not come.
    pub ahead: Vec<MatchRecord>,
    /// Bytes of a torn line that were cut off.
    pub cut: u64,
}

impl Log {
    /// Makes a new log.
    ///
    /// # Errors
    ///
    /// There is a file already, or it cannot be written.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => LogError::Exists { path: path.display().to_string() },
            _ => io_error(path)(error),
        })?;
        lock(path, &file)?;
        // What is left of a run whose log was deleted belongs to nobody.
        let ahead = Ahead { path: ahead_path(path), ..Ahead::default() };
        ahead.remove()?;
        Ok(Self::new(path, file, Chain::default(), ahead))
    }

    /// Takes up a log again, or makes a new one if there is none. A torn last line is cut off.
    ///
    /// # Errors
    ///
    /// Another process writes to it, it cannot be read, or a line does not fit.
    pub fn resume(path: &Path) -> Result<(Self, Found), LogError> {
        let file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io_error(path))?;
        lock(path, &file)?;
        let mut found = Found::default();
        let tail = lines::read(path, &file, |number, line| found.add(path, number, line))?;
        file.set_len(tail.good_bytes).map_err(io_error(path))?;
        found.cut = tail.torn_bytes;
        let (ahead, waiting) = Ahead::resume(ahead_path(path))?;
        let last = found.games.last().and_then(|game| Plan::game_number(&game.id));
        found.ahead = waiting;
        found.ahead.retain(|record| Plan::game_number(&record.id) > last);
        Ok((Self::new(path, file, tail.chain, ahead), found))
    }

    /// Reads a log and leaves it as it is. A torn last line is passed over, and games that wait for their turn are left
    /// out.
    ///
    /// # Errors
    ///
    /// It cannot be read, or a line does not fit.
    pub fn read(path: &Path) -> Result<Found, LogError> {
        let file = File::open(path).map_err(io_error(path))?;
        let mut found = Found::default();
        let tail = lines::read(path, &file, |number, line| found.add(path, number, line))?;
        found.cut = tail.torn_bytes;
        Ok(found)
    }

    fn new(path: &Path, file: File, chain: Chain, ahead: Ahead) -> Self {
        Self {
            path: path.to_owned(),
            file: Arc::new(file),
            chain,
            buffer: Vec::new(),
            is_unsynced: false,
            ahead,
        }
    }

    /// Appends a line that is an event.
    ///
    /// # Panics
    ///
    /// Never: all keys of an event are text.
    pub fn event(&mut self, event: &Event) {
        let json = serde_json::to_vec(event).expect("all keys of an event are text");
        self.chain.write(&json, &mut self.buffer);
    }

    /// Appends a game, given as [`encode`] made it.
    pub fn game(&mut self, json: &[u8]) {
        self.chain.write(json, &mut self.buffer);
    }

    /// Hands everything to the system: what was appended, and the games that finished before their turn. After this,
    /// the end of the process loses nothing.
    ///
    /// # Errors
    ///
    /// The system refuses, as when the disk is full.
    pub fn flush<'a>(&mut self, ahead: impl Iterator<Item = (u64, &'a [u8])>) -> Result<(), LogError> {
        self.flush_lines()?;
        self.ahead.keep(ahead)
    }

    /// Hands what was appended to the system, and leaves the games that finished before their turn alone.
    ///
    /// # Errors
    ///
    /// As for [`Self::flush`].
    pub fn flush_lines(&mut self) -> Result<(), LogError> {
        if !self.buffer.is_empty() {
            (&*self.file).write_all(&self.buffer).map_err(io_error(&self.path))?;
            self.buffer.clear();
            self.is_unsynced = true;
        }
        Ok(())
    }

    /// The file, if something was written to it since the last call: to be synced while the run goes on.
    pub fn take_unsynced(&mut self) -> Option<Arc<File>> {
        std::mem::take(&mut self.is_unsynced).then(|| Arc::clone(&self.file))
    }

    /// Flushes and syncs at the end of a run; nothing waits for its turn any more unless the run was stopped.
    ///
    /// # Errors
    ///
    /// As for [`Self::flush`].
    pub fn close<'a>(mut self, ahead: impl Iterator<Item = (u64, &'a [u8])>) -> Result<(), LogError> {
        self.flush(ahead)?;
        self.file.sync_data().map_err(io_error(&self.path))?;
        if self.ahead.is_empty() { self.ahead.remove() } else { Ok(()) }
    }
}

/// What a record of 7x6 has at most.
const RECORD_BYTES: usize = 1536;

/// A record as it is written, without its checksum.
///
/// # Panics
///
/// Never: all keys of a record are text.
pub fn encode(record: &MatchRecord) -> Vec<u8> {
    // Longer than most, so that it need not grow.
    let mut json = Vec::with_capacity(RECORD_BYTES);
    serde_json::to_writer(&mut json, record).expect("all keys of a record are text");
    json
}

impl Found {
    fn add(&mut self, path: &Path, number: u64, json: &[u8]) -> Result<(), LogError> {
        let corrupt =
            |reason: String| LogError::Corrupt { path: path.display().to_string(), line: number, reason };
        match (parse(json).map_err(corrupt)?, &self.plan) {
            (LogEntry::Event(Event::Start { schema, plan, origin }), None) => {
                if schema != SCHEMA {
                    return Err(corrupt(format!("schema {schema}, this program knows {SCHEMA}")));
                }
                (self.plan, self.origin) = (Some(plan), origin.map(|origin| *origin));
            }
            (LogEntry::Event(Event::Start { .. }), Some(_)) => return Err(corrupt("a second start".into())),
            (_, None) => return Err(corrupt("the log does not begin with a start".into())),
            (LogEntry::Game(record), Some(_)) => {
                self.games.push(*record);
                self.ends_with_event = false;
            }
            (LogEntry::Event(Event::Suspended { .. } | Event::End { .. }), Some(_)) => {
                self.ends_with_event = true;
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct LogProbe {
    event: Option<serde::de::IgnoredAny>,
}

fn parse(json: &[u8]) -> Result<LogEntry, String> {
    let read = || {
        let probe: LogProbe = serde_json::from_slice(json)?;
        if probe.event.is_some() {
            serde_json::from_slice(json).map(LogEntry::Event)
        } else {
            serde_json::from_slice(json).map(|record| LogEntry::Game(Box::new(record)))
        }
    };
    read().map_err(|error: serde_json::Error| error.to_string())
}

fn lock(path: &Path, file: &File) -> Result<(), LogError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LogError::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(io_error(path)(error)),
    }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> LogError {
    let path = path.display().to_string();
    move |source| LogError::Io { path: path.clone(), source }
}

fn ahead_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".ahead");
    name.into()
}

/// The file of games that finished before their turn. It is there only while there are some.
#[derive(Debug, Default)]
struct Ahead {
    path: PathBuf,
    file: Option<File>,
    chain: Chain,
    /// Numbers of the games that stand in it.
    kept: BTreeSet<u64>,
}

impl Ahead {
    fn resume(path: PathBuf) -> Result<(Self, Vec<MatchRecord>), LogError> {
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok((Self { path, ..Self::default() }, Vec::new()));
            }
            Err(error) => return Err(io_error(&path)(error)),
        };
        let mut records = BTreeMap::new();
        let tail: Tail = lines::read(&path, &file, |line, json| {
            let corrupt =
                |reason: String| LogError::Corrupt { path: path.display().to_string(), line, reason };
            match parse(json).map_err(corrupt)? {
                LogEntry::Game(record) => {
                    let number = Plan::game_number(&record.id).ok_or_else(|| corrupt("no number".into()))?;
                    records.insert(number, *record);
                    Ok(())
                }
                LogEntry::Event(_) => Err(corrupt("an event".into())),
            }
        })?;
        file.set_len(tail.good_bytes).map_err(io_error(&path))?;
        let kept = records.keys().copied().collect();
        Ok((Self { path, file: Some(file), chain: tail.chain, kept }, records.into_values().collect()))
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Makes the file hold these games; it may still hold others whose turn has come.
    fn keep<'a>(&mut self, waiting: impl Iterator<Item = (u64, &'a [u8])>) -> Result<(), LogError> {
        let mut is_empty = true;
        let mut lines = Vec::new();
        for (number, json) in waiting {
            is_empty = false;
            if self.kept.insert(number) {
                self.chain.write(json, &mut lines);
            }
        }
        if is_empty && !self.kept.is_empty() {
            self.kept.clear();
            self.chain = Chain::default();
            if let Some(file) = &self.file {
                file.set_len(0).map_err(io_error(&self.path))?;
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            let file = OpenOptions::new().read(true).append(true).create(true).open(&self.path);
            self.file = Some(file.map_err(io_error(&self.path))?);
        }
        self.file.as_ref().map_or(Ok(()), |mut file| file.write_all(&lines)).map_err(io_error(&self.path))
    }

    fn remove(&self) -> Result<(), LogError> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&self.path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
