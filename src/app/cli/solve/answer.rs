//! One line in, one line out.

use std::fmt;
use std::time::Instant;

use fourfold_engine::review::Judge;
use fourfold_engine::solver::wide::{WidePosition, WideSolver, WideVariant};
use fourfold_engine::solver::{ColumnScores, Score, SearchLimits, Solved, Unsolved, Value};
use fourfold_engine::{Column, Game, ReplayError, Variant};

/// What is asked about each position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SolveQuestion {
    Score,
    Value,
    Columns,
}

/// What answers the lines of one thread.
pub(super) enum LineSolver {
    /// On boards of 64 bits, which can be played as well.
    Playable(Judge, Variant),
    /// On larger ones, of which there is no book.
    Wide(WideSolver, WideVariant),
}

impl LineSolver {
    /// Answers a line without its end, which need not be text.
    pub(super) fn answer(
        &mut self,
        question: SolveQuestion,
        line: &[u8],
        limits: SearchLimits<'_>,
    ) -> String {
        let line = String::from_utf8_lossy(line);
        let moves = match line.trim() {
            "" => "-",
            moves => moves,
        };
        let began = Instant::now();
        match self.solve(question, moves, limits) {
            Ok(Solved { value, nodes }) => format!("{moves} {value} {nodes} {}", began.elapsed().as_micros()),
            Err(NoAnswer::Unsolved(Unsolved { lower, upper, nodes })) => {
                format!("{moves} >= {lower} <= {upper} {nodes} {}", began.elapsed().as_micros())
            }
            Err(refused @ (NoAnswer::Moves(_) | NoAnswer::GameOver)) => format!("{moves} error: {refused}"),
        }
    }

    fn solve(
        &mut self,
        question: SolveQuestion,
        moves: &str,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Answer>, NoAnswer> {
        Ok(match self {
            Self::Playable(judge, variant) => {
                let game = Game::from_moves(*variant, moves)?;
                refuse_ended(game.outcome().is_some())?;
                let position = game.position();
                match question {
                    SolveQuestion::Score => judge.score(position, limits)?.map(Answer::Score),
                    SolveQuestion::Value => judge.value(position, limits)?.map(Answer::Value),
                    SolveQuestion::Columns => {
                        let columns = |scores| Answer::Columns(scores, variant.width());
                        judge.column_scores(position, limits)?.map(columns)
                    }
                }
            }
            Self::Wide(solver, variant) => {
                let position = WidePosition::from_moves(*variant, moves)?;
                refuse_ended(position.is_over())?;
                match question {
                    SolveQuestion::Score => solver.score(&position, limits)?.map(Answer::Score),
                    SolveQuestion::Value => solver.value(&position, limits)?.map(Answer::Value),
                    SolveQuestion::Columns => {
                        let columns = |scores| Answer::Columns(scores, variant.width());
                        solver.column_scores(&position, limits)?.map(columns)
                    }
                }
            }
        })
    }
}

fn refuse_ended(is_over: bool) -> Result<(), NoAnswer> {
    if is_over { Err(NoAnswer::GameOver) } else { Ok(()) }
}

/// Why a line has no answer, or only bounds.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error(transparent)]
    Moves(#[from] ReplayError),
    #[error("the game is over")]
    GameOver,
    #[error(transparent)]
    Unsolved(#[from] Unsolved),
}

/// An answer to one of the questions.
enum Answer {
    Score(Score),
    Value(Value),
    /// The scores of a board with so many columns.
    Columns(ColumnScores, u8),
}

/// Prints it as it stands in the line: a number, or one for each column.
impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Score(score) => score.fmt(formatter),
            Self::Value(value) => formatter.write_str(sign(*value)),
            Self::Columns(scores, width) => {
                let score = |number| Column::from_number(number).and_then(|column| scores.get(column));
                let word =
                    |number| score(number).map_or_else(|| ".".to_owned(), |score: Score| score.to_string());
                formatter.write_str(&(1..=*width).map(word).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

fn sign(value: Value) -> &'static str {
    match value {
        Value::Win => "1",
        Value::Draw => "0",
        Value::Loss => "-1",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::solver::Solver;

    use super::*;

    fn solver(variant: &str, judge: Judge) -> LineSolver {
        let variant: WideVariant = variant.parse().unwrap();
        match variant.playable() {
            Some(variant) => LineSolver::Playable(judge, variant),
            None => LineSolver::Wide(WideSolver::new(), variant),
        }
    }

    fn answer(question: SolveQuestion, variant: &str, line: &[u8]) -> String {
        let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
        let line = solver(variant, Judge::new(Solver::new())).answer(question, line, limits);
        // The time differs from run to run.
        if line.contains("error") { line } else { line.rsplit_once(' ').unwrap().0.to_owned() }
    }

    #[test]
    fn each_question_has_its_words() {
        assert_eq!(answer(SolveQuestion::Score, "7x6", b"-"), "- 1 0");
        assert_eq!(answer(SolveQuestion::Score, "7x6", b""), "- 1 0");
        assert_eq!(answer(SolveQuestion::Value, "7x6", b" 1 \r"), "1 1 0");
        assert_eq!(answer(SolveQuestion::Columns, "7x6", b"44"), "44 -3 -3 -2 1 -2 -3 -3 0");
        assert_eq!(answer(SolveQuestion::Score, "7x6", b"121212"), "121212 18 0");
        let full = answer(SolveQuestion::Columns, "7x6", b"557152711624545746362464762234657");
        assert!(full.starts_with("557152711624545746362464762234657 ") && full.contains(" . "), "{full}");
    }

    #[test]
    fn lines_that_make_no_sense_say_why() {
        let refused = |line: &[u8]| answer(SolveQuestion::Score, "7x6", line);
        assert_eq!(refused(b"1111111"), "1111111 error: move 7 is illegal: column 1 is full");
        assert_eq!(refused(b"48"), "48 error: move 2 is illegal: column 8 is not on a board of 7 columns");
        assert_eq!(refused(b"1212121"), "1212121 error: the game is over");
        assert!(refused(b"4 4").starts_with("4 4 error: "));
        assert!(refused(b"\xff").contains(" error: "));
    }

    #[test]
    fn boards_above_64_bits_have_the_same_words() {
        // Three in a row, open to both sides: whatever is played, column 2 or 6 wins next.
        assert_eq!(answer(SolveQuestion::Score, "8x8", b"384858"), "384858 29 0");
        assert_eq!(answer(SolveQuestion::Value, "12x8", b"ccbcac"), "ccbcac 1 0");
        let refused = |line: &[u8]| answer(SolveQuestion::Score, "9x8", line);
        assert_eq!(refused(b"111111111"), "111111111 error: move 9 is illegal: column 1 is full");
        assert_eq!(refused(b"1a"), "1a error: move 2 is illegal: column 10 is not on a board of 9 columns");
        assert_eq!(refused(b"1d"), "1d error: move 2 is `d`, not a column from 1 to 9");
        assert_eq!(refused(b"12121212"), "12121212 error: move 8 is illegal: the game is over");
        assert_eq!(refused(b"1212121"), "1212121 error: the game is over");
    }

    #[track_caller]
    fn bounds(question: SolveQuestion, variant: &str, moves: &str, nodes: u64) -> (i32, i32, u64) {
        let limits = SearchLimits { nodes: Some(nodes), stop: &AtomicBool::new(false) };
        let judge = Judge::without_book(Solver::new());
        let answer = solver(variant, judge).answer(question, moves.as_bytes(), limits);
        let words: Vec<&str> = answer.split(' ').collect();
        let [said, ">=", lower, "<=", upper, spent, _micros] = words[..] else { panic!("{answer}") };
        assert_eq!(said, moves);
        (lower.parse().unwrap(), upper.parse().unwrap(), spent.parse().unwrap())
    }

    #[test]
    fn limits_that_run_out_leave_what_is_proven() {
        // Worth 1: see `each_question_has_its_words`.
        for nodes in [1, 1_000, 100_000] {
            let (lower, upper, spent) = bounds(SolveQuestion::Score, "7x6", "-", nodes);
            assert!(lower < upper && lower <= 1 && 1 <= upper && spent <= nodes, "{lower} {upper} {spent}");
        }
        assert_eq!(bounds(SolveQuestion::Value, "7x6", "-", 1), (-1, 1, 1));
        let (lower, upper, _) = bounds(SolveQuestion::Columns, "9x6x5", "-", 10_000);
        assert!(lower < upper, "nobody has solved 9x6x5");
        // The second side wins with the stone before its last (C. Steininger, as in the tests of the solver).
        for nodes in [1, 20_000] {
            let (lower, upper, spent) = bounds(SolveQuestion::Score, "8x8", "-", nodes);
            assert!(lower <= -2 && -2 <= upper && spent == nodes, "{lower} {upper} {spent}");
        }
        assert_eq!(bounds(SolveQuestion::Value, "12x8", "-", 1), (-1, 1, 1));
    }
}
