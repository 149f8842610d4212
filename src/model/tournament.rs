//! How tournaments of the daemon are held.

use fourfold_arena::format::Format;

/// Who meets whom in a tournament.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TournamentFormat {
    /// By a schedule that follows from what was played.
    Schedule(Format),
    /// For so long, whoever is free is paired again at once.
    Arena { minutes: u32 },
}

impl From<Format> for TournamentFormat {
    fn from(format: Format) -> Self {
        Self::Schedule(format)
    }
}
