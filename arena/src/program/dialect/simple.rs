//! One line a turn: variant, milliseconds to think, moves from column 1 (`-` for none). The answer is a column from 1.
//! Of a bank it is a share that is said, for programs take the one figure for this move's.

use fourfold_engine::Column;

use super::{Question, column_from, whole_ms};

pub(super) fn ask(question: &Question<'_>) -> String {
    let moves = question.game.notation();
    let moves = if moves.is_empty() { "-" } else { &moves };
    format!("{} {} {moves}\n", question.game.variant(), whole_ms(question.advised))
}

pub(super) fn read(line: &str) -> Option<Column> {
    column_from(line, |number| number.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::super::Dialect::Simple;
    use super::super::testing::{check_read, game, question};

    #[test]
    fn a_question_is_one_line() {
        assert_eq!(Simple.ask(&question(&game(""))), "7x6 1500 -\n");
        assert_eq!(Simple.ask(&question(&game("4453"))), "7x6 1500 4453\n");
    }

    #[test]
    fn an_answer_is_a_number_and_nothing_else() {
        check_read(Simple, "4\r", Ok(Some(4)));
        check_read(Simple, " 7 ", Ok(Some(7)));
        check_read(Simple, "9", Ok(Some(9))); // the rules refuse it
        for line in ["", "0", "-1", "+4", "4 5", "4.0", "x", "999999999999999999999"] {
            check_read(Simple, line, Err(()));
        }
    }
}
