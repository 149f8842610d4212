//! `fourfold match`: pairs of games between two entrants.

use std::io::{self, Write};

use fourfold_arena::course::Course;
use fourfold_arena::format::Format;
use fourfold_arena::report::{MatchReport, SprtReport};
use fourfold_arena::stats::sprt::{Model, Sprt};
use fourfold_arena::suite::OpeningKind;

use crate::app::laboratory::contest;
use crate::app::laboratory::contest::Contest;
use crate::app::laboratory::contest::ContestArgs;
use crate::app::laboratory::contest::Output;
use crate::app::laboratory::contest::live::Live;
use crate::app::laboratory::paper::{Paper, PaperFormat};
use crate::app::terminal::output;

/// Play a match in pairs of games between two bots or programs.
///
/// A pair is one opening with both colours. The score is the first bot's. With --save every game is in a log, and
/// --resume goes on after any interruption without losing or repeating a game.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold match negamax:depth=4 negamax:depth=6 --games 200
  fourfold match mcts:ms=50 alphabeta:ms=50 --sprt 0,50 --games 2000 --save match.ndjson
  fourfold match cmd:./mybot 'cmd+kaggle:python3 agent.py' --games 20 --time 10+0.1
  fourfold match random greedy --games 1000 --seed 7 --json")]
pub(in crate::app) struct MatchCommand {
    /// A bot with its settings, see `fourfold bots`, or a program: cmd:COMMAND or cmd+DIALECT:COMMAND.
    #[arg(value_name = "A")]
    a: String,
    /// Its opponent.
    #[arg(value_name = "B")]
    b: String,
    /// Games to play at most, an even number.
    #[arg(long, value_name = "N", default_value = "100", value_parser = contest::parse_games)]
    games: u64,
    /// Stop as soon as it is known whether A is stronger by ELO0 or by ELO1 points, with 5 % error.
    #[arg(long, value_name = "ELO0,ELO1", value_parser = parse_sprt, allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Take the points of --sprt in units of their own noise, which does not depend on how often games are drawn.
    #[arg(long, requires = "sprt")]
    normalised: bool,
    /// Print the tables for a paper at the end.
    #[arg(long, value_enum, conflicts_with_all = ["json", "events"])]
    format: Option<PaperFormat>,
    #[command(flatten)]
    contest: ContestArgs,
}

fn parse_sprt(text: &str) -> Result<Sprt, String> {
    let read = |part: &str| part.trim().parse().ok().filter(|elo: &f64| elo.abs() <= SPRT_ELO_MAX);
    match text.split_once(',').map(|(elo0, elo1)| (read(elo0), read(elo1))) {
        Some((Some(elo0), Some(elo1))) if elo0 < elo1 => Ok(Sprt::logistic(elo0, elo1)),
        _ => Err(format!(
            "two numbers of points such as 0,50, the smaller one first, from -{SPRT_ELO_MAX} to {SPRT_ELO_MAX}"
        )),
    }
}

/// Points of a hypothesis at most: beyond, both expect all points.
const SPRT_ELO_MAX: f64 = 800.0;

impl MatchCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let model = if self.normalised { Model::Normalised } else { Model::Logistic };
        let contest = Contest {
            format: Format::Match,
            entrants: vec![self.a, self.b],
            pairs: self.games / 2,
            sprt: self.sprt.map(|sprt| Sprt { model, ..sprt }),
            openings: OpeningKind::Balanced,
        };
        let output = self.contest.output();
        let mut live = Live::new(output, |course| lines(&MatchReport::new(course), course));
        let course = self.contest.conduct(&contest, &mut live)?;
        live.clear();
        let report = MatchReport::new(&course);
        match output {
            Output::Text => match self.format {
                Some(format) => self.contest.print_paper(Paper::of_match(&report, &course), format)?,
                None => print(&report, &course)?,
            },
            Output::Json | Output::Events => output::print_json(&report)?,
        }
        contest::warn_of_repeats(report.distinct, report.games, report.repeated_pairs)?;
        contest::check_played(&course)
    }
}

pub(in crate::app) fn print(report: &MatchReport, course: &Course) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines(report, course) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{}", report.sentence)
}

/// The state of a match in a few lines, the same while it goes on and at its end.
fn lines(report: &MatchReport, course: &Course) -> Vec<String> {
    let plan = course.plan();
    let [a, b] = &report.entrants;
    let [n0, n1, n2, n3, n4] = report.pentanomial;
    let mut lines = vec![
        format!("{a} v {b}, seed {}, {}{}", report.seed, plan.time, contest::part_words(plan)),
        format!(
            "games   {} of {}: {} won, {} drawn, {} lost",
            report.games,
            course.games_known(),
            report.wins,
            report.draws,
            report.losses
        ),
        format!("score   {:.1} %", report.score * 100.0),
        format!(
            "Elo     {:+.1}, 95 % between {:+.1} and {:+.1}; {:.1} % sure to be above 0",
            report.elo,
            report.elo_low,
            report.elo_high,
            report.los * 100.0
        ),
        format!(
            "pairs   {} by points 0, 0.5, 1, 1.5, 2: {n0} {n1} {n2} {n3} {n4}{}",
            report.pairs,
            if report.unfinished_pairs > 0 { ", one unfinished" } else { "" }
        ),
        format!(
            "games   {} distinct; faults: {} and {}",
            report.distinct, report.faults_by[0], report.faults_by[1]
        ),
    ];
    lines.extend(contest::fault_lines(&report.fault_kinds));
    lines.extend(report.sprt.as_ref().map(sprt_line));
    lines
}

fn sprt_line(sprt: &SprtReport) -> String {
    let verdict = match sprt.accepted {
        Some(accepted) => format!("{accepted:?} accepted"),
        None => "undecided".to_owned(),
    };
    format!(
        "SPRT    {} to {}: LLR {:.2}, ends at {:.2} and {:.2}: {verdict}",
        sprt.elo0, sprt.elo1, sprt.llr, sprt.lower, sprt.upper
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hypotheses_are_two_numbers_in_order() {
        assert_eq!(parse_sprt("0,50"), Ok(Sprt::logistic(0.0, 50.0)));
        assert_eq!(parse_sprt("-10, 2.5"), Ok(Sprt::logistic(-10.0, 2.5)));
        for text in ["", "0", "5,0", "0,0", "a,b", "0,nan", "0,inf", "0,801", "0,1,2"] {
            assert!(parse_sprt(text).is_err(), "{text}");
        }
    }
}
