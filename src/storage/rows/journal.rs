//! The events of one commit in a few bytes. They are of as many games as moved, so as rows of those games each would be
//! on a page of its own.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | [`VERSION`] |
//! | for each event | the key of its game, its number, its code |
//! | | the first clock, the second, the time since the event before in this row, each zigzag |
//! | after a move, whose code is the column | milliseconds spent, those credited, the note |
//! | after a takeback | plies |
//!
//! Ends are not among them: the log of a game that ends is [packed](super::packed).

use std::collections::{HashMap, HashSet};

use fourfold_engine::Column;

use super::Damage;
use super::bytes::{Bytes, Moment, PAUSED, TAKEBACK, code, put, put_note};
use crate::model::time::UnixMillis;
use crate::storage::record::{EventKind, StoredEvent, StoredMove};

/// Of the form; another one would be read beside it.
const VERSION: u8 = 1;

/// What the column is called where something is wrong in it.
const COLUMN: &str = "journal.events";

/// A row that is being written.
#[derive(Debug)]
pub(in crate::storage) struct JournalRow {
    bytes: Vec<u8>,
    events: u32,
    at: UnixMillis,
}

impl Default for JournalRow {
    fn default() -> Self {
        Self { bytes: vec![VERSION], events: 0, at: UnixMillis(0) }
    }
}

impl JournalRow {
    /// Adds an event, which is no end, of the game with this key.
    pub(in crate::storage) fn push(&mut self, game: i64, event: &StoredEvent) {
        put(&mut self.bytes, game);
        put(&mut self.bytes, event.seq);
        self.bytes.push(code(&event.kind));
        Moment::of(event).put_since(Moment::at(self.at), &mut self.bytes);
        match &event.kind {
            EventKind::Move(played) => {
                put(&mut self.bytes, played.spent_ms);
                put(&mut self.bytes, played.credited_ms);
                put_note(&mut self.bytes, played.info.as_deref());
            }
            EventKind::Takeback { plies } => put(&mut self.bytes, *plies),
            EventKind::Paused | EventKind::Finished(_) => {}
        }
        self.at = event.at;
        self.events += 1;
    }

    pub(in crate::storage) fn events(&self) -> u32 {
        self.events
    }

    pub(in crate::storage) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a row: each event with the key of its game.
pub(in crate::storage) fn read(row: &[u8], mut take: impl FnMut(i64, StoredEvent)) -> Result<(), Damage> {
    let mut bytes = Bytes::of(COLUMN, row);
    match bytes.take_byte()? {
        VERSION => {}
        other => return Err(Damage::value("version of journal.events", other)),
    }
    let mut at = UnixMillis(0);
    while !bytes.is_empty() {
        let game = bytes.take()?;
        let seq = bytes.take()?;
        let code = bytes.take_byte()?;
        let now = Moment::at(at).take_next(&mut bytes)?;
        let kind = match code {
            TAKEBACK => EventKind::Takeback { plies: bytes.take()? },
            PAUSED => EventKind::Paused,
            column => EventKind::Move(StoredMove {
                column: Column::from_number(column).ok_or_else(|| Damage::value("column_no", column))?,
                spent_ms: bytes.take()?,
                credited_ms: bytes.take()?,
                info: bytes.take_note()?,
            }),
        };
        let event = now.event(seq, kind)?;
        at = event.at;
        take(game, event);
    }
    Ok(())
}

/// The events of some games, from all rows in their order.
#[derive(Debug)]
pub(crate) struct JournaledEvents {
    wanted: HashSet<i64>,
    of_games: HashMap<i64, Vec<StoredEvent>>,
}

impl JournaledEvents {
    pub(crate) fn of(games: impl IntoIterator<Item = i64>) -> Self {
        Self { wanted: games.into_iter().collect(), of_games: HashMap::new() }
    }

    /// Whether there is anything to look for.
    pub(crate) fn are_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The events by the keys of their games, in order.
    pub(crate) fn into_games(self) -> HashMap<i64, Vec<StoredEvent>> {
        self.of_games
    }

    pub(crate) fn add(&mut self, row: &[u8]) -> Result<(), Damage> {
        read(row, |game, event| {
            if self.wanted.contains(&game) {
                self.of_games.entry(game).or_default().push(event);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::BySide;
    use proptest::prelude::*;

    use super::*;

    fn event(seq: u32, kind: EventKind, first: u64, second: u64, at: i64) -> StoredEvent {
        StoredEvent { seq, kind, clock_ms: BySide { first, second }, at: UnixMillis(at) }
    }

    fn played(column: u8, info: Option<&str>) -> EventKind {
        let column = Column::from_number(column).unwrap();
        EventKind::Move(StoredMove { column, spent_ms: 1_200, credited_ms: 30, info: info.map(Into::into) })
    }

    fn all(row: &[u8]) -> Result<Vec<(i64, StoredEvent)>, Damage> {
        let mut found = Vec::new();
        read(row, |game, event| found.push((game, event)))?;
        Ok(found)
    }

    #[test]
    fn a_row_comes_back_as_it_was() {
        let most = i64::MAX.unsigned_abs();
        let events = [
            (7, event(3, played(4, Some(r#"{"depth":12}"#)), 60_000, 59_000, 1_760_000_000_000)),
            (i64::MAX, event(u32::MAX, EventKind::Takeback { plies: u32::MAX }, 0, most, i64::MIN)),
            (i64::MIN, event(1, EventKind::Paused, most, 0, i64::MAX)),
            (7, event(4, played(7, Some("")), 5, 5, 0)),
            (0, event(0, played(1, None), 5, 5, 0)),
        ];
        let mut row = JournalRow::default();
        for (game, event) in &events {
            row.push(*game, event);
        }
        assert_eq!(row.events(), 5);
        assert_eq!(all(row.bytes()).unwrap(), events);
        let mut wanted = JournaledEvents::of([7, 8]);
        wanted.add(row.bytes()).unwrap();
        assert_eq!(wanted.of_games, HashMap::from([(7, vec![events[0].1.clone(), events[3].1.clone()])]));
    }

    #[test]
    fn a_usual_move_takes_some_sixteen_bytes() {
        let mut row = JournalRow::default();
        for game in 0..60 {
            row.push(
                100_000 + game,
                &event(21, played(4, None), 54_321, 52_345, 1_760_000_000_000 + game / 20),
            );
        }
        assert!(row.bytes().len() < 17 * 60, "{}", row.bytes().len());
    }

    #[test]
    fn damage_is_named() {
        let of = |row: &[u8]| all(row).unwrap_err().0;
        assert_eq!(of(&[]), "journal.events ends too early");
        assert_eq!(of(&[2]), "version of journal.events is 2");
        assert_eq!(of(&[1, 2]), "journal.events ends within a number");
        assert_eq!(of(&[1, 2, 1]), "journal.events ends too early");
        assert_eq!(of(&[1, 2, 1, 0, 0, 0, 0]), "column_no is 0");
        assert_eq!(of(&[1, 2, 1, 0xff, 0, 0, 0]), "column_no is 255");
        assert_eq!(of(&[1, 2, 1, 0xfe, 1, 0, 0]), "first_ms is -1");
        assert_eq!(of(&[1, 2, 1, 4, 0, 0, 0, 0, 0, 9, b'a']), "journal.events ends too early");
        assert_eq!(of(&[1, 2, 1, 4, 0, 0, 0, 0, 0, 2, 0xff]), "a note in journal.events is no text");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(row: Vec<u8>) {
            let _ = all(&row);
        }
    }
}
