//! What a measurement counts, and its JSON.

use std::collections::BTreeMap;

use fourfold_arena::measure::classes::PositionClass;
use fourfold_arena::measure::{ladder, traps};
use fourfold_engine::review::{Encounter, Exploitation, PlyBands, Skill};
use fourfold_engine::{BySide, Side};
use serde::{Serialize, Serializer};

use super::seat::{ChoiceEffect, TaskResult};

/// Sums of what was seen.
#[derive(Clone, Default, Debug)]
pub(super) struct FigureSums {
    skill: Skill,
    bands: PlyBands,
    /// How many mistakes in how many positions.
    classes: BTreeMap<PositionClass, (u32, u32)>,
    /// Points and games against the perfect player, by the bot's side.
    played: BySide<(f64, u32)>,
    /// Games against opponents that err, if there were any.
    trapped: Option<[Encounter; ladder::OPPONENTS.len()]>,
}

impl FigureSums {
    pub(super) fn add(&mut self, done: &TaskResult) {
        match done {
            TaskResult::Judged(verdict) => {
                self.skill.add(verdict);
                self.bands.add(verdict);
            }
            TaskResult::Classified(class, choice) => {
                let (mistakes, positions) = self.classes.entry(*class).or_default();
                *mistakes += u32::from(*choice == ChoiceEffect::Mistake);
                *positions += 1;
            }
            TaskResult::Played { side, points } => {
                let (sum, games) = &mut self.played[*side];
                *sum += points;
                *games += 1;
            }
            TaskResult::Trapped { opponent, game } => {
                game.add_to(&mut self.trapped.get_or_insert_with(traps::encounters)[*opponent]);
            }
        }
    }
}

/// What `--json` shows. Rates are from 0 to 1, null where there was nothing to count.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum MeasureReport {
    One(Box<BotFigures>),
    Several { bots: Vec<BotFigures>, mean: Box<StrengthFigures>, worst: Box<StrengthFigures> },
}

impl MeasureReport {
    pub(super) fn new(bots: Vec<BotFigures>) -> Self {
        match <[BotFigures; 1]>::try_from(bots) {
            Ok([figures]) => Self::One(Box::new(figures)),
            Err(bots) => Self::of_several(bots),
        }
    }

    fn of_several(bots: Vec<BotFigures>) -> Self {
        let all: Vec<&StrengthFigures> = bots.iter().map(|figures| &figures.strength).collect();
        let mean = Box::new(StrengthFigures::over(&all, |values, _| mean(values)));
        let worst = Box::new(StrengthFigures::over(&all, worst));
        Self::Several { bots, mean, worst }
    }
}

/// The figures of one bot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct BotFigures {
    pub(super) bot: String,
    pub(super) positions: u64,
    /// Of everything that is drawn: positions, games, openings, and what bots draw that have no seed of their own.
    pub(super) seed: u64,
    /// Of the positions, if they ship with the program and were not drawn for this measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) positions_seed: Option<u64>,
    #[serde(flatten)]
    pub(super) strength: StrengthFigures,
    pub(super) by_ply: Vec<Band>,
    /// Positions of each class: as many of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) class_positions: Option<u32>,
    /// Games against each opponent of the ladder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ladder_games: Option<u64>,
    /// What the bot makes of opponents that err, one after the other and of all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exploitation: Option<Vec<ExploitationFigures>>,
}

/// What a bot makes of an opponent that errs, as [`Exploitation`] has it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct ExploitationFigures {
    /// `all` for all together.
    pub(super) opponent: &'static str,
    pub(super) games: u64,
    pub(super) ratio: Option<f64>,
    pub(super) margin: Option<f64>,
    pub(super) traps_per_game: Option<f64>,
    pub(super) points_per_mistake: Option<f64>,
    pub(super) stones_of_win: Option<f64>,
}

impl ExploitationFigures {
    fn new(opponent: &'static str, sums: &Exploitation) -> Self {
        Self {
            opponent,
            games: sums.games(),
            ratio: sums.ratio(),
            margin: sums.margin(),
            traps_per_game: sums.traps_per_game(),
            points_per_mistake: sums.points_per_mistake(),
            stones_of_win: sums.stones_of_win(),
        }
    }

    fn of_each(encounters: &[Encounter; ladder::OPPONENTS.len()]) -> Vec<Self> {
        let mut all = Exploitation::default();
        let of_one = |(opponent, encounter): (&'static str, &Encounter)| {
            let mut sums = Exploitation::default();
            sums.add(encounter);
            all.add(encounter);
            Self::new(opponent, &sums)
        };
        let mut figures: Vec<Self> = ladder::OPPONENTS.into_iter().zip(encounters).map(of_one).collect();
        figures.push(Self::new("all", &all));
        figures
    }
}

/// Those that several bots have a mean of.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct StrengthFigures {
    /// The share of choices that keep the value.
    pub(super) good: Option<f64>,
    /// The same among decision positions.
    pub(super) decision: Option<f64>,
    /// The share of choices than which none is better.
    pub(super) optimal: Option<f64>,
    /// The score given away by a choice on average, in stones.
    pub(super) mean_loss: Option<f64>,
    /// Points a game against the perfect player, moving first.
    pub(super) first_vs_perfect: Option<f64>,
    /// The same moving second.
    pub(super) second_vs_perfect: Option<f64>,
    /// The share of choices that throw the result away, by class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mistakes: Option<Named>,
    /// Points a game, by opponent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ladder: Option<Named>,
}

/// Figures by name, in order; in JSON an object.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Named(Vec<(&'static str, f64)>);

impl Named {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + use<'_> {
        self.0.iter().copied()
    }
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Figures of a stage of the game.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Band {
    /// Stones on the board, at least and at most.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) positions: u64,
    pub(super) good: Option<f64>,
    pub(super) decision: Option<f64>,
    pub(super) optimal: Option<f64>,
    pub(super) mean_loss: Option<f64>,
}

impl BotFigures {
    pub(super) fn new(bot: &str, seed: u64, tally: &FigureSums) -> Self {
        let band = |(from, to, skill): (u32, u32, &Skill)| Band {
            from,
            to,
            positions: skill.moves(),
            good: skill.good_rate(),
            decision: skill.accuracy(),
            optimal: skill.optimal_rate(),
            mean_loss: skill.mean_loss(),
        };
        Self {
            bot: bot.to_string(),
            positions: tally.skill.moves(),
            seed,
            positions_seed: None,
            strength: StrengthFigures::new(tally),
            by_ply: tally.bands.iter().map(band).collect(),
            class_positions: tally.classes.values().map(|&(_, positions)| positions).min(),
            ladder_games: None,
            exploitation: tally.trapped.as_ref().map(ExploitationFigures::of_each),
        }
    }

    /// Puts the share of right decisions, in thousandths, in positions of this seed in the place of what was chosen in
    /// drawn ones.
    pub(super) fn set_decision(&mut self, positions_seed: u64, positions: usize, thousandths: Option<u16>) {
        self.positions_seed = Some(positions_seed);
        self.positions = positions as u64;
        self.strength.decision = thousandths.map(|thousandths| f64::from(thousandths) / 1_000.0);
    }

    /// Of its positions, wherever they are from.
    pub(super) fn seed_of_positions(&self) -> u64 {
        self.positions_seed.unwrap_or(self.seed)
    }

    /// Adds points of so many games against each opponent of the ladder.
    pub(super) fn set_ladder(&mut self, games: u64, points: Option<[f64; ladder::OPPONENTS.len()]>) {
        self.ladder_games = Some(games);
        self.strength.ladder =
            points.map(|points| Named(ladder::OPPONENTS.into_iter().zip(points).collect()));
    }
}

impl StrengthFigures {
    fn new(tally: &FigureSums) -> Self {
        let points = |side: Side| {
            let (sum, games) = tally.played[side];
            (games > 0).then(|| sum / f64::from(games))
        };
        let mistakes = tally.classes.iter().map(|(class, &(mistakes, positions))| {
            (class.name(), f64::from(mistakes) / f64::from(positions))
        });
        Self {
            good: tally.skill.good_rate(),
            decision: tally.skill.accuracy(),
            optimal: tally.skill.optimal_rate(),
            mean_loss: tally.skill.mean_loss(),
            first_vs_perfect: points(Side::First),
            second_vs_perfect: points(Side::Second),
            mistakes: (!tally.classes.is_empty()).then(|| Named(mistakes.collect())),
            ladder: None,
        }
    }

    /// Sums up each figure of several bots.
    fn over(bots: &[&Self], sum_up: fn(&[f64], Worse) -> Option<f64>) -> Self {
        let figure = |of: fn(&Self) -> Option<f64>, worse| {
            let values: Vec<f64> = bots.iter().copied().filter_map(of).collect();
            sum_up(&values, worse)
        };
        let named = |of: fn(&Self) -> Option<&Named>, worse| {
            let rows: Vec<&Named> = bots.iter().copied().filter_map(of).collect();
            let sum_up_column = |(column, &(name, _)): (usize, &(&'static str, f64))| {
                let values: Vec<f64> = rows.iter().filter_map(|row| Some(row.0.get(column)?.1)).collect();
                Some((name, sum_up(&values, worse)?))
            };
            rows.first().map(|row| Named(row.0.iter().enumerate().filter_map(sum_up_column).collect()))
        };
        Self {
            good: figure(|strength| strength.good, Worse::Lower),
            decision: figure(|strength| strength.decision, Worse::Lower),
            optimal: figure(|strength| strength.optimal, Worse::Lower),
            mean_loss: figure(|strength| strength.mean_loss, Worse::Higher),
            first_vs_perfect: figure(|strength| strength.first_vs_perfect, Worse::Lower),
            second_vs_perfect: figure(|strength| strength.second_vs_perfect, Worse::Lower),
            mistakes: named(|strength| strength.mistakes.as_ref(), Worse::Higher),
            ladder: named(|strength| strength.ladder.as_ref(), Worse::Lower),
        }
    }
}

/// Which of two values of a figure is the worse one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Worse {
    Lower,
    Higher,
}

fn worst(values: &[f64], worse: Worse) -> Option<f64> {
    values.iter().copied().reduce(match worse {
        Worse::Lower => f64::min,
        Worse::Higher => f64::max,
    })
}

#[expect(clippy::cast_precision_loss, reason = "nobody names 2^53 bots")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
pub(super) mod tests {
    use fourfold_arena::measure::traps::TrapGame;
    use fourfold_engine::review::{Decisions, Verdict};
    use fourfold_engine::search::Score;
    use fourfold_engine::{Column, SideResult};

    use super::*;

    /// Keeps the value in one of two positions, and errs in one of two of a class.
    pub(in crate::app::laboratory::measure) fn tally() -> FigureSums {
        let column = |number| Column::from_number(number).unwrap();
        let scores =
            |one, other| [(column(1), Score::new(one)), (column(2), Score::new(other))].into_iter().collect();
        let mut tally = FigureSums::default();
        tally.add(&TaskResult::Judged(Verdict::new(10, column(1), &scores(3, 0))));
        tally.add(&TaskResult::Judged(Verdict::new(20, column(1), &scores(0, 3))));
        tally.add(&TaskResult::Played { side: Side::First, points: 0.5 });
        tally
    }

    pub(in crate::app::laboratory::measure) fn figures(bot: &str) -> BotFigures {
        BotFigures::new(bot, 7, &tally())
    }

    /// The same with a class and the ladder.
    pub(in crate::app::laboratory::measure) fn all_figures(
        bot: &str,
        is_good: [bool; 2],
        points: f64,
    ) -> BotFigures {
        let mut tally = tally();
        for is_good in is_good {
            let choice = if is_good { ChoiceEffect::Good } else { ChoiceEffect::Mistake };
            tally.add(&TaskResult::Classified(PositionClass::BeginHard, choice));
        }
        let mut figures = BotFigures::new(bot, 7, &tally);
        figures.set_ladder(10, Some([points; ladder::OPPONENTS.len()]));
        figures
    }

    /// A won game against the second of those that err, who failed in three of four decisions.
    pub(in crate::app::laboratory::measure) fn trapping(bot: &str) -> BotFigures {
        let mut tally = tally();
        let faced = Decisions { faced: 4, failed: 3 };
        tally.add(&TaskResult::Trapped {
            opponent: 1,
            game: TrapGame { result: SideResult::Win, stones: 21, faced },
        });
        BotFigures::new(bot, 7, &tally)
    }

    #[test]
    fn what_is_made_of_errors_is_told_by_opponent_and_of_all() {
        let json = serde_json::to_value(MeasureReport::new(vec![trapping("greedy")])).unwrap();
        let of = |place: usize| &json["exploitation"][place];
        assert_eq!((&of(0)["opponent"], &of(0)["games"]), (&"negamax:depth=2".into(), &0.into()));
        assert!(of(0)["ratio"].as_f64().is_none_or(|ratio| ratio.abs() < 1e-9), "{json}");
        assert!(of(1)["ratio"].as_f64().is_some_and(|ratio| ratio > 1.0), "{json}");
        assert_eq!((&of(1)["stones_of_win"], &of(4)["opponent"]), (&21.0.into(), &"all".into()));
        assert_eq!((&of(4)["ratio"], &of(4)["games"]), (&of(1)["ratio"], &1.into()));
        let json = serde_json::to_value(figures("greedy")).unwrap();
        assert!(json.get("exploitation").is_none(), "{json}");
    }

    #[test]
    fn the_json_of_one_bot_has_what_was_asked_for() {
        let json = serde_json::to_value(MeasureReport::new(vec![figures("negamax")])).unwrap();
        assert_eq!(
            (&json["good"], &json["decision"], &json["optimal"]),
            (&0.5.into(), &0.5.into(), &0.5.into())
        );
        assert_eq!((&json["mean_loss"], &json["first_vs_perfect"]), (&1.5.into(), &0.5.into()));
        assert!(json["second_vs_perfect"].is_null());
        assert_eq!(json["by_ply"][0]["to"], 13);
        let object = json.as_object().unwrap();
        assert!(!object.contains_key("mistakes") && !object.contains_key("ladder"), "{json}");
        let json = serde_json::to_value(all_figures("negamax", [true, false], 0.75)).unwrap();
        assert_eq!((&json["mistakes"]["begin-hard"], &json["class_positions"]), (&0.5.into(), &2.into()));
        assert_eq!((&json["ladder"]["negamax:depth=8"], &json["ladder_games"]), (&0.75.into(), &10.into()));
    }

    #[test]
    fn several_bots_have_a_mean_and_a_worst() {
        let bots = vec![
            all_figures("ntuple:plies=0", [false, false], 0.25),
            all_figures("ntuple:plies=2", [true, true], 0.75),
        ];
        let json = serde_json::to_value(MeasureReport::new(bots)).unwrap();
        assert_eq!(json["bots"][1]["bot"], "ntuple:plies=2");
        let (mean, worst) = (&json["mean"], &json["worst"]);
        assert_eq!(
            (&mean["ladder"]["negamax:depth=2"], &worst["ladder"]["negamax:depth=2"]),
            (&0.5.into(), &0.25.into())
        );
        assert_eq!(
            (&mean["mistakes"]["begin-hard"], &worst["mistakes"]["begin-hard"]),
            (&0.5.into(), &1.0.into())
        );
        assert_eq!((&mean["mean_loss"], &worst["good"]), (&1.5.into(), &0.5.into()));
        assert!(mean["second_vs_perfect"].is_null() && mean.get("by_ply").is_none(), "{json}");
    }

    #[test]
    fn the_worst_loss_is_the_greatest() {
        assert_eq!(
            (worst(&[1.0, 2.0], Worse::Lower), worst(&[1.0, 2.0], Worse::Higher)),
            (Some(1.0), Some(2.0))
        );
        assert_eq!((worst(&[], Worse::Lower), mean(&[])), (None, None));
    }
}
