//! How well somebody plays, as counts of exact verdicts.

use super::{Decisions, Verdict, Worth};
use crate::search::Score;

/// Sums of verdicts on one player's moves.
///
/// A *decision* is a position in which some legal move throws its value away. Rates over all positions flatter: where
/// every move keeps the value, anybody finds one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Skill {
    /// Moves that were judged.
    pub moves: u64,
    /// Of these, the ones that kept the position's value.
    pub good: u64,
    /// Of the moves, those than which none was better.
    pub optimal: u64,
    /// Moves in decision positions.
    pub decisions: u64,
    /// Of these, the ones that kept the position's value.
    pub good_decisions: u64,
    /// The score that all moves together gave away, in stones.
    pub loss: u64,
}

impl Skill {
    pub fn add(&mut self, verdict: &Verdict) {
        let Verdict { before, after, is_decision, .. } = *verdict;
        self.add_move(&Worth { score: before, is_decision }, after);
    }

    /// Adds a move with the score `after`, for the side that made it, in a position of this worth.
    pub fn add_move(&mut self, before: &Worth, after: Score) {
        let is_good = u64::from(before.is_kept_by(after));
        let is_decision = u64::from(before.is_decision);
        self.moves += 1;
        self.good += is_good;
        self.optimal += u64::from(before.score == after);
        self.decisions += is_decision;
        self.good_decisions += is_good * is_decision;
        self.loss += u64::from(before.score.value().abs_diff(after.value()));
    }

    /// Adds the sums of other moves of the same player.
    pub fn add_all(&mut self, other: &Self) {
        let Self { moves, good, optimal, decisions, good_decisions, loss } = other;
        self.moves += moves;
        self.good += good;
        self.optimal += optimal;
        self.decisions += decisions;
        self.good_decisions += good_decisions;
        self.loss += loss;
    }

    /// Moves that were judged.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Moves in decision positions.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Moves that changed who wins, to the player's harm.
    pub fn blunders(&self) -> u64 {
        self.moves - self.good
    }

    /// The positions in which there was something to lose, and how often it was lost.
    pub fn decided(&self) -> Decisions {
        Decisions { faced: self.decisions, failed: self.decisions.saturating_sub(self.good_decisions) }
    }

    /// The share of moves that kept the position's value, 0 to 1; `None` without moves.
    pub fn good_rate(&self) -> Option<f64> {
        ratio(self.good, self.moves)
    }

    /// The same among decision positions: the accuracy; `None` if there was nothing to decide.
    pub fn accuracy(&self) -> Option<f64> {
        ratio(self.good_decisions, self.decisions)
    }

    /// The share of moves than which none was better, 0 to 1; `None` without moves.
    pub fn optimal_rate(&self) -> Option<f64> {
        ratio(self.optimal, self.moves)
    }

    /// The score given away by a move on average, in stones; `None` without moves.
    pub fn mean_loss(&self) -> Option<f64> {
        ratio(self.loss, self.moves)
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody plays 2^53 moves")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Skill by the stage of the game: the first band is the beginning.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlyBands {
    bands: Vec<Skill>,
}

impl PlyBands {
    /// Plies of a band.
    pub const WIDTH: u32 = 7;

    pub fn add(&mut self, verdict: &Verdict) {
        let band = (verdict.ply / Self::WIDTH) as usize;
        if band >= self.bands.len() {
            self.bands.resize_with(band + 1, Skill::default);
        }
        self.bands[band].add(verdict);
    }

    /// The bands in which moves were judged: the first and the last ply of each, and the skill there.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, &Skill)> {
        let starts = (0..).step_by(Self::WIDTH as usize);
        let bands = starts.zip(&self.bands).map(|(start, skill)| (start, start + Self::WIDTH - 1, skill));
        bands.filter(|(_, _, skill)| skill.moves > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Column;

    fn verdict(ply: u32, scores: [i32; 2]) -> Verdict {
        let column = |number| Column::from_number(number).unwrap();
        let scores = [(column(1), Score::new(scores[0])), (column(2), Score::new(scores[1]))];
        Verdict::new(ply, column(1), &scores.into_iter().collect())
    }

    #[test]
    fn accuracy_counts_decisions_only() {
        let mut skill = Skill::default();
        for scores in [[3, 3], [3, 4], [0, 2], [2, -1]] {
            skill.add(&verdict(8, scores));
        }
        assert_eq!((skill.moves(), skill.decisions(), skill.blunders()), (4, 2, 1));
        assert_eq!(skill.good_rate(), Some(0.75));
        assert_eq!(skill.accuracy(), Some(0.5));
        assert_eq!(skill.optimal_rate(), Some(0.5));
        assert_eq!(skill.mean_loss(), Some(0.75));
        let mut twice = skill;
        twice.add_all(&skill);
        assert_eq!((twice.moves(), twice.accuracy()), (8, Some(0.5)));
    }

    #[test]
    fn bands_without_moves_are_left_out() {
        let mut bands = PlyBands::default();
        bands.add(&verdict(6, [1, 0]));
        bands.add(&verdict(21, [0, 1]));
        bands.add(&verdict(27, [0, 0]));
        let found: Vec<_> = bands.iter().map(|(from, to, skill)| (from, to, skill.moves())).collect();
        assert_eq!(found, [(0, 6, 1), (21, 27, 2)]);
    }
}
