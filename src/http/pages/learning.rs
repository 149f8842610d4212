//! The bots that learn: how strong they got, what they know, what the last games changed, and their frozen versions.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use fourfold_arena::measure::decisions;
use fourfold_bots::{Counts, KnownPattern};
use fourfold_engine::{BySide, Variant};

use super::Page;
use super::bots;
use super::changed_moves::{self, Turns};
use super::characters::{Character, PlayDialog};
use super::chart::{Chart, Datum};
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::leaderboard::LEARNERS;
use super::pattern::{PatternBoard, PatternCells};
use super::words;
use crate::http::ranking::PublishedShown;
use crate::http::state::AppState;
use crate::http::texts::{Language, Linked};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::population::Population;
use crate::study::learning;
use crate::study::learning::changes::Changes;
use crate::study::learning::lesson_history::{LessonsWanted, PastLesson, PastLessonGame, last_lessons};
use crate::study::learning::view::LearnerView;

use crate::storage::StoreError;
use crate::study::learning::Watches;

/// Patterns on one page, the most often seen first.
const PATTERNS_MAX: usize = 60;
/// New patterns of a lesson that are drawn.
const NEW_MAX: usize = 12;
/// Moves of a lesson's game that are drawn at which it chose otherwise right after.
const TURNS_MAX: usize = 6;

/// The live learner or a version of it, in the table.
struct LearningVersionRow {
    name: String,
    games: u64,
    is_live: bool,
    rating: Option<PublishedShown>,
    played: u64,
    decision: Option<u16>,
}

impl LearningVersionRow {
    fn provisional(&self) -> bool {
        self.rating.is_some_and(|shown| shown.rating.provisional)
    }

    fn decision(&self, lang: Language) -> Option<String> {
        self.decision.map(|thousandths| percent(lang, thousandths))
    }

    /// Where it stands on the curve of ratings, unless too few games say so.
    fn rated(&self) -> Option<Datum> {
        let rating = self.rating?.rating;
        if rating.provisional || rating.is_measured() {
            return None;
        }
        Some(Datum { games: self.games, y: rating.elo.into(), pm95: rating.pm95.into() })
    }
}

/// How far a learner has come since its first version, as one line.
struct Growth {
    label: &'static str,
    value: String,
}

/// A learner as the pages show it.
struct LearnerSummary {
    name: String,
    about: String,
    games: u64,
    is_remade: bool,
    patterns: usize,
    growth: Vec<Growth>,
    /// Between which numbers of games it grew so.
    span: String,
    elo: Option<Chart>,
    decision: Option<Chart>,
    rows: Vec<LearningVersionRow>,
}

impl LearnerSummary {
    /// Patterns that it knows.
    fn count(&self) -> u64 {
        self.patterns as u64
    }
}

/// A learner among all of them.
struct Overview {
    learner: LearnerSummary,
    last: Option<LessonRow>,
}

/// A pattern with its board.
struct PatternTile {
    board: PatternBoard,
    counts: String,
}

/// A lesson and what it changed.
#[derive(Default)]
struct LessonRow {
    number: u64,
    game: Option<LessonGame>,
    /// What changed, in words.
    changed: String,
    /// Patterns that were new.
    new: Vec<PatternBoard>,
    /// How many of them are not drawn.
    more: usize,
    /// Moves of the game at which it chose otherwise right after.
    turns: Turns,
}

/// The game that taught something.
struct LessonGame {
    id: String,
    first: String,
    second: String,
    score: &'static str,
}

/// What a reader needs to know to read the figures.
struct Legend {
    decision: &'static str,
    rating: Linked,
    scale: &'static str,
}

#[derive(Template)]
#[template(path = "learning.html")]
struct LearningPage {
    frame: LayoutFrame,
    legend: Legend,
    /// How many games the judge is behind, if it is at work and has not just caught up.
    unjudged: Option<u64>,
    learners: Vec<Overview>,
}

#[derive(Template)]
#[template(path = "learner.html")]
struct LearnerPage {
    frame: LayoutFrame,
    legend: Legend,
    /// Where one chooses how to play against it.
    dialog: PlayDialog,
    learner: LearnerSummary,
    lessons: Vec<LessonRow>,
    /// Whether it knows how often it saw its patterns, not only what they weigh.
    keeps_counts: bool,
    cells: PatternCells,
    patterns: Vec<PatternTile>,
    /// That there are more patterns than are drawn.
    more: Option<String>,
}

/// All learners.
pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let frame = visitor.frame(Tab::Learning, visitor.language().text("learning.title"));
    let mut learners = Vec::new();
    for view in state.learning.all() {
        let last = lessons(&state, frame.lang, &view, LessonsWanted::LAST).await?.pop();
        learners.push(Overview { learner: learner(&state, &frame, &view).await?, last });
    }
    let legend = legend(&state, frame.lang);
    let judging = state.store.judging_progress().await?;
    let unjudged = Some(judging.behind()).filter(|behind| judging.covered > 0 && *behind > 0);
    Ok(Html(LearningPage { frame, legend, unjudged, learners }.render()?))
}

/// One learner. A frozen version has nothing to watch, but a page as a player.
pub(super) async fn one(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let Ok(name) = name.parse::<PlayerName>() else { return Err(PageError::not_found(visitor)) };
    if state.learning.has_version(&name) {
        return Ok(Redirect::to(&format!("/player/{name}")).into_response());
    }
    let Some(view) = state.learning.learner(&name) else { return Err(PageError::not_found(visitor)) };
    let frame = visitor.frame(Tab::Learning, view.name.as_str());
    let knowledge = view.knowledge.now();
    let known = learning::patterns(&knowledge).await?;
    let learner = learner(&state, &frame, &view).await?;
    let rivals = Character::all(frame.lang, &state.arena.open_bots());
    let page = LearnerPage {
        dialog: PlayDialog::new(frame.lang, rivals, visitor.signed_in().is_some()),
        legend: legend(&state, frame.lang),
        lessons: lessons(&state, frame.lang, &view, LessonsWanted::SHOWN).await?,
        keeps_counts: knowledge.keeps_counts(),
        cells: PatternCells::new(),
        more: (learner.patterns > PATTERNS_MAX)
            .then(|| frame.lang.fill("learner.first_patterns", &[("n", PATTERNS_MAX)])),
        learner,
        patterns: known.iter().take(PATTERNS_MAX).map(|pattern| tile(frame.lang, pattern)).collect(),
        frame,
    };
    Ok(Html(page.render()?).into_response())
}

fn legend(state: &AppState, lang: Language) -> Legend {
    let snapshot = state.leaderboard.now();
    let field = snapshot.field(Variant::STANDARD, Population::Bots);
    Legend {
        decision: lang.text("learning.decision_lead"),
        rating: lang.linked("learner.elo_lead", LEARNERS),
        scale: field.map_or("", |field| words::scale(lang, field.scale)),
    }
}

async fn learner(
    state: &AppState,
    frame: &LayoutFrame,
    view: &LearnerView,
) -> Result<LearnerSummary, StoreError> {
    let lang = frame.lang;
    let rows = version_rows(state, view).await?;
    let (frozen, live): (Vec<&LearningVersionRow>, Vec<&LearningVersionRow>) =
        rows.iter().partition(|row| !row.is_live);
    let rated: Vec<Datum> = frozen.iter().filter_map(|row| row.rated()).collect();
    let now = live.iter().filter_map(|row| row.rated());
    let grown: Vec<Datum> = rated.last().copied().into_iter().chain(now).collect();
    let decided: Vec<Datum> =
        frozen.iter().filter_map(|row| Some(decision(row.games, row.decision?))).collect();
    let curve = state.store.learner_curve(&view.name).await?;
    let measured: Vec<Datum> =
        curve.iter().filter_map(|stored| Some(decision(stored.games, stored.decision?))).collect();
    let games = lang.text("learning.games_learnt");
    let first = frozen.first().map_or(0, |row| row.games);
    let span = [("from", lang.number(first)), ("to", lang.number(view.games))];
    let own = match view.watches {
        Watches::Own => lang.text("learner.watches_own"),
        Watches::All => lang.text("learner.watches_all"),
    };
    let about = bots::house_about(lang, &view.name).unwrap_or_else(|| view.about.to_owned());
    Ok(LearnerSummary {
        name: view.name.to_string(),
        about: format!("{about} {own}"),
        games: view.games,
        is_remade: view.is_remade,
        patterns: view.knowledge.now().pattern_count(),
        growth: growth(lang, &rows),
        span: lang.fill("learner.span", &span),
        elo: Chart::new(lang.text("learning.elo_by_games"), games, &rated, &grown),
        decision: Chart::new(lang.text("learning.decision_by_games"), games, &decided, &measured),
        rows,
    })
}

/// The frozen versions by what they had learnt, then the live one.
async fn version_rows(state: &AppState, view: &LearnerView) -> Result<Vec<LearningVersionRow>, StoreError> {
    let frozen = view.versions.iter();
    let frozen = frozen.map(|it| (&it.name, &it.player, it.mark, it.decision, false));
    let live = (&view.name, &view.player, view.games, view.decision, true);
    let mut rows = Vec::new();
    for (name, player, games, decision, is_live) in frozen.chain([live]) {
        let (rating, played) = rating(state, player).await?;
        rows.push(LearningVersionRow { name: name.to_string(), games, is_live, rating, played, decision });
    }
    Ok(rows)
}

/// The published rating, and how many rated games were played.
async fn rating(state: &AppState, player: &PlayerId) -> Result<(Option<PublishedShown>, u64), StoreError> {
    let live = state.store.rating(player, Variant::STANDARD).await?;
    let games = live.map_or(0, |live| live.standing.games);
    Ok((PublishedShown::if_known(state, player, Variant::STANDARD, live), games))
}

/// From the first version to the live one, as far as both are known.
fn growth(lang: Language, rows: &[LearningVersionRow]) -> Vec<Growth> {
    let [first, .., last] = rows else { return Vec::new() };
    let mut growth = Vec::new();
    if let (Some(before), Some(now)) = (first.decision(lang), last.decision(lang)) {
        growth
            .push(Growth {
                label: lang.text("learner.right_decisions"), value: format!("{before} → {now}")
            });
    }
    let rated = |row: &LearningVersionRow| row.rating.filter(|_| !row.provisional());
    if let (Some(before), Some(now)) = (rated(first), rated(last)) {
        let value = format!("{} → {}", before.rating.elo, now.rating.elo);
        growth.push(Growth { label: lang.text("ranking.rating"), value });
    }
    growth
}

/// A point of the curve of decisions, with what its number of positions leaves to chance.
fn decision(games: u64, thousandths: u16) -> Datum {
    let share = f64::from(thousandths) / 1_000.0;
    let positions = u32::try_from(decisions::shipped().len()).unwrap_or(u32::MAX);
    let error = (share * (1.0 - share) / f64::from(positions.max(1))).sqrt();
    Datum { games, y: share * 100.0, pm95: error * 196.0 }
}

fn percent(lang: Language, thousandths: u16) -> String {
    lang.decimal(format_args!("{}.{} %", thousandths / 10, thousandths % 10))
}

/// The last lessons, the newest first.
async fn lessons(
    state: &AppState,
    lang: Language,
    view: &LearnerView,
    wanted: LessonsWanted,
) -> Result<Vec<LessonRow>, StoreError> {
    let unnamed = if view.knowledge.now().keeps_counts() {
        lang.text("learner.nothing_changed")
    } else {
        lang.text("learning.weights_moved")
    };
    let lessons = last_lessons(&*state.store, &view.name, wanted).await?;
    let row = |PastLesson { number, game, changes }: PastLesson| {
        let moves = game.as_ref().map_or("", |game| &game.moves);
        let turns = Turns::new(lang, moves, changes.turns(), TURNS_MAX);
        let game = game.map(LessonGame::from);
        LessonRow { number, game, turns, ..LessonRow::of(lang, &changes, unnamed) }
    };
    Ok(lessons.into_iter().map(row).collect())
}

impl From<PastLessonGame> for LessonGame {
    fn from(game: PastLessonGame) -> Self {
        let PastLessonGame { id, players: BySide { first, second }, result, moves: _ } = game;
        let score = words::score(result);
        Self { id: id.to_string(), first: first.to_string(), second: second.to_string(), score }
    }
}

impl LessonRow {
    /// What changed, or `unnamed` if nothing that has a name did.
    fn of(lang: Language, changes: &Changes, unnamed: &str) -> Self {
        let &Changes { changed, new, ref named, changed_moves: _ } = changes;
        let mut text = if changed == 0 {
            unnamed.to_owned()
        } else {
            lang.fill("learning.changed", &[("new", new), ("grown", changed - new)])
        };
        if let Some(turns) = changed_moves::count(lang, changes).filter(|_| !changes.turns().is_empty()) {
            text = format!("{text}; {turns}");
        }
        let drawn = named.iter().filter(|change| change.before.is_none()).take(NEW_MAX);
        let drawn: Vec<PatternBoard> =
            drawn.map(|change| PatternBoard::named(lang, &change.pattern)).collect();
        let more = new.saturating_sub(drawn.len());
        Self { changed: text, new: drawn, more, ..Self::default() }
    }
}

fn tile(lang: Language, pattern: &KnownPattern) -> PatternTile {
    let counts = match pattern.counts {
        // Some learners keep weights alone.
        Counts { seen: 0, .. } => words::signed(pattern.weight),
        Counts { seen, won, lost } => {
            lang.fill("learning.counts", &[("seen", seen), ("won", won), ("lost", lost)])
        }
    };
    PatternTile { board: PatternBoard::known(lang, pattern), counts }
}
