//! One network of a run of self-play, with all that is its own.

use std::num::NonZero;
use std::thread;

use fourfold_engine::{Position, rng};

use super::codec::{ByteSource, CodecError, Sink};
use super::learner::NetworkLearner;
use super::openings::Openings;
use super::percent::Percent;
use super::plan::{Method, Tables, TrainingPlan};
use super::restarts::Restarts;
use super::self_play::SelfPlay;
use super::shape::NetworkShape;

/// A network that plays against itself, and learns from it alone.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) learner: NetworkLearner,
    /// Each of its games has its own stream of this seed.
    seed: u64,
    /// How its games begin, unless they begin where an advantage was lost.
    openings: Openings,
    /// Games of self-play, which is the number of the next.
    pub(super) played: u64,
    /// Where an advantage was lost.
    pub(super) restarts: Restarts,
}

impl Member {
    pub(super) fn new(learner: NetworkLearner, seed: u64, openings: Openings) -> Self {
        Self { learner, seed, openings, played: 0, restarts: Restarts::default() }
    }

    /// Plays and learns up to the next multiple of so many games, on these threads.
    pub(super) fn play_on(&mut self, games: u64, plan: &TrainingPlan, threads: NonZero<usize>) {
        // Up to the next round number, so that the average is taken at the same games however a run is cut.
        let end = (self.played / games + 1) * games;
        let lost = self.play_until(end, plan, threads);
        self.restarts.note(lost);
        self.played = end;
        self.learner.follow_self_play(end, plan.method.pace());
    }

    /// The weights by which it plays.
    pub(super) fn weights(&self, play_by: Tables) -> Vec<f32> {
        match play_by {
            Tables::Average => self.learner.average().weights(self.learner.network()),
            Tables::Current => self.learner.network().weights().collect(),
        }
    }

    /// Plays games up to this number. Returns where advantages were lost, in the order of the games.
    fn play_until(&self, end: u64, plan: &TrainingPlan, threads: NonZero<usize>) -> Vec<Position> {
        let mut lost = thread::scope(|scope| {
            let share = |worker| {
                let games = (self.played..end).skip(worker).step_by(threads.get());
                move || self.play(games, plan)
            };
            let others: Vec<_> = (1..threads.get()).map(|worker| scope.spawn(share(worker))).collect();
            let mut lost = share(0)();
            for other in others {
                lost.extend(other.join().expect("a thread that plays does not panic"));
            }
            lost
        });
        lost.sort_unstable_by_key(|(number, _)| *number);
        lost.into_iter().map(|(_, position)| position).collect()
    }

    /// Plays the games of these numbers. Returns where advantages were lost, with the numbers of the games, if others
    /// are to begin there.
    fn play(&self, games: impl Iterator<Item = u64>, plan: &TrainingPlan) -> Vec<(u64, Position)> {
        let Method { targets_by, restarts, .. } = plan.method;
        let network = self.learner.network();
        let teacher = match targets_by {
            Tables::Current => None,
            Tables::Average => Some(self.learner.average()),
        };
        let mut playing = SelfPlay::new(network, teacher);
        let mut lost = Vec::new();
        for number in games {
            let restart = self.restarts.begin(restarts, self.seed, number);
            let begin = restart.unwrap_or_else(|| self.openings.begin(self.seed, number));
            let manner = plan.manner(number, network.layout.features());
            let after = playing.play(begin, manner, &mut rng::seeded_stream(self.seed, number));
            lost.extend(after.filter(|_| restarts > Percent::ZERO).map(|position| (number, position)));
        }
        lost
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.played);
        self.restarts.write(sink);
        self.learner.write(sink);
    }

    pub(super) fn read(
        source: &mut ByteSource<'_>,
        shape: NetworkShape,
        seed: u64,
        openings: Openings,
    ) -> Result<Self, CodecError> {
        let played = source.varint()?;
        let restarts = Restarts::read(source)?;
        let learner = NetworkLearner::read(source, shape)?;
        Ok(Self { learner, seed, openings, played, restarts })
    }
}
