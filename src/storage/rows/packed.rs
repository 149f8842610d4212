//! The log of a finished game as a few bytes: what some twenty rows were becomes one, a sixth as long.
//!
//! What happened is numbers, each told as its difference from the one before, in as many bytes as it needs (LEB128, and
//! zigzag for those that may be negative). What bots thought stands apart and compressed, for it is three times as much
//! and may go one day. How a game ended stands in columns of its own: statements ask for it.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | [`VERSION`] |
//! | for each event | its code, then the changes of the first clock, of the second and of the time, each zigzag |
//! | after a move, whose code is the column | milliseconds spent, and those credited |
//! | after a takeback | plies |
//!
//! Notes are, for each move, the length of its note plus one or 0 for none, and the note; all of it deflated
//! (RFC 1951).

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use fourfold_engine::Column;

use super::bytes::{Bytes, FINISHED, Moment, PAUSED, TAKEBACK, code, put, put_note};
use super::{Damage, word};
use crate::storage::record::{Ending, EventKind, StoredEvent, StoredMove};

/// Of the form; another one would be read beside it.
const VERSION: u8 = 1;

/// All that bots thought in one game, unpacked, has at most so many bytes: a hundred times what a full board of
/// 12x8 with the longest notes takes. So a damaged store costs no memory. A game in which moves were taken back for so
/// long that it has more stays as it is.
const NOTES_MAX: u64 = 8 * 1_024 * 1_024;

/// Bytes of an event in the mean, to reserve room once.
const EVENT_BYTES: usize = 10;

/// A log that has come to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::storage) struct PackedLog {
    pub(in crate::storage) events: Vec<u8>,
    /// What bots thought; nothing if they said nothing.
    pub(in crate::storage) notes: Option<Vec<u8>>,
    pub(in crate::storage) ending: Ending,
}

/// Selects [`PackedRow`]s of games, whole and with something in the place of the notes.
macro_rules! select_packed {
    ($games:literal, $nothing:literal) => {
        (
            concat!(
                "SELECT game, events, notes, result, reason, at_fault FROM packed_log WHERE game ",
                $games
            ),
            concat!(
                "SELECT game, events, ",
                $nothing,
                " AS notes, result, reason, at_fault FROM packed_log WHERE game ",
                $games
            ),
        )
    };
}
pub(crate) use select_packed;

row! {
    /// A row of the table.
    #[derive(Debug)]
    pub(crate) struct PackedRow {
        pub(crate) game: i64,
        events: Vec<u8>,
        notes: Option<Vec<u8>>,
        result: String,
        reason: String,
        at_fault: Option<String>,
    }
}

impl PackedRow {
    pub(super) fn decode(self) -> Result<PackedLog, Damage> {
        let ending = Ending {
            result: word("packed_log.result", &self.result)?,
            reason: word("packed_log.reason", &self.reason)?,
            by: self.at_fault.as_deref().map(|side| word("packed_log.at_fault", side)).transpose()?,
        };
        Ok(PackedLog { events: self.events, notes: self.notes, ending })
    }
}

/// A log that is packed as it grows, so that at the end of a game nothing of it is left to be read.
#[derive(Clone, Default, Debug)]
pub(in crate::storage) struct GrowingLog {
    events: Vec<u8>,
    /// What bots thought, not deflated yet.
    notes: Vec<u8>,
    has_notes: bool,
    last: Moment,
}

/// How far a log had grown.
#[derive(Clone, Copy, Debug)]
pub(in crate::storage) struct LogMark {
    events: usize,
    notes: usize,
    has_notes: bool,
    last: Moment,
}

impl GrowingLog {
    pub(in crate::storage) fn of(log: &[StoredEvent]) -> Self {
        let mut growing = Self::default();
        growing.events.reserve(1 + log.len() * EVENT_BYTES);
        for event in log {
            growing.push(event);
        }
        growing
    }

    /// Adds the event that is due.
    pub(in crate::storage) fn push(&mut self, event: &StoredEvent) {
        if self.events.is_empty() {
            self.events.push(VERSION);
        }
        let now = Moment::of(event);
        self.events.push(code(&event.kind));
        now.put_since(self.last, &mut self.events);
        match &event.kind {
            EventKind::Move(played) => {
                put(&mut self.events, played.spent_ms);
                put(&mut self.events, played.credited_ms);
                put_note(&mut self.notes, played.info.as_deref());
                self.has_notes |= played.info.is_some();
            }
            EventKind::Takeback { plies } => put(&mut self.events, *plies),
            EventKind::Paused | EventKind::Finished(_) => {}
        }
        self.last = now;
    }

    pub(in crate::storage) fn mark(&self) -> LogMark {
        let Self { has_notes, last, .. } = *self;
        LogMark { events: self.events.len(), notes: self.notes.len(), has_notes, last }
    }

    /// Forgets what came after a mark.
    pub(in crate::storage) fn go_back(&mut self, mark: LogMark) {
        self.events.truncate(mark.events);
        self.notes.truncate(mark.notes);
        (self.has_notes, self.last) = (mark.has_notes, mark.last);
    }

    /// The events, numbered from 1. If they end with an end, the game ended so.
    pub(in crate::storage) fn read(&self, ending: Option<Ending>) -> Result<Vec<StoredEvent>, Damage> {
        unpack(&self.events, Some(&self.notes), ending)
    }

    /// The log whose last event says that the game ended so; nothing if it has too many notes.
    pub(in crate::storage) fn packed(&self, ending: Ending) -> Option<PackedLog> {
        if self.notes.len() as u64 > NOTES_MAX {
            return None;
        }
        let notes = if self.has_notes { Some(deflated(&self.notes)?) } else { None };
        Some(PackedLog { events: self.events.clone(), notes, ending })
    }
}

impl PackedLog {
    /// Packs a log; nothing if it does not end with an end, and only there, or has too many notes.
    pub(in crate::storage) fn of(log: &[StoredEvent]) -> Option<Self> {
        let (last, before) = log.split_last()?;
        let EventKind::Finished(ending) = last.kind else { return None };
        if before.iter().any(|event| matches!(event.kind, EventKind::Finished(_))) {
            return None;
        }
        GrowingLog::of(log).packed(ending)
    }

    /// The events again, numbered from 1.
    pub(in crate::storage) fn unpack(&self) -> Result<Vec<StoredEvent>, Damage> {
        let notes = self.notes.as_deref().map(unpack_notes).transpose()?;
        unpack(&self.events, notes.as_deref(), Some(self.ending))
    }
}

/// The events, with the notes of all moves if they are there, up to the end if there must be one.
fn unpack(events: &[u8], notes: Option<&[u8]>, ending: Option<Ending>) -> Result<Vec<StoredEvent>, Damage> {
    let mut bytes = Bytes::of("packed_log.events", events);
    if bytes.is_empty() && ending.is_none() {
        return Ok(Vec::new());
    }
    match bytes.take_byte()? {
        VERSION => {}
        other => return Err(Damage::value("version of packed_log.events", other)),
    }
    let mut notes = notes.map(|notes| Bytes::of("packed_log.notes", notes));
    let mut log = Vec::with_capacity(bytes.len() / EVENT_BYTES + 1);
    let mut now = Moment::default();
    while !bytes.is_empty() {
        let seq = u32::try_from(log.len() + 1).map_err(|_| Damage("there are too many events".into()))?;
        let code = bytes.take_byte()?;
        now = now.take_next(&mut bytes)?;
        let kind = match (code, ending) {
            (TAKEBACK, _) => EventKind::Takeback { plies: bytes.take()? },
            (PAUSED, _) => EventKind::Paused,
            (FINISHED, Some(ending)) => EventKind::Finished(ending),
            (column, _) => EventKind::Move(StoredMove {
                column: Column::from_number(column).ok_or_else(|| Damage::value("column_no", column))?,
                spent_ms: bytes.take()?,
                credited_ms: bytes.take()?,
                info: notes.as_mut().map(Bytes::take_note).transpose()?.flatten(),
            }),
        };
        let is_end = matches!(kind, EventKind::Finished(_));
        if ending.is_some() && is_end != bytes.is_empty() {
            return Err(Damage("packed_log.events does not end with the end".into()));
        }
        log.push(now.event(seq, kind)?);
    }
    if notes.is_some_and(|notes| !notes.is_empty()) {
        return Err(Damage("packed_log.notes has more than the moves".into()));
    }
    Ok(log)
}

fn deflated(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // Writing to memory never fails.
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

fn unpack_notes(packed: &[u8]) -> Result<Vec<u8>, Damage> {
    let mut plain = Vec::new();
    let read = DeflateDecoder::new(packed).take(NOTES_MAX).read_to_end(&mut plain);
    read.map_err(|error| Damage(format!("packed_log.notes: {error}")))?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{BySide, Side};
    use proptest::prelude::*;

    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::model::time::UnixMillis;

    fn ending() -> Ending {
        Ending { result: GameResult::First, reason: EndReason::Time, by: Some(Side::Second) }
    }

    fn log(kinds: Vec<EventKind>, moments: &[(u64, u64, i64)]) -> Vec<StoredEvent> {
        let event = |(seq, (kind, &(first, second, at)))| StoredEvent {
            seq,
            kind,
            clock_ms: BySide { first, second },
            at: UnixMillis(at),
        };
        (1..).zip(kinds.into_iter().zip(moments)).map(event).collect()
    }

    fn played(column: u8, spent_ms: u64, credited_ms: u64, info: Option<&str>) -> EventKind {
        let column = Column::from_number(column).unwrap();
        EventKind::Move(StoredMove { column, spent_ms, credited_ms, info: info.map(Into::into) })
    }

    #[test]
    fn a_log_comes_back_as_it_was() {
        let kinds = vec![
            played(4, 1_200, 30, Some(r#"{"depth":12,"score":-3}"#)),
            EventKind::Paused,
            played(1, u64::MAX >> 1, 0, None),
            EventKind::Takeback { plies: u32::MAX },
            played(7, 0, 0, Some("")),
            EventKind::Finished(ending()),
        ];
        let most = i64::MAX.unsigned_abs();
        let moments = [(0, 0, 1), (most, 0, i64::MAX), (0, most, i64::MIN), (5, 5, 0), (5, 4, 1), (5, 4, 1)];
        let log = log(kinds, &moments);
        let packed = PackedLog::of(&log).unwrap();
        assert_eq!(packed.unpack().unwrap(), log);
        let without = PackedLog { notes: None, ..packed };
        let moves = without.unpack().unwrap();
        assert!(moves.iter().all(|event| !matches!(&event.kind, EventKind::Move(m) if m.info.is_some())));
    }

    #[test]
    fn a_usual_game_takes_some_nine_bytes_an_event() {
        let kinds = (0..22).map(|ply: u8| played(ply % 7 + 1, 400 + u64::from(ply), 20, None));
        let kinds: Vec<_> = kinds.chain([EventKind::Finished(ending())]).collect();
        let moment = |ply: u32| {
            let spent = u64::from(ply);
            (60_000 - spent * 190, 59_000 - spent * 210, 1_760_000_000_000 + 431 * i64::from(ply))
        };
        let packed = PackedLog::of(&log(kinds, &(0..23).map(moment).collect::<Vec<_>>())).unwrap();
        assert!(packed.events.len() < 240, "{}", packed.events.len());
        assert_eq!(packed.notes, None);
    }

    #[test]
    fn what_has_not_ended_is_not_packed() {
        assert_eq!(PackedLog::of(&[]), None);
        assert_eq!(PackedLog::of(&log(vec![EventKind::Paused], &[(1, 1, 1)])), None);
        let twice = vec![EventKind::Finished(ending()), EventKind::Finished(ending())];
        assert_eq!(PackedLog::of(&log(twice, &[(1, 1, 1); 2])), None);
    }

    #[test]
    fn notes_are_no_way_to_fill_the_memory() {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![0; 64 << 20]).unwrap();
        let bomb = encoder.finish().unwrap();
        assert_eq!(unpack_notes(&bomb).unwrap().len() as u64, NOTES_MAX);
    }

    #[test]
    fn what_could_not_be_read_back_is_not_packed() {
        let note = "x".repeat(512);
        let longest = usize::try_from(NOTES_MAX).unwrap() / (note.len() + 2);
        for (moves, is_packed) in [(longest, true), (longest + 1, false)] {
            let kinds = (0..moves).map(|_| played(4, 1, 0, Some(&note)));
            let kinds: Vec<_> = kinds.chain([EventKind::Finished(ending())]).collect();
            let log = log(kinds, &vec![(1, 1, 1); moves + 1]);
            let packed = PackedLog::of(&log);
            assert_eq!(packed.is_some(), is_packed);
            assert!(packed.is_none_or(|packed| packed.unpack().unwrap() == log));
        }
    }

    #[test]
    fn damage_is_named() {
        let whole = PackedLog::of(&log(vec![EventKind::Finished(ending())], &[(1, 2, 3)])).unwrap();
        let of = |events: &[u8], notes: Option<&[u8]>| {
            let notes = notes.map(<[u8]>::to_vec);
            let Damage(what) =
                PackedLog { events: events.to_vec(), notes, ..whole.clone() }.unpack().unwrap_err();
            what
        };
        assert_eq!(of(&[], None), "packed_log.events ends too early");
        assert_eq!(of(&[2], None), "version of packed_log.events is 2");
        assert_eq!(of(&[1, 4, 0, 0], None), "packed_log.events ends within a number");
        assert_eq!(of(&[1, 0, 0, 0, 0, 0, 0], None), "column_no is 0");
        assert_eq!(of(&[1, 0xff, 1, 0, 0], None), "first_ms is -1");
        assert_eq!(of(&[1, 0xfe, 0, 0, 0], None), "packed_log.events does not end with the end");
        assert_eq!(
            of(&[1, 0xff, 0, 0, 0, 0xfe, 0, 0, 0], None),
            "packed_log.events does not end with the end"
        );
        let deflated = |plain: &[u8]| {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        };
        let one_move = [1, 4, 0, 0, 0, 0, 0, 0xff, 0, 0, 0];
        assert_eq!(of(&one_move, Some(&deflated(&[9, b'a']))), "packed_log.notes ends too early");
        assert_eq!(of(&one_move, Some(&deflated(&[]))), "packed_log.notes ends within a number");
        assert_eq!(of(&one_move, Some(&deflated(&[2, 0xff]))), "a note in packed_log.notes is no text");
        assert_eq!(of(&one_move, Some(&deflated(&[0, 0]))), "packed_log.notes has more than the moves");
        assert!(of(&one_move, Some(&[0xff])).starts_with("packed_log.notes: "));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(events: Vec<u8>, notes: Option<Vec<u8>>) {
            let _ = PackedLog { events, notes, ending: ending() }.unpack();
        }
    }
}
