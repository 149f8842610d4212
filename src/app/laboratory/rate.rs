//! `fourfold rate`: joint ratings of any saved games.

use std::io::{self, Write};
use std::path::PathBuf;

use fourfold_arena::rate::{Games, Only, RateError, Trust};
use fourfold_arena::report::{RatedPlayer, RatingTable};
use fourfold_arena::stats::fit::Anchor;
use fourfold_engine::Variant;

use crate::app::laboratory::paper::{Paper, PaperFormat, sum_of};
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::input;
use crate::app::terminal::output;

/// Rate everybody by all games of a file.
///
/// The file has records, one a line: the log of a match or a tournament, or what `fourfold games export` wrote. Ratings
/// are fitted to all games at once, together with the advantage of the first move. Games that repeat an earlier one
/// move for move count once, halves of pairs not at all. A line whose checksum is wrong, or whose result is not that of
/// its moves, ends it with exit code 65.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
Examples:
  fourfold rate match.ndjson
  fourfold games export | fourfold rate - --rated --bots --variant 7x6 --anchor random=0")]
pub(in crate::app) struct RateCommand {
    /// Records, one a line; `-` reads standard input.
    #[arg(value_name = "FILE.ndjson", required = true)]
    files: Vec<PathBuf>,
    /// Give a player this rating; the others are relative to it. Without, their mean is 0.
    #[arg(long, value_name = "NAME=ELO", value_parser = parse_anchor)]
    anchor: Vec<(String, f64)>,
    /// Leave out games that moved no ratings of the daemon; matches move none.
    #[arg(long)]
    rated: bool,
    /// Leave out games with people.
    #[arg(long)]
    bots: bool,
    /// Leave out games on other boards than this one, such as 7x6.
    #[arg(long, value_name = "V")]
    variant: Option<Variant>,
    /// Leave out games that were lost by a fault: out of time, illegal, gone.
    #[arg(long)]
    no_faults: bool,
    /// Do not hold lines against their checksums, nor results against their moves: for lines picked from a log.
    #[arg(long)]
    unchecked: bool,
    /// Add to the object of --json how probable it is of every two who is stronger, and the covariance of ratings.
    #[arg(long, requires = "json")]
    matrix: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print the table for a paper.
    #[arg(long, value_enum, conflicts_with_all = ["json", "matrix"])]
    format: Option<PaperFormat>,
}

/// Ratings of anchors at most: beyond, numbers only get in the way.
const ANCHOR_MAX: f64 = 10_000.0;

fn parse_anchor(text: &str) -> Result<(String, f64), String> {
    // Names of bots have `=` in them, ratings have none.
    let parts = text.rsplit_once('=').and_then(|(name, elo)| Some((name, elo.parse::<f64>().ok()?)));
    match parts {
        Some((name, elo)) if !name.is_empty() && elo.abs() <= ANCHOR_MAX => Ok((name.to_owned(), elo)),
        _ => Err(format!("a name and a rating such as random=0, from -{ANCHOR_MAX} to {ANCHOR_MAX}")),
    }
}

impl RateCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let variant = self.variant.map(|variant| variant.to_string());
        let only = Only { rated: self.rated, bots: self.bots, variant, faultless: self.no_faults };
        let mut games = Games::new(only, if self.unchecked { Trust::Blind } else { Trust::Checked });
        for path in &self.files {
            let name = path.display();
            let torn = games
                .read(input::open(path)?)
                .map_err(|error| Exit::new(code(&error), format!("{name}: {error}")))?;
            if torn {
                writeln!(io::stderr(), "{name}: passed over a torn last line")?;
            }
        }
        let anchor = |(name, elo): &(String, f64)| match games.player(name) {
            Some(player) => Ok(Anchor { player, elo: *elo }),
            None => Err(Exit::usage(format!("--anchor: nobody is called {name}"))),
        };
        let anchors: Vec<Anchor> = self.anchor.iter().map(anchor).collect::<Result<_, _>>()?;
        if games.is_empty() {
            return Err(Exit::new(Code::Data, "there is no finished game to rate by").into());
        }
        if games.repeats() > 0 {
            writeln!(
                io::stderr(),
                "warning: {} lines stand in the files twice and count once",
                games.repeats()
            )?;
        }
        let table = if self.matrix { games.rate_with_matrix(&anchors) } else { games.rate(&anchors) };
        self.print(&table)
    }

    fn print(&self, table: &RatingTable) -> anyhow::Result<()> {
        let Some(format) = self.format else {
            return if self.json { output::print_json(table) } else { Ok(print(table)?) };
        };
        let mut paper = Paper::of_ratings(table);
        for path in self.files.iter().filter(|path| path.as_os_str() != "-") {
            paper.facts.push(("games", sum_of(path)?));
        }
        Ok(io::stdout().write_all(paper.text(format).as_bytes())?)
    }
}

pub(in crate::app::laboratory) fn code(error: &RateError) -> Code {
    match error {
        RateError::Line { .. } => Code::Data,
        RateError::Unreadable(error) => input::code(error),
    }
}

/// The table for people.
pub(in crate::app) fn print(table: &RatingTable) -> io::Result<()> {
    let row = |player: &RatedPlayer| {
        [
            player.name.clone(),
            format!("{:+.0}", player.elo),
            format!("±{:.0}", player.pm95),
            player.games.to_string(),
            player.wins.to_string(),
            player.draws.to_string(),
            player.losses.to_string(),
            player.los_next.map(|los| format!("{:.0} %", los * 100.0)).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = table.players.iter().map(row).collect();
    output::print_table(["Name", "Elo", "95 %", "Games", "Win", "Draw", "Loss", "Above next"], &rows)?;
    let mut out = io::stdout().lock();
    writeln!(out, "The first move is worth {:+.0} points.", table.first_move_advantage)?;
    for warning in &table.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_names_with_a_rating() {
        assert_eq!(parse_anchor("random=0"), Ok(("random".into(), 0.0)));
        assert_eq!(parse_anchor("negamax:depth=6=-12.5"), Ok(("negamax:depth=6".into(), -12.5)));
        for text in ["random", "=5", "random=", "random=x", "random=nan", "random=1e9"] {
            assert!(parse_anchor(text).is_err(), "{text}");
        }
    }
}
