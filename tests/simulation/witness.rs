//! All that clients sent and heard: what they were promised, and whether what they were told agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};

use fourfold::model::ids::GameId;
use fourfold::model::result::GameResult;
use fourfold::storage::StoredGame;

use crate::told::Told;

/// What a game looks like after so many of its events.
type Moment = (GameId, u64);

/// What happened in a run, as its clients know it.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    pub(crate) told: Told,
    /// What should not have been said.
    pub(crate) faults: Vec<String>,
    /// Boards that were shown.
    boards: BTreeMap<Moment, String>,
    /// Moves that were told: the ply after it, and the column.
    moves: BTreeMap<Moment, (u64, u64)>,
    /// Games in which moves went back by agreement.
    taken_back: BTreeSet<GameId>,
    hash: DefaultHasher,
    pub(crate) figures: Figures,
    /// What was met: see [`Self::see`].
    pub(crate) seen: BTreeSet<String>,
    /// Whether everything is printed as it happens.
    pub(crate) is_loud: bool,
}

/// How much has happened: a run in which nothing does shows nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) messages: u64,
    pub(crate) acked: u64,
    pub(crate) games: u64,
    pub(crate) kills: u64,
    pub(crate) resumed: u64,
    pub(crate) simulated_ms: u64,
}

impl Figures {
    pub(crate) fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.acked += other.acked;
        self.games += other.games;
        self.kills += other.kills;
        self.resumed += other.resumed;
        self.simulated_ms += other.simulated_ms;
    }
}

impl Witness {
    /// Takes note of something that two runs of a seed must have in common.
    pub(crate) fn note(&mut self, what: impl Hash) {
        what.hash(&mut self.hash);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }

    /// Takes note of something that is to happen in some run.
    pub(crate) fn see(&mut self, sort: &str, what: impl Display) {
        self.seen.insert(format!("{sort} {what}"));
    }

    /// Says what happens, if somebody looks on.
    pub(crate) fn tell(&self, now_ms: u64, what: impl Display) {
        if self.is_loud {
            println!("{now_ms:>8} ms  {what}");
        }
    }

    pub(crate) fn fault(&mut self, what: String) {
        if self.is_loud {
            println!("              FAULT {what}");
        }
        self.faults.push(what);
    }

    pub(crate) fn sending(&mut self, game: &GameId, ply: u32, column: u8) {
        self.told.sent.entry((game.clone(), ply)).or_default().insert(column);
    }

    /// A bot of the house may play anything.
    pub(crate) fn anything_goes(&mut self, game: &GameId, parity: u32) {
        for ply in (0..64).filter(|ply| ply % 2 == parity) {
            self.told.sent.entry((game.clone(), ply)).or_default().extend(1..=9);
        }
    }

    pub(crate) fn acked(&mut self, game: &GameId, ply: u32, column: u8) {
        let before = self.told.acked.insert((game.clone(), ply), column);
        if before.is_none() {
            self.figures.acked += 1;
        }
        if before.is_some_and(|before| before != column) && !self.taken_back.contains(game) {
            self.fault(format!("game {game} ply {ply}: acknowledged twice, {before:?} and {column}"));
        }
    }

    /// Moves went back: what was acknowledged of this game need not be on the board any more. What was shown after each
    /// event still counts.
    pub(crate) fn took_back(&mut self, game: &GameId) {
        self.taken_back.insert(game.clone());
    }

    pub(crate) fn shown(&mut self, game: &GameId, event_seq: u64, moves: &str) {
        let before = self.boards.insert((game.clone(), event_seq), moves.to_owned());
        if before.as_ref().is_some_and(|before| before != moves) {
            self.fault(format!("game {game} after event {event_seq}: shown as {before:?} and as {moves}"));
        }
    }

    pub(crate) fn moved(&mut self, game: &GameId, event_seq: u64, ply: u64, column: u64) {
        let before = self.moves.insert((game.clone(), event_seq), (ply, column));
        if before.is_some_and(|before| before != (ply, column)) {
            self.fault(format!(
                "game {game} event {event_seq}: told as {before:?} and as {:?}",
                (ply, column)
            ));
        }
    }

    pub(crate) fn ended(&mut self, game: &GameId, result: GameResult, moves: &str) {
        let end = (result, moves.to_owned());
        let before = self.told.ended.insert(game.clone(), end.clone());
        if before.is_none() {
            self.figures.games += 1;
        }
        if before.as_ref().is_some_and(|before| *before != end) {
            self.fault(format!("game {game}: two ends were told, {before:?} and {end:?}"));
        }
    }

    /// What the clients were promised, for the comparison with what is kept.
    pub(crate) fn promised(&self) -> Told {
        let mut told = self.told.clone();
        told.acked.retain(|(game, _), _| !self.taken_back.contains(game));
        told
    }

    /// Whether a stored game looks after each event as it was shown then.
    pub(crate) fn compare(&self, game: &StoredGame) -> Vec<String> {
        let id = &game.spec.id;
        let mut faults = Vec::new();
        let all = (id.clone(), 0)..=(id.clone(), u64::MAX);
        for ((_, event_seq), shown) in self.boards.range(all.clone()) {
            let kept = game.moves_after(*event_seq);
            if kept.as_ref() != Some(shown) {
                faults
                    .push(format!("game {id} after event {event_seq}: shown was {shown}, kept is {kept:?}"));
            }
        }
        for ((_, event_seq), (ply, column)) in self.moves.range(all) {
            let kept = game.moves_after(*event_seq);
            let last =
                kept.as_ref().and_then(|moves| moves.chars().last()).and_then(|last| last.to_digit(36));
            let plies = kept.as_ref().map(|moves| moves.len() as u64);
            if last.map(u64::from) != Some(*column) || plies != Some(*ply) {
                faults.push(format!("game {id} event {event_seq}: told was {column}, kept is {kept:?}"));
            }
        }
        faults
    }
}
