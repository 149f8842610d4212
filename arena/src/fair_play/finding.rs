//! Rated games between people summed up by player.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use fourfold_engine::{BySide, Side};
use serde::{Deserialize, Serialize};

use super::account::Account;
use super::decision::Decided;
use super::yardstick::{Sample, Yardstick};

/// Games that a finding names: those that weigh most, enough to look at.
const GAMES_NAMED_MAX: usize = 10;

/// Somebody in a rated game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RatedPlayer {
    pub id: String,
    /// What it was before the game.
    pub rating: i32,
}

/// A rated game between people whose positions are solved.
#[derive(Clone, PartialEq, Debug)]
pub struct SolvedGame {
    pub id: String,
    pub players: BySide<RatedPlayer>,
    pub decided: BySide<Vec<Decided>>,
}

/// How one player's decisions stand.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub player: String,
    pub games: u32,
    pub hard: u32,
    pub kept: u32,
    /// What people of the rating keep, on average.
    pub expected: f64,
    /// What 19 in 20 of them keep, about.
    pub range: (f64, f64),
    /// One honest player in so many ever gets so far.
    pub evidence: f64,
    /// Whether an operator should look.
    pub look: bool,
    /// The games that speak most for help, the weightiest first.
    pub weighing: Vec<WeighingGame>,
}

/// A game that speaks for help.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WeighingGame {
    pub game: String,
    /// So many times more evidence after it than before.
    pub factor: f64,
}

/// A player while its games are gone through.
#[derive(Debug, Default)]
struct Standing {
    games: u32,
    account: Account,
    weighing: Vec<WeighingGame>,
}

/// All players of these games, given in the order in which they ended: those with the most evidence first, then by id.
pub fn findings<G: Borrow<SolvedGame>>(games: &[G]) -> Vec<Finding> {
    let games: Vec<&SolvedGame> = games.iter().map(Borrow::borrow).collect();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for player in games.iter().flat_map(|game| [&game.players.first, &game.players.second]) {
        let next = numbers.len();
        numbers.entry(&player.id).or_insert(next);
    }
    let yardstick = Yardstick::new(&samples(&games, &numbers));
    let mut standings: Vec<Standing> = numbers.values().map(|_| Standing::default()).collect();
    for game in &games {
        for side in [Side::First, Side::Second] {
            let player = &game.players[side];
            let number = numbers[player.id.as_str()];
            let standing = &mut standings[number];
            standing.games += 1;
            let before = standing.account.log_evidence();
            standing.account.add(yardstick.measure(number, player.rating), &game.decided[side]);
            let factor = (standing.account.log_evidence() - before).exp();
            if factor > 1.0 {
                standing.weighing.push(WeighingGame { game: game.id.clone(), factor });
            }
        }
    }
    let found = |(id, number): (&str, usize)| std::mem::take(&mut standings[number]).found(id);
    let mut findings: Vec<Finding> = numbers.into_iter().map(found).collect();
    findings.sort_by(|a, b| b.evidence.total_cmp(&a.evidence).then_with(|| a.player.cmp(&b.player)));
    findings
}

fn samples<'a>(games: &[&'a SolvedGame], numbers: &BTreeMap<&str, usize>) -> Vec<Sample<'a>> {
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

impl Standing {
    fn found(self, player: &str) -> Finding {
        let Self { games, account, mut weighing } = self;
        weighing.sort_by(|a, b| b.factor.total_cmp(&a.factor));
        weighing.truncate(GAMES_NAMED_MAX);
        Finding {
            player: player.to_owned(),
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

#[cfg(test)]
mod tests {
    use fourfold_engine::solver::{ColumnScores, Score};
    use fourfold_engine::{Column, Game, Variant};

    use super::super::decision::Decision;
    use super::*;

    /// A game in which the first side had to find the only column that keeps a far win: others draw.
    fn game(number: u64, first: &str, kept: bool) -> SolvedGame {
        let player = |id: &str| RatedPlayer { id: id.into(), rating: 900 };
        let position = Game::from_moves(Variant::STANDARD, "44224466").unwrap();
        let score = |index| (Column::from_index(index).unwrap(), Score::new(if index == 0 { 2 } else { 0 }));
        let scores: ColumnScores = (0..7).map(score).collect();
        let mut decision = Decision::new(position.position(), &scores).unwrap();
        decision.key = number;
        let decided = vec![Decided { decision, kept }];
        SolvedGame {
            id: number.to_string(),
            players: BySide { first: player(first), second: player("other") },
            decided: BySide { first: decided, second: Vec::new() },
        }
    }

    #[test]
    fn who_keeps_what_others_fail_in_comes_first_with_the_games_that_say_so() {
        let people = (0..600).map(|number| game(number, &format!("p{}", number % 6), number / 6 % 10 == 0));
        let games: Vec<SolvedGame> =
            people.chain((600..640).map(|number| game(number, "ada", true))).collect();
        let found = findings(&games);
        let ada = &found[0];
        assert_eq!((ada.player.as_str(), ada.games, ada.hard, ada.kept), ("ada", 40, 40, 40));
        assert!(ada.look && ada.expected < 20.0 && ada.range.1 < 40.0, "{ada:?}");
        assert_eq!(ada.weighing.len(), GAMES_NAMED_MAX);
        assert!(found[1..].iter().all(|finding| !finding.look), "{found:?}");
        let alone = findings(&games[600..]);
        assert!(alone.iter().all(|finding| finding.hard == 0), "there is nobody to hold ada against");
    }
}
