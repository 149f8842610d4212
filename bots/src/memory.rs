//! The pattern memory of 2004: it remembers what it saw when it won and lost.
//!
//! The bot sees a position as a handful of patterns ([`Vocabulary`]), looks each up in its memory
//! ([`PatternMemory`]) and plays what they propose; after a game it counts the patterns of its last turn as won
//! or lost. From the 2004 pattern-memory article; where the text is silent or contradicts itself, comments say
//! what we chose. With [`Vocabulary::Windows`] patterns may have gaps: our extension.

mod bytes;
mod judge;
mod learner;
mod pattern;
mod personal;
mod record;
mod store;
mod xml;

use std::sync::atomic::AtomicBool;

use fourfold_engine::rng::GameRng;
use fourfold_engine::{Column, Position, Variant, rng};
use rand::RngExt;
use rand::seq::SliceRandom;

pub use self::judge::{Ground, Rule};
use self::judge::{MoveProposal, PatternJudge, Voice};
pub(crate) use self::learner::learner;
pub use self::pattern::{Heading, Owner, Pattern, PatternStones, Vocabulary};
pub use self::personal::{Decision, PersonalMemory};
pub use self::record::PatternRecord;
pub use self::store::{PatternMemory, Snapshots};
pub use self::xml::{XmlError, read_xml, write_xml};
use crate::bot::{Bot, BotError, Choice, GameRecord, MoveBudget, SearchInfo};
use crate::reason::Reason;

/// After so many vetoed columns the bot gives up on its proposals: "a few" in the article.
const VETOES_MAX: usize = 3;
/// How often a random move is drawn again if it is vetoed.
const REDRAWS_MAX: usize = 10;

/// The bot with the memory.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) store: PatternMemory,
    pub(crate) rule: Rule,
    pub(crate) snapshots: Snapshots,
    pub(crate) seed: u64,
}

impl Memory {
    /// The line length that the patterns are made for.
    pub(crate) const CONNECT: u8 = 4;

    /// The move for a position in which the game goes on, and the score of its proposal, if there was one.
    pub(crate) fn best(&self, position: &Position) -> (Column, Option<i64>) {
        best(&self.store, self.rule, self.seed, position)
    }
}

/// The move of a bot with this memory, see [`Memory::best`].
fn best(store: &PatternMemory, rule: Rule, seed: u64, position: &Position) -> (Column, Option<i64>) {
    // Draws change with what was learnt: otherwise it would lose the same game again and again.
    let mut rng = rng::for_position(seed.wrapping_add(store.experience()), position);
    let patterns = store.vocabulary().snapshot(position);
    let judge = PatternJudge { memory: store, rule, position };
    let proposals = judge.proposals(&patterns);
    if patterns.is_empty() {
        return (random_column(position, &mut rng), None);
    }
    match first_not_vetoed(position, proposals, &mut rng) {
        Some(MoveProposal { column, score }) => (column, Some(score)),
        None => (random_column_not_vetoed(position, &mut rng), None),
    }
}

/// What a voice says, with how often its pattern was met.
fn reason(store: &PatternMemory, Voice { pattern, proposal }: Voice) -> Reason {
    let record = store.get(&pattern).copied().unwrap_or_default();
    Reason {
        column: proposal.column,
        weight: proposal.score,
        pattern: pattern.to_string(),
        counts: learner::counts(&record),
    }
}

/// Of voices of runs for the same stones and column the loudest, which is the one that counts when the bot moves: a run
/// speaks as a member of two lists, and two stones in a row are a pair in either direction.
fn loudest(voices: Vec<Voice>, variant: Variant) -> Vec<Voice> {
    let what = |voice: &Voice| {
        let pattern = voice.pattern;
        let mut stones: Vec<_> =
            pattern.stones.places().filter_map(|place| pattern.cell(place, variant)).collect();
        stones.sort_unstable();
        (pattern.owner, stones, voice.proposal.column)
    };
    let mut loudest: Vec<Voice> = Vec::new();
    for voice in voices {
        match loudest.iter_mut().find(|other| what(other) == what(&voice)) {
            Some(other) if other.proposal.score >= voice.proposal.score => {}
            Some(other) => *other = voice,
            None => loudest.push(voice),
        }
    }
    loudest
}

/// The best proposal that is not vetoed; of equal ones a random one. `None` if there is none, or after some
/// vetoes.
fn first_not_vetoed(
    position: &Position,
    mut proposals: Vec<MoveProposal>,
    rng: &mut GameRng,
) -> Option<MoveProposal> {
    proposals.shuffle(rng);
    proposals.sort_by_key(|proposal| std::cmp::Reverse(proposal.score));
    let mut vetoed: Vec<Column> = Vec::new();
    for proposal in proposals {
        if vetoed.contains(&proposal.column) {
            continue;
        }
        if !is_vetoed(position, proposal.column) {
            return Some(proposal);
        }
        vetoed.push(proposal.column);
        if vetoed.len() == VETOES_MAX {
            break;
        }
    }
    None
}

/// The columns among which a bot with this memory chooses, from left to right. As it draws only so often, it may seldom
/// play another one: after three vetoes among equal proposals, or eleven vetoed random moves.
fn leaning(memory: &PatternMemory, rule: Rule, position: &Position) -> Vec<Column> {
    let patterns = memory.vocabulary().snapshot(position);
    let open: Vec<Column> = position.open_columns().collect();
    if patterns.is_empty() {
        return open;
    }
    let loudest = all_not_vetoed(position, PatternJudge { memory, rule, position }.proposals(&patterns));
    if !loudest.is_empty() {
        return loudest;
    }
    let safe: Vec<Column> = open.iter().copied().filter(|column| !is_vetoed(position, *column)).collect();
    if safe.is_empty() { open } else { safe }
}

/// The columns of all that [`first_not_vetoed`] draws from, from left to right.
fn all_not_vetoed(position: &Position, mut proposals: Vec<MoveProposal>) -> Vec<Column> {
    proposals.sort_by_key(|proposal| (std::cmp::Reverse(proposal.score), proposal.column));
    let mut vetoed: Vec<Column> = Vec::new();
    for equal in proposals.chunk_by(|one, other| one.score == other.score) {
        let mut columns: Vec<Column> = equal.iter().map(|proposal| proposal.column).collect();
        columns.dedup();
        columns.retain(|column| !vetoed.contains(column));
        let (handing_over, safe): (Vec<Column>, Vec<Column>) =
            columns.into_iter().partition(|column| is_vetoed(position, *column));
        if !safe.is_empty() {
            return safe;
        }
        vetoed.extend(handing_over);
        if vetoed.len() >= VETOES_MAX {
            break;
        }
    }
    Vec::new()
}

/// Whether the opponent could win on top of a stone in this column, unless the stone itself wins.
///
/// The article only says that a move is checked against an instant win of the opponent. If that meant any win,
/// the bot would parry threats that it has never met; but in the article a new kind of run succeeds at first.
fn is_vetoed(position: &Position, column: Column) -> bool {
    let after = position.play_unchecked(column);
    let is_win = after.has_line_of_last_mover();
    !is_win && after.is_open(column) && after.play_unchecked(column).has_line_of_last_mover()
}

fn random_column(position: &Position, rng: &mut GameRng) -> Column {
    let legal: Vec<Column> = position.open_columns().collect();
    legal[rng.random_range(0..legal.len())]
}

/// A random column, drawn again some times if it is vetoed.
fn random_column_not_vetoed(position: &Position, rng: &mut GameRng) -> Column {
    let mut column = random_column(position, rng);
    for _ in 0..REDRAWS_MAX {
        if !is_vetoed(position, column) {
            break;
        }
        column = random_column(position, rng);
    }
    column
}

impl Bot for Memory {
    fn choose(
        &mut self,
        position: &Position,
        _budget: MoveBudget,
        _stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        let (column, score) = self.best(position);
        let info = score.map(|score| SearchInfo {
            score: i32::try_from(score).unwrap_or(i32::MAX), // of the literal rule, for show
            depth: 0,
            nodes: 1,
            pv: vec![column],
        });
        Ok(Choice { column, info })
    }

    fn game_over(&mut self, game: &GameRecord) {
        if game.game.variant() == self.store.variant() {
            self.store.learn(game, self.snapshots);
        }
    }

    fn knowledge(&self) -> Option<String> {
        Some(write_xml(&self.store))
    }

    fn reasons(&mut self, position: &Position) -> Vec<Reason> {
        if position.outcome().is_some() {
            return Vec::new();
        }
        let patterns = self.store.vocabulary().snapshot(position);
        let judge = PatternJudge { memory: &self.store, rule: self.rule, position };
        let voices = match self.store.vocabulary() {
            Vocabulary::Runs => loudest(judge.voices(&patterns), self.store.variant()),
            Vocabulary::Windows => judge.voices(&patterns),
        };
        let mut reasons: Vec<Reason> = voices.into_iter().map(|voice| reason(&self.store, voice)).collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.weight)); // stable: equal ones keep their order
        reasons
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;

    fn fresh(rule: Rule, vocabulary: Vocabulary) -> Memory {
        let store = PatternMemory::new(vocabulary, Variant::STANDARD);
        Memory { store, rule, snapshots: Snapshots::Last, seed: 0 }
    }

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn proposal(number: u8, score: i64) -> MoveProposal {
        MoveProposal { column: Column::from_number(number).unwrap(), score }
    }

    #[track_caller]
    fn check_first(moves: &str, proposals: &[MoveProposal], expected: Option<u8>) {
        let chosen = first_not_vetoed(&position(moves), proposals.to_vec(), &mut rng::seeded(1));
        assert_eq!(chosen.map(|proposal| proposal.column.number()), expected);
        let all = all_not_vetoed(&position(moves), proposals.to_vec());
        assert_eq!(all.iter().map(|column| column.number()).collect::<Vec<_>>(), Vec::from_iter(expected));
    }

    #[test]
    fn the_highest_proposal_is_played() {
        check_first("", &[proposal(1, 3), proposal(2, 5), proposal(2, 1)], Some(2));
        check_first("", &[], None);
    }

    #[test]
    fn of_equal_proposals_a_random_one_is_played() {
        let choose = |seed| {
            let proposals = vec![proposal(1, 3), proposal(2, 3)];
            first_not_vetoed(&position(""), proposals, &mut rng::seeded(seed)).unwrap().column.number()
        };
        let mut chosen: Vec<u8> = (0..20).map(choose).collect();
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen, [1, 2]);
    }

    // . O O O . . X   X is to move, and O would win on a2 and e2.
    // . X O X . . X
    const FLOATING_THREE: &str = "22447373";

    #[test]
    fn a_move_below_a_win_of_the_opponent_is_vetoed() {
        let vetoed = |moves| {
            let position = position(moves);
            let columns = position.open_columns().filter(|&column| is_vetoed(&position, column));
            columns.map(Column::number).collect::<Vec<_>>()
        };
        assert_eq!(vetoed(FLOATING_THREE), [1, 5]);
        assert_eq!(vetoed("224473737"), [], "O, to move, may play below its own win");
        check_first(
            FLOATING_THREE,
            &[proposal(1, 9), proposal(5, 8), proposal(1, 7), proposal(2, 1)],
            Some(2),
        );
        check_first(FLOATING_THREE, &[proposal(1, 9), proposal(5, 8)], None);
        let equal = [proposal(5, 3), proposal(6, 3), proposal(2, 3), proposal(4, 2)];
        let all = all_not_vetoed(&position(FLOATING_THREE), equal.to_vec());
        assert_eq!(all.iter().map(|column| column.number()).collect::<Vec<_>>(), [2, 6]);
    }

    #[test]
    fn a_winning_move_is_never_vetoed() {
        // . O O O . . .   X wins on a1, on top of which O would.
        // . X X X . . .
        let position = position("223344");
        assert!(position.play_unchecked(Column::from_number(1).unwrap()).has_line_of_last_mover());
        assert!(!is_vetoed(&position, Column::from_number(1).unwrap()));
    }

    #[test]
    fn an_own_three_is_completed_with_or_without_memory() {
        for rule in [Rule::Bounded, Rule::Literal] {
            for vocabulary in [Vocabulary::Runs, Vocabulary::Windows] {
                let bot = fresh(rule, vocabulary);
                for (moves, winning) in [("172737", 4), ("374757", 2), ("121213", 1)] {
                    let (column, _) = bot.best(&position(moves));
                    let after = position(moves).play_unchecked(column);
                    assert!(after.has_line_of_last_mover(), "column {winning} or another wins after {moves}");
                }
            }
        }
    }

    #[test]
    fn the_weightiest_reason_is_the_move_that_is_played() {
        for vocabulary in [Vocabulary::Runs, Vocabulary::Windows] {
            let mut bot = fresh(Rule::Bounded, vocabulary);
            let position = position("172737");
            let (column, _) = bot.best(&position);
            let reasons = bot.reasons(&position);
            assert_eq!(reasons[0].column, column, "{reasons:?}");
            assert!(reasons[0].pattern.starts_with("own a1 b1 c1"), "{reasons:?}");
            let mut spoken: Vec<_> =
                reasons.iter().map(|said| (&said.pattern, said.column.number())).collect();
            spoken.sort_unstable();
            spoken.dedup();
            assert_eq!(spoken.len(), reasons.len(), "a pattern speaks once for a column: {reasons:?}");
        }
        assert_eq!(fresh(Rule::Bounded, Vocabulary::Runs).reasons(&position("1212121")), []);
    }

    #[test]
    fn two_stones_speak_once_for_a_column() {
        // X b1 and c1 are a pair to the left and one to the right; both propose d1.
        let position = position("2737");
        let mut bot = fresh(Rule::Bounded, Vocabulary::Runs);
        let record = PatternRecord { seen: 2, ..PatternRecord::default() };
        bot.store.records.extend(Vocabulary::Runs.snapshot(&position).into_iter().map(|it| (it, record)));
        let reasons = bot.reasons(&position);
        let own: Vec<_> = reasons.iter().filter(|reason| reason.pattern.starts_with("own")).collect();
        assert_eq!(own.len(), 1, "{reasons:?}");
        assert_eq!(own[0].column.number(), 4);
    }

    #[test]
    fn what_was_learnt_changes_the_draws() {
        let mut bot = fresh(Rule::Bounded, Vocabulary::Runs);
        let empty = Position::new(Variant::STANDARD);
        let mut choices = Vec::new();
        for _ in 0..10 {
            choices.push(bot.best(&empty).0.number());
            let game = Game::from_moves(Variant::STANDARD, "3747576").unwrap();
            let record = GameRecord {
                game,
                side: fourfold_engine::Side::First,
                result: fourfold_engine::SideResult::Win,
            };
            bot.game_over(&record);
        }
        choices.sort_unstable();
        choices.dedup();
        assert!(choices.len() > 2, "{choices:?}");
    }
}
