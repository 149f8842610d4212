//! The memory: how often each pattern was seen, and how the games ended.

use std::collections::BTreeMap;

use fourfold_engine::{Column, Position, SideResult, Variant};

use super::pattern::{Owner, Pattern, Vocabulary};
use super::record::{PatternClass, PatternRecord};
use crate::bot::GameRecord;

/// Marks an own three that was not in memory when it was judged.
const WINNING: i32 = 10;

/// Which snapshots of a game are learnt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Snapshots {
    /// The last, as in the article.
    Last,
    /// One for every move of the bot: learns faster in the first games.
    All,
}

/// All patterns that were ever learnt, with their records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternMemory {
    pub(super) vocabulary: Vocabulary,
    pub(super) variant: Variant,
    pub(super) records: BTreeMap<Pattern, PatternRecord>,
}

impl PatternMemory {
    /// A memory of nothing, for a board on which four stones win.
    pub fn new(vocabulary: Vocabulary, variant: Variant) -> Self {
        Self { vocabulary, variant, records: BTreeMap::new() }
    }

    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The record of a pattern, if it was ever learnt.
    pub fn get(&self, pattern: &Pattern) -> Option<&PatternRecord> {
        self.records.get(pattern)
    }

    /// All patterns and their records, in a fixed order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Pattern, &PatternRecord)> {
        self.records.iter()
    }

    /// How often all patterns were seen: grows with every game that taught something.
    pub fn experience(&self) -> u64 {
        self.records.values().map(|record| u64::from(record.seen)).sum()
    }

    /// Learns from a finished game of the memory's variant.
    pub fn learn(&mut self, record: &GameRecord, snapshots: Snapshots) {
        let turns = turns(record);
        for turn in &turns {
            self.reweigh(&turn.position);
        }
        let Some(last) = turns.last() else { return };
        match snapshots {
            Snapshots::Last => self.count(&last.position, record.result),
            Snapshots::All => turns.iter().for_each(|turn| self.count(&turn.position, record.result)),
        }
        self.mark_endings(last, record.result);
        if record.result == SideResult::Win {
            self.note_responses(last);
        }
    }

    /// Gives remembered patterns the weight of the class into which they fall.
    fn reweigh(&mut self, position: &Position) {
        for pattern in self.vocabulary.snapshot(position) {
            let is_valid = self.is_valid(pattern, position);
            if let Some(record) = self.records.get_mut(&pattern) {
                let classes = PatternClass::of(pattern.owner);
                let last = classes.into_iter().rfind(|class| is_valid && class.relevant_count(record) > 0);
                if let Some(class) = last {
                    record.weighting = class.weight_from_memory();
                }
            }
        }
    }

    /// Whether one of a pattern's answers can be played now.
    fn is_valid(&self, pattern: Pattern, position: &Position) -> bool {
        let answers = self.vocabulary.answers(pattern.stones);
        let playable = position.playable();
        answers
            .into_iter()
            .filter_map(|place| pattern.cell(place, self.variant))
            .any(|cell| playable.contains(cell, self.variant))
    }

    fn count(&mut self, position: &Position, result: SideResult) {
        for pattern in self.vocabulary.snapshot(position) {
            let weighting = if pattern.is_own_three() { WINNING } else { 0 };
            let record = self
                .records
                .entry(pattern)
                .or_insert(PatternRecord { weighting, ..PatternRecord::default() });
            // A counter that is full stays full.
            record.seen = record.seen.saturating_add(1);
            record.won = record.won.saturating_add(u32::from(result == SideResult::Win));
            record.lost = record.lost.saturating_add(u32::from(result == SideResult::Loss));
        }
    }

    /// Marks the threes of the side that won.
    fn mark_endings(&mut self, last: &RememberedTurn, result: SideResult) {
        let winner = match result {
            SideResult::Win => Owner::Own,
            SideResult::Loss => Owner::Enemy,
            SideResult::Draw => return,
        };
        for pattern in self.vocabulary.snapshot(&last.position) {
            if let Some(record) = self.records.get_mut(&pattern) {
                record.is_ending |= pattern.owner == winner && pattern.stones.is_three();
            }
        }
    }

    /// Stores the winning move with the patterns that it answered.
    fn note_responses(&mut self, last: &RememberedTurn) {
        let landing = last.position.landing_cell(last.column);
        for pattern in self.vocabulary.snapshot(&last.position) {
            let answers = self.vocabulary.answers(pattern.stones);
            let is_answer = answers.into_iter().any(|place| pattern.cell(place, self.variant) == landing);
            if let Some(record) = self.records.get_mut(&pattern).filter(|_| is_answer) {
                record.response = landing;
            }
        }
    }
}

/// A move of the bot.
struct RememberedTurn {
    position: Position,
    column: Column,
}

/// The moves of the bot in a game.
fn turns(record: &GameRecord) -> Vec<RememberedTurn> {
    let own = record.game.turns().filter(|(position, _)| position.side_to_move() == record.side);
    own.map(|(position, column)| RememberedTurn { position, column }).collect()
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Side};

    use super::*;

    fn record(moves: &str, side: Side) -> GameRecord {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let result = SideResult::of(side, game.outcome().and_then(fourfold_engine::Outcome::winner));
        GameRecord { game, side, result }
    }

    fn learnt(games: &[(&str, Side)], snapshots: Snapshots) -> PatternMemory {
        let mut memory = PatternMemory::new(Vocabulary::Runs, Variant::STANDARD);
        for &(moves, side) in games {
            memory.learn(&record(moves, side), snapshots);
        }
        memory
    }

    fn print(memory: &PatternMemory) -> Vec<String> {
        let print_record = |(pattern, record): (&Pattern, &PatternRecord)| {
            let PatternRecord { seen, won, lost, is_ending, weighting, response } = record;
            let response = response.map_or(String::new(), |cell| format!(" {cell}"));
            let ending = if *is_ending { " ending" } else { "" };
            format!("{pattern}: {seen} = {won} + {lost}, {weighting}{ending}{response}")
        };
        memory.iter().map(print_record).collect()
    }

    /// First builds a row of four, Second a column of three.
    const FLOOR_RUN: &str = "3747576";

    #[test]
    fn the_winner_remembers_its_three_and_the_answer() {
        // Before the last move of First, Second has g1 to g3.
        assert_eq!(
            print(&learnt(&[(FLOOR_RUN, Side::First)], Snapshots::Last)),
            [
                "own c1 d1 e1 .: 1 = 1 + 0, 10 ending f1",
                "own d1 e1 . .: 1 = 1 + 0, 0 f1",
                "own d1 c1 . .: 1 = 1 + 0, 0",
                "own e1 d1 c1 .: 1 = 1 + 0, 10 ending f1",
                "enemy g1 g2 g3 .: 1 = 1 + 0, 0",
                "enemy g2 g3 . .: 1 = 1 + 0, 0",
            ]
        );
    }

    #[test]
    fn the_loser_remembers_what_beat_it() {
        // Before its last move Second has g1 and g2, First c1 to e1.
        assert_eq!(
            print(&learnt(&[(FLOOR_RUN, Side::Second)], Snapshots::Last)),
            [
                "enemy c1 d1 e1 .: 1 = 0 + 1, 0 ending",
                "enemy d1 e1 . .: 1 = 0 + 1, 0",
                "enemy d1 c1 . .: 1 = 0 + 1, 0",
                "enemy e1 d1 c1 .: 1 = 0 + 1, 0 ending",
                "own g1 g2 . .: 1 = 0 + 1, 0",
            ]
        );
    }

    #[test]
    fn weights_are_those_of_the_class_last_given() {
        let memory = print(&learnt(&[(FLOOR_RUN, Side::Second); 2], Snapshots::Last));
        assert_eq!(memory[0], "enemy c1 d1 e1 .: 2 = 0 + 2, 102 ending");
        let memory = print(&learnt(&[(FLOOR_RUN, Side::First); 2], Snapshots::Last));
        assert_eq!(memory[0], "own c1 d1 e1 .: 2 = 2 + 0, 103 ending f1");
    }

    #[test]
    fn a_game_that_nobody_won_counts_as_seen_only() {
        let memory = learnt(&[("37475", Side::First)], Snapshots::Last);
        assert_eq!(
            print(&memory),
            ["own c1 d1 . .: 1 = 0 + 0, 0", "own d1 c1 . .: 1 = 0 + 0, 0", "enemy g1 g2 . .: 1 = 0 + 0, 0"]
        );
    }

    #[test]
    fn all_snapshots_count_every_turn() {
        let memory = print(&learnt(&[(FLOOR_RUN, Side::First)], Snapshots::All));
        // The pair to the left stays when the third stone comes, the one to the right does not.
        assert!(memory.contains(&"own d1 c1 . .: 2 = 2 + 0, 0".to_owned()), "{memory:?}");
        assert!(memory.contains(&"own c1 d1 . .: 1 = 1 + 0, 0".to_owned()), "{memory:?}");
    }

    #[test]
    fn a_game_without_a_move_of_the_bot_teaches_nothing() {
        assert_eq!(learnt(&[("4", Side::Second)], Snapshots::Last).iter().len(), 0);
    }
}
