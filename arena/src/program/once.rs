//! A program that is called once for each move, with the board as its last argument.
//!
//! It runs in a directory of its own, where it may write `Move.txt`; arguments that name files of our directory are
//! made absolute for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use fourfold_engine::Column;
use fourfold_engine::notation::board42::RowOrder;

use super::dialect::board42;
use super::process::{Patience, Process, Trouble};
use super::{PATIENCE, ProcessRecipe};
use crate::entrant::{Answer, EntrantFault, GameStart, Player, Turn};

/// What some programs write instead of printing.
const MOVE_FILE: &str = "Move.txt";

/// Such a file is one line; more is not read.
const MOVE_FILE_BYTES_MAX: u64 = 1024;

/// Makes directory names differ.
static NEXT_DIRECTORY: AtomicU64 = AtomicU64::new(0);

pub(super) struct OncePlayer {
    recipe: Arc<ProcessRecipe>,
    order: RowOrder,
    words: Vec<String>,
    directory: PathBuf,
}

impl OncePlayer {
    pub(super) fn new(recipe: &Arc<ProcessRecipe>, order: RowOrder) -> Result<Self, EntrantFault> {
        let number = NEXT_DIRECTORY.fetch_add(1, Ordering::Relaxed);
        let name = format!("fourfold-program-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let failed = |error| EntrantFault::Broken(format!("{} cannot be made: {error}", directory.display()));
        fs::create_dir(&directory).map_err(failed)?;
        let words = recipe.words.iter().map(|word| absolute(word)).collect();
        let player = Self { recipe: Arc::clone(recipe), order, words, directory };
        player.check_start()?;
        Ok(player)
    }

    /// Finds out whether the program exists, before a game depends on it.
    fn check_start(&self) -> Result<(), EntrantFault> {
        let board = " ".repeat(usize::try_from(self.recipe.variant.cells()).unwrap_or_default());
        self.start(&board).map(drop)
    }

    fn start(&self, board: &str) -> Result<Process, EntrantFault> {
        let mut command = Process::command(&self.words, &self.recipe.limits);
        command.arg(board).current_dir(&self.directory);
        let mut process = Process::start(command, &self.recipe.limits)?;
        process.close_input();
        Ok(process)
    }

    /// The column of the first line with a move, or of the file if there is none. All lines are added to `heard`
    /// if anybody asked for them.
    fn answer(
        &self,
        process: &mut Process,
        turn: &Turn<'_>,
        patience: Patience<'_>,
        heard: &mut String,
    ) -> Result<(Column, Instant), EntrantFault> {
        loop {
            let (line, received) = match process.line(patience) {
                Ok(line) => line,
                Err(Trouble::Ended(how)) => {
                    let ended = Instant::now();
                    return self
                        .written_move(turn)
                        .map(|column| (column, ended))
                        .ok_or(EntrantFault::Gone(how));
                }
                Err(trouble) => return Err(trouble.into()),
            };
            self.recipe.hear(&line, heard);
            let read = self.recipe.dialect.read(&line, turn.game);
            if let Some(column) = read.map_err(|malformed| EntrantFault::Illegal(malformed.to_string()))? {
                return Ok((column, received));
            }
        }
    }

    fn written_move(&self, turn: &Turn<'_>) -> Option<Column> {
        let path = self.directory.join(MOVE_FILE);
        let is_short =
            fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MOVE_FILE_BYTES_MAX);
        let text = fs::read_to_string(path).ok().filter(|_| is_short)?;
        text.lines().find_map(|line| self.recipe.dialect.read(line, turn.game).ok().flatten())
    }
}

impl Player for OncePlayer {
    fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        // An old file must not answer a new question. There may be none.
        let _ = fs::remove_file(self.directory.join(MOVE_FILE));
        let asked = Instant::now();
        let board = board42(turn.game.position(), self.order);
        let mut process = self.start(&board)?;
        let limit = turn.budget.unwrap_or(PATIENCE) + turn.margin;
        let patience = Patience { until: asked + limit, stop: Some(turn.stop) };
        let mut heard = String::new();
        let answered = self.answer(&mut process, turn, patience, &mut heard);
        self.recipe.note(&mut process, &board, &heard, &answered, asked);
        let (column, received) = answered?;
        Ok(Answer { column, spent: received.duration_since(asked) })
    }
}

impl Drop for OncePlayer {
    fn drop(&mut self) {
        // What is left in the directory for temporary files is removed by the system.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The absolute path of a word that names a file of our directory; other words as they are. A bare word that is a
/// program on the path stays one.
fn absolute(word: &str) -> String {
    let path = Path::new(word);
    let is_ours = path.is_relative() && path.is_file();
    let made = is_ours.then(|| std::path::absolute(path).ok()).flatten();
    made.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_else(|| word.to_owned())
}
