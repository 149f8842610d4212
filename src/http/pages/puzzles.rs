//! Puzzles: the one of the day, shelves by difficulty, and one puzzle to solve.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use fourfold_engine::Variant;
use serde::Deserialize;

use super::Page;
use super::calendar::{Calendar, first_day};
use super::drawing::{BoardDrawing, Drawing};
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::puzzle_teaser::Teaser;
use super::puzzle_themes::{self, ThemeChoice};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PuzzleId;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{Goal, PuzzleEntry};
use crate::study::puzzles::choosing::day_of;
use crate::study::puzzles::service::{PuzzleError, PuzzleRecord, ShownPuzzle};
use crate::study::puzzles::themes::{Theme, UnknownTheme, themes};

/// Puzzles on a shelf: two rows of a wide page.
const SHELF_MAX: usize = 6;

/// How the visitor does with the puzzle of the day, in one line.
pub(super) async fn streak_in_short(
    state: &AppState,
    visitor: &Visitor,
    lang: Language,
) -> Result<String, PageError> {
    let record = record(state, visitor).await?;
    if record.streak == 0 {
        return Ok(lang.text("puzzles.no_streak").to_owned());
    }
    let days = format!("🔥 {}", lang.count("puzzles.streak", record.streak.into()));
    Ok(if record.solved_today { format!("{days} · {}", lang.text("puzzles.solved_today")) } else { days })
}

/// How the visitor does.
struct Yours {
    headline: String,
    detail: String,
}

impl Yours {
    fn new(lang: Language, record: PuzzleRecord) -> Self {
        let level = || lang.fill("puzzles.your_level", &[("n", record.level)]);
        if record.streak == 0 {
            let detail = if record.tried == 0 { lang.text("puzzles.no_streak").to_owned() } else { level() };
            return Self { headline: lang.text("puzzles.start_streak").to_owned(), detail };
        }
        let today = record.solved_today.then(|| lang.text("puzzles.solved_today").to_owned());
        let best = lang.fill("puzzles.best_streak", &[("n", record.best_streak)]);
        let detail: Vec<String> = [Some(level()), Some(best), today].into_iter().flatten().collect();
        Self { headline: lang.count("puzzles.streak", record.streak.into()), detail: detail.join(" · ") }
    }
}

/// The days on which the visitor solved the daily puzzle; none for whoever is not known.
pub(super) async fn calendar(state: &AppState, visitor: &Visitor) -> Result<Option<Calendar>, PageError> {
    let Some(viewer) = visitor.viewer() else { return Ok(None) };
    let today = day_of(UnixMillis::now());
    let days = state.puzzles.days(&viewer.identity.id, first_day(today)).await?;
    let record = record(state, visitor).await?;
    Ok(Some(Calendar::new(visitor.language(), today, &days, (record.streak, record.best_streak))))
}

/// The puzzle of the day where it is played beside other things.
pub(super) struct LittlePuzzle {
    pub(super) shown: Teaser,
    pub(super) board: BoardDrawing,
    pub(super) moves: String,
    pub(super) goal: &'static str,
}

impl LittlePuzzle {
    /// That of the day; `None` if there are no puzzles.
    pub(super) async fn daily(state: &AppState, lang: Language) -> Result<Option<Self>, PageError> {
        match state.puzzles.daily(UnixMillis::now()).await {
            Ok(shown) => Ok(Some(Self::new(lang, &shown))),
            Err(PuzzleError::NoSuchPuzzle) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    fn new(lang: Language, shown: &ShownPuzzle) -> Self {
        let puzzle = &shown.stored.puzzle;
        Self {
            shown: Teaser::new(lang, shown),
            board: BoardDrawing::to_play(lang, Drawing::new(Variant::STANDARD, &puzzle.moves)),
            moves: puzzle.moves.clone(),
            goal: goal_word(puzzle.goal),
        }
    }
}

/// What is to be reached, as attributes say it.
fn goal_word(goal: Goal) -> &'static str {
    match goal {
        Goal::Win => "win",
        Goal::Draw => "draw",
    }
}

#[derive(Template)]
#[template(path = "puzzles.html")]
struct PuzzlesPage {
    frame: LayoutFrame,
    /// There are no puzzles at all if there is none.
    daily: Option<Teaser>,
    yours: Yours,
    calendar: Option<Calendar>,
    themes: Vec<ThemeChoice>,
    /// Key of the heading, and what stands there; shelves that would be empty are left out.
    shelves: Vec<(&'static str, Vec<Teaser>)>,
}

#[derive(Template)]
#[template(path = "puzzle.html")]
struct Puzzle {
    frame: LayoutFrame,
    shown: Teaser,
    board: BoardDrawing,
    moves: String,
    goal: &'static str,
    is_daily: bool,
    /// The theme that the visitor has chosen.
    chosen: Option<ChosenTheme>,
    /// What it is about, which is shown when it is solved.
    themes: Vec<&'static str>,
    /// The game in which it was found, which is shown when it is solved.
    game: Option<String>,
    yours: String,
}

/// The theme that a puzzle is shown under.
struct ChosenTheme {
    /// As addresses have it.
    word: &'static str,
    name: &'static str,
    url: String,
}

/// Which puzzles somebody wants to see.
#[derive(Debug, Deserialize)]
pub(super) struct PuzzlesWanted {
    theme: Option<String>,
    page: Option<String>,
}

pub(super) async fn index(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(wanted): Query<PuzzlesWanted>,
) -> Result<Response, PageError> {
    let theme = wanted.theme.filter(|theme| !theme.is_empty());
    let Some(theme) = theme else { return Ok(overview(&state, &visitor).await?.into_response()) };
    let page = wanted.page.and_then(|page| page.parse().ok()).unwrap_or(1);
    match theme.parse() {
        Ok(theme) => puzzle_themes::page(&state, &visitor, theme, page).await,
        Err(UnknownTheme) => puzzle_themes::refuse(&state, &visitor, &theme).await,
    }
}

/// All that there is about puzzles.
async fn overview(state: &AppState, visitor: &Visitor) -> Page {
    let lang = visitor.language();
    let record = record(state, visitor).await?;
    let all = state.puzzles.all().await?;
    let page = PuzzlesPage {
        frame: visitor.frame(Tab::Puzzles, lang.text("puzzles.title")),
        daily: daily_teaser(state, lang).await?,
        yours: Yours::new(lang, record),
        calendar: calendar(state, visitor).await?,
        themes: puzzle_themes::choices(state, lang, &all, None).await?,
        shelves: shelves(state, lang, &all).await?,
    };
    Ok(Html(page.render()?))
}

/// The puzzle of the day; `None` if there are no puzzles.
async fn daily_teaser(state: &AppState, lang: Language) -> Result<Option<Teaser>, PageError> {
    match state.puzzles.daily(UnixMillis::now()).await {
        Ok(shown) => Ok(Some(Teaser::new(lang, &shown))),
        Err(PuzzleError::NoSuchPuzzle) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

async fn record(state: &AppState, visitor: &Visitor) -> Result<PuzzleRecord, PageError> {
    match visitor.viewer() {
        Some(viewer) => Ok(state.puzzles.record(&viewer.identity, UnixMillis::now()).await?),
        None => Ok(PuzzleRecord::default()),
    }
}

/// A third of all puzzles on each shelf, of which some are shown, spread over it.
async fn shelves(
    state: &AppState,
    lang: Language,
    all: &[(u32, PuzzleEntry)],
) -> Result<Vec<(&'static str, Vec<Teaser>)>, PageError> {
    let third = all.len().div_ceil(3).max(1);
    let mut shelves = Vec::new();
    for (key, shelf) in ["puzzles.easy", "puzzles.medium", "puzzles.hard"].into_iter().zip(all.chunks(third))
    {
        let mut teasers = Vec::new();
        for entry in spread(shelf) {
            teasers.push(Teaser::new(lang, &state.puzzles.show(&entry.id).await?));
        }
        shelves.push((key, teasers));
    }
    Ok(shelves)
}

fn spread(shelf: &[(u32, PuzzleEntry)]) -> impl Iterator<Item = &PuzzleEntry> {
    let step = shelf.len().div_ceil(SHELF_MAX).max(1);
    shelf.iter().step_by(step).map(|(_, entry)| entry)
}

pub(super) async fn daily(State(state): State<AppState>, visitor: Visitor) -> Page {
    match state.puzzles.daily(UnixMillis::now()).await {
        Ok(shown) => puzzle(&state, &visitor, &shown, Day::Today, None).await,
        Err(PuzzleError::NoSuchPuzzle) => overview(&state, &visitor).await,
        Err(other) => Err(other.into()),
    }
}

/// Under which theme a puzzle is shown.
#[derive(Debug, Deserialize)]
pub(super) struct PuzzleWanted {
    theme: Option<String>,
}

pub(super) async fn one(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(wanted): Query<PuzzleWanted>,
) -> Page {
    // A puzzle is the same under a theme that is none.
    let theme = wanted.theme.and_then(|theme| theme.parse().ok());
    let Ok(id) = id.parse::<PuzzleId>() else { return Err(PageError::not_found(visitor)) };
    match state.puzzles.show(&id).await {
        Ok(shown) => puzzle(&state, &visitor, &shown, Day::Any, theme).await,
        Err(PuzzleError::NoSuchPuzzle) => Err(PageError::not_found(visitor)),
        Err(other) => Err(other.into()),
    }
}

/// What the link to the next puzzle says.
#[derive(Debug, Deserialize)]
pub(super) struct NextPuzzle {
    after: Option<String>,
    theme: Option<String>,
}

/// Leads to a puzzle that suits the visitor.
pub(super) async fn next(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(next): Query<NextPuzzle>,
) -> Result<Response, PageError> {
    let current = next.after.and_then(|id| id.parse::<PuzzleId>().ok());
    let theme = match next.theme.as_deref().map(str::parse::<Theme>) {
        None => None,
        Some(Ok(theme)) => Some(theme),
        Some(Err(UnknownTheme)) => {
            return puzzle_themes::refuse(&state, &visitor, &next.theme.unwrap_or_default()).await;
        }
    };
    let kept = theme.map(|theme| format!("?theme={}", theme.word())).unwrap_or_default();
    let who = visitor.viewer().map(|viewer| &viewer.identity);
    match state.puzzles.next(who, current.as_ref(), theme).await {
        Ok(shown) => Ok(Redirect::to(&format!("/puzzle/{}{kept}", shown.stored.puzzle.id)).into_response()),
        Err(PuzzleError::NoSuchPuzzle) => Ok(Redirect::to("/puzzles").into_response()),
        Err(other) => Err(other.into()),
    }
}

/// Whether a puzzle is shown as that of the day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Day {
    Today,
    Any,
}

async fn puzzle(
    state: &AppState,
    visitor: &Visitor,
    shown: &ShownPuzzle,
    day: Day,
    chosen: Option<Theme>,
) -> Page {
    let lang = visitor.language();
    let record = record(state, visitor).await?;
    let puzzle = &shown.stored.puzzle;
    let title = match day {
        Day::Today => lang.text("puzzles.daily"),
        Day::Any => lang.text("puzzles.one"),
    };
    let streak = (record.streak > 0).then(|| lang.count("puzzles.streak", record.streak.into()));
    let level = (record.tried > 0).then(|| lang.fill("puzzles.your_level", &[("n", record.level)]));
    let yours: Vec<String> = streak.into_iter().chain(level).collect();
    let page = Puzzle {
        frame: visitor.frame(Tab::Puzzles, title),
        shown: Teaser::new(lang, shown),
        board: BoardDrawing::to_play(lang, Drawing::new(Variant::STANDARD, &puzzle.moves)),
        moves: puzzle.moves.clone(),
        goal: goal_word(puzzle.goal),
        is_daily: day == Day::Today,
        chosen: chosen.map(|theme| ChosenTheme {
            word: theme.word(),
            name: puzzle_themes::name(lang, theme),
            url: puzzle_themes::url(theme),
        }),
        themes: themes(puzzle).into_iter().map(|about| puzzle_themes::name(lang, about)).collect(),
        game: puzzle.game.as_ref().map(ToString::to_string),
        yours: yours.join(" · "),
    };
    Ok(Html(page.render()?))
}
