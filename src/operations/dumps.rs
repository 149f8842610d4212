//! Files with all finished games by the schedule of the settings, for everybody: the records of `games.ndjson`,
//! compressed, each with its checksum beside it, of which the last few stay.
//!
//! A file gets its name when it is whole, and is listed once its checksum is there. Moments that passed while no daemon
//! ran are made up for by one file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt as _;
use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::schedule::{Scheduled, keep_to_schedule};
use crate::model::cron::Cron;
use crate::model::time::UnixMillis;
use crate::model::world::on_thread;
use crate::storage::games::SeenBy;
use crate::storage::records::export::{ExportFormat, RecordReader};
use crate::storage::store::GameQuery;
use crate::storage::{Store, StoreError};
use crate::system::causes::with_causes;
use crate::system::files::{draft_of, remove_drafts, replace, sync_directory};
use crate::system::sha256;

/// How the name of a file begins and ends; between them is when it was begun.
const NAME_BEGINS: &str = "fourfold-games-";
const NAME_ENDS: &str = ".ndjson.gz";

/// What the name of its checksum has in addition.
const CHECKSUM_ENDS: &str = ".sha256";

/// When to write, where to, and how many files stay.
#[derive(Clone, Debug)]
pub(crate) struct DumpPlan {
    pub(crate) schedule: Cron,
    pub(crate) directory: PathBuf,
    pub(crate) keep: usize,
}

/// Writes the files.
#[derive(Clone, Debug)]
pub(crate) struct DumpKeeper {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) plan: DumpPlan,
}

/// A file that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dump {
    pub(crate) name: String,
    /// When it was begun: games that finished later may be in it or not.
    pub(crate) made: UnixMillis,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// Why there is no file.
#[derive(Debug, Error)]
enum DumpError {
    #[error("the games cannot be read")]
    Store(#[from] StoreError),
    #[error("the file cannot be written")]
    File(#[from] io::Error),
}

impl Scheduled for DumpKeeper {
    fn schedule(&self) -> &Cron {
        &self.plan.schedule
    }

    async fn attempt(&self) -> bool {
        self.dump().await
    }
}

impl DumpKeeper {
    /// Runs until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {} // a file under way is given up
            () = self.go_on() => {}
        }
    }

    async fn go_on(&self) {
        let directory = self.plan.directory.clone();
        let there = aside(move || dumps(&directory)).await.unwrap_or_else(|error| {
            error!(directory = %self.plan.directory.display(), %error, "the directory of dumps cannot be read");
            Vec::new()
        });
        let since = there.first().map_or_else(UnixMillis::now, |newest| newest.made);
        keep_to_schedule(self, since).await;
    }

    /// Writes a file and removes what is too old. Whether there is one; what failed has been said.
    async fn dump(&self) -> bool {
        match self.write().await {
            Err(error) => {
                error!(why = %with_causes(&error), "a dump of all games failed");
                return false;
            }
            Ok(Dump { name, bytes, sha256, .. }) => {
                info!(file = %name, bytes, %sha256, "all games were dumped");
            }
        }
        let DumpPlan { directory, keep, .. } = self.plan.clone();
        if let Err(error) = aside(move || rotate(&directory, keep)).await {
            warn!(%error, "old dumps cannot be removed");
        }
        true
    }

    async fn write(&self) -> Result<Dump, DumpError> {
        let directory = self.plan.directory.clone();
        let is_ours = |name: &str| name.starts_with(NAME_BEGINS) && name.contains(NAME_ENDS);
        aside(move || remove_drafts(&directory, is_ours)).await?;
        let made = UnixMillis::now();
        let path = self.plan.directory.join(format!("{NAME_BEGINS}{}{NAME_ENDS}", made.stamp()));
        let draft = draft_of(&path);
        match self.write_to(&path, &draft).await {
            Ok((bytes, sha256)) => Ok(Dump { name: name_of(&path), made, bytes, sha256 }),
            Err(error) => {
                let _ = aside(move || fs::remove_file(&draft)).await; // the first error is told
                Err(error)
            }
        }
    }

    /// Writes page by page, and rests after each as long as it took: games come first.
    async fn write_to(&self, path: &Path, draft: &Path) -> Result<(u64, String), DumpError> {
        let file = draft.to_owned();
        let mut out = aside(move || DraftFile::create(&file)).await?;
        let all = GameQuery { limit: u32::MAX, seen_by: SeenBy::Everybody, ..GameQuery::default() };
        let pages = RecordReader::new(Arc::clone(&self.store), all).into_text(ExportFormat::Ndjson);
        let mut pages = std::pin::pin!(pages);
        loop {
            let began = Instant::now();
            let Some(page) = pages.next().await else { break };
            let page = page?;
            out = aside(move || out.add(&page)).await?;
            tokio::time::sleep(began.elapsed()).await;
        }
        let (path, draft) = (path.to_owned(), draft.to_owned());
        Ok(aside(move || out.finish(&draft, &path)).await?)
    }
}

/// Does on a thread of its own what waits for the disk.
async fn aside<T: Send + 'static>(job: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    on_thread(job).await.unwrap_or_else(|failure| Err(io::Error::other(failure)))
}

/// A file under way.
struct DraftFile {
    encoder: GzEncoder<File>,
}

impl DraftFile {
    fn create(path: &Path) -> io::Result<Self> {
        // Games are text that repeats itself: more effort hardly makes it shorter.
        Ok(Self { encoder: GzEncoder::new(File::create(path)?, Compression::fast()) })
    }

    fn add(mut self, page: &Bytes) -> io::Result<Self> {
        self.encoder.write_all(page)?;
        Ok(self)
    }

    /// Gives the file its name and puts the checksum beside it: size and checksum.
    fn finish(self, draft: &Path, path: &Path) -> io::Result<(u64, String)> {
        let file = self.encoder.finish()?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        let sha256 = sha256::of_next(&mut File::open(draft)?, bytes, || ())?;
        fs::rename(draft, path)?;
        sync_directory(path)?;
        replace(&checksum_of(path), format!("{sha256}  {}\n", name_of(path)).as_bytes())?;
        Ok((bytes, sha256))
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn checksum_of(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}{CHECKSUM_ENDS}", name_of(path)))
}

/// When the file of this name was begun, if it is one.
fn made_at(name: &str) -> Option<UnixMillis> {
    UnixMillis::of_stamp(name.strip_prefix(NAME_BEGINS)?.strip_suffix(NAME_ENDS)?)
}

/// Whether this names a file of games, or the checksum of one.
pub(crate) fn is_dump(name: &str) -> bool {
    made_at(name.strip_suffix(CHECKSUM_ENDS).unwrap_or(name)).is_some()
}

/// All files in a directory that are whole, the newest first.
///
/// # Errors
///
/// It cannot be read.
pub(crate) fn dumps(directory: &Path) -> io::Result<Vec<Dump>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = name_of(&path);
        let Some(made) = made_at(&name) else { continue };
        // One without a checksum is not finished yet.
        let Ok(line) = fs::read_to_string(checksum_of(&path)) else { continue };
        let sha256 = line.get(..sha256::DIGITS).unwrap_or_default().to_owned();
        found.push(Dump { name, made, bytes: fs::metadata(&path)?.len(), sha256 });
    }
    found.sort_by_key(|dump| std::cmp::Reverse(dump.made));
    Ok(found)
}

/// Removes all files but the newest, their checksums first.
fn rotate(directory: &Path, keep: usize) -> io::Result<()> {
    for old in dumps(directory)?.into_iter().skip(keep) {
        let path = directory.join(old.name);
        fs::remove_file(checksum_of(&path))?;
        fs::remove_file(&path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add_players, play, spec};

    async fn keeper(directory: &Path) -> DumpKeeper {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        for id in ["g1", "g2"] {
            play(&store, spec(id, "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
        }
        let plan =
            DumpPlan { schedule: "* * * * *".parse().unwrap(), directory: directory.to_owned(), keep: 2 };
        DumpKeeper { store: Arc::new(store), plan }
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| name_of(&entry.unwrap().path())).collect();
        names.sort();
        names
    }

    fn put(directory: &Path, name: &str) {
        fs::write(directory.join(name), "0".repeat(64)).unwrap();
    }

    #[tokio::test]
    async fn a_dump_has_all_games_and_its_checksum() {
        let directory = tempfile::tempdir().unwrap();
        assert!(keeper(directory.path()).await.dump().await);
        let [dump] = &dumps(directory.path()).unwrap()[..] else { panic!("one file") };
        let bytes = fs::read(directory.path().join(&dump.name)).unwrap();
        assert_eq!((dump.bytes, &dump.sha256), (bytes.len() as u64, &sha256::of(&bytes)));
        let line = fs::read_to_string(directory.path().join(format!("{}.sha256", dump.name))).unwrap();
        assert_eq!(line, format!("{}  {}\n", dump.sha256, dump.name), "as `sha256sum --check` reads it");
        let mut text = String::new();
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        let ids: Vec<_> = text.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
        assert_eq!(ids, ["g1", "g2"]);
    }

    #[tokio::test]
    async fn the_newest_stay_and_nothing_else_is_touched() {
        let directory = tempfile::tempdir().unwrap();
        let old = ["20250101T030000Z", "20250102T030000Z"].map(|at| format!("fourfold-games-{at}.ndjson.gz"));
        for name in &old {
            put(directory.path(), name);
            put(directory.path(), &format!("{name}.sha256"));
        }
        let others =
            ["fourfold-games-20250103T030000Z.ndjson.gz", "fourfold-games-x.ndjson.gz.sha256", "notes.txt"];
        for name in &others {
            put(directory.path(), name);
        }
        put(directory.path(), "fourfold-games-20250102T030000Z.ndjson.gz.7-0.draft");
        assert!(keeper(directory.path()).await.dump().await);
        let there = dumps(directory.path()).unwrap();
        assert_eq!((there.len(), &there[1].name), (2, &old[1]));
        let names = names(directory.path());
        assert!(others.iter().all(|other| names.iter().any(|name| name == other)), "{names:?}");
        assert!(!names.iter().any(|name| name.contains(".7-0.") || name.starts_with(&old[0])), "{names:?}");
    }

    #[tokio::test]
    async fn what_cannot_be_written_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut keeper = keeper(directory.path()).await;
        keeper.plan.directory = directory.path().join("gone");
        assert!(!keeper.dump().await);
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn names_of_dumps_are_known() {
        let is =
            ["fourfold-games-20250101T030000Z.ndjson.gz", "fourfold-games-20250101T030000Z.ndjson.gz.sha256"];
        assert!(is.into_iter().all(is_dump));
        let is_not = [
            "fourfold-games-20250101.ndjson.gz",
            "secret.key",
            "fourfold-games-20250101T030000Z.ndjson.gz.7-0.draft",
        ];
        assert!(!is_not.into_iter().any(is_dump));
    }
}
