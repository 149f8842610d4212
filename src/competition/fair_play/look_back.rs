//! The alarms that finished games would have raised, in their order: pure. So alarms need not be stored.

use std::collections::{HashMap, VecDeque};

use fourfold_engine::{BySide, Side, Variant};

use super::habits::{Habit, Verdict, WINDOW, boosting, is_given_away, sandbagging};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::published::RatedGame;

/// What one game showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) habit: Habit,
    pub(super) player: PlayerId,
    /// Who gave the points, if it was one.
    pub(super) opponent: Option<PlayerId>,
    pub(super) variant: Variant,
    /// The games given away, the newest first.
    pub(super) games: Vec<GameId>,
}

/// Whom and what an alarm is about.
type Subject = (Habit, PlayerId, Option<PlayerId>, Variant);

/// All that was found, each subject once with the games of all that was found about it.
#[derive(Debug, Default)]
pub(super) struct Findings {
    by_subject: HashMap<Subject, (u64, Vec<GameId>)>,
    count: u64,
}

impl Findings {
    /// Adds what the next game showed; of many games about one subject the newest are kept.
    pub(super) fn add(&mut self, found: Found, games_max: usize) {
        let Found { habit, player, opponent, variant, games } = found;
        self.count += 1;
        let (last, known) = self.by_subject.entry((habit, player, opponent, variant)).or_default();
        *last = self.count;
        let older = std::mem::replace(known, games);
        for game in older {
            if !known.contains(&game) {
                known.push(game);
            }
        }
        known.truncate(games_max);
    }

    /// The last so many, the newest last.
    pub(super) fn last(self, most: usize) -> Vec<Found> {
        let mut all: Vec<(Subject, (u64, Vec<GameId>))> = self.by_subject.into_iter().collect();
        all.sort_unstable_by_key(|(_, (last, _))| *last);
        let surplus = all.len().saturating_sub(most);
        let kept = all.into_iter().skip(surplus);
        kept.map(|((habit, player, opponent, variant), (_, games))| Found {
            habit,
            player,
            opponent,
            variant,
            games,
        })
        .collect()
    }
}

/// What has been seen of each player so far.
#[derive(Debug, Default)]
pub(super) struct LookBack {
    players: HashMap<(PlayerId, Variant), Recent>,
}

/// A player's last rated games on one board.
#[derive(Debug, Default)]
struct Recent {
    games: u64,
    /// Those of the last [`WINDOW`] that were given away, by either side, with their number; the newest first.
    given_away: VecDeque<(u64, RatedGame)>,
}

impl Recent {
    fn add(&mut self, game: &RatedGame, is_given_away: bool) {
        self.games += 1;
        if is_given_away {
            self.given_away.push_front((self.games, game.clone()));
        }
        let oldest = self.games.saturating_sub(WINDOW.into());
        while self.given_away.back().is_some_and(|(number, _)| *number <= oldest) {
            self.given_away.pop_back();
        }
    }

    fn last(&self) -> Vec<RatedGame> {
        self.given_away.iter().map(|(_, game)| game.clone()).collect()
    }
}

impl LookBack {
    /// The next game, and what it shows. Bots of the house give nothing away, nor does anybody win by them.
    pub(super) fn add(&mut self, game: &RatedGame, is_house: impl Fn(&PlayerId) -> bool) -> Vec<Found> {
        let given_away = is_given_away(game);
        let last = BySide::from_fn(|side: Side| {
            let recent = self.players.entry((game.players[side].clone(), game.variant)).or_default();
            recent.add(game, given_away);
            if given_away { recent.last() } else { Vec::new() }
        });
        let Some(winner) = game.result.winner().filter(|_| given_away) else { return Vec::new() };
        let (winner, loser) = (winner, winner.opponent());
        let names = BySide::from_fn(|side: Side| &game.players[side]);
        if is_house(names[loser]) {
            return Vec::new();
        }
        let found = |habit, player: &PlayerId, opponent: Option<&PlayerId>, games| Found {
            habit,
            player: player.clone(),
            opponent: opponent.cloned(),
            variant: game.variant,
            games,
        };
        let mut all = Vec::new();
        if let Verdict::Alarm(games) = sandbagging(names[loser], &last[loser]) {
            all.push(found(Habit::Sandbagging, names[loser], None, games));
        }
        if !is_house(names[winner])
            && let Verdict::Alarm(games) = boosting(names[winner], names[loser], &last[winner])
        {
            all.push(found(Habit::Boosting, names[winner], Some(names[loser]), games));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::habits::tests::{FOUGHT, THROWN, won};
    use super::*;

    /// What is found in games that the first of two names won, one word each.
    fn found(games: &[(&str, &str, &str)]) -> Vec<String> {
        let mut look_back = LookBack::default();
        let mut all = Vec::new();
        for (number, (winner, loser, moves)) in (1..).zip(games) {
            let game = won(number, winner, loser, moves);
            for Found { habit, player, games, .. } in
                look_back.add(&game, |player| player.as_str() == "house")
            {
                all.push(format!("{number} {} {player} {}", habit.as_str(), games.len()));
            }
        }
        all
    }

    #[test]
    fn alarms_come_where_they_came_at_the_time() {
        assert_eq!(found(&[("ann", "eve", THROWN); 3]), [""; 0]);
        assert_eq!(
            found(&[("ann", "eve", THROWN); 5]),
            ["4 sandbagging eve 4", "4 boosting ann 4", "5 sandbagging eve 5", "5 boosting ann 5"]
        );
    }

    #[test]
    fn each_subject_is_told_once_with_its_newest_games() {
        let mut findings = Findings::default();
        let found = |player: &str, games: &[&str]| Found {
            habit: Habit::Sandbagging,
            player: player.parse().unwrap(),
            opponent: None,
            variant: Variant::STANDARD,
            games: games.iter().map(|game| game.parse().unwrap()).collect(),
        };
        for one in
            [found("eve", &["g1"]), found("bob", &["g2"]), found("ann", &["g3"]), found("eve", &["g4", "g1"])]
        {
            findings.add(one, 2);
        }
        findings.add(found("ann", &["g6", "g5"]), 2);
        assert_eq!(findings.last(2), [found("eve", &["g4", "g1"]), found("ann", &["g6", "g5"])]);
    }

    #[test]
    fn what_is_long_ago_counts_no_more() {
        let (thrown, fought) = (("ann", "eve", THROWN), ("ann", "eve", FOUGHT));
        let in_window = [thrown, thrown, thrown, fought, fought, fought, thrown];
        assert_eq!(found(&in_window).len(), 2);
        let out_of_it = [thrown, thrown, thrown, fought, fought, fought, fought, thrown];
        assert_eq!(found(&out_of_it), [""; 0]);
    }

    #[test]
    fn the_house_gives_nothing_away_and_is_given_nothing() {
        assert_eq!(found(&[("ann", "house", THROWN); 7]), [""; 0]);
        assert_eq!(found(&[("house", "eve", THROWN); 4]), ["4 sandbagging eve 4"]);
    }
}
