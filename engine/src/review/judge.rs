//! Knows what positions are worth: looks into the book, and solves what is not in it.

use super::Review;
use crate::board::Position;
use crate::game::Game;
use crate::search::{Score, SearchLimits, Value};
use crate::solver::book::Book;
use crate::solver::{ColumnScores, Solved, Solver, Unsolved};

/// A solver with the opening book. Positions of the book cost no nodes.
#[derive(Debug)]
pub struct Judge {
    solver: Solver,
    book: Option<&'static Book>,
}

impl Judge {
    /// With the book that comes with the engine.
    pub fn new(solver: Solver) -> Self {
        Self { solver, book: Some(Book::embedded()) }
    }

    /// For measuring the solver: nothing is known beforehand.
    pub fn without_book(solver: Solver) -> Self {
        Self { solver, book: None }
    }

    /// Forgets what was solved, so that a node budget goes as far as with a new solver.
    pub fn forget(&mut self) {
        self.solver.clear();
    }

    /// The same, and gives the memory back until it is asked again.
    pub fn release(&mut self) {
        self.solver.release();
    }

    /// Memory held for what was solved. The book is everybody's.
    pub fn bytes(&self) -> usize {
        self.solver.bytes()
    }

    /// The score of a position for the side to move. If the game is over, the one it ended with.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score(
        &mut self,
        position: &Position,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        match self.known(position) {
            Some(value) => Ok(Solved { value, nodes: 0 }),
            None => self.solver.score(position, limits),
        }
    }

    /// Who wins: less work than the score where the book ends.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn value(
        &mut self,
        position: &Position,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Value>, Unsolved> {
        match self.known(position) {
            Some(score) => Ok(Solved { value: score.sign(), nodes: 0 }),
            None => self.solver.value(position, limits),
        }
    }

    /// The score, for a caller who knows that it is at least so much: see [`Solver::score_from`].
    pub(super) fn score_from(
        &mut self,
        position: &Position,
        at_least: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        if let Some(value) = self.known(position) {
            return Ok(Solved { value, nodes: 0 });
        }
        let floor = self.floor(position).unwrap_or(at_least);
        self.solver.score_from(position, at_least.max(floor), limits)
    }

    /// Whether the score of a position is above `alpha`.
    pub(super) fn is_above(
        &mut self,
        position: &Position,
        alpha: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<bool>, Unsolved> {
        match self.known(position) {
            Some(score) => Ok(Solved { value: score > alpha, nodes: 0 }),
            None if self.floor(position).is_some_and(|floor| floor > alpha) => {
                Ok(Solved { value: true, nodes: 0 })
            }
            None => self.solver.is_above(position, alpha, limits),
        }
    }

    /// The score of each legal move, for the side that makes it: none if the game is over.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds of the position's score that were proven until then.
    pub fn column_scores(
        &mut self,
        position: &Position,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<ColumnScores>, Unsolved> {
        if let Some(value) = self.known_columns(position) {
            return Ok(Solved { value, nodes: 0 });
        }
        // The best score first: no column is above it, and the table then knows a lot about all of them. With as many
        // stones as the book's last positions it costs nothing, and the book has bounds for all columns.
        let Solved { value: best, mut nodes } = self.best(position, limits)?;
        let mut scored = Vec::new();
        for column in position.legal_columns() {
            let child = position.play_unchecked(column);
            match self.score_from(&child, -best, limits.after(nodes)) {
                Ok(solved) => {
                    nodes += solved.nodes;
                    scored.push((column, -solved.value));
                }
                Err(unsolved) => {
                    return Err(Unsolved { lower: best, upper: best, nodes: nodes + unsolved.nodes });
                }
            }
        }
        Ok(Solved { value: scored.into_iter().collect(), nodes })
    }

    /// The score of a position, by what the book says of it or of those before it.
    fn best(&mut self, position: &Position, limits: SearchLimits<'_>) -> Result<Solved<Score>, Unsolved> {
        match self.floor(position) {
            Some(floor) => self.score_from(position, floor, limits),
            None => self.score(position, limits),
        }
    }

    /// Judges the moves of a game from `ply` on.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search; the bounds are those of the position at hand then.
    pub fn review(
        &mut self,
        game: &Game,
        ply: u32,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Review>, Unsolved> {
        let scores = self.scores(game, ply, limits)?;
        Ok(scores.map(|scores| Review::from_ply(game, ply, &scores)))
    }

    /// The scores of all columns before each move of a game from `ply` on, as [`Review::from_ply`] takes them. The last
    /// position is solved first: what is found out there helps before.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search; the bounds are those of the position at hand then.
    pub fn scores(
        &mut self,
        game: &Game,
        ply: u32,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Vec<ColumnScores>>, Unsolved> {
        let mut game_so_far = game.clone();
        let mut scores = Vec::new();
        let mut nodes = 0;
        while game_so_far.ply() > ply {
            game_so_far.undo();
            let left = limits.after(nodes);
            let solved = self.column_scores(game_so_far.position(), left)?;
            nodes += solved.nodes;
            scores.push(solved.value);
        }
        scores.reverse();
        Ok(Solved { value: scores, nodes })
    }

    fn known(&self, position: &Position) -> Option<Score> {
        self.book?.score(position)
    }

    /// A lower bound of the score of a position with one stone more than those of the book: whatever a move leads to it
    /// from is worth that move at least. Mostly the bound is the score, unless all such moves are mistakes. With it a
    /// third fewer nodes are searched at that ply, where nearly half of all were.
    fn floor(&self, position: &Position) -> Option<Score> {
        let book = self.book?;
        if position.ply() != book.plies() + 1 || position.has_line_of_last_mover() {
            return None;
        }
        position.predecessors().filter_map(|before| book.score(&before)).map(|score| -score).max()
    }

    /// The scores of all columns, if all positions they lead to are in the book.
    pub fn known_columns(&self, position: &Position) -> Option<ColumnScores> {
        let book = self.book?;
        if position.ply() >= book.plies() {
            return None;
        }
        position
            .legal_columns()
            .map(|column| {
                let child = position.play_unchecked(column);
                if child.has_line_of_last_mover() {
                    return Some((column, Score::win(position.variant(), child.ply())));
                }
                Some((column, -book.score(&child)?))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::board::Variant;

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    #[test]
    fn the_book_answers_without_a_node() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: Some(0), stop: &stop };
        let mut judge = Judge::new(Solver::new());
        let start = game("");
        assert_eq!(judge.score(start.position(), limits), Ok(Solved { value: Score::new(1), nodes: 0 }));
        assert_eq!(judge.value(start.position(), limits).unwrap().value, Value::Win);
        let columns = judge.column_scores(start.position(), limits).unwrap().value;
        let scores: Vec<i32> = columns.iter().map(|(_, score)| score.value()).collect();
        assert_eq!(scores, [-2, -1, 0, 1, 0, -1, -2]);
        assert!(Judge::without_book(Solver::new()).score(start.position(), limits).is_err());
    }

    #[test]
    fn right_behind_the_book_its_scores_are_bounds() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: None, stop: &stop };
        let (mut judge, mut solver) = (Judge::new(Solver::new()), Solver::new());
        let (mut saved, mut searched) = (0, 0);
        for moves in ["4444425226", "3541726635", "1122335567"] {
            let before = *game(moves).position();
            let scores = solver.column_scores(&before, limits).unwrap().value;
            for (column, score) in scores.iter() {
                let child = before.play_unchecked(column);
                if child.has_line_of_last_mover() {
                    assert_eq!(judge.floor(&child), None);
                    continue;
                }
                let floor = judge.floor(&child).unwrap();
                assert!(floor <= -score, "{moves} {column}: {floor} {score}");
                assert!(scores.best() != Some(score) || floor == -score, "{moves} {column}: the best move");
                let nothing = SearchLimits { nodes: Some(0), stop: &stop };
                let above = judge.is_above(&child, Score::new(floor.value() - 1), nothing);
                assert_eq!(above, Ok(Solved { value: true, nodes: 0 }), "{moves} {column}");
                let exact = judge.score_from(&child, Score::new(-18), limits).unwrap().value;
                assert_eq!(exact, -score, "{moves} {column}");
            }
            assert_eq!(judge.floor(&before), None, "it is in the book");
            let helped = Judge::new(Solver::new()).column_scores(&before, limits).unwrap();
            let alone = Judge::without_book(Solver::new()).column_scores(&before, limits).unwrap();
            assert_eq!((helped.value, alone.value), (scores, scores), "{moves}");
            saved += alone.nodes - helped.nodes;
            searched += alone.nodes;
        }
        assert!(saved > searched / 10, "{saved} of {searched} nodes");
        assert_eq!(Judge::without_book(Solver::new()).floor(game("44444252266").position()), None);
    }

    #[test]
    fn the_end_of_a_game_is_reviewed() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: None, stop: &stop };
        let game = game("557152711624545746362464762234657");
        let review = Judge::new(Solver::new()).review(&game, 20, limits).unwrap().value;
        assert_eq!(review.moves().len(), game.moves().len() - 20);
        for pair in review.moves().windows(2) {
            assert_eq!(pair[0].after, -pair[1].before, "what a move leaves is what the next one finds");
        }
    }

    #[test]
    fn a_budget_that_is_spent_ends_a_review() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: Some(100), stop: &stop };
        // Goes on beyond the opening book.
        let unsolved = Judge::new(Solver::new()).review(&game("635211145114"), 0, limits).unwrap_err();
        assert!(unsolved.nodes <= 100);
    }
}
