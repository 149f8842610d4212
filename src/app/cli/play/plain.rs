//! The game as plain text: a board after each move, moves read line by line. For pipes, simple terminals, and people
//! who want it so.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use fourfold_bots::{GameRecord, think};
use fourfold_engine::{BySide, Column, Game, Side, SideResult};

use super::{SeatOccupant, SeatedBot, Setup, print_board, result_line, resume_line, symbol};

/// Plays on standard input and output.
pub(super) fn run(setup: Setup) -> anyhow::Result<()> {
    let stdin = io::stdin();
    let prompts = stdin.is_terminal();
    let input = Input { lines: stdin.lock(), queued: Vec::new(), prompts };
    PlainGame::new(setup, input, io::stdout().lock()).play()
}

/// What a person wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PlainAction {
    Drop(Column),
    Undo,
    Quit,
}

/// One game with its players, from the start to its end or until somebody leaves.
struct PlainGame<R, W> {
    game: Game,
    /// Moves before the first of this game: they cannot be taken back.
    opening_plies: u32,
    seats: BySide<SeatOccupant>,
    move_limit: Option<Duration>,
    input: Input<R>,
    out: W,
}

impl<R: BufRead, W: Write> PlainGame<R, W> {
    fn new(setup: Setup, input: Input<R>, out: W) -> Self {
        let Setup { game, seats, move_limit } = setup;
        Self { opening_plies: game.ply(), game, seats, move_limit, input, out }
    }

    fn play(&mut self) -> anyhow::Result<()> {
        self.show_board()?;
        while self.game.outcome().is_none() {
            let side = self.game.position().side_to_move();
            let column = match &mut self.seats[side] {
                SeatOccupant::Bot(SeatedBot { bot, .. }) => {
                    think::choose(&mut **bot, self.game.position(), self.move_limit)?.column
                }
                SeatOccupant::Human => match self.ask(side)? {
                    Some(column) => column,
                    None => return self.leave(),
                },
            };
            self.drop_stone(side, column)?;
        }
        self.show_result()?;
        self.learn()
    }

    /// Lets the bots learn from the finished game.
    fn learn(&mut self) -> anyhow::Result<()> {
        let Some(outcome) = self.game.outcome() else { return Ok(()) };
        for side in Side::BOTH {
            if let SeatOccupant::Bot(seated) = &mut self.seats[side] {
                let result = SideResult::of(side, outcome.winner());
                seated.learn(&GameRecord { game: self.game.clone(), side, result })?;
            }
        }
        Ok(())
    }

    /// Plays a chosen column. A bot's illegal choice is an error, a person's is asked for again.
    fn drop_stone(&mut self, side: Side, column: Column) -> anyhow::Result<()> {
        match self.game.play(column) {
            Ok(_) => {
                writeln!(self.out, "\nMove {}: {} plays {column}", self.game.ply(), self.name(side))?;
                self.show_board()?;
                Ok(())
            }
            Err(illegal) => Err(anyhow::anyhow!("{} chose column {column}: {illegal}", self.name(side))),
        }
    }

    /// Asks a person until a legal column comes; `None` if the person leaves or the input ends.
    fn ask(&mut self, side: Side) -> io::Result<Option<Column>> {
        loop {
            let question =
                format!("{} to move, column 1 to {}, u or q: ", symbol(side), self.game.variant().width());
            match self.input.next(&question, &mut self.out)? {
                Ok(PlainAction::Drop(column)) => match self.game.position().play(column) {
                    Ok(_) => return Ok(Some(column)),
                    Err(illegal) => writeln!(self.out, "{illegal}")?,
                },
                Ok(PlainAction::Undo) => self.take_back(side)?,
                Ok(PlainAction::Quit) => return Ok(None),
                Err(message) => writeln!(self.out, "{message}")?,
            }
        }
    }

    /// Takes back `side`'s last move and whatever followed it.
    fn take_back(&mut self, side: Side) -> io::Result<()> {
        let alone = matches!(self.seats[side.opponent()], SeatOccupant::Human);
        // Against a person the last stone goes; against a bot its answer goes with it.
        let plies = if alone { 1 } else { 2 };
        if self.game.ply() < self.opening_plies + plies {
            return writeln!(self.out, "there is no move to take back");
        }
        for _ in 0..plies {
            self.game.undo();
        }
        self.show_board()
    }

    fn name(&self, side: Side) -> String {
        match &self.seats[side] {
            SeatOccupant::Human => symbol(side).to_string(),
            SeatOccupant::Bot(SeatedBot { spec, .. }) => format!("{} ({spec})", symbol(side)),
        }
    }

    fn show_board(&mut self) -> io::Result<()> {
        print_board(&self.game, &mut self.out)?;
        self.out.flush()
    }

    fn show_result(&mut self) -> anyhow::Result<()> {
        if let Some(outcome) = self.game.outcome() {
            writeln!(self.out, "{}", result_line(outcome, |side| self.name(side)))?;
        }
        writeln!(self.out, "moves: {}", self.game.notation())?;
        Ok(())
    }

    fn leave(&mut self) -> anyhow::Result<()> {
        writeln!(self.out, "{}", resume_line(&self.game))?;
        Ok(())
    }
}

/// What a person types, one action at a time.
struct Input<R> {
    lines: R,
    /// Words of the last line that were not asked for yet, the next one last.
    queued: Vec<String>,
    prompts: bool,
}

impl<R: BufRead> Input<R> {
    /// The next action, or what is wrong with the next word. The end of the input is [`PlainAction::Quit`].
    fn next(&mut self, question: &str, out: &mut impl Write) -> io::Result<Result<PlainAction, String>> {
        loop {
            if let Some(word) = self.queued.pop() {
                return Ok(read_action(&word));
            }
            if self.prompts {
                write!(out, "{question}")?;
                out.flush()?;
            }
            let mut line = Vec::new();
            if self.lines.read_until(b'\n', &mut line)? == 0 {
                return Ok(Ok(PlainAction::Quit));
            }
            let line = String::from_utf8_lossy(&line);
            self.queued = line.split_whitespace().rev().map(str::to_owned).collect();
        }
    }
}

/// A column is a decimal number, or a digit of move lists where columns go beyond 9.
fn read_action(word: &str) -> Result<PlainAction, String> {
    let mut letters = word.chars();
    let lone = letters.next().filter(|_| letters.next().is_none());
    let column =
        word.parse().ok().and_then(Column::from_number).or_else(|| lone.and_then(Column::from_digit));
    match (word, column) {
        ("u" | "undo", _) => Ok(PlainAction::Undo),
        ("q" | "quit", _) => Ok(PlainAction::Quit),
        (_, Some(column)) => Ok(PlainAction::Drop(column)),
        (_, None) => {
            let shown: String = word.chars().take(20).flat_map(char::escape_debug).collect();
            Err(format!("`{shown}` is neither a column nor u (undo) nor q (quit)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::registry;
    use fourfold_engine::Variant;

    use super::super::PlayerArgument;
    use super::*;

    fn seat(player: &str) -> SeatOccupant {
        match player.parse().unwrap() {
            PlayerArgument::Human => SeatOccupant::Human,
            PlayerArgument::Bot(spec) => {
                let bot = registry::build(&spec, Variant::STANDARD).unwrap();
                SeatOccupant::Bot(SeatedBot { spec, bot })
            }
        }
    }

    /// Plays with this input; gives the moves played and all that was printed.
    fn play(first: &str, second: &str, start: &str, input: &str) -> (String, String) {
        let game = Game::from_moves(Variant::STANDARD, start).unwrap();
        let seats = BySide { first: seat(first), second: seat(second) };
        let input = Input { lines: input.as_bytes(), queued: Vec::new(), prompts: false };
        let mut table = PlainGame::new(Setup { game, seats, move_limit: None }, input, Vec::new());
        table.play().unwrap();
        (table.game.notation(), String::from_utf8(table.out).unwrap())
    }

    #[test]
    fn people_play_to_the_end() {
        let (moves, printed) = play("human", "human", "", "1\n2\n1\n2\n1 2\n1\n");
        assert_eq!(moves, "1212121");
        assert!(printed.ends_with("X wins with a1 a2 a3 a4\nmoves: 1212121\n"), "{printed}");
    }

    #[test]
    fn wrong_input_is_explained_and_asked_for_again() {
        let (moves, printed) = play("human", "human", "111111", "1\n9\nx\u{1b}\n\n4\nq\n");
        assert_eq!(moves, "1111114");
        assert!(printed.contains("column 1 is full"), "{printed}");
        assert!(printed.contains("`x\\u{1b}` is neither a column"), "{printed}");
    }

    #[test]
    fn the_end_of_the_input_leaves_the_game_unfinished() {
        let (moves, printed) = play("human", "human", "44", "4");
        assert_eq!(moves, "444");
        assert!(printed.ends_with("left unfinished; go on with --moves 444\n"), "{printed}");
    }

    #[test]
    fn a_move_against_a_bot_is_taken_back_with_its_answer() {
        let (moves, _) = play("human", "random:seed=1", "", "4\nu\n5\nq\n");
        assert_eq!(moves.len(), 2);
        assert!(moves.starts_with('5'));
        let (moves, printed) = play("human", "human", "44", "u\n3\nu\n2\nq\n");
        assert_eq!(moves, "442");
        assert!(printed.contains("there is no move to take back"));
    }

    #[test]
    fn bots_need_nobody() {
        let (moves, printed) = play("random:seed=1", "random:seed=2", "", "");
        assert!(Game::from_moves(Variant::STANDARD, &moves).unwrap().outcome().is_some());
        assert!(printed.contains("(random:seed=1) plays"));
    }

    #[test]
    fn columns_beyond_nine_are_numbers_or_digits() {
        assert_eq!(read_action("12"), Ok(PlainAction::Drop(Column::from_number(12).unwrap())));
        assert_eq!(read_action("c"), Ok(PlainAction::Drop(Column::from_number(12).unwrap())));
        assert!(read_action("0").is_err() && read_action("13").is_err());
    }
}
