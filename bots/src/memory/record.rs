//! What is remembered of a pattern, and into which list that puts it.

use fourfold_engine::Cell;

use super::pattern::Owner;

/// What is remembered of a pattern.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PatternRecord {
    /// Games, or snapshots if all are learnt, in which it was seen; won and lost ones are among them.
    pub seen: u32,
    pub won: u32,
    pub lost: u32,
    /// The side that owned it won, with three of its stones on the board at the end.
    pub is_ending: bool,
    /// The weight of the class that the pattern was last given; tells how it was judged, but has no effect.
    pub weighting: i32,
    /// The cell whose stone won a game over this pattern.
    pub response: Option<Cell>,
}

/// The four lists into which the article sorts patterns, each with a weight.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum PatternClass {
    /// The bot can win with it.
    Aggressive,
    /// It must be answered or the game is lost.
    Defensive,
    /// It may turn into a win of the bot.
    Tactical,
    /// It may turn into a win of the opponent.
    Warning,
}

impl PatternClass {
    /// The lists that a pattern joins, in the order in which they are gone through.
    ///
    /// The article adds remembered own patterns that were lost with to the defensive list too; we look at the
    /// owner there as everywhere.
    pub(super) fn of(owner: Owner) -> [Self; 2] {
        match owner {
            Owner::Own => [Self::Aggressive, Self::Tactical],
            Owner::Enemy => [Self::Defensive, Self::Warning],
        }
    }

    /// The standard weight.
    pub(super) fn weight(self) -> i64 {
        match self {
            Self::Aggressive => 10,
            Self::Defensive => 7,
            Self::Tactical => 3,
            Self::Warning => 5,
        }
    }

    /// The weight stored with a pattern that experience put into this list.
    pub(super) fn weight_from_memory(self) -> i32 {
        match self {
            Self::Aggressive => 105,
            Self::Defensive => 104,
            Self::Tactical => 103,
            Self::Warning => 102,
        }
    }

    /// The games that speak for putting a pattern into this list.
    pub(super) fn relevant_count(self, record: &PatternRecord) -> u32 {
        match self {
            Self::Aggressive | Self::Tactical => record.won,
            Self::Defensive | Self::Warning => record.lost,
        }
    }
}
