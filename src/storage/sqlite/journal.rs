//! The journal: the last moves of all games, a row for each commit.
//!
//! A move of each of sixty games is one row at the end of a table, not sixty rows on as many pages, which were a third
//! of what a commit cost. A game that ends soon is never anything else until its log is packed. Of one that goes on for
//! longer the events become rows in `event` when the journal has grown so long that its oldest row has to go, all of
//! the game's at once.

use std::collections::{HashMap, HashSet, VecDeque};

use super::db::{self, Connection};
use super::events;
use crate::model::ids::GameId;
use crate::storage::rows::journal::{JournalRow, JournaledEvents, read};
use crate::storage::store::StoreError;

/// Most events in the journal: so that a reader of a game that goes on, who looks through all of it, takes a
/// millisecond or two, and most games have ended before their first move is that old.
const EVENTS_MAX: usize = 65_536;

/// Most rows, for the same reason: where commits have one move each, there are as many.
const ROWS_MAX: usize = 4_096;

/// What is known of the table without reading it.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The number of the oldest row, or of the next one if there is none.
    oldest: i64,
    /// How many events each row has, the oldest first. Their numbers have no holes.
    rows: VecDeque<u32>,
    events: usize,
    /// Games that go on, by the row with their first event that stands nowhere else. Some have ended meanwhile.
    alone: VecDeque<(i64, GameId)>,
}

impl Journal {
    /// Reads what the table holds. For each event it asks which game that is, if the event stands nowhere else and is
    /// the first such one.
    pub(super) fn load(
        connection: &Connection,
        mut first_alone: impl FnMut(i64, i64, u32) -> Option<GameId>,
    ) -> Result<Self, StoreError> {
        let mut journal = Self::default();
        let rows = oldest_rows(connection, ALL)?;
        if let Some((oldest, _)) = rows.first() {
            journal.oldest = *oldest;
        }
        for (number, bytes) in rows {
            let mut events = 0;
            read(&bytes, |game, event| {
                events += 1;
                journal.alone.extend(first_alone(number, game, event.seq).map(|id| (number, id)));
            })?;
            journal.rows.push_back(events);
            journal.events += events as usize;
        }
        Ok(journal)
    }

    /// The number of the row that is written next.
    pub(super) fn next(&self) -> i64 {
        self.oldest + i64::try_from(self.rows.len()).unwrap_or(i64::MAX)
    }

    /// How many of the oldest rows are too many.
    pub(super) fn surplus(&self) -> usize {
        let mut events = self.events;
        let is_too_much = |(gone, in_row): &(usize, &u32)| {
            let is_over = events > EVENTS_MAX || self.rows.len() - gone > ROWS_MAX;
            events -= **in_row as usize;
            is_over
        };
        self.rows.iter().enumerate().take_while(is_too_much).count()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Games some of whose events are in the oldest rows, so many of them, and nowhere else; for each the row of the
    /// first. Those that have ended meanwhile are among them.
    pub(super) fn alone_in(&self, oldest: usize) -> impl Iterator<Item = &(i64, GameId)> {
        let stays = self.oldest + i64::try_from(oldest).unwrap_or(i64::MAX);
        self.alone.iter().take_while(move |(row, _)| *row < stays)
    }

    /// Deletes so many of the oldest rows. They are counted until [`Self::committed`].
    pub(super) fn delete(&self, connection: &Connection, oldest: usize) -> Result<(), StoreError> {
        let stays = self.oldest + i64::try_from(oldest).unwrap_or(i64::MAX);
        db::query("DELETE FROM journal WHERE id < ?").bind(stays).execute(connection)?;
        Ok(())
    }

    /// Writes the next row. It is not counted until [`Self::committed`].
    pub(super) fn insert(&self, connection: &Connection, row: &JournalRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO journal (id, events) VALUES (?, ?)";
        db::query(sql).bind(self.next()).bind(row.bytes()).execute(connection)?;
        Ok(())
    }

    /// The oldest rows are gone, so many of them, and a row with so many events has come, if it has any; it is the
    /// first with some of these games.
    pub(super) fn committed(&mut self, oldest: usize, added: u32, alone: Vec<GameId>) {
        let number = self.next();
        for events in self.rows.drain(..oldest) {
            self.events -= events as usize;
            self.oldest += 1;
        }
        while self.alone.front().is_some_and(|(row, _)| *row < self.oldest) {
            self.alone.pop_front();
        }
        if added > 0 {
            self.rows.push_back(added);
            self.events += added as usize;
            self.alone.extend(alone.into_iter().map(|id| (number, id)));
        }
    }
}

/// As many rows as there are.
const ALL: usize = usize::MAX;

/// The oldest rows with their numbers, so many of them.
fn oldest_rows(connection: &Connection, at_most: usize) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
    let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
    Ok(db::query_as("SELECT id, events FROM journal ORDER BY id LIMIT ?")
        .bind(at_most)
        .fetch_all(connection)?)
}

/// Reads the events of the games that are wanted.
pub(super) fn collect(connection: &Connection, wanted: &mut JournaledEvents) -> Result<(), StoreError> {
    collect_oldest(connection, ALL, wanted)
}

fn collect_oldest(
    connection: &Connection,
    oldest: usize,
    wanted: &mut JournaledEvents,
) -> Result<(), StoreError> {
    for (_, bytes) in oldest_rows(connection, oldest)? {
        wanted.add(&bytes)?;
    }
    Ok(())
}

/// Has the events of some games in the oldest rows, so many of them, be rows of their logs, as far as they are not.
pub(super) fn spare(connection: &Connection, oldest: usize, games: &HashSet<i64>) -> Result<(), StoreError> {
    let mut wanted = JournaledEvents::of(games.iter().copied());
    collect_oldest(connection, oldest, &mut wanted)?;
    for (game, events) in wanted.into_games() {
        for event in events {
            let is_there = db::query("SELECT 1 FROM event WHERE game = ? AND seq = ?");
            if !is_there.bind(game).bind(event.seq).has_row(connection)? {
                events::insert(connection, game, &[event])?;
            }
        }
    }
    Ok(())
}

/// How many events of each game that goes on are rows of its log.
pub(super) fn rows_of_live(connection: &Connection) -> Result<HashMap<i64, u32>, StoreError> {
    let sql =
        "SELECT l.game, coalesce((SELECT max(e.seq) FROM event e WHERE e.game = l.game), 0) FROM live_game l";
    let rows: Vec<(i64, i64)> = db::query_as(sql).fetch_all(connection)?;
    let read = |(game, seq)| Ok((game, crate::storage::rows::number("event.seq", seq)?));
    rows.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: usize) -> GameId {
        format!("g{number}").parse().unwrap()
    }

    #[test]
    fn the_oldest_rows_go_when_there_are_too_many_events_or_rows() {
        let mut journal = Journal::default();
        assert_eq!((journal.next(), journal.surplus()), (0, 0));
        for number in 0..4 {
            journal.committed(0, 20_000, vec![game(number)]);
        }
        assert_eq!((journal.next(), journal.surplus()), (4, 1));
        assert_eq!(journal.alone_in(2).map(|(row, _)| *row).collect::<Vec<_>>(), [0, 1]);
        journal.committed(1, 5_000, vec![]);
        assert_eq!((journal.next(), journal.surplus(), journal.events), (5, 0, 65_000));
        assert_eq!(journal.alone_in(9).map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3]);
        journal.committed(0, 1_000, vec![]);
        assert_eq!(journal.surplus(), 1, "one event too many is a row too many");
        journal.committed(0, 0, vec![game(9)]);
        assert_eq!(journal.next(), 6, "no row without an event");

        let mut journal = Journal::default();
        for _ in 0..ROWS_MAX + 3 {
            journal.committed(0, 1, vec![]);
        }
        assert_eq!(journal.surplus(), 3);
        journal.committed(journal.len(), 0, vec![]);
        assert_eq!((journal.events, journal.surplus(), journal.len()), (0, 0, 0));
        assert_eq!(journal.next(), i64::try_from(ROWS_MAX).unwrap() + 3, "numbers go on");
    }
}
