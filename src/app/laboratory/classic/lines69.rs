//! The 69-line scorer: one argument and a file, or a game.

use fourfold_engine::StonesError;
use fourfold_engine::notation::board42::{self, Board42Error, RowOrder};

use crate::app::terminal::exit::Exit;

/// The file that the program writes its move to.
const MOVE_FILE: &str = "Move.txt";

/// What is said where blanks seem to be missing. The call that the author's page shows is such a one: of its 42
/// characters 14 are left.
const BLANKS_COUNT: &str = "a board has 42 characters, blanks among them: a blank for each empty cell, the bottom row first, \
                            between quotation marks, such as '  YRY'";

pub(super) fn translate(words: &[String]) -> Result<Vec<String>, Exit> {
    match words {
        [] => Ok(["play", "--second", "lines69"].map(str::to_owned).to_vec()),
        [board] => {
            // What else is wrong with it is said by the command.
            if let Err(Board42Error::Stones(floating @ StonesError::Floating { .. })) =
                board42::parse(board, RowOrder::Bottom)
            {
                return Err(Exit::usage(format!("{floating}, as if blanks were lost: {BLANKS_COUNT}")));
            }
            Ok(vec![
                "move".to_owned(),
                "--bot=lines69".to_owned(),
                format!("--out={MOVE_FILE}"),
                format!("--board42={board}"),
            ])
        }
        words => {
            let count = words.len();
            Err(Exit::usage(format!("the board came as {count} words, its blanks are lost: {BLANKS_COUNT}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_board_is_answered_in_a_file_and_none_begins_a_game() {
        assert_eq!(
            translate(&words(&["  Y"])).unwrap(),
            ["move", "--bot=lines69", "--out=Move.txt", "--board42=  Y"]
        );
        assert_eq!(translate(&[]).unwrap(), ["play", "--second", "lines69"]);
    }

    #[test]
    fn a_board_that_lost_its_blanks_is_explained() {
        let message = |board: &[&str]| translate(&words(board)).unwrap_err().to_string();
        let several = message(&["YR", "RY"]);
        assert!(
            several.starts_with("the board came as 2 words") && several.ends_with("'  YRY'"),
            "{several}"
        );
        let floating = message(&["YR Y  R  Y"]);
        assert!(
            floating.starts_with("the stone on c2 has nothing below it, as if blanks were lost"),
            "{floating}"
        );
    }
}
