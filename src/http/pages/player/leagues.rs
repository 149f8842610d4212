//! Leagues and badges of a player, in words.

use crate::http::leagues::{Achievements, BOSS_GAMES, LeagueView};
use crate::http::pages::bots::strength_word;
use crate::http::texts::Language;

/// What somebody has shown against the bots of the house.
pub(super) struct LeaguesShown {
    pub(super) rows: Vec<LeagueRow>,
    /// Badges that were earned, in words.
    pub(super) badges: Vec<String>,
    /// What it takes to be promoted.
    pub(super) rule: String,
    /// How many bots of the house were beaten.
    pub(super) house: String,
}

/// One league.
pub(super) struct LeagueRow {
    /// Key of its word.
    pub(super) word: &'static str,
    pub(super) boss: String,
    pub(super) is_beaten: bool,
    /// Whether the player stands there.
    pub(super) is_here: bool,
    /// Points against the boss so far; nothing before the first game.
    pub(super) points: Option<String>,
}

impl LeaguesShown {
    /// `None` before the first game that counts for it, and of the house itself.
    pub(super) fn new(lang: Language, shown: &Achievements) -> Option<Self> {
        if !shown.is_begun() || shown.leagues.is_empty() {
            return None;
        }
        let badges = [(shown.drew_perfect, "league.drew_perfect"), (shown.beat_house(), "league.beat_house")];
        let earned = badges.into_iter().filter(|(earned, _)| *earned);
        let counts = [("beaten", shown.house_beaten), ("house", shown.house)];
        Some(Self {
            badges: earned.map(|(_, key)| lang.text(key).to_owned()).collect(),
            rule: lang.fill("league.rule", &[("pairs", BOSS_GAMES)]),
            house: lang.fill("league.house", &counts),
            rows: shown.leagues.iter().map(|league| LeagueRow::new(lang, league, shown)).collect(),
        })
    }
}

impl LeagueRow {
    fn new(lang: Language, league: &LeagueView, shown: &Achievements) -> Self {
        let points = || {
            let points = lang.decimal(format_args!("{}", league.points));
            lang.fill("league.points", &[("points", points), ("games", lang.number(league.games))])
        };
        Self {
            word: strength_word(league.league),
            boss: league.boss.to_string(),
            is_beaten: league.beaten,
            is_here: shown.league == Some(league.league),
            points: (league.games > 0).then(points),
        }
    }
}
