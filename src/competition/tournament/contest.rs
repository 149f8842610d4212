//! A tournament's course, by a schedule or as an arena: what both have in common.

use fourfold_arena::report::RatingTable;
use fourfold_arena::suite::SuiteError;

use super::arena::ArenaProgress;
use super::progress::{ScheduleLine, TournamentProgress};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::time::UnixMillis;
use crate::model::tournament::TournamentFormat;
use crate::storage::record::StoredGame;
use crate::storage::tournaments::{Attendance, EndedBecause, StoredTournament, Walkover};

/// A tournament under way, or one that is over.
#[derive(Debug)]
pub(super) enum Contest {
    Schedule(Box<TournamentProgress>),
    Arena(Box<ArenaProgress>),
}

/// What is stored of a tournament beside its row.
#[derive(Clone, Debug, Default)]
pub(super) struct Played {
    /// In the order in which they began.
    pub(super) games: Vec<StoredGame>,
    pub(super) walkovers: Vec<Walkover>,
    /// In the order of the entrants.
    pub(super) attendance: Vec<Attendance>,
}

/// An entrant as the page of a tournament shows it, beside its score.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct EntrantState {
    /// Whether they have withdrawn.
    pub(crate) has_left: bool,
    /// Whether their next game counts double.
    pub(crate) is_on_streak: bool,
}

impl Contest {
    /// A tournament with what is stored of it. `names` are those of its entrants, in their order.
    ///
    /// # Errors
    ///
    /// There are no openings.
    pub(super) fn replay(
        tournament: StoredTournament,
        names: Vec<PlayerName>,
        played: &Played,
    ) -> Result<Self, SuiteError> {
        let Played { games, walkovers, attendance } = played;
        Ok(match tournament.format {
            TournamentFormat::Schedule(format) => {
                let progress =
                    TournamentProgress::replay(tournament, format, names, games, walkovers, attendance)?;
                Self::Schedule(Box::new(progress))
            }
            TournamentFormat::Arena { minutes } => {
                Self::Arena(Box::new(ArenaProgress::replay(tournament, minutes, names, attendance, games)?))
            }
        })
    }

    pub(super) fn tournament(&self) -> &StoredTournament {
        match self {
            Self::Schedule(progress) => progress.tournament(),
            Self::Arena(arena) => arena.tournament(),
        }
    }

    pub(super) fn names(&self) -> &[PlayerName] {
        match self {
            Self::Schedule(progress) => progress.names(),
            Self::Arena(arena) => arena.names(),
        }
    }

    /// Whether no game of it goes on.
    pub(super) fn is_quiet(&self) -> bool {
        match self {
            Self::Schedule(progress) => progress.live().is_empty(),
            Self::Arena(arena) => arena.live().is_empty(),
        }
    }

    /// Why nothing more is to be played, if so.
    pub(super) fn over(&self, now: UnixMillis) -> Option<EndedBecause> {
        match self {
            Self::Schedule(progress) => progress.over(),
            Self::Arena(arena) => arena.over(now),
        }
    }

    pub(super) fn winner(&self) -> Option<usize> {
        match self {
            Self::Schedule(progress) => progress.winner(),
            Self::Arena(arena) => arena.winner(),
        }
    }

    pub(super) fn games(&self) -> (u64, u64) {
        match self {
            Self::Schedule(progress) => progress.games(),
            Self::Arena(arena) => arena.games(),
        }
    }

    pub(super) fn table(&self) -> RatingTable {
        match self {
            Self::Schedule(progress) => progress.table(),
            Self::Arena(arena) => arena.table(),
        }
    }

    pub(super) fn lines(&self) -> Vec<ScheduleLine> {
        match self {
            Self::Schedule(progress) => progress.lines().cloned().collect(),
            Self::Arena(arena) => arena.lines().cloned().collect(),
        }
    }

    /// When an arena ends.
    pub(super) fn ends_at(&self) -> Option<UnixMillis> {
        match self {
            Self::Schedule(_) => None,
            Self::Arena(arena) => Some(arena.ends_at()),
        }
    }

    /// The place of somebody who takes part, or did.
    pub(super) fn place(&self, player: &PlayerId) -> Option<usize> {
        self.tournament().entrants.iter().position(|entrant| entrant == player)
    }

    /// Whether an entrant has withdrawn.
    pub(super) fn has_left(&self, place: usize) -> bool {
        match self {
            Self::Schedule(progress) => progress.has_left(place),
            Self::Arena(arena) => arena.has_left(place),
        }
    }

    /// The first game of somebody who comes now; none if nobody does any more.
    pub(super) fn comes_at(&self, now: UnixMillis) -> Option<u64> {
        match self {
            Self::Schedule(progress) => progress.comes_at(),
            Self::Arena(arena) => (now < arena.ends_at()).then(|| arena.due()),
        }
    }

    /// Somebody comes, or comes back, and plays from that game on.
    pub(super) fn join(&mut self, player: PlayerId, name: PlayerName, came: u64) {
        match self {
            Self::Schedule(progress) => progress.join(player, name, came),
            Self::Arena(arena) => arena.join(player, name),
        }
    }

    /// The game from which on somebody plays no more who withdraws now.
    pub(super) fn goes_at(&self) -> u64 {
        match self {
            Self::Schedule(progress) => progress.goes_at(),
            Self::Arena(arena) => arena.due(),
        }
    }

    /// Somebody withdraws, and plays no more from that game on.
    pub(super) fn quit(&mut self, place: usize, went: u64) {
        match self {
            Self::Schedule(progress) => progress.quit(place, went),
            Self::Arena(arena) => arena.quit(place),
        }
    }

    /// How the entrants stand beside their scores, in their order.
    pub(super) fn entrants(&self) -> Vec<EntrantState> {
        match self {
            Self::Schedule(progress) => {
                let state = |place| EntrantState { has_left: progress.has_left(place), is_on_streak: false };
                (0..progress.names().len()).map(state).collect()
            }
            Self::Arena(arena) => {
                let state = |place| EntrantState {
                    has_left: arena.has_left(place),
                    is_on_streak: arena.is_on_streak(place),
                };
                (0..arena.names().len()).map(state).collect()
            }
        }
    }
}
