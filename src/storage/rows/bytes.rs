//! Numbers and texts in as few bytes as they need, for columns that hold many: LEB128, and zigzag for those that may be
//! negative.

use fourfold_engine::BySide;
use integer_encoding::VarInt;

use super::{Damage, number, to_sql};
use crate::model::time::UnixMillis;
use crate::storage::record::{EventKind, StoredEvent};

/// Codes of what is no move. Columns begin at 1 and end far below.
pub(super) const TAKEBACK: u8 = 0xfd;
pub(super) const PAUSED: u8 = 0xfe;
pub(super) const FINISHED: u8 = 0xff;

/// What an event is, in a byte: a move is its column.
pub(super) fn code(kind: &EventKind) -> u8 {
    match kind {
        EventKind::Move(played) => played.column.number(),
        EventKind::Takeback { .. } => TAKEBACK,
        EventKind::Paused => PAUSED,
        EventKind::Finished(_) => FINISHED,
    }
}

/// The clocks and the time of an event, which are told as what has changed since another one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Moment {
    first_ms: i64,
    second_ms: i64,
    at: i64,
}

impl Moment {
    pub(super) fn of(event: &StoredEvent) -> Self {
        let BySide { first, second } = event.clock_ms;
        Self { first_ms: to_sql(first), second_ms: to_sql(second), at: event.at.0 }
    }

    /// A time, with clocks at nothing.
    pub(super) fn at(UnixMillis(at): UnixMillis) -> Self {
        Self { at, ..Self::default() }
    }

    /// Writes what has changed since `before`.
    pub(super) fn put_since(self, before: Self, bytes: &mut Vec<u8>) {
        put(bytes, self.first_ms.wrapping_sub(before.first_ms));
        put(bytes, self.second_ms.wrapping_sub(before.second_ms));
        put(bytes, self.at.wrapping_sub(before.at));
    }

    /// Reads what comes after this one.
    pub(super) fn take_next(self, bytes: &mut Bytes<'_>) -> Result<Self, Damage> {
        Ok(Self {
            first_ms: self.first_ms.wrapping_add(bytes.take()?),
            second_ms: self.second_ms.wrapping_add(bytes.take()?),
            at: self.at.wrapping_add(bytes.take()?),
        })
    }

    pub(super) fn event(self, seq: u32, kind: EventKind) -> Result<StoredEvent, Damage> {
        let clock_ms = BySide {
            first: number("first_ms", self.first_ms)?,
            second: number("second_ms", self.second_ms)?,
        };
        Ok(StoredEvent { seq, kind, clock_ms, at: UnixMillis(self.at) })
    }
}

pub(super) fn put(bytes: &mut Vec<u8>, value: impl VarInt) {
    // Ten bytes hold every number of 64 bits.
    let mut buffer = [0; 10];
    let length = value.encode_var(&mut buffer);
    bytes.extend_from_slice(&buffer[..length]);
}

/// Writes a note: its length plus one, or 0 for none, and the note.
pub(super) fn put_note(bytes: &mut Vec<u8>, note: Option<&str>) {
    put(bytes, note.map_or(0, |note| note.len() as u64 + 1));
    bytes.extend_from_slice(note.unwrap_or_default().as_bytes());
}

/// What is still to be read of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    left: &'a [u8],
    column: &'static str,
}

impl<'a> Bytes<'a> {
    pub(super) fn of(column: &'static str, bytes: &'a [u8]) -> Self {
        Self { left: bytes, column }
    }

    pub(super) fn is_empty(self) -> bool {
        self.left.is_empty()
    }

    pub(super) fn len(self) -> usize {
        self.left.len()
    }

    pub(super) fn take<T: VarInt>(&mut self) -> Result<T, Damage> {
        let decoded = T::decode_var(self.left);
        let (value, length) =
            decoded.ok_or_else(|| Damage(format!("{} ends within a number", self.column)))?;
        self.left = self.left.get(length..).unwrap_or_default();
        Ok(value)
    }

    pub(super) fn take_byte(&mut self) -> Result<u8, Damage> {
        let (first, rest) = self.left.split_first().ok_or_else(|| self.ends_too_early())?;
        self.left = rest;
        Ok(*first)
    }

    pub(super) fn take_note(&mut self) -> Result<Option<Box<str>>, Damage> {
        let Some(length) = self.take::<u64>()?.checked_sub(1) else { return Ok(None) };
        let length = usize::try_from(length).map_err(|_| self.ends_too_early())?;
        let (note, rest) = self.left.split_at_checked(length).ok_or_else(|| self.ends_too_early())?;
        self.left = rest;
        let note =
            std::str::from_utf8(note).map_err(|_| Damage(format!("a note in {} is no text", self.column)))?;
        Ok(Some(note.into()))
    }

    fn ends_too_early(&self) -> Damage {
        Damage(format!("{} ends too early", self.column))
    }
}
