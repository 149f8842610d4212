//! Ratings of everybody from all games at once.
//!
//! The likelihood of the results is made as large as possible over the strengths of all players and the advantage of
//! the first move together, with draws as half points (the model of Ordo and, but for the draw rule, of `BayesElo`). A
//! small Gaussian prior keeps players finite who won or lost everything, and barely moves anybody else.
//!
//! The errors come from the full covariance, so that differences between any two players have the right one. The two
//! games of a pair are not independent: both depend on the opening. The spread that pairs really have enters the
//! covariance (the sandwich of Huber and White), weighed against the model's own where few games say much about it.

mod groups;
mod matrix;

use self::matrix::Symmetric;
use super::elo::POINTS;
use super::normal;
use super::real;

pub use self::groups::{Warning, warnings};

/// Standard deviation of the prior on strengths, in points.
const PRIOR_STRENGTH: f64 = 800.0;

/// Standard deviation of the prior on the advantage of the first move, in points.
const PRIOR_ADVANTAGE: f64 = 300.0;

/// So many games' worth of information weigh the spread of pairs as much as the model's.
const SPREAD_TRUSTED: f64 = 5.0;

/// Newton steps at most; six are usual.
const STEPS_MAX: u32 = 60;

/// A step that moves nobody by more than this, in natural units, is the last: a hundred-thousandth of a point.
const STEP_MIN: f64 = 1e-7;

/// The longest step in natural units; a longer one is shortened.
const STEP_MAX: f64 = 3.0;

/// How a game ended for one of two players.
pub const LOSS: usize = 0;
pub const DRAW: usize = 1;
pub const WIN: usize = 2;

/// Points by ending.
const POINTS_OF: [f64; 3] = [0.0, 0.5, 1.0];

/// All games between two players.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FitMeeting {
    pub a: usize,
    pub b: usize,
    /// Pairs of games, by how `a` did in the game that it began, and in the other.
    pub pairs: [[u64; 3]; 3],
    /// Games without a second one, by how `a` did: those that it began, and those that `b` began.
    pub singles: [[u64; 3]; 2],
}

impl FitMeeting {
    /// The same games between players of these numbers, as the one with the lower number sees them.
    pub fn between(&self, a: usize, b: usize) -> Self {
        if a < b {
            return Self { a, b, ..*self };
        }
        let mut turned = Self { a: b, b: a, ..Self::default() };
        for own in [LOSS, DRAW, WIN] {
            for other in [LOSS, DRAW, WIN] {
                turned.pairs[WIN - other][WIN - own] = self.pairs[own][other];
            }
            turned.singles[1][WIN - own] = self.singles[0][own];
            turned.singles[0][WIN - own] = self.singles[1][own];
        }
        turned
    }

    pub fn pairs(&self) -> u64 {
        self.pairs.iter().flatten().sum()
    }

    pub fn games(&self) -> u64 {
        2 * self.pairs() + self.singles.iter().flatten().sum::<u64>()
    }
}

/// Ratings that are given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Anchor {
    pub player: usize,
    pub elo: f64,
}

/// The ratings of a field.
#[derive(Clone, Debug)]
pub struct Fit {
    /// In points; without an anchor their mean is 0.
    pub elo: Vec<f64>,
    /// Points that the first move is worth.
    pub first_move_advantage: f64,
    /// Of the ratings, in natural units.
    covariance: Symmetric,
}

impl Fit {
    /// Fits all games. With one anchor its rating is exact and the others are relative to it; with several, all of
    /// theirs are exact.
    pub fn new(players: usize, meetings: &[FitMeeting], anchors: &[Anchor]) -> Self {
        FitModel::new(players, meetings, anchors).solve()
    }

    /// Standard error of a rating, in points: against the anchor, or without one against the mean.
    pub fn error(&self, player: usize) -> f64 {
        POINTS * self.covariance.get(player, player).max(0.0).sqrt()
    }

    /// Half the width of the interval of a rating that holds 95 %.
    pub fn pm95(&self, player: usize) -> f64 {
        normal::Z95 * self.error(player)
    }

    /// Standard error of the difference between two ratings, in points.
    pub fn error_between(&self, a: usize, b: usize) -> f64 {
        let variance =
            self.covariance.get(a, a) + self.covariance.get(b, b) - 2.0 * self.covariance.get(a, b);
        POINTS * variance.max(0.0).sqrt()
    }

    /// Covariance of two ratings, in squared points; of a rating with itself its variance.
    pub fn covariance(&self, a: usize, b: usize) -> f64 {
        POINTS * POINTS * self.covariance.get(a, b)
    }

    /// The probability that `a` is stronger than `b`; 1/2 if nothing is known.
    pub fn los(&self, a: usize, b: usize) -> f64 {
        let error = self.error_between(a, b);
        if error > 0.0 { normal::cdf((self.elo[a] - self.elo[b]) / error) } else { 0.5 }
    }
}

/// The problem in natural units (log odds). The parameters are the players' strengths, then the advantage.
struct FitModel<'a> {
    players: usize,
    meetings: &'a [FitMeeting],
    /// Of each meeting, the sums that the slope depends on.
    totals: Vec<Totals>,
    /// Strengths that are not fitted: with several anchors, those of all of them.
    fixed: Vec<Option<f64>>,
    /// The one anchor to which everything is shifted at the end.
    shift_to: Option<Anchor>,
    /// Where the prior has its middle.
    centre: f64,
}

impl<'a> FitModel<'a> {
    fn new(players: usize, meetings: &'a [FitMeeting], anchors: &[Anchor]) -> Self {
        let mut fixed = vec![None; players];
        let mut centre = 0.0;
        let shift_to = if let [one] = anchors { Some(*one) } else { None };
        if anchors.len() > 1 {
            for anchor in anchors {
                fixed[anchor.player] = Some(anchor.elo / POINTS);
            }
            centre =
                anchors.iter().map(|anchor| anchor.elo / POINTS).sum::<f64>() / real(anchors.len() as u64);
        }
        let totals = meetings.iter().map(Totals::new).collect();
        Self { players, meetings, totals, fixed, shift_to, centre }
    }

    fn solve(&self) -> Fit {
        let mut at: Vec<f64> = self.fixed.iter().map(|fixed| fixed.unwrap_or(self.centre)).collect();
        at.push(0.0);
        let mut factors;
        let mut steps = 0;
        loop {
            let (gradient, curvature) = self.derivatives(&at);
            factors = curvature.cholesky();
            let step = factors.solve(&gradient);
            let longest = step.iter().fold(0.0_f64, |longest, part| longest.max(part.abs()));
            let scale = if longest > STEP_MAX { STEP_MAX / longest } else { 1.0 };
            at.iter_mut().zip(&step).for_each(|(value, part)| *value += scale * part);
            steps += 1;
            if longest < STEP_MIN || steps == STEPS_MAX {
                break;
            }
        }
        let advantage = at[self.players];
        let mut covariance = self.covariance(&at, &factors.inverse());
        let mut strengths = at;
        strengths.truncate(self.players);
        self.set_gauge(&mut strengths, &mut covariance);
        Fit {
            elo: strengths.iter().map(|strength| strength * POINTS).collect(),
            first_move_advantage: advantage * POINTS,
            covariance,
        }
    }

    /// Gradient and negative second derivatives of the log likelihood with the prior. Fixed players get a row of the
    /// identity, so that their step is zero.
    fn derivatives(&self, at: &[f64]) -> (Vec<f64>, Symmetric) {
        let h = self.players;
        let mut gradient = vec![0.0; h + 1];
        let mut curvature = Symmetric::zero(h + 1);
        for (meeting, totals) in self.meetings.iter().zip(&self.totals) {
            let (a, b) = (meeting.a, meeting.b);
            let chances = Chances::new(at[a] - at[b], at[h]);
            let (surprise, surprise_first) = totals.surprises(chances);
            gradient[a] += surprise;
            gradient[b] -= surprise;
            gradient[h] += surprise_first;
            totals.information(chances).add_to(&mut curvature, a, b, h);
        }
        let (precision, precision_h) = prior();
        for player in 0..self.players {
            gradient[player] -= precision * (at[player] - self.centre);
            curvature.add(player, player, precision);
        }
        gradient[h] -= precision_h * at[h];
        curvature.add(h, h, precision_h);
        for (player, fixed) in self.fixed.iter().enumerate() {
            if fixed.is_some() {
                gradient[player] = 0.0;
                curvature.isolate(player);
            }
        }
        (gradient, curvature)
    }

    /// Covariance of all parameters: the inverse curvature around the spread that was seen.
    fn covariance(&self, at: &[f64], inverse_curvature: &Symmetric) -> Symmetric {
        let h = self.players;
        let mut spread = Symmetric::zero(h + 1);
        for (meeting, totals) in self.meetings.iter().zip(&self.totals) {
            let (a, b) = (meeting.a, meeting.b);
            let chances = Chances::new(at[a] - at[b], at[h]);
            let model = totals.information(chances);
            let trust = model.difference / (model.difference + SPREAD_TRUSTED);
            model.mix(&seen(meeting, chances), trust).add_to(&mut spread, a, b, h);
        }
        let (precision, precision_h) = prior();
        (0..self.players).for_each(|player| spread.add(player, player, precision));
        spread.add(h, h, precision_h);
        for (player, fixed) in self.fixed.iter().enumerate() {
            if fixed.is_some() {
                spread.clear(player);
            }
        }
        inverse_curvature.around(&spread)
    }

    /// Makes ratings and covariance relative to the one anchor, or to the mean.
    fn set_gauge(&self, strengths: &mut [f64], covariance: &mut Symmetric) {
        let (offset, weights) = if let Some(anchor) = self.shift_to {
            let mut weights = vec![0.0; self.players];
            weights[anchor.player] = 1.0;
            (anchor.elo / POINTS - strengths[anchor.player], weights)
        } else if self.fixed.iter().any(Option::is_some) || self.players == 0 {
            return;
        } else {
            let share = 1.0 / real(self.players as u64);
            (-strengths.iter().sum::<f64>() * share, vec![share; self.players])
        };
        for strength in strengths.iter_mut() {
            *strength += offset;
        }
        covariance.make_relative(&weights);
    }
}

/// Precisions of the priors on strengths and advantage, in natural units.
fn prior() -> (f64, f64) {
    ((POINTS / PRIOR_STRENGTH).powi(2), (POINTS / PRIOR_ADVANTAGE).powi(2))
}

/// Second moments along the difference of two players and along the advantage of the first move.
#[derive(Clone, Copy, Default, Debug)]
struct Moments {
    difference: f64,
    both: f64,
    advantage: f64,
}

impl Moments {
    /// Books a unit of observation: its surprise along both directions, so many times.
    fn book(&mut self, times: f64, difference: f64, advantage: f64) {
        self.difference += times * difference * difference;
        self.both += times * difference * advantage;
        self.advantage += times * advantage * advantage;
    }

    fn mix(self, seen: &Self, trust: f64) -> Self {
        let mix = |model: f64, seen: f64| model + trust * (seen - model);
        Self {
            difference: mix(self.difference, seen.difference),
            both: mix(self.both, seen.both),
            advantage: mix(self.advantage, seen.advantage),
        }
    }

    fn add_to(self, matrix: &mut Symmetric, a: usize, b: usize, h: usize) {
        matrix.add(a, a, self.difference);
        matrix.add(b, b, self.difference);
        matrix.add(a, b, -self.difference);
        matrix.add(a, h, self.both);
        matrix.add(b, h, -self.both);
        matrix.add(h, h, self.advantage);
    }
}

/// What `a` expects in the games that it began, and in the others.
#[derive(Clone, Copy, Debug)]
struct Chances {
    begun: f64,
    answered: f64,
}

impl Chances {
    fn new(difference: f64, advantage: f64) -> Self {
        Self { begun: expected(difference + advantage), answered: expected(difference - advantage) }
    }
}

/// Games of a meeting and points of `a`, by who began.
#[derive(Clone, Copy, Default, Debug)]
struct Totals {
    games_begun: f64,
    points_begun: f64,
    games_answered: f64,
    points_answered: f64,
}

impl Totals {
    fn new(meeting: &FitMeeting) -> Self {
        let mut totals = Self::default();
        for (own, row) in meeting.pairs.iter().enumerate() {
            for (other, &count) in row.iter().enumerate() {
                totals.games_begun += real(count);
                totals.points_begun += real(count) * POINTS_OF[own];
                totals.games_answered += real(count);
                totals.points_answered += real(count) * POINTS_OF[other];
            }
        }
        let [begun, answered] = meeting.singles;
        for ending in [LOSS, DRAW, WIN] {
            totals.games_begun += real(begun[ending]);
            totals.points_begun += real(begun[ending]) * POINTS_OF[ending];
            totals.games_answered += real(answered[ending]);
            totals.points_answered += real(answered[ending]) * POINTS_OF[ending];
        }
        totals
    }

    /// Points beyond what was expected: of `a`, and of whoever began.
    fn surprises(&self, chances: Chances) -> (f64, f64) {
        let begun = self.points_begun - self.games_begun * chances.begun;
        let answered = self.points_answered - self.games_answered * chances.answered;
        // Where b began, what a loses is the first side's.
        (begun + answered, begun - answered)
    }

    /// The variances that the model expects, which are the information.
    fn information(&self, chances: Chances) -> Moments {
        let begun = self.games_begun * chances.begun * (1.0 - chances.begun);
        let answered = self.games_answered * chances.answered * (1.0 - chances.answered);
        Moments { difference: begun + answered, both: begun - answered, advantage: begun + answered }
    }
}

/// The squares of the surprises that came up, pairs taken as one.
fn seen(meeting: &FitMeeting, chances: Chances) -> Moments {
    let mut seen = Moments::default();
    for own in [LOSS, DRAW, WIN] {
        let begun = POINTS_OF[own] - chances.begun;
        for other in [LOSS, DRAW, WIN] {
            let answered = POINTS_OF[other] - chances.answered;
            seen.book(real(meeting.pairs[own][other]), begun + answered, begun - answered);
        }
        let answered = POINTS_OF[own] - chances.answered;
        seen.book(real(meeting.singles[0][own]), begun, begun);
        seen.book(real(meeting.singles[1][own]), answered, -answered);
    }
    seen
}

/// The expected score at this difference in natural units.
fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

#[cfg(test)]
mod tests;
