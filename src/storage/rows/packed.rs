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
use fourfold_engine::{BySide, Column};
use integer_encoding::VarInt;

use super::{Damage, number, to_sql, word};
use crate::model::time::UnixMillis;
use crate::storage::record::{Ending, EventKind, StoredEvent, StoredMove};

/// Of the form; another one would be read beside it.
const VERSION: u8 = 1;

/// Codes of what is no move. Columns begin at 1 and end far below.
const TAKEBACK: u8 = 0xfd;
const PAUSED: u8 = 0xfe;
const FINISHED: u8 = 0xff;

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

/// What an event says after the one before it.
#[derive(Clone, Copy, Default)]
struct Moment {
    first_ms: i64,
    second_ms: i64,
    at: i64,
}

impl Moment {
    fn of(event: &StoredEvent) -> Self {
        let BySide { first, second } = event.clock_ms;
        Self { first_ms: to_sql(first), second_ms: to_sql(second), at: event.at.0 }
    }

    fn numbers(self) -> [i64; 3] {
        [self.first_ms, self.second_ms, self.at]
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
        let mut events = Vec::with_capacity(1 + log.len() * EVENT_BYTES);
        events.push(VERSION);
        let mut previous = Moment::default();
        for event in log {
            let now = Moment::of(event);
            events.push(code(&event.kind));
            for (now, before) in now.numbers().into_iter().zip(previous.numbers()) {
                put(&mut events, now.wrapping_sub(before));
            }
            match &event.kind {
                EventKind::Move(played) => {
                    put(&mut events, played.spent_ms);
                    put(&mut events, played.credited_ms);
                }
                EventKind::Takeback { plies } => put(&mut events, *plies),
                EventKind::Paused | EventKind::Finished(_) => {}
            }
            previous = now;
        }
        let notes = plain_notes(log);
        if notes.len() as u64 > NOTES_MAX {
            return None;
        }
        let notes = if notes.is_empty() { None } else { Some(deflated(&notes)?) };
        Some(Self { events, notes, ending })
    }

    /// The events again, numbered from 1.
    pub(in crate::storage) fn unpack(&self) -> Result<Vec<StoredEvent>, Damage> {
        let mut bytes = self.events.as_slice();
        match take_byte(&mut bytes, "packed_log.events")? {
            VERSION => {}
            other => return Err(Damage::value("version of packed_log.events", other)),
        }
        let notes = self.notes.as_deref().map(unpack_notes).transpose()?;
        let mut notes = notes.as_deref();
        let mut log = Vec::with_capacity(bytes.len() / EVENT_BYTES + 1);
        let mut at = Moment::default();
        while !bytes.is_empty() {
            let seq = u32::try_from(log.len() + 1).map_err(|_| Damage("there are too many events".into()))?;
            let code = take_byte(&mut bytes, "packed_log.events")?;
            for place in [&mut at.first_ms, &mut at.second_ms, &mut at.at] {
                *place = place.wrapping_add(take::<i64>(&mut bytes)?);
            }
            let kind = self.kind_of(code, &mut bytes, &mut notes)?;
            let is_end = matches!(kind, EventKind::Finished(_));
            if is_end != bytes.is_empty() {
                return Err(Damage("packed_log.events does not end with the end".into()));
            }
            let clock_ms = BySide {
                first: number("first_ms", at.first_ms)?,
                second: number("second_ms", at.second_ms)?,
            };
            log.push(StoredEvent { seq, kind, clock_ms, at: UnixMillis(at.at) });
        }
        match notes {
            Some([_, ..]) => Err(Damage("packed_log.notes has more than the moves".into())),
            _ => Ok(log),
        }
    }

    fn kind_of(&self, code: u8, bytes: &mut &[u8], notes: &mut Option<&[u8]>) -> Result<EventKind, Damage> {
        Ok(match code {
            TAKEBACK => EventKind::Takeback { plies: take(bytes)? },
            PAUSED => EventKind::Paused,
            FINISHED => EventKind::Finished(self.ending),
            column => EventKind::Move(StoredMove {
                column: Column::from_number(column).ok_or_else(|| Damage::value("column_no", column))?,
                spent_ms: take(bytes)?,
                credited_ms: take(bytes)?,
                info: notes.as_mut().map(take_note).transpose()?.flatten(),
            }),
        })
    }
}

fn code(kind: &EventKind) -> u8 {
    match kind {
        EventKind::Move(played) => played.column.number(),
        EventKind::Takeback { .. } => TAKEBACK,
        EventKind::Paused => PAUSED,
        EventKind::Finished(_) => FINISHED,
    }
}

/// The notes of all moves; empty if there are none.
fn plain_notes(log: &[StoredEvent]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut are_there = false;
    for event in log {
        let EventKind::Move(played) = &event.kind else { continue };
        let note = played.info.as_deref();
        are_there |= note.is_some();
        put(&mut plain, note.map_or(0, |note| note.len() as u64 + 1));
        plain.extend_from_slice(note.unwrap_or_default().as_bytes());
    }
    if are_there { plain } else { Vec::new() }
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

fn take_note(notes: &mut &[u8]) -> Result<Option<Box<str>>, Damage> {
    let ended = || Damage("packed_log.notes ends too early".into());
    let Some(length) = take_from::<u64>(notes, "packed_log.notes")?.checked_sub(1) else { return Ok(None) };
    let length = usize::try_from(length).map_err(|_| ended())?;
    let (note, rest) = notes.split_at_checked(length).ok_or_else(ended)?;
    *notes = rest;
    let note = std::str::from_utf8(note).map_err(|_| Damage("packed_log.notes is no text".into()))?;
    Ok(Some(note.into()))
}

fn put(bytes: &mut Vec<u8>, value: impl VarInt) {
    // Ten bytes hold every number of 64 bits.
    let mut buffer = [0; 10];
    let length = value.encode_var(&mut buffer);
    bytes.extend_from_slice(&buffer[..length]);
}

fn take<T: VarInt>(bytes: &mut &[u8]) -> Result<T, Damage> {
    take_from(bytes, "packed_log.events")
}

fn take_from<T: VarInt>(bytes: &mut &[u8], column: &str) -> Result<T, Damage> {
    let decoded = T::decode_var(bytes);
    let (value, length) = decoded.ok_or_else(|| Damage(format!("{column} ends within a number")))?;
    *bytes = bytes.get(length..).unwrap_or_default();
    Ok(value)
}

fn take_byte(bytes: &mut &[u8], column: &str) -> Result<u8, Damage> {
    let (first, rest) = bytes.split_first().ok_or_else(|| Damage(format!("{column} ends too early")))?;
    *bytes = rest;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Side;
    use proptest::prelude::*;

    use super::*;
    use crate::model::result::{EndReason, GameResult};

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
        assert_eq!(of(&one_move, Some(&deflated(&[2, 0xff]))), "packed_log.notes is no text");
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
