//! Every move of a game judged by the exact solver, as far as sums and puzzles need it.

use std::sync::atomic::AtomicBool;

use fourfold_engine::review::{Judge, Skill, Worth};
use fourfold_engine::solver::{ColumnScores, Score, SearchLimits, Solved, Solver, Unsolved};
use fourfold_engine::{BySide, Column, Game, Position, Side};

use crate::analysis::recent::Recent;
use crate::analysis::values::is_beyond_reach;

/// Positions that the solver may expand for one game: a few seconds of one thread. Games on the standard board take
/// a small part of that on average, so this ends only what begins where nobody can solve it.
const NODES_MAX: u64 = 20_000_000;

/// Positions of each of the two generations that are remembered: some five megabytes together, the early positions of
/// thousands of games.
const REMEMBERED_MAX: usize = 60_000;

/// Positions with fewer empty cells are not remembered: solving them takes no longer than looking them up.
const EMPTY_CELLS_MIN: u32 = 14;

/// What is remembered of a position.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    worth: Worth,
    /// Whether somebody has looked in vain for a puzzle that begins here.
    has_no_puzzle: bool,
}

/// A game judged move by move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Judged {
    pub(crate) game: Game,
    /// Plies before the first move that was judged: the opening is nobody's merit.
    pub(crate) from_ply: u32,
    /// The moves from there on.
    pub(crate) moves: Vec<JudgedMove>,
    /// How well each side played.
    pub(crate) skill: BySide<Skill>,
}

/// What a move was worth beside what could be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JudgedMove {
    pub(crate) before: Worth,
    /// The score of what was played, for the side that played it.
    pub(crate) after: Score,
}

impl JudgedMove {
    /// Whether the position was worth as much after the move: a win, a draw or a loss.
    pub(crate) fn keeps_value(&self) -> bool {
        self.before.is_kept_by(self.after)
    }
}

/// Judges games one after the other. What it finds out about one serves the next: most begin with moves that others
/// began with.
#[derive(Debug)]
pub(crate) struct GameJudge {
    judge: Judge,
    known: Recent<Remembered>,
}

impl GameJudge {
    /// With the book that comes with the engine.
    pub(crate) fn new() -> Self {
        Self::with(Judge::new(Solver::new()))
    }

    pub(crate) fn with(judge: Judge) -> Self {
        Self { judge, known: Recent::new(REMEMBERED_MAX) }
    }

    /// Judges the moves of a game after the first `opening` ones. `None` if its positions are too hard, or `stop` is
    /// set.
    pub(crate) fn judge(&mut self, game: Game, opening: u32, stop: &AtomicBool) -> Option<Judged> {
        let from_ply = opening.min(game.ply());
        if self.is_too_hard(&game, from_ply) {
            return None;
        }
        let mut moves = self.judged_moves(&game, from_ply, stop).ok()?;
        moves.reverse();
        let mut skill = BySide::<Skill>::default();
        for (ply, judged) in (from_ply..).zip(&moves) {
            skill[Side::to_move_at(ply)].add_move(&judged.before, judged.after);
        }
        Some(Judged { game, from_ply, moves, skill })
    }

    /// The moves from the last to the first: what is found out at the end helps before, and what the position after a
    /// move is worth is what the move was worth.
    fn judged_moves(
        &mut self,
        game: &Game,
        from_ply: u32,
        stop: &AtomicBool,
    ) -> Result<Vec<JudgedMove>, Unsolved> {
        let mut moves = Vec::new();
        if game.ply() == from_ply {
            return Ok(moves);
        }
        let mut spent = 0;
        let last = self.judge.score(game.position(), SearchLimits { nodes: Some(NODES_MAX), stop })?;
        let mut after = -take(last, &mut spent);
        let mut game_so_far = game.clone();
        while game_so_far.ply() > from_ply {
            game_so_far.undo();
            let left = SearchLimits { nodes: Some(NODES_MAX.saturating_sub(spent)), stop };
            let before = take(self.worth(game_so_far.position(), after, left)?, &mut spent);
            moves.push(JudgedMove { before, after });
            after = -before.score;
        }
        Ok(moves)
    }

    fn worth(
        &mut self,
        position: &Position,
        at_least: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Worth>, Unsolved> {
        if let Some(known) = self.remembered(position) {
            return Ok(Solved { value: known.worth, nodes: 0 });
        }
        let solved = self.judge.worth(position, at_least, limits)?;
        if empty_cells(position) >= EMPTY_CELLS_MIN {
            self.known.keep(position, Remembered { worth: solved.value, has_no_puzzle: false });
        }
        Ok(solved)
    }

    fn remembered(&mut self, position: &Position) -> Option<Remembered> {
        if empty_cells(position) < EMPTY_CELLS_MIN { None } else { self.known.find(position) }
    }

    /// Whether somebody has looked in vain for a puzzle that begins in this position.
    pub(crate) fn has_no_puzzle(&mut self, position: &Position) -> bool {
        self.remembered(position).is_some_and(|known| known.has_no_puzzle)
    }

    /// Remembers that no puzzle begins in this position, if it remembers anything about it.
    pub(crate) fn note_no_puzzle(&mut self, position: &Position) {
        if let Some(known) = self.remembered(position) {
            self.known.keep(position, Remembered { has_no_puzzle: true, ..known });
        }
    }

    /// The score of each legal move; `None` if that takes more nodes, or `stop` is set.
    pub(crate) fn columns(
        &mut self,
        position: &Position,
        nodes: u64,
        stop: &AtomicBool,
    ) -> Option<ColumnScores> {
        let solved = self.judge.column_scores(position, SearchLimits { nodes: Some(nodes), stop });
        solved.ok().map(|solved| solved.value)
    }

    /// Whether a legal move scores so much or more, for the side that makes it; `None` as [`GameJudge::columns`].
    pub(crate) fn scores_at_least(
        &mut self,
        position: &Position,
        column: Column,
        score: Score,
        nodes: u64,
        stop: &AtomicBool,
    ) -> Option<bool> {
        let limits = SearchLimits { nodes: Some(nodes), stop };
        let solved = self.judge.scores_at_least(position, column, score, limits);
        solved.ok().map(|solved| solved.value)
    }

    /// Whether the first position that is to be judged is beyond the book and the solver; then the game is not begun.
    fn is_too_hard(&self, game: &Game, from_ply: u32) -> bool {
        let mut position = Position::new(game.variant());
        let played = game.moves().iter().copied();
        for (_, column) in (0..from_ply).zip(played) {
            position = position.play_unchecked(column);
        }
        game.ply() > from_ply && is_beyond_reach(&position) && self.judge.known_columns(&position).is_none()
    }
}

fn empty_cells(position: &Position) -> u32 {
    position.variant().cells() - position.ply()
}

/// The answer; its nodes are added.
fn take<T>(solved: Solved<T>, spent: &mut u64) -> T {
    *spent += solved.nodes;
    solved.value
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    /// Games with many common positions, one of them broken off.
    const GAMES: [&str; 4] = [
        "557152711624545746362464762234657",
        "557152711624545746362464762234",
        "331736177264343142526424126654",
        "672154565544244151145222",
    ];

    fn judged(judge: &mut GameJudge, moves: &str, opening: u32) -> Judged {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        judge.judge(game, opening, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn a_judge_with_a_memory_says_what_a_review_says() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: None, stop: &stop };
        let mut judge = GameJudge::new();
        for _ in 0..2 {
            for moves in GAMES {
                let judged = judged(&mut judge, moves, 8);
                let review = Judge::new(Solver::new()).review(&judged.game, 8, limits).unwrap().value;
                assert_eq!(judged.skill, *review.skill(), "{moves}");
                for (found, verdict) in judged.moves.iter().zip(review.moves()) {
                    let expected = (verdict.before, verdict.after, verdict.is_decision);
                    assert_eq!((found.before.score, found.after, found.before.is_decision), expected);
                    assert_eq!(found.keeps_value(), verdict.keeps_value());
                }
            }
        }
    }

    #[test]
    fn what_was_judged_before_costs_nothing() {
        let mut judge = GameJudge::new();
        let game = Game::from_moves(Variant::STANDARD, GAMES[0]).unwrap();
        let first = judged(&mut judge, GAMES[0], 0);
        // A stopped search knows only what needs none: that of the last plies alone is done again, without a node.
        judge.judge.forget();
        let stopped = AtomicBool::new(true);
        let mut early = game.clone();
        while empty_cells(early.position()) < EMPTY_CELLS_MIN {
            early.undo();
        }
        let position = *early.position();
        let limits = SearchLimits { nodes: None, stop: &stopped };
        assert_eq!(judge.worth(&position, Score::new(-9), limits).unwrap().nodes, 0);
        assert_eq!(judged(&mut judge, GAMES[0], 0), first);
    }

    #[test]
    fn it_is_remembered_where_no_puzzle_begins() {
        let mut judge = GameJudge::new();
        judged(&mut judge, GAMES[3], 0);
        let position = *Game::from_moves(Variant::STANDARD, &GAMES[3][..20]).unwrap().position();
        assert!(!judge.has_no_puzzle(&position));
        judge.note_no_puzzle(&position.mirror());
        assert!(judge.has_no_puzzle(&position));
    }

    #[test]
    fn games_without_a_judged_move_have_no_sums() {
        for (moves, opening) in [("", 0), ("44", 2), ("44", 99)] {
            let judged = judged(&mut GameJudge::new(), moves, opening);
            assert_eq!((judged.moves.len(), judged.skill.first.moves()), (0, 0));
        }
    }
}
