//! The solver as a player: perfect, or as fallible as its level.

mod level;
mod trap;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::review::Judge;
use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::search::SearchLimits;
use fourfold_engine::solver::{ColumnScores, Score, Solved, Solver, Unsolved, Value};
use fourfold_engine::{Column, Position, Variant};
use rand::seq::IteratorRandom;

pub use self::level::Level;
use crate::alphabeta::AlphaBeta;
use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// What a player does with the scores of all columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// Plays the best score: it wins as fast and loses as late as can be, and draws among equals.
    Exact,
    /// Where it does not win, it plays what keeps the value and is hardest to answer: see [`trap`].
    Trap,
    /// Errs as a player of this level does.
    Fallible(Level),
}

/// Plays by the solver.
#[derive(Debug)]
pub(crate) struct Perfect {
    style: Style,
    seed: u64,
    judge: Judge,
    /// Chooses where the solver finds no answer in time.
    reserve: AlphaBeta,
}

impl Perfect {
    /// Ends the thinking if the caller never sets the stop flag: about half a minute. A 7x6 position that is not in
    /// the book takes a tenth of it at most.
    const NODES_MAX: u64 = 100_000_000;

    /// What is tried before the reserve is asked, milliseconds of work: positions in the middle of a game take less.
    const QUICK_NODES: u64 = 20_000;

    /// What the reserve may look at: as much again.
    const RESERVE_NODES: u64 = 10_000;

    pub(crate) fn new(style: Style, variant: Variant, seed: u64) -> Self {
        let reserve = AlphaBeta::new(variant.cells(), Duration::MAX, variant);
        Self { style, seed, judge: Judge::new(Solver::new()), reserve }
    }

    /// Finds the score of each column; if there is no time for that, what to play without.
    fn think(
        &mut self,
        position: &Position,
        work: &mut Work<'_>,
        rng: &mut GameRng,
    ) -> Result<Thought, BotError> {
        let quick = work.part(Self::QUICK_NODES);
        if let Some(scores) = work.settle(self.judge.column_scores(position, quick)) {
            return Ok(Thought::Scores(scores));
        }
        // Asked before the long search: when that is stopped, there is no time left for anything.
        let nodes = work.part(Self::RESERVE_NODES).nodes;
        let guess = self.reserve.choose(position, MoveBudget { nodes, time: None }, work.stop)?.column;
        // Values cost a quarter of the scores and make them cheaper, so little is lost; and if the scores come too
        // late, a move that keeps the value is a good one.
        let mut values = Vec::new();
        for column in position.legal_columns() {
            let rest = work.rest();
            let value = work.settle(self.judge.value(&position.play_unchecked(column), rest));
            match value {
                Some(value) => values.push((column, -value)),
                None => break,
            }
        }
        let rest = work.rest();
        match work.settle(self.judge.column_scores(position, rest)) {
            Some(scores) => Ok(Thought::Scores(scores)),
            None => Ok(Thought::Guess(corrected(guess, &values, rng))),
        }
    }

    /// The column that the style makes of the scores.
    fn choose_by_score(
        &mut self,
        position: &Position,
        scores: &ColumnScores,
        work: &mut Work<'_>,
        rng: &mut GameRng,
    ) -> Column {
        let drawn = match self.style {
            Style::Exact => None,
            Style::Trap => self.set_trap(position, scores, work, rng),
            Style::Fallible(level) => level.choose(position, scores, rng),
        };
        drawn.or_else(|| scores.best_columns().choose(rng)).expect("the game goes on")
    }

    /// Of the columns that keep the value the hardest to answer, of equally hard ones the best score; `None` in a
    /// position that is won, or if there is no time for it.
    fn set_trap(
        &mut self,
        position: &Position,
        scores: &ColumnScores,
        work: &mut Work<'_>,
        rng: &mut GameRng,
    ) -> Option<Column> {
        if scores.best()? > Score::DRAW {
            return None;
        }
        let mut set = Vec::new();
        for (column, score) in trap::keeping(scores) {
            let after = position.play_unchecked(column);
            let rest = work.rest();
            let replies = work.settle(self.judge.column_scores(&after, rest))?;
            set.push((column, trap::worth(&after, &replies), score));
        }
        let most = set.iter().map(|&(_, worth, _)| worth).fold(0.0, f64::max);
        set.retain(|&(_, worth, _)| worth >= most);
        let best = set.iter().map(|&(.., score)| score).max()?;
        set.into_iter().filter(|&(.., score)| score == best).map(|(column, ..)| column).choose(rng)
    }
}

/// What comes of thinking.
#[derive(Clone, Debug)]
enum Thought {
    Scores(ColumnScores),
    /// There was no time for the scores. This column is as good as could be made out.
    Guess(Column),
}

/// The nodes of a move, and what is left of them.
#[derive(Debug)]
struct Work<'a> {
    nodes: u64,
    spent: u64,
    stop: &'a AtomicBool,
}

impl<'a> Work<'a> {
    /// Limits for a quarter of what is left, and no more than `nodes`.
    fn part(&self, nodes: u64) -> SearchLimits<'a> {
        let left = self.nodes.saturating_sub(self.spent);
        SearchLimits { nodes: Some(nodes.min(left / 4)), stop: self.stop }
    }

    fn rest(&self) -> SearchLimits<'a> {
        SearchLimits { nodes: Some(self.nodes.saturating_sub(self.spent)), stop: self.stop }
    }

    /// Takes note of what an answer took; `None` if there is no answer.
    fn settle<T>(&mut self, result: Result<Solved<T>, Unsolved>) -> Option<T> {
        match result {
            Ok(solved) => {
                self.spent += solved.nodes;
                Some(solved.value)
            }
            Err(unsolved) => {
                self.spent += unsolved.nodes;
                None
            }
        }
    }
}

/// The move that was found without the solver, unless what it knows of some columns speaks against it.
fn corrected(guess: Column, values: &[(Column, Value)], rng: &mut GameRng) -> Column {
    let known = |column| values.iter().find(|(other, _)| *other == column).map(|(_, value)| *value);
    let Some(best) = values.iter().map(|(_, value)| *value).max() else { return guess };
    // Of a column that is not known, a draw may be hoped for.
    if known(guess).unwrap_or(Value::Draw) >= best {
        return guess;
    }
    let as_good = values.iter().filter(|(_, value)| *value == best).map(|(column, _)| *column);
    as_good.choose(rng).unwrap_or(guess)
}

impl Bot for Perfect {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        if budget.nodes.is_some() {
            // What was found out before makes a budget go further, and the choice would depend on it.
            self.judge.forget();
        }
        let nodes = budget.nodes.map_or(Self::NODES_MAX, |nodes| nodes.min(Self::NODES_MAX));
        let mut rng = rng::for_position(self.seed, position);
        let mut work = Work { nodes, spent: 0, stop };
        match self.think(position, &mut work, &mut rng)? {
            Thought::Guess(column) => Ok(column.into()),
            Thought::Scores(scores) => {
                let column = self.choose_by_score(position, &scores, &mut work, &mut rng);
                let score = scores.get(column).map_or(0, Score::value);
                Ok(Choice { column, info: Some(SearchInfo { score, depth: 0, nodes: 0, pv: vec![column] }) })
            }
        }
    }

    fn rest(&mut self) {
        self.judge.release();
        self.reserve.rest();
    }

    fn search_bytes(&self) -> usize {
        self.judge.bytes() + self.reserve.search_bytes()
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;
    use fourfold_engine::openings::{self, Opening};

    use super::*;

    fn column(number: u8) -> Column {
        Column::from_number(number).unwrap()
    }

    fn choose_with(bot: &mut Perfect, moves: &str, nodes: Option<u64>, stop: bool) -> Choice {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        bot.choose(game.position(), MoveBudget { nodes, time: None }, &AtomicBool::new(stop)).unwrap()
    }

    fn choose(moves: &str, seed: u64) -> Choice {
        choose_with(&mut Perfect::new(Style::Exact, Variant::STANDARD, seed), moves, None, false)
    }

    #[test]
    fn the_first_move_is_the_centre() {
        let choice = choose("", 7);
        assert_eq!((choice.column, choice.info.unwrap().score), (column(4), 1));
    }

    #[test]
    fn among_equals_the_seed_draws() {
        let judge = Judge::new(Solver::new());
        let ties = |opening: &Opening| -> Vec<Column> {
            let game = opening.game(Variant::STANDARD).unwrap();
            judge.known_columns(game.position()).unwrap().best_columns().collect()
        };
        let openings = openings::enumerate(Variant::STANDARD, 3);
        let opening = openings.iter().find(|opening| ties(opening).len() > 2).unwrap();
        let mut drawn: Vec<Column> = (0..60).map(|seed| choose(&opening.notation(), seed).column).collect();
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn, ties(opening));
    }

    #[test]
    fn wins_are_quick_and_losses_slow() {
        assert_eq!(choose("121212", 1).column, column(1), "wins at once");
        assert_eq!(choose("12121", 1).column, column(1), "parries");
        let lost = choose("314151", 1); // the second side threatens nothing, the first has 3 4 5 open
        assert_eq!(lost.info.unwrap().score, 18);
    }

    #[test]
    fn a_trap_keeps_the_value_and_a_win_is_not_delayed() {
        let judge = &mut Judge::new(Solver::new());
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: None, stop: &stop };
        // A draw, a loss, and a win.
        for moves in ["443444", "4444453", "44444", "4444426262"] {
            let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
            let scores = judge.column_scores(game.position(), limits).unwrap().value;
            let best = scores.best().unwrap();
            let trap = &mut Perfect::new(Style::Trap, Variant::STANDARD, 1);
            let chosen = scores.get(choose_with(trap, moves, None, false).column).unwrap();
            assert_eq!(chosen.sign(), best.sign(), "{moves}");
            if best > Score::DRAW {
                assert_eq!(chosen, best, "{moves}");
            }
        }
    }

    #[test]
    fn no_trap_gives_a_draw_away() {
        let judge = Judge::new(Solver::new());
        let trap = &mut Perfect::new(Style::Trap, Variant::STANDARD, 1);
        for opening in openings::balanced(Variant::STANDARD) {
            let moves = opening.notation();
            let chosen = choose_with(trap, &moves, None, false).column;
            let scores = judge.known_columns(opening.game(Variant::STANDARD).unwrap().position()).unwrap();
            assert_eq!(scores.get(chosen), Some(Score::DRAW), "{moves}");
        }
    }

    #[test]
    fn without_time_for_scores_the_reserve_plays() {
        let bot = &mut Perfect::new(Style::Exact, Variant::STANDARD, 1);
        assert_eq!(choose_with(bot, "4444426262", Some(400), false).info, None);
        assert_eq!(choose_with(bot, "4444426262", None, true).info, None);
    }

    #[test]
    fn what_is_known_corrects_a_guess() {
        let rng = &mut rng::seeded(1);
        let known = |values: &[(u8, Value)]| {
            values.iter().map(|&(number, value)| (column(number), value)).collect::<Vec<_>>()
        };
        assert_eq!(corrected(column(4), &[], rng), column(4));
        let values = known(&[(1, Value::Draw), (2, Value::Win)]);
        assert_eq!(corrected(column(4), &values, rng), column(2), "a win is better than hope");
        assert_eq!(corrected(column(4), &values[..1], rng), column(4), "hope is as good as a draw");
        assert_eq!(corrected(column(1), &values, rng), column(2));
        assert_eq!(
            corrected(column(1), &known(&[(1, Value::Loss)]), rng),
            column(1),
            "nothing better is known"
        );
    }
}
