//! Simulated players, honest and helped.
//!
//! Games are played once, by levels against each other, and solved. A simulated player meets decisions of games of its
//! level, drawn again and again, and decides each anew.

use std::sync::atomic::AtomicBool;

use fourfold_bots::Level;
use fourfold_engine::review::Judge;
use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::solver::{SearchLimits, Solver};
use fourfold_engine::{Game, Variant};
use rand::RngExt;

use super::account::{Account, PLAN};
use super::decision::{Decided, Decision, decisions};
use super::yardstick::{BAND, Measure, Sample, Yardstick};

/// Games until a rating has gone two thirds of its way to a new strength.
const LAG: f64 = 15.0;

/// Points of rating between levels: any number would do, for a rating only says who is compared with whom.
const POINTS: f64 = 100.0;

/// Games of each of those whose games the yardstick is made of.
const PEOPLE_GAMES: usize = 30;

/// How a simulated player decides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// As its rating says.
    Steady,
    /// So many levels better than its rating.
    Underrated(f64),
    /// Four levels better after fifty games; the rating lags behind.
    Improving,
    /// Four levels worse in one game of three, and rated in between.
    Streaky,
    /// Who has seen a plan keeps to it.
    Planner,
    /// Perfect in so many of all moves.
    Helped(f64),
    /// Helped as often, but only where the own level would fail.
    HelpedWhereHard(f64),
}

/// What came of one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tried {
    /// After which game it was found.
    pub found_after: Option<u32>,
    pub decisions: u32,
}

/// Games that were played and solved: by level, by game, the decisions of one side.
#[derive(Debug)]
pub struct Pool {
    games: Vec<(u32, Vec<Vec<Decision>>)>,
    people: Yardstick,
}

impl Pool {
    /// Plays so many games of each of these levels against itself, and lets so many people of each play by them.
    pub fn new(levels: &[u32], games: u32, people: usize, seed: u64) -> Self {
        let mut judge = Judge::new(Solver::new());
        let rng = &mut rng::seeded(seed);
        let play = |&level: &u32| {
            let of_level = (0..games).filter_map(|_| play(level, &mut judge, rng));
            (level, of_level.flatten().collect())
        };
        let games = levels.iter().map(play).collect();
        let mut pool = Self { games, people: Yardstick::default() };
        pool.people = pool.yardstick(people, &mut rng::seeded_stream(seed, 1));
        pool
    }

    /// What honest people make of it.
    #[expect(clippy::cast_possible_truncation, reason = "a rating")]
    fn yardstick(&self, people: usize, rng: &mut GameRng) -> Yardstick {
        let mut samples = Vec::new();
        for (index, (level, games)) in self.games.iter().enumerate() {
            let level = f64::from(*level);
            for player in 0..people * PEOPLE_GAMES {
                for decision in &games[rng.random_range(0..games.len())] {
                    samples.push(Sample {
                        player: index * people + player / PEOPLE_GAMES,
                        rating: (level * POINTS) as i32,
                        decision,
                        kept: rng.random::<f64>() >= decision.fail_at(level),
                    });
                }
            }
        }
        Yardstick::new(&samples)
    }

    /// Levels that have games.
    pub fn levels(&self) -> impl Iterator<Item = u32> {
        self.games.iter().map(|(level, _)| *level)
    }

    /// Lets a player of a level play so many rated games.
    #[expect(clippy::cast_possible_truncation, reason = "a rating")]
    pub fn try_player(&self, level: u32, kind: Kind, games: u32, rng: &mut GameRng) -> Tried {
        let Some((_, pool)) = self.games.iter().find(|(of, _)| *of == level) else {
            return Tried { found_after: None, decisions: 0 };
        };
        let rise = self.rise(pool, level, kind);
        let mut account = Account::default();
        let mut found_after = None;
        let mut held: Option<(i32, Measure<'_>)> = None;
        for game in 0..games {
            let strength = strength(f64::from(level), kind, game, rng);
            let rated =
                f64::from(level) + rise * (1.0 - (-f64::from(game) / LAG).exp()) + lagging(kind, game);
            let decided = decide(&pool[rng.random_range(0..pool.len())], strength, kind, rng);
            let band = ((rated * POINTS) as i32).div_euclid(BAND);
            let (_, measure) = held
                .filter(|(of, _)| *of == band)
                .unwrap_or_else(|| (band, self.people.measure(usize::MAX, band * BAND)));
            held = Some((band, measure));
            account.add(measure, &decided);
            if account.is_found() && found_after.is_none() {
                found_after = Some(game + 1);
            }
        }
        Tried { found_after, decisions: account.decisions }
    }

    /// By how many levels help makes a player stronger: its rating goes there.
    fn rise(&self, pool: &[Vec<Decision>], level: u32, kind: Kind) -> f64 {
        let (Kind::Helped(help) | Kind::HelpedWhereHard(help)) = kind else { return 0.0 };
        let all = |level: u32| -> f64 {
            pool.iter().flatten().map(|decision| decision.fail_at(f64::from(level))).sum()
        };
        let aim = (1.0 - share(kind, help)) * all(level);
        let equal = (level..Level::MAX).find(|&higher| all(higher) <= aim).unwrap_or(Level::MAX);
        let highest = self.levels().max().unwrap_or(level);
        f64::from(equal.min(highest) - level)
    }
}

/// Moves for each in which the own level may well fail: help that goes to those alone reaches so many times more.
const MOVES_PER_HARD: f64 = 4.0;

/// From which chance of failing on somebody asks for help, if not everywhere.
const ASKS: f64 = 0.15;

/// How many of the decisions that can be failed are helped in.
fn share(kind: Kind, help: f64) -> f64 {
    if matches!(kind, Kind::HelpedWhereHard(_)) { (help * MOVES_PER_HARD).min(1.0) } else { help }
}

fn strength(level: f64, kind: Kind, game: u32, rng: &mut GameRng) -> f64 {
    match kind {
        Kind::Underrated(levels) => level + levels,
        Kind::Improving => level + 4.0 * (f64::from(game) / 50.0).min(1.0),
        Kind::Streaky => level + if rng.random_range(0..3) == 0 { -2.7 } else { 1.3 },
        Kind::Steady | Kind::Planner | Kind::Helped(_) | Kind::HelpedWhereHard(_) => level,
    }
}

/// How far the rating of one who improves has come: some fifteen games behind.
fn lagging(kind: Kind, game: u32) -> f64 {
    if kind == Kind::Improving { 4.0 * ((f64::from(game) - LAG).max(0.0) / 50.0).min(1.0) } else { 0.0 }
}

fn decide(game: &[Decision], strength: f64, kind: Kind, rng: &mut GameRng) -> Vec<Decided> {
    let mut plan_until = 0;
    let decide = |decision: &Decision| {
        let fail = decision.fail_at(strength);
        let helped = match kind {
            Kind::Helped(help) => help,
            Kind::HelpedWhereHard(help) if fail >= ASKS => share(kind, help),
            _ => 0.0,
        };
        let planned = kind == Kind::Planner && decision.ply < plan_until;
        let kept = planned || rng.random::<f64>() < helped || rng.random::<f64>() >= fail;
        if kept && !planned {
            plan_until = decision.ply + PLAN;
        }
        // Each is met for the first time: people meet more positions than the pool has.
        Decided { decision: Decision { key: rng.random(), ..decision.clone() }, kept }
    };
    game.iter().map(decide).collect()
}

/// A game of a level against itself: the decisions of both sides.
fn play(level: u32, judge: &mut Judge, rng: &mut GameRng) -> Option<[Vec<Decision>; 2]> {
    let never = AtomicBool::new(false);
    let limits = SearchLimits { nodes: None, stop: &never };
    let mut game = Game::new(Variant::STANDARD);
    let mut all = Vec::new();
    while game.outcome().is_none() {
        let scores = judge.column_scores(game.position(), limits).ok()?.value;
        let column = Level::new(level)?.choose(game.position(), &scores, rng)?;
        all.push(scores);
        game.play(column).ok()?;
    }
    let found = decisions(&game, 0, &all);
    let own = |side: Vec<Decided>| side.into_iter().map(|decided| decided.decision).collect();
    Some([own(found.first), own(found.second)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_helped_are_found_and_the_honest_are_not() {
        let pool = Pool::new(&[4, 6, 8, 10, 12], 8, 10, 1);
        let rng = &mut rng::seeded(2);
        let mut found = |kind, players| {
            let tried = (0..players).map(|_| pool.try_player(6, kind, 50, rng));
            tried.filter(|tried| tried.found_after.is_some()).count()
        };
        for kind in [Kind::Steady, Kind::Streaky, Kind::Improving, Kind::Underrated(1.0)] {
            assert_eq!(found(kind, 500), 0, "{kind:?}");
        }
        let (little, much) = (found(Kind::Helped(0.1), 50), found(Kind::Helped(1.0), 50));
        assert!(much > 25 && little < much, "{little} {much}");
    }

    #[test]
    fn nobody_is_held_against_people_who_are_not_there() {
        let pool = Pool::new(&[6], 4, 4, 1);
        let tried = pool.try_player(6, Kind::Helped(1.0), 50, &mut rng::seeded(3));
        assert_eq!(tried, Tried { found_after: None, decisions: 0 }, "four are too few");
    }
}
