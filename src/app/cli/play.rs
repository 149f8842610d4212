//! `fourfold play`: a game in the terminal, drawn over the whole screen or as plain text.

mod plain;
mod tui;

use std::fmt::Display;
use std::io::{self, Write};
use std::str::FromStr;
use std::time::Duration;

use crate::system::bot_files;

use crate::system::bot_files::BotFileError;
use fourfold_bots::{Bot, BotError, BotSpec, GameRecord};
use fourfold_engine::{BySide, Game, Outcome, Side, Variant, notation};

use crate::app::terminal::exit::Exit;
use crate::app::terminal::seed;

/// Play a game in the terminal, or watch two bots play.
///
/// The first side's stones are X, the second's O. On a terminal the game fills the screen: arrows and Enter, or the
/// number of a column; `?` shows all keys. Otherwise it is plain text: columns are read from standard input, one or
/// more a line; `u` takes your last move back, `q` leaves.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold play --second negamax:depth=6
  fourfold play --first negamax:depth=4 --second montecarlo --moves 44
  echo 4 4 q | fourfold play")]
pub(super) struct PlayCommand {
    /// Who moves first: `human` or a bot with its settings, see `fourfold bots`.
    #[arg(long, value_name = "P", default_value = "human")]
    first: PlayerArgument,
    /// Who moves second.
    #[arg(long, value_name = "P", default_value = "human")]
    second: PlayerArgument,
    /// Stop a bot after this time, in milliseconds; without it the bot's own settings count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    move_ms: Option<u64>,
    /// Board size and line length, such as 7x6 or 9x6x5.
    #[arg(long, value_name = "V", default_value_t)]
    variant: Variant,
    /// Begin after these moves, one base-36 column digit each from 1.
    #[arg(long, value_name = "START", default_value = "-", allow_hyphen_values = true)]
    moves: String,
    /// Decides whatever bots draw that have no seed of their own; by default a new one each time, which is printed.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Plain text, as when input or output is no terminal or the variable TERM is `dumb`.
    #[arg(long)]
    plain: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PlayerArgument {
    Human,
    Bot(BotSpec),
}

impl FromStr for PlayerArgument {
    type Err = BotError;

    fn from_str(text: &str) -> Result<Self, BotError> {
        if text == "human" { Ok(Self::Human) } else { text.parse().map(Self::Bot) }
    }
}

/// Who sits at a side.
enum SeatOccupant {
    Human,
    Bot(SeatedBot),
}

impl SeatOccupant {
    /// Whether the bot was given a seed that the argument does not name.
    fn draws_unlike(&self, argument: &PlayerArgument) -> bool {
        match (self, argument) {
            (Self::Bot(SeatedBot { spec, .. }), PlayerArgument::Bot(given)) => spec != given,
            (Self::Bot(_) | Self::Human, _) => false,
        }
    }
}

/// A bot in its seat.
struct SeatedBot {
    spec: BotSpec,
    bot: Box<dyn Bot>,
}

impl SeatedBot {
    /// Lets the bot learn, in memory for the next game and in its file if it has one.
    fn learn(&mut self, record: &GameRecord) -> Result<(), BotFileError> {
        self.bot.game_over(record);
        bot_files::learn(&self.spec, record)
    }
}

/// What a game begins with.
struct Setup {
    /// With the moves of `--moves`, which cannot be taken back.
    game: Game,
    seats: BySide<SeatOccupant>,
    move_limit: Option<Duration>,
}

impl PlayCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let game = Game::from_moves(self.variant, &self.moves)
            .map_err(|error| Exit::usage(format!("--moves: {error}")))?;
        let seed = self.seed.unwrap_or_else(seed::draw);
        let seat = |player: &PlayerArgument, seed| -> Result<SeatOccupant, BotFileError> {
            let PlayerArgument::Bot(given) = player else { return Ok(SeatOccupant::Human) };
            let spec = given.clone().with_default_seed(seed);
            let bot = bot_files::build_to_learn(&spec, self.variant)?;
            Ok(SeatOccupant::Bot(SeatedBot { spec, bot }))
        };
        // Two that draw must not draw alike.
        let seats =
            BySide { first: seat(&self.first, seed)?, second: seat(&self.second, seed.wrapping_add(1))? };
        if seats.first.draws_unlike(&self.first) || seats.second.draws_unlike(&self.second) {
            writeln!(io::stderr(), "seed {seed}: --seed {seed} lets the bots draw the same again")?;
        }
        let move_limit = self.move_ms.map(Duration::from_millis);
        let setup = Setup { game, seats, move_limit };
        if self.plain { plain::run(setup) } else { start(setup) }
    }
}

/// Plays over the whole screen if there is one.
fn start(setup: Setup) -> anyhow::Result<()> {
    if tui::is_able() { tui::run(setup) } else { plain::run(setup) }
}

fn symbol(side: Side) -> char {
    match side {
        Side::First => 'X',
        Side::Second => 'O',
    }
}

/// Writes the diagram with the columns' digits below it.
fn print_board(game: &Game, out: &mut impl Write) -> io::Result<()> {
    let digits: Vec<String> = game.variant().columns().map(|column| column.digit().to_string()).collect();
    write!(out, "{}", notation::print_diagram(game.position()))?;
    writeln!(out, "{}", digits.join(" "))
}

/// How the game ended, in a line.
fn result_line<N: Display>(outcome: Outcome, name: impl Fn(Side) -> N) -> String {
    match outcome {
        Outcome::Win { by, line } => format!("{} wins with {line}", name(by)),
        Outcome::Draw => "draw: the board is full".to_owned(),
    }
}

/// How to go on with a game that somebody leaves.
fn resume_line(game: &Game) -> String {
    let moves = game.notation();
    let moves = if moves.is_empty() { "-" } else { &moves };
    format!("left unfinished; go on with --moves {moves}")
}
