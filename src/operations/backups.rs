//! Copies of the whole store by the schedule of the settings, of which the last few stay.
//!
//! A copy gets its name when it is whole and has been opened once, so that every file of such a name is one. Moments
//! that passed while no daemon ran are made up for by one copy; what failed is tried again soon, and said on the state
//! page, to the operator, in the log and in the figures until it succeeds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::schedule::{Scheduled, keep_to_schedule};
use crate::model::cron::Cron;
use crate::model::time::UnixMillis;
use crate::model::world::on_thread;
use crate::storage::Store;
use crate::storage::backup::{Backup, BackupError, Overwrite};
use crate::system::causes::with_causes;
use crate::system::files::{remove_drafts, sync_directory};
use crate::system::metrics::Metrics;

/// How the name of a copy begins and ends; between them is when it was begun.
const NAME_BEGINS: &str = "fourfold-";
const NAME_ENDS: &str = ".backup";

/// When to copy, where to, and how many copies stay.
#[derive(Clone, Debug)]
pub(crate) struct BackupPlan {
    pub(crate) schedule: Cron,
    pub(crate) directory: PathBuf,
    pub(crate) keep: usize,
}

/// How the copies stand, for whoever looks. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Backups(Arc<watch::Sender<BackupStanding>>);

/// How the copies stand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct BackupStanding {
    /// The moment that the next one is for; none without a schedule.
    pub(crate) due: Option<UnixMillis>,
    /// When the newest one that is there was made.
    pub(crate) made: Option<UnixMillis>,
    /// Why the last attempt failed, if it did.
    pub(crate) failure: Option<String>,
}

impl Default for Backups {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::default()))
    }
}

impl Backups {
    pub(crate) fn standing(&self) -> BackupStanding {
        self.0.borrow().clone()
    }

    fn change(&self, change: impl FnOnce(&mut BackupStanding)) {
        self.0.send_modify(change);
    }
}

/// Makes the copies.
#[derive(Clone, Debug)]
pub(crate) struct BackupKeeper {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) backups: Backups,
    pub(crate) plan: BackupPlan,
}

impl Scheduled for BackupKeeper {
    fn schedule(&self) -> &Cron {
        &self.plan.schedule
    }

    fn is_due_at(&self, moment: UnixMillis) {
        self.backups.change(|standing| standing.due = Some(moment));
    }

    async fn attempt(&self) -> bool {
        self.copy().await
    }
}

impl BackupKeeper {
    /// Runs until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {} // a copy under way is given up
            () = self.go_on() => {}
        }
    }

    async fn go_on(&self) {
        let directory = self.plan.directory.clone();
        match on_thread(move || copies(&directory)).await {
            Ok(Ok(copies)) => self.note(copies.last().map(|copy| copy.made)),
            Ok(Err(error)) => {
                self.fail(&format!("{} cannot be read: {error}", self.plan.directory.display()));
            }
            Err(_) => {} // the process ends
        }
        let since = self.backups.standing().made.unwrap_or_else(UnixMillis::now);
        keep_to_schedule(self, since).await;
    }

    fn note(&self, made: Option<UnixMillis>) {
        self.backups.change(|standing| standing.made = made);
        if let Some(made) = made {
            self.metrics.last_backup(made);
        }
    }

    fn fail(&self, why: &str) {
        error!(why, "a backup by the schedule failed");
        self.metrics.backup_failed();
        self.backups.change(|standing| standing.failure = Some(why.to_owned()));
    }

    /// Makes a copy and removes what is too old. Whether there is one; what failed has been said.
    async fn copy(&self) -> bool {
        let made = UnixMillis::now();
        let BackupPlan { directory, keep, .. } = self.plan.clone();
        let path = directory.join(format!("{NAME_BEGINS}{}{NAME_ENDS}", made.stamp()));
        match self.make(&path).await {
            Err(error) => {
                self.fail(&with_causes(&error));
                return false;
            }
            Ok(Backup { bytes, sha256, games }) => {
                info!(path = %path.display(), bytes, sha256, games, "a backup was made by the schedule");
                self.metrics.backed_up();
                self.note(Some(made));
            }
        }
        match on_thread(move || rotate(&directory, keep)).await {
            Ok(Err(error)) => self.fail(&format!("old backups cannot be removed: {error}")),
            Ok(Ok(removed)) => {
                info!(removed, keep, "old backups were removed");
                self.backups.change(|standing| standing.failure = None);
            }
            Err(_) => {} // the process ends
        }
        true
    }

    /// What a killed daemon left must not fill the disk; nobody but this writes such names.
    async fn make(&self, path: &Path) -> Result<Backup, BackupError> {
        let directory = self.plan.directory.clone();
        if let Ok(Err(error)) =
            on_thread(move || remove_drafts(&directory, |name| made_at(name).is_some())).await
        {
            warn!(%error, "half backups cannot be removed");
        }
        self.store.back_up(path, Overwrite::Never).await
    }
}

/// A copy that is there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Copy {
    made: UnixMillis,
    path: PathBuf,
}

/// All copies in a directory, the oldest first. Files of other names are nobody's business here.
fn copies(directory: &Path) -> io::Result<Vec<Copy>> {
    let mut copies = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if let Some(made) = path.file_name().and_then(|name| made_at(name.to_str()?)) {
            copies.push(Copy { made, path });
        }
    }
    copies.sort();
    Ok(copies)
}

/// When the copy of this name was begun, if it is one.
fn made_at(name: &str) -> Option<UnixMillis> {
    UnixMillis::of_stamp(name.strip_prefix(NAME_BEGINS)?.strip_suffix(NAME_ENDS)?)
}

/// Removes all copies but the newest, and says how many these were.
fn rotate(directory: &Path, keep: usize) -> io::Result<usize> {
    let copies = copies(directory)?;
    let old = &copies[..copies.len().saturating_sub(keep)];
    for copy in old {
        fs::remove_file(&copy.path)?;
        sync_directory(&copy.path)?;
    }
    Ok(old.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::durability::Durability;
    use crate::storage::SqliteStore;
    use crate::storage::sqlite::restore;

    struct Place {
        directory: tempfile::TempDir,
        keeper: BackupKeeper,
    }

    impl Place {
        async fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let database = directory.path().join("fourfold.db");
            let store = SqliteStore::open(&database, Durability::Relaxed).await.unwrap();
            fs::create_dir(directory.path().join("copies")).unwrap();
            let plan = BackupPlan {
                schedule: "* * * * *".parse().unwrap(),
                directory: directory.path().join("copies"),
                keep: 2,
            };
            let (metrics, backups) = (Arc::default(), Backups::default());
            let keeper = BackupKeeper { store: Arc::new(store), metrics, backups, plan };
            Self { directory, keeper }
        }

        fn put(&self, name: &str) {
            fs::write(self.keeper.plan.directory.join(name), name).unwrap();
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.keeper.plan.directory).unwrap();
            let mut names: Vec<String> =
                names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn has_metric(&self, line: &str) -> bool {
            self.keeper.metrics.text().lines().any(|other| other == line)
        }
    }

    const OLD: [&str; 3] = [
        "fourfold-20250101T030000Z.backup",
        "fourfold-20250102T030000Z.backup",
        "fourfold-20250103T030000Z.backup",
    ];

    #[tokio::test]
    async fn the_newest_copies_stay_and_nothing_else_is_touched() {
        let place = Place::new().await;
        let others = ["fourfold-20250101.backup", "fourfold-20250199T030000Z.backup", "notes.txt"];
        OLD.into_iter().chain(others).for_each(|name| place.put(name));
        place.put("fourfold-20250103T030000Z.backup.77-0.draft");
        place.put("monday.backup.77-0.draft");
        assert!(place.keeper.copy().await);
        let standing = place.keeper.backups.standing();
        let newest = format!("fourfold-{}.backup", standing.made.unwrap().stamp());
        let mut expected = vec![OLD[2], "monday.backup.77-0.draft", newest.as_str()];
        expected.extend(others);
        expected.sort_unstable();
        assert_eq!(place.names(), expected);
        assert_eq!(standing.failure, None);
        assert!(place.has_metric("fourfold_backups_total 1"));
        let copy = place.keeper.plan.directory.join(&newest);
        let home = place.directory.path().join("elsewhere.db");
        restore(&copy, &home, Overwrite::Never).await.unwrap();
    }

    #[tokio::test]
    async fn a_copy_that_fails_is_said_and_removes_nothing() {
        let mut place = Place::new().await;
        for name in OLD {
            place.put(name);
        }
        let directory = place.keeper.plan.directory.clone();
        place.keeper.plan.directory = directory.join("gone");
        assert!(!place.keeper.copy().await);
        let failure = place.keeper.backups.standing().failure.unwrap();
        assert!(failure.contains("gone") && failure.contains("No such file"), "{failure}");
        assert!(place.has_metric("fourfold_backup_failures_total 1"));
        place.keeper.plan.directory = directory;
        assert_eq!(place.names(), OLD);
        assert!(place.keeper.copy().await);
        assert_eq!(place.keeper.backups.standing().failure, None);
    }

    #[tokio::test]
    async fn what_was_missed_is_made_up_for_once() {
        let place = Place::new().await;
        place.put(OLD[0]);
        let (keeper, stop) = (place.keeper.clone(), CancellationToken::new());
        let running = tokio::spawn(keeper.run(stop.clone()));
        while !place.has_metric("fourfold_backups_total 1") {
            tokio::task::yield_now().await;
        }
        let standing = place.keeper.backups.standing();
        assert!(standing.made.unwrap() > UnixMillis::of_stamp("20250101T030000Z").unwrap());
        stop.cancel();
        running.await.unwrap();
        assert_eq!(place.names().len(), 2);
    }
}
