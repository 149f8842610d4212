//! Who takes part, and how the arena asks for moves.
//!
//! An [`Entrant`] is who; a [`Player`] sits at one game at a time. Players block: every game under way has a thread of
//! its own, so a player that is silent holds up its own game and no other, and a player of any kind (a house bot in
//! this process, a program over standard streams) is straight-line code. One entrant has as many players as it plays
//! games at the same time; they are kept between games.

use std::time::Duration;

use fourfold_engine::{Column, Game, Side, Variant};

use crate::stop::Stop;
use crate::time::TimeControl;

/// Somebody who takes part in a match or a tournament.
pub trait Entrant: Send + Sync {
    /// As tables and records show it.
    fn name(&self) -> &str;

    /// Makes one more player.
    ///
    /// # Errors
    ///
    /// Fails if the entrant cannot be started at all; whoever it should have played wins by [`EntrantFault::Broken`].
    fn player(&self) -> Result<Box<dyn Player>, EntrantFault>;
}

/// One of an entrant's players. It is used for one game after the other; after a fault it is dropped, and a new one
/// is made for the next game. Dropping it ends whatever belongs to it.
pub trait Player: Send {
    /// A game begins. Nothing of an earlier game may change how this one is played.
    ///
    /// # Errors
    ///
    /// The game is lost by a fault here as by one in [`Self::choose`].
    fn begin(&mut self, start: &GameStart) -> Result<(), EntrantFault>;

    /// Chooses a column, which need not be legal: the arena checks it. Blocks until there is an answer, but not
    /// longer than `budget` and `margin` of the turn together, nor once `stop` is set; in the latter case any answer
    /// will do.
    ///
    /// # Errors
    ///
    /// Whatever the fault, the game is lost.
    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault>;

    /// The game is over. Called after every game that was begun, faults included.
    fn end(&mut self, _game: &Game, _end: &End) {}
}

/// What a player knows before a game.
#[derive(Clone, Copy, Debug)]
pub struct GameStart {
    pub variant: Variant,
    pub side: Side,
    pub time: TimeControl,
    /// For bots that draw: different in every game, and the same whenever the run is repeated.
    pub seed: u64,
}

/// A question for a move.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The opening's moves included.
    pub game: &'a Game,
    /// What the clock leaves for this move: an answer later than this and the margin loses. `None` if no clock runs.
    pub budget: Option<Duration>,
    /// A good time to think for who has no sense of time.
    pub allotment: Option<Duration>,
    /// How far the budget may be overrun.
    pub margin: Duration,
    /// What both sides have left, the first side first, in milliseconds; zeros if no clock runs.
    pub remaining_ms: [u64; 2],
    /// Search nodes or playouts for this move.
    pub nodes: Option<u64>,
    /// The run ends: the game will not count.
    pub stop: &'a Stop,
}

/// A move and what it cost: from the moment when the question was wholly sent until the answer was there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    pub column: Column,
    pub spent: Duration,
}

/// Why a player loses a game beside the board.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EntrantFault {
    #[error("too late")]
    Late,
    /// The answer is no legal move.
    #[error("{0}")]
    Illegal(String),
    /// It broke, or could not be started.
    #[error("{0}")]
    Broken(String),
    /// It went away.
    #[error("{0}")]
    Gone(String),
}

/// How a game ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// `None` for a draw.
    pub winner: Option<Side>,
    pub reason: DecidedBy,
    /// The loser's fault in words, if it was one.
    pub fault: Option<String>,
}

impl End {
    /// The side that lost by a fault.
    pub fn at_fault(&self) -> Option<Side> {
        self.winner.map(Side::opponent).filter(|_| self.reason.is_fault())
    }
}

/// What decided a game, in the words of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Four,
    Full,
    Time,
    Illegal,
    Left,
    BotFailed,
}

impl DecidedBy {
    pub fn is_fault(self) -> bool {
        match self {
            Self::Four | Self::Full => false,
            Self::Time | Self::Illegal | Self::Left | Self::BotFailed => true,
        }
    }
}

impl EntrantFault {
    pub(crate) fn reason(&self) -> DecidedBy {
        match self {
            Self::Late => DecidedBy::Time,
            Self::Illegal(_) => DecidedBy::Illegal,
            Self::Broken(_) => DecidedBy::BotFailed,
            Self::Gone(_) => DecidedBy::Left,
        }
    }
}
