//! A training run: games of networks against themselves, on all cores.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use fourfold_engine::{Game, Side};

use super::codec::{ByteSource, CodecError, CodecFormat, Sink};
use super::learner::NetworkLearner;
use super::member::Member;
use super::plan::{Method, TrainingPlan};
use super::player::{Look, NTuple};
use super::shape::NetworkShape;
use super::weights::Weights;
use crate::bot::{Bot, BotError};
use crate::training_run::{TrainingError, TrainingRun};

/// What the bytes are. Version 1 had no [`Method`], version 2 one member only.
const FORMAT: CodecFormat = CodecFormat { kind: *b"F4NTRAIN", version: 3 };

/// Games of a step, after which an average is due.
const GAMES: u64 = Method::AVERAGE_OVER_MIN;

/// A run of self-play, which may also learn from the games of others.
///
/// Its members, of which there is one unless the plan says more, learn each for itself; the bot plays by their mean.
/// Each game has its own stream of its member's seed. With one thread equal runs make equal networks; with more, whose
/// step comes first is left to chance.
#[derive(Debug)]
pub struct Trainer {
    /// At least one, all with as many tuples.
    members: Vec<Member>,
    plan: TrainingPlan,
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
    /// Panics if there is no such [`NetworkShape`], or above [`NetworkShape::MEMBERS_MAX`].
    pub fn begin(plan: TrainingPlan, threads: NonZero<usize>, look: Look) -> Self {
        assert!(plan.members.get() <= NetworkShape::MEMBERS_MAX, "{} members", plan.members);
        let member = |(seed, openings)| {
            let shape = NetworkShape::draw(plan.tuples, plan.cells, seed);
            Member::new(NetworkLearner::new(shape), seed, openings)
        };
        let members = plan.seeds().zip(plan.openings()).map(member).collect();
        Self { members, plan, threads, look, weights: OnceLock::new() }
    }

    /// A run of one member that begins with a network from elsewhere, whose tuples take the place of the plan's.
    pub fn begin_with(weights: &Weights, plan: TrainingPlan, threads: NonZero<usize>, look: Look) -> Self {
        let learner = NetworkLearner::with_network(weights.to_network());
        let shape = weights.shape();
        let (tuples, cells) = (shape.tuples().len(), shape.cells_max());
        let plan = TrainingPlan { tuples, cells, members: NonZero::<usize>::MIN, ..plan };
        let members = vec![Member::new(learner, plan.seed, plan.method.openings)];
        Self { members, plan, threads, look, weights: OnceLock::new() }
    }

    /// A run as [`TrainingRun::state`] left it. The number of threads may be another.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are something else, of another version, or damaged.
    pub fn resume(state: &[u8], threads: NonZero<usize>, look: Look) -> Result<Self, CodecError> {
        let (mut source, shape) = ByteSource::open(state, FORMAT)?;
        let members = usize::try_from(source.varint()?).ok().and_then(NonZero::new);
        let members = members.filter(|members| shape.tuples().len().is_multiple_of(members.get()));
        let members = members.ok_or(CodecError::Field { name: "members" })?;
        let cells = u32::try_from(source.varint()?).map_err(|_| CodecError::Field { name: "cells" })?;
        let [games, seed] = [source.varint()?, source.varint()?];
        let method = Method::read(&mut source)?;
        let tuples = shape.tuples().len() / members;
        let plan = TrainingPlan { tuples, cells, members, games, seed, method };
        let mut member = |((seed, openings), tuples): (_, &[_])| {
            let shape = NetworkShape::from_tuples(tuples.to_vec()).ok_or(CodecError::Shape)?;
            Member::read(&mut source, shape, seed, openings)
        };
        let shares = plan.seeds().zip(plan.openings()).zip(shape.tuples().chunks(tuples));
        let members = shares.map(&mut member).collect::<Result<_, CodecError>>()?;
        source.finish()?;
        Ok(Self { members, plan, threads, look, weights: OnceLock::new() })
    }

    /// What the bot would play by now: the mean of all members.
    pub fn weights(&self) -> &Arc<Weights> {
        self.weights.get_or_init(|| {
            let play_by = self.plan.method.play_by;
            let members = self.members.iter();
            let weights = members.map(|member| (member.learner.network(), member.weights(play_by)));
            Arc::new(Weights::round_mean(&weights.collect::<Vec<_>>()))
        })
    }

    /// Games of self-play of all members.
    fn played(&self) -> u64 {
        self.members.iter().map(|member| member.played).sum()
    }

    /// All tuples, member by member.
    fn shape(&self) -> NetworkShape {
        NetworkShape::joined(self.members.iter().map(|member| member.learner.network().shape()))
    }
}

impl TrainingRun for Trainer {
    fn games(&self) -> u64 {
        // All members study the same games of others.
        self.played() + self.members[0].learner.games()
    }

    fn step(&mut self) -> Result<String, BotError> {
        // They take turns, so that those who have played least go first however a run is cut.
        let next = self.members.iter_mut().min_by_key(|member| member.played);
        let next = next.expect("a run has a member");
        next.play_on(GAMES, &self.plan, self.threads);
        self.weights = OnceLock::new();
        Ok(format!("{} games played", self.played()))
    }

    fn study(&mut self, game: &Game, _winner: Option<Side>) -> Result<(), TrainingError> {
        for member in &mut self.members {
            member.learner.study(game);
        }
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
        let mut sink = Sink::new(FORMAT, &self.shape());
        let TrainingPlan { tuples: _, cells, members, games, seed, method } = self.plan;
        for number in [members.get() as u64, u64::from(cells), games, seed] {
            sink.varint(number);
        }
        method.write(&mut sink);
        self.members.iter().for_each(|member| member.write(&mut sink));
        sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use fourfold_engine::Variant;

    use super::super::openings::Openings;
    use super::super::percent::Percent;
    use super::super::plan::Tables;
    use super::super::restarts::Restarts;
    use super::*;

    const PLAN: TrainingPlan = TrainingPlan {
        tuples: 10,
        cells: 6,
        members: NonZero::<usize>::MIN,
        games: 5000,
        seed: 3,
        method: Method::DEFAULT,
    };

    /// Three networks of the same run, of which the second begins some games with random moves.
    const TRIO: TrainingPlan = TrainingPlan {
        members: NonZero::new(3).unwrap(),
        method: Method {
            openings: Openings { share: Percent::new(90).unwrap(), plies: 10 },
            ..Method::DEFAULT
        },
        ..PLAN
    };

    fn begin(plan: TrainingPlan) -> Trainer {
        Trainer::begin(plan, NonZero::<usize>::MIN, Look::default())
    }

    fn resume(state: &[u8]) -> Result<Trainer, CodecError> {
        Trainer::resume(state, NonZero::<usize>::MIN, Look::default())
    }

    fn percent(percent: u8) -> Percent {
        Percent::new(percent).unwrap()
    }

    /// The usual method and each of the others, one at a time.
    fn methods() -> [Method; 11] {
        const DEFAULT: Method = Method::DEFAULT;
        [
            DEFAULT,
            Method { exploration: percent(30), ..DEFAULT },
            Method { lambda: percent(40), ..DEFAULT },
            Method { first_step: percent(50), ..DEFAULT },
            Method { last_step: percent(80), ..DEFAULT },
            Method { average_over: 2000, ..DEFAULT },
            Method { play_by: Tables::Current, ..DEFAULT },
            Method { targets_by: Tables::Average, ..DEFAULT },
            Method { restarts: percent(50), ..DEFAULT },
            Method { openings: Openings { share: percent(50), plies: 10 }, ..DEFAULT },
            Method { late_search: percent(100), ..DEFAULT },
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
            .map(|play_by| begin(TrainingPlan { method: Method { play_by, ..Method::DEFAULT }, ..PLAN }));
        (0..2).for_each(|_| drop((average.step().unwrap(), current.step().unwrap())));
        let exact = |run: &Trainer| Weights::round(run.members[0].learner.network()).to_bytes();
        assert_eq!(exact(&average), exact(&current), "they learn alike");
        assert_eq!(current.product(), exact(&current));
        assert_ne!(average.product(), exact(&average));
    }

    #[test]
    fn lost_advantages_are_kept_only_if_games_begin_there() {
        let restarting = Method { restarts: percent(20), ..Method::DEFAULT };
        for (method, is_kept) in [(Method::DEFAULT, false), (restarting, true)] {
            let mut run = begin(TrainingPlan { method, ..PLAN });
            (0..3).for_each(|_| drop(run.step().unwrap()));
            assert_eq!(run.members[0].restarts != Restarts::default(), is_kept);
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
        let wished = TrainingPlan { tuples: 30, cells: 8, ..TRIO };
        let kept = Trainer::begin_with(&weights, wished, NonZero::<usize>::MIN, Look::default()).plan;
        assert_eq!((kept.tuples, kept.cells), (PLAN.tuples, PLAN.cells), "those of the network");
        assert_eq!(kept.members, NonZero::<usize>::MIN);
    }

    /// The plan of a single network with the seed of this member, which learns from as many games.
    fn alone(plan: TrainingPlan, member: usize) -> TrainingPlan {
        let games = plan.games.div_ceil(plan.members.get() as u64);
        let seed = plan.seeds().nth(member).unwrap();
        let openings = plan.openings().nth(member).unwrap();
        let method = Method { openings, ..plan.method };
        TrainingPlan { members: NonZero::<usize>::MIN, games, seed, method, ..plan }
    }

    #[test]
    fn members_learn_as_if_they_were_alone_and_the_bot_plays_by_their_mean() {
        let mut trio = begin(TRIO);
        (0..6).for_each(|_| drop(trio.step().unwrap()));
        assert_eq!(trio.games(), 6 * GAMES);
        let singles = [0, 1, 2].map(|member| {
            let mut single = begin(alone(TRIO, member));
            (0..2).for_each(|_| drop(single.step().unwrap()));
            Arc::clone(single.weights())
        });
        let tuples: Vec<_> = singles.iter().flat_map(|single| single.shape().tuples()).copied().collect();
        assert_eq!(trio.weights().shape().tuples(), tuples);
        for side in Side::BOTH {
            let all = singles.iter().flat_map(|single| single.table(side));
            for (mean, single) in trio.weights().table(side).iter().zip(all) {
                assert!((mean * 3).abs_diff(*single) <= 2, "{mean} of {single}, but for rounding");
            }
        }
    }

    #[test]
    fn a_run_of_several_members_goes_on_from_where_it_stopped() {
        let mut whole = begin(TRIO);
        (0..5).for_each(|_| drop(whole.step().unwrap()));
        let mut parts = begin(TRIO);
        for _ in 0..5 {
            parts.step().unwrap();
            parts = resume(&parts.state()).unwrap();
        }
        assert_eq!(parts.plan, TRIO);
        assert!(parts.state() == whole.state() && parts.product() == whole.product());
        let game = Game::from_moves(Variant::STANDARD, "4455667").unwrap();
        parts.study(&game, Some(Side::First)).unwrap();
        assert_eq!(parts.games(), 5 * GAMES + 1, "one game for all of them");
        assert_eq!(resume(&parts.state()).unwrap().games(), parts.games());
    }

    #[test]
    fn a_broken_state_is_refused() {
        let mut state = begin(PLAN).state();
        assert_eq!(resume(&begin(PLAN).product()).unwrap_err(), CodecError::OtherKind);
        *state.last_mut().unwrap() ^= 1;
        assert_eq!(resume(&state).unwrap_err(), CodecError::Checksum);
    }
}
