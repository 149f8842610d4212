//! What the training runs of all bots have in common.
//!
//! A run is a [`TrainingRun`]: small steps of play and learning, without clock or file.

use std::fmt;
use std::str::FromStr;

use fourfold_engine::{Game, Side};

use crate::bot::{Bot, BotError};

/// A training run that can be cut between any two steps and taken up again.
///
/// A course that was saved and begun again from its [`TrainingRun::product`] and [`TrainingRun::state`] goes on as if
/// it had never stopped: equal courses take equal steps. So games draw from streams of the seed that belong to their
/// number, not from one generator that runs through all of them.
pub trait TrainingRun: Send {
    /// Games played or studied so far, those before it was taken up again included.
    fn games(&self) -> u64;

    /// Plays and learns a little: some tenths of a second at most, because nothing else happens meanwhile. Says
    /// what happened, in a line for those who follow the run closely.
    ///
    /// # Errors
    ///
    /// Fails if somebody who plays along is broken. The game does not count, and nothing was learnt from it.
    fn step(&mut self) -> Result<String, BotError>;

    /// Learns from a game that others played, as both of them saw it. It counts as one game.
    ///
    /// # Errors
    ///
    /// Fails if bots of this kind learn from their own games only, which is the default.
    fn study(&mut self, _game: &Game, _winner: Option<Side>) -> Result<(), TrainingError> {
        Err(TrainingError::OwnGamesOnly)
    }

    /// The bot as it is now, to be measured. Equal seeds give equal bots.
    fn bot(&self, seed: u64) -> Box<dyn Bot>;

    /// Where the run stands, in a few words for its log.
    fn summary(&self) -> String;

    /// What the run is for: the content of the file from which the bot is built for play.
    fn product(&self) -> Vec<u8>;

    /// What else the run needs to go on.
    fn state(&self) -> Vec<u8>;
}

/// Why a run cannot begin or go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TrainingError {
    #[error("it learns from games of its own only")]
    OwnGamesOnly,
    #[error("the saved run has no `{name}`")]
    Missing { name: String },
    #[error("the saved run has `{value}` for `{name}`, which makes no sense")]
    Unreadable { name: String, value: String },
}

/// Named values as lines of text, `name = value`: the state of a run that needs little to go on.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Notes(Vec<(String, String)>);

impl Notes {
    /// Adds a value, whose text has no line feed.
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// The value of this name.
    ///
    /// # Errors
    ///
    /// Fails if there is none or it cannot be read.
    pub fn value<T: FromStr>(&self, name: &str) -> Result<T, TrainingError> {
        let found = self.0.iter().find(|(known, _)| known == name);
        let (name, value) = found.ok_or_else(|| TrainingError::Missing { name: name.to_owned() })?;
        let unreadable = |_| TrainingError::Unreadable { name: name.clone(), value: value.clone() };
        value.parse().map_err(unreadable)
    }

    /// All values of this name, in the order in which they were added.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads what [`Notes::to_bytes`] wrote. Lines that are none are left out: what is missing is missed later.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let notes = text.lines().filter_map(|line| line.split_once('='));
        Self(notes.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let lines = self.0.iter().map(|(name, value)| format!("{name} = {value}\n"));
        lines.collect::<String>().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_survive_the_file() {
        let notes = Notes::default().with("games", 7).with("x", 0.1 + 0.2).with("weights", "1,-2");
        let read = Notes::from_bytes(&notes.to_bytes());
        assert_eq!(read, notes);
        assert_eq!(read.value("games"), Ok(7));
        assert_eq!(read.value("x"), Ok(0.1 + 0.2), "to the last digit");
        assert_eq!(read.value::<String>("weights").unwrap(), "1,-2");
    }

    #[test]
    fn what_is_missing_or_broken_is_named() {
        let notes = Notes::from_bytes(b"games = many\nno note\n\xff");
        let message = |name| notes.value::<u64>(name).unwrap_err().to_string();
        assert_eq!(message("seed"), "the saved run has no `seed`");
        assert_eq!(message("games"), "the saved run has `many` for `games`, which makes no sense");
    }
}
