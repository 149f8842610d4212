//! A training run: games of a network against itself, on all cores.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;

use fourfold_engine::rng;

use super::average::Pace;
use super::codec::{CodecError, Sink, Source};
use super::learner::Learner;
use super::player::{Look, NTuple};
use super::self_play::{Method, SelfPlay};
use super::shape::Shape;
use super::weights::Weights;
use crate::bot::{Bot, GameRecord};
use crate::training::{Course, TrainingError};

/// What the bytes are.
const KIND: [u8; 8] = *b"F4NTRAIN";

/// Games of a step, some hundredths of a second, after which an average is due.
const GAMES: u64 = Pace::SELF_PLAY.games;

/// What a run is, from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Tuples of the network.
    pub tuples: usize,
    /// Cells of a tuple.
    pub cells: u32,
    /// Games over which the steps shrink, geometrically; after that they stay small.
    pub games: u64,
    /// Draws the tuples and the games.
    pub seed: u64,
}

impl Plan {
    /// About a minute on one core. More tuples took longer for each game and made it no better in that time.
    pub const DEFAULT: Self = Self { tuples: 200, cells: 8, games: 1_000_000, seed: 1 };

    /// The sum of all steps of a visited position in the first and in the last game: each of its weights, two for
    /// each tuple, takes its share.
    const STEPS: [f64; 2] = [0.8, 0.16];

    /// The same for how games are played: a tenth of the moves is drawn.
    const EXPLORATION: f32 = 0.1;
    const LAMBDA: f32 = 0.7;

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a step may be rounded")]
    fn method(&self, game: u64, features: usize) -> Method {
        let [first, last] = Self::STEPS;
        let done = (game as f64 / self.games.max(1) as f64).min(1.0);
        let step = (first * (last / first).powf(done) / features as f64) as f32;
        Method { exploration: Self::EXPLORATION, lambda: Self::LAMBDA, step }
    }
}

/// A run of self-play, which may also learn from the games of others.
///
/// Each game has its own stream of the seed. With one thread equal runs make equal networks; with more, whose step
/// comes first is left to chance.
#[derive(Debug)]
pub struct Trainer {
    learner: Learner,
    plan: Plan,
    /// Games of self-play, which is the number of the next.
    played: u64,
    threads: NonZero<usize>,
    /// How the bot looks ahead while it is measured.
    look: Look,
    /// What the bot plays by, until the next step.
    weights: OnceLock<Arc<Weights>>,
}

impl Trainer {
    /// A run from the beginning.
    ///
    /// # Panics
    ///
    /// Panics if there is no such [`Shape`].
    #[must_use]
    pub fn begin(plan: Plan, threads: NonZero<usize>, look: Look) -> Self {
        let learner = Learner::new(Shape::draw(plan.tuples, plan.cells, plan.seed));
        Self { learner, plan, played: 0, threads, look, weights: OnceLock::new() }
    }

    /// A run that begins with a network from elsewhere. The plan's tuples do not count.
    #[must_use]
    pub fn begin_with(weights: &Weights, plan: Plan, threads: NonZero<usize>, look: Look) -> Self {
        let learner = Learner::with_network(weights.to_network());
        Self { learner, plan, played: 0, threads, look, weights: OnceLock::new() }
    }

    /// A run as [`Course::state`] left it. The number of threads may be another.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are something else, of another version, or damaged.
    pub fn resume(state: &[u8], threads: NonZero<usize>, look: Look) -> Result<Self, CodecError> {
        let (mut source, shape) = Source::open(state, KIND)?;
        let cells = u32::try_from(source.varint()?).map_err(|_| CodecError::Field { name: "cells" })?;
        let [games, seed, played] = [source.varint()?, source.varint()?, source.varint()?];
        let plan = Plan { tuples: shape.tuples().len(), cells, games, seed };
        let learner = Learner::read(&mut source, shape)?;
        source.finish()?;
        Ok(Self { learner, plan, played, threads, look, weights: OnceLock::new() })
    }

    /// What the bot would play by now.
    pub fn weights(&self) -> &Arc<Weights> {
        self.weights.get_or_init(|| self.learner.weights())
    }

    /// Plays games up to this number.
    fn play_until(&self, end: u64) {
        thread::scope(|scope| {
            for worker in 1..self.threads.get() {
                scope.spawn(move || self.play_share(worker, end));
            }
            self.play_share(0, end);
        });
    }

    /// Plays the games that fall to one of the threads.
    fn play_share(&self, worker: usize, end: u64) {
        let network = self.learner.network();
        let mut games = SelfPlay::new(network);
        for number in (self.played..end).skip(worker).step_by(self.threads.get()) {
            let mut draws = rng::seeded_stream(self.plan.seed, number);
            games.play(self.plan.method(number, network.layout.features()), &mut draws);
        }
    }
}

impl Course for Trainer {
    fn games(&self) -> u64 {
        self.played + self.learner.games()
    }

    fn step(&mut self) -> String {
        // Up to the next round number, so that the average is taken at the same games however a run is cut.
        let end = (self.played / GAMES + 1) * GAMES;
        self.play_until(end);
        self.played = end;
        self.learner.follow_self_play(end);
        self.weights = OnceLock::new();
        format!("{end} games played")
    }

    fn study(&mut self, game: &GameRecord) -> Result<(), TrainingError> {
        self.learner.study(&game.game);
        self.weights = OnceLock::new();
        Ok(())
    }

    fn bot(&self, _seed: u64) -> Box<dyn Bot> {
        Box::new(NTuple::new(Arc::clone(self.weights()), self.look))
    }

    fn summary(&self) -> String {
        let weights = self.weights();
        format!("{} of {} weights in use", weights.used(), weights.count())
    }

    /// The weights for play.
    fn product(&self) -> Vec<u8> {
        self.weights().to_bytes()
    }

    fn state(&self) -> Vec<u8> {
        let mut sink = Sink::new(KIND, self.learner.network().shape());
        let Plan { tuples: _, cells, games, seed } = self.plan;
        for number in [u64::from(cells), games, seed, self.played] {
            sink.varint(number);
        }
        self.learner.write(&mut sink);
        sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Side, Variant};

    use super::*;
    use crate::bot::GameResult;

    const PLAN: Plan = Plan { tuples: 10, cells: 6, games: 5000, seed: 3 };

    fn begin(plan: Plan) -> Trainer {
        Trainer::begin(plan, NonZero::<usize>::MIN, Look::default())
    }

    fn resume(state: &[u8]) -> Result<Trainer, CodecError> {
        Trainer::resume(state, NonZero::<usize>::MIN, Look::default())
    }

    #[test]
    fn a_run_goes_on_from_where_it_stopped() {
        let mut whole = begin(PLAN);
        (0..3).for_each(|_| drop(whole.step()));
        let mut first = begin(PLAN);
        first.step();
        let mut second = resume(&first.state()).unwrap();
        (0..2).for_each(|_| drop(second.step()));
        assert_eq!(second.games(), 3 * GAMES);
        assert_eq!(second.state(), whole.state());
        assert_eq!(second.product(), whole.product());
    }

    #[test]
    fn another_seed_makes_another_network() {
        let mut runs = [begin(PLAN), begin(Plan { seed: 4, ..PLAN })];
        let products = runs.each_mut().map(|run| {
            run.step();
            run.product()
        });
        assert_ne!(products[0], products[1]);
    }

    #[test]
    fn all_games_are_played_with_several_threads() {
        let threads = NonZero::new(3).unwrap();
        let mut run = Trainer::begin(PLAN, threads, Look::default());
        run.step();
        assert_eq!(run.games(), GAMES);
        assert!(run.weights().used() > 0);
    }

    #[test]
    fn a_game_is_learnt_once_though_both_sides_tell_it() {
        let mut run = begin(PLAN);
        let before = run.product();
        let game = Game::from_moves(Variant::STANDARD, "4455667").unwrap();
        for (side, result) in [(Side::First, GameResult::Win), (Side::Second, GameResult::Loss)] {
            run.study(&GameRecord { game: game.clone(), side, result }).unwrap();
        }
        assert_eq!(run.games(), 1);
        assert_ne!(run.product(), before);
        let again = resume(&run.state()).unwrap();
        assert_eq!(again.product(), run.product());
    }

    #[test]
    fn a_network_from_elsewhere_is_learnt_on() {
        let mut run = begin(PLAN);
        run.step();
        let weights = Weights::from_bytes(&run.product()).unwrap();
        let other =
            Trainer::begin_with(&weights, Plan { seed: 9, ..PLAN }, NonZero::<usize>::MIN, Look::default());
        assert_eq!(other.product(), run.product());
        assert_eq!(other.games(), 0);
    }

    #[test]
    fn a_broken_state_is_refused() {
        let mut state = begin(PLAN).state();
        assert_eq!(resume(&begin(PLAN).product()).unwrap_err(), CodecError::OtherKind);
        *state.last_mut().unwrap() ^= 1;
        assert_eq!(resume(&state).unwrap_err(), CodecError::Checksum);
    }
}
