//! The bots that learn: their curves, what they know, what the last games changed, and their frozen versions.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;
use fourfold_arena::measure::decisions;
use fourfold_bots::{Change, Counts, KnownPattern};
use fourfold_engine::{Cell, Variant};

use super::Page;
use super::chart::{Chart, Value};
use super::error::PageError;
use super::layout::{Frame, Tab, Visitor};
use crate::http::state::AppState;
use crate::ids::PlayerName;
use crate::learning::fold::parse_changes;
use crate::learning::view::LearnerView;
use crate::protocol::terms::WireRating;
use crate::storage::StoreError;
use crate::storage::record::RatingRow;

/// Patterns on one page, the most often seen first.
const PATTERNS_MAX: usize = 60;
/// Lessons on one page.
const LESSONS_MAX: u32 = 8;
/// A cell of a pattern's board is so wide.
const CELL: i32 = 100;

/// The live learner or a version of it, in the table.
struct VersionRow {
    name: String,
    games: u64,
    rating: Option<WireRating>,
    played: u64,
    decision: Option<String>,
}

/// A learner as the pages show it.
struct Learner {
    name: String,
    about: &'static str,
    games: u64,
    patterns: usize,
    elo: Option<Chart>,
    decision: Option<Chart>,
    rows: Vec<VersionRow>,
}

impl Learner {
    /// Patterns that it knows.
    fn count(&self) -> u64 {
        self.patterns as u64
    }
}

/// What is drawn in one cell of a pattern's board.
struct Mark {
    x: i32,
    y: i32,
    class: &'static str,
}

/// A pattern with its board.
struct PatternTile {
    name: String,
    marks: Vec<Mark>,
    counts: String,
}

/// A lesson and what it changed.
struct LessonRow {
    game: Option<String>,
    number: u64,
    new: Vec<String>,
    grown: usize,
}

#[derive(Template)]
#[template(path = "learning.html")]
struct LearningPage {
    frame: Frame,
    learners: Vec<Learner>,
}

#[derive(Template)]
#[template(path = "learner.html")]
struct LearnerPage {
    frame: Frame,
    learner: Learner,
    lessons: Vec<LessonRow>,
    /// Whether it knows how often it saw its patterns, not only what they weigh.
    keeps_counts: bool,
    patterns: Vec<PatternTile>,
}

/// All learners.
pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let frame = visitor.frame(Tab::Elsewhere, visitor.language().text("learning.title"));
    let mut learners = Vec::new();
    for view in state.learning.all() {
        learners.push(learner(&state, &frame, &view).await?);
    }
    Ok(Html(LearningPage { frame, learners }.render()?))
}

/// One learner.
pub(super) async fn one(State(state): State<AppState>, visitor: Visitor, Path(name): Path<String>) -> Page {
    let view = name.parse::<PlayerName>().ok().and_then(|name| state.learning.learner(&name));
    let Some(view) = view else { return Err(PageError::not_found(visitor)) };
    let frame = visitor.frame(Tab::Elsewhere, view.name.as_str());
    let known = view.knowledge.now().patterns();
    let page = LearnerPage {
        learner: learner(&state, &frame, &view).await?,
        lessons: lessons(&state, &view).await?,
        keeps_counts: known.iter().any(|pattern| pattern.counts.seen > 0),
        patterns: known.iter().take(PATTERNS_MAX).map(|pattern| tile(&frame, pattern)).collect(),
        frame,
    };
    Ok(Html(page.render()?))
}

async fn learner(state: &AppState, frame: &Frame, view: &LearnerView) -> Result<Learner, StoreError> {
    let mut rows = Vec::new();
    let mut rated = Vec::new();
    let mut decided = Vec::new();
    for version in &view.versions {
        let row = rating(state, &version.player).await?;
        let wire = row.standing.to_wire();
        if !wire.provisional {
            rated.push(Value { games: version.mark, y: wire.elo.into(), pm95: wire.pm95.into() });
        }
        decided.extend(version.decision.map(|thousandths| decision(version.mark, thousandths)));
        rows.push(VersionRow {
            name: version.name.to_string(),
            games: version.mark,
            rating: (row.standing.games > 0).then_some(wire),
            played: row.standing.games,
            decision: version.decision.map(percent),
        });
    }
    let live = rating(state, &view.player).await?;
    rows.push(VersionRow {
        name: view.name.to_string(),
        games: view.games,
        rating: (live.standing.games > 0).then(|| live.standing.to_wire()),
        played: live.standing.games,
        decision: view.decision.map(percent),
    });
    let curve = state.store.learner_curve(&view.name).await?;
    let point =
        |games, rating: crate::rating::elo::MilliElo| Value { games, y: rating.to_elo().into(), pm95: 0.0 };
    let points: Vec<Value> =
        curve.iter().filter_map(|stored| Some(point(stored.games, stored.rating?))).collect();
    let measured: Vec<Value> =
        curve.iter().filter_map(|stored| Some(decision(stored.games, stored.decision?))).collect();
    let games = frame.text("learning.games_learnt");
    Ok(Learner {
        name: view.name.to_string(),
        about: view.about,
        games: view.games,
        patterns: view.knowledge.now().pattern_count(),
        elo: Chart::new(frame.text("learning.elo_by_games"), games, &rated, &points),
        decision: Chart::new(frame.text("learning.decision_by_games"), games, &decided, &measured),
        rows,
    })
}

/// A point of the curve of decisions, with what its number of positions leaves to chance.
fn decision(games: u64, thousandths: u16) -> Value {
    let share = f64::from(thousandths) / 1_000.0;
    let positions = u32::try_from(decisions::shipped().len()).unwrap_or(u32::MAX);
    let error = (share * (1.0 - share) / f64::from(positions.max(1))).sqrt();
    Value { games, y: share * 100.0, pm95: error * 196.0 }
}

async fn rating(state: &AppState, player: &crate::ids::PlayerId) -> Result<RatingRow, StoreError> {
    Ok(state.store.rating(player, Variant::STANDARD).await?.unwrap_or_default())
}

fn percent(thousandths: u16) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

async fn lessons(state: &AppState, view: &LearnerView) -> Result<Vec<LessonRow>, StoreError> {
    let mut rows = Vec::new();
    for lesson in state.store.last_lessons(&view.name, LESSONS_MAX).await? {
        let game = state.store.audit_finished(lesson.number.saturating_sub(1), 1).await?;
        let game = game.first().and_then(|game| game.as_ref().ok()).map(|game| game.spec.id.to_string());
        let changes = parse_changes(&lesson.changes);
        let (new, grown): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| change.before.is_none());
        let new = new.into_iter().map(|change| change.pattern).collect();
        rows.push(LessonRow { game, number: lesson.number, new, grown: grown.len() });
    }
    Ok(rows)
}

fn tile(frame: &Frame, pattern: &KnownPattern) -> PatternTile {
    let height = i32::from(Variant::STANDARD.height());
    let marks = |cells: &[Cell], class| {
        let mark = move |cell: &Cell| {
            let [column, row] = cell.numbers();
            Mark {
                x: i32::from(column) * CELL - CELL / 2,
                y: (height - i32::from(row)) * CELL + CELL / 2,
                class,
            }
        };
        cells.iter().map(mark).collect::<Vec<_>>()
    };
    let mut all = marks(&pattern.own, "pattern-own");
    all.extend(marks(&pattern.enemy, "pattern-enemy"));
    all.extend(marks(&pattern.answers, "pattern-answer"));
    let counts = match pattern.counts {
        // Some learners keep weights alone.
        Counts { seen: 0, .. } => format!("{:+.2}", pattern.weight),
        Counts { seen, won, lost } => {
            frame.fill("learning.counts", &[("seen", seen), ("won", won), ("lost", lost)])
        }
    };
    PatternTile { name: pattern.name.clone(), marks: all, counts }
}
