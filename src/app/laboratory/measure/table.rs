//! A measurement as people read it.
//!
//! Where there are several rows, the bot comes last in each: names are of any length, and figures stay below their
//! heads.

use std::fmt::{self, Display, Formatter};

use super::figures::{BotFigures, ExploitationFigures, MeasureReport, Named, StrengthFigures};
use crate::app::laboratory::paper::{Paper, PaperTable};
use crate::app::terminal::output;

/// Rows of figures: a name, and what it stands for.
type FigureRows<'a> = [(&'a str, &'a StrengthFigures)];

impl Display for MeasureReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(figures) => {
                write_stages(f, figures)?;
                write_extras(f, figures, &[(&figures.bot, &figures.strength)])?;
                write_exploitation(f, std::slice::from_ref(figures))
            }
            Self::Several { bots, mean, worst } => {
                let Some(first) = bots.first() else { return Ok(()) };
                let mut rows: Vec<(&str, &StrengthFigures)> =
                    bots.iter().map(|figures| (figures.bot.as_str(), &figures.strength)).collect();
                rows.extend([("mean", &**mean), ("worst", &**worst)]);
                writeln!(f, "{} positions of seed {}", first.positions, first.seed_of_positions())?;
                write_overview(f, &rows)?;
                write_extras(f, first, &rows)?;
                write_exploitation(f, bots)
            }
        }
    }
}

impl MeasureReport {
    /// For a paper: a row for each bot, and if there are several for their mean and the worst.
    pub(super) fn paper(&self) -> Paper {
        let (bots, more): (&[BotFigures], Vec<(&str, &StrengthFigures)>) = match self {
            Self::One(figures) => (std::slice::from_ref(figures), Vec::new()),
            Self::Several { bots, mean, worst } => (bots, vec![("mean", mean), ("worst", worst)]),
        };
        let rows = bots.iter().map(|figures| (figures.bot.as_str(), &figures.strength)).chain(more);
        let extras = |strength: &StrengthFigures| -> Vec<(&'static str, f64)> {
            let named = [&strength.mistakes, &strength.ladder].into_iter().flatten();
            named.flat_map(Named::iter).collect()
        };
        let mut head = PAPER_HEAD.map(str::to_owned).to_vec();
        head.extend(
            bots.first()
                .into_iter()
                .flat_map(|figures| extras(&figures.strength))
                .map(|(name, _)| name.to_owned()),
        );
        let share = |rate: Option<f64>| rate.map(|rate| format!("{:.1}", rate * 100.0)).unwrap_or_default();
        let row = |(name, strength): (&str, &StrengthFigures)| {
            let mut row = vec![name.to_owned()];
            row.extend([strength.good, strength.decision, strength.optimal].map(share));
            row.push(strength.mean_loss.map(|loss| format!("{loss:.2}")).unwrap_or_default());
            row.extend([strength.first_vs_perfect, strength.second_vs_perfect].map(share));
            row.extend(extras(strength).into_iter().map(|(_, value)| share(Some(value))));
            row
        };
        let table = PaperTable { caption: "Exact skill", head, rows: rows.map(row).collect() };
        let first = bots.first();
        let facts = [
            ("positions", first.map(|figures| figures.positions.to_string())),
            ("seed of the positions", first.map(|figures| figures.seed_of_positions().to_string())),
            ("seed", first.map(|figures| figures.seed.to_string())),
            (
                "positions of each class",
                first.and_then(|figures| figures.class_positions).map(|count| count.to_string()),
            ),
            (
                "games against each opponent",
                first.and_then(|figures| figures.ladder_games).map(|count| count.to_string()),
            ),
        ];
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Paper::of_tables("Exact skill by the solver".to_owned(), vec![table], facts)
    }
}

/// Shares are in percent, the loss in stones.
const PAPER_HEAD: [&str; 7] =
    ["Bot", "Good, %", "Decision, %", "Optimal, %", "Mean loss", "First v perfect, %", "Second v perfect, %"];

/// One bot, stage by stage.
fn write_stages(f: &mut Formatter<'_>, figures: &BotFigures) -> fmt::Result {
    let BotFigures { bot, positions, strength, by_ply, .. } = figures;
    let seed = figures.seed_of_positions();
    writeln!(f, "{bot} in {positions} positions of seed {seed}")?;
    writeln!(f, "Plies    Positions  Good     Decision  Optimal  Mean loss")?;
    let mut line = |name: &str, positions, rates: [Option<f64>; 3], loss: Option<f64>| {
        let [good, decision, optimal] = rates.map(percent);
        writeln!(f, "{name:7}  {positions:9}  {good:7}  {decision:8}  {optimal:7}  {}", hundredths(loss))
    };
    for band in by_ply {
        let rates = [band.good, band.decision, band.optimal];
        line(&format!("{}-{}", band.from, band.to), band.positions, rates, band.mean_loss)?;
    }
    line("all", *positions, [strength.good, strength.decision, strength.optimal], strength.mean_loss)?;
    for (side, points) in [("first", strength.first_vs_perfect), ("second", strength.second_vs_perfect)] {
        writeln!(f, "points against the perfect player, moving {side}: {}", percent(points))?;
    }
    Ok(())
}

/// Several bots in a line each.
fn write_overview(f: &mut Formatter<'_>, rows: &FigureRows<'_>) -> fmt::Result {
    let head = ["Good", "Decision", "Optimal", "Mean loss", "First v perfect", "Second v perfect"];
    write_rows(f, &head, rows, |strength| {
        let [good, decision, optimal] = [strength.good, strength.decision, strength.optimal].map(percent);
        let [first, second] = [strength.first_vs_perfect, strength.second_vs_perfect].map(percent);
        vec![good, decision, optimal, hundredths(strength.mean_loss), first, second]
    })
}

/// What was asked for beyond the usual; `first` says how much of it there was, for all alike.
fn write_extras(f: &mut Formatter<'_>, first: &BotFigures, rows: &FigureRows<'_>) -> fmt::Result {
    if let Some(positions) = first.class_positions {
        writeln!(f, "\nmistakes in {positions} positions of each class")?;
        write_named(f, rows, |strength| strength.mistakes.as_ref())?;
    }
    if let Some(games) = first.ladder_games {
        writeln!(f, "\npoints of {games} games each")?;
        write_named(f, rows, |strength| strength.ladder.as_ref())?;
    }
    Ok(())
}

/// What each bot makes of opponents that err.
fn write_exploitation(f: &mut Formatter<'_>, bots: &[BotFigures]) -> fmt::Result {
    let rows =
        bots.iter().flat_map(|figures| figures.exploitation.iter().flatten().map(move |of| (figures, of)));
    let rows: Vec<Vec<String>> = rows.map(|(figures, of)| exploitation_row(&figures.bot, of)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nmistakes of opponents, for each that they make by themselves in as many decisions")?;
    let head = [
        "Ratio",
        "Margin",
        "Traps a game",
        "Points a mistake",
        "Stones at a win",
        "Games",
        "Opponent",
        "Bot",
    ];
    output::align(&head, &rows).iter().try_for_each(|line| writeln!(f, "{line}"))
}

fn exploitation_row(bot: &str, of: &ExploitationFigures) -> Vec<String> {
    let figures = [of.ratio, of.margin, of.traps_per_game, of.points_per_mistake];
    let mut row: Vec<String> = figures.map(hundredths).to_vec();
    row.push(of.stones_of_win.map_or_else(|| "-".to_owned(), |stones| format!("{stones:.1}")));
    row.extend([of.games.to_string(), of.opponent.to_owned(), bot.to_owned()]);
    row
}

fn write_named(
    f: &mut Formatter<'_>,
    rows: &FigureRows<'_>,
    figures: fn(&StrengthFigures) -> Option<&Named>,
) -> fmt::Result {
    let Some(first) = rows.iter().find_map(|(_, strength)| figures(strength)) else { return Ok(()) };
    let head: Vec<&str> = first.iter().map(|(name, _)| name).collect();
    write_rows(f, &head, rows, |strength| {
        figures(strength).into_iter().flat_map(Named::iter).map(|(_, value)| percent(Some(value))).collect()
    })
}

/// A head, and a row for each name, which comes last.
fn write_rows(
    f: &mut Formatter<'_>,
    head: &[&str],
    rows: &FigureRows<'_>,
    cells: impl Fn(&StrengthFigures) -> Vec<String>,
) -> fmt::Result {
    let head: Vec<&str> = head.iter().copied().chain(["Bot"]).collect();
    let row = |&(name, strength): &(&str, &StrengthFigures)| {
        let mut row = cells(strength);
        row.push(name.to_owned());
        row
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    output::align(&head, &rows).iter().try_for_each(|line| writeln!(f, "{line}"))
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
}

/// With two digits behind the point.
fn hundredths(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::{all_figures, figures, trapping};
    use super::*;

    #[test]
    fn one_bot_is_told_by_stages() {
        let text = MeasureReport::new(vec![figures("negamax")]).to_string();
        assert!(text.starts_with("negamax in 2 positions of seed 7\n"), "{text}");
        assert!(text.contains("all              2  50.0 %   50.0 %    50.0 %   1.50"), "{text}");
        assert!(text.ends_with("moving second: -\n"), "{text}");
        let text = MeasureReport::new(vec![all_figures("negamax", [true, false], 0.75)]).to_string();
        assert!(
            text.contains("mistakes in 2 positions of each class\nbegin-hard  Bot\n50.0 %      negamax\n"),
            "{text}"
        );
        assert!(text.contains("points of 10 games each\nnegamax:depth=2  negamax:depth=4"), "{text}");
    }

    #[test]
    fn what_is_made_of_errors_has_a_table_of_its_own() {
        let text = MeasureReport::new(vec![trapping("greedy")]).to_string();
        let lines: Vec<&str> = text.lines().rev().collect();
        assert!(lines[5].starts_with("Ratio  Margin  Traps a game"), "{text}");
        assert!(lines[4].starts_with('-'), "{text}");
        assert!(lines[3].ends_with("21.0             1      negamax:depth=4  greedy"), "{text}");
        assert!(lines[0].ends_with("21.0             1      all              greedy"), "{text}");
    }

    #[test]
    fn several_bots_have_a_row_each() {
        let bots = ["greedy", "negamax:depth=4"].map(|bot| all_figures(bot, [true, false], 0.75));
        let text = MeasureReport::new(bots.to_vec()).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "2 positions of seed 7");
        assert_eq!(lines[1], "Good    Decision  Optimal  Mean loss  First v perfect  Second v perfect  Bot");
        assert_eq!(
            lines[3],
            "50.0 %  50.0 %    50.0 %   1.50       50.0 %           -                 negamax:depth=4"
        );
        assert!(lines[4].ends_with("  mean") && lines[5].ends_with("  worst"), "{text}");
        assert_eq!(lines[8..10], ["begin-hard  Bot", "50.0 %      greedy"]);
    }
}
