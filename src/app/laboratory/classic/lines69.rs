//! The 69-line scorer: one argument and a file, or a game.

/// The file that the program writes its move to.
const MOVE_FILE: &str = "Move.txt";

pub(super) fn translate(board: Option<String>) -> Vec<String> {
    match board {
        Some(board) => vec![
            "move".to_owned(),
            "--bot=lines69".to_owned(),
            format!("--out={MOVE_FILE}"),
            format!("--board42={board}"),
        ],
        None => ["play", "--second", "lines69"].map(str::to_owned).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_answered_in_a_file_and_none_begins_a_game() {
        assert_eq!(
            translate(Some("  Y".to_owned())),
            ["move", "--bot=lines69", "--out=Move.txt", "--board42=  Y"]
        );
        assert_eq!(translate(None), ["play", "--second", "lines69"]);
    }
}
