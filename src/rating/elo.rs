//! Live Elo in fixed-point arithmetic, so that recomputing from the records gives the same digits everywhere.

/// A rating in thousandths of an Elo point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MilliElo(pub i64);

/// A rating and the number of rated games that it rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// How strong.
    pub rating: MilliElo,
    /// Rated games played.
    pub games: u64,
}

/// What one game did to one rating. `after = before + delta`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RatingEntry {
    /// Before the game.
    pub before: MilliElo,
    /// The change.
    pub delta: i64,
    /// After the game.
    pub after: MilliElo,
}

impl MilliElo {
    /// Whole Elo points, rounded half away from zero.
    #[must_use]
    pub fn to_elo(self) -> i32 {
        0
    }
}
