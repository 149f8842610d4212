//! Proven scores in a file that only grows.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fourfold_engine::openings::Opening;
use fourfold_engine::solver::Score;
use fourfold_engine::{Game, Variant};

use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;
use crate::system::files;

/// Scores by canonical key.
pub(super) type Scores = HashMap<u64, Score>;

/// A file to which scores are appended.
#[derive(Debug)]
pub(super) struct Checkpoint {
    file: File,
}

impl Checkpoint {
    /// Opens or makes the file and reads what it has. A last line that a sudden end cut off is removed.
    pub(super) fn open(path: &Path) -> anyhow::Result<(Self, Scores)> {
        let opened = || -> anyhow::Result<_> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let text = io::read_to_string(&mut file).map_err(|error| input::unreadable(path, &error))?;
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            let scores = parse(&text[..whole]).map_err(|error| damaged(path, &error))?;
            file.set_len(whole as u64)?;
            Ok((Self { file }, scores))
        };
        opened().with_context(|| path.display().to_string())
    }

    /// Appends a score; it is in the file, if not on the disk, when this returns.
    pub(super) fn append(&mut self, opening: &Opening, score: Score) -> io::Result<()> {
        let moves = if opening.moves().is_empty() { "-".to_owned() } else { opening.notation() };
        // One write a line, so that lines of several writers do not mix.
        self.file.write_all(format!("{moves}\t{score}\n").as_bytes())
    }
}

/// Reads a file of guesses; a file that is not there is an error.
pub(super) fn read(path: &Path) -> anyhow::Result<Scores> {
    Ok(parse(&input::read_text(path)?).map_err(|error| damaged(path, &error))?)
}

/// A file whose lines make no sense.
fn damaged(path: &Path, error: &anyhow::Error) -> Exit {
    Exit::new(Code::Data, format!("{}: {error:#}", path.display()))
}

/// Puts the lines of several files together, each position once and in the order of their moves. Gives their number.
pub(super) fn join(paths: &[PathBuf], out: &Path) -> anyhow::Result<usize> {
    let mut scores = Scores::new();
    let mut lines = BTreeSet::new();
    for path in paths {
        let text = input::read_text(path)?;
        let mut read = || -> anyhow::Result<()> {
            for (index, line) in text.lines().enumerate() {
                let place = || format!("line {}", index + 1);
                let (key, score) = parse_line(line).with_context(place)?;
                match scores.insert(key, score) {
                    None => drop(lines.insert(line.to_owned())),
                    Some(before) if before == score => {}
                    Some(before) => bail!("{}: {score}, but another line says {before}", place()),
                }
            }
            Ok(())
        };
        read().map_err(|error| damaged(path, &error))?;
    }
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    files::replace(out, text.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(lines.len())
}

fn parse(text: &str) -> anyhow::Result<Scores> {
    let mut scores = Scores::new();
    for (index, line) in text.lines().enumerate() {
        let (key, score) = parse_line(line).with_context(|| format!("line {}", index + 1))?;
        if scores.insert(key, score).is_some_and(|before| before != score) {
            bail!("line {} contradicts an earlier one", index + 1);
        }
    }
    Ok(scores)
}

fn parse_line(line: &str) -> anyhow::Result<(u64, Score)> {
    let unreadable =
        || io::Error::new(ErrorKind::InvalidData, "moves and score with a tab between are expected");
    let (moves, score) = line.split_once('\t').ok_or_else(unreadable)?;
    let game = Game::from_moves(Variant::STANDARD, moves)?;
    Ok((game.position().canonical_key(), Score::new(score.parse()?)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_appended_is_read_again_without_a_torn_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ply2.tsv");
        let openings = fourfold_engine::openings::enumerate(Variant::STANDARD, 2);
        {
            let (mut checkpoint, scores) = Checkpoint::open(&path).unwrap();
            assert!(scores.is_empty());
            checkpoint.append(&openings[0], Score::new(-2)).unwrap();
            checkpoint.file.write_all(b"12\t1").unwrap();
        }
        let (mut checkpoint, scores) = Checkpoint::open(&path).unwrap();
        assert_eq!(scores.len(), 1);
        checkpoint.append(&openings[1], Score::new(3)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "11\t-2\n12\t3\n");
        assert_eq!(read(&path).unwrap().len(), 2);
    }

    #[test]
    fn checkpoints_are_joined_unless_they_contradict_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (one, two) = (file("1", "12\t1\n11\t-2\n"), file("2", "13\t2\n76\t1\n"));
        let out = directory.path().join("all");
        assert_eq!(join(&[one.clone(), two], &out).unwrap(), 3, "76 is 12 in the mirror");
        assert_eq!(fs::read_to_string(&out).unwrap(), "11\t-2\n12\t1\n13\t2\n");
        let other = file("3", "12\t2\n");
        let error = format!("{:#}", join(&[one, other], &out).unwrap_err());
        assert!(error.ends_with("line 1: 2, but another line says 1"), "{error}");
    }

    #[test]
    fn lines_that_make_no_sense_are_named() {
        for (text, message) in [
            ("11 2\n", "line 1: moves and score with a tab between are expected"),
            ("11\t1\n18\t1\n", "line 2: "),
            ("11\tx\n", "line 1: invalid digit"),
            ("12\t1\n76\t2\n", "line 2 contradicts an earlier one"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.starts_with(message), "{error}");
        }
    }
}
