//! How the weights of `c4ai` evolve, by games of children against their parents.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::search::SearchLimits;
use fourfold_engine::{BySide, Column, Position, Side, SideResult, Variant, WinDrawLoss};
use rand::RngExt;

use crate::bot::{Bot, BotError, MoveBudget};
use crate::c4ai::{C4ai, EvolvedWeights};
use crate::montecarlo::{MonteCarlo, PlayoutLimit};
use crate::registry;
use crate::self_play;
use crate::spec::BotSpec;
use crate::training_run::{Notes, TrainingError, TrainingRun};

/// A weight of a child differs from its parent's by this at most, times one more than the generations in which
/// the parent was not beaten.
const STEP: i32 = 5;
/// After so many generations without a better child, the weights are tuned one by one.
const UNBEATEN_MAX: u32 = 60;
/// Children that are tried for each weight while tuning.
const TUNING_CHILDREN: u32 = 10;
/// Plies in training games at most: beyond, a single game takes minutes.
const DEPTH_MAX: u32 = 13;
/// Random games a move of the opponent in the entrance test.
const TEST_PLAYOUTS: u64 = 1000;

/// How far training games look ahead: never by the clock, so that a run repeats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effort {
    /// Plies, rounded up to an odd number.
    Depth(u32),
    /// Nodes a move.
    Nodes(u64),
}

/// Prints `depth=5` or `nodes=2000`.
impl fmt::Display for Effort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(depth) => write!(formatter, "depth={depth}"),
            Self::Nodes(nodes) => write!(formatter, "nodes={nodes}"),
        }
    }
}

impl FromStr for Effort {
    type Err = EffortError;

    fn from_str(text: &str) -> Result<Self, EffortError> {
        let error = || EffortError { text: text.to_owned() };
        match text.split_once('=').ok_or_else(error)? {
            ("depth", depth) => {
                let depth = depth.parse().ok().filter(|depth| (1..=DEPTH_MAX).contains(depth));
                depth.map(Self::Depth).ok_or_else(error)
            }
            ("nodes", nodes) => {
                let nodes = nodes.parse().ok().filter(|&nodes| nodes > 0);
                nodes.map(Self::Nodes).ok_or_else(error)
            }
            _ => Err(error()),
        }
    }
}

/// The text is no effort.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is neither depth=1 to depth={DEPTH_MAX} nor a number of nodes such as nodes=2000")]
pub struct EffortError {
    text: String,
}

/// A run of evolution, one child at a time.
///
/// From the C4AI readme. Each child has its own stream of the seed, so a run goes on from these fields as if it
/// had never stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvolutionTrainer {
    pub parent: EvolvedWeights,
    /// Generations since the parent was last replaced; `UNBEATEN_MAX` and more while tuning.
    pub unbeaten: u32,
    /// Number of the next child, from 0.
    pub next: u64,
    pub effort: Effort,
    pub seed: u64,
}

/// What was changed in a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Every weight, by this at most.
    All { step: i32 },
    /// The weight at this place, counted from 0.
    One { index: usize },
}

/// One child and how it fared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generation {
    /// Number of the child, from 0.
    pub number: u64,
    pub change: Mutation,
    pub child: EvolvedWeights,
    /// Of the child against its parent, one game in each seat.
    pub result: WinDrawLoss,
}

impl Generation {
    /// Whether the child took its parent's place.
    pub fn is_better(&self) -> bool {
        self.result.is_won()
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, change, child, result } = self;
        let change = match change {
            Mutation::All { step } => format!("all weights by {step} at most"),
            Mutation::One { index } => format!("weight {}", index + 1),
        };
        let verdict = if self.is_better() { ", takes its parent's place" } else { "" };
        write!(formatter, "generation {number}, {change}, {child}: {result}{verdict}")
    }
}

impl EvolutionTrainer {
    /// A run from the beginning.
    pub fn new(parent: EvolvedWeights, effort: Effort, seed: u64) -> Self {
        Self { parent, unbeaten: 0, next: 0, effort, seed }
    }

    /// A run from the beginning, with the weights of `spec` as the first parent.
    ///
    /// # Errors
    ///
    /// Fails if the settings are not allowed.
    pub fn begin(spec: &BotSpec, effort: Effort, seed: u64) -> Result<Self, BotError> {
        Ok(Self::new(registry::c4ai_weights(spec)?, effort, seed))
    }

    /// A run as [`TrainingRun::state`] left it.
    ///
    /// # Errors
    ///
    /// Fails if something is missing or makes no sense.
    pub fn resume(state: &[u8]) -> Result<Self, TrainingError> {
        let notes = Notes::from_bytes(state);
        Ok(Self {
            parent: notes.value("weights")?,
            unbeaten: notes.value("unbeaten")?,
            next: notes.value("children")?,
            effort: notes.value("effort")?,
            seed: notes.value("seed")?,
        })
    }

    /// Draws the next child and plays its two games.
    pub fn try_next(&mut self) -> Generation {
        let mut rng = rng::seeded_stream(self.seed, self.next);
        let change = self.change();
        let child = self.draw(change, &mut rng);
        let result = self.play_match(child);
        let generation = Generation { number: self.next, change, child, result };
        if generation.is_better() {
            self.parent = child;
        }
        self.unbeaten = self.unbeaten_after(&generation);
        self.next += 1;
        generation
    }

    fn change(&self) -> Mutation {
        match self.unbeaten.checked_sub(UNBEATEN_MAX) {
            None => Mutation::All { step: STEP * (self.unbeaten.cast_signed() + 1) },
            Some(tuned) => Mutation::One { index: (tuned / TUNING_CHILDREN) as usize },
        }
    }

    /// While tuning the count goes on whoever wins; after the last weight it begins anew.
    fn unbeaten_after(&self, generation: &Generation) -> u32 {
        let tuning_end = UNBEATEN_MAX + TUNING_CHILDREN * 6;
        match generation.change {
            Mutation::All { step: _ } if generation.is_better() => 0,
            Mutation::One { index: _ } if self.unbeaten + 1 >= tuning_end => 0,
            Mutation::All { step: _ } | Mutation::One { index: _ } => self.unbeaten + 1,
        }
    }

    fn draw(&self, change: Mutation, rng: &mut GameRng) -> EvolvedWeights {
        let mut weights = self.parent.to_array();
        let mut mutate = |weight: &mut i32, step: i32| {
            *weight =
                (*weight + rng.random_range(-step..=step)).clamp(-EvolvedWeights::MAX, EvolvedWeights::MAX);
        };
        match change {
            Mutation::All { step } => weights.iter_mut().for_each(|weight| mutate(weight, step)),
            Mutation::One { index } => mutate(&mut weights[index], STEP),
        }
        EvolvedWeights::from_array(weights)
    }

    fn play_match(&self, child: EvolvedWeights) -> WinDrawLoss {
        let mut score = WinDrawLoss::default();
        for side in Side::BOTH {
            let players =
                BySide::from_fn(|seat| player(if seat == side { child } else { self.parent }, self.effort));
            score.count(SideResult::of(side, self_play::play(Variant::STANDARD, players)));
        }
        score
    }
}

impl TrainingRun for EvolutionTrainer {
    fn games(&self) -> u64 {
        2 * self.next
    }

    fn step(&mut self) -> Result<String, BotError> {
        Ok(self.try_next().to_string())
    }

    fn bot(&self, _seed: u64) -> Box<dyn Bot> {
        Box::new(C4ai::new(self.parent, Duration::ZERO, Variant::STANDARD))
    }

    fn summary(&self) -> String {
        format!("{} generations, unbeaten for {}, {}", self.next, self.unbeaten, self.parent)
    }

    /// A weights file.
    fn product(&self) -> Vec<u8> {
        format!("{}\n", self.parent).into_bytes()
    }

    fn state(&self) -> Vec<u8> {
        Notes::default()
            .with("seed", self.seed)
            .with("effort", self.effort)
            .with("children", self.next)
            .with("unbeaten", self.unbeaten)
            .with("weights", self.parent)
            .to_bytes()
    }
}

/// Plays with these weights and this effort.
fn player(weights: EvolvedWeights, effort: Effort) -> impl FnMut(&Position) -> Column {
    let mut bot = C4ai::new(weights, Duration::ZERO, Variant::STANDARD);
    let never = AtomicBool::new(false);
    move |position: &Position| {
        let (depth, nodes) = match effort {
            Effort::Depth(depth) => (depth | 1, None),
            Effort::Nodes(nodes) => (position.variant().cells() | 1, Some(nodes)),
        };
        bot.choose_within(position, depth, SearchLimits { nodes, stop: &never }).column
    }
}

/// The entrance test: whether weights win a game, or draw both, against random playouts, one in each seat.
#[expect(clippy::missing_panics_doc, reason = "it cannot: bots are asked only while the game goes on")]
pub fn holds_its_own(weights: EvolvedWeights, effort: Effort, seed: u64) -> bool {
    let mut score = WinDrawLoss::default();
    for side in Side::BOTH {
        let mut candidate = player(weights, effort);
        let mut opponent = MonteCarlo::new(PlayoutLimit::Playouts(TEST_PLAYOUTS), seed);
        let never = AtomicBool::new(false);
        let mut choose = |position: &Position| {
            if position.side_to_move() == side {
                candidate(position)
            } else {
                let choice = opponent.choose(position, MoveBudget::default(), &never);
                choice.expect("the game goes on").column
            }
        };
        score.count(SideResult::of(side, self_play::play_by(Variant::STANDARD, &mut choose)));
    }
    score.wins >= 1 || score.draws == 2
}

/// The weights to begin a run with: `start` if it holds its own, else the first random set that does.
pub fn qualified(start: EvolvedWeights, effort: Effort, seed: u64) -> EvolvedWeights {
    let mut rng = rng::seeded(seed);
    let mut weights = start;
    while !holds_its_own(weights, effort, seed) {
        weights = EvolvedWeights::from_array(std::array::from_fn(|_| {
            rng.random_range(-EvolvedWeights::MAX..=EvolvedWeights::MAX)
        }));
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(trainer: &mut EvolutionTrainer, children: usize) -> Vec<Generation> {
        (0..children).map(|_| trainer.try_next()).collect()
    }

    fn trainer(unbeaten: u32) -> EvolutionTrainer {
        EvolutionTrainer { unbeaten, ..EvolutionTrainer::new(EvolvedWeights::default(), Effort::Depth(1), 3) }
    }

    #[test]
    fn a_seed_repeats_a_run_and_a_run_goes_on_from_where_it_stopped() {
        let (mut whole, mut parts) = (trainer(0), trainer(0));
        let all = run(&mut whole, 12);
        let mut first = run(&mut parts, 5);
        let mut resumed = EvolutionTrainer::resume(&parts.state()).unwrap();
        first.extend(run(&mut resumed, 7));
        assert_eq!((all, whole), (first, resumed));
    }

    #[test]
    fn steps_widen_while_the_parent_stays_unbeaten() {
        let mut trainer = trainer(0);
        let (mut unbeaten, mut parent) = (0, trainer.parent);
        for generation in run(&mut trainer, 60) {
            let Mutation::All { step } = generation.change else { panic!("{generation:?}") };
            assert_eq!(step, 5 * (unbeaten + 1));
            for (weight, before) in generation.child.to_array().into_iter().zip(parent.to_array()) {
                assert!((weight - before).abs() <= step && weight.abs() <= EvolvedWeights::MAX);
            }
            if generation.is_better() {
                (unbeaten, parent) = (0, generation.child);
            } else {
                unbeaten += 1;
            }
        }
        assert_eq!(trainer.parent, parent);
    }

    #[test]
    fn after_sixty_generations_each_weight_is_tuned_by_itself() {
        let mut trainer = trainer(60);
        let mut parent = trainer.parent;
        for (number, generation) in run(&mut trainer, 60).into_iter().enumerate() {
            assert_eq!(generation.change, Mutation::One { index: number / 10 });
            let changed = generation.child.to_array().into_iter().zip(parent.to_array()).enumerate();
            for (index, (weight, before)) in changed {
                assert!(index == number / 10 && (weight - before).abs() <= 5 || weight == before);
            }
            parent = if generation.is_better() { generation.child } else { parent };
        }
        assert_eq!(trainer.unbeaten, 0, "and the process repeats");
    }

    #[test]
    fn a_child_must_win_more_games_than_its_parent() {
        for generation in run(&mut trainer(0), 30) {
            let WinDrawLoss { wins, draws, losses } = generation.result;
            assert_eq!(wins + draws + losses, 2);
            assert_eq!(generation.is_better(), wins > losses);
        }
    }

    #[test]
    fn bad_weights_are_drawn_anew() {
        let effort = Effort::Depth(3);
        assert!(holds_its_own(EvolvedWeights::default(), effort, 1));
        assert_eq!(qualified(EvolvedWeights::default(), effort, 1), EvolvedWeights::default());
        assert!(holds_its_own(
            qualified(EvolvedWeights::from_array([-1000; 6]), Effort::Nodes(50), 1),
            Effort::Nodes(50),
            1
        ));
    }
}
