//! What a log is held against, after crashes of every kind: damage is found, and a sound database never refused.

use std::ops::Range;

use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::model::player::PlayerKind;
use crate::storage::Store;
use crate::storage::conformance::{add, add_players, moves, player, spec};
use crate::storage::games::GameStore;
use crate::storage::sqlite::{OpenError, SqliteStore};
use crate::storage::store::Write;

const LOG_HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

/// The files that a crash leaves, at one moment.
#[derive(Clone)]
struct Crash {
    database: Vec<u8>,
    log: Option<Vec<u8>>,
    marker: Vec<u8>,
}

/// A store in use, whose files can be looked at as a crash would leave them.
struct InUse {
    _directory: tempfile::TempDir,
    path: PathBuf,
    store: SqliteStore,
}

impl InUse {
    async fn new(durability: Durability) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let store = SqliteStore::open(&path, durability).await.unwrap();
        add_players(&store, &["Ada", "Bob"]).await;
        store.commit(&[Write::StartGame(spec("g1", "Ada", "Bob"))]).await.unwrap();
        Self { _directory: directory, path, store }
    }

    /// Commits moves, each in a transaction of its own.
    async fn play(&self, plies: Range<u32>) {
        let game = spec("g1", "Ada", "Bob").id;
        for seq in plies {
            let mut one = moves("4");
            one[0].seq = seq;
            self.store.commit(&[Write::Append { game: game.clone(), events: one }]).await.unwrap();
        }
    }

    fn crash(&self) -> Crash {
        let read = |ending| fs::read(beside(&self.path, ending)).unwrap();
        Crash { database: read(""), log: Some(read("-wal")), marker: read("-running") }
    }
}

impl Crash {
    fn lay_out(&self) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        fs::write(&path, &self.database).unwrap();
        fs::write(super::path(&path), &self.marker).unwrap();
        if let Some(log) = &self.log {
            fs::write(beside(&path, "-wal"), log).unwrap();
        }
        (directory, path)
    }

    fn note(&self) -> Note {
        let (_directory, path) = self.lay_out();
        match LastStop::read(&path).unwrap() {
            LastStop::Unclean(Some(note)) => note,
            other => panic!("{other:?}"),
        }
    }

    /// What a start makes of the log, without the rest of it.
    fn verdict(&self) -> LogVerdict {
        let (_directory, path) = self.lay_out();
        self.note().check(&path).unwrap()
    }

    fn with_log(&self, log: impl Into<Option<Vec<u8>>>) -> Self {
        Self { log: log.into(), ..self.clone() }
    }

    fn log(&self) -> &Vec<u8> {
        self.log.as_ref().unwrap()
    }

    fn frames(&self) -> usize {
        (self.log().len() - LOG_HEADER) / FRAME
    }

    async fn open(&self) -> Result<String, OpenError> {
        let (_directory, path) = self.lay_out();
        let store = SqliteStore::open(&path, Durability::Strict).await?;
        let moves = store.live_games().await.unwrap()[0].moves();
        store.close().await.unwrap();
        Ok(moves)
    }

    async fn check_refused(&self, found: &str) {
        let (_directory, path) = self.lay_out();
        let error = SqliteStore::open(&path, Durability::Strict).await.unwrap_err();
        assert_eq!(error.exit_code(), 65, "{error}");
        assert!(error.to_string().contains(found), "{error}");
        assert!(error.to_string().contains("remove"), "{error}");
        // Nothing was touched, so that the log can still be put back.
        assert_eq!(fs::read(&path).unwrap(), self.database);
        assert_eq!(files::read_if_there(&beside(&path, "-wal")).unwrap(), self.log);
        assert_eq!(fs::read(super::path(&path)).unwrap(), self.marker);
    }
}

fn cut(log: &[u8], bytes: usize) -> Vec<u8> {
    log[..bytes].to_vec()
}

fn flipped(log: &[u8], offset: usize) -> Vec<u8> {
    let mut log = log.to_vec();
    log[offset] ^= 0x10;
    log
}

#[tokio::test]
async fn a_lost_or_damaged_log_is_found() {
    let arena = InUse::new(Durability::Strict).await;
    arena.play(1..20).await;
    arena.store.note_now().await;
    let crash = arena.crash();
    assert_eq!(crash.open().await.unwrap(), "4".repeat(19), "whole as it is");
    let log = crash.log();
    let mut headless = log.clone();
    headless[..LOG_HEADER].fill(0xa5);
    crash.with_log(None).check_refused("is missing").await;
    crash.with_log(vec![]).check_refused("is empty").await;
    crash.with_log(headless).check_refused("has a damaged header").await;
    crash.with_log(cut(log, 16)).check_refused("has a damaged header").await;
    crash.with_log(cut(log, LOG_HEADER)).check_refused("has 0 intact frames").await;
    crash.with_log(cut(log, log.len() / 2)).check_refused("intact frames, at least").await;
    crash.with_log(cut(log, log.len() - 1)).check_refused("intact frames, at least").await;
    crash.with_log(flipped(log, log.len() / 2)).check_refused("intact frames, at least").await;
    // A log of an earlier time, which is sound in itself.
    arena.store.probe().await.unwrap();
    arena.play(20..22).await;
    arena.store.note_now().await;
    arena.crash().with_log(log.clone()).check_refused("is one of an earlier time").await;
}

#[tokio::test]
async fn what_was_said_to_do_about_a_lost_log_helps() {
    let arena = InUse::new(Durability::Strict).await;
    arena.play(1..5).await;
    arena.store.note_now().await;
    let crash = arena.crash().with_log(None);
    let (_directory, path) = crash.lay_out();
    SqliteStore::open(&path, Durability::Strict).await.unwrap_err();
    fs::remove_file(super::path(&path)).unwrap();
    SqliteStore::open(&path, Durability::Strict).await.unwrap().close().await.unwrap();
}

/// Every byte of a log that was noted whole counts: header, frames' headers, pages.
#[tokio::test]
async fn a_flipped_byte_anywhere_before_the_note_is_found() {
    let arena = InUse::new(Durability::Strict).await;
    arena.play(1..30).await;
    arena.store.note_now().await;
    let crash = arena.crash();
    let noted = crash.note().position.unwrap().frames as usize;
    let end = LOG_HEADER + noted * FRAME;
    let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(7);
    let random: Vec<usize> = (0..500).map(|_| rng.random_range(0..end)).collect();
    for offset in (0..LOG_HEADER + 24).chain(random) {
        let verdict = crash.with_log(flipped(crash.log(), offset)).verdict();
        assert!(matches!(verdict, LogVerdict::Lost(_)), "byte {offset} of {end}: {verdict:?}");
    }
}

/// Behind the note only the last transaction is beyond reach, as it may be half written.
#[tokio::test]
async fn behind_the_note_all_but_the_last_transaction_is_still_watched() {
    let arena = InUse::new(Durability::Strict).await;
    arena.store.note_now().await;
    let marker = arena.crash().marker;
    arena.play(1..30).await;
    let crash = Crash { marker, ..arena.crash() };
    let noted = crash.note().position.unwrap().frames as usize;
    let last = last_transaction(&crash);
    assert!(noted + 20 < last, "{noted} {last}");
    let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(8);
    for _ in 0..300 {
        let frame = rng.random_range(noted..crash.frames());
        let offset = LOG_HEADER + frame * FRAME + rng.random_range(0..FRAME);
        let verdict = crash.with_log(flipped(crash.log(), offset)).verdict();
        let is_found = matches!(verdict, LogVerdict::Lost(_));
        // A flip in the end of the one before the last leaves one end behind it, as a half-written one would.
        if frame + 1 < second_last_end(&crash) {
            assert!(is_found, "frame {frame} of {}: {verdict:?}", crash.frames());
        } else if frame >= last {
            assert!(!is_found, "frame {frame} may be half written: {verdict:?}");
        }
    }
}

/// Which frames of a log end a transaction, counted from 0.
fn ends(crash: &Crash) -> Vec<usize> {
    let is_end = |frame: &usize| {
        let start = LOG_HEADER + frame * FRAME;
        crash.log()[start + 4..start + 8] != [0; 4]
    };
    (0..crash.frames()).filter(is_end).collect()
}

/// The first frame of the last transaction.
fn last_transaction(crash: &Crash) -> usize {
    let ends = ends(crash);
    ends[ends.len() - 2] + 1
}

fn second_last_end(crash: &Crash) -> usize {
    let ends = ends(crash);
    ends[ends.len() - 2]
}

/// The power may go at any moment of a commit: the log then ends anywhere behind the note, or has holes in its last
/// transaction.
#[tokio::test]
async fn a_commit_that_the_power_cut_short_is_no_damage() {
    let arena = InUse::new(Durability::Strict).await;
    arena.play(1..4).await;
    arena.store.note_now().await;
    let before = arena.crash();
    // One transaction of many frames.
    let names: Vec<String> = (0..200).map(|n| format!("a-long-name-{n}")).collect();
    let all = names.iter().map(|name| add(player(name, PlayerKind::Human)));
    arena.store.commit(&all.collect::<Vec<_>>()).await.unwrap();
    let after = Crash { marker: before.marker.clone(), ..arena.crash() };
    assert!(after.frames() > before.frames() + 3);
    for bytes in (before.log().len()..after.log().len()).step_by(97) {
        let verdict = after.with_log(cut(after.log(), bytes)).verdict();
        assert_eq!(verdict, LogVerdict::Whole, "cut at {bytes}");
    }
    for hole in before.frames()..after.frames() {
        let mut log = after.log().clone();
        log[LOG_HEADER + hole * FRAME..][..FRAME].fill(0);
        let torn = after.with_log(log);
        assert_eq!(torn.verdict(), LogVerdict::Whole, "a hole at {hole}");
        assert_eq!(torn.open().await.unwrap(), "444", "a hole at {hole}");
    }
}

/// What can be on the disk at each step of a life: the files as they are, and any marker that was written since the
/// last one that had to be there.
struct Life {
    crashes: Vec<Crash>,
    /// The oldest marker that may be left at each step: emptying the log waits for its own.
    floors: Vec<usize>,
}

impl Life {
    fn step(&mut self, arena: &InUse) {
        let floor = self.floors.last().copied().unwrap_or(0);
        self.crashes.push(arena.crash());
        self.floors.push(floor);
    }

    fn emptied(&mut self, arena: &InUse) {
        self.step(arena);
        *self.floors.last_mut().unwrap() = self.crashes.len() - 1;
    }
}

#[tokio::test]
async fn no_interleaving_of_notes_commits_and_checkpoints_is_refused() {
    let mut life = Life { crashes: Vec::new(), floors: Vec::new() };
    let arena = InUse::new(Durability::Strict).await;
    life.step(&arena);
    let mut seq = 1;
    for round in 0..6 {
        arena.play(seq..seq + 2).await;
        life.step(&arena);
        arena.store.note_now().await;
        life.step(&arena);
        arena.play(seq + 2..seq + 3).await;
        life.step(&arena);
        match round % 3 {
            // All of the log is moved, and the next commit begins it anew.
            0 => arena.store.execute("PRAGMA wal_checkpoint(RESTART)").await,
            // A part may be moved.
            1 => arena.store.execute("PRAGMA wal_checkpoint(PASSIVE)").await,
            // It is emptied, as when the disk is full.
            _ => {
                arena.store.probe().await.unwrap();
                life.emptied(&arena);
            }
        }
        life.step(&arena);
        seq += 3;
    }
    for (step, crash) in life.crashes.iter().enumerate() {
        for older in life.floors[step]..=step {
            let marker = life.crashes[older].marker.clone();
            let mixed = Crash { marker: marker.clone(), ..crash.clone() };
            assert_ne!(lost(&mixed), Some(true), "step {step} with the marker of {older}");
            // The write of the newest slot was cut short; what it said had not been relied on yet.
            if older > life.floors[step] {
                let torn = Crash { marker: torn(&marker), ..crash.clone() };
                assert_ne!(lost(&torn), Some(true), "step {step} with the torn marker of {older}");
            }
        }
    }
    // Opened in earnest, each has the game as it was.
    for crash in life.crashes.iter().step_by(5) {
        crash.open().await.unwrap();
    }
}

/// Whether writes are missed; `None` if the marker says nothing.
fn lost(crash: &Crash) -> Option<bool> {
    let (_directory, path) = crash.lay_out();
    match LastStop::read(&path).unwrap() {
        LastStop::Unclean(Some(note)) => Some(matches!(note.check(&path).unwrap(), LogVerdict::Lost(_))),
        LastStop::Unclean(None) | LastStop::Clean => None,
    }
}

/// A marker whose newest slot was half written.
fn torn(marker: &[u8]) -> Vec<u8> {
    let far = usize::try_from(SLOTS_APART).unwrap();
    let sequence = newest(marker).unwrap().0;
    let start = if sequence.is_multiple_of(2) { 0 } else { far };
    let mut torn = marker.to_vec();
    torn[start + 20..start + 40].fill(0x5a);
    torn
}

#[tokio::test]
async fn a_start_that_dies_at_once_leaves_a_database_that_starts() {
    let arena = InUse::new(Durability::Strict).await;
    arena.play(1..8).await;
    arena.store.note_now().await;
    let crash = arena.crash();
    // The next process has said that the log may be gone, and SQLite has moved and removed it.
    let (_directory, path) = crash.lay_out();
    let marker = Marker::begin(&path, &LastStop::read(&path).unwrap(), Durability::Strict).unwrap();
    let begun = Crash { marker: fs::read(super::path(&path)).unwrap(), ..crash.clone() };
    assert_eq!(begun.open().await.unwrap(), "4444444", "before it did");
    SqliteStore::open(&path, Durability::Strict).await.unwrap().close().await.unwrap();
    let moved = Crash { database: fs::read(&path).unwrap(), log: None, ..begun };
    assert_eq!(moved.open().await.unwrap(), "4444444", "and after");
    drop(marker);
}

#[tokio::test]
async fn relaxed_may_lose_the_end_and_says_so() {
    let arena = InUse::new(Durability::Relaxed).await;
    arena.play(1..9).await;
    arena.store.note_now().await;
    let crash = arena.crash();
    let shorter = crash.with_log(cut(crash.log(), crash.log().len() - FRAME));
    assert!(matches!(shorter.verdict(), LogVerdict::Shortened(_)));
    shorter.open().await.unwrap();
    let (_directory, path) = shorter.lay_out();
    let strict = Note { is_strict: true, ..shorter.note() };
    assert!(matches!(strict.check(&path).unwrap(), LogVerdict::Lost(_)), "strict never may");
    assert!(matches!(crash.with_log(None).verdict(), LogVerdict::Lost(_)), "there was one");
}

#[tokio::test]
async fn markers_of_version_0_1_0_are_understood() {
    let arena = InUse::new(Durability::Strict).await;
    let crash = Crash { marker: b"running\n".to_vec(), ..arena.crash() };
    crash.open().await.unwrap();
    crash.with_log(None).check_refused("is missing").await;
    let dropped = Crash { marker: b"dropped\n".to_vec(), ..crash };
    dropped.open().await.unwrap();
}

/// The disk may have been full when the marker was to be written, or the power gone.
#[tokio::test]
async fn a_marker_that_was_begun_and_not_written_is_no_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.db");
    SqliteStore::open(&path, Durability::Strict).await.unwrap().close().await.unwrap();
    for content in [vec![], vec![0; 576]] {
        fs::write(super::path(&path), content).unwrap();
        SqliteStore::open(&path, Durability::Strict).await.unwrap().close().await.unwrap();
    }
}

#[test]
fn a_note_reads_back_and_a_changed_one_does_not() {
    let position = LogPosition { generation: 3, salts: [1, 2], frames: 9, checksum: [7, 8] };
    let note = Note { position: Some(position), is_strict: false, began_empty: true, ..Note::nothing() };
    let slot = note.slot(5);
    assert_eq!(Note::parse(&slot), Some((5, note)));
    for byte in 0..SLOT_BYTES {
        let mut changed = slot;
        changed[byte] ^= 1;
        assert_eq!(Note::parse(&changed), None, "byte {byte}");
    }
}

#[tokio::test]
async fn the_marker_is_for_its_owner_alone() {
    let arena = InUse::new(Durability::Strict).await;
    let mode = fs::metadata(super::path(&arena.path)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, MODE);
}
