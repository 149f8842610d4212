//! What windows propose: our extension of the article's scheme.
//!
//! A window proposes each of its empty cells that can be played, and what the windows through a cell are worth is
//! summed. A window of one or two stones is worth the share of games that were won with it, an enemy's half of the
//! share that was lost: so habits never outweigh wins, however many games are learnt. A win in one comes before all
//! else, and then the parry of a three, once such a three has lost a game.

use super::{MoveProposal, PatternJudge};
use crate::memory::pattern::{Owner, Pattern};
use crate::memory::record::PatternRecord;

/// Own two stones that were never there but in games that were won, in the units of all these weights.
const SURE: i32 = 1000;
/// A lone stone against two: it takes longer to become four, and there are more of them.
const LONE_DIVISOR: i32 = 10;
/// Stones of the enemy against own ones: whoever only parries never wins.
const ENEMY_DIVISOR: i32 = 2;
/// Games that every window is held to have been seen in beside the counted ones, and that nobody won: so few games say
/// little.
const DOUBT: u64 = 2;
/// More than all windows through a cell that are no threes: there are at most four in each of four directions, 16 (13
/// on 7x6).
const PARRY: i32 = 20 * SURE;
/// More than all threes of the enemy through a cell.
const WIN: i32 = 20 * PARRY;

/// What a window says for each of its empty cells; 0 if it has nothing to say.
pub(in crate::memory) fn weight(pattern: Pattern, record: &PatternRecord) -> i32 {
    let share = |count: u32| {
        let share = u64::from(SURE.unsigned_abs()) * u64::from(count) / (u64::from(record.seen) + DOUBT);
        i32::try_from(share).unwrap_or(SURE) // a count is at most what was seen
    };
    match (pattern.owner, pattern.stones.count()) {
        (Owner::Own, 3) => WIN,
        (Owner::Enemy, 3) if record.lost > 0 => PARRY,
        (Owner::Enemy, 3) => 0,
        (Owner::Own, 2) => share(record.won),
        (Owner::Own, _) => share(record.won) / LONE_DIVISOR,
        (Owner::Enemy, 2) => share(record.lost) / ENEMY_DIVISOR,
        (Owner::Enemy, _) => share(record.lost) / ENEMY_DIVISOR / LONE_DIVISOR,
    }
}

/// Adds up what is proposed for each column.
pub(super) fn sum_by_column(proposals: impl Iterator<Item = MoveProposal>) -> Vec<MoveProposal> {
    let mut sums: Vec<MoveProposal> = Vec::new();
    for proposal in proposals {
        match sums.iter_mut().find(|sum| sum.column == proposal.column) {
            Some(sum) => sum.score += proposal.score,
            None => sums.push(proposal),
        }
    }
    sums
}

impl PatternJudge<'_> {
    /// What a window proposes.
    pub(super) fn of_window(&self, pattern: Pattern) -> Vec<MoveProposal> {
        let record = self.memory.get(&pattern).copied().unwrap_or_default();
        let score = i64::from(weight(pattern, &record));
        if score == 0 {
            return Vec::new();
        }
        let answers = self.memory.vocabulary.answers(pattern.stones).into_iter();
        let cells = answers.filter_map(|place| pattern.cell(place, self.memory.variant));
        let playable = cells.filter(|cell| self.is_playable(*cell));
        playable.map(|cell| MoveProposal { column: cell.column(), score }).collect()
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;
    use crate::memory::judge::Rule;
    use crate::memory::{PatternMemory, Vocabulary};

    const RECORD: PatternRecord =
        PatternRecord { seen: 8, won: 5, lost: 2, is_ending: false, weighting: 0, response: None };

    /// What a position's windows propose, if memory holds `record` for all of them.
    fn proposals(moves: &str, record: PatternRecord) -> Vec<(u8, i64)> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut memory = PatternMemory::new(Vocabulary::Windows, Variant::STANDARD);
        let snapshot = Vocabulary::Windows.snapshot(game.position());
        memory.records.extend(snapshot.iter().map(|&pattern| (pattern, record)));
        let judge = PatternJudge { memory: &memory, rule: Rule::Bounded, position: game.position() };
        let mut found: Vec<(u8, i64)> =
            judge.proposals(&snapshot).iter().map(|it| (it.column.number(), it.score)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn windows_count_by_the_share_of_games_won_or_lost_with_them() {
        // Own: 5 of 8 and 2 of doubt are 500, a lone stone 50. Enemy: 2 of 10 are 200, half of it 100, a lone one 10.
        // O is to move, X has g1.
        assert_eq!(proposals("7", RECORD), [(4, 10), (5, 10), (6, 10), (7, 10)]);
        assert_eq!(
            proposals("7171", PatternRecord { seen: 2, won: 0, lost: 0, ..RECORD }),
            [],
            "without results nothing is proposed"
        );
        // X g1, g2, O a1, a2, X is to move: columns of two, and of the upper one alone; on the floor the lone g1 and
        // a1.
        let found = proposals("7171", RECORD);
        assert_eq!(found.iter().find(|(column, _)| *column == 7), Some(&(7, 550)));
        assert_eq!(found.iter().find(|(column, _)| *column == 1), Some(&(1, 110)));
        assert_eq!(found.iter().find(|(column, _)| *column == 4), Some(&(4, 60)), "both reach d1");
    }

    #[test]
    fn a_win_comes_before_a_parry_and_a_parry_before_all_else() {
        // X a1 a2 a3 is to move, O g1 g2 g3.
        let found = proposals("171717", RECORD);
        let score = |column| found.iter().find(|it| it.0 == column).unwrap().1;
        assert!(score(1) >= WIN.into() && (PARRY.into()..WIN.into()).contains(&score(7)), "{found:?}");
        assert!(found.iter().all(|&(column, score)| column == 1 || column == 7 || score < PARRY.into()));
    }

    #[test]
    fn an_enemy_three_that_never_won_is_let_be() {
        let found = proposals("171717", PatternRecord { lost: 0, ..RECORD });
        assert!(found.iter().all(|&(column, _)| column != 7), "{found:?}");
    }
}
