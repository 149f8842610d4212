//! The last days of a person.

use askama::Template;
use askama::filters::HtmlSafe;

use super::play;
use crate::competition::leaderboard::activity::{ActiveDay, Played, Sort};
use crate::http::pages::words;
use crate::http::texts::Language;
use crate::model::player::PlayerKind;
use crate::model::rating::elo::MilliElo;
use crate::storage::record::StoredPlayer;

/// What a person did on which day.
#[derive(Template)]
#[template(path = "parts/activity.html")]
pub(super) struct ActivityShown {
    lang: Language,
    days: Vec<DayShown>,
}

impl HtmlSafe for ActivityShown {}

struct DayShown {
    day: String,
    /// As `datetime` has it.
    date: String,
    opponents: String,
    played: Vec<PlayedShown>,
}

struct PlayedShown {
    what: String,
    record: String,
    /// What became of the rating.
    rating: Option<(String, i32)>,
}

impl ActivityShown {
    /// Of a person who has played; bots play all day.
    pub(super) fn new(lang: Language, player: &StoredPlayer, days: Vec<ActiveDay>) -> Option<Self> {
        let is_shown = player.kind == PlayerKind::Human && !days.is_empty();
        is_shown.then(|| Self { lang, days: days.into_iter().map(|day| DayShown::new(lang, day)).collect() })
    }
}

impl DayShown {
    fn new(lang: Language, ActiveDay { day, played, opponents }: ActiveDay) -> Self {
        Self {
            day: words::day(lang, day.begin()),
            date: day.to_string(),
            opponents: lang.count("profile.opponents", opponents as u64),
            played: played.iter().map(|played| PlayedShown::new(lang, played)).collect(),
        }
    }
}

impl PlayedShown {
    fn new(lang: Language, played: &Played) -> Self {
        let sort = match played.sort {
            Sort::Rated => "game.rated",
            Sort::Casual => "game.casual",
            Sort::Correspondence => "correspondence.title",
        };
        let way = |(before, after): (MilliElo, MilliElo)| {
            let (before, after) = (before.to_elo(), after.to_elo());
            (format!("{before} → {after}"), after - before)
        };
        Self {
            what: format!("{} · {}", lang.text(sort), words::board(lang, played.variant)),
            record: play::record(lang, played.score.games(), played.score),
            rating: played.rating.map(way),
        }
    }
}
