//! How the scorer tunes itself, by games against itself.

use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::{BySide, Position, Side, Variant};
use rand::RngExt;

use super::{Lines69, Parameters};
use crate::self_play::{self, Tally};

/// Weights v, h, d and n are drawn from this range.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// Draws sets of parameters and keeps one that beats both the default and the current set.
///
/// From the 69-line network page: a candidate plays a match against the fixed default set and, if it wins, one
/// against the current set; if it wins again, it is the current set from then on. x and r stay as they are.
/// Each candidate has its own stream of the seed, so a run goes on from `next` and `current` as if it had
/// never stopped.
#[derive(Clone, PartialEq, Debug)]
pub struct Optimiser {
    pub default: Parameters,
    pub current: Parameters,
    /// Number of the next candidate, from 0.
    pub next: u64,
    /// Games a match; the seats alternate from game to game.
    pub games: u32,
    pub seed: u64,
}

/// One candidate and how it fared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// Number of the candidate, from 0.
    pub number: u64,
    pub candidate: Parameters,
    pub against_default: Tally,
    /// `None` if it did not beat the default set.
    pub against_current: Option<Tally>,
}

impl Trial {
    /// Whether the candidate became the current set.
    pub fn is_accepted(&self) -> bool {
        self.against_current.is_some_and(Tally::is_won)
    }
}

impl Optimiser {
    /// Games a match on the original page.
    pub const GAMES: u32 = 100;

    /// A run from the beginning.
    pub fn new(default: Parameters, seed: u64) -> Self {
        Self { default, current: default, next: 0, games: Self::GAMES, seed }
    }

    /// Draws the next candidate and plays its matches: some milliseconds.
    pub fn step(&mut self) -> Trial {
        let number = self.next;
        let mut rng = rng::seeded_stream(self.seed, number);
        let candidate = self.draw(&mut rng);
        let against_default = self.play_match(candidate, self.default, &mut rng);
        let against_current =
            against_default.is_won().then(|| self.play_match(candidate, self.current, &mut rng));
        let trial = Trial { number, candidate, against_default, against_current };
        if trial.is_accepted() {
            self.current = candidate;
        }
        self.next += 1;
        trial
    }

    fn draw(&self, rng: &mut GameRng) -> Parameters {
        let mut draw = || rng.random_range(WEIGHTS);
        let (v, h, d, n) = (draw(), draw(), draw(), draw());
        Parameters { v, h, d, n, ..self.default }
    }

    /// The result for `candidate`.
    fn play_match(&self, candidate: Parameters, opponent: Parameters, rng: &mut GameRng) -> Tally {
        let mut tally = Tally::default();
        for side in Side::BOTH.into_iter().cycle().take(self.games as usize) {
            let players = BySide::from_fn(|seat| {
                let parameters = if seat == side { candidate } else { opponent };
                let player = Lines69::new(parameters, Variant::STANDARD, rng.random());
                move |position: &Position| player.best(position).expect("the game goes on").0
            });
            tally.count(side, self_play::play(Variant::STANDARD, players));
        }
        tally
    }
}

/// Tries this many candidates and returns the current set; `log` sees every trial. Equal arguments give equal
/// results.
pub fn optimise(default: Parameters, candidates: u64, seed: u64, mut log: impl FnMut(&Trial)) -> Parameters {
    let mut optimiser = Optimiser::new(default, seed);
    for _ in 0..candidates {
        log(&optimiser.step());
    }
    optimiser.current
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(candidates: u64, seed: u64) -> (Parameters, Vec<Trial>) {
        let mut trials = Vec::new();
        let parameters = optimise(Parameters::default(), candidates, seed, |trial| trials.push(*trial));
        (parameters, trials)
    }

    #[test]
    fn a_seed_repeats_a_run() {
        assert_eq!(run(4, 1), run(4, 1));
        assert_ne!(run(4, 1).1, run(4, 2).1);
    }

    #[test]
    fn a_run_goes_on_from_where_it_stopped() {
        let mut optimiser = Optimiser::new(Parameters::default(), 1);
        let first = [optimiser.step(), optimiser.step()];
        let mut resumed = Optimiser { next: 2, current: optimiser.current, ..optimiser };
        let second = [resumed.step(), resumed.step()];
        assert_eq!(run(4, 1), (resumed.current, [first, second].concat()));
    }

    #[test]
    fn a_candidate_has_to_win_twice() {
        let (parameters, trials) = run(40, 3);
        let mut current = Parameters::default();
        for trial in &trials {
            let Parameters { x, v, h, d, r, n } = trial.candidate;
            assert_eq!((x, r), (4.0, 2.0), "x and r stay");
            assert!([v, h, d, n].iter().all(|weight| WEIGHTS.contains(weight)));
            assert_eq!(trial.against_default.is_won(), trial.against_current.is_some());
            if trial.is_accepted() {
                current = trial.candidate;
            }
        }
        assert_eq!(parameters, current);
        assert_ne!(parameters, Parameters::default(), "of forty candidates one is better");
    }

    #[test]
    fn a_match_is_played_in_full_with_alternating_seats() {
        let trial = Optimiser { games: 7, ..Optimiser::new(Parameters::default(), 5) }.step();
        let Tally { wins, draws, losses } = trial.against_default;
        assert_eq!(wins + draws + losses, 7);
    }
}
