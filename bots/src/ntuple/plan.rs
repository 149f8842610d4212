//! What a run of self-play is, and how it learns: all that may be chosen about it.

use std::fmt;
use std::num::NonZero;
use std::str::FromStr;

use super::average::AveragePace;
use super::codec::{ByteSource, CodecError, Sink};
use super::openings::Openings;
use super::percent::Percent;
use super::self_play::{Manner, Sight};

/// What a run is, from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrainingPlan {
    /// Tuples of a network.
    pub tuples: usize,
    /// Cells of a tuple.
    pub cells: u32,
    /// Networks that learn one beside the other, each with tuples and games of its own; what plays is their mean.
    pub members: NonZero<usize>,
    /// Games over which the steps shrink, geometrically; after that they stay small. Members share them.
    pub games: u64,
    /// Draws the tuples and the games.
    pub seed: u64,
    pub method: Method,
}

/// How a run learns. Each setting but [`Method::DEFAULT`]'s is an idea that was tried; `docs/ntuple.md` has what it
/// gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    /// Share of moves that are drawn. Less makes the second player worse.
    pub exploration: Percent,
    /// Weight of what comes out later against the next value.
    pub lambda: Percent,
    /// The sum of all steps of a visited position in the first game, not 0: each of its weights, two for each tuple,
    /// takes its share.
    pub first_step: Percent,
    /// The same in the last game of the plan, not 0.
    pub last_step: Percent,
    /// Games that the average remembers, at least [`Method::AVERAGE_OVER_MIN`].
    pub average_over: u64,
    /// The weights that play when it has learnt.
    pub play_by: Tables,
    /// The weights by which the best move is valued, to learn from.
    pub targets_by: Tables,
    /// Share of games that begin where an advantage was lost.
    pub restarts: Percent,
    /// Of all others, those that begin with random moves. Of several members only every second has such games.
    pub openings: Openings,
    /// Share of the plan's games, the last ones, in which moves are valued by the best reply to them. These values come
    /// from the weights that learn, whatever `targets_by` says.
    pub late_search: Percent,
}

/// One of the two networks of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tables {
    /// The weights as the last game left them.
    Current,
    /// Their running average.
    Average,
}

/// Why a text names no [`Tables`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the weights are either `current` or `average`")]
pub struct TablesError;

impl TrainingPlan {
    /// About a minute on one core. More tuples took longer for each game and made it no better in that time.
    pub const DEFAULT: Self = Self {
        tuples: 200,
        cells: 8,
        members: NonZero::<usize>::MIN,
        games: 1_000_000,
        seed: 1,
        method: Method::DEFAULT,
    };

    /// How the games of each member begin. Who has random openings errs less in what others bring about, and more often
    /// in the few lines that matter against a perfect player; the mean of both kinds has the better of each.
    pub(super) fn openings(&self) -> impl Iterator<Item = Openings> {
        let Self { members, method: Method { openings, .. }, .. } = *self;
        let has_openings = move |member: usize| members == NonZero::<usize>::MIN || member % 2 == 1;
        (0..members.get()).map(move |member| if has_openings(member) { openings } else { Openings::NONE })
    }

    /// The seed of each member. The first has that of the run; the others' are far away, so that no two runs with small
    /// seeds have a member in common.
    pub(super) fn seeds(&self) -> impl Iterator<Item = u64> {
        /// The golden ratio as a fraction of 2^64.
        const APART: u64 = 0x9E37_79B9_7F4A_7C15;
        let seed = self.seed;
        (0..self.members.get() as u64).map(move |member| seed.wrapping_add(member.wrapping_mul(APART)))
    }

    /// How the game of this number is played and learnt from by a member of so many features.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a step may be rounded")]
    pub(super) fn manner(&self, game: u64, features: usize) -> Manner {
        let Method { exploration, lambda, first_step, last_step, late_search, .. } = self.method;
        let [first, last] = [first_step, last_step].map(|step| f64::from(step.number()) / 100.0);
        let games = self.games.div_ceil(self.members.get() as u64);
        let done = (game as f64 / games.max(1) as f64).min(1.0);
        let step = (first * (last / first).powf(done) / features as f64) as f32;
        let is_late = done >= 1.0 - f64::from(late_search.number()) / 100.0 && late_search > Percent::ZERO;
        let sight = if is_late { Sight::Replies } else { Sight::Moves };
        Manner { exploration: exploration.share(), lambda: lambda.share(), step, sight }
    }
}

impl Method {
    /// How a run learns unless something else is said.
    pub const DEFAULT: Self = Self {
        exploration: Percent::of(10),
        lambda: Percent::of(70),
        first_step: Percent::of(80),
        last_step: Percent::of(16),
        average_over: 20_000,
        play_by: Tables::Average,
        targets_by: Tables::Current,
        restarts: Percent::ZERO,
        openings: Openings::NONE,
        late_search: Percent::ZERO,
    };

    /// Games after which the average takes a step, some hundredths of a second, and fewest that it can remember.
    pub const AVERAGE_OVER_MIN: u64 = 1000;

    #[expect(clippy::cast_precision_loss, reason = "a share may be rounded")]
    pub(super) fn pace(&self) -> AveragePace {
        let games = Self::AVERAGE_OVER_MIN;
        AveragePace { games, share: games as f32 / self.average_over as f32 }
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        let Self { exploration, lambda, first_step, last_step, restarts, late_search, openings, .. } = self;
        for percent in [exploration, lambda, first_step, last_step, restarts, late_search, &openings.share] {
            sink.varint(percent.number().into());
        }
        sink.varint(openings.plies.into());
        sink.varint(self.average_over);
        for tables in [self.play_by, self.targets_by] {
            sink.varint(match tables {
                Tables::Current => 0,
                Tables::Average => 1,
            });
        }
    }

    pub(super) fn read(source: &mut ByteSource<'_>) -> Result<Self, CodecError> {
        const BROKEN: CodecError = CodecError::Field { name: "method" };
        let mut percent = || {
            let number = u8::try_from(source.varint()?).map_err(|_| BROKEN)?;
            Percent::new(number).ok_or(BROKEN)
        };
        let [exploration, lambda, first_step] = [percent()?, percent()?, percent()?];
        let [last_step, restarts, late_search] = [percent()?, percent()?, percent()?];
        let share = percent()?;
        let plies = u32::try_from(source.varint()?).map_err(|_| BROKEN)?;
        let openings = Openings { share, plies };
        let average_over = source.varint()?;
        let mut tables = || match source.varint()? {
            0 => Ok(Tables::Current),
            1 => Ok(Tables::Average),
            _ => Err(BROKEN),
        };
        let [play_by, targets_by] = [tables()?, tables()?];
        let is_good = first_step.min(last_step) > Percent::ZERO && average_over >= Self::AVERAGE_OVER_MIN;
        let is_good = is_good && (1..=Openings::PLIES_MAX).contains(&plies);
        let method = Self {
            exploration,
            lambda,
            first_step,
            last_step,
            average_over,
            play_by,
            targets_by,
            restarts,
            openings,
            late_search,
        };
        is_good.then_some(method).ok_or(BROKEN)
    }
}

impl FromStr for Tables {
    type Err = TablesError;

    fn from_str(text: &str) -> Result<Self, TablesError> {
        match text {
            "current" => Ok(Self::Current),
            "average" => Ok(Self::Average),
            _ => Err(TablesError),
        }
    }
}

impl fmt::Display for Tables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Current => "current",
            Self::Average => "average",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::NetworkShape;
    use super::*;

    const KIND: super::super::codec::CodecFormat =
        super::super::codec::CodecFormat { kind: *b"F4TESTED", version: 1 };

    fn percent(percent: u8) -> Percent {
        Percent::new(percent).unwrap()
    }

    fn read_again(method: Method) -> Result<Method, CodecError> {
        let mut sink = Sink::new(KIND, &NetworkShape::draw(3, 4, 1));
        method.write(&mut sink);
        let bytes = sink.finish();
        let (mut source, _) = ByteSource::open(&bytes, KIND)?;
        let method = Method::read(&mut source)?;
        source.finish()?;
        Ok(method)
    }

    #[test]
    fn a_method_survives_and_one_that_makes_no_sense_is_refused() {
        let other = Method {
            exploration: percent(5),
            lambda: percent(0),
            first_step: percent(100),
            last_step: percent(1),
            average_over: 123_456,
            play_by: Tables::Current,
            targets_by: Tables::Average,
            restarts: percent(20),
            openings: Openings { share: percent(90), plies: 10 },
            late_search: percent(30),
        };
        for method in [Method::DEFAULT, other] {
            assert_eq!(read_again(method), Ok(method));
        }
        let bad = [
            Method { lambda: Percent::BROKEN, ..other },
            Method { last_step: Percent::ZERO, ..other },
            Method { average_over: 999, ..other },
            Method { openings: Openings { plies: 25, ..other.openings }, ..other },
        ];
        for method in bad {
            assert_eq!(read_again(method), Err(CodecError::Field { name: "method" }), "{method:?}");
        }
    }

    #[test]
    fn steps_shrink_geometrically_and_then_stay() {
        let plan = TrainingPlan { games: 100, ..TrainingPlan::DEFAULT };
        let step = |game| plan.manner(game, 10).step;
        assert!((step(0) - 0.08).abs() < 1e-6);
        assert!((step(50) / step(0) - step(100) / step(50)).abs() < 1e-6);
        assert!((step(100) - 0.016).abs() < 1e-6);
        assert_eq!(step(100).to_bits(), step(5000).to_bits());
        let pair = TrainingPlan { members: NonZero::new(2).unwrap(), ..plan };
        assert_eq!(pair.manner(25, 10), plan.manner(50, 10), "each of two has half of the games");
    }

    #[test]
    fn every_second_of_several_members_has_random_openings() {
        let openings = Openings { share: percent(90), plies: 10 };
        let plan = |members| TrainingPlan {
            members: NonZero::new(members).unwrap(),
            method: Method { openings, ..Method::DEFAULT },
            ..TrainingPlan::DEFAULT
        };
        let of = |members| plan(members).openings().collect::<Vec<_>>();
        assert_eq!(of(1), [openings]);
        assert_eq!(of(3), [Openings::NONE, openings, Openings::NONE]);
    }

    #[test]
    fn search_is_late_and_goes_on_after_the_plan() {
        let method = Method { late_search: percent(30), ..Method::DEFAULT };
        let plan = TrainingPlan { games: 100, method, ..TrainingPlan::DEFAULT };
        let sight = |plan: TrainingPlan, game| plan.manner(game, 10).sight;
        assert_eq!(
            [0, 69, 71, 99, 500].map(|game| sight(plan, game) == Sight::Replies),
            [false, false, true, true, true]
        );
        let shipped = TrainingPlan { games: 100, ..TrainingPlan::DEFAULT };
        assert_eq!(sight(shipped, 500), Sight::Moves, "never if nothing is said");
    }

    #[test]
    fn settings_are_read_as_they_are_printed() {
        for tables in [Tables::Current, Tables::Average] {
            assert_eq!(tables.to_string().parse(), Ok(tables));
        }
        assert_eq!("both".parse::<Tables>(), Err(TablesError));
    }
}
