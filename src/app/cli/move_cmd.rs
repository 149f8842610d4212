//! `fourfold move`: one move of a bot, for a move list or a 42-character board.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::http::control::WhyReason;
use crate::system::bot_files;
use anyhow::Context;
use clap::ValueEnum;
use fourfold_bots::{BotSpec, Choice, SearchInfo, think};
use fourfold_engine::notation::board42::{self, RowOrder};
use fourfold_engine::{Game, Position, Variant};
use serde::Serialize;

use super::reasons;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;

/// Let a bot choose one move and print it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold move --bot negamax:depth=6 44353
  fourfold move --bot memory:file=memory.xml --why 44353
  fourfold move --bot cutoff --json 44353
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
    /// Write the line `Move N` to this file too.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object: the column, what the bot thinks it is worth in its own unit, how deep it looked, and the
    /// line of play that it expects, which of `cutoff` ends where the outcome lies.
    #[arg(long)]
    json: bool,
}

/// What `--json` shows. What a bot does not tell is null.
#[derive(Serialize)]
struct MoveReport {
    bot: String,
    column: u8,
    /// For the side to move, in the bot's own unit.
    score: Option<i32>,
    /// Plies looked ahead; 0 if the bot does not count them.
    depth: Option<u32>,
    nodes: Option<u64>,
    /// The moves that the bot expects, its own first, as they are written everywhere.
    line: Option<String>,
    seconds: f64,
    /// What spoke for which column; only with `--why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Vec<WhyReason>>,
}

impl MoveReport {
    fn new(bot: &BotSpec, choice: &Choice, took: Duration) -> Self {
        let info = choice.info.as_ref();
        let line = |info: &SearchInfo| info.pv.iter().map(|column| column.digit()).collect();
        Self {
            bot: bot.to_string(),
            column: choice.column.number(),
            score: info.map(|info| info.score),
            depth: info.map(|info| info.depth),
            nodes: info.map(|info| info.nodes),
            line: info.map(line),
            seconds: took.as_secs_f64(),
            reasons: None,
        }
    }
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
        let began = Instant::now();
        let choice = think::choose(&mut *bot, &position, self.time_ms.map(Duration::from_millis))?;
        let took = began.elapsed();
        let line = format!("Move {}\n", choice.column);
        if let Some(path) = &self.out {
            fs::write(path, &line).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let reasons = self.why.then(|| {
            bot.tell_why();
            bot.reasons(&position).into_iter().map(WhyReason::from).collect::<Vec<_>>()
        });
        if self.json {
            return output::print_json(&MoveReport { reasons, ..MoveReport::new(&self.bot, &choice, took) });
        }
        io::stdout().write_all(line.as_bytes())?;
        match reasons {
            Some(reasons) => Ok(self.print_reasons(&reasons)?),
            None => Ok(()),
        }
    }

    fn print_reasons(&self, reasons: &[WhyReason]) -> io::Result<()> {
        if reasons.is_empty() {
            return writeln!(io::stdout(), "{} has no reasons to tell in this position", self.bot.name());
        }
        reasons::print(reasons)
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
