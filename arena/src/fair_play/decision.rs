//! How hard a position is.

use std::sync::atomic::AtomicBool;

use fourfold_bots::Level;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::{ColumnScores, Score, SearchLimits};
use fourfold_engine::{BySide, Game, Position, Side};

/// Earlier plies do not count: openings are learnt by heart, and who knows one decides nothing.
const FIRST_PLY: u32 = 8;

/// Levels of [`Level`].
pub(super) const LEVELS: usize = Level::MAX as usize;

/// Classes by how far off the end is, and how many columns keep the value.
pub(super) const CLASSES: usize = DISTANCES * WIDTHS;

const DISTANCES: usize = 4;

/// Plies to the end that one class of distances covers; the last has all beyond.
const DISTANCE_WIDTH: usize = 8;

/// One column, two, and more.
const WIDTHS: usize = 3;

/// A position in which some column throws the value away.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The same for a position and its mirror image.
    pub key: u64,
    /// Stones on the board.
    pub ply: u32,
    pub(super) class: usize,
    /// How likely each level fails, from the lowest on.
    pub(super) fails: [f64; LEVELS],
}

/// What somebody did in one.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    pub decision: Decision,
    /// Whether the move kept the value.
    pub kept: bool,
}

impl Decision {
    /// `None` if every column keeps the value, or the game has only begun.
    pub fn new(position: &Position, scores: &ColumnScores) -> Option<Self> {
        let best = scores.best()?.sign();
        let keeping = scores.iter().filter(|(_, score)| score.sign() == best).count();
        if keeping == scores.iter().count() || position.ply() < FIRST_PLY {
            return None;
        }
        let distance = scores.best()?.plies_to_end(position) as usize / DISTANCE_WIDTH;
        let mut fails = [0.0; LEVELS];
        for (level, fail) in (1..=Level::MAX).filter_map(Level::new).zip(&mut fails) {
            *fail = level.chance_to_err(position, scores);
        }
        Some(Self {
            key: position.canonical_key(),
            ply: position.ply(),
            class: distance.min(DISTANCES - 1) * WIDTHS + keeping.min(WIDTHS) - 1,
            fails,
        })
    }

    /// How likely somebody of a level fails, which may lie between two.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a level, from 1 on")]
    pub(super) fn fail_at(&self, level: f64) -> f64 {
        let level = level.clamp(1.0, f64::from(Level::MAX));
        let below = level.floor() as usize;
        let above = below.min(LEVELS - 1);
        let part = level.fract();
        self.fails[below - 1] * (1.0 - part) + self.fails[above] * part
    }

    /// The least likely that somebody up to a level fails: a threat that one overlooks, another sees and answers
    /// wrongly, so the highest is not always the one that fails least.
    pub(super) fn least_up_to(&self, level: f64) -> f64 {
        let below = (1..).map(f64::from).zip(self.fails).take_while(|(lower, _)| *lower <= level);
        below.map(|(_, fail)| fail).fold(self.fail_at(level), f64::min)
    }
}

/// Positions that the solver may expand for one game: some seconds. What needs more is left out.
const NODES_MAX: u64 = 100_000_000;

/// The decisions of both players of a game, solved. `None` if it is too hard, or `stop` is set.
pub fn solve(
    judge: &mut Judge,
    game: &Game,
    opening: u32,
    stop: &AtomicBool,
) -> Option<BySide<Vec<Decided>>> {
    let opening = opening.min(game.ply());
    let limits = SearchLimits { nodes: Some(NODES_MAX), stop };
    let scores = judge.scores(game, opening, limits).ok()?.value;
    Some(decisions(game, opening, &scores))
}

/// The decisions of both players of a game after its opening. `scores` begins with those of the first move after it.
pub fn decisions(game: &Game, opening: u32, scores: &[ColumnScores]) -> BySide<Vec<Decided>> {
    let mut found = BySide::<Vec<Decided>>::default();
    let mut so_far = Game::new(game.position().variant());
    for (ply, &column) in (0..).zip(game.moves()) {
        let scores = if ply < opening { None } else { scores.get((ply - opening) as usize) };
        let decision = scores.and_then(|scores| Decision::new(so_far.position(), scores).zip(Some(scores)));
        if let Some((decision, scores)) = decision {
            let sign = |score: Score| score.sign();
            let kept = scores.get(column).map(sign) == scores.best().map(sign);
            found[Side::to_move_at(ply)].push(Decided { decision, kept });
        }
        if so_far.play(column).is_err() {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Column, Variant};

    use super::*;

    fn scores(numbers: [i32; 7]) -> ColumnScores {
        let column = |index| Column::from_index(index).unwrap();
        let scores = numbers.into_iter().map(Score::new);
        scores.enumerate().map(|(index, score)| (column(index), score)).collect()
    }

    #[test]
    fn a_far_win_is_harder_than_a_near_one_and_easier_for_those_who_see_further() {
        let game = Game::from_moves(Variant::STANDARD, "44224466").unwrap();
        let decision = |numbers| Decision::new(game.position(), &scores(numbers)).unwrap();
        let (far, near) = (decision([-3, -3, -3, 2, -3, -3, -3]), decision([-3, -3, -3, 17, -3, -3, -3]));
        assert!(far.fail_at(4.0) > 0.5 && near.fail_at(4.0) < 0.1);
        assert!(far.fail_at(4.0) > far.fail_at(20.0) && far.class > near.class);
        assert!((far.fail_at(4.5) - f64::midpoint(far.fail_at(4.0), far.fail_at(5.0))).abs() < 1e-9);
    }

    #[test]
    fn openings_and_positions_without_a_choice_are_no_decisions() {
        let game = Game::from_moves(Variant::STANDARD, "442244661").unwrap();
        let (choice, none) = (scores([0, 0, 0, 2, 0, 0, 0]), scores([2, 1, 2, 2, 3, 2, 2]));
        let all = |scores: &ColumnScores| decisions(&game, 0, &vec![*scores; 9]);
        assert_eq!((all(&choice).first.len(), all(&choice).second.len()), (1, 0));
        assert!(!all(&choice).first[0].kept);
        assert!(all(&none).first.is_empty());
        assert!(decisions(&game, 9, &[]).first.is_empty());
    }
}
