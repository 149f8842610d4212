//! Learners: what a house bot knows, kept apart from the bots that play with it.
//!
//! A [`Learner`] is a fold of finished games: the same games in the same order give the same [`Learner::state`], byte
//! for byte, so that whoever keeps the games can make any version of it again. A [`Knowledge`] is what it knew at one
//! moment; bots play with that, while the learner goes on.

use std::fmt::Debug;
use std::sync::Arc;

use fourfold_engine::{Cell, Column, Game};

use crate::bot::{Bot, GameRecord};
use crate::reason::Counts;

/// Learns from finished games, one after the other.
pub trait Learner: Send + Sync + Debug {
    /// Learns from a game of its variant as one side saw it, and says what changed, in a fixed order. Nothing but the
    /// game and what was learnt before decides what that is: no clock, no chance from outside.
    fn learn(&mut self, game: &GameRecord) -> Vec<Change>;

    /// The columns among which it would choose before each move of a game of its variant, by what it has learnt now:
    /// all that a memory holds equal, the one that a network likes best at first sight. What a lesson changed in it
    /// shows between two calls.
    ///
    /// Of a network that plays by a running average it is the one that learns: the average follows over about a
    /// hundred games.
    fn leanings(&self, game: &Game) -> Vec<Vec<Column>>;

    /// All that was learnt, from which [`crate::learners::restore`] makes the same learner again.
    fn state(&self) -> Vec<u8>;

    /// What is known now.
    fn knowledge(&self) -> Arc<dyn Knowledge>;

    /// What is known now, as bytes of which [`crate::learners::recall`] makes it again. It is all that a version needs
    /// that never learns again, so it may be less than the state.
    fn frozen(&self) -> Vec<u8> {
        self.state()
    }
}

/// What a learner knew at one moment.
pub trait Knowledge: Send + Sync + Debug {
    /// A bot that plays with it. It does not learn by itself.
    fn player(&self, seed: u64) -> Box<dyn Bot>;

    /// What `NAME:file=` reads: the file that plays as the learner did then, in the form of [`Bot::knowledge`] or of
    /// `fourfold train`.
    fn file(&self) -> Vec<u8>;

    /// The patterns that it knows: the most often seen first, or the weightiest if how often is not kept, of which
    /// there may be more than are given.
    fn patterns(&self) -> Vec<KnownPattern>;

    /// Whether it keeps how often it saw its patterns, and how those games ended, not only what they weigh.
    fn keeps_counts(&self) -> bool;

    /// How many it knows.
    fn pattern_count(&self) -> usize {
        self.patterns().len()
    }
}

/// A pattern with what is known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownPattern {
    /// Its name, such as `own c1 d1 . .`.
    pub name: String,
    /// Cells on which it wants stones of the bot.
    pub own: Vec<Cell>,
    /// Cells on which it wants stones of the opponent.
    pub enemy: Vec<Cell>,
    /// Empty cells that matter to it: where it is answered.
    pub answers: Vec<Cell>,
    pub counts: Counts,
    /// How much it weighs, in the unit of [`crate::Reason::weight`]: in a memory how loudly it calls for its cells, own
    /// stones to be gone on with, the enemy's to be parried; in a network what it adds for the side that has just
    /// moved.
    pub weight: i64,
}

/// What a game did to one pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub pattern: String,
    /// `None` if it was not known before.
    pub before: Option<Counts>,
    pub after: Counts,
}
