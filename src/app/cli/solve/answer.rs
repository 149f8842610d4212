//! One line in, one line out.

use std::time::Instant;

use fourfold_engine::review::Judge;
use fourfold_engine::solver::{SearchLimits, Solved, Unsolved, Value};
use fourfold_engine::{Game, Variant};

/// What is asked about each position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SolveQuestion {
    Score,
    Value,
    Columns,
}

/// What is asked, and on which board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SolveTask {
    pub(super) question: SolveQuestion,
    pub(super) variant: Variant,
}

impl SolveTask {
    /// Answers a line without its end, which need not be text.
    pub(super) fn answer(self, line: &[u8], judge: &mut Judge, limits: SearchLimits<'_>) -> String {
        let line = String::from_utf8_lossy(line);
        let moves = match line.trim() {
            "" => "-",
            moves => moves,
        };
        let game = match Game::from_moves(self.variant, moves) {
            Ok(game) => game,
            Err(error) => return format!("{moves} error: {error}"),
        };
        if game.outcome().is_some() {
            return format!("{moves} error: the game is over");
        }
        let began = Instant::now();
        match self.solve(&game, judge, limits) {
            Ok(Solved { value, nodes }) => format!("{moves} {value} {nodes} {}", began.elapsed().as_micros()),
            Err(Unsolved { lower, upper, nodes }) => {
                format!("{moves} >= {lower} <= {upper} {nodes} {}", began.elapsed().as_micros())
            }
        }
    }

    fn solve(
        self,
        game: &Game,
        judge: &mut Judge,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<String>, Unsolved> {
        let position = game.position();
        Ok(match self.question {
            SolveQuestion::Score => judge.score(position, limits)?.map(|score| score.to_string()),
            SolveQuestion::Value => judge.value(position, limits)?.map(|value| sign(value).to_owned()),
            SolveQuestion::Columns => judge.column_scores(position, limits)?.map(|scores| {
                let word =
                    |column| scores.get(column).map_or_else(|| ".".to_owned(), |score| score.to_string());
                game.variant().columns().map(word).collect::<Vec<_>>().join(" ")
            }),
        })
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

    fn answer(question: SolveQuestion, variant: &str, line: &[u8]) -> String {
        let task = SolveTask { question, variant: variant.parse().unwrap() };
        let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
        let line = task.answer(line, &mut Judge::new(Solver::new()), limits);
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

    #[track_caller]
    fn bounds(question: SolveQuestion, variant: &str, moves: &str, nodes: u64) -> (i32, i32, u64) {
        let task = SolveTask { question, variant: variant.parse().unwrap() };
        let limits = SearchLimits { nodes: Some(nodes), stop: &AtomicBool::new(false) };
        let answer = task.answer(moves.as_bytes(), &mut Judge::without_book(Solver::new()), limits);
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
    }
}
