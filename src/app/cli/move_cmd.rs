//! `fourfold move`: one move of a bot, for a move list or a 42-character board.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::http::control::WhyReason;
use crate::system::bot_files;
use anyhow::Context;
use clap::ValueEnum;
use fourfold_bots::{BotSpec, Reason};
use fourfold_engine::notation::board42::{self, RowOrder};
use fourfold_engine::{Game, Position, Variant};

use super::reasons;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::think;

/// Let a bot choose one move and print it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold move --bot negamax:depth=6 44353
  fourfold move --bot memory:file=memory.xml --why 44353
  fourfold move --bot random:seed=7 --board42 'Y R' --out Move.txt")]
pub(super) struct MoveCommand {
    /// Who chooses, with its settings: see `fourfold bots`.
    #[arg(long, value_name = "BOT")]
    bot: BotSpec,
    /// Stop the bot after this time, in milliseconds; without it the bot's own settings count.
    #[arg(long = "move-ms", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    time_ms: Option<u64>,
    /// Board size and line length, such as 7x6 or 9x6x5.
    #[arg(long, value_name = "V", default_value_t, conflicts_with = "board42")]
    variant: Variant,
    /// The moves so far, one base-36 column digit each from 1; `-` or nothing for the start.
    #[arg(default_value = "-", allow_hyphen_values = true)]
    moves: String,
    /// The position as 42 characters, row by row: blank, Y for the bot's own stones, R for the opponent's.
    #[arg(long, value_name = "STRING", conflicts_with = "moves", allow_hyphen_values = true)]
    board42: Option<String>,
    /// The row that the 42 characters begin with.
    #[arg(long, value_enum, default_value_t = PrintOrder::Bottom, requires = "board42")]
    order: PrintOrder,
    /// Print below the move which patterns spoke for which columns, in the bot's own unit: of the memories and of
    /// ntuple.
    #[arg(long)]
    why: bool,
    /// Write the line to this file too.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum PrintOrder {
    Bottom,
    Top,
}

impl From<PrintOrder> for RowOrder {
    fn from(order: PrintOrder) -> Self {
        match order {
            PrintOrder::Bottom => Self::Bottom,
            PrintOrder::Top => Self::Top,
        }
    }
}

impl MoveCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let position = self.position()?;
        let mut bot = bot_files::build(&self.bot, position.variant())?;
        let choice = think::choose(&mut *bot, &position, self.time_ms.map(Duration::from_millis))?;
        let line = format!("Move {}\n", choice.column);
        if let Some(path) = &self.out {
            fs::write(path, &line).with_context(|| format!("cannot write {}", path.display()))?;
        }
        io::stdout().write_all(line.as_bytes())?;
        if self.why {
            bot.tell_why();
            self.print_reasons(bot.reasons(&position))?;
        }
        Ok(())
    }

    fn print_reasons(&self, reasons: Vec<Reason>) -> io::Result<()> {
        if reasons.is_empty() {
            return writeln!(io::stdout(), "{} has no reasons to tell in this position", self.bot.name());
        }
        let reasons: Vec<WhyReason> = reasons.into_iter().map(WhyReason::from).collect();
        reasons::print(&reasons)
    }

    fn position(&self) -> Result<Position, Exit> {
        if let Some(board) = &self.board42 {
            return board42::parse(board, self.order.into())
                .map_err(|error| Exit::usage(format!("--board42: {error}")));
        }
        let game = Game::from_moves(self.variant, &self.moves)
            .map_err(|error| Exit::usage(format!("MOVES: {error}")))?;
        match game.outcome() {
            None => Ok(*game.position()),
            Some(_) => Err(Exit::usage(format!("MOVES: the game is over after move {}", game.ply()))),
        }
    }
}
