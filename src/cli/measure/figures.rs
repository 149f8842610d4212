//! What a measurement counts, and how it is told.

use std::fmt;

use fourfold_bots::BotSpec;
use fourfold_engine::review::{PlyBands, Skill, Verdict};
use fourfold_engine::{BySide, Side};
use serde::Serialize;

/// Sums of what was seen.
#[derive(Clone, Default, Debug)]
pub(super) struct Tally {
    skill: Skill,
    bands: PlyBands,
    /// Points and games against the perfect player, by the bot's side.
    played: BySide<(f64, u32)>,
}

impl Tally {
    pub(super) fn judge(&mut self, verdict: &Verdict) {
        self.skill.add(verdict);
        self.bands.add(verdict);
    }

    pub(super) fn play(&mut self, side: Side, points: f64) {
        let (sum, games) = &mut self.played[side];
        *sum += points;
        *games += 1;
    }
}

/// What `--json` shows. Rates are from 0 to 1, null where there was nothing to count.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Figures {
    bot: String,
    positions: u64,
    seed: u64,
    /// The share of choices that keep the value.
    good: Option<f64>,
    /// The same among decision positions.
    decision: Option<f64>,
    /// The share of choices than which none is better.
    optimal: Option<f64>,
    /// The score given away by a choice on average, in stones.
    mean_loss: Option<f64>,
    by_ply: Vec<Band>,
    /// Points a game against the perfect player, moving first.
    first_vs_perfect: Option<f64>,
    /// The same moving second.
    second_vs_perfect: Option<f64>,
}

/// The same for a stage of the game.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct Band {
    /// Stones on the board, at least and at most.
    from: u32,
    to: u32,
    positions: u64,
    good: Option<f64>,
    decision: Option<f64>,
    optimal: Option<f64>,
    mean_loss: Option<f64>,
}

impl Figures {
    pub(super) fn new(bot: &BotSpec, seed: u64, tally: &Tally) -> Self {
        let band = |(from, to, skill): (u32, u32, &Skill)| Band {
            from,
            to,
            positions: skill.moves(),
            good: skill.good_rate(),
            decision: skill.accuracy(),
            optimal: skill.optimal_rate(),
            mean_loss: skill.mean_loss(),
        };
        let points = |side: Side| {
            let (sum, games) = tally.played[side];
            (games > 0).then(|| sum / f64::from(games))
        };
        Self {
            bot: bot.to_string(),
            positions: tally.skill.moves(),
            seed,
            good: tally.skill.good_rate(),
            decision: tally.skill.accuracy(),
            optimal: tally.skill.optimal_rate(),
            mean_loss: tally.skill.mean_loss(),
            by_ply: tally.bands.iter().map(band).collect(),
            first_vs_perfect: points(Side::First),
            second_vs_perfect: points(Side::Second),
        }
    }
}

impl Figures {
    /// Puts the share of right decisions, in thousandths, in the place of what was chosen in drawn positions.
    pub(super) fn set_decision(&mut self, seed: u64, positions: usize, thousandths: Option<u16>) {
        self.seed = seed;
        self.positions = positions as u64;
        self.decision = thousandths.map(|thousandths| f64::from(thousandths) / 1_000.0);
    }
}

/// Prints a table for people.
impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} in {} positions of seed {}", self.bot, self.positions, self.seed)?;
        writeln!(f, "Plies    Positions  Good     Decision  Optimal  Mean loss")?;
        let mut line = |name: &str, positions, rates: [Option<f64>; 3], loss: Option<f64>| {
            let [good, decision, optimal] = rates.map(percent);
            let loss = loss.map_or_else(|| "-".to_owned(), |loss| format!("{loss:.2}"));
            writeln!(f, "{name:7}  {positions:9}  {good:7}  {decision:8}  {optimal:7}  {loss}")
        };
        for band in &self.by_ply {
            let rates = [band.good, band.decision, band.optimal];
            line(&format!("{}-{}", band.from, band.to), band.positions, rates, band.mean_loss)?;
        }
        line("all", self.positions, [self.good, self.decision, self.optimal], self.mean_loss)?;
        for (side, points) in [("first", self.first_vs_perfect), ("second", self.second_vs_perfect)] {
            writeln!(f, "points against the perfect player, moving {side}: {}", percent(points))?;
        }
        Ok(())
    }
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Column;
    use fourfold_engine::solver::Score;

    use super::*;

    #[test]
    fn figures_are_told_in_both_forms() {
        let column = |number| Column::from_number(number).unwrap();
        let scores =
            |one, other| [(column(1), Score::new(one)), (column(2), Score::new(other))].into_iter().collect();
        let mut tally = Tally::default();
        tally.judge(&Verdict::new(10, column(1), &scores(3, 0)));
        tally.judge(&Verdict::new(20, column(1), &scores(0, 3)));
        tally.play(Side::First, 0.5);
        let figures = Figures::new(&"negamax".parse().unwrap(), 7, &tally);
        let json = serde_json::to_value(&figures).unwrap();
        assert_eq!(
            (&json["good"], &json["decision"], &json["optimal"]),
            (&0.5.into(), &0.5.into(), &0.5.into())
        );
        assert_eq!((&json["mean_loss"], &json["first_vs_perfect"]), (&1.5.into(), &0.5.into()));
        assert!(json["second_vs_perfect"].is_null());
        assert_eq!(json["by_ply"][0]["to"], 13);
        let text = figures.to_string();
        assert!(text.contains("all              2  50.0 %   50.0 %    50.0 %   1.50"), "{text}");
        assert!(text.ends_with("moving second: -\n"), "{text}");
    }
}
