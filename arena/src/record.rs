//! A finished game as one JSON object: the form in which games are exported everywhere in Fourfold.

use fourfold_engine::{BySide, Side};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::entrant::DecidedBy;
use crate::play::{GameTerms, Played};
use crate::suite::OpeningKind;
use crate::time::BotLimits;

/// A finished game. Matches rate nobody, so its `ratings` are always null.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchRecord {
    pub id: String,
    pub variant: String,
    pub rated: bool,
    pub players: Players,
    pub time: BotLimits,
    pub opening: OpeningRecord,
    pub pair: PairRecord,
    pub moves: String,
    /// What both sides had left after each of the moves, in milliseconds; zeros if no clock ran.
    pub clocks: Vec<[u64; 2]>,
    /// What each move after the opening cost, in microseconds.
    pub spent_us: Vec<u64>,
    pub status: Status,
    pub result: Winner,
    pub reason: DecidedBy,
    /// The side at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SideWord>,
    /// The fault in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    pub ratings: (),
    pub started_at: String,
    pub ended_at: String,
}

/// Who played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Players {
    pub first: PlayerRecord,
    pub second: PlayerRecord,
}

/// One of them. An entrant has no account: its name is all there is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlayerRecord {
    pub id: String,
    pub name: String,
    pub kind: String,
}

impl PlayerRecord {
    fn entrant(name: &str) -> Self {
        Self { id: name.to_owned(), name: name.to_owned(), kind: "bot".to_owned() }
    }
}

/// The moves that stood on the board.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpeningRecord {
    pub kind: OpeningKind,
    pub moves: String,
}

/// The pair it belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PairRecord {
    pub id: String,
    pub leg: u8,
    pub of: u8,
}

/// Records are of finished games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Over,
}

/// A side as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideWord {
    First,
    Second,
}

impl From<Side> for SideWord {
    fn from(side: Side) -> Self {
        match side {
            Side::First => Self::First,
            Side::Second => Self::Second,
        }
    }
}

/// Who won, as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    First,
    Second,
    Draw,
}

impl Winner {
    fn new(winner: Option<Side>) -> Self {
        match winner {
            Some(Side::First) => Self::First,
            Some(Side::Second) => Self::Second,
            None => Self::Draw,
        }
    }

    /// `None` for a draw.
    pub fn side(self) -> Option<Side> {
        match self {
            Self::First => Some(Side::First),
            Self::Second => Some(Side::Second),
            Self::Draw => None,
        }
    }
}

/// When a game began and ended.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
}

impl MatchRecord {
    /// Writes down a game.
    pub fn new(
        id: String,
        pair: PairRecord,
        names: BySide<&str>,
        kind: OpeningKind,
        terms: &GameTerms<'_>,
        played: Played,
        span: Span,
    ) -> Self {
        let Played { game, end, clocks, spent_us } = played;
        let at_fault = end.at_fault();
        Self {
            id,
            variant: terms.variant.to_string(),
            rated: false,
            players: Players {
                first: PlayerRecord::entrant(names.first),
                second: PlayerRecord::entrant(names.second),
            },
            time: terms.limits,
            opening: OpeningRecord { kind, moves: terms.opening.notation() },
            pair,
            moves: game.notation(),
            clocks,
            spent_us,
            status: Status::Over,
            result: Winner::new(end.winner),
            reason: end.reason,
            by: at_fault.map(SideWord::from),
            fault: end.fault,
            ratings: (),
            started_at: rfc3339(span.started_at),
            ended_at: rfc3339(span.ended_at),
        }
    }

    /// Whether both sides moved after the opening: otherwise nothing was played.
    pub fn both_moved(&self) -> bool {
        self.spent_us.len() >= 2
    }
}

/// With milliseconds, as all times are printed.
fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}
