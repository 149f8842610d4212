//! What the patterns of a position propose: of runs as the article says, of windows as [`windows`] does.

pub(super) mod windows;

use fourfold_engine::{Cell, Column, Position, Side};

use super::pattern::{Owner, Pattern, Vocabulary};
use super::record::{PatternClass, PatternRecord};
use super::store::PatternMemory;

/// Added for an own three, with which the bot can win.
const WINNING_BONUS: i64 = 105;
/// Added for a pattern that ended a game.
const ENDING_BONUS: i64 = 2;
/// Weight of a win of a stored answer.
const RESPONSE_FACTOR: i64 = 3;
/// A pattern counts only if seen more often.
const GATE: u32 = 1;
/// What counts of games may add at most with the bounded rule.
const BOUND: i64 = 30;

/// How much the counts of games may add to the score of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// At most 30 each, so that no habit outweighs a win.
    Bounded,
    /// Without limit, as the article has it: after some hundred games habits outweigh wins, and the bot plays
    /// worse the more it has learnt.
    Literal,
}

impl Rule {
    fn limit(self, count: i64) -> i64 {
        match self {
            Self::Bounded => count.min(BOUND),
            Self::Literal => count,
        }
    }
}

/// A move, and how much speaks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MoveProposal {
    pub(super) column: Column,
    pub(super) score: i64,
}

/// What one pattern proposes; a run does so as a member of each of its lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Voice {
    pub(super) pattern: Pattern,
    pub(super) proposal: MoveProposal,
}

/// What decided a move, from the surest to none: the parts of the scheme that a pattern can speak with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ground {
    /// The stored answer to a pattern, which has won before.
    Response,
    /// A pattern that has ended a game.
    Ending,
    /// A pattern that was met often enough, or three stones of the bot's own.
    Pattern,
    /// Nothing spoke, or only for columns that hand over a win: the move was drawn.
    Chance,
}

/// Judges the patterns of one position.
pub(super) struct PatternJudge<'a> {
    pub(super) memory: &'a PatternMemory,
    pub(super) rule: Rule,
    pub(super) position: &'a Position,
}

impl PatternJudge<'_> {
    /// What these patterns propose. Runs propose one move each for each of their lists; what windows propose is summed
    /// by column.
    pub(super) fn proposals<'p>(&self, patterns: impl IntoIterator<Item = &'p Pattern>) -> Vec<MoveProposal> {
        let proposals = self.voices(patterns).into_iter().map(|voice| voice.proposal);
        match self.memory.vocabulary {
            Vocabulary::Runs => proposals.collect(),
            Vocabulary::Windows => windows::sum_by_column(proposals),
        }
    }

    /// The proposals of these patterns one by one.
    pub(super) fn voices<'p>(&self, patterns: impl IntoIterator<Item = &'p Pattern>) -> Vec<Voice> {
        let passed = patterns.into_iter().copied().filter(|pattern| self.passes_gate(*pattern));
        let voices = passed.flat_map(|pattern| {
            let proposals = match self.memory.vocabulary {
                Vocabulary::Runs => self.of_run(pattern),
                Vocabulary::Windows => self.of_window(pattern),
            };
            proposals.into_iter().map(move |proposal| Voice { pattern, proposal })
        });
        voices.collect()
    }

    /// Patterns seen once or never say nothing, but for own threes, which win.
    fn passes_gate(&self, pattern: Pattern) -> bool {
        pattern.is_own_three() || self.memory.get(&pattern).is_some_and(|record| record.seen > GATE)
    }

    /// What a run proposes as a member of each of its lists.
    fn of_run(&self, pattern: Pattern) -> Vec<MoveProposal> {
        PatternClass::of(pattern.owner)
            .into_iter()
            .filter_map(|class| self.of_member(pattern, class))
            .collect()
    }

    /// What a run proposes as a member of one list.
    fn of_member(&self, pattern: Pattern, class: PatternClass) -> Option<MoveProposal> {
        let record = self.memory.get(&pattern).copied().unwrap_or_default();
        let mut score = if pattern.stones.is_three() { 2 * class.weight() } else { 0 };
        if pattern.is_own_three() && class == PatternClass::Aggressive {
            score += WINNING_BONUS;
        }
        if record.is_ending {
            score += ENDING_BONUS;
        }
        if class == PatternClass::Warning && record.lost > record.won {
            score += self.rule.limit(i64::from(record.lost));
        }
        let response = trusted_response(&record);
        if response.is_some() {
            score += self.rule.limit(RESPONSE_FACTOR * i64::from(record.won));
        }
        match response.filter(|&cell| self.is_playable(cell)) {
            Some(cell) => Some(MoveProposal { column: cell.column(), score }),
            None => self.at_better_end(pattern, class, score),
        }
    }

    /// What lets a run speak as it does.
    pub(super) fn ground(&self, voice: &Voice) -> Ground {
        let record = self.memory.get(&voice.pattern).copied().unwrap_or_default();
        let response = trusted_response(&record).filter(|&cell| self.is_playable(cell));
        if response.is_some() {
            Ground::Response
        } else if record.is_ending {
            Ground::Ending
        } else {
            Ground::Pattern
        }
    }

    /// Proposes the better end of a run.
    fn at_better_end(&self, pattern: Pattern, class: PatternClass, score: i64) -> Option<MoveProposal> {
        let ends = self.memory.vocabulary.answers(pattern.stones).into_iter().filter_map(|place| {
            let cell = pattern.cell(place, self.memory.variant)?;
            let score = score + self.end_weight(pattern, place, class);
            self.is_playable(cell).then(|| MoveProposal { column: cell.column(), score })
        });
        // `max_by_key` keeps the last of equal ends, so from the back it keeps the one ahead.
        ends.collect::<Vec<_>>().into_iter().rev().max_by_key(|end| end.score)
    }

    /// The weight of an end that can be played.
    fn end_weight(&self, pattern: Pattern, place: i32, class: PatternClass) -> i64 {
        let completes_four = if self.completes_four(pattern, place) { class.weight() } else { 0 };
        1 + completes_four + self.weight_beyond(pattern, place)
    }

    /// What the cell beyond the end of a run adds.
    fn weight_beyond(&self, pattern: Pattern, place: i32) -> i64 {
        let beyond = if place < 0 { place - 1 } else { place + 1 };
        match pattern.cell(beyond, self.memory.variant) {
            None => -1,
            Some(cell) => match self.position.stone_at(cell) {
                None => 1,
                Some(side) if side == self.side(pattern.owner) => 2,
                Some(_) => -1,
            },
        }
    }

    /// Whether a stone of the owner at this place would make four along the pattern's axis.
    fn completes_four(&self, pattern: Pattern, place: i32) -> bool {
        let owner = self.side(pattern.owner);
        let is_owners = |place: &i32| {
            let cell = pattern.cell(*place, self.memory.variant);
            cell.is_some_and(|cell| self.position.stone_at(cell) == Some(owner))
        };
        let ahead = (place + 1..=place + 3).take_while(is_owners).count();
        let behind = (place - 3..place).rev().take_while(is_owners).count();
        ahead + behind >= 3
    }

    fn side(&self, owner: Owner) -> Side {
        let bot = self.position.side_to_move();
        match owner {
            Owner::Own => bot,
            Owner::Enemy => bot.opponent(),
        }
    }

    fn is_playable(&self, cell: Cell) -> bool {
        self.position.playable().contains(cell, self.memory.variant)
    }
}

/// The stored answer, if games with the pattern were won more often than lost.
fn trusted_response(record: &PatternRecord) -> Option<Cell> {
    record.response.filter(|_| record.won > record.lost)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;
    use crate::memory::record::PatternRecord;

    /// What the patterns of a position propose, if memory holds `record` for all of them.
    fn proposals(moves: &str, record: PatternRecord, rule: Rule) -> Vec<(u8, i64)> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut memory = PatternMemory::new(Vocabulary::Runs, Variant::STANDARD);
        let snapshot = Vocabulary::Runs.snapshot(game.position());
        memory.records.extend(snapshot.iter().map(|&pattern| (pattern, record)));
        let judge = PatternJudge { memory: &memory, rule, position: game.position() };
        judge.proposals(&snapshot).iter().map(|it| (it.column.number(), it.score)).collect()
    }

    const SEEN_TWICE: PatternRecord =
        PatternRecord { seen: 2, won: 0, lost: 0, is_ending: false, weighting: 0, response: None };

    #[test]
    fn only_own_threes_pass_the_gate_unseen() {
        let once = PatternRecord { seen: 1, ..SEEN_TWICE };
        assert_eq!(proposals("1727", once, Rule::Bounded), []);
        // Own a1 to c1: 2 x 10 + 105, d1 1, e1 empty 1, four 10; as tactical 2 x 3 + 1 + 1 + 3. Second's
        // column of three is not remembered.
        assert_eq!(proposals("172737", once, Rule::Bounded), [(4, 137), (4, 11)]);
    }

    #[test]
    fn pairs_propose_their_better_end() {
        // X: c1 and d1. b1 and e1 are alike: 1 for the cell and 1 for the empty one beyond; of equal ends the
        // one ahead is named, as a member of two lists. O: g3, below g4.
        let found = proposals("3747", SEEN_TWICE, Rule::Bounded);
        assert_eq!(found, [(5, 2), (5, 2), (2, 2), (2, 2), (7, 2), (7, 2)]);
    }

    #[test]
    fn the_stone_beyond_a_gap_counts_and_the_gap_completes_four() {
        // X: a1, b1 and d1: 1 for c1, 2 for the own stone beyond, and the weight of the list.
        let found = proposals("172747", SEEN_TWICE, Rule::Bounded);
        assert_eq!(found[..2], [(3, 13), (3, 6)]);
    }

    #[test]
    fn an_end_before_the_edge_or_an_enemy_weighs_less() {
        // X: b1 and c1. Ahead of the run to the left lies a1, behind it d1 with e1 empty: d1 is better.
        let found = proposals("2737", SEEN_TWICE, Rule::Bounded);
        assert_eq!(found[..4], [(4, 2); 4]);
        // X: b1 and c1, O: e1. Now both ends weigh 0, and the one ahead is named.
        let found = proposals("2537", SEEN_TWICE, Rule::Bounded);
        assert_eq!(found[..4], [(4, 0), (4, 0), (1, 0), (1, 0)]);
    }

    #[test]
    fn counts_are_bounded_or_not() {
        let lost = PatternRecord { seen: 99, won: 10, lost: 50, ..SEEN_TWICE };
        let enemy_pair = |rule| proposals("3747", lost, rule)[4..].to_vec();
        assert_eq!(enemy_pair(Rule::Bounded), [(7, 2), (7, 32)], "defensive and warning");
        assert_eq!(enemy_pair(Rule::Literal), [(7, 2), (7, 52)]);
        let response = "c2".parse().ok();
        let won = PatternRecord { seen: 99, won: 50, lost: 10, response, ..SEEN_TWICE };
        assert_eq!(proposals("3747", won, Rule::Bounded)[0], (3, 30), "the stored answer");
        assert_eq!(proposals("3747", won, Rule::Literal)[0], (3, 150));
    }

    #[test]
    fn an_answer_is_played_only_if_it_won_more_than_it_lost() {
        let response = "c2".parse().ok();
        let lost = PatternRecord { seen: 99, won: 10, lost: 10, response, ..SEEN_TWICE };
        assert_eq!(proposals("3747", lost, Rule::Bounded)[0], (5, 2));
    }

    #[test]
    fn an_answer_that_cannot_be_played_leaves_the_search_for_an_end() {
        let response = "c3".parse().ok();
        let won = PatternRecord { seen: 99, won: 5, lost: 1, response, is_ending: true, ..SEEN_TWICE };
        assert_eq!(proposals("3747", won, Rule::Bounded)[0], (5, 15 + 2 + 2));
    }

    #[test]
    fn a_pattern_without_a_playable_end_proposes_nothing() {
        // O, to move, has d1 and e1; on them lie d2 and e2 of X, whose ends c2 and f2 float.
        let found = proposals("14455", SEEN_TWICE, Rule::Bounded);
        let columns: Vec<u8> = found.into_iter().map(|(column, _)| column).collect();
        assert_eq!(columns, [6, 6, 3, 3]);
    }
}
