//! What runs come to, as tables for papers.

use fourfold_arena::course::Course;
use fourfold_arena::plan::Plan;
use fourfold_arena::report::{MatchReport, RatedPlayer, RatingTable, SprtReport};

use super::{Paper, PaperTable, PlotRow, intervals};
use crate::app::terminal::{command_line, machine};

/// What is true of every result made by this process.
fn made_now() -> Vec<(&'static str, String)> {
    vec![
        ("command", command_line()),
        ("version", format!("fourfold {}", env!("CARGO_PKG_VERSION"))),
        ("machine", machine()),
    ]
}

fn of_plan(plan: &Plan) -> Vec<(&'static str, String)> {
    let Plan { variant, openings, openings_crc, time, margin_ms, pairs, seed, faults_max, .. } = plan;
    let mut facts = vec![
        ("seed", seed.to_string()),
        ("entrants", plan.entrants.join(", ")),
        ("board", variant.clone()),
        ("openings", format!("{openings:?}, CRC-32 {openings_crc:08x}").to_lowercase()),
        ("time", format!("{time}, {margin_ms} ms margin")),
        ("pairs of each meeting", pairs.to_string()),
        ("taken out after faults in a row", faults_max.to_string()),
    ];
    facts.extend(plan.shard.map(|shard| ("part", shard.to_string())));
    facts
}

fn decimals(value: f64) -> String {
    // No minus before a zero.
    let text = format!("{value:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Rows of a name and numbers.
fn row(name: &str, numbers: &[String]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(numbers.iter().cloned()).collect()
}

impl Paper {
    /// Of a run of two.
    pub(in crate::app) fn of_match(report: &MatchReport, course: &Course) -> Self {
        let [a, b] = &report.entrants;
        let figures = [
            report.games.to_string(),
            report.wins.to_string(),
            report.draws.to_string(),
            report.losses.to_string(),
            percent(report.score),
            decimals(report.elo),
            decimals(report.elo_low),
            decimals(report.elo_high),
            percent(report.los),
            report.faults.to_string(),
        ];
        let head = [
            "Entrant",
            "Games",
            "Won",
            "Drawn",
            "Lost",
            "Score, %",
            "Elo",
            "95 % from",
            "to",
            "LOS, %",
            "Faults",
        ];
        let mut tables = vec![PaperTable::new("Match", &head, vec![row(a, &figures)])];
        let pairs = report.pentanomial.map(|count| count.to_string());
        let head = ["Points of a pair", "0", "0.5", "1", "1.5", "2"];
        tables.push(PaperTable::new("Pairs", &head, vec![row(a, &pairs)]));
        let mut facts = of_plan(course.plan());
        facts.extend(report.sprt.as_ref().map(|sprt| ("sequential test", test_words(sprt))));
        facts.extend(made_now());
        Self {
            title: format!("{a} v {b}"),
            sentence: report.sentence.clone(),
            tables,
            facts,
            warnings: repeats(report.distinct, report.games, report.repeated_pairs),
        }
    }

    /// Of a run of several.
    pub(in crate::app) fn of_tournament(table: &RatingTable, course: &Course) -> Self {
        let standings = |player: &RatedPlayer| {
            let standing = player.standing?;
            let numbers = [
                standing.rank.to_string(),
                standing.score.to_string(),
                player.games.to_string(),
                player.wins.to_string(),
                player.draws.to_string(),
                player.losses.to_string(),
                standing.wins_first.to_string(),
                standing.wins_second.to_string(),
                decimals(player.elo),
                decimals(player.pm95),
            ];
            Some(row(&player.name, &numbers))
        };
        let head = ["Name", "Rank", "Score", "Games", "Won", "Drawn", "Lost", "WinX", "WinO", "Elo", "±95 %"];
        let rows = table.players.iter().filter_map(standings).collect();
        let mut tables = vec![PaperTable::new("Standings", &head, rows)];
        let mut warnings = table.warnings.clone();
        if let Some(report) = &table.tournament {
            tables.push(crosstable(table, &report.crosstable));
            warnings.extend(repeats(report.distinct, table.games, report.repeated_pairs));
        }
        let first_move = ("the first move is worth", format!("{:+.1} points", table.first_move_advantage));
        let mut facts = of_plan(course.plan());
        facts.push(first_move);
        facts.extend(made_now());
        let format = format!("{:?}", course.plan().format);
        let format = format.split(' ').next().unwrap_or_default();
        Self {
            title: format!("{format} of {}", table.players.len()),
            sentence: String::new(),
            tables,
            facts,
            warnings,
        }
    }

    /// Of the games of any files.
    pub(in crate::app) fn of_ratings(table: &RatingTable) -> Self {
        let rated = |player: &RatedPlayer| {
            let numbers = [
                decimals(player.elo),
                decimals(player.pm95),
                player.games.to_string(),
                player.wins.to_string(),
                player.draws.to_string(),
                player.losses.to_string(),
                player.los_next.map(percent).unwrap_or_default(),
            ];
            row(&player.name, &numbers)
        };
        let head = ["Name", "Elo", "±95 %", "Games", "Won", "Drawn", "Lost", "LOS to next, %"];
        let rows = table.players.iter().map(rated).collect();
        let first_move = ("the first move is worth", format!("{:+.1} points", table.first_move_advantage));
        Self {
            title: format!("Ratings of {} by {} games", table.players.len(), table.games),
            sentence: String::new(),
            tables: vec![PaperTable::new("Ratings", &head, rows)],
            facts: std::iter::once(first_move).chain(made_now()).collect(),
            warnings: table.warnings.clone(),
        }
    }

    /// Of anything else that was made by this command.
    pub(in crate::app) fn of_tables(
        title: String,
        tables: Vec<PaperTable>,
        mut facts: Vec<(&'static str, String)>,
    ) -> Self {
        facts.extend(made_now());
        Self { title, sentence: String::new(), tables, facts, warnings: Vec::new() }
    }
}

/// The ratings of a table, drawn.
pub(in crate::app) fn ratings_picture(table: &RatingTable) -> String {
    let row = |player: &RatedPlayer| PlotRow {
        name: player.name.clone(),
        value: player.elo,
        low: player.elo - player.pm95,
        high: player.elo + player.pm95,
    };
    intervals("Elo with 95 % intervals", &table.players.iter().map(row).collect::<Vec<_>>())
}

/// The difference of a match, drawn.
pub(in crate::app) fn difference_picture(report: &MatchReport) -> String {
    let [a, b] = &report.entrants;
    let row = PlotRow {
        name: format!("{a} over {b}"),
        value: report.elo,
        low: report.elo_low,
        high: report.elo_high,
    };
    intervals("Difference in Elo with its 95 % interval", &[row])
}

fn repeats(distinct: u64, games: u64, repeated_pairs: u64) -> Vec<String> {
    let warning = || {
        format!(
            "only {distinct} of {games} games are distinct; {repeated_pairs} pairs repeat an earlier one move for move"
        )
    };
    (repeated_pairs > 0).then(warning).into_iter().collect()
}

fn test_words(sprt: &SprtReport) -> String {
    let SprtReport { elo0, elo1, llr, lower, upper, accepted, elo_after_stop: _ } = sprt;
    let verdict = accepted.map_or("undecided".to_owned(), |accepted| format!("{accepted:?} accepted"));
    format!("{elo0} to {elo1}: LLR {llr:.2}, ends at {lower:.2} and {upper:.2}, {verdict}")
}

/// Points and games of everybody against everybody, by rank.
fn crosstable(table: &RatingTable, cells: &[Vec<Option<[u64; 2]>>]) -> PaperTable {
    let cell = |cell: &Option<[u64; 2]>| match cell {
        Some([half_points, games]) => {
            let half = if half_points % 2 == 1 { ".5" } else { "" };
            format!("{}{half}/{games}", half_points / 2)
        }
        None => String::new(),
    };
    let ranks = (1..=cells.len()).map(|rank| rank.to_string());
    let head = std::iter::once("Points against".to_owned()).chain(ranks).collect();
    let rows = table.players.iter().zip(cells);
    let rows = rows.map(|(player, cells)| row(&player.name, &cells.iter().map(cell).collect::<Vec<_>>()));
    PaperTable { caption: "Cross-table", head, rows: rows.collect() }
}
