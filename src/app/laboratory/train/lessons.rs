//! `--from`: the games of a file, or of all files of a directory one after the other.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use crate::storage::records::lessons::{Lessons, RecordedLesson};
use anyhow::Context;

use super::saved::Studied;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::input;

/// What the files of a directory must end with.
const ENDING: &str = "ndjson";

/// Games of files, in the order of their names.
pub(super) struct LessonFiles {
    current: Option<(PathBuf, Lessons<BufReader<File>>)>,
    /// Files to come, the next one last.
    rest: Vec<PathBuf>,
}

impl LessonFiles {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let unreadable = |error: io::Error| input::unreadable(path, &error);
        let mut files = if fs::metadata(path).map_err(unreadable)?.is_dir() {
            let mut files = Vec::new();
            for entry in fs::read_dir(path).map_err(unreadable)? {
                let file = entry.map_err(unreadable)?.path();
                files.extend(file.extension().is_some_and(|ending| ending == ENDING).then_some(file));
            }
            if files.is_empty() {
                let message = format!("{} has no file that ends with .{ENDING}", path.display());
                return Err(Exit::new(Code::NoInput, message).into());
            }
            files
        } else {
            vec![path.to_owned()]
        };
        files.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Self { current: None, rest: files })
    }

    /// Passes over so many games, or as many as there are, and says which they were.
    pub(super) fn skip_lessons(&mut self, count: u64) -> anyhow::Result<Studied> {
        let mut passed = Studied::default();
        while passed.records < count
            && let Some(lesson) = self.next().transpose()?
        {
            passed.add(&lesson);
        }
        Ok(passed)
    }

    fn next_lesson(&mut self) -> anyhow::Result<Option<RecordedLesson>> {
        loop {
            if let Some((path, lessons)) = &mut self.current {
                let lesson = lessons.next().transpose();
                if let Some(lesson) = lesson.with_context(|| path.display().to_string())? {
                    return Ok(Some(lesson));
                }
            }
            let Some(path) = self.rest.pop() else { return Ok(None) };
            let file = input::open_file(&path)?;
            self.current = Some((path, Lessons::new(BufReader::new(file))));
        }
    }
}

impl Iterator for LessonFiles {
    type Item = anyhow::Result<RecordedLesson>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_lesson().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(lessons: LessonFiles) -> Vec<String> {
        lessons.map(|lesson| lesson.unwrap().game.notation()).collect()
    }

    #[test]
    fn the_files_of_a_directory_are_read_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let line = |moves: &str| format!("{{\"moves\":\"{moves}\",\"result\":\"draw\"}}\n");
        fs::write(dir.path().join("2.ndjson"), line("3")).unwrap();
        fs::write(dir.path().join("1.ndjson"), [line("1"), line("2")].concat()).unwrap();
        fs::write(dir.path().join("notes.txt"), "not a record").unwrap();
        assert_eq!(moves(LessonFiles::open(dir.path()).unwrap()), ["1", "2", "3"]);
        let skip = |count| {
            let mut lessons = LessonFiles::open(dir.path()).unwrap();
            let passed = lessons.skip_lessons(count).unwrap();
            (passed, moves(lessons))
        };
        assert_eq!((skip(1).0.records, skip(1).1), (1, vec!["2".to_owned(), "3".to_owned()]));
        assert_eq!((skip(9).0.records, skip(9).1), (3, Vec::new()));
        let before = skip(2).0;
        fs::write(dir.path().join("3.ndjson"), line("4")).unwrap();
        assert_eq!(skip(2).0, before, "more have come behind them");
        fs::write(dir.path().join("1.ndjson"), [line("1"), line("5")].concat()).unwrap();
        assert_ne!(skip(2).0, before, "one of them is another");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let message = |path: &Path| format!("{:#}", LessonFiles::open(path).err().unwrap());
        assert!(message(dir.path()).ends_with("has no file that ends with .ndjson"));
        assert!(message(&dir.path().join("gone")).contains("gone: No such file"));
        let broken = dir.path().join("broken.ndjson");
        fs::write(&broken, "{}\n").unwrap();
        let error = LessonFiles::open(&broken).unwrap().next().unwrap().unwrap_err();
        assert!(format!("{error:#}").contains("broken.ndjson: line 1: not a record"), "{error:#}");
    }
}
