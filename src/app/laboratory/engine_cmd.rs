//! `fourfold engine`: a house bot over standard streams, for referees that are not this one.

mod aigames;
mod uci;

use std::io::{self, BufRead, Write};
use std::time::Duration;

use fourfold_arena::program::dialect::Dialect;
use fourfold_bots::{Bot, BotError, BotSpec, think};
use fourfold_engine::{Column, Game, Position, Variant, notation};
use serde::Deserialize;

use self::aigames::AigamesState;
use self::uci::UciState;
use crate::app::terminal::exit::{Code, Exit};
use crate::system::bot_files::{self, BotFileError};

/// Part of the time that is told which a bot without a sense of time uses: what is told may be a whole bank.
const SHARE_OF_TIME: u32 = 20;

/// The longest line that is read, in bytes: a game of 64 moves as UCI has under 1 KiB.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Play over standard input and output, in a dialect of programs.
///
/// `cfour` is UCI as cutechess-cli speaks it for Connect Four, `aigames` the protocol of theaigames.com, `kaggle` one
/// JSON object a line, `simple` one line of words; docs/programs.md describes them. Ends with its input, or at `quit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold engine negamax:depth=6 --dialect cfour
  echo '7x6 1000 4453' | fourfold engine greedy --dialect simple")]
pub(in crate::app) struct EngineCommand {
    /// The bot with its settings, see `fourfold bots`.
    #[arg(value_name = "BOT")]
    bot: BotSpec,
    /// What is spoken: simple, kaggle, aigames or cfour.
    #[arg(long, value_name = "D", default_value = "cfour")]
    dialect: Dialect,
}

/// A position to move in, and how long that may take; `None` leaves it to the bot's own settings.
#[derive(Clone, PartialEq, Eq, Debug)]
struct EngineQuestion {
    position: Position,
    time: Option<Duration>,
}

/// A bot for the games of a board.
type KnownBot = (Variant, Box<dyn Bot>);

/// What a line asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Asked {
    Nothing,
    /// This text, as it stands.
    Text(String),
    Move(Box<EngineQuestion>),
    End,
}

/// Reads the lines of one dialect. What it remembers is what the referee said before its question.
#[derive(Debug)]
enum Listener {
    Simple,
    Kaggle,
    Aigames(AigamesState),
    Cfour(UciState),
}

impl EngineCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let listener = Listener::new(self.dialect, &self.bot)?;
        self.serve(listener, io::stdin().lock(), io::stdout().lock())
    }

    fn serve(
        &self,
        mut listener: Listener,
        mut input: impl BufRead,
        mut out: impl Write,
    ) -> anyhow::Result<()> {
        let mut known = self.build_at_once()?;
        let mut line = String::new();
        loop {
            line.clear();
            if io::Read::take(&mut input, LINE_BYTES_MAX).read_line(&mut line)? == 0 {
                return Ok(());
            }
            let shown: String = line.trim().chars().take(120).collect();
            let asked = listener.hear(line.trim());
            match asked.map_err(|reason| Exit::new(Code::Data, format!("`{shown}`: {reason}")))? {
                Asked::Nothing => {}
                Asked::Text(text) => out.write_all(text.as_bytes())?,
                Asked::End => return Ok(()),
                Asked::Move(question) => {
                    let EngineQuestion { position, time } = *question;
                    let variant = position.variant();
                    if known.as_ref().is_none_or(|(of, _)| *of != variant) {
                        known = Some((variant, bot_files::build(&self.bot, variant)?));
                    }
                    if let Some((_, bot)) = &mut known {
                        let column = think::choose(&mut **bot, &position, time)?.column;
                        writeln!(out, "{}", listener.say(column, &position))?;
                    }
                }
            }
            out.flush()?;
        }
    }

    /// Builds the bot for the standard board, so that wrong settings are refused before anything is asked. Nothing, if
    /// what it has learnt is of another board, which comes with the first question.
    fn build_at_once(&self) -> Result<Option<KnownBot>, BotFileError> {
        match bot_files::build(&self.bot, Variant::STANDARD) {
            Ok(bot) => Ok(Some((Variant::STANDARD, bot))),
            Err(BotFileError::Content { .. } | BotFileError::Bot(BotError::VariantNotPlayed { .. })) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Listener {
    fn new(dialect: Dialect, bot: &BotSpec) -> Result<Self, Exit> {
        match dialect {
            Dialect::Simple => Ok(Self::Simple),
            Dialect::Kaggle => Ok(Self::Kaggle),
            Dialect::Aigames => Ok(Self::Aigames(AigamesState::default())),
            Dialect::Cfour => Ok(Self::Cfour(UciState::new(bot.to_string()))),
            Dialect::Board42(_) => {
                Err(Exit::usage("--dialect board42: that is `fourfold move --board42`, once a move"))
            }
        }
    }

    fn hear(&mut self, line: &str) -> Result<Asked, String> {
        match self {
            _ if line.is_empty() => Ok(Asked::Nothing),
            Self::Simple => hear_simple(line),
            Self::Kaggle => hear_kaggle(line),
            Self::Aigames(state) => state.hear(line),
            Self::Cfour(state) => state.hear(line),
        }
    }

    fn say(&self, column: Column, position: &Position) -> String {
        match self {
            Self::Simple => column.to_string(),
            Self::Kaggle => column.index().to_string(),
            Self::Aigames(_) => format!("place_disc {}", column.index()),
            Self::Cfour(_) => uci::best_move(column, position),
        }
    }
}

/// A question in a game that goes on.
fn question(position: Position, time: Option<Duration>) -> Result<Asked, String> {
    match position.outcome() {
        None => Ok(Asked::Move(Box::new(EngineQuestion { position, time }))),
        Some(_) => Err("the game is over".to_owned()),
    }
}

fn share(time_ms: u64) -> Duration {
    Duration::from_millis(time_ms) / SHARE_OF_TIME
}

fn hear_simple(line: &str) -> Result<Asked, String> {
    if line == "quit" {
        return Ok(Asked::End);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[variant, ms, moves] = words.as_slice() else {
        return Err("expected board, milliseconds and moves, such as 7x6 1000 4453".to_owned());
    };
    let variant: Variant = variant.parse().map_err(|error| format!("{error}"))?;
    let ms: u64 = ms.parse().map_err(|_| format!("{ms} is no number of milliseconds"))?;
    let game = Game::from_moves(variant, moves).map_err(|error| error.to_string())?;
    // What is told is for this move.
    question(*game.position(), Some(Duration::from_millis(ms).saturating_sub(reserve(ms))))
}

/// Kept back for the way of the answer, at most a quarter.
fn reserve(ms: u64) -> Duration {
    Duration::from_millis(20.min(ms / 4))
}

#[derive(Deserialize)]
struct KaggleQuestion {
    observation: KaggleObservation,
    configuration: KaggleConfiguration,
}

#[derive(Deserialize)]
struct KaggleObservation {
    board: Vec<u8>,
}

#[derive(Deserialize)]
struct KaggleConfiguration {
    columns: u8,
    rows: u8,
    inarow: u8,
    #[serde(default, rename = "actTimeout")]
    act_timeout: Option<f64>,
}

fn hear_kaggle(line: &str) -> Result<Asked, String> {
    let KaggleQuestion { observation, configuration } =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    let KaggleConfiguration { columns, rows, inarow, act_timeout } = configuration;
    let variant: Variant =
        format!("{columns}x{rows}x{inarow}").parse().map_err(|error| format!("{error}"))?;
    let time = act_timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.map(|time| time.saturating_sub(time / 4));
    question(stacked(variant, &observation.board)?, time)
}

/// A position from its cells, rows from the top: 0 empty, 1 who moved first, 2 the other.
fn stacked(variant: Variant, cells: &[u8]) -> Result<Position, String> {
    let symbol = |cell: &u8| match cell {
        1 => 'X',
        2 => 'O',
        _ => '.',
    };
    let rows =
        cells.chunks(usize::from(variant.width())).map(|row| row.iter().map(symbol).collect::<String>());
    let diagram = rows.collect::<Vec<_>>().join("\n");
    notation::parse_diagram(variant, &diagram).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a bot that never draws says to these lines.
    fn answers(dialect: &str, lines: &str) -> anyhow::Result<String> {
        let command =
            EngineCommand { bot: "negamax:depth=2".parse().unwrap(), dialect: dialect.parse().unwrap() };
        let mut out = Vec::new();
        let listener = Listener::new(command.dialect, &command.bot)?;
        command.serve(listener, lines.as_bytes(), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn one_position_is_answered_alike_in_every_dialect() {
        // Three stones of the first side in column 1: it wins there, and must be stopped there.
        assert_eq!(answers("simple", "7x6 1000 121212\nquit\n7x6 1 -\n").unwrap(), "1\n");
        let mut board = [0; 42];
        for (row, (first, second)) in [(5, (1, 2)), (4, (1, 2)), (3, (1, 2))] {
            (board[7 * row], board[7 * row + 1]) = (first, second);
        }
        let kaggle = format!(
            r#"{{"observation":{{"board":{board:?},"mark":1}},"configuration":{{"columns":7,"rows":6,"inarow":4,"actTimeout":2}}}}"#
        );
        assert_eq!(answers("kaggle", &kaggle).unwrap(), "0\n");
        let rows =
            board.chunks(7).map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        let field = rows.collect::<Vec<_>>().join(";");
        let aigames = format!(
            "settings field_columns 7\nsettings field_rows 6\nsettings your_botid 1\nupdate game round 4\n\
             update game field {field}\naction move 10000\n"
        );
        assert_eq!(answers("aigames", &aigames).unwrap(), "place_disc 0\n");
        let cfour = "uci\nisready\nsetoption name UCI_Variant value cfour\nucinewgame\n\
                     position startpos moves P@a1 P@b1 P@a2 P@b2 P@a3 P@b3\ngo wtime 1000 btime 1000 winc 0 binc 0\nquit\n";
        let said = answers("cfour", cfour).unwrap();
        assert!(said.contains("uciok\nreadyok\n") && said.ends_with("bestmove P@a4\n"), "{said}");
    }

    #[test]
    fn it_says_what_it_does_not_understand() {
        for (dialect, line, words) in [
            ("simple", "7x6 1000", "expected board"),
            ("simple", "7x6 1000 1212121", "the game is over"),
            ("kaggle", "{}", "observation"),
            ("aigames", "update game field 0,0", "cells"),
            ("cfour", "position startpos moves P@a2", "P@a2"),
        ] {
            let error = answers(dialect, line).unwrap_err().to_string();
            assert!(error.contains(words), "{dialect}: {error}");
        }
        assert!(answers("board42", "").unwrap_err().to_string().contains("fourfold move --board42"));
    }

    /// What it says before anybody has asked for a move.
    fn first_words(bot: &str) -> anyhow::Result<String> {
        let command = EngineCommand { bot: bot.parse().unwrap(), dialect: Dialect::Cfour };
        let mut out = Vec::new();
        command.serve(Listener::new(command.dialect, &command.bot)?, &b"isready\n"[..], &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_bot_that_is_none_is_refused_before_the_first_question() {
        for (bot, words) in [
            ("nobot", "no bot is called `nobot`"),
            ("greedy:depth=2", "no setting `depth`"),
            ("memory:file=/nowhere/memory.xml", "cannot read /nowhere/memory.xml"),
        ] {
            assert!(first_words(bot).unwrap_err().to_string().contains(words), "{bot}");
        }
        assert_eq!(first_words("greedy").unwrap(), "readyok\n");
    }

    #[test]
    fn what_a_bot_has_learnt_may_be_of_another_board() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("memory.xml");
        std::fs::write(&file, "of no board").unwrap();
        assert_eq!(first_words(&format!("memory:file={}", file.display())).unwrap(), "readyok\n");
    }
}
