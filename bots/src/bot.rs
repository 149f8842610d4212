//! What a bot is: a position and a budget in, a column out.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::{Column, Game, Position, Side, SideResult, Variant};

use crate::reason::Reason;

/// A program that plays. Runs on a compute thread: it never awaits, sleeps, reads a clock, or does I/O.
pub trait Bot: Send {
    /// Chooses a move for the side to move.
    ///
    /// The position is of the variant the bot was built for. Equal position, node budget and seed give an
    /// equal choice. Once `stop` is true, returns its best move within 10 ms; with `stop` true from the start
    /// it still returns a legal move.
    ///
    /// # Errors
    ///
    /// Fails if the game is over, which is the caller's mistake, or if the bot is broken (weights missing,
    /// child process dead); it then forfeits the game.
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError>;

    /// How long the bot wants to think about a move by its own settings, such as `montecarlo:ms=100`.
    ///
    /// The bot has no clock: the caller sets `stop` after this time, or earlier if the game's clock demands
    /// it. `None` means that the bot ends by itself, or that only the caller's limits count.
    fn move_time(&self) -> Option<Duration> {
        None
    }

    /// Gives back memory that only a search needs, while it is not the bot's turn: a thousand idle games must not cost
    /// a thousand tables. With a node budget the next choice is the same as without. Bots that hold none keep this
    /// default.
    fn rest(&mut self) {}

    /// Memory that [`Bot::rest`] gives back, in bytes.
    fn search_bytes(&self) -> usize {
        0
    }

    /// Learns from a finished game. Bots that do not learn keep this default.
    fn game_over(&mut self, _game: &GameRecord) {}

    /// All that the bot has learnt, as a text from which [`crate::registry::build_taught`] builds it again.
    /// `None` from bots that do not learn.
    ///
    /// Keeping it, in the file that a setting such as `memory:file=` names or elsewhere, is the caller's part:
    /// bots do no I/O.
    fn knowledge(&self) -> Option<String> {
        None
    }

    /// Lets a bot tell its [`Bot::reasons`] from now on that does not look for them unless asked.
    fn tell_why(&mut self) {}

    /// What speaks for which column in a position, the weightiest first. Empty from bots that cannot say, and from
    /// those that wait for [`Bot::tell_why`].
    fn reasons(&mut self, _position: &Position) -> Vec<Reason> {
        Vec::new()
    }
}

/// Limits for one move. Empty fields mean no limit; `stop` always counts too.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct MoveBudget {
    /// Search nodes or playouts. Unlike time, it gives equal choices on every machine.
    pub nodes: Option<u64>,
    /// How long after the call the caller will set `stop`: a hint for planning, nothing to be measured.
    pub time: Option<Duration>,
}

/// The move a bot plays, and what it has to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    pub column: Column,
    /// `None` from bots that do not search.
    pub info: Option<SearchInfo>,
}

impl From<Column> for Choice {
    fn from(column: Column) -> Self {
        Self { column, info: None }
    }
}

/// What a search found, as shown to spectators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchInfo {
    /// Value of the position for the side to move in the bot's own unit; higher is better.
    pub score: i32,
    /// Plies looked ahead, 0 if the bot does not count them.
    pub depth: u32,
    pub nodes: u64,
    /// The best line found, starting with the chosen column; empty if the bot knows none.
    pub pv: Vec<Column>,
}

/// A finished game as one of its players saw it, to learn from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRecord {
    pub game: Game,
    /// The side that the bot played.
    pub side: Side,
    /// How it ended for the bot. Games may also end by clock or resignation, so this need not be the board's
    /// outcome.
    pub result: SideResult,
}

/// Why there is no bot, or no move from it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BotError {
    #[error("`{text}` is not a bot such as negamax:depth=6")]
    Unreadable { text: String },
    #[error("no bot is called `{name}`; did you mean `{nearest}`?")]
    UnknownBot { name: String, nearest: &'static str },
    #[error("{bot} has no setting `{setting}`; {known}")]
    UnknownSetting { bot: &'static str, setting: String, known: String },
    #[error("{bot}: setting `{setting}` is given twice")]
    RepeatedSetting { bot: &'static str, setting: String },
    #[error("{bot}: {setting} cannot be `{value}`: {allowed}")]
    BadValue { bot: &'static str, setting: &'static str, value: String, allowed: String },
    #[error("{bot} does not play {variant}: {plays}")]
    VariantNotPlayed { bot: &'static str, variant: Variant, plays: &'static str },
    #[error("{bot} is not {wanted}")]
    OtherBot { bot: String, wanted: &'static str },
    #[error("the game is over: there is nothing to choose")]
    GameOver,
    #[error("{name} does not learn")]
    LearnsNothing { name: String },
    #[error("what {name} has learnt cannot be read: {reason}")]
    BadState { name: String, reason: String },
    #[error("{bot} is broken: {reason}")]
    Broken { bot: &'static str, reason: String },
}
