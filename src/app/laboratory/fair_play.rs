//! `fourfold fair-play`: who decides better than people of their rating can.

mod records;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use fourfold_arena::fair_play::{Account, Sample, Yardstick};
use fourfold_engine::Side;
use serde::Serialize;

use self::records::RatedGame;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;

/// Games that a report names: those that weigh most, enough to look at.
const GAMES_NAMED_MAX: usize = 10;

/// What stands below every report.
const NO_VERDICT: &str = "\
This is no verdict. It says who decides better in hard positions than people of the same rating do: by help, by being
better than the rating, or by knowing the positions. Look at the games, and ask.";

/// Show who decides better in hard positions than people of their rating.
///
/// The file has records, one a line, as `fourfold games export` writes them. Rated games between people on the standard
/// board count. `hard` is the number of hard decisions: of each game the first one in which people of the rating often
/// throw the value away. `kept` says in how many the player did not, `expected` what people of the rating manage, with
/// what 19 in 20 of them reach. `evidence` is how rare it is for an honest player ever to get so far; from 1 in 10,000
/// on somebody should look. It is no verdict: docs/fair-play.md says what it can be wrong about.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold games export > games.ndjson; fourfold fair-play games.ndjson
  fourfold games export | fourfold fair-play - --player ada --json")]
pub(in crate::app) struct FairPlayCommand {
    /// Records, one a line, in the order in which they ended; `-` reads standard input.
    #[arg(value_name = "FILE.ndjson", required = true)]
    files: Vec<PathBuf>,
    /// Show this player alone, with the games that weigh most.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct FairPlayReport {
    note: &'static str,
    players: Vec<PlayerReport>,
}

/// How one player's decisions stand.
#[derive(Debug, Serialize)]
struct PlayerReport {
    player: String,
    games: u32,
    hard: u32,
    kept: u32,
    /// What people of the rating keep, on average.
    expected: f64,
    /// What 19 in 20 of them keep, about.
    range: (f64, f64),
    /// One honest player in so many ever gets so far.
    evidence: f64,
    /// Whether an operator should.
    look: bool,
    weighing: Vec<WeighingGame>,
}

/// A game that speaks for help.
#[derive(Debug, Serialize)]
struct WeighingGame {
    game: String,
    /// So many times more evidence after it than before.
    factor: f64,
}

/// A player while its games are gone through.
#[derive(Debug, Default)]
struct Standing {
    name: String,
    games: u32,
    account: Account,
    weighing: Vec<WeighingGame>,
}

impl FairPlayCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        let interrupt = Interrupt::listen()?;
        let games = records::read(&self.files, interrupt.stop().flag())?;
        interrupt.check(|| "nothing was printed".to_owned())?;
        let mut players = reports(&games);
        if let Some(name) = &self.player {
            players.retain(|report| report.player.eq_ignore_ascii_case(name));
            if players.is_empty() {
                return Err(Exit::usage(format!("`{name}` has no rated game against a person here")).into());
            }
        }
        if self.json {
            return output::print_json(&FairPlayReport { note: NO_VERDICT, players });
        }
        Ok(self.print(&players)?)
    }

    fn print(&self, players: &[PlayerReport]) -> io::Result<()> {
        let head = ["player", "games", "hard", "kept", "expected", "evidence", ""];
        let rows: Vec<_> = players.iter().map(PlayerReport::row).collect();
        output::print_table(head, &rows)?;
        let mut out = io::stdout().lock();
        if self.player.is_some() {
            for report in players {
                writeln!(out, "{}", report.for_player())?;
            }
            for weighing in players.iter().flat_map(|report| &report.weighing) {
                writeln!(
                    out,
                    "game {}: {:.1} times as much evidence as before",
                    weighing.game, weighing.factor
                )?;
            }
        }
        writeln!(out, "{NO_VERDICT}")
    }
}

/// All players, those with the most evidence first.
fn reports(games: &[RatedGame]) -> Vec<PlayerReport> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for player in games.iter().flat_map(|game| [&game.players.first, &game.players.second]) {
        let next = numbers.len();
        numbers.entry(&player.id).or_insert(next);
    }
    let yardstick = Yardstick::new(&samples(games, &numbers));
    let mut standings: Vec<Standing> = numbers.values().map(|_| Standing::default()).collect();
    for game in games {
        for side in [Side::First, Side::Second] {
            let player = &game.players[side];
            let number = numbers[player.id.as_str()];
            let standing = &mut standings[number];
            standing.name.clone_from(&player.name);
            standing.games += 1;
            let before = standing.account.log_evidence();
            standing.account.add(yardstick.measure(number, player.rating), &game.decided[side]);
            let factor = (standing.account.log_evidence() - before).exp();
            if factor > 1.0 {
                standing.weighing.push(WeighingGame { game: game.id.clone(), factor });
            }
        }
    }
    let mut reports: Vec<PlayerReport> = standings.into_iter().map(PlayerReport::from).collect();
    reports.sort_by(|a, b| b.evidence.total_cmp(&a.evidence).then_with(|| a.player.cmp(&b.player)));
    reports
}

fn samples<'a>(games: &'a [RatedGame], numbers: &BTreeMap<&str, usize>) -> Vec<Sample<'a>> {
    let mut samples = Vec::new();
    for game in games {
        for side in [Side::First, Side::Second] {
            let player = &game.players[side];
            samples.extend(game.decided[side].iter().map(|decided| Sample {
                player: numbers[player.id.as_str()],
                rating: player.rating,
                decision: &decided.decision,
                kept: decided.kept,
            }));
        }
    }
    samples
}

impl From<Standing> for PlayerReport {
    fn from(standing: Standing) -> Self {
        let Standing { name, games, account, mut weighing } = standing;
        weighing.sort_by(|a, b| b.factor.total_cmp(&a.factor));
        weighing.truncate(GAMES_NAMED_MAX);
        Self {
            player: name,
            games,
            hard: account.decisions,
            kept: account.kept,
            expected: account.expected,
            range: account.range(),
            evidence: account.evidence(),
            look: account.is_found(),
            weighing,
        }
    }
}

impl PlayerReport {
    /// What the player may be told.
    fn for_player(&self) -> String {
        let (from, to) = self.range;
        let Self { player, hard, kept, .. } = self;
        format!(
            "in {hard} hard decisions {player} kept {kept}; people of the rating keep {from:.0} to {to:.0}"
        )
    }

    fn row(&self) -> [String; 7] {
        let (from, to) = self.range;
        [
            self.player.clone(),
            self.games.to_string(),
            self.hard.to_string(),
            self.kept.to_string(),
            format!("{:.1} ({from:.1} to {to:.1})", self.expected),
            format!("1 in {:.0}", self.evidence),
            if self.look { "look at it".to_owned() } else { String::new() },
        ]
    }
}

#[cfg(test)]
mod tests {
    use fourfold_arena::fair_play::{Decided, Decision};
    use fourfold_engine::solver::{ColumnScores, Score};
    use fourfold_engine::{BySide, Column, Game, Variant};

    use super::records::RatedPlayer;
    use super::*;

    /// A game in which the first side had to find the only column that keeps a far win: others draw.
    fn game(number: u64, first: &str, kept: bool) -> RatedGame {
        let player = |id: &str| RatedPlayer { id: id.into(), name: id.into(), rating: 900 };
        let position = Game::from_moves(Variant::STANDARD, "44224466").unwrap();
        let score = |index| (Column::from_index(index).unwrap(), Score::new(if index == 0 { 2 } else { 0 }));
        let scores: ColumnScores = (0..7).map(score).collect();
        let mut decision = Decision::new(position.position(), &scores).unwrap();
        decision.key = number;
        let decided = vec![Decided { decision, kept }];
        RatedGame {
            id: number.to_string(),
            players: BySide { first: player(first), second: player("other") },
            decided: BySide { first: decided, second: Vec::new() },
        }
    }

    #[test]
    fn who_keeps_what_others_fail_in_comes_first_with_the_games_that_say_so() {
        let people = (0..600).map(|number| game(number, &format!("p{}", number % 6), number / 6 % 10 == 0));
        let games: Vec<RatedGame> =
            people.chain((600..640).map(|number| game(number, "ada", true))).collect();
        let reports = reports(&games);
        let ada = &reports[0];
        assert_eq!((ada.player.as_str(), ada.games, ada.hard, ada.kept), ("ada", 40, 40, 40));
        assert!(ada.look && ada.expected < 20.0 && ada.range.1 < 40.0, "{ada:?}");
        assert_eq!(ada.weighing.len(), GAMES_NAMED_MAX);
        assert!(ada.for_player().starts_with("in 40 hard decisions ada kept 40; people of the rating keep"));
        assert!(reports[1..].iter().all(|report| !report.look), "{reports:?}");
        let alone = super::reports(&games[600..]);
        assert!(
            alone.iter().all(|report| report.hard == 0),
            "with no people there is nothing to hold against"
        );
    }
}
