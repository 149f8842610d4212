//! The one writing connection: a batch of writes becomes one commit, which took effect or did not, even if the answer
//! was lost.

use std::collections::HashMap;
use std::time::Duration;

use tracing::{error, info};

use super::address::Address;
use super::apply::apply;
use super::chain;
use super::db::{self, Connection};
use super::error::{is_contradiction, unexpected};
use super::games;
use super::run::{KnownGame, Run, Staged, is_of_games};
use super::session::{Session, connect};
use super::statement::{self, Statement};
use crate::model::chain_hash::ChainHash;
use crate::model::durability::Durability;
use crate::model::ids::GameId;
use crate::storage::live::UnfinishedGame;
use crate::storage::rows::games::GameKeys;
use crate::storage::store::{Refused, StoreError, Write, Written};

/// How long a commit may take before its connection is given up. What the server does not even refuse in this time is
/// lost on the way, or the server stands still.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The same if all ratings are computed again.
const LONG_ANSWER_MAX: Duration = Duration::from_mins(2);

/// What each write of a batch came to.
pub(super) type Answers = Vec<Result<Written, Refused>>;

/// A commit whose outcome is not known: how it would have been answered.
#[derive(Debug)]
struct Unresolved {
    /// Its number among those of this process.
    number: i64,
    answers: Answers,
    staged: Staged,
}

/// Whether each write can be undone alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writing {
    /// All or nothing, as fast as it goes.
    Together,
    /// One write after the other: those that the database does not take are left out.
    OneByOne,
}

/// The writing connection with what it knows of the games that go on.
#[derive(Debug)]
pub(super) struct Lane {
    address: Address,
    durability: Durability,
    /// None while the server is out of reach.
    session: Option<Session>,
    incarnation: i64,
    /// How many commits this process has made so far.
    commits: i64,
    live: HashMap<GameId, KnownGame>,
    last_number: i64,
    /// The hash of that game in the chain of finished games.
    head: ChainHash,
    unresolved: Option<Unresolved>,
}

impl Lane {
    /// Takes up the games that go on. Damaged ones stay as they are: nothing can be appended to them.
    pub(super) async fn take_up(
        address: Address,
        durability: Durability,
        session: Session,
        incarnation: i64,
    ) -> Result<Self, StoreError> {
        let connection = session.connection();
        let keys = games::live_keys(connection).await?;
        let mut keys: HashMap<i64, GameKeys> = keys.into_iter().map(|keys| (keys.key, keys)).collect();
        let mut live = HashMap::new();
        for (key, loaded) in games::live(connection).await? {
            if let (Ok(game), Some(keys)) = (loaded, keys.remove(&key)) {
                live.insert(game.spec.id.clone(), KnownGame { keys, game: UnfinishedGame::restore(&game) });
            }
        }
        let sql = "SELECT coalesce(max(number), 0) FROM settlement";
        let last_number = db::query_scalar(sql).fetch_one(connection).await?;
        let head = chain::read_head(connection).await?;
        let session = Some(session);
        Ok(Self {
            address,
            durability,
            session,
            incarnation,
            commits: 0,
            live,
            last_number,
            head,
            unresolved: None,
        })
    }

    /// As whom this process writes.
    pub(super) fn incarnation(&self) -> i64 {
        self.incarnation
    }

    /// Says that this process writes no more.
    pub(super) async fn leave(&mut self) -> Result<(), StoreError> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let sql = "UPDATE node SET ended = 'left' WHERE incarnation = $1 AND ended IS NULL";
        db::query(sql).bind(self.incarnation).execute(session.connection()).await?;
        session.close().await;
        Ok(())
    }

    /// Writes a batch, all of it or nothing. After [`StoreError::Unreachable`] the same batch must come again: it is
    /// then found out whether it took effect.
    pub(super) async fn commit(&mut self, batch: &[Write]) -> Result<Answers, StoreError> {
        // Not there while it is used: dropped half-way, this leaves no connection in the middle of something.
        let session = match self.session.take() {
            Some(session) if !session.is_closed() => session,
            _ => self.reconnect().await?,
        };
        if let Some(answers) = self.resolve(session.connection(), batch).await? {
            self.session = Some(session);
            return Ok(answers);
        }
        let patience = if batch.iter().any(|write| matches!(write, Write::VoidGame { .. })) {
            LONG_ANSWER_MAX
        } else {
            ANSWER_MAX
        };
        let writing = tokio::time::timeout(patience, self.write(session.connection(), batch));
        let result = writing.await.unwrap_or_else(|elapsed| Err(StoreError::Unreachable(Box::new(elapsed))));
        match &result {
            Err(StoreError::Unreachable(_)) => {}
            _ => self.session = Some(session),
        }
        result
    }

    /// Finds out whether anything can be written again, by writing what changes nothing.
    pub(super) async fn probe(&mut self) -> Result<(), StoreError> {
        let session = match self.session.take() {
            Some(session) if !session.is_closed() => session,
            _ => self.reconnect().await?,
        };
        let sql = "UPDATE node SET commits = commits WHERE incarnation = $1 AND ended IS NULL";
        let alive = db::query(sql).bind(self.incarnation).execute(session.connection()).await?;
        self.session = Some(session);
        if alive == 1 { Ok(()) } else { Err(replaced()) }
    }

    /// A connection in the place of one that was lost.
    async fn reconnect(&mut self) -> Result<Session, StoreError> {
        let session = connect(&self.address, self.durability).await?;
        let sql = "SELECT ended FROM node WHERE incarnation = $1";
        let ended: Option<String> =
            db::query_scalar(sql).bind(self.incarnation).fetch_one(session.connection()).await?;
        if ended.is_some() {
            return Err(replaced());
        }
        session.take_lock().await?;
        info!(server = %self.address, "the database is reached again");
        Ok(session)
    }

    /// Finds out what became of a commit whose answer was lost. Locking the row waits for its end, should the server
    /// still be at it.
    async fn resolve(
        &mut self,
        connection: &Connection,
        batch: &[Write],
    ) -> Result<Option<Answers>, StoreError> {
        let Some(unresolved) = &self.unresolved else { return Ok(None) };
        let sql = "SELECT commits, ended IS NOT NULL FROM node WHERE incarnation = $1 FOR UPDATE";
        let query = db::query_as(sql).bind(self.incarnation);
        let (commits, has_ended): (i64, bool) = query.fetch_one(connection).await?;
        if has_ended {
            return Err(replaced());
        }
        let took_effect = commits == unresolved.number;
        info!(
            commit = unresolved.number,
            took_effect, "the answer to a commit was lost, its outcome is known now"
        );
        let unresolved = self.unresolved.take();
        match unresolved.filter(|_| took_effect) {
            None => Ok(None),
            Some(unresolved) if unresolved.answers.len() != batch.len() => {
                Err(unexpected("another batch came than the one whose answer was lost"))
            }
            Some(unresolved) => Ok(Some(self.settle(unresolved))),
        }
    }

    /// Takes note of a commit that took effect.
    fn settle(&mut self, unresolved: Unresolved) -> Answers {
        let Unresolved { number, answers, staged } = unresolved;
        self.commits = number;
        self.last_number = staged.last_number;
        self.head = staged.head;
        for (id, known) in staged.changed {
            match known {
                Some(known) => drop(self.live.insert(id, known)),
                None => drop(self.live.remove(&id)),
            }
        }
        answers
    }

    /// Writes a batch, but for those of its writes that contradict what is stored. That none does is checked before,
    /// write by write; one that does all the same is a fault of ours, and must cost no more than what it is about.
    async fn write(&mut self, connection: &Connection, batch: &[Write]) -> Result<Answers, StoreError> {
        let result = if !batch.is_empty() && batch.iter().all(is_of_games) {
            self.write_games(connection, batch).await
        } else {
            self.transact(connection, batch, Writing::Together).await
        };
        let result = match result {
            Err(failure) if is_contradiction(&failure) => {
                error!(error = ?failure, "the database does not take a write, the others are written without it");
                self.unresolved = None;
                self.transact(connection, batch, Writing::OneByOne).await
            }
            result => result,
        };
        match result {
            Ok(()) => {
                let unresolved =
                    self.unresolved.take().ok_or_else(|| unexpected("a commit has no answers"))?;
                Ok(self.settle(unresolved))
            }
            Err(unreachable @ StoreError::Unreachable(_)) => Err(unreachable),
            Err(failure) => {
                // The server has said that it did nothing of it.
                self.unresolved = None;
                Err(failure)
            }
        }
    }

    /// Games alone: one statement and no transaction around it.
    async fn write_games(&mut self, connection: &Connection, batch: &[Write]) -> Result<(), StoreError> {
        let mut staged = self.staged();
        let writes: Vec<&Write> = batch.iter().collect();
        let (run, answers) = Run::judge(connection, &self.live, &mut staged, &writes).await?;
        let number = self.commits + 1;
        let mut statement = Statement::fenced(self.incarnation, number);
        run.add_to(&mut statement);
        self.unresolved = Some(Unresolved { number, answers, staged });
        if statement.execute(connection).await? { Ok(()) } else { Err(replaced()) }
    }

    /// Everything else: a transaction, in which games are written by the same statement.
    async fn transact(
        &mut self,
        connection: &Connection,
        batch: &[Write],
        writing: Writing,
    ) -> Result<(), StoreError> {
        let number = self.commits + 1;
        let result = self.apply_all(connection, batch, writing, number).await;
        let (staged, answers) = match result {
            Ok(applied) => applied,
            Err(failure) => {
                if !matches!(failure, StoreError::Unreachable(_)) {
                    connection.batch_execute("ROLLBACK").await?;
                }
                return Err(failure);
            }
        };
        self.unresolved = Some(Unresolved { number, answers, staged });
        Ok(connection.batch_execute("COMMIT").await?)
    }

    async fn apply_all(
        &self,
        connection: &Connection,
        batch: &[Write],
        writing: Writing,
        number: i64,
    ) -> Result<(Staged, Answers), StoreError> {
        if !statement::begin_fenced(connection, self.incarnation, number).await? {
            return Err(replaced());
        }
        let mut staged = self.staged();
        let mut answers = Vec::with_capacity(batch.len());
        let is_together =
            |a: &Write, b: &Write| writing == Writing::Together && is_of_games(a) && is_of_games(b);
        for part in batch.chunk_by(is_together) {
            if writing == Writing::Together {
                answers.extend(self.apply_part(connection, &mut staged, part, number).await?);
                continue;
            }
            let before = staged.clone();
            connection.batch_execute("SAVEPOINT one").await?;
            match self.apply_part(connection, &mut staged, part, number).await {
                Ok(answer) => answers.extend(answer),
                Err(failure) if is_contradiction(&failure) => {
                    error!(error = ?failure, "the database does not take a write, it is left out");
                    connection.batch_execute("ROLLBACK TO one").await?;
                    staged = before;
                    answers.push(Err(Refused::Contradiction));
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok((staged, answers))
    }

    /// Applies writes to games, or one other write.
    async fn apply_part(
        &self,
        connection: &Connection,
        staged: &mut Staged,
        part: &[Write],
        number: i64,
    ) -> Result<Answers, StoreError> {
        match part {
            [one] if !is_of_games(one) => Ok(vec![apply(connection, one).await?]),
            games => {
                let writes: Vec<&Write> = games.iter().collect();
                let (run, answers) = Run::judge(connection, &self.live, staged, &writes).await?;
                let mut statement = Statement::fenced(self.incarnation, number);
                run.add_to(&mut statement);
                if statement.execute(connection).await? { Ok(answers) } else { Err(replaced()) }
            }
        }
    }

    /// For what is no commit of an arena: while one is moved here from elsewhere.
    pub(super) fn connection(&self) -> Result<&Connection, StoreError> {
        let session = self.session.as_ref().filter(|session| !session.is_closed());
        Ok(session.ok_or_else(|| StoreError::Unreachable("the connection is lost".into()))?.connection())
    }

    fn staged(&self) -> Staged {
        Staged { changed: HashMap::new(), last_number: self.last_number, head: self.head.clone() }
    }
}

/// Somebody else writes now: whatever this process still believes may be wrong.
fn replaced() -> StoreError {
    unexpected("another process has taken the database over")
}
