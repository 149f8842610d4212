//! What a back end remembers of games that go on, so that it judges the next write without reading.

use std::sync::Arc;

use fourfold_engine::{Column, notation};

use super::record::{Ending, EventKind, GameSpec, StoredEvent, StoredGame};
use super::store::Refused;

/// A game that goes on, as far as it is written.
#[derive(Clone, Debug)]
pub(super) struct UnfinishedGame {
    /// Shared, because transactions work on copies.
    spec: Arc<GameSpec>,
    last_seq: u32,
    /// Those after the opening that stand on the board.
    played: Vec<Column>,
}

impl UnfinishedGame {
    /// A game without events.
    pub(super) fn new(spec: GameSpec) -> Self {
        Self { spec: Arc::new(spec), last_seq: 0, played: Vec::new() }
    }

    /// A game taken up from the store.
    pub(super) fn restore(game: &StoredGame) -> Self {
        let mut live = Self::new(game.spec.clone());
        live.apply(&game.events);
        live
    }

    /// Goes back to when these were all its events.
    pub(super) fn go_back(&mut self, events: &[StoredEvent]) {
        self.last_seq = 0;
        self.played.clear();
        self.apply(events);
    }

    pub(super) fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// All moves in notation, the opening's included and those taken back left out.
    pub(super) fn moves(&self) -> String {
        format!("{}{}", self.spec.opening.moves, notation::print_moves(&self.played))
    }

    /// Whether the game can go on with these events.
    pub(super) fn check_append(&self, events: &[StoredEvent]) -> Result<(), Refused> {
        self.check_sequence(events)?;
        if events.iter().any(|event| is_end(&event.kind)) { Err(Refused::EndMisplaced) } else { Ok(()) }
    }

    /// Whether the game can end with these events, and how it does.
    pub(super) fn check_finish(&self, events: &[StoredEvent]) -> Result<Ending, Refused> {
        self.check_sequence(events)?;
        let Some((StoredEvent { kind: EventKind::Finished(ending), .. }, before)) = events.split_last()
        else {
            return Err(Refused::EndMisplaced);
        };
        if before.iter().any(|event| is_end(&event.kind)) { Err(Refused::EndMisplaced) } else { Ok(*ending) }
    }

    fn check_sequence(&self, events: &[StoredEvent]) -> Result<(), Refused> {
        let due = self.last_seq + 1..;
        match due.zip(events).find(|(due, event)| event.seq != *due) {
            None => Ok(()),
            Some((due, event)) => Err(Refused::OutOfSequence { last: due - 1, got: event.seq }),
        }
    }

    /// Takes note of events that were checked.
    pub(super) fn apply(&mut self, events: &[StoredEvent]) {
        for event in events {
            self.last_seq = event.seq;
            match &event.kind {
                EventKind::Move(played) => self.played.push(played.column),
                EventKind::Takeback { plies } => {
                    self.played.truncate(self.played.len().saturating_sub(*plies as usize));
                }
                EventKind::Paused | EventKind::Finished(_) => {}
            }
        }
    }
}

fn is_end(kind: &EventKind) -> bool {
    match kind {
        EventKind::Finished(_) => true,
        EventKind::Move(_) | EventKind::Takeback { .. } | EventKind::Paused => false,
    }
}
