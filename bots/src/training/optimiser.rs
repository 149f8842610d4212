//! How the scorer of the 69 lines tunes itself, by games against itself.

use std::fmt;

use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::{BySide, Position, Side, SideResult, Variant, WinDrawLoss};
use rand::RngExt;

use crate::bot::{Bot, BotError};
use crate::lines69::{Lines69, Parameters};
use crate::registry;
use crate::self_play;
use crate::spec::BotSpec;
use crate::training_run::{Notes, TrainingError, TrainingRun};

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
    /// Games of all matches so far.
    pub played: u64,
    pub seed: u64,
}

/// One candidate and how it fared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// Number of the candidate, from 0.
    pub number: u64,
    pub candidate: Parameters,
    pub against_default: WinDrawLoss,
    /// `None` if it did not beat the default set.
    pub against_current: Option<WinDrawLoss>,
}

impl Trial {
    /// Whether the candidate became the current set.
    pub fn is_accepted(&self) -> bool {
        self.against_current.is_some_and(WinDrawLoss::is_won)
    }

    fn games(&self) -> u64 {
        self.against_default.games() + self.against_current.map_or(0, WinDrawLoss::games)
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, candidate, against_default, against_current } = self;
        write!(
            formatter,
            "candidate {number}, {}: {against_default} against the default set",
            candidate.to_spec()
        )?;
        if let Some(score) = against_current {
            let verdict = if self.is_accepted() { "accepted" } else { "not accepted" };
            write!(formatter, ", {score} against the current one: {verdict}")?;
        }
        Ok(())
    }
}

impl Optimiser {
    /// Games a match on the original page.
    pub const GAMES: u32 = 100;

    /// A run from the beginning.
    pub fn new(default: Parameters, seed: u64) -> Self {
        Self { default, current: default, next: 0, games: Self::GAMES, played: 0, seed }
    }

    /// A run from the beginning, with the settings of `spec` as the default set.
    ///
    /// # Errors
    ///
    /// Fails if the settings are not allowed.
    pub fn begin(spec: &BotSpec, seed: u64) -> Result<Self, BotError> {
        Ok(Self::new(registry::lines69_parameters(spec)?, seed))
    }

    /// A run as [`TrainingRun::state`] left it.
    ///
    /// # Errors
    ///
    /// Fails if something is missing or makes no sense.
    pub fn resume(state: &[u8]) -> Result<Self, TrainingError> {
        let notes = Notes::from_bytes(state);
        let parameters = |name: &str| {
            let spec: BotSpec = notes.value(name)?;
            let unreadable = |_| TrainingError::Unreadable { name: name.to_owned(), value: spec.to_string() };
            registry::lines69_parameters(&spec).map_err(unreadable)
        };
        Ok(Self {
            default: parameters("default")?,
            current: parameters("current")?,
            next: notes.value("candidates")?,
            games: notes.value("games_per_match")?,
            played: notes.value("games")?,
            seed: notes.value("seed")?,
        })
    }

    /// Draws the next candidate and plays its matches: some milliseconds.
    pub fn try_next(&mut self) -> Trial {
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
        self.played += trial.games();
        trial
    }

    fn draw(&self, rng: &mut GameRng) -> Parameters {
        let mut draw = || rng.random_range(WEIGHTS);
        let (v, h, d, n) = (draw(), draw(), draw(), draw());
        Parameters { v, h, d, n, ..self.default }
    }

    /// The result for `candidate`.
    fn play_match(&self, candidate: Parameters, opponent: Parameters, rng: &mut GameRng) -> WinDrawLoss {
        let mut score = WinDrawLoss::default();
        for side in Side::BOTH.into_iter().cycle().take(self.games as usize) {
            let players = BySide::from_fn(|seat| {
                let parameters = if seat == side { candidate } else { opponent };
                let player = Lines69::new(parameters, Variant::STANDARD, rng.random());
                move |position: &Position| player.best(position).expect("the game goes on").0
            });
            score.count(SideResult::of(side, self_play::play(Variant::STANDARD, players)));
        }
        score
    }
}

impl TrainingRun for Optimiser {
    fn games(&self) -> u64 {
        self.played
    }

    fn step(&mut self) -> Result<String, BotError> {
        Ok(self.try_next().to_string())
    }

    fn bot(&self, seed: u64) -> Box<dyn Bot> {
        Box::new(Lines69::new(self.current, Variant::STANDARD, seed))
    }

    fn summary(&self) -> String {
        format!("{} candidates, {}", self.next, self.current.to_spec())
    }

    /// The bot with the current set, as it is written where a bot is asked for.
    fn product(&self) -> Vec<u8> {
        format!("{}\n", self.current.to_spec()).into_bytes()
    }

    fn state(&self) -> Vec<u8> {
        Notes::default()
            .with("seed", self.seed)
            .with("games", self.played)
            .with("candidates", self.next)
            .with("games_per_match", self.games)
            .with("default", self.default.to_spec())
            .with("current", self.current.to_spec())
            .to_bytes()
    }
}

/// Tries this many candidates and returns the current set; `log` sees every trial. Equal arguments give equal
/// results.
pub fn optimise(default: Parameters, candidates: u64, seed: u64, mut log: impl FnMut(&Trial)) -> Parameters {
    let mut optimiser = Optimiser::new(default, seed);
    for _ in 0..candidates {
        log(&optimiser.try_next());
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
        let first = [optimiser.try_next(), optimiser.try_next()];
        let mut resumed = Optimiser::resume(&optimiser.state()).unwrap();
        let second = [resumed.try_next(), resumed.try_next()];
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
        let trial = Optimiser { games: 7, ..Optimiser::new(Parameters::default(), 5) }.try_next();
        let WinDrawLoss { wins, draws, losses } = trial.against_default;
        assert_eq!(wins + draws + losses, 7);
    }
}
