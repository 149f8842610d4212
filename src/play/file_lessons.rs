//! Games that bots of the house learn into files of their own.
//!
//! Files are slow and each is written by one at a time, so the lessons wait for one thread, which is there while there
//! are any: a hundred games that end at once do not take a hundred threads to wait for each other.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fourfold_bots::{BotSpec, GameRecord};
use tracing::warn;

use crate::model::ids::PlayerId;
use crate::model::world::on_thread;
use crate::system::bot_files;
use crate::system::tasks::Tasks;

/// Lessons that wait, a few hundred bytes each. Beyond, games teach nothing: the disk cannot follow.
const WAITING_MAX: usize = 1_024;

/// A game to be learnt.
#[derive(Debug)]
pub(crate) struct FileLesson {
    pub(crate) bot: PlayerId,
    /// Its program, with the file.
    pub(crate) spec: BotSpec,
    pub(crate) record: GameRecord,
}

/// What waits to be learnt; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct FileLessons {
    /// A lock, held to add or take one lesson.
    line: Arc<Mutex<Line>>,
    /// Owns the thread: a planned stop waits for it.
    tasks: Tasks,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<FileLesson>,
    is_learning: bool,
}

impl FileLessons {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self { line: Arc::default(), tasks }
    }

    /// Has a game learnt when its turn has come.
    pub(crate) fn add(&self, lesson: FileLesson) {
        let mut line = self.lock();
        if line.waiting.len() >= WAITING_MAX {
            warn!(bot = %lesson.bot, "too many games wait to be learnt, this one is not");
            return;
        }
        line.waiting.push_back(lesson);
        if !line.is_learning {
            line.is_learning = true;
            let lessons = self.clone();
            self.tasks.spawn(async move {
                // Whatever panics there is caught there.
                let _ = on_thread(move || lessons.learn_all()).await;
            });
        }
    }

    fn learn_all(&self) {
        while let Some(FileLesson { bot, spec, record }) = self.next() {
            let learn = AssertUnwindSafe(|| bot_files::learn(&spec, &record));
            match std::panic::catch_unwind(learn) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    warn!(bot = %bot, error = %error, "a house bot could not keep what it has learnt");
                }
                Err(_panic) => {
                    self.tasks.panicked();
                    warn!(bot = %bot, "learning a game panicked");
                }
            }
        }
    }

    fn next(&self) -> Option<FileLesson> {
        let mut line = self.lock();
        let next = line.waiting.pop_front();
        line.is_learning = next.is_some();
        next
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
