//! Finds puzzles in judged games.
//!
//! A puzzle begins where one column alone keeps the value of the position, a win or a draw, and goes on for as long as
//! that stays so against the reply that resists the longest. So at each step of the solution there is one right answer,
//! and the solver has proven that there is no other.

use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_engine::notation::print_moves;
use fourfold_engine::review::Worth;
use fourfold_engine::search::Value;
use fourfold_engine::solver::{ColumnScores, Score};
use fourfold_engine::{Column, Position, Variant};

use super::grading::{Features, prior, quality};
use crate::analysis::judged::{GameJudge, Judged, JudgedMove};
use crate::model::ids::{GameId, PuzzleId};
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{Goal, NewPuzzle};

/// Fewer stones on the board make a question about openings: the book answers it, not looking ahead.
const PLY_MIN: u32 = 8;

/// A win takes at least so many plies: three stones of one's own. What wins with two is seen at a glance.
const WIN_PLIES_MIN: u32 = 5;

/// And at most so many: eight stones of one's own. Beyond, nobody finds it by looking ahead.
const WIN_PLIES_MAX: u32 = 15;

/// A draw is a puzzle if all other moves lose within so many plies: then it can be seen why they do.
const LOSS_PLIES_MAX: u32 = 17;

/// Cells that are empty at least where a draw is to be found: near the end there is nothing to choose.
const DRAW_EMPTY_CELLS_MIN: u32 = 10;

/// Other columns that do not lose at once: with fewer, the right one is what is left over.
const TEMPTING_MIN: usize = 2;

/// Moves of the solver's at most: a longer line is a chore.
const OWN_MOVES_MAX: usize = 5;

/// Positions that the solver may expand for each position of a line. The game was judged before, so it knows a lot.
const NODES_MAX: u64 = 5_000_000;

/// What was found in a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FoundPuzzles {
    /// The moves to the position.
    pub(crate) moves: Vec<Column>,
    /// The solution: the solver's moves and the replies in turn.
    pub(crate) line: Vec<Column>,
    /// What is to be found.
    pub(crate) goal: Goal,
    /// What makes it hard.
    pub(crate) features: Features,
    id: PuzzleId,
}

impl FoundPuzzles {
    /// As it is stored.
    pub(crate) fn into_puzzle(self, game: Option<GameId>, made_at: UnixMillis) -> NewPuzzle {
        NewPuzzle {
            id: self.id,
            moves: print_moves(&self.moves),
            line: print_moves(&self.line),
            goal: self.goal,
            prior: prior(&self.features),
            quality: quality(&self.features),
            game,
            made_at,
        }
    }
}

/// The name of the puzzle of a position: its key without regard to mirroring, in base 36.
///
/// # Panics
///
/// Never: base 36 is made of characters that ids have.
pub(crate) fn puzzle_id(position: &Position) -> PuzzleId {
    let mut key = position.canonical_key();
    let mut digits = Vec::new();
    while key > 0 || digits.is_empty() {
        let digit = u32::try_from(key % 36).expect("less than 36");
        digits.push(char::from_digit(digit, 36).expect("a digit of base 36"));
        key /= 36;
    }
    // The letter in front keeps names apart from words in addresses, such as `daily`.
    digits.push('p');
    digits.into_iter().rev().collect::<String>().parse().expect("digits and letters make an id")
}

/// The best puzzle of a judged game on the standard board, if there is one.
pub(crate) fn mine(judged: &Judged, judge: &mut GameJudge, stop: &AtomicBool) -> Option<FoundPuzzles> {
    if judged.game.variant() != Variant::STANDARD {
        return None;
    }
    let mut miner = Miner { judge, stop };
    let mut position = Position::new(Variant::STANDARD);
    let mut found: Vec<FoundPuzzles> = Vec::new();
    for (ply, &column) in (0..).zip(judged.game.moves()) {
        if ply >= judged.from_ply.max(PLY_MIN) {
            let index = (ply - judged.from_ply) as usize;
            let before = &judged.game.moves()[..ply as usize];
            found.extend(miner.puzzle_at(before, &position, &judged.moves[index]));
        }
        position = position.play_unchecked(column);
    }
    // Of equal ones the first, which leaves more of the game to see.
    found.into_iter().rev().max_by_key(|found| quality(&found.features))
}

/// Looks for puzzles in positions.
struct Miner<'a> {
    judge: &'a mut GameJudge,
    stop: &'a AtomicBool,
}

impl Miner<'_> {
    /// The puzzle that begins in this position, if one does.
    fn puzzle_at(
        &mut self,
        moves: &[Column],
        position: &Position,
        played: &JudgedMove,
    ) -> Option<FoundPuzzles> {
        if !may_begin(position, played.before) || self.judge.has_no_puzzle(position) {
            return None;
        }
        let found = self.found_at(moves, position, played);
        if found.is_none() && !self.stop.load(Ordering::Relaxed) {
            self.judge.note_no_puzzle(position);
        }
        found
    }

    fn found_at(
        &mut self,
        moves: &[Column],
        position: &Position,
        played: &JudgedMove,
    ) -> Option<FoundPuzzles> {
        if !self.has_only_move(position, played.before.score.sign())? {
            return None;
        }
        let scores = self.solve(position)?;
        let only = only_move(&scores)?;
        let plies = is_worth_asking(position, &scores, only)?;
        let tempting = tempting_columns(position).filter(|column| *column != only.column).count();
        if tempting < TEMPTING_MIN {
            return None;
        }
        let line = solution(position, only.column, &mut |position| self.solve(position))?;
        let features = Features {
            goal: only.goal,
            own_moves: line.len().div_ceil(2),
            plies,
            tempting,
            was_missed: !played.keeps_value(),
        };
        let id = puzzle_id(position);
        Some(FoundPuzzles { moves: moves.to_vec(), line, goal: only.goal, features, id })
    }

    /// Whether one column alone is not as bad as the others are in a puzzle. Of the searches that tell, those of short
    /// ends come first: in most positions they find two columns that are good enough, and the long ones are spared.
    /// `None` if the solver gave up.
    fn has_only_move(&mut self, position: &Position, value: Value) -> Option<bool> {
        match value {
            Value::Win => {
                let is_one_near = self.at_most_one_scores(position, win_within(position, WIN_PLIES_MAX))?;
                Some(is_one_near && self.at_most_one_scores(position, Score::new(1))?)
            }
            // Losses that come later than they may in a puzzle are as good as draws.
            Value::Draw => self.at_most_one_scores(position, loss_after(position, LOSS_PLIES_MAX)),
            Value::Loss => Some(false),
        }
    }

    /// Whether no two columns score so much or more. `None` if the solver gave up.
    fn at_most_one_scores(&mut self, position: &Position, score: Score) -> Option<bool> {
        let mut good_enough = 0;
        for column in position.legal_columns() {
            let is_good = self.judge.scores_at_least(position, column, score, NODES_MAX, self.stop)?;
            good_enough += usize::from(is_good);
            if good_enough > 1 {
                return Some(false);
            }
        }
        Some(true)
    }

    fn solve(&mut self, position: &Position) -> Option<ColumnScores> {
        self.judge.columns(position, NODES_MAX, self.stop)
    }
}

/// The least score of who wins within so many plies, an odd number.
fn win_within(position: &Position, plies: u32) -> Score {
    let variant = position.variant();
    let stones = position.ply() + plies;
    if stones <= variant.cells() { Score::win(variant, stones) } else { Score::new(1) }
}

/// The least score of who does not lose within so many plies, an odd number.
fn loss_after(position: &Position, plies: u32) -> Score {
    let variant = position.variant();
    let stones = position.ply() + plies + 1;
    if stones <= variant.cells() { Score::loss(variant, stones) } else { Score::DRAW }
}

fn empty_cells(position: &Position) -> u32 {
    position.variant().cells() - position.ply()
}

/// Whether a puzzle may begin in a position, as far as it can be told from its worth and a look at the board.
fn may_begin(position: &Position, worth: Worth) -> bool {
    let may = match worth.score.sign() {
        Value::Win => (WIN_PLIES_MIN..=WIN_PLIES_MAX).contains(&worth.score.plies_to_end(position)),
        Value::Draw => empty_cells(position) >= DRAW_EMPTY_CELLS_MIN,
        Value::Loss => false,
    };
    may && worth.is_decision
        && !is_obvious(position)
        // The right one is among them.
        && tempting_columns(position).nth(TEMPTING_MIN).is_some()
}

/// The one column that keeps the value of a position that is worth keeping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OnlyMove {
    column: Column,
    goal: Goal,
}

fn only_move(scores: &ColumnScores) -> Option<OnlyMove> {
    let value = scores.best()?.sign();
    let goal = match value {
        Value::Win => Goal::Win,
        Value::Draw => Goal::Draw,
        Value::Loss => return None,
    };
    let mut keeping = scores.iter().filter(|(_, score)| score.sign() == value);
    let (column, _) = keeping.next()?;
    let has_choice = scores.iter().count() > 1;
    (keeping.next().is_none() && has_choice).then_some(OnlyMove { column, goal })
}

/// Whether a position asks for more than a look at the board; then, how many plies there are to be foreseen: those to
/// the win, or those to the last of the losses that are to be avoided.
fn is_worth_asking(position: &Position, scores: &ColumnScores, only: OnlyMove) -> Option<u32> {
    if is_obvious(position) {
        return None;
    }
    let plies_of = |column: Column| {
        let score = scores.get(column)?;
        Some(score.plies_to_end(position))
    };
    match only.goal {
        Goal::Win => {
            let plies = plies_of(only.column)?;
            (WIN_PLIES_MIN..=WIN_PLIES_MAX).contains(&plies).then_some(plies)
        }
        Goal::Draw => {
            let others = scores.iter().map(|(column, _)| column).filter(|column| *column != only.column);
            let plies = others.filter_map(plies_of).max()?;
            (empty_cells(position) >= DRAW_EMPTY_CELLS_MIN && plies <= LOSS_PLIES_MAX).then_some(plies)
        }
    }
}

/// Whether the side to move completes a line at once, or must stop the other side from doing so.
fn is_obvious(position: &Position) -> bool {
    position.winning_columns().next().is_some() || threats_against(position).next().is_some()
}

/// The columns with which the other side would complete a line if it were its turn.
fn threats_against(position: &Position) -> impl Iterator<Item = Column> {
    let turned = Position::from_stones(position.variant(), position.theirs(), position.mine());
    // Fails only if the other side has a line already, and then the game is over.
    turned.ok().into_iter().flat_map(|turned| turned.winning_columns())
}

/// The columns after which the other side does not win at once.
fn tempting_columns(position: &Position) -> impl Iterator<Item = Column> {
    let position = *position;
    let is_safe = move |column: &Column| position.play_unchecked(*column).winning_columns().next().is_none();
    position.legal_columns().filter(is_safe)
}

/// The moves from a position for as long as one column alone keeps its value, against the longest resistance. `None` if
/// the solver gave up.
fn solution(
    start: &Position,
    first: Column,
    solve: &mut impl FnMut(&Position) -> Option<ColumnScores>,
) -> Option<Vec<Column>> {
    let mut line = vec![first];
    // How much of the line has been a choice so far: what is forced at its end is left away.
    let mut worth = line.len();
    let mut position = start.play_unchecked(first);
    while position.outcome().is_none() && line.len().div_ceil(2) < OWN_MOVES_MAX {
        let Some((reply, only)) = resistance(&position, solve)? else { break };
        let asked = position.play_unchecked(reply);
        line.extend([reply, only.column]);
        let must_block = threats_against(&asked).next().is_some() && asked.winning_columns().next().is_none();
        if !must_block {
            worth = line.len();
        }
        position = asked.play_unchecked(only.column);
    }
    line.truncate(worth);
    Some(line)
}

/// The reply that resists the longest, and the one right answer to it; of several such replies one that leaves a single
/// answer. `Some(None)` if there is none, `None` if the solver gave up.
#[expect(clippy::option_option, reason = "giving up and being done are told apart right where it is called")]
fn resistance(
    position: &Position,
    solve: &mut impl FnMut(&Position) -> Option<ColumnScores>,
) -> Option<Option<(Column, OnlyMove)>> {
    let replies = solve(position)?;
    for reply in replies.best_columns() {
        let asked = position.play_unchecked(reply);
        if asked.outcome().is_some() {
            continue;
        }
        if let Some(only) = only_move(&solve(&asked)?) {
            return Some(Some((reply, only)));
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;
    use fourfold_engine::notation::parse_moves;
    use fourfold_engine::review::Judge;
    use fourfold_engine::solver::{SearchLimits, Solver};

    use super::*;

    /// In which the first side has one winning move among many after 22 plies, and makes it.
    const GAME: &str = "672154565544244151145222";

    fn scores(numbers: &[i32]) -> ColumnScores {
        let column = |index: usize| Column::from_index(index).unwrap();
        numbers.iter().enumerate().map(|(index, &number)| (column(index), Score::new(number))).collect()
    }

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn mined(moves: &str) -> Option<FoundPuzzles> {
        let (mut judge, stop) = (GameJudge::new(), AtomicBool::new(false));
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let judged = judge.judge(game, 0, &stop).unwrap();
        mine(&judged, &mut judge, &stop)
    }

    #[track_caller]
    fn check_only(numbers: &[i32], expected: Option<(u8, Goal)>) {
        let only = only_move(&scores(numbers)).map(|only| (only.column.number(), only.goal));
        assert_eq!(only, expected, "{numbers:?}");
    }

    #[test]
    fn an_only_move_keeps_what_all_others_lose() {
        check_only(&[-3, 0, 5, -1], Some((3, Goal::Win)));
        check_only(&[-3, 4, 5, -1], None);
        check_only(&[-3, 0, -5, -1], Some((2, Goal::Draw)));
        check_only(&[-3, 0, 0, -1], None);
        check_only(&[-3, -2, -5], None);
        check_only(&[5], None);
        check_only(&[], None);
    }

    #[test]
    fn wins_and_blocks_at_a_glance_are_no_questions() {
        assert!(is_obvious(&position("121212")), "the first side completes column 1");
        assert!(is_obvious(&position("12121")), "it must be stopped there");
        assert!(!is_obvious(&position("1234")));
        let safe: Vec<u8> = tempting_columns(&position("12121")).map(Column::number).collect();
        assert_eq!(safe, [1], "all others let it complete its column");
    }

    #[test]
    fn mirror_images_have_one_name() {
        assert_eq!(puzzle_id(&position("1123")), puzzle_id(&position("7765")));
        assert_ne!(puzzle_id(&position("1123")), puzzle_id(&position("1124")));
        assert_eq!(puzzle_id(&position("")).as_str(), "p0");
    }

    /// Each step of the solution has one right answer, and each reply is the longest resistance: by a fresh solver.
    #[track_caller]
    fn check_proof(found: &FoundPuzzles) {
        let stop = AtomicBool::new(false);
        let mut judge = Judge::without_book(Solver::new());
        let mut solve = |position: &Position| {
            judge.column_scores(position, SearchLimits { nodes: None, stop: &stop }).unwrap().value
        };
        let mut at = position(&print_moves(&found.moves));
        for (index, &column) in found.line.iter().enumerate() {
            let scores = solve(&at);
            if index % 2 == 0 {
                assert_eq!(only_move(&scores).map(|only| only.column), Some(column), "step {index}");
            } else {
                assert!(scores.best_columns().any(|best| best == column), "step {index}");
            }
            at = at.play_unchecked(column);
        }
        assert_eq!(found.line.len() % 2, 1, "the solver's move is the last");
    }

    #[test]
    fn a_puzzle_is_found_and_holds() {
        let found = mined(GAME).expect("there is one in this game");
        check_proof(&found);
        assert!(found.moves.len() >= PLY_MIN as usize);
        assert!(parse_moves(GAME).unwrap().starts_with(&found.moves));
    }

    #[test]
    fn games_without_an_only_move_have_no_puzzle() {
        assert_eq!(mined("1212121"), None);
    }
}
