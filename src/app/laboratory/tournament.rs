//! `fourfold tournament`: any number of entrants, in any of the usual formats.

use std::io::{self, Write};

use clap::ValueEnum;
use fourfold_arena::course::Course;
use fourfold_arena::format::Format;
use fourfold_arena::report::{FaultKindReport, RatingTable, TournamentReport};
use fourfold_arena::suite::OpeningKind;

use crate::app::laboratory::contest;
use crate::app::laboratory::contest::Contest;
use crate::app::laboratory::contest::ContestArgs;
use crate::app::laboratory::contest::Output;
use crate::app::laboratory::contest::live::Live;
use crate::app::laboratory::paper::{Paper, PaperFormat};
use crate::app::laboratory::rate;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;

/// Games of a meeting from which on openings are drawn; two are one opening with both colours, the empty board.
const GAMES_FROM_EMPTY: u64 = 2;

/// Games on the ladder for each entrant if their number is not given.
const LADDER_GAMES: u64 = 20;

/// Play a tournament between any number of bots.
///
/// A win counts 3 points, a draw 1. `WinX` and `WinO` are wins as the first and as the second side.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold tournament --format round-robin greedy negamax:depth=1 negamax:depth=2
  fourfold tournament --format swiss random stupid greedy lines69 negamax:depth=2 --games 20 --seed 7
  fourfold tournament --format gauntlet alphabeta:ms=20 mcts negamax:depth=8 --games 50 --save gauntlet.ndjson")]
pub(in crate::app) struct TournamentCommand {
    /// Who meets whom.
    #[arg(long, value_name = "FORMAT")]
    format: FormatArgument,
    /// Bots with their settings, see `fourfold bots`, or programs (cmd:COMMAND or cmd+DIALECT:COMMAND), the strongest
    /// first where the format cares.
    #[arg(value_name = "ENTRANT", required = true, num_args = 1..)]
    entrants: Vec<String>,
    /// Games of each meeting, an even number, 2 by default; on the ladder of the whole tournament, 20 for each entrant
    /// by default.
    #[arg(long, value_name = "N", value_parser = contest::parse_games)]
    games: Option<u64>,
    /// Rounds of a Swiss tournament; by default enough to find the first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// How many of the first entrants play the gauntlet; by default one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// Print the tables for a paper at the end.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["json", "events"])]
    table_format: Option<PaperFormat>,
    #[command(flatten)]
    contest: ContestArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum FormatArgument {
    /// Everybody against everybody.
    RoundRobin,
    /// The first entrants against all others.
    Gauntlet,
    /// Rounds against whoever has as many points.
    Swiss,
    /// Who loses a meeting is out; equal meetings go on by further pairs.
    Knockout,
    /// Always the pairs that tell most about the order.
    Ladder,
}

impl TournamentCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        if self.entrants.len() < 2 {
            return Err(Exit::usage("a tournament takes two entrants or more").into());
        }
        let format = self.format()?;
        let games = self.games.unwrap_or(match format {
            Format::Ladder => LADDER_GAMES * self.entrants.len() as u64,
            Format::Match
            | Format::RoundRobin
            | Format::Gauntlet { .. }
            | Format::Swiss { .. }
            | Format::Knockout => GAMES_FROM_EMPTY,
        });
        let is_short = games == GAMES_FROM_EMPTY && format == Format::RoundRobin;
        let contest = Contest {
            format,
            entrants: self.entrants,
            pairs: games / 2,
            sprt: None,
            openings: if is_short { OpeningKind::None } else { OpeningKind::Balanced },
        };
        let output = self.contest.output();
        let mut live = Live::new(output, live_lines);
        let course = self.contest.conduct(&contest, &mut live)?;
        live.clear();
        let table = RatingTable::of_tournament(&course);
        match output {
            Output::Text => match self.table_format {
                Some(format) => self.contest.print_paper(Paper::of_tournament(&table, &course), format)?,
                None => print(&table, &course)?,
            },
            Output::Json | Output::Events => output::print_json(&table)?,
        }
        if let Some(report) = &table.tournament {
            contest::warn_of_repeats(report.distinct, table.games, report.repeated_pairs)?;
        }
        contest::check_played(&course)
    }

    fn format(&self) -> anyhow::Result<Format> {
        let entrants = u32::try_from(self.entrants.len()).unwrap_or(u32::MAX);
        let seeds = self.seeds.unwrap_or(1);
        self.check_meant()?;
        Ok(match self.format {
            FormatArgument::RoundRobin => Format::RoundRobin,
            FormatArgument::Gauntlet if seeds >= entrants => {
                let message = format!("--seeds {seeds} leaves nobody of {entrants} entrants to play");
                return Err(Exit::usage(message).into());
            }
            FormatArgument::Gauntlet => Format::Gauntlet { seeds },
            FormatArgument::Swiss => {
                // Halving the field until one is left.
                let enough = entrants.next_power_of_two().trailing_zeros();
                Format::Swiss { rounds: self.rounds.unwrap_or(enough) }
            }
            FormatArgument::Knockout => Format::Knockout,
            FormatArgument::Ladder => Format::Ladder,
        })
    }

    /// What another format would heed is a mistake.
    fn check_meant(&self) -> Result<(), Exit> {
        if self.rounds.is_some() && self.format != FormatArgument::Swiss {
            return Err(Exit::usage(
                "--rounds: only a Swiss tournament (--format swiss) has a number of them",
            ));
        }
        if self.seeds.is_some() && self.format != FormatArgument::Gauntlet {
            return Err(Exit::usage("--seeds: only a gauntlet (--format gauntlet) has any"));
        }
        Ok(())
    }
}

pub(in crate::app) fn print(table: &RatingTable, course: &Course) -> io::Result<()> {
    output::print_table(STANDINGS, &standings(table))?;
    let mut out = io::stdout().lock();
    if let Some(report) = &table.tournament {
        writeln!(out, "\nPoints against each, by rank")?;
        for line in crosstable(table, report) {
            writeln!(out, "{line}")?;
        }
    }
    drop(out);
    writeln!(io::stdout())?;
    rate::print(table)?;
    let plan = course.plan();
    let results = course.results();
    let mut out = io::stdout().lock();
    write!(
        out,
        "{} games, {} distinct, {} faults; seed {}, {}{}",
        results.games(),
        results.distinct(),
        results.faults(),
        plan.seed,
        plan.time,
        contest::part_words(plan)
    )?;
    match results.unfinished_pairs() {
        0 => writeln!(out)?,
        pairs => writeln!(out, "; {pairs} unfinished pairs, not in the ratings")?,
    }
    for line in contest::fault_lines(&FaultKindReport::of(course)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

const STANDINGS: [&str; 6] = ["Rank", "Name", "Score", "Win", "WinX", "WinO"];

fn standings(table: &RatingTable) -> Vec<[String; 6]> {
    let row = |player: &fourfold_arena::report::RatedPlayer| {
        let standing = player.standing?;
        let name =
            if standing.suspended { format!("{} (suspended)", player.name) } else { player.name.clone() };
        Some([
            standing.rank.to_string(),
            name,
            standing.score.to_string(),
            player.wins.to_string(),
            standing.wins_first.to_string(),
            standing.wins_second.to_string(),
        ])
    };
    table.players.iter().filter_map(row).collect()
}

/// Rows of points and games, such as `7.5/10`, below the numbers of the columns' ranks.
fn crosstable(table: &RatingTable, report: &TournamentReport) -> Vec<String> {
    let cell = |cell: &Option<[u64; 2]>| match cell {
        Some([half_points, games]) => {
            let half = if half_points % 2 == 1 { ".5" } else { "" };
            format!("{}{half}/{games}", half_points / 2)
        }
        None => "-".to_owned(),
    };
    let rows: Vec<Vec<String>> = report.crosstable.iter().map(|row| row.iter().map(cell).collect()).collect();
    let width = rows.iter().flatten().map(String::len).max().unwrap_or_default().max(3);
    let names = table.players.iter().map(|player| player.name.chars().count()).max().unwrap_or_default();
    let line = |rank: String, name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
        format!("{rank:>4}  {name:names$}  {}", cells.join("  "))
    };
    let ranks = (1..=rows.len()).map(|rank| rank.to_string());
    let head = line(String::new(), "", ranks.clone().collect());
    let rows = ranks.zip(&table.players).zip(rows);
    let rows = rows.map(|((rank, player), row)| line(rank, &player.name, row));
    std::iter::once(head).chain(rows).collect()
}

fn live_lines(course: &Course) -> Vec<String> {
    let table = RatingTable::of_tournament(course);
    let head = format!("{} of {} games so far known", course.results().games(), course.games_known());
    std::iter::once(head).chain(output::align(&STANDINGS, &standings(&table))).collect()
}
