//! What everybody sees of tournaments, and the way to ask for one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use fourfold_arena::report::RatingTable;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use super::progress::{ScheduleLine, TournamentProgress};
use crate::model::ids::{PlayerName, TournamentId};
use crate::model::time::UnixMillis;
use crate::storage::store::{Store, StoreError};
use crate::storage::tournaments::StoredTournament;

/// Commands that wait for the director; beyond, whoever commands waits.
const COMMANDS_MAX: usize = 16;

/// Finished tournaments that are kept as they came out, so that they are not read and replayed for every visitor.
const FINISHED_MAX: usize = 32;

/// A tournament that is to come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upcoming {
    /// That of the configuration.
    pub name: String,
    /// When it begins; nothing for those that wait for a command.
    pub at: Option<UnixMillis>,
}

/// A tournament in a list.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentSummary {
    /// What is fixed, and how it ended.
    pub tournament: StoredTournament,
    pub games: u64,
    /// Who came first, if it is over.
    pub winner: Option<PlayerName>,
}

/// A tournament with everything that there is to see.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentView {
    /// What is fixed, and how it ended.
    pub tournament: StoredTournament,
    /// The entrants' names, in their order.
    pub names: Vec<PlayerName>,
    /// Standings, crosstable and ratings, by rank.
    pub table: RatingTable,
    /// Games of the schedule as far as they are known, in its order.
    pub lines: Vec<ScheduleLine>,
    pub games: u64,
    /// Games of the schedule as far as it is known.
    pub known: u64,
}

impl TournamentView {
    fn new(progress: &TournamentProgress) -> Self {
        let (games, known) = progress.games();
        Self {
            tournament: progress.tournament().clone(),
            names: progress.names().to_vec(),
            table: progress.table(),
            lines: progress.lines().cloned().collect(),
            games,
            known,
        }
    }
}

/// Why a tournament cannot start now.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TournamentStartError {
    /// The configuration has none of that name.
    #[error("the configuration has no tournament called `{0}`")]
    Unknown(String),
    /// One of that name goes on.
    #[error("a tournament called `{0}` goes on already")]
    GoesOn(String),
    /// Fewer than two of the entrants are there.
    #[error("fewer than two of the entrants of `{0}` are there")]
    Alone(String),
    /// The daemon begins nothing now, or could not store it.
    #[error("the daemon cannot begin it now")]
    Unavailable,
}

/// A command to the director.
#[derive(Debug)]
pub(super) struct StartCommand {
    pub(super) name: String,
    pub(super) reply: oneshot::Sender<Result<TournamentId, TournamentStartError>>,
}

/// One tournament's progress: the director changes it, whoever looks reads it.
pub(super) type SharedProgress = Arc<Mutex<TournamentProgress>>;

/// Looks at a progress, or changes it.
pub(super) fn lock(progress: &SharedProgress) -> std::sync::MutexGuard<'_, TournamentProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All tournaments, for reading, and the way to start one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tournaments {
    inner: Arc<TournamentsInner>,
}

#[derive(Debug)]
struct TournamentsInner {
    store: Arc<dyn Store>,
    running: RwLock<HashMap<TournamentId, SharedProgress>>,
    upcoming: RwLock<Vec<Upcoming>>,
    finished: Mutex<Vec<Arc<TournamentView>>>,
    commands: mpsc::Sender<StartCommand>,
}

impl Tournaments {
    /// A board with nothing on it, and where its commands arrive.
    pub(super) fn with_commands(store: Arc<dyn Store>) -> (Self, mpsc::Receiver<StartCommand>) {
        let (commands, inbox) = mpsc::channel(COMMANDS_MAX);
        let inner = TournamentsInner {
            store,
            running: RwLock::default(),
            upcoming: RwLock::default(),
            finished: Mutex::default(),
            commands,
        };
        (Self { inner: Arc::new(inner) }, inbox)
    }

    /// A board for reading alone, on which nobody starts anything.
    pub fn reading(store: Arc<dyn Store>) -> Self {
        Self::with_commands(store).0
    }

    pub(super) fn show(&self, id: TournamentId, progress: SharedProgress) {
        self.inner.running.write().unwrap_or_else(PoisonError::into_inner).insert(id, progress);
    }

    pub(super) fn take_down(&self, id: &TournamentId) {
        self.inner.running.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    pub(super) fn announce(&self, upcoming: Vec<Upcoming>) {
        *self.inner.upcoming.write().unwrap_or_else(PoisonError::into_inner) = upcoming;
    }

    fn running(&self, id: &TournamentId) -> Option<SharedProgress> {
        self.inner.running.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Those of the configuration, the next first.
    pub fn upcoming(&self) -> Vec<Upcoming> {
        self.inner.upcoming.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tournaments with the numbers by which a list goes on, the newest first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn list(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, TournamentSummary)>, StoreError> {
        let mut list = Vec::new();
        for (number, tournament) in self.inner.store.tournaments(before, limit).await? {
            let end = tournament.end.as_ref();
            let winner = match end.and_then(|end| end.winner.as_ref()) {
                Some(winner) => self.inner.store.player(winner).await?.map(|player| player.name),
                None => None,
            };
            let booked = || self.running(&tournament.id).map_or(0, |progress| lock(&progress).games().0);
            let games = end.map_or_else(booked, |end| end.games);
            list.push((number, TournamentSummary { tournament, games, winner }));
        }
        Ok(list)
    }

    /// One tournament as it stands, or as it ended.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn view(&self, id: &TournamentId) -> Result<Option<Arc<TournamentView>>, StoreError> {
        if let Some(progress) = self.running(id) {
            return Ok(Some(Arc::new(TournamentView::new(&lock(&progress)))));
        }
        if let Some(view) = self.finished().iter().find(|view| view.tournament.id == *id) {
            return Ok(Some(Arc::clone(view)));
        }
        let Some(tournament) = self.inner.store.tournament(id).await? else { return Ok(None) };
        let has_ended = tournament.end.is_some();
        let progress = take_up(&*self.inner.store, tournament).await?;
        let view = Arc::new(TournamentView::new(&progress));
        if has_ended {
            let mut finished = self.finished();
            if finished.len() >= FINISHED_MAX {
                finished.remove(0);
            }
            finished.push(Arc::clone(&view));
        }
        Ok(Some(view))
    }

    fn finished(&self) -> std::sync::MutexGuard<'_, Vec<Arc<TournamentView>>> {
        self.inner.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a tournament of the configuration now.
    ///
    /// # Errors
    ///
    /// See [`TournamentStartError`].
    pub async fn start(&self, name: &str) -> Result<TournamentId, TournamentStartError> {
        let (reply, answer) = oneshot::channel();
        let command = StartCommand { name: name.to_owned(), reply };
        self.inner.commands.send(command).await.map_err(|_| TournamentStartError::Unavailable)?;
        answer.await.map_err(|_| TournamentStartError::Unavailable)?
    }
}

/// A tournament as its stored games tell it.
pub(super) async fn take_up(
    store: &dyn Store,
    tournament: StoredTournament,
) -> Result<TournamentProgress, StoreError> {
    let mut names = Vec::new();
    for entrant in &tournament.entrants {
        let player = store.player(entrant).await?;
        let missing = || StoreError::Corrupt(format!("there is no player {entrant}"));
        names.push(player.ok_or_else(missing)?.name);
    }
    let games = store.games_of_tournament(&tournament.id).await?;
    let walkovers = store.walkovers(&tournament.id).await?;
    TournamentProgress::replay(tournament, names, &games, &walkovers)
        .map_err(|error| StoreError::Corrupt(error.to_string()))
}
