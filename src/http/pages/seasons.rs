//! Seasons: a list, and each with its table.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use fourfold_engine::Variant;
use serde::Deserialize;

use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::PlayerTag;
use super::{Page, player, words};
use crate::competition::leaderboard::SeasonTable;
use crate::competition::leaderboard::seasons::SeasonPhase;
use crate::http::avatar::Avatar;
use crate::http::seasons::{self, SeasonRow};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::population::Population;
use crate::model::time::UnixMillis;

/// A season in a line.
struct SeasonLine {
    name: String,
    /// From when to when, and the board if it is not the usual one.
    span: String,
    /// Whether it comes, runs or is over.
    state: &'static str,
    is_running: bool,
    games: String,
}

impl SeasonLine {
    fn new(lang: Language, table: &SeasonTable) -> Self {
        let season = &table.season;
        let days = [
            ("start", words::day(lang, season.start.begin())),
            ("end", words::day(lang, season.end.begin())),
        ];
        let span = lang.fill("season.span", &days);
        let is_usual = season.variant == Variant::STANDARD;
        let phase = season.phase(UnixMillis::now());
        let games = table.fits.as_ref().map_or(0, |fits| fits.all.games);
        Self {
            name: season.name.clone(),
            span: if is_usual { span } else { format!("{span} · {}", season.variant) },
            state: phase_word(lang, phase),
            is_running: phase == SeasonPhase::Running,
            games: lang.number(games),
        }
    }
}

fn phase_word(lang: Language, phase: SeasonPhase) -> &'static str {
    match phase {
        SeasonPhase::Coming => lang.text("season.coming"),
        SeasonPhase::Running => lang.text("season.running"),
        SeasonPhase::Over => lang.text("season.over"),
    }
}

#[derive(Template)]
#[template(path = "seasons.html")]
struct SeasonsPage {
    frame: LayoutFrame,
    seasons: Vec<SeasonLine>,
}

pub(super) async fn list(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let snapshot = state.leaderboard.now();
    let page = SeasonsPage {
        frame: visitor.frame(Tab::Leaderboard, lang.text("season.title")),
        seasons: snapshot.seasons.iter().map(|table| SeasonLine::new(lang, table)).collect(),
    };
    Ok(Html(page.render()?))
}

/// A row of a season's table.
struct SeasonPageRow {
    rank: u64,
    avatar: Avatar,
    player: PlayerTag,
    elo: i32,
    pm95: u32,
    /// Games, won, drawn and lost.
    counts: [String; 4],
}

impl SeasonPageRow {
    fn new(lang: Language, SeasonRow { rank, player, fitted }: SeasonRow) -> Self {
        let score = fitted.live.score;
        Self {
            rank,
            avatar: Avatar::of(player.kind, &player.name, player.portrait.picture),
            player: PlayerTag::new(lang, &player::wire(&player, None)),
            elo: fitted.whole_elo(),
            pm95: fitted.whole_pm95(),
            counts: [score.games(), score.wins, score.draws, score.losses].map(|count| lang.number(count)),
        }
    }
}

/// The query of a season's address.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct SeasonQuery {
    /// What is no list is all.
    list: Option<String>,
}

/// One of the lists to choose from.
struct ListChoice {
    value: &'static str,
    word: &'static str,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "season.html")]
struct SeasonPage {
    frame: LayoutFrame,
    season: SeasonLine,
    lists: [ListChoice; 3],
    rows: Vec<SeasonPageRow>,
    /// What fixes the scale; nothing before the first game.
    scale: Option<&'static str>,
}

pub(super) async fn one(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(SeasonQuery { list }): Query<SeasonQuery>,
) -> Page {
    let Some(table) = seasons::named(&state, &name) else { return Err(PageError::not_found(visitor)) };
    let lang = visitor.language();
    let population = list.and_then(|text| text.parse().ok()).unwrap_or_default();
    let rows = seasons::rows(&state, &table, population).await?;
    let choice = |(list, value, word): (Population, &'static str, &'static str)| ListChoice {
        value,
        word,
        is_here: list == population,
    };
    let page = SeasonPage {
        frame: visitor.frame(Tab::Leaderboard, &table.season.name),
        season: SeasonLine::new(lang, &table),
        lists: [
            (Population::All, "all", lang.text("ranking.all")),
            (Population::People, "people", lang.text("ranking.people")),
            (Population::Bots, "bots", lang.text("site.bots")),
        ]
        .map(choice),
        rows: rows.into_iter().map(|row| SeasonPageRow::new(lang, row)).collect(),
        scale: table.fits.as_ref().map(|fits| words::scale(lang, fits.of(population).scale)),
    };
    Ok(Html(page.render()?))
}
