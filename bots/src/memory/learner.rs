//! The pattern memory as a learner: a fold of games.

use std::sync::Arc;

use fourfold_engine::{Cell, Column, Game};

use super::judge::windows;
use super::pattern::{LINE, Owner, Pattern, Vocabulary};
use super::record::PatternRecord;
use super::store::PatternMemory;
use super::{Memory, Rule, Snapshots, bytes, leaning, write_xml};
use crate::bot::{Bot, BotError, GameRecord};
use crate::learner::{Change, Knowledge, KnownPattern, Learner};
use crate::reason::Counts;

/// A memory that learns, with the settings of the bots that play with it.
#[derive(Debug)]
struct MemoryLearner {
    store: PatternMemory,
    rule: Rule,
    snapshots: Snapshots,
}

/// What a memory held at one moment.
#[derive(Debug)]
struct Remembered {
    store: PatternMemory,
    rule: Rule,
    snapshots: Snapshots,
}

/// Makes a learner of either vocabulary: what a bot of this name has learnt, or nothing yet.
pub(crate) fn learner(
    Memory { mut store, rule, snapshots, seed: _ }: Memory,
    name: &str,
    state: Option<&[u8]>,
) -> Result<Box<dyn Learner>, BotError> {
    if let Some(state) = state {
        store = bytes::read(state, store.vocabulary, store.variant)
            .map_err(|reason| BotError::BadState { name: name.to_owned(), reason })?;
    }
    Ok(Box::new(MemoryLearner { store, rule, snapshots }))
}

impl Learner for MemoryLearner {
    fn learn(&mut self, game: &GameRecord) -> Vec<Change> {
        learn(&mut self.store, game, self.snapshots)
    }

    fn leanings(&self, game: &Game) -> Vec<Vec<Column>> {
        game.turns().map(|(position, _)| leaning(&self.store, self.rule, &position)).collect()
    }

    fn state(&self) -> Vec<u8> {
        bytes::write(&self.store)
    }

    fn knowledge(&self) -> Arc<dyn Knowledge> {
        let Self { store, rule, snapshots } = self;
        Arc::new(Remembered { store: store.clone(), rule: *rule, snapshots: *snapshots })
    }
}

impl Knowledge for Remembered {
    fn player(&self, seed: u64) -> Box<dyn Bot> {
        let Self { store, rule, snapshots } = self;
        Box::new(Memory { store: store.clone(), rule: *rule, snapshots: *snapshots, seed })
    }

    fn file(&self) -> Vec<u8> {
        write_xml(&self.store).into_bytes()
    }

    fn patterns(&self) -> Vec<KnownPattern> {
        patterns(&self.store)
    }

    fn keeps_counts(&self) -> bool {
        true
    }
}

/// Learns from a game, if it is of the memory's variant, and says what changed.
pub(super) fn learn(store: &mut PatternMemory, game: &GameRecord, snapshots: Snapshots) -> Vec<Change> {
    if game.game.variant() != store.variant() {
        return Vec::new();
    }
    let before = store.clone();
    store.learn(game, snapshots);
    let changed = store.iter().filter_map(|(pattern, record)| {
        let before = before.get(pattern).map(counts);
        let after = counts(record);
        (before != Some(after)).then(|| Change { pattern: pattern.to_string(), before, after })
    });
    changed.collect()
}

/// What a memory knows, the most often seen first.
pub(super) fn patterns(store: &PatternMemory) -> Vec<KnownPattern> {
    let mut known: Vec<KnownPattern> =
        store.iter().map(|(pattern, record)| known(store, *pattern, record)).collect();
    known.sort_by_key(|pattern| std::cmp::Reverse(pattern.counts.seen)); // stable: equal ones keep their order
    known
}

pub(super) fn counts(record: &PatternRecord) -> Counts {
    Counts { seen: record.seen, won: record.won, lost: record.lost }
}

fn known(store: &PatternMemory, pattern: Pattern, record: &PatternRecord) -> KnownPattern {
    let cells = |places: Vec<i32>| -> Vec<Cell> {
        places.into_iter().filter_map(|place| pattern.cell(place, store.variant)).collect()
    };
    let stones = cells((0..LINE).filter(|place| pattern.stones.is_on(*place)).collect());
    let (own, enemy) = match pattern.owner {
        Owner::Own => (stones, Vec::new()),
        Owner::Enemy => (Vec::new(), stones),
    };
    KnownPattern {
        name: pattern.to_string(),
        own,
        enemy,
        answers: cells(store.vocabulary.answers(pattern.stones)),
        counts: counts(record),
        weight: match store.vocabulary {
            Vocabulary::Runs => record.weighting.into(),
            Vocabulary::Windows => windows::weight(pattern, record).into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::{Side, SideResult, Variant};

    use super::*;
    use crate::bot::MoveBudget;
    use crate::learners;
    use crate::spec::BotSpec;

    fn learnt(name: &str) -> Box<dyn Learner> {
        let mut learner = learners::fresh(&BotSpec::new(name), Variant::STANDARD).unwrap();
        for (moves, side, result) in [
            ("3747576", Side::First, SideResult::Win),
            ("3747576", Side::Second, SideResult::Loss),
            ("37475", Side::First, SideResult::Draw),
        ] {
            let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
            learner.learn(&GameRecord { game, side, result });
        }
        learner
    }

    #[test]
    fn the_bytes_hold_everything() {
        for name in ["memory", "memory-windows"] {
            let state = learnt(name).state();
            assert_eq!(
                learners::restore(&BotSpec::new(name), Variant::STANDARD, &state).unwrap().state(),
                state
            );
        }
    }

    #[test]
    fn bytes_that_are_wrong_anywhere_are_refused() {
        let state = learnt("memory").state();
        for place in 0..state.len() {
            let mut wrong = state.clone();
            wrong[place] ^= 1;
            let read = learners::restore(&BotSpec::new("memory"), Variant::STANDARD, &wrong);
            assert!(read.is_err(), "byte {place}");
            assert!(learners::restore(&BotSpec::new("memory"), Variant::STANDARD, &state[..place]).is_err());
        }
        let error =
            learners::restore(&BotSpec::new("memory-windows"), Variant::STANDARD, &state).unwrap_err();
        assert_eq!(
            error.to_string(),
            "what memory-windows has learnt cannot be read: it is of another vocabulary or board"
        );
    }

    /// Every move that a bot with this memory plays is one that it leans to, and each of those is played.
    #[track_caller]
    fn check_leanings(name: &str, moves: &str) {
        let mut learner = learnt(name);
        for winner in ["3747576", "4455667", "1122334", "4453345"] {
            let game = Game::from_moves(Variant::STANDARD, winner).unwrap();
            learner.learn(&GameRecord { game, side: Side::First, result: SideResult::Win });
        }
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let knowledge = learner.knowledge();
        for (leaning, (position, _)) in learner.leanings(&game).iter().zip(game.turns()) {
            let play = |seed| {
                let mut bot = knowledge.player(seed);
                bot.choose(&position, MoveBudget::default(), &AtomicBool::new(false)).unwrap().column
            };
            let played: BTreeSet<Column> = (0..200).map(play).collect();
            assert_eq!(played.into_iter().collect::<Vec<_>>(), *leaning, "{name} at {position:?}");
        }
    }

    #[test]
    fn a_memory_leans_to_what_it_plays() {
        for name in ["memory", "memory-windows"] {
            for moves in ["3747576", "4455667", "12", "444444", "1727371"] {
                check_leanings(name, moves);
            }
        }
    }

    #[test]
    fn a_lesson_says_what_is_new_and_what_grew() {
        let mut learner = learnt("memory");
        let game = Game::from_moves(Variant::STANDARD, "3747576").unwrap();
        let changes = learner.learn(&GameRecord { game, side: Side::First, result: SideResult::Win });
        let three = changes.iter().find(|change| change.pattern == "own c1 d1 e1 .").unwrap();
        assert_eq!(three.before, Some(Counts { seen: 1, won: 1, lost: 0 }));
        assert_eq!(three.after, Counts { seen: 2, won: 2, lost: 0 });
        let known = learner.knowledge().patterns();
        assert!(known.iter().is_sorted_by_key(|pattern| std::cmp::Reverse(pattern.counts.seen)));
        let pair = known.iter().find(|pattern| pattern.name == "own c1 d1 . .").unwrap();
        let print = |cells: &[Cell]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            (print(&pair.own), print(&pair.answers)),
            (vec!["c1".into(), "d1".into()], vec!["e1".into(), "b1".into()])
        );
    }
}
