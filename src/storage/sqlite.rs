//! The embedded back end: one SQLite file, one connection that writes, a few that read.
//!
//! All SQL is in here. The writing connection alone moves the write-ahead log into the database. Readers see every
//! commit that was acknowledged before they began, and never one in the making.

mod audit;
mod backup;
mod bot_versions;
mod chain;
mod connection;
mod convert;
mod credentials;
mod db;
mod disk_space;
mod error;
mod events;
mod follows;
mod forgetting;
mod games;
mod guests;
mod header;
mod in_place;
mod journal;
mod judgements;
mod keeper;
mod known;
mod learners;
mod leaving;
mod left_sessions;
mod links;
mod mails;
mod marker;
mod moderation;
mod open;
mod operator_log;
mod operators;
mod packing;
mod people;
mod players;
mod published;
mod pushes;
mod puzzles;
mod ratings;
mod readers;
mod refit;
mod reports;
mod resets;
mod restore;
mod settlement;
mod studies;
mod tournaments;
pub(super) mod transfer;
mod vacations;
mod voiding;
mod wal;
mod webhooks;
mod write;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Mutex;

use self::disk_space::DiskSpace;
use self::in_place::InPlace;
use self::keeper::Keeper;
pub(crate) use self::open::OpenError;
use self::open::Pages;
use self::readers::Readers;
pub(crate) use self::restore::{RestoreError, Restored, restore};
use self::write::WriteConnection;
use super::attempts::{AttemptStore, RecentAttempts};
use super::backup::{Backup, BackupError, Overwrite};
use super::store::{Refused, Store, StoreError, Write, Written};
use crate::model::durability::Durability;

/// Keeps everything in one file. The caller sees to it that only one process uses it: see [`crate::system::data_dir`].
pub struct SqliteStore {
    path: PathBuf,
    /// Before the connections, so that it is dropped before they clear away the log.
    keeper: Keeper,
    readers: Readers,
    /// Taken by one commit after the other, and by nothing else.
    write_connection: Mutex<WriteConnection>,
    pages: Pages,
    attempts: RecentAttempts,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a database, or creates it if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read or created, is not ours, damaged, or from a later version; it is then not touched.
    pub async fn open(path: &Path, durability: Durability) -> Result<Self, OpenError> {
        let failed = |cause: Box<dyn std::error::Error + Send + Sync>| OpenError::Failed {
            path: path.to_owned(),
            cause,
        };
        let open::OpenedDatabase { writer, readers, marker, pages } =
            open::open(path, durability, backup::keep_copy)?;
        let keeper = Keeper::start(path, marker, &readers).await;
        let space = DiskSpace::new(path, Arc::clone(keeper.marker()));
        let files = InPlace::of(path).map_err(|cause| failed(cause.into()))?;
        let write_connection = WriteConnection::new(writer, space, files);
        let write_connection = write_connection.map_err(|cause| failed(cause.into()))?;
        let write_connection = Mutex::new(write_connection);
        Ok(Self {
            path: path.to_owned(),
            keeper,
            readers,
            write_connection,
            pages,
            attempts: RecentAttempts::default(),
        })
    }

    /// Whether the file was not closed and is so large that nobody has looked through it yet.
    pub(crate) fn is_unchecked(&self) -> bool {
        self.pages == Pages::Unchecked
    }

    /// Moves everything into the database file and closes it, so that the next start need not check it.
    ///
    /// # Errors
    ///
    /// What could not be moved is still in the write-ahead log: nothing is lost.
    pub async fn close(self) -> Result<(), StoreError> {
        let Self { readers, write_connection, keeper, .. } = self;
        let marker = keeper.stop().await;
        readers.close().await;
        let writer = write_connection.into_inner().into_connection();
        let checkpoint = db::query_as("PRAGMA wal_checkpoint(TRUNCATE)");
        let (busy, _, _): (i64, i64, i64) = checkpoint.fetch_one(&writer)?;
        if busy == 0 {
            marker.remove().map_err(io_failed)?;
        }
        Ok(writer.close().map_err(|(_, error)| error)?)
    }
}

#[cfg(test)]
impl SqliteStore {
    /// Notes beside the database what is committed now.
    pub(super) async fn note_now(&self) {
        self.keeper.note_now(&self.path, &self.readers).await;
    }

    /// Has all logs stand as earlier versions left them: none packed, all their events as rows.
    pub(crate) async fn unpack(&self) {
        self.write_connection.lock().await.unpack().unwrap();
    }

    /// Executes whatever it is told, to damage what it should keep.
    pub(crate) async fn execute(&self, sql: &'static str) {
        self.write_connection.lock().await.try_execute(sql).unwrap();
    }
}

fn io_failed(error: io::Error) -> StoreError {
    StoreError::Failed(Box::new(error))
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, batch: &[Write]) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        let answers = self.write_connection.lock().await.commit(batch)?;
        self.keeper.committed();
        Ok(answers)
    }

    fn commits_block(&self) -> bool {
        true
    }

    fn attempts(&self) -> &dyn AttemptStore {
        &self.attempts
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.write_connection.lock().await.probe()
    }

    async fn back_up(&self, to: &Path, overwrite: Overwrite) -> Result<Backup, BackupError> {
        backup::back_up(&self.path, to, overwrite).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.readers.read(|connection| Ok(db::query("SELECT 1").has_row(connection)?)).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::audit::AuditStore;
    use crate::storage::conformance::{
        FIRST_WINS, Fixture, add_players, conformance, event, moves, play, spec,
    };
    use crate::storage::conformance_of_packing::pack;
    use crate::storage::games::GameStore;
    use crate::storage::record::{DamagedGame, Ending, EventKind};
    use crate::storage::store::GameQuery;

    struct OnDisk {
        directory: tempfile::TempDir,
        store: Arc<SqliteStore>,
    }

    impl OnDisk {
        async fn open(directory: tempfile::TempDir) -> Self {
            let path = directory.path().join("test.db");
            let store = SqliteStore::open(&path, Durability::Relaxed).await.unwrap();
            Self { directory, store: Arc::new(store) }
        }
    }

    impl Fixture for OnDisk {
        async fn create() -> Self {
            Self::open(tempfile::tempdir().unwrap()).await
        }

        fn store(&self) -> Arc<dyn Store> {
            self.store.clone()
        }

        async fn reopen(self) -> Self {
            let store = Arc::into_inner(self.store).expect("the test has dropped its handles");
            store.close().await.unwrap();
            Self::open(self.directory).await
        }

        async fn unpack(&self) {
            self.store.unpack().await;
        }
    }

    conformance!(OnDisk);

    /// Three games that go on, the second of which has lost an event.
    async fn damaged() -> (tempfile::TempDir, SqliteStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
        add_players(&store, &["Ada", "Bob"]).await;
        for id in ["g1", "g2", "g3"] {
            let spec = spec(id, "Ada", "Bob");
            let append = Write::Append { game: spec.id.clone(), events: moves("4453") };
            store.commit(&[Write::StartGame(spec), append]).await.unwrap();
        }
        store.unpack().await;
        store
            .execute("DROP TRIGGER event_is_not_deleted; DELETE FROM event WHERE game = 2 AND seq = 3")
            .await;
        (directory, store)
    }

    #[tokio::test]
    async fn a_damaged_game_harms_no_other() {
        let (_directory, store) = damaged().await;
        let live = store.live_games().await.unwrap();
        assert_eq!(live.iter().map(|game| game.spec.id.as_str()).collect::<Vec<_>>(), ["g1", "g3"]);
        let what = "event 3 is missing, 4 follows".to_owned();
        let second = DamagedGame { id: "g2".into(), number: None, what };
        assert_eq!(store.audit_live().await.unwrap()[1], Err(second));
        let error = store.game(&"g2".parse().unwrap()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database holds what it must not: game g2: event 3 is missing, 4 follows"
        );
        for id in ["g1", "g2", "g3"] {
            let finish = Write::Finish {
                game: id.parse().unwrap(),
                events: vec![event(
                    5,
                    EventKind::Finished(Ending {
                        result: GameResult::Void,
                        reason: EndReason::Stopped,
                        by: None,
                    }),
                )],
            };
            store.commit(&[finish]).await.unwrap()[0].as_ref().unwrap();
        }
        // What is packed at the end is what was written, whatever has become of its rows.
        assert_eq!(store.game(&"g2".parse().unwrap()).await.unwrap().unwrap().moves(), "4453");
        store
            .execute(
                "DROP TRIGGER packed_log_is_not_changed; UPDATE packed_log SET events = x'' WHERE game = 2",
            )
            .await;
        let page = |newest_first| {
            let query = GameQuery { newest_first, limit: 2, ..GameQuery::default() };
            let store = &store;
            async move {
                let games = store.finished_games(&query).await.unwrap();
                games.into_iter().map(|game| game.spec.id.to_string()).collect::<Vec<_>>()
            }
        };
        assert_eq!(page(false).await, ["g1", "g3"]);
        assert_eq!(page(true).await, ["g3", "g1"]);
    }

    #[tokio::test]
    async fn a_list_is_full_though_several_of_its_games_are_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
        add_players(&store, &["Ada", "Bob"]).await;
        for n in 1..=8 {
            let spec = spec(&format!("g{n}"), "Ada", "Bob");
            play(&store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        }
        store
            .execute("DROP TRIGGER packed_log_is_not_deleted; DELETE FROM packed_log WHERE game IN (2, 4, 5)")
            .await;
        let query = GameQuery { limit: 4, ..GameQuery::default() };
        let games = store.finished_games(&query).await.unwrap();
        let ids: Vec<&str> = games.iter().map(|game| game.spec.id.as_str()).collect();
        assert_eq!(ids, ["g1", "g3", "g6", "g7"]);
    }

    #[tokio::test]
    async fn the_log_cannot_be_rewritten() {
        let (_directory, store) = damaged().await;
        let mut write_connection = store.write_connection.lock().await;
        for change in [
            "UPDATE event SET column_no = 1",
            "UPDATE event SET info = 'a thought'",
            "UPDATE event SET info = NULL, column_no = 1",
        ] {
            let error = write_connection.try_execute(change).unwrap_err();
            assert!(error.to_string().contains("append-only"), "{change}: {error}");
        }
        write_connection.try_execute("UPDATE event SET info = NULL").unwrap();
    }

    #[tokio::test]
    async fn a_packed_log_cannot_be_rewritten_either() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
        add_players(&store, &["Ada", "Bob"]).await;
        let append = Write::Append { game: "g1".parse().unwrap(), events: moves("4453") };
        store.commit(&[Write::StartGame(spec("g1", "Ada", "Bob")), append]).await.unwrap();
        play(&store, spec("g2", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
        let rows = async || {
            let lock = store.write_connection.lock().await;
            let sql = "SELECT (SELECT count(*) FROM event WHERE game = 2), (SELECT count(*) FROM packed_log)";
            let counts: (i64, i64) = db::query_as(sql).fetch_one(lock.connection()).unwrap();
            counts
        };
        assert_eq!(rows().await, (0, 1), "at its end");
        store.unpack().await;
        assert_eq!(rows().await, (8, 0));
        pack(&store, 9).await;
        assert_eq!(rows().await, (0, 1));
        let mut write_connection = store.write_connection.lock().await;
        for change in [
            "UPDATE packed_log SET events = x''",
            "UPDATE packed_log SET notes = x''",
            "UPDATE packed_log SET reason = 'time'",
            "DELETE FROM packed_log",
            "DELETE FROM event WHERE game = 1",
        ] {
            let error = write_connection.try_execute(change).unwrap_err();
            assert!(error.to_string().contains("append-only"), "{change}: {error}");
        }
        write_connection.try_execute("UPDATE packed_log SET notes = NULL").unwrap();
    }

    #[tokio::test]
    async fn a_check_finds_what_points_nowhere() {
        let (_directory, store) = damaged().await;
        store.execute("PRAGMA foreign_keys = OFF; INSERT INTO live_game (game) VALUES (99)").await;
        assert_eq!(store.audit_pages().await.unwrap(), ["row 99 of live_game names nothing in game"]);
    }
}
