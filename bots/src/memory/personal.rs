//! A memory that one person teaches, as its author of 2004 meant it: it plays, says what decided each of its moves, and
//! learns the game.

use fourfold_engine::{Column, Position, Variant};

use super::judge::{Ground, PatternJudge, Voice};
use super::learner;
use super::pattern::Vocabulary;
use super::store::PatternMemory;
use super::{Rule, Snapshots, XmlError, best, bytes, read_xml, reason, write_xml};
use crate::bot::GameRecord;
use crate::learner::{Change, KnownPattern};
use crate::reason::Reason;

/// A memory of runs on the board of 7x6, which learns as `memory` does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonalMemory {
    store: PatternMemory,
}

/// A move, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    pub column: Column,
    pub ground: Ground,
    /// The pattern that decided; `None` if the move was drawn.
    pub reason: Option<Reason>,
}

impl PersonalMemory {
    /// It knows nothing but the rules.
    pub fn blank() -> Self {
        Self { store: PatternMemory::new(Vocabulary::Runs, Variant::STANDARD) }
    }

    /// As [`PersonalMemory::state`] wrote it.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the bytes.
    pub fn restore(state: &[u8]) -> Result<Self, String> {
        Ok(Self { store: bytes::read(state, Vocabulary::Runs, Variant::STANDARD)? })
    }

    /// Reads the article's XML.
    ///
    /// # Errors
    ///
    /// As for [`read_xml`].
    pub fn read_xml(text: &str) -> Result<Self, XmlError> {
        Ok(Self { store: read_xml(text, Vocabulary::Runs, Variant::STANDARD)? })
    }

    /// All that it knows, 24 bytes a pattern and 21 more.
    pub fn state(&self) -> Vec<u8> {
        bytes::write(&self.store)
    }

    /// The same as the article's XML.
    pub fn xml(&self) -> String {
        write_xml(&self.store)
    }

    /// Its move in a position in which the game goes on. Of equal moves `seed`, the position and all that it has learnt
    /// decide.
    pub fn decide(&self, position: &Position, seed: u64) -> Decision {
        let (memory, rule) = (&self.store, Rule::Bounded);
        let (column, score) = best(memory, rule, seed, position);
        let judge = PatternJudge { memory, rule, position };
        let voices = judge.voices(&memory.vocabulary().snapshot(position));
        let decided = |voice: &Voice| voice.proposal.column == column && Some(voice.proposal.score) == score;
        match voices.into_iter().find(decided) {
            Some(voice) => {
                Decision { column, ground: judge.ground(&voice), reason: Some(reason(memory, voice)) }
            }
            None => Decision { column, ground: Ground::Chance, reason: None },
        }
    }

    /// Learns from a game on 7x6 that it has played, and says what changed.
    pub fn learn(&mut self, game: &GameRecord) -> Vec<Change> {
        learner::learn(&mut self.store, game, Snapshots::Last)
    }

    /// The patterns that it knows, the most often seen first.
    pub fn patterns(&self) -> Vec<KnownPattern> {
        learner::patterns(&self.store)
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Outcome, Side, SideResult};

    use super::*;

    /// Columns of the trick that the page proposes: four stones on each other.
    const STACK: &str = "4";

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn lesson(memory: &mut PersonalMemory, moves: &str, side: Side) -> Vec<Change> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let result = SideResult::of(side, game.outcome().and_then(Outcome::winner));
        memory.learn(&GameRecord { game, side, result })
    }

    /// Whoever begins stacks four stones; says how the game went.
    fn stacked(memory: &PersonalMemory, seed: u64) -> (String, bool) {
        let mut moves = String::new();
        for stone in 1..=4 {
            moves.push_str(STACK);
            if stone == 4 {
                break;
            }
            let answer = memory.decide(&position(&moves), seed).column.number().to_string();
            moves.push_str(&answer);
            if answer == STACK {
                return (moves, false);
            }
        }
        (moves, true)
    }

    #[test]
    fn whoever_falls_for_a_stack_twice_does_not_do_so_again() {
        let mut caught_twice = 0;
        for seed in 0..40 {
            let mut memory = PersonalMemory::blank();
            let (first, was_caught) = stacked(&memory, seed);
            if !was_caught {
                continue;
            }
            lesson(&mut memory, &first, Side::Second);
            let (second, was_caught) = stacked(&memory, seed);
            if !was_caught {
                continue;
            }
            lesson(&mut memory, &second, Side::Second);
            caught_twice += 1;
            let (third, was_caught) = stacked(&memory, seed);
            assert!(!was_caught, "seed {seed}: {first}, {second}, {third}");
        }
        assert!(caught_twice >= 10, "{caught_twice} of 40");
    }

    #[test]
    fn what_decided_is_said() {
        let mut memory = PersonalMemory::blank();
        assert_eq!(memory.decide(&position("4"), 1).ground, Ground::Chance);
        assert_eq!(memory.decide(&position("4"), 1).reason, None);
        for _ in 0..2 {
            lesson(&mut memory, "4142434", Side::Second);
        }
        let Decision { column, ground, reason } = memory.decide(&position("41424"), 1);
        assert_eq!((column.number(), ground), (4, Ground::Ending));
        let reason = reason.unwrap();
        assert_eq!(reason.pattern, "enemy d1 d2 d3 .");
        assert_eq!((reason.counts.seen, reason.counts.lost), (2, 2));
        // It has won twice by its stack, whose answer it keeps.
        let mut winner = PersonalMemory::blank();
        for _ in 0..2 {
            lesson(&mut winner, "4142434", Side::First);
        }
        let Decision { column, ground, .. } = winner.decide(&position("414243"), 1);
        assert_eq!((column.number(), ground), (4, Ground::Response));
        // Pairs that were seen in two games that nobody won.
        let mut neither = PersonalMemory::blank();
        for _ in 0..2 {
            lesson(&mut neither, "37475", Side::First);
        }
        assert_eq!(neither.decide(&position("3747"), 1).ground, Ground::Pattern);
    }

    #[test]
    fn it_is_the_memory_that_plays_in_the_arena() {
        let mut memory = PersonalMemory::blank();
        for moves in ["4142434", "3747576", "4455667"] {
            lesson(&mut memory, moves, Side::First);
        }
        let mut bot = crate::registry::build_taught(
            &"memory:file=x,seed=7".parse().unwrap(),
            Variant::STANDARD,
            memory.xml(),
        )
        .unwrap();
        for moves in ["", "4", "44", "3747", "414243", "44536"] {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let choice = bot.choose(&position(moves), crate::MoveBudget::default(), &stop).unwrap();
            assert_eq!(memory.decide(&position(moves), 7).column, choice.column, "{moves}");
        }
    }

    #[test]
    fn state_and_xml_give_it_back() {
        let mut memory = PersonalMemory::blank();
        assert!(memory.patterns().is_empty());
        let changes = lesson(&mut memory, "4142434", Side::Second);
        assert!(changes.iter().any(|change| change.pattern == "enemy d1 d2 d3 ." && change.before.is_none()));
        assert_eq!(memory.patterns().len(), changes.len());
        assert_eq!(memory.state().len(), 21 + 24 * changes.len());
        assert_eq!(PersonalMemory::restore(&memory.state()).as_ref(), Ok(&memory));
        assert_eq!(PersonalMemory::read_xml(&memory.xml()).as_ref(), Ok(&memory));
        assert!(PersonalMemory::restore(b"rubbish").is_err() && PersonalMemory::read_xml("<a/>").is_err());
    }
}
