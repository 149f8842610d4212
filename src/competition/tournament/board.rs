//! What everybody sees of tournaments, and the way to ask for one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fourfold_arena::report::RatingTable;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use super::contest::{Contest, EntrantState, Played};
use super::progress::ScheduleLine;
use crate::model::clock::TimeControl;
use crate::model::ids::{PlayerId, PlayerName, TournamentId};
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::storage::moderation::Because;
use crate::storage::store::{Store, StoreError};
use crate::storage::tournaments::{StoredTournament, TournamentPlan};
use crate::system::ask::ask;
use crate::system::config::FormatName;
use crate::system::shares::Held;

/// Commands that wait for the director; beyond, whoever commands waits.
const COMMANDS_MAX: usize = 16;

/// Finished tournaments that are kept as they came out, so that they are not read and replayed for every visitor.
const FINISHED_MAX: usize = 32;

/// A tournament that is to come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upcoming {
    /// Its link already, if somebody has made it.
    pub(crate) id: Option<TournamentId>,
    /// By whom it was made, if it is none of the configuration.
    pub(crate) maker: Option<Identity>,
    /// No two share one.
    pub(crate) name: String,
    /// When it begins; nothing for those that wait for a command.
    pub(crate) at: Option<UnixMillis>,
    /// Format, time, whether its games count.
    pub(crate) terms: PlanTerms,
    /// Whether every remote bot that is open when it begins takes part.
    pub(crate) open_bots: bool,
    /// Which people have entered, if they may.
    pub(crate) entered: Option<Vec<PlayerName>>,
    /// How many people may.
    pub(crate) people_max: usize,
}

/// What is played in a tournament that is to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlanTerms {
    pub(crate) format: FormatName,
    /// Of a Swiss; by the number of entrants if left out.
    pub(crate) rounds: Option<u32>,
    /// How long an arena goes on.
    pub(crate) minutes: Option<u32>,
    /// Of each meeting; the usual number if left out.
    pub(crate) games: Option<u32>,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    pub(crate) rated: bool,
}

/// A tournament in a list.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentSummary {
    /// What is fixed, and how it ended.
    pub(crate) tournament: StoredTournament,
    pub(crate) games: u64,
    /// Who came first, if it is over.
    pub(crate) winner: Option<PlayerName>,
}

/// A tournament with everything that there is to see.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentView {
    /// What is fixed, and how it ended.
    pub(crate) tournament: StoredTournament,
    /// The entrants' names, in their order.
    pub(crate) names: Vec<PlayerName>,
    /// Standings, crosstable and ratings, by rank.
    pub(crate) table: RatingTable,
    /// Games of the schedule as far as they are known, in its order.
    pub lines: Vec<ScheduleLine>,
    pub(crate) games: u64,
    /// Games of the schedule as far as it is known.
    pub(crate) known: u64,
    /// How the entrants stand beside their scores, in their order.
    pub(crate) entrants: Vec<EntrantState>,
    /// When nothing begins any more, in an arena.
    pub(crate) ends_at: Option<UnixMillis>,
    /// Whether somebody may come yet, as far as its course says.
    is_open: bool,
}

impl TournamentView {
    pub(super) fn new(contest: &Contest) -> Self {
        let (games, known) = contest.games();
        Self {
            tournament: contest.tournament().clone(),
            names: contest.names().to_vec(),
            table: contest.table(),
            lines: contest.lines(),
            games,
            known,
            entrants: contest.entrants(),
            ends_at: contest.ends_at(),
            is_open: contest.comes_at(UnixMillis(i64::MIN)).is_some(),
        }
    }

    /// Whether somebody may come now who has not taken part yet.
    pub(crate) fn may_come(&self, now: UnixMillis) -> bool {
        let is_in_time = self.is_open && self.ends_at.is_none_or(|ends_at| now < ends_at);
        self.tournament.end.is_none() && self.tournament.open_people && is_in_time
    }

    /// Whether nothing of it can change any more.
    fn is_settled(&self) -> bool {
        self.tournament.end.is_some() && self.lines.iter().all(|line| line.outcome.is_some())
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

/// Why somebody cannot enter a tournament.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum EntryError {
    /// None of that name is to come.
    #[error("no tournament called `{0}` is to come")]
    Unknown(String),
    /// People do not take part.
    #[error("people cannot enter `{0}`")]
    Closed(String),
    /// It has gone too far for somebody to come, or is of a kind that nobody comes to later.
    #[error("nobody comes to `{0}`, or leaves it, any more")]
    Late(String),
    /// As many have entered as may.
    #[error("{max} people have entered already")]
    Full { max: usize },
    /// The daemon stops.
    #[error("the daemon cannot note it now")]
    Unavailable,
}

/// Why a tournament is not made, or one that is to come not changed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum PlanError {
    /// Another one that is to come or goes on is called so.
    #[error("another tournament is called `{0}`")]
    NameTaken(String),
    /// Its maker has made enough.
    #[error("{max} tournaments that you have made are to come")]
    TooMany { max: usize },
    /// So many are to come already.
    #[error("{max} tournaments are to come already")]
    Full { max: usize },
    /// None of that id is to come.
    #[error("no such tournament is to come")]
    Unknown,
    /// Somebody else has made it.
    #[error("somebody else has made it")]
    NotYours,
    /// It cannot begin now.
    #[error(transparent)]
    Start(#[from] TournamentStartError),
    /// The daemon stops.
    #[error("the daemon cannot note it now")]
    Unavailable,
}

/// Whether somebody wants to take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    Enter,
    Withdraw,
}

/// A command to the director.
#[derive(Debug)]
pub(super) enum Command {
    /// To begin one now.
    Start { name: String, reply: oneshot::Sender<Result<TournamentId, TournamentStartError>> },
    /// Of a person who wants to take part in one that is to come, or no more.
    Enter { name: String, who: Identity, wish: Wish, reply: oneshot::Sender<Result<(), EntryError>> },
    /// The same by its id, of one that goes on too.
    Attend { id: TournamentId, who: Identity, wish: Wish, reply: oneshot::Sender<Result<(), EntryError>> },
    /// Of a person who makes one.
    Make {
        plan: Box<TournamentPlan>,
        maker: Identity,
        /// What it takes of the share of a network until it begins.
        place: Held,
        reply: oneshot::Sender<Result<(), PlanError>>,
    },
    /// Somebody is here no more.
    Gone { player: PlayerId },
    /// Somebody is called otherwise by now.
    Renamed { who: Identity },
    /// To call one off that somebody has made, or that goes on.
    Cancel {
        id: TournamentId,
        by: Canceller,
        /// What its page says; never empty.
        because: Option<String>,
        reply: oneshot::Sender<Result<(), PlanError>>,
    },
    /// Of a person who begins the one that they have made, or gives it up.
    Decide {
        id: TournamentId,
        who: PlayerId,
        decision: PlanDecision,
        reply: oneshot::Sender<Result<(), PlanError>>,
    },
}

/// Who calls a tournament off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Canceller {
    /// A person, who must have made it.
    Maker(PlayerId),
    /// An operator, whose reason goes into the log.
    Operator(Because),
}

/// What becomes of a tournament by the word of its maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PlanDecision {
    /// It begins now.
    Begin,
    /// It is not held.
    Drop,
}

impl Command {
    /// Answers that nothing is done.
    pub(super) fn turn_away(self) {
        // Whoever asked may have gone away.
        match self {
            Self::Start { name: _, reply } => drop(reply.send(Err(TournamentStartError::Unavailable))),
            Self::Enter { reply, .. } | Self::Attend { reply, .. } => {
                drop(reply.send(Err(EntryError::Unavailable)));
            }
            Self::Make { reply, .. } | Self::Decide { reply, .. } | Self::Cancel { reply, .. } => {
                drop(reply.send(Err(PlanError::Unavailable)));
            }
            Self::Gone { .. } | Self::Renamed { .. } => {}
        }
    }
}

/// What the director shows: it alone puts something else there.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    /// Tournaments under way, each as it stood when it was last shown.
    pub(super) running: HashMap<TournamentId, Arc<TournamentView>>,
    /// Those that are to come, the next first.
    pub(super) upcoming: Vec<Upcoming>,
}

/// All tournaments, for reading, and the way to start one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tournaments {
    store: Arc<dyn Store>,
    shown: watch::Receiver<Shown>,
    finished: FinishedViews,
    commands: mpsc::Sender<Command>,
}

/// The director's end of a board.
#[derive(Debug)]
pub(super) struct BoardEnd {
    pub(super) shown: watch::Sender<Shown>,
    pub(super) commands: mpsc::Receiver<Command>,
}

/// Tournaments as they came out, which nothing changes any more. A lock, for what is kept is only what the store would
/// say again: whoever reads a tournament may put it there, and it is held for a look at a short list.
#[derive(Clone, Debug, Default)]
struct FinishedViews {
    kept: Arc<Mutex<Vec<Arc<TournamentView>>>>,
}

impl FinishedViews {
    fn find(&self, id: &TournamentId) -> Option<Arc<TournamentView>> {
        self.kept().iter().find(|view| view.tournament.id == *id).cloned()
    }

    fn keep(&self, view: Arc<TournamentView>) {
        let mut kept = self.kept();
        if kept.len() >= FINISHED_MAX {
            kept.remove(0);
        }
        kept.push(view);
    }

    /// Some of what is in them is called otherwise by now.
    fn forget(&self) {
        self.kept().clear();
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<TournamentView>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tournaments {
    /// A board with nothing on it, and the director's end of it.
    pub(super) fn new(store: Arc<dyn Store>) -> (Self, BoardEnd) {
        let (commands, inbox) = mpsc::channel(COMMANDS_MAX);
        let (shown, seen) = watch::channel(Shown::default());
        let board = Self { store, shown: seen, finished: FinishedViews::default(), commands };
        (board, BoardEnd { shown, commands: inbox })
    }

    /// A board for reading alone, on which nobody starts anything.
    #[cfg(test)]
    pub(crate) fn reading(store: Arc<dyn Store>) -> Self {
        Self::new(store).0
    }

    fn running(&self, id: &TournamentId) -> Option<Arc<TournamentView>> {
        self.shown.borrow().running.get(id).cloned()
    }

    /// Somebody is here no more: what they have planned is not held, and they enter nothing. To be said once the store
    /// knows.
    pub(crate) async fn gone(&self, player: PlayerId) {
        self.finished.forget();
        // A director that has stopped shows nothing new.
        let _ = self.commands.send(Command::Gone { player }).await;
    }

    /// Somebody is called otherwise by now. To be said once the store knows.
    pub(crate) async fn renamed(&self, who: Identity) {
        self.finished.forget();
        // A director that has stopped shows nothing new.
        let _ = self.commands.send(Command::Renamed { who }).await;
    }

    /// Those that are to come, the next first.
    pub(crate) fn upcoming(&self) -> Vec<Upcoming> {
        self.shown.borrow().upcoming.clone()
    }

    /// One that somebody has made and that is to come.
    pub(crate) fn planned(&self, id: &TournamentId) -> Option<Upcoming> {
        self.shown.borrow().upcoming.iter().find(|upcoming| upcoming.id.as_ref() == Some(id)).cloned()
    }

    /// Tournaments with the numbers by which a list goes on, the newest first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn list(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, TournamentSummary)>, StoreError> {
        let mut list = Vec::new();
        for (number, tournament) in self.store.tournaments(before, limit).await? {
            let end = tournament.end.as_ref();
            let winner = match end.and_then(|end| end.winner.as_ref()) {
                Some(winner) => self.store.player(winner).await?.map(|player| player.name),
                None => None,
            };
            let booked = || self.running(&tournament.id).map_or(0, |view| view.games);
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
        if let Some(view) = self.running(id).or_else(|| self.finished.find(id)) {
            return Ok(Some(view));
        }
        let Some(tournament) = self.store.tournament(id).await? else { return Ok(None) };
        let contest = take_up(&*self.store, tournament).await?;
        let view = Arc::new(TournamentView::new(&contest));
        if view.is_settled() {
            self.finished.keep(Arc::clone(&view));
        }
        Ok(Some(view))
    }

    /// Begins a tournament of the configuration now.
    ///
    /// # Errors
    ///
    /// See [`TournamentStartError`].
    pub async fn start(&self, name: &str) -> Result<TournamentId, TournamentStartError> {
        let started = ask(&self.commands, |reply| Command::Start { name: name.to_owned(), reply }).await;
        started.unwrap_or(Err(TournamentStartError::Unavailable))
    }

    /// Notes that a person wants to take part in a tournament that is to come, or no more. Saying so twice is once.
    ///
    /// # Errors
    ///
    /// See [`EntryError`].
    pub(crate) async fn enter(&self, name: &str, who: &Identity, wish: Wish) -> Result<(), EntryError> {
        let command = |reply| Command::Enter { name: name.to_owned(), who: who.clone(), wish, reply };
        ask(&self.commands, command).await.unwrap_or(Err(EntryError::Unavailable))
    }

    /// Notes that a person comes to a tournament or withdraws, by its id: one that somebody has made and that is to
    /// come, or one that goes on. Saying so twice is once.
    ///
    /// # Errors
    ///
    /// See [`EntryError`].
    pub(crate) async fn attend(
        &self,
        id: &TournamentId,
        who: &Identity,
        wish: Wish,
    ) -> Result<(), EntryError> {
        let command = |reply| Command::Attend { id: id.clone(), who: who.clone(), wish, reply };
        ask(&self.commands, command).await.unwrap_or(Err(EntryError::Unavailable))
    }

    /// Makes a tournament that is to come, by whoever it names as its maker. It takes this place until then.
    ///
    /// # Errors
    ///
    /// See [`PlanError`].
    pub(crate) async fn make(
        &self,
        plan: TournamentPlan,
        maker: &Identity,
        place: Held,
    ) -> Result<(), PlanError> {
        let plan = Box::new(plan);
        let command = |reply| Command::Make { plan, maker: maker.clone(), place, reply };
        ask(&self.commands, command).await.unwrap_or(Err(PlanError::Unavailable))
    }

    /// Calls a tournament off that somebody has made, or that goes on. What is played is played to its end, and is no
    /// part of it any more.
    ///
    /// # Errors
    ///
    /// See [`PlanError`].
    pub(crate) async fn cancel(
        &self,
        id: &TournamentId,
        by: Canceller,
        because: Option<String>,
    ) -> Result<(), PlanError> {
        let command = |reply| Command::Cancel { id: id.clone(), by, because, reply };
        ask(&self.commands, command).await.unwrap_or(Err(PlanError::Unavailable))
    }

    /// Begins a tournament before its time, or gives it up, if `who` has made it.
    ///
    /// # Errors
    ///
    /// See [`PlanError`].
    pub(crate) async fn decide(
        &self,
        id: &TournamentId,
        who: &PlayerId,
        decision: PlanDecision,
    ) -> Result<(), PlanError> {
        let command = |reply| Command::Decide { id: id.clone(), who: who.clone(), decision, reply };
        ask(&self.commands, command).await.unwrap_or(Err(PlanError::Unavailable))
    }
}

/// A tournament as its stored games tell it.
pub(super) async fn take_up(store: &dyn Store, tournament: StoredTournament) -> Result<Contest, StoreError> {
    let mut names = Vec::new();
    for entrant in &tournament.entrants {
        let player = store.player(entrant).await?;
        let missing = || StoreError::Corrupt(format!("there is no player {entrant}"));
        names.push(player.ok_or_else(missing)?.name);
    }
    let played = Played {
        games: store.games_of_tournament(&tournament.id).await?,
        walkovers: store.walkovers(&tournament.id).await?,
        attendance: store.attendance(&tournament.id).await?,
    };
    Contest::replay(tournament, names, &played).map_err(|error| StoreError::Corrupt(error.to_string()))
}
