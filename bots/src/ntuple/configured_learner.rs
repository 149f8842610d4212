//! The n-tuple network as a learner of the arena: a fold of games, and what it knows in words.

use std::cmp::Reverse;
use std::sync::{Arc, OnceLock};

use fourfold_engine::{Bitboard, Cell, Column, Game, Side};

use super::codec::CodecError;
use super::layout::VARIANT;
use super::learner::NetworkLearner;
use super::player::{Look, NTuple};
use super::shape::NetworkShape;
use super::weights::Weights;
use crate::bot::{Bot, BotError, GameRecord};
use crate::learner::{Change, Knowledge, KnownPattern, Learner};
use crate::reason::Counts;

/// The tuples of a learner: few enough to learn a game in a millisecond or two and to be stored often. In trials with
/// 10,000 games 150 tuples were worth one point more.
const TUPLES: usize = 70;
const CELLS: u32 = 8;

/// Draws the tuples. All learners have the same, so that a rebuilt one is the same.
const SEED: u64 = 1;

/// Patterns that are named: the weightiest.
const PATTERNS_MAX: usize = 100;

/// A network that learns, with the settings of the bots that play with it.
#[derive(Debug)]
struct ConfiguredLearner {
    learner: NetworkLearner,
    look: Look,
}

/// What a network knew at one moment.
#[derive(Debug)]
struct NetworkKnowledge {
    weights: Arc<Weights>,
    look: Look,
    /// The weightiest patterns, from when they are first asked for: finding them takes some milliseconds.
    patterns: OnceLock<Vec<KnownPattern>>,
}

/// Makes a learner: what a bot of this name has learnt, or nothing yet.
pub(crate) fn learner(look: Look, name: &str, state: Option<&[u8]>) -> Result<Box<dyn Learner>, BotError> {
    let learner = match state {
        None => NetworkLearner::new(NetworkShape::draw(TUPLES, CELLS, SEED)),
        Some(state) => NetworkLearner::from_bytes(state).map_err(|reason| bad_state(name, &reason))?,
    };
    Ok(Box::new(ConfiguredLearner { learner, look }))
}

/// What a learner knew when it was frozen: the weights it played by.
pub(crate) fn recall(look: Look, name: &str, frozen: &[u8]) -> Result<Arc<dyn Knowledge>, BotError> {
    let weights = Weights::from_bytes(frozen).map_err(|reason| bad_state(name, &reason))?;
    Ok(Arc::new(NetworkKnowledge::new(Arc::new(weights), look)))
}

fn bad_state(name: &str, reason: &CodecError) -> BotError {
    BotError::BadState { name: name.to_owned(), reason: reason.to_string() }
}

impl Learner for ConfiguredLearner {
    /// Thousands of weights change a little with each game, so none is named.
    fn learn(&mut self, game: &GameRecord) -> Vec<Change> {
        self.learner.study(&game.game);
        Vec::new()
    }

    fn leanings(&self, game: &Game) -> Vec<Vec<Column>> {
        let liked = self.learner.leanings(game, self.look);
        liked.into_iter().map(|column| vec![column]).collect()
    }

    fn state(&self) -> Vec<u8> {
        self.learner.to_bytes()
    }

    fn knowledge(&self) -> Arc<dyn Knowledge> {
        Arc::new(NetworkKnowledge::new(self.learner.weights(), self.look))
    }

    fn frozen(&self) -> Vec<u8> {
        self.learner.weights().to_bytes()
    }
}

impl Knowledge for NetworkKnowledge {
    fn player(&self, _seed: u64) -> Box<dyn Bot> {
        Box::new(NTuple::new(Arc::clone(&self.weights), self.look).telling_why())
    }

    fn file(&self) -> Vec<u8> {
        self.weights.to_bytes()
    }

    /// The weightiest, as many as one may want to look at. How often each was seen is not kept.
    fn patterns(&self) -> Vec<KnownPattern> {
        self.patterns.get_or_init(|| self.heaviest()).clone()
    }

    fn keeps_counts(&self) -> bool {
        false
    }

    fn pattern_count(&self) -> usize {
        self.weights.used()
    }
}

impl NetworkKnowledge {
    fn new(weights: Arc<Weights>, look: Look) -> Self {
        Self { weights, look, patterns: OnceLock::new() }
    }

    fn heaviest(&self) -> Vec<KnownPattern> {
        let mut heaviest: Vec<(Side, usize, i16)> = Vec::new();
        for side in Side::BOTH {
            let table = self.weights.table(side).iter().enumerate();
            heaviest.extend(
                table.filter(|(_, weight)| **weight != 0).map(|(index, weight)| (side, index, *weight)),
            );
        }
        let rank =
            |&(side, index, weight): &(Side, usize, i16)| (Reverse(weight.unsigned_abs()), side as u8, index);
        if heaviest.len() > PATTERNS_MAX {
            heaviest.select_nth_unstable_by_key(PATTERNS_MAX, rank);
            heaviest.truncate(PATTERNS_MAX);
        }
        heaviest.sort_unstable_by_key(rank);
        heaviest.into_iter().map(|(side, index, weight)| self.describe(side, index, weight)).collect()
    }

    /// A pattern from the view of the side that has just moved, which is the one whose table it is in.
    fn describe(&self, side: Side, index: usize, weight: i16) -> KnownPattern {
        let [first, second, reach] = self.weights.pattern(index);
        let (own, enemy, sign) = match side {
            Side::First => (first, second, 1),
            Side::Second => (second, first, -1),
        };
        let cells = |set: Bitboard| set.cells(VARIANT).collect::<Vec<Cell>>();
        KnownPattern {
            name: format!("{side}: {}", Weights::name(self.weights.pattern(index), side)),
            own: cells(own),
            enemy: cells(enemy),
            answers: cells(reach),
            counts: Counts::default(),
            weight: sign * i64::from(weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::SideResult;

    use super::*;
    use crate::bot::MoveBudget;
    use crate::learners;
    use crate::reason::Reason;

    fn record(moves: &str, side: Side, result: SideResult) -> GameRecord {
        GameRecord { game: Game::from_moves(VARIANT, moves).unwrap(), side, result }
    }

    fn fresh() -> Box<dyn Learner> {
        learners::fresh(&"ntuple:plies=0".parse().unwrap(), VARIANT).unwrap()
    }

    #[test]
    fn a_game_told_by_both_sides_is_learnt_once() {
        let (mut one, mut both) = (fresh(), fresh());
        one.learn(&record("4455667", Side::First, SideResult::Win));
        both.learn(&record("4455667", Side::First, SideResult::Win));
        both.learn(&record("4455667", Side::Second, SideResult::Loss));
        assert_eq!(one.state(), both.state());
        assert_ne!(one.state(), fresh().state());
    }

    #[test]
    fn the_weightiest_patterns_are_named() {
        let mut learner = fresh();
        for moves in ["4455667", "4433221", "4455667", "121212"] {
            learner.learn(&record(moves, Side::First, SideResult::Win));
        }
        let patterns = learner.knowledge().patterns();
        assert!((1..=PATTERNS_MAX).contains(&patterns.len()));
        assert!(learner.knowledge().pattern_count() > patterns.len());
        let weights: Vec<i64> = patterns.iter().map(|pattern| pattern.weight.abs()).collect();
        assert!(weights.is_sorted_by(|one, other| one >= other) && weights[0] > 0, "{weights:?}");
        let pattern = &patterns[0];
        assert!(
            pattern.name.starts_with("first: ") || pattern.name.starts_with("second: "),
            "{}",
            pattern.name
        );
        assert!(pattern.own.len() + pattern.enemy.len() + pattern.answers.len() <= CELLS as usize);
    }

    #[test]
    fn patterns_and_reasons_weigh_alike() {
        let mut learner = fresh();
        for moves in ["4455667", "4433221", "4455667", "121212"] {
            learner.learn(&record(moves, Side::First, SideResult::Win));
        }
        let knowledge = learner.knowledge();
        let position = *Game::from_moves(VARIANT, "44").unwrap().position();
        let patterns = knowledge.patterns();
        let reasons = knowledge.player(1).reasons(&position);
        let is_known = |reason: &Reason| {
            let name = format!("first: {}", reason.pattern);
            patterns.iter().any(|pattern| pattern.name == name && pattern.weight == reason.weight)
        };
        assert!(reasons.iter().any(is_known), "{reasons:?} of {patterns:?}");
    }

    #[test]
    fn what_is_frozen_plays_as_it_did_then() {
        let mut learner = fresh();
        for moves in ["4455667", "4433221", "121212", "1234567", "44444", "7766554"].iter().cycle().take(12) {
            learner.learn(&record(moves, Side::First, SideResult::Win));
        }
        let spec = "ntuple:plies=0".parse().unwrap();
        let frozen = learner.frozen();
        assert!(frozen.len() < learner.state().len());
        let recalled = learners::recall(&spec, VARIANT, &frozen).unwrap();
        assert_eq!(recalled.patterns(), learner.knowledge().patterns());
        let play = |known: &dyn Knowledge| {
            let position = *Game::from_moves(VARIANT, "4453").unwrap().position();
            known.player(1).choose(&position, MoveBudget::default(), &AtomicBool::new(false)).unwrap()
        };
        assert_eq!(play(&*recalled), play(&*learner.knowledge()));
        assert!(learners::recall(&spec, VARIANT, &learner.state()).is_err(), "that is another form");
    }

    #[test]
    fn it_leans_to_what_it_plays() {
        let mut learner = fresh();
        // Before its tenth game it plays by the network that learns.
        for moves in ["4455667", "4433221", "121212", "1234567"] {
            learner.learn(&record(moves, Side::First, SideResult::Win));
        }
        let mut bot = learner.knowledge().player(1);
        for moves in ["4453", "121213", "1213141", "445536", "444444"] {
            let game = Game::from_moves(VARIANT, moves).unwrap();
            let leanings = learner.leanings(&game);
            let played = game.turns().map(|(position, _)| {
                bot.choose(&position, MoveBudget::default(), &AtomicBool::new(false)).unwrap().column
            });
            assert_eq!(leanings.concat(), played.collect::<Vec<_>>(), "{moves}");
        }
    }

    #[test]
    fn only_7x6_is_learnt() {
        let error = learners::fresh(&"ntuple".parse().unwrap(), "8x7".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "ntuple does not play 8x7: only 7x6");
    }
}
