//! The text protocol of the "Four in a Row" competition of theaigames.com. All settings come with every question, so
//! that a program needs no memory of its own. Rows are listed from the top; the answer is `place_disc N`, N from 0.

use std::fmt::Write;

use fourfold_engine::{Cell, Column, Side};

use super::{Question, column_from, whole_ms};

pub(super) fn ask(question: &Question<'_>) -> String {
    let position = question.game.position();
    let variant = position.variant();
    let id = |side: Side| match side {
        Side::First => 1,
        Side::Second => 2,
    };
    let row = |row: usize| {
        let stone = |column: Column| {
            Cell::new(column, row).and_then(|cell| position.stone_at(cell)).map_or(0, id).to_string()
        };
        variant.columns().map(stone).collect::<Vec<_>>().join(",")
    };
    let field = (0..usize::from(variant.height())).rev().map(row).collect::<Vec<_>>().join(";");
    let me = id(position.side_to_move());
    let bank = question.time.bank_ms.map_or_else(|| whole_ms(question.budget), u64::from);
    let per_move = question.time.move_ms.unwrap_or(question.time.increment_ms);
    let mut text = String::new();
    for (key, value) in [
        ("timebank", bank.to_string()),
        ("time_per_move", per_move.to_string()),
        ("player_names", "player1,player2".to_owned()),
        ("your_bot", format!("player{me}")),
        ("your_botid", me.to_string()),
        ("field_columns", variant.width().to_string()),
        ("field_rows", variant.height().to_string()),
    ] {
        writeln!(text, "settings {key} {value}").expect("a string takes everything");
    }
    let round = position.ply() / 2 + 1;
    let budget = whole_ms(question.budget);
    write!(text, "update game round {round}\nupdate game field {field}\naction move {budget}\n")
        .expect("a string takes everything");
    text
}

pub(super) fn read(line: &str) -> Option<Column> {
    column_from(line.strip_prefix("place_disc ")?.trim(), Some)
}

#[cfg(test)]
mod tests {
    use super::super::Dialect::Aigames;
    use super::super::testing::{check_read, game, question};

    #[test]
    fn a_question_is_complete() {
        let text = Aigames.ask(&question(&game("441")));
        assert_eq!(
            text,
            "settings timebank 60000\nsettings time_per_move 100\nsettings player_names player1,player2\n\
             settings your_bot player2\nsettings your_botid 2\nsettings field_columns 7\nsettings field_rows 6\n\
             update game round 2\n\
             update game field 0,0,0,0,0,0,0;0,0,0,0,0,0,0;0,0,0,0,0,0,0;0,0,0,0,0,0,0;0,0,0,2,0,0,0;1,0,0,1,0,0,0\n\
             action move 60000\n"
        );
    }

    #[test]
    fn an_answer_places_a_disc() {
        check_read(Aigames, "place_disc 0", Ok(Some(1)));
        check_read(Aigames, "place_disc 6", Ok(Some(7)));
        for line in ["", "place_disc", "place_disc -1", "place_disc x", "3", "no_moves"] {
            check_read(Aigames, line, Err(()));
        }
    }
}
