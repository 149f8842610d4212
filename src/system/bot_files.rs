//! The files that settings of bots name: bots do no I/O, so this module reads and writes for them.
//!
//! Two kinds there are. The content of some takes the place of the name: `c4ai:weights=FILE`. Others hold what a bot
//! has learnt, `memory:file=FILE`: they are read when a game begins, and after it the game is learnt into the file as
//! it is *then*, so that several games at once lose nothing of each other.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use fourfold_bots::registry::{self, BotEntry};
use fourfold_bots::{Bot, BotError, BotSpec, GameRecord, Recipe, SettingKind};
use fourfold_engine::Variant;
use thiserror::Error;

use crate::system::files::{self, LockFile};

/// How the names of files end that are there while something is learnt into the file of the same name.
const LOCK_ENDS: &str = ".lock";

/// Why a bot cannot be built from its files, or not keep what it has learnt.
#[derive(Debug, Error)]
pub enum BotFileError {
    /// The settings are not allowed, or make no bot.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The content of a file makes no sense to the bot.
    #[error("{path}: {reason}")]
    Content {
        path: PathBuf,
        /// The bot's own words, with the line where there is one.
        reason: String,
    },
    /// A file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}")]
    Unwritable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
}

/// Builds a bot for games of `variant`, with the content of the files that its settings name.
///
/// # Errors
///
/// Fails as [`registry::build`], and if a file cannot be read, is missing, or makes no sense.
pub(crate) fn build(spec: &BotSpec, variant: Variant) -> Result<Box<dyn Bot>, BotFileError> {
    let spec = with_files_read(spec)?;
    let (Some(path), Some(knowledge)) = (knowledge_file(&spec), knowledge(&spec)?) else {
        return Ok(registry::build(&spec, variant)?);
    };
    registry::build_taught(&spec, variant, &knowledge).map_err(|error| in_file(error, &path))
}

/// The same for a game that is going to be learnt: a file that [`learn`] will write may be missing, as then the bot has
/// learnt nothing yet.
///
/// # Errors
///
/// As for [`build`].
pub(crate) fn build_to_learn(spec: &BotSpec, variant: Variant) -> Result<Box<dyn Bot>, BotFileError> {
    let built = build(spec, variant);
    match (&built, knowledge_file(spec)) {
        (Err(BotFileError::Unreadable { path, cause }), Some(file))
            if *path == file && cause.kind() == io::ErrorKind::NotFound =>
        {
            match registry::build_taught(&with_files_read(spec)?, variant, "") {
                Ok(fresh) if fresh.knowledge().is_some() => Ok(fresh),
                // It plays by a file that somebody else writes.
                Ok(_) | Err(BotError::Broken { .. }) => built,
                Err(error) => Err(error.into()),
            }
        }
        (Ok(_) | Err(_), _) => built,
    }
}

/// Reads the files that the settings name, to build the bot again and again as it was then.
///
/// # Errors
///
/// As for [`build`].
pub(crate) fn recipe(spec: &BotSpec, variant: Variant) -> Result<Recipe, BotFileError> {
    let spec = with_files_read(spec)?;
    let (path, knowledge) = (knowledge_file(&spec), knowledge(&spec)?);
    Recipe::new(spec, variant, knowledge).map_err(|error| match path {
        Some(path) => in_file(error, &path),
        None => error.into(),
    })
}

/// Whether [`learn`] has anything to keep for such a bot. Nothing is read.
pub(crate) fn keeps_lessons(spec: &BotSpec) -> bool {
    let names_a_file = knowledge_file(spec).is_some();
    let fresh = || registry::build_taught(spec, Variant::STANDARD, "");
    names_a_file && fresh().is_ok_and(|bot| bot.knowledge().is_some())
}

/// What is wrong with knowledge is wrong with its file.
fn in_file(error: BotError, path: &Path) -> BotFileError {
    match error {
        BotError::Broken { bot: _, reason } => BotFileError::Content { path: path.to_owned(), reason },
        error => error.into(),
    }
}

/// Lets a bot learn from a finished game, if its settings name a file for what it learns; any other bot has nothing to
/// keep. A file that makes no sense stays as it is.
///
/// # Errors
///
/// The file cannot be read or written, or makes no sense.
pub(crate) fn learn(spec: &BotSpec, game: &GameRecord) -> Result<(), BotFileError> {
    let Some(path) = knowledge_file(spec) else { return Ok(()) };
    let _locked = lock(&path)?;
    let mut bot = build_to_learn(spec, game.game.variant())?;
    bot.game_over(game);
    match bot.knowledge() {
        Some(knowledge) => replace(&path, knowledge.as_bytes()),
        None => Ok(()),
    }
}

/// Puts something in place of what a bot has learnt into this file, after the games that are being learnt into it.
///
/// # Errors
///
/// The file cannot be written.
pub(crate) fn put(path: &Path, knowledge: &[u8]) -> Result<(), BotFileError> {
    let _locked = lock(path)?;
    replace(path, knowledge)
}

/// Keeps others who learn into this file waiting until the lock is dropped. The file itself is replaced, and its
/// directory belongs to the daemon for as long as one runs, so what is locked is a file beside it.
fn lock(path: &Path) -> Result<LockFile, BotFileError> {
    let unwritable = |cause| BotFileError::Unwritable { path: path.to_owned(), cause };
    files::lock(&files::beside(path, LOCK_ENDS)).map_err(unwritable)
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), BotFileError> {
    files::replace(path, bytes).map_err(|cause| BotFileError::Unwritable { path: path.to_owned(), cause })
}

/// The same bot with the content of files in place of their names, but for what it has learnt.
///
/// # Errors
///
/// A file cannot be read, or its content is not what the setting allows.
pub(crate) fn with_files_read(spec: &BotSpec) -> Result<BotSpec, BotFileError> {
    let mut read = spec.clone();
    for setting in registry::entry(spec.name()).into_iter().flat_map(|entry| entry.settings) {
        let Some(value) = spec.value(setting.name) else { continue };
        let takes_content = match setting.kind {
            SettingKind::IntegersOrFile { .. } => setting.kind.names_file(value),
            SettingKind::File
            | SettingKind::Integer { .. }
            | SettingKind::Decimal { .. }
            | SettingKind::Choice { .. }
            | SettingKind::Switch { .. } => false,
        };
        if !takes_content {
            continue;
        }
        let path = Path::new(value);
        let content = read_text(path)?;
        let content = content.trim();
        if setting.kind.names_file(content) || !setting.kind.allows(content) {
            let shown: String = content.chars().take(60).flat_map(char::escape_debug).collect();
            let reason = format!("`{shown}` is not {}", setting.kind.allowed_content());
            return Err(BotFileError::Content { path: path.to_owned(), reason });
        }
        read = read.with(setting.name, content);
    }
    Ok(read)
}

/// The same bot with its files in this directory, unless they are named in full.
pub(crate) fn below(spec: &BotSpec, directory: &Path) -> BotSpec {
    let entry = registry::entry(spec.name());
    let named = entry.into_iter().flat_map(|entry| entry.settings).filter_map(|setting| {
        let value = spec.value(setting.name).filter(|value| setting.kind.names_file(value))?;
        Some((setting.name, directory.join(value)))
    });
    named.fold(spec.clone(), |spec, (setting, path)| spec.with(setting, path.display()))
}

/// A file that the settings name whose path goes up, so that it leads out of any directory that [`below`] looks in.
pub(crate) fn leaves_its_folder(spec: &BotSpec) -> Option<&str> {
    let entry = registry::entry(spec.name());
    let mut named = entry
        .into_iter()
        .flat_map(|entry| entry.settings)
        .filter_map(|setting| spec.value(setting.name).filter(|value| setting.kind.names_file(value)));
    named.find(|file| Path::new(file).components().any(|part| part == Component::ParentDir))
}

/// What a bot has learnt before, if its settings name a file for it.
///
/// # Errors
///
/// The file is missing or cannot be read.
pub(crate) fn knowledge(spec: &BotSpec) -> Result<Option<Vec<u8>>, BotFileError> {
    let read = |path: PathBuf| fs::read(&path).map_err(|cause| BotFileError::Unreadable { path, cause });
    knowledge_file(spec).map(read).transpose()
}

/// The file of what a bot learns, if its settings name one.
pub(crate) fn knowledge_file(spec: &BotSpec) -> Option<PathBuf> {
    let entry: &BotEntry = registry::entry(spec.name())?;
    let setting = entry.settings.iter().find(|setting| setting.kind == SettingKind::File)?;
    spec.value(setting.name).map(PathBuf::from)
}

fn read_text(path: &Path) -> Result<String, BotFileError> {
    let bytes = fs::read(path).map_err(|cause| BotFileError::Unreadable { path: path.to_owned(), cause })?;
    let no_text = |_| BotFileError::Content { path: path.to_owned(), reason: "it is not a text".to_owned() };
    String::from_utf8(bytes).map_err(no_text)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use fourfold_engine::SideResult;
    use fourfold_engine::{Game, Side};

    use super::*;
    use crate::system::data_dir::DataDir;

    fn spec(bot: &str, setting: &str, path: &Path) -> BotSpec {
        BotSpec::new(bot).with(setting, path.display())
    }

    fn lesson() -> GameRecord {
        let game = Game::from_moves(Variant::STANDARD, "3747576").unwrap();
        GameRecord { game, side: Side::First, result: SideResult::Win }
    }

    #[test]
    fn a_memory_is_read_before_a_game_and_kept_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let memory = spec("memory", "file", &dir.path().join("m.xml"));
        build_to_learn(&memory, Variant::STANDARD).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was learnt yet");
        for _ in 0..2 {
            learn(&memory, &lesson()).unwrap();
        }
        let text = fs::read_to_string(dir.path().join("m.xml")).unwrap();
        assert!(text.contains("<NumberOfTimesSeen>2<"), "{text}");
        assert_eq!(build(&memory, Variant::STANDARD).unwrap().knowledge().unwrap(), text);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no lock is left");
    }

    #[test]
    fn a_memory_is_learnt_in_the_directory_of_a_daemon_that_runs() {
        let dir = tempfile::tempdir().unwrap();
        let held = DataDir::open(dir.path()).unwrap();
        let memory = spec("memory", "file", &dir.path().join("m.xml"));
        let (done, waits) = mpsc::channel();
        std::thread::spawn(move || done.send(learn(&memory, &lesson()).is_ok()));
        assert_eq!(waits.recv_timeout(Duration::from_mins(1)), Ok(true));
        drop(held);
        assert!(dir.path().join("m.xml").exists());
    }

    #[test]
    fn games_at_the_same_time_lose_nothing_of_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let memory = spec("memory", "file", &dir.path().join("m.xml"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..5).for_each(|_| learn(&memory, &lesson()).unwrap()));
            }
        });
        let text = fs::read_to_string(dir.path().join("m.xml")).unwrap();
        assert!(text.contains("<NumberOfTimesSeen>20<"), "{text}");
    }

    #[test]
    fn a_broken_memory_is_refused_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.xml");
        fs::write(&path, "<ConnectFourPattern>\n<Basic").unwrap();
        let memory = spec("memory", "file", &path);
        let built = build(&memory, Variant::STANDARD).err();
        for error in [built, recipe(&memory, Variant::STANDARD).err(), learn(&memory, &lesson()).err()] {
            let message = error.unwrap().to_string();
            assert!(message.contains("m.xml: line 2: "), "{message}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "<ConnectFourPattern>\n<Basic");
    }

    #[test]
    fn a_missing_file_is_nothing_learnt_only_for_who_will_write_it() {
        let dir = tempfile::tempdir().unwrap();
        let missing = |bot| spec(bot, "file", &dir.path().join("typo"));
        let refused = |built: Result<Box<dyn Bot>, BotFileError>| built.err().map(|error| error.to_string());
        let message = Some(format!("cannot read {}", dir.path().join("typo").display()));
        assert_eq!(refused(build_to_learn(&missing("memory"), Variant::STANDARD)), None);
        let network = refused(build_to_learn(&missing("ntuple"), Variant::STANDARD));
        assert_eq!(network, message, "it learns into no file");
        for bot in ["memory", "memory-windows", "ntuple"] {
            assert_eq!(refused(build(&missing(bot), Variant::STANDARD)), message, "{bot}");
            let recipe = recipe(&missing(bot), Variant::STANDARD);
            assert_eq!(recipe.err().map(|error| error.to_string()), message, "{bot}");
        }
        let other = missing("memory").with("rule", "nobody's");
        let error = build_to_learn(&other, Variant::STANDARD).err().unwrap().to_string();
        assert!(error.starts_with("memory: rule cannot be"), "{error}");
    }

    #[test]
    fn a_memory_is_put_in_place_when_nobody_learns_into_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.xml");
        let memory = spec("memory", "file", &path);
        let locked = lock(&path).unwrap();
        let empty = registry::build_taught(&memory, Variant::STANDARD, "").unwrap().knowledge().unwrap();
        std::thread::scope(|scope| {
            let (done, waits) = mpsc::channel();
            let path = &path;
            scope.spawn(move || done.send(put(path, empty.as_bytes()).is_ok()));
            let soon = Duration::from_millis(200);
            assert_eq!(waits.recv_timeout(soon), Err(mpsc::RecvTimeoutError::Timeout), "it waits its turn");
            drop(locked);
            assert_eq!(waits.recv(), Ok(true));
        });
        assert!(path.exists());
    }

    #[test]
    fn weights_are_numbers_or_a_file_of_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.csv");
        let c4ai = spec("c4ai", "weights", &path);
        let message = || build(&c4ai, Variant::STANDARD).err().unwrap().to_string();
        assert!(message().starts_with("cannot read "));
        fs::write(&path, "1,2,3\n").unwrap();
        assert!(
            message().contains("w.csv: `1,2,3` is not 6 whole numbers from -1000 to 1000"),
            "{}",
            message()
        );
        fs::write(&path, "other.csv").unwrap();
        assert!(message().contains("`other.csv` is not 6 whole"), "one file does not lead to another");
        fs::write(&path, "1, 2,3,4,5,6\n").unwrap();
        assert_eq!(with_files_read(&c4ai).unwrap().value("weights"), Some("1, 2,3,4,5,6"));
        assert!(build(&c4ai, Variant::STANDARD).is_ok());
        let recipe = recipe(&c4ai, Variant::STANDARD).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(recipe.build(1).is_ok(), "the file was read");
    }

    #[test]
    fn files_of_the_house_are_in_its_directory() {
        let below = |text: &str| below(&text.parse().unwrap(), Path::new("data")).to_string();
        assert_eq!(below("memory:file=m.xml,seed=3"), "memory:seed=3,file=data/m.xml");
        assert_eq!(below("memory:file=/m.xml"), "memory:file=/m.xml");
        assert_eq!(below("c4ai:weights=w.csv"), "c4ai:weights=data/w.csv");
        assert_eq!(below("c4ai:weights=1,2,3,4,5,6"), "c4ai:weights=1,2,3,4,5,6");
        assert_eq!(below("negamax:depth=3"), "negamax:depth=3");
    }

    #[test]
    fn bots_without_a_file_keep_nothing() {
        assert!(learn(&"memory".parse().unwrap(), &lesson()).is_ok());
        let keeps = |spec: &str| keeps_lessons(&spec.parse().unwrap());
        assert!(keeps("memory:file=m.xml") && keeps("memory-windows:file=m.xml"));
        assert!(!keeps("memory") && !keeps("ntuple:file=net.bin") && !keeps("greedy"));
        assert!(learn(&"greedy".parse().unwrap(), &lesson()).is_ok());
        assert!(matches!(build(&"nobody".parse().unwrap(), Variant::STANDARD), Err(BotFileError::Bot(_))));
    }
}
