//! A training run: games of a network against itself, on all cores.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;

use fourfold_engine::{Game, Position, Side, rng};

use super::codec::{ByteSource, CodecError, CodecFormat, Sink};
use super::learner::NetworkLearner;
use super::plan::{Method, Percent, Tables, TrainingPlan};
use super::player::{Look, NTuple};
use super::restarts::Restarts;
use super::self_play::SelfPlay;
use super::shape::NetworkShape;
use super::weights::Weights;
use crate::bot::{Bot, BotError};
use crate::training_run::{TrainingError, TrainingRun};

/// What the bytes are. Version 1 had no [`Method`].
const FORMAT: CodecFormat = CodecFormat { kind: *b"F4NTRAIN", version: 2 };

/// Games of a step, after which an average is due.
const GAMES: u64 = Method::AVERAGE_OVER_MIN;

/// A run of self-play, which may also learn from the games of others.
///
/// Each game has its own stream of the seed. With one thread equal runs make equal networks; with more, whose step
/// comes first is left to chance.
#[derive(Debug)]
pub struct Trainer {
    learner: NetworkLearner,
    plan: TrainingPlan,
    /// Games of self-play, which is the number of the next.
    played: u64,
    /// Where games begin that do not begin on the empty board.
    restarts: Restarts,
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
    /// Panics if there is no such [`NetworkShape`].
    pub fn begin(plan: TrainingPlan, threads: NonZero<usize>, look: Look) -> Self {
        let learner = NetworkLearner::new(NetworkShape::draw(plan.tuples, plan.cells, plan.seed));
        Self::with_learner(learner, plan, threads, look)
    }

    /// A run that begins with a network from elsewhere, whose tuples take the place of the plan's.
    pub fn begin_with(weights: &Weights, plan: TrainingPlan, threads: NonZero<usize>, look: Look) -> Self {
        let learner = NetworkLearner::with_network(weights.to_network());
        let shape = weights.shape();
        let plan = TrainingPlan { tuples: shape.tuples().len(), cells: shape.cells_max(), ..plan };
        Self::with_learner(learner, plan, threads, look)
    }

    fn with_learner(
        learner: NetworkLearner,
        plan: TrainingPlan,
        threads: NonZero<usize>,
        look: Look,
    ) -> Self {
        let restarts = Restarts::default();
        Self { learner, plan, played: 0, restarts, threads, look, weights: OnceLock::new() }
    }

    /// A run as [`TrainingRun::state`] left it. The number of threads may be another.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are something else, of another version, or damaged.
    pub fn resume(state: &[u8], threads: NonZero<usize>, look: Look) -> Result<Self, CodecError> {
        let (mut source, shape) = ByteSource::open(state, FORMAT)?;
        let cells = u32::try_from(source.varint()?).map_err(|_| CodecError::Field { name: "cells" })?;
        let [games, seed, played] = [source.varint()?, source.varint()?, source.varint()?];
        let method = Method::read(&mut source)?;
        let plan = TrainingPlan { tuples: shape.tuples().len(), cells, games, seed, method };
        let restarts = Restarts::read(&mut source)?;
        let learner = NetworkLearner::read(&mut source, shape)?;
        source.finish()?;
        Ok(Self { learner, plan, played, restarts, threads, look, weights: OnceLock::new() })
    }

    /// What the bot would play by now.
    pub fn weights(&self) -> &Arc<Weights> {
        self.weights.get_or_init(|| match self.plan.method.play_by {
            Tables::Average => self.learner.weights(),
            Tables::Current => Arc::new(Weights::round(self.learner.network())),
        })
    }

    /// Plays games up to this number. Returns where advantages were lost, in the order of the games.
    fn play_until(&self, end: u64) -> Vec<Position> {
        let mut lost = thread::scope(|scope| {
            let share = |worker| move || self.play_share(worker, end);
            let others: Vec<_> = (1..self.threads.get()).map(|worker| scope.spawn(share(worker))).collect();
            let mut lost = self.play_share(0, end);
            for other in others {
                lost.extend(other.join().expect("a thread that plays does not panic"));
            }
            lost
        });
        lost.sort_unstable_by_key(|(number, _)| *number);
        lost.into_iter().map(|(_, position)| position).collect()
    }

    /// Plays the games that fall to one of the threads. Returns where advantages were lost, with the numbers of the
    /// games, if others are to begin there.
    fn play_share(&self, worker: usize, end: u64) -> Vec<(u64, Position)> {
        let TrainingPlan { seed, method: Method { targets_by, restarts, .. }, .. } = self.plan;
        let network = self.learner.network();
        let teacher = match targets_by {
            Tables::Current => None,
            Tables::Average => Some(self.learner.average()),
        };
        let mut games = SelfPlay::new(network, teacher);
        let mut lost = Vec::new();
        for number in (self.played..end).skip(worker).step_by(self.threads.get()) {
            let begin = self.restarts.begin(restarts, seed, number);
            let manner = self.plan.manner(number, network.layout.features());
            let after = games.play(begin, manner, &mut rng::seeded_stream(seed, number));
            lost.extend(after.filter(|_| restarts > Percent::ZERO).map(|position| (number, position)));
        }
        lost
    }
}

impl TrainingRun for Trainer {
    fn games(&self) -> u64 {
        self.played + self.learner.games()
    }

    fn step(&mut self) -> Result<String, BotError> {
        // Up to the next round number, so that the average is taken at the same games however a run is cut.
        let end = (self.played / GAMES + 1) * GAMES;
        let lost = self.play_until(end);
        self.restarts.note(lost);
        self.played = end;
        self.learner.follow_self_play(end, self.plan.method.pace());
        self.weights = OnceLock::new();
        Ok(format!("{end} games played"))
    }

    fn study(&mut self, game: &Game, _winner: Option<Side>) -> Result<(), TrainingError> {
        self.learner.study(game);
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
        let mut sink = Sink::new(FORMAT, self.learner.network().shape());
        let TrainingPlan { tuples: _, cells, games, seed, method } = self.plan;
        for number in [u64::from(cells), games, seed, self.played] {
            sink.varint(number);
        }
        method.write(&mut sink);
        self.restarts.write(&mut sink);
        self.learner.write(&mut sink);
        sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use fourfold_engine::Variant;

    use super::*;

    const PLAN: TrainingPlan =
        TrainingPlan { tuples: 10, cells: 6, games: 5000, seed: 3, method: Method::SHIPPED };

    fn begin(plan: TrainingPlan) -> Trainer {
        Trainer::begin(plan, NonZero::<usize>::MIN, Look::default())
    }

    fn resume(state: &[u8]) -> Result<Trainer, CodecError> {
        Trainer::resume(state, NonZero::<usize>::MIN, Look::default())
    }

    fn percent(percent: u8) -> Percent {
        Percent::new(percent).unwrap()
    }

    /// The shipped method and each of the others, one at a time.
    fn methods() -> [Method; 10] {
        const SHIPPED: Method = Method::SHIPPED;
        [
            SHIPPED,
            Method { exploration: percent(30), ..SHIPPED },
            Method { lambda: percent(40), ..SHIPPED },
            Method { first_step: percent(50), ..SHIPPED },
            Method { last_step: percent(80), ..SHIPPED },
            Method { average_over: 2000, ..SHIPPED },
            Method { play_by: Tables::Current, ..SHIPPED },
            Method { targets_by: Tables::Average, ..SHIPPED },
            Method { restarts: percent(50), ..SHIPPED },
            Method { late_search: percent(100), ..SHIPPED },
        ]
    }

    #[test]
    fn a_run_goes_on_from_where_it_stopped_and_keeps_its_method() {
        let mut products = HashSet::new();
        for method in methods() {
            let plan = TrainingPlan { method, ..PLAN };
            let mut whole = begin(plan);
            (0..3).for_each(|_| drop(whole.step().unwrap()));
            let mut first = begin(plan);
            first.step().unwrap();
            let mut second = resume(&first.state()).unwrap();
            assert_eq!(second.plan, plan);
            (0..2).for_each(|_| drop(second.step().unwrap()));
            assert_eq!(second.games(), 3 * GAMES);
            assert_eq!(second.state(), whole.state(), "{method:?}");
            assert_eq!(second.product(), whole.product());
            assert!(products.insert(whole.product()), "{method:?} makes another network");
        }
    }

    #[test]
    fn a_run_plays_by_its_weights_or_their_average() {
        let [mut average, mut current] = [Tables::Average, Tables::Current]
            .map(|play_by| begin(TrainingPlan { method: Method { play_by, ..Method::SHIPPED }, ..PLAN }));
        (0..2).for_each(|_| drop((average.step().unwrap(), current.step().unwrap())));
        let exact = |run: &Trainer| Weights::round(run.learner.network()).to_bytes();
        assert_eq!(exact(&average), exact(&current), "they learn alike");
        assert_eq!(current.product(), exact(&current));
        assert_ne!(average.product(), exact(&average));
    }

    #[test]
    fn lost_advantages_are_kept_only_if_games_begin_there() {
        let restarting = Method { restarts: percent(20), ..Method::SHIPPED };
        for (method, is_kept) in [(Method::SHIPPED, false), (restarting, true)] {
            let mut run = begin(TrainingPlan { method, ..PLAN });
            (0..3).for_each(|_| drop(run.step().unwrap()));
            assert_eq!(run.restarts != Restarts::default(), is_kept);
        }
    }

    #[test]
    fn another_seed_makes_another_network() {
        let mut runs = [begin(PLAN), begin(TrainingPlan { seed: 4, ..PLAN })];
        let products = runs.each_mut().map(|run| {
            run.step().unwrap();
            run.product()
        });
        assert_ne!(products[0], products[1]);
    }

    #[test]
    fn all_games_are_played_with_several_threads() {
        let threads = NonZero::new(3).unwrap();
        for method in methods() {
            let mut run = Trainer::begin(TrainingPlan { method, ..PLAN }, threads, Look::default());
            (0..2).for_each(|_| drop(run.step().unwrap()));
            assert_eq!(run.games(), 2 * GAMES);
            assert!(run.weights().used() > 0);
        }
    }

    #[test]
    fn a_game_of_others_is_learnt() {
        let mut run = begin(PLAN);
        let before = run.product();
        let game = Game::from_moves(Variant::STANDARD, "4455667").unwrap();
        run.study(&game, Some(Side::First)).unwrap();
        assert_eq!(run.games(), 1);
        assert_ne!(run.product(), before);
        let again = resume(&run.state()).unwrap();
        assert_eq!(again.product(), run.product());
    }

    #[test]
    fn a_network_from_elsewhere_is_learnt_on() {
        let mut run = begin(PLAN);
        run.step().unwrap();
        let weights = Weights::from_bytes(&run.product()).unwrap();
        let other = Trainer::begin_with(
            &weights,
            TrainingPlan { seed: 9, ..PLAN },
            NonZero::<usize>::MIN,
            Look::default(),
        );
        assert_eq!(other.product(), run.product());
        assert_eq!(other.games(), 0);
        let wished = TrainingPlan { tuples: 30, cells: 8, ..PLAN };
        let kept = Trainer::begin_with(&weights, wished, NonZero::<usize>::MIN, Look::default()).plan;
        assert_eq!((kept.tuples, kept.cells), (PLAN.tuples, PLAN.cells), "those of the network");
    }

    #[test]
    fn a_broken_state_is_refused() {
        let mut state = begin(PLAN).state();
        assert_eq!(resume(&begin(PLAN).product()).unwrap_err(), CodecError::OtherKind);
        *state.last_mut().unwrap() ^= 1;
        assert_eq!(resume(&state).unwrap_err(), CodecError::Checksum);
    }
}
