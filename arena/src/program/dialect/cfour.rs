//! UCI with the variant `cfour`, as cutechess-cli plays Connect Four: stones are pawns that are dropped, `P@d1`, files
//! `a` to `g` and ranks from 1 at the bottom; white moves first.

use fourfold_engine::{Cell, Column, Game, Position};

use super::{ProgramNotice, Question, whole_ms};

pub(super) fn greeting() -> ProgramNotice {
    ProgramNotice { text: "uci\n".to_owned(), ready: Some("uciok") }
}

pub(super) fn new_game() -> ProgramNotice {
    let text = "setoption name UCI_Variant value cfour\nucinewgame\nisready\n".to_owned();
    ProgramNotice { text, ready: Some("readyok") }
}

pub(super) fn ask(question: &Question<'_>) -> String {
    let mut position = Position::new(question.game.variant());
    let mut text = "position startpos".to_owned();
    for (number, &column) in question.game.moves().iter().enumerate() {
        let cell = position.landing_cell(column).expect("a game's moves are legal");
        text += if number == 0 { " moves " } else { " " };
        text += &drop_at(cell);
        position = position.play_unchecked(column);
    }
    text + &go(question)
}

fn go(question: &Question<'_>) -> String {
    let time = question.time;
    if let Some(nodes) = question.nodes {
        return format!("\ngo nodes {nodes}\n");
    }
    if time.bank_ms.is_some() && time.move_ms.is_none() {
        let [white, black] = question.remaining_ms;
        let increment = time.increment_ms;
        return format!("\ngo wtime {white} btime {black} winc {increment} binc {increment}\n");
    }
    format!("\ngo movetime {}\n", whole_ms(question.advised))
}

fn drop_at(cell: Cell) -> String {
    let file = char::from(b'a' + cell.column().number() - 1);
    format!("P@{file}{}", cell.row_number())
}

/// Everything but the best move.
pub(super) fn is_beside(line: &str) -> bool {
    line.split_whitespace().next() != Some("bestmove")
}

/// A square on which no stone would land is no move.
pub(super) fn read(line: &str, game: &Game) -> Option<Column> {
    let dropped = line.split_whitespace().nth(1)?;
    let position = game.position();
    let lands = |column: &Column| position.landing_cell(*column).is_some_and(|cell| drop_at(cell) == dropped);
    game.variant().columns().find(lands)
}

#[cfg(test)]
mod tests {
    use super::super::Dialect::Cfour;
    use super::super::testing::{check_read, game, question};
    use crate::time::TimeControl;

    #[test]
    fn a_question_has_the_moves_and_the_clocks() {
        let (empty, begun) = (game(""), game("44371"));
        let clocks = "go wtime 60000 btime 50000 winc 100 binc 100\n";
        assert_eq!(Cfour.ask(&question(&empty)), format!("position startpos\n{clocks}"));
        assert_eq!(
            Cfour.ask(&question(&begun)),
            format!("position startpos moves P@d1 P@d2 P@c1 P@g1 P@a1\n{clocks}")
        );
        let mut question = question(&empty);
        question.time = TimeControl::default();
        assert_eq!(Cfour.ask(&question), "position startpos\ngo movetime 1500\n");
        question.nodes = Some(500);
        assert_eq!(Cfour.ask(&question), "position startpos\ngo nodes 500\n");
    }

    #[test]
    fn only_the_best_move_counts_and_it_must_land() {
        // After 44.
        check_read(Cfour, "info depth 3 score cp 4 pv P@d3", Ok(None));
        check_read(Cfour, "", Ok(None));
        check_read(Cfour, "bestmove P@d3 ponder P@a1", Ok(Some(4)));
        check_read(Cfour, "bestmove P@a1", Ok(Some(1)));
        for line in
            ["bestmove", "bestmove P@d4", "bestmove d3", "bestmove 0000", "bestmove P@h1", "bestmove (none)"]
        {
            check_read(Cfour, line, Err(()));
        }
    }
}
