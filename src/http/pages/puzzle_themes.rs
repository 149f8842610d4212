//! Puzzles of one theme, the easiest first, and the themes to choose from.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::puzzle_teaser::Teaser;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::storage::puzzles::PuzzleEntry;
use crate::study::puzzles::themes::Theme;

/// Puzzles on a page: four rows of a wide one.
const PAGE_PUZZLES: usize = 24;

/// The word for what a puzzle is about.
pub(super) fn name(lang: Language, theme: Theme) -> &'static str {
    match theme {
        Theme::Fork => lang.text("rush.theme_fork"),
        Theme::OnlyDefence => lang.text("rush.theme_only_defence"),
        Theme::OddThreat => lang.text("rush.theme_odd_threat"),
        Theme::Sacrifice => lang.text("rush.theme_sacrifice"),
        Theme::LongWin => lang.text("rush.theme_long_win"),
    }
}

/// Its entry in the glossary.
fn term(theme: Theme) -> &'static str {
    match theme {
        Theme::Fork => "fork",
        Theme::OnlyDefence => "only-defence",
        Theme::OddThreat => "waiting-threat",
        Theme::Sacrifice => "sacrifice",
        Theme::LongWin => "long-win",
    }
}

/// Where the puzzles of a theme are listed.
pub(super) fn url(theme: Theme) -> String {
    format!("/puzzles?theme={}", theme.word())
}

/// A theme to choose, or all of them.
pub(super) struct ThemeChoice {
    pub(super) url: String,
    pub(super) word: &'static str,
    /// How many puzzles there are.
    pub(super) count: String,
    pub(super) is_here: bool,
}

/// All of these puzzles, then those of each theme that has any.
pub(super) async fn choices(
    state: &AppState,
    lang: Language,
    puzzles: &[(u32, PuzzleEntry)],
    chosen: Option<Theme>,
) -> Result<Vec<ThemeChoice>, PageError> {
    let all = ThemeChoice {
        url: "/puzzles".to_owned(),
        word: lang.text("puzzles.all_themes"),
        count: lang.number(puzzles.len() as u64),
        is_here: chosen.is_none(),
    };
    let counts = state.puzzles.theme_counts(puzzles).await?.into_iter().filter(|(_, count)| *count > 0);
    let of_theme = |(theme, count): (Theme, usize)| ThemeChoice {
        url: url(theme),
        word: name(lang, theme),
        count: lang.number(count as u64),
        is_here: chosen == Some(theme),
    };
    Ok(std::iter::once(all).chain(counts.map(of_theme)).collect())
}

/// Other pages of the list.
#[derive(Debug, PartialEq, Eq)]
struct Pager {
    /// Which one this is, and how many there are.
    words: String,
    easier: Option<String>,
    harder: Option<String>,
}

impl Pager {
    fn new(lang: Language, theme: Theme, page: usize, pages: usize) -> Self {
        let first = url(theme);
        // The ampersand stands in an attribute.
        let at = |page: usize| if page == 1 { first.clone() } else { format!("{first}&page={page}") };
        Self {
            words: lang.fill("puzzles.page_of", &[("n", page), ("of", pages)]),
            easier: (page > 1).then(|| at(page - 1)),
            harder: (page < pages).then(|| at(page + 1)),
        }
    }
}

#[derive(Template)]
#[template(path = "puzzle-theme.html")]
struct ThemePage {
    frame: LayoutFrame,
    themes: Vec<ThemeChoice>,
    title: &'static str,
    word: &'static str,
    term: &'static str,
    tiles: Vec<Teaser>,
    pager: Option<Pager>,
}

/// A page of the puzzles of a theme; the last one stands for those beyond.
pub(super) async fn page(
    state: &AppState,
    visitor: &Visitor,
    theme: Theme,
    page: usize,
) -> Result<Response, PageError> {
    let lang = visitor.language();
    let all = state.puzzles.all().await?;
    let themes = choices(state, lang, &all, Some(theme)).await?;
    let all = state.puzzles.of_theme(all, theme).await?;
    let pages = all.len().div_ceil(PAGE_PUZZLES).max(1);
    let page = page.clamp(1, pages);
    let mut tiles = Vec::new();
    for (_, entry) in all.iter().skip((page - 1) * PAGE_PUZZLES).take(PAGE_PUZZLES) {
        tiles.push(Teaser::new(lang, &state.puzzles.show(&entry.id).await?));
    }
    let title = name(lang, theme);
    let shown = ThemePage {
        themes,
        title,
        word: theme.word(),
        term: term(theme),
        tiles,
        pager: (pages > 1).then(|| Pager::new(lang, theme, page, pages)),
        frame: visitor.frame(Tab::Puzzles, format!("{} · {title}", lang.text("puzzles.title"))),
    };
    Ok(Html(shown.render()?).into_response())
}

#[derive(Template)]
#[template(path = "puzzle-no-theme.html")]
struct NoThemePage {
    frame: LayoutFrame,
    themes: Vec<ThemeChoice>,
    words: String,
}

/// Says that there is no such theme, and which ones there are.
pub(super) async fn refuse(state: &AppState, visitor: &Visitor, wanted: &str) -> Result<Response, PageError> {
    let lang = visitor.language();
    let shown = NoThemePage {
        themes: choices(state, lang, &state.puzzles.all().await?, None).await?,
        words: lang.fill("puzzles.no_theme", &[("theme", wanted)]),
        frame: visitor.frame(Tab::Puzzles, lang.text("puzzles.title")),
    };
    Ok((StatusCode::BAD_REQUEST, Html(shown.render()?)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lead_to_those_before_and_behind() {
        let pager = |page| Pager::new(Language::English, Theme::LongWin, page, 3);
        let (first, last) = (pager(1), pager(3));
        assert_eq!((first.words.as_str(), first.easier), ("Page 1 of 3", None));
        assert_eq!(first.harder.as_deref(), Some("/puzzles?theme=long&page=2"));
        assert_eq!(pager(2).easier.as_deref(), Some("/puzzles?theme=long"));
        assert_eq!((last.easier.as_deref(), last.harder), (Some("/puzzles?theme=long&page=2"), None));
    }
}
