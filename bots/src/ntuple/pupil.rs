//! The n-tuple network as a learner of the arena: a fold of games, and what it knows in words.

use std::cmp::Reverse;
use std::sync::Arc;

use fourfold_engine::{Bitboard, Cell, Side, Variant};

use super::codec::CodecError;
use super::layout::VARIANT;
use super::learner::Learner;
use super::player::{Look, NTuple};
use super::shape::Shape;
use super::weights::Weights;
use crate::bot::{Bot, BotError, GameRecord};
use crate::learner::{self, Change, Counts, Knowledge, KnownPattern};
use crate::registry;
use crate::spec::BotSpec;

/// The tuples of a learner: few enough to learn a game in a millisecond and to be stored often. In trials with 10,000
/// games 150 tuples were worth one point more.
const TUPLES: usize = 70;
const CELLS: u32 = 8;

/// Draws the tuples. All learners have the same, so that a rebuilt one is the same.
const SEED: u64 = 1;

/// Patterns that are named: the weightiest.
const PATTERNS_MAX: usize = 100;

/// A network that learns, with the settings of the bots that play with it.
#[derive(Debug)]
struct Pupil {
    learner: Learner,
    look: Look,
}

/// What a network knew at one moment.
#[derive(Debug)]
struct Known {
    weights: Arc<Weights>,
    look: Look,
}

/// Makes a learner.
pub(crate) fn learner(
    spec: &BotSpec,
    variant: Variant,
    state: Option<&[u8]>,
) -> Result<Box<dyn learner::Learner>, BotError> {
    let look = registry::ntuple_look(spec)?;
    if variant != VARIANT {
        return Err(BotError::VariantNotPlayed { bot: "ntuple", variant, plays: "only 7x6" });
    }
    let bad =
        |reason: CodecError| BotError::BadState { name: spec.name().to_owned(), reason: reason.to_string() };
    let learner = match state {
        None => Learner::new(Shape::draw(TUPLES, CELLS, SEED)),
        Some(state) => Learner::from_bytes(state).map_err(bad)?,
    };
    Ok(Box::new(Pupil { learner, look }))
}

impl learner::Learner for Pupil {
    /// Thousands of weights change a little with each game, so none is named.
    fn learn(&mut self, game: &GameRecord) -> Vec<Change> {
        self.learner.study(&game.game);
        Vec::new()
    }

    fn state(&self) -> Vec<u8> {
        self.learner.to_bytes()
    }

    fn knowledge(&self) -> Arc<dyn Knowledge> {
        Arc::new(Known { weights: self.learner.weights(), look: self.look })
    }
}

impl Knowledge for Known {
    fn player(&self, _seed: u64) -> Box<dyn Bot> {
        Box::new(NTuple::new(Arc::clone(&self.weights), self.look))
    }

    /// The weightiest, as many as one may want to look at. How often each was seen is not kept.
    fn patterns(&self) -> Vec<KnownPattern> {
        let mut heaviest: Vec<(Side, usize, i16)> = Vec::new();
        for side in Side::BOTH {
            let table = self.weights.table(side).iter().enumerate();
            heaviest.extend(
                table.filter(|(_, weight)| **weight != 0).map(|(index, weight)| (side, index, *weight)),
            );
        }
        heaviest.sort_by_key(|(_, _, weight)| Reverse(weight.unsigned_abs())); // stable: equal ones keep their order
        heaviest.truncate(PATTERNS_MAX);
        heaviest.into_iter().map(|(side, index, weight)| self.name(side, index, weight)).collect()
    }
}

impl Known {
    /// A pattern from the view of the side that has just moved, which is the one whose table it is in.
    fn name(&self, side: Side, index: usize, weight: i16) -> KnownPattern {
        let [first, second, reach] = self.weights.pattern(index);
        let (own, enemy, sign) = match side {
            Side::First => (first, second, 1.0),
            Side::Second => (second, first, -1.0),
        };
        let cells = |set: Bitboard| set.cells(VARIANT).collect::<Vec<Cell>>();
        let list = |name: &str, set: Bitboard| {
            let cells = set.cells(VARIANT).map(|cell| format!(" {cell}"));
            if set.is_empty() { String::new() } else { format!("{name}{}", cells.collect::<String>()) }
        };
        let parts = [format!("{side}:"), list("own", own), list("enemy", enemy), list("open", reach)];
        let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        KnownPattern {
            name,
            own: cells(own),
            enemy: cells(enemy),
            answers: cells(reach),
            counts: Counts::default(),
            weight: sign * f64::from(Weights::exact(weight)),
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;
    use crate::bot::GameResult;

    fn record(moves: &str, side: Side, result: GameResult) -> GameRecord {
        GameRecord { game: Game::from_moves(VARIANT, moves).unwrap(), side, result }
    }

    fn fresh() -> Box<dyn learner::Learner> {
        learner::fresh(&"ntuple:plies=0".parse().unwrap(), VARIANT).unwrap()
    }

    #[test]
    fn a_game_told_by_both_sides_is_learnt_once() {
        let (mut one, mut both) = (fresh(), fresh());
        one.learn(&record("4455667", Side::First, GameResult::Win));
        both.learn(&record("4455667", Side::First, GameResult::Win));
        both.learn(&record("4455667", Side::Second, GameResult::Loss));
        assert_eq!(one.state(), both.state());
        assert_ne!(one.state(), fresh().state());
    }

    #[test]
    fn the_weightiest_patterns_are_named() {
        let mut learner = fresh();
        for moves in ["4455667", "4433221", "4455667", "121212"] {
            learner.learn(&record(moves, Side::First, GameResult::Win));
        }
        let patterns = learner.knowledge().patterns();
        assert!((1..=PATTERNS_MAX).contains(&patterns.len()));
        let weights: Vec<f64> = patterns.iter().map(|pattern| pattern.weight.abs()).collect();
        assert!(weights.is_sorted_by(|one, other| one >= other) && weights[0] > 0.0, "{weights:?}");
        let pattern = &patterns[0];
        assert!(
            pattern.name.starts_with("first: ") || pattern.name.starts_with("second: "),
            "{}",
            pattern.name
        );
        assert!(pattern.own.len() + pattern.enemy.len() + pattern.answers.len() <= CELLS as usize);
    }

    #[test]
    fn only_7x6_is_learnt() {
        let error = learner::fresh(&"ntuple".parse().unwrap(), "8x7".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "ntuple does not play 8x7: only 7x6");
    }
}
