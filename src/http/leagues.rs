//! What a player has shown against the bots of the house: leagues, each with a boss, and badges.
//!
//! All of it is read off the rated games on the standard board. Nothing is noted beside them, so what an operator takes
//! out counts here no longer either, and a game from before there were leagues counts.

use fourfold_engine::{Variant, WinDrawLoss};
use schemars::JsonSchema;
use serde::Serialize;

use super::state::{AppState, OpenBot};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::rating::strength::Strength;
use crate::storage::StoreError;
use crate::storage::published::Against;

/// Games by each side before a boss can be beaten: ten pairs, so that luck alone is no promotion.
pub(in crate::http) const BOSS_GAMES: u64 = 10;

/// Opponents that are looked at, those met most often first: more than a house has bots, and than anybody has rivals.
pub(in crate::http) const OPPONENTS_MAX: u32 = 1_000;

/// The bot of the house whose play is perfect.
const PERFECT: &str = "perfect";

/// All leagues, the lowest first.
const LEAGUES: [Strength; 5] =
    [Strength::Beginner, Strength::Casual, Strength::Skilled, Strength::Strong, Strength::Expert];

/// One league.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "League")]
pub(in crate::http) struct LeagueView {
    /// How strong one is there.
    pub(in crate::http) league: Strength,
    /// The strongest bot of the house in it; who beats it is promoted.
    pub(in crate::http) boss: PlayerName,
    /// Rated games against it.
    pub(in crate::http) games: u64,
    /// Points in them: 1 for a win, 0.5 for a draw.
    pub(in crate::http) points: f64,
    /// Whether it is beaten: more than half of the points, over at least ten games by each side.
    pub(in crate::http) beaten: bool,
}

/// What a player has shown against the bots of the house.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Achievements")]
pub(in crate::http) struct Achievements {
    /// Where the player stands: in the lowest league whose boss is not beaten. Null if all are beaten, of bots of the
    /// house, and in a house without strengths.
    pub(in crate::http) league: Option<Strength>,
    /// All leagues with a boss, the lowest first.
    pub(in crate::http) leagues: Vec<LeagueView>,
    /// Whether it moved first against `perfect` and did not lose.
    pub(in crate::http) drew_perfect: bool,
    /// Bots of the house that it has won a rated game against.
    pub(in crate::http) house_beaten: usize,
    /// How many there are.
    pub(in crate::http) house: usize,
}

impl Achievements {
    /// As the rated games say.
    pub(in crate::http) async fn of(state: &AppState, player: &PlayerId) -> Result<Self, StoreError> {
        let met = state.store.crosstable(player, Variant::STANDARD, OPPONENTS_MAX).await?;
        Ok(Self::new(player, &state.arena.open_bots(), &met))
    }

    /// As this crosstable of the standard board says.
    pub(in crate::http) fn new(player: &PlayerId, bots: &[OpenBot], met: &[Against]) -> Self {
        // Frozen versions of learners have no strength of their own, and there are more of them every day.
        let house: Vec<&OpenBot> = bots.iter().filter(|bot| bot.house && bot.strength.is_some()).collect();
        let against = |bot: &OpenBot| met.iter().find(|row| row.opponent == bot.player.id);
        let is_of_house = bots.iter().any(|bot| bot.house && bot.player.id == *player);
        let leagues: Vec<LeagueView> = if is_of_house { Vec::new() } else { leagues(&house, against) };
        let is_beaten = |bot: &&&OpenBot| against(bot).is_some_and(|row| row.score.sum().wins > 0);
        Self {
            league: leagues.iter().find(|league| !league.beaten).map(|league| league.league),
            leagues,
            drew_perfect: house
                .iter()
                .filter(|bot| bot.player.name.as_str() == PERFECT)
                .filter_map(|bot| against(bot))
                .any(|row| row.score.first.wins + row.score.first.draws > 0),
            house_beaten: house.iter().filter(is_beaten).count(),
            house: house.len(),
        }
    }

    /// Whether there is anything to show.
    pub(in crate::http) fn is_begun(&self) -> bool {
        self.leagues.iter().any(|league| league.games > 0) || self.house_beaten > 0
    }

    /// Whether it has won against every bot of the house.
    pub(in crate::http) fn beat_house(&self) -> bool {
        self.house > 0 && self.house_beaten == self.house
    }
}

fn leagues<'m>(house: &[&OpenBot], against: impl Fn(&OpenBot) -> Option<&'m Against>) -> Vec<LeagueView> {
    let league = |strength: &Strength| {
        let members = house.iter().filter(|bot| bot.strength == Some(*strength));
        let boss =
            members.max_by(|a, b| (a.elo, b.player.name.as_str()).cmp(&(b.elo, a.player.name.as_str())))?;
        let score = against(boss).map(|row| row.score).unwrap_or_default();
        let (games, points) = (score.sum().games(), points(score.sum()));
        let has_pairs = score.first.games() >= BOSS_GAMES && score.second.games() >= BOSS_GAMES;
        let beaten = has_pairs && score.sum().wins > score.sum().losses;
        let boss = boss.player.name.clone();
        Some(LeagueView { league: *strength, boss, games, points, beaten })
    };
    LEAGUES.iter().filter_map(league).collect()
}

#[expect(clippy::cast_precision_loss, reason = "nobody plays 2^52 games")]
fn points(score: WinDrawLoss) -> f64 {
    (2 * score.wins + score.draws) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use fourfold_engine::BySide;

    use super::*;
    use crate::http::testing::house_bot;
    use crate::storage::conformance::player_id;

    fn line_up() -> Vec<OpenBot> {
        vec![
            house_bot("random", Some(Strength::Beginner), 0),
            house_bot("stupid", Some(Strength::Beginner), 273),
            house_bot("mcts", Some(Strength::Expert), 1513),
            house_bot("perfect", Some(Strength::Expert), 1756),
            house_bot("frozen", None, 2000),
            OpenBot { house: false, ..house_bot("remote", Some(Strength::Expert), 3000) },
        ]
    }

    fn score(wins: u64, draws: u64, losses: u64) -> WinDrawLoss {
        WinDrawLoss { wins, draws, losses }
    }

    fn against(name: &str, first: WinDrawLoss, second: WinDrawLoss) -> Against {
        Against { opponent: player_id(name), score: BySide { first, second } }
    }

    #[test]
    fn who_beats_the_boss_over_ten_pairs_is_promoted() {
        let shown = |first, second| {
            let met = [against("stupid", first, second)];
            Achievements::new(&player_id("ada"), &line_up(), &met)
        };
        let nobody = Achievements::new(&player_id("ada"), &line_up(), &[]);
        let bosses: Vec<&str> = nobody.leagues.iter().map(|league| league.boss.as_str()).collect();
        assert_eq!((bosses, nobody.league), (vec!["stupid", "perfect"], Some(Strength::Beginner)));
        assert!(!nobody.is_begun() && !nobody.beat_house());
        for (first, second, expected) in [
            (score(9, 0, 0), score(30, 0, 0), Strength::Beginner),
            (score(5, 0, 5), score(5, 0, 5), Strength::Beginner),
            (score(10, 0, 0), score(0, 0, 10), Strength::Beginner),
            (score(10, 0, 0), score(1, 0, 9), Strength::Expert),
            (score(0, 10, 0), score(1, 9, 0), Strength::Expert),
        ] {
            let found = shown(first, second);
            assert_eq!(found.league, Some(expected), "{first:?} {second:?}");
            assert!(found.is_begun());
        }
        assert!((shown(score(10, 1, 0), score(0, 0, 0)).leagues[0].points - 10.5).abs() < 1e-9);
    }

    #[test]
    fn badges_are_for_not_losing_to_perfect_and_for_beating_all() {
        let of = |met: &[Against]| Achievements::new(&player_id("ada"), &line_up(), met);
        let none = score(0, 0, 0);
        assert!(!of(&[against("perfect", score(0, 0, 9), score(0, 1, 0))]).drew_perfect);
        assert!(of(&[against("perfect", score(0, 1, 9), none)]).drew_perfect);
        assert!(of(&[against("perfect", score(1, 0, 0), none)]).drew_perfect);
        let won = |name: &str| against(name, none, score(1, 0, 50));
        let mut met = ["random", "stupid", "mcts", "remote"].map(won).to_vec();
        assert_eq!((of(&met).house_beaten, of(&met).house, of(&met).beat_house()), (3, 4, false));
        met.push(won("perfect"));
        assert!(of(&met).beat_house());
    }

    #[test]
    fn the_house_itself_is_in_no_league() {
        let boss = Achievements::new(&player_id("stupid"), &line_up(), &[]);
        assert_eq!((boss.league, boss.leagues), (None, Vec::new()));
    }
}
