//! The nodes of a cluster, as the database knows them: who lives, who may write, and how one ends that stands still.
//!
//! None of this keeps the arena safe: the lock of the writing connection and the fence of each commit do. It says whom
//! to ask, and when to stop waiting.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::time::timeout;

use super::address::Address;
use super::db;
use super::open::unconnected;
use super::open_error::PostgresOpenError;
use super::session::{LOCK, Session, connect};
use crate::model::durability::Durability;
use crate::model::time::UnixMillis;
use crate::storage::members::{BadMember, NewMember, NodeList, Roll, Standing};
use crate::storage::rows::members::MemberRow;
use crate::storage::store::StoreError;
use crate::system::build::build;

/// Answers that take longer come too late for whom they are about.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// Who is gone for so long is forgotten.
const FORGOTTEN_AFTER_S: u32 = 86_400;

/// Who holds the lock of the writing connection, as [`LOCK`] and the schema make it.
macro_rules! lock_holders {
    () => {
        "FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid::bigint = $1 \
         AND objid::bigint = (hashtext(current_schema())::bigint & 4294967295) \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    };
}

/// A connection of its own to the list of nodes: whatever the others wait for, this one beats.
#[derive(Debug)]
pub(crate) struct Members {
    address: Address,
    session: Option<Session>,
    /// Whether a connection was lost since this was asked last.
    has_lost_one: bool,
    /// Whether the list has a column for how far the database is: one that a version of before leads has none.
    takes_answers: bool,
}

impl Members {
    /// Names the database; it is connected to when it is first asked.
    ///
    /// # Errors
    ///
    /// The URL is none.
    pub(crate) fn of(url: &str) -> Result<Self, PostgresOpenError> {
        let address = Address::parse(url).map_err(PostgresOpenError::BadUrl)?;
        Ok(Self::at(address))
    }

    fn at(address: Address) -> Self {
        Self { address, session: None, has_lost_one: false, takes_answers: false }
    }

    /// Whether the database has a list of nodes: any program of this version that ever wrote to it has made one.
    ///
    /// # Errors
    ///
    /// The server cannot be asked.
    pub(crate) async fn has_list(&mut self) -> Result<bool, PostgresOpenError> {
        let asked = self.ask(async |session| {
            let sql = "SELECT to_regclass('member') IS NOT NULL";
            db::query_scalar(sql).fetch_one(session.connection()).await
        });
        asked.await.map_err(|error| unconnected(&self.address, error))
    }

    /// Adds a node to the list, in the place of an earlier one of the same name, and gives its key.
    ///
    /// # Errors
    ///
    /// It signs with another key than the others, or the server cannot be asked.
    pub(crate) async fn join(&mut self, node: &NewMember) -> Result<i64, BadMember> {
        let digest = &node.key_digest;
        let known: String = self
            .ask(async |session| {
                let sql = "INSERT INTO cluster (key_digest) VALUES ($1) ON CONFLICT DO NOTHING";
                db::query(sql).bind(digest).execute(session.connection()).await?;
                db::query_scalar("SELECT key_digest FROM cluster").fetch_one(session.connection()).await
            })
            .await?;
        if known != *digest {
            return Err(BadMember::OtherKey);
        }
        let joined = self.ask(async |session| {
            let sql = "DELETE FROM member WHERE name = $1 OR expires < clock_timestamp() - make_interval(secs => $2::bigint)";
            let old = db::query(sql).bind(&node.name).bind(FORGOTTEN_AFTER_S);
            old.execute(session.connection()).await?;
            let sql = "INSERT INTO member (name, address, version, began_at, holds, expires) \
                       VALUES ($1, $2, $3, $4, $5, clock_timestamp()) RETURNING key";
            let query = db::query_scalar(sql).bind(&node.name).bind(&node.address);
            let query = query.bind(build()).bind(UnixMillis::now().0).bind(node.holds);
            query.fetch_one(session.connection()).await
        });
        Ok(joined.await?)
    }

    /// Says that a node lives, for so long from now on, what it does, and after how long the database answers it.
    /// False if another one has its name now.
    ///
    /// # Errors
    ///
    /// The server cannot be asked.
    pub(crate) async fn beat(
        &mut self,
        key: i64,
        lease: Duration,
        standing: Standing,
        answers_after: Option<Duration>,
    ) -> Result<bool, StoreError> {
        /// With what only a list of this version has.
        macro_rules! beat {
            ($answers:literal) => {
                concat!(
                    "UPDATE member SET expires = clock_timestamp() + $2::bigint * interval '1 ms', \
                     incarnation = $3, serves = $4",
                    $answers,
                    " WHERE key = $1"
                )
            };
        }
        let takes_answers = self.takes_answers;
        let changed = self.ask(async |session| {
            let sql = if takes_answers { beat!(", answers_us = $5") } else { beat!("") };
            let query = db::query(sql).bind(key).bind(whole(lease.as_millis()));
            let query = query.bind(standing.writes_as).bind(standing.serves);
            let answers_us = answers_after.map(|after| whole(after.as_micros()));
            let query = if takes_answers { query.bind(answers_us) } else { query };
            query.execute(session.connection()).await
        });
        Ok(changed.await? == 1)
    }

    /// Takes a node from the list.
    ///
    /// # Errors
    ///
    /// The server cannot be asked; its time will run out.
    pub(crate) async fn leave(&mut self, key: i64) -> Result<(), StoreError> {
        self.ask(async |session| {
            db::query("DELETE FROM member WHERE key = $1").bind(key).execute(session.connection()).await
        })
        .await
        .map(drop)
    }

    /// Everybody, and who has the right to write.
    ///
    /// # Errors
    ///
    /// The server cannot be asked.
    pub(crate) async fn look(&mut self) -> Result<Roll, StoreError> {
        Ok(self.look_in_time().await?.0)
    }

    /// The same, and after how long the server answered. A connection that has to be made first does not count.
    ///
    /// # Errors
    ///
    /// The server cannot be asked.
    pub(crate) async fn look_in_time(&mut self) -> Result<(Roll, Duration), StoreError> {
        let asked = self.ask(async |session| {
            let connection = session.connection();
            // From a list of before as well, which knows less.
            let sql = "SELECT key, name, address, version, began_at, holds, is_drained, serves, \
                       expires > clock_timestamp() AS lives, \
                       (extract(epoch FROM expires) * 1000)::bigint AS expires_at, incarnation, \
                       (to_jsonb(m) ->> 'answers_us')::bigint AS answers_us, \
                       to_jsonb(m) ? 'answers_us' AS takes_answers FROM member m ORDER BY key";
            let members = db::query_as(sql).fetch_all::<MemberRow>(connection);
            let sql = concat!(
                "SELECT (SELECT max(incarnation) FROM node WHERE ended IS NULL), EXISTS (SELECT 1 ",
                lock_holders!(),
                ")"
            );
            let right = db::query_as(sql).bind(LOCK).fetch_one::<(Option<i64>, bool)>(connection);
            let began = Instant::now();
            // The second is sent before the first is answered.
            let (rows, (writer, is_locked)) = tokio::try_join!(members, right)?;
            Ok((rows, writer, is_locked, began.elapsed()))
        });
        let (rows, writer, is_locked, after) = asked.await?;
        self.takes_answers = rows.iter().any(|row| row.takes_answers);
        let members = rows.into_iter().map(MemberRow::into_member).collect();
        Ok((Roll { members, writer, is_locked }, after))
    }

    /// Ends whoever writes as this incarnation. Commits that are under way are waited for; whatever it still sends
    /// finds itself ended.
    ///
    /// # Errors
    ///
    /// The server cannot be asked; nothing is lost, whatever has happened by then.
    pub(crate) async fn end_writer(&mut self, incarnation: i64) -> Result<(), StoreError> {
        self.ask(async |session| {
            let connection = session.connection();
            let terminate = concat!("SELECT pg_terminate_backend(pid) ", lock_holders!());
            // First, for it may stand still in a transaction, which holds the row; and then, for it may have come back.
            let _all: Vec<bool> = db::query_scalar(terminate).bind(LOCK).fetch_all(connection).await?;
            let sql = "UPDATE node SET ended = 'replaced' WHERE incarnation = $1 AND ended IS NULL";
            db::query(sql).bind(incarnation).execute(connection).await?;
            let _all: Vec<bool> = db::query_scalar(terminate).bind(LOCK).fetch_all(connection).await?;
            Ok(())
        })
        .await
    }

    /// Lets a node lead only if nobody else can, or takes that back. False if there is no such node.
    ///
    /// # Errors
    ///
    /// The server cannot be asked.
    pub(crate) async fn drain(&mut self, name: &str, is_drained: bool) -> Result<bool, StoreError> {
        let changed = self.ask(async |session| {
            let sql = "UPDATE member SET is_drained = $2 WHERE name = $1";
            db::query(sql).bind(name).bind(is_drained).execute(session.connection()).await
        });
        Ok(changed.await? > 0)
    }

    /// Whether a connection was lost since this was asked last: the server may have been away, and all locks with it.
    pub(crate) fn has_lost_one(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_one)
    }

    /// Asks over a connection that is made if there is none. One that fails in the middle of something is not used
    /// again.
    async fn ask<T>(
        &mut self,
        question: impl AsyncFnOnce(&Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let asking = async {
            let session = match self.session.take() {
                Some(session) if !session.is_closed() => session,
                lost => {
                    self.has_lost_one |= lost.is_some();
                    // A beat that a power cut takes back was that of a process which is gone too.
                    connect(&self.address, Durability::Relaxed).await?
                }
            };
            let answer = question(&session).await?;
            self.session = Some(session);
            Ok(answer)
        };
        let answered = timeout(ANSWER_MAX, asking).await;
        answered.unwrap_or_else(|elapsed| Err(StoreError::Unreachable(Box::new(elapsed))))
    }
}

/// The list of a database, over a connection that is made for each question: operators ask seldom.
#[derive(Debug)]
pub(crate) struct ListedMembers {
    address: Address,
}

impl ListedMembers {
    /// Names the database.
    ///
    /// # Errors
    ///
    /// The URL is none.
    pub(crate) fn of(url: &str) -> Result<Self, PostgresOpenError> {
        Ok(Self { address: Address::parse(url).map_err(PostgresOpenError::BadUrl)? })
    }

    fn connect(&self) -> Members {
        Members::at(self.address.clone())
    }
}

#[async_trait]
impl NodeList for ListedMembers {
    async fn roll(&self) -> Result<Roll, StoreError> {
        self.connect().look().await
    }

    async fn drain(&self, name: &str, is_drained: bool) -> Result<bool, StoreError> {
        self.connect().drain(name, is_drained).await
    }
}

/// A whole number as the database takes it.
fn whole(number: u128) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl From<StoreError> for BadMember {
    fn from(error: StoreError) -> Self {
        Self::Unasked(error)
    }
}
