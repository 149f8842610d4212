//! Studies: the list, one to read, and the desk at which one is made or changed.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use fourfold_engine::notation::print_moves;
use serde::Serialize;

use super::drawing::{BoardDrawing, DiscIcon, Drawing, MiniBoard};
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::Icon;
use super::{Page, analysis, words};
use crate::http::opening_names::OpeningLine;
use crate::http::state::AppState;
use crate::http::study_view::{CommentView, StudyView, owner_of, view_of, views_of};
use crate::http::texts::Language;
use crate::model::ids::{PlayerName, StudyId};
use crate::model::player::PlayerKind;
use crate::storage::studies::StoredStudy;
use crate::study::studies::StudyError;

/// Studies on one page of the list.
const STUDIES_PER_PAGE: u32 = 24;

/// A study in a list.
struct StudyTile {
    id: StudyId,
    title: String,
    by: PlayerName,
    board: MiniBoard,
    /// Whether it is found by its link alone.
    is_by_link: bool,
}

impl StudyTile {
    fn new(view: StudyView) -> Self {
        let board = MiniBoard { drawing: Drawing::new(view.variant.0, &view.moves) };
        Self { id: view.id, title: view.title, by: view.by, board, is_by_link: !view.listed }
    }
}

#[derive(Template)]
#[template(path = "studies.html")]
struct StudiesPage {
    frame: LayoutFrame,
    /// The visitor's own; none on later pages.
    mine: Vec<StudyTile>,
    /// What others have listed, the newest first.
    listed: Vec<StudyTile>,
    /// Whether nobody has listed any.
    is_none_listed: bool,
    /// The number before which the next page begins.
    older: Option<u64>,
}

/// A position of the line, for whoever has no script.
struct StudyStep {
    board: MiniBoard,
    /// Disc and words of the move that led to it; none where the study begins.
    moved: Option<(DiscIcon, String)>,
    comment: String,
}

#[derive(Template)]
#[template(path = "study.html")]
struct StudyPage {
    frame: LayoutFrame,
    view: StudyView,
    day: String,
    comments: String,
    board: BoardDrawing,
    opening: OpeningLine,
    steps: Vec<StudyStep>,
    analysis: String,
    is_mine: bool,
    may_report: bool,
}

impl StudyPage {
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn icon(&self, name: &'static str) -> Icon {
        Icon::new(name)
    }
}

/// What is worked on.
#[derive(Debug, Default, Serialize)]
struct Draft {
    /// Of a study that is there.
    id: Option<StudyId>,
    version: Option<u32>,
    title: String,
    variant: String,
    moves: String,
    start: u32,
    comments: Vec<CommentView>,
    listed: bool,
}

#[derive(Template)]
#[template(path = "study-edit.html")]
struct StudyDesk {
    frame: LayoutFrame,
    /// Whether the visitor has an account.
    may_make: bool,
    is_new: bool,
    title: String,
    listed: bool,
    board: BoardDrawing,
    draft: String,
}

impl StudyDesk {
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn icon(&self, name: &'static str) -> Icon {
        Icon::new(name)
    }
}

/// What the address says after its path.
type AddressFields = HashMap<String, String>;

pub(super) async fn list(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(asked): Query<AddressFields>,
) -> Page {
    let before = asked.get("before").and_then(|before| before.parse().ok());
    let own = visitor.signed_in().filter(|_| before.is_none());
    let mine = match own {
        Some(viewer) => state.store.studies_of(&viewer.identity.id).await?,
        None => Vec::new(),
    };
    let mut listed = state.store.listed_studies(before, STUDIES_PER_PAGE).await?;
    let is_full = listed.len() == STUDIES_PER_PAGE as usize;
    let older = listed.last().filter(|_| is_full).map(|last| last.number);
    let is_none_listed = listed.is_empty();
    // One's own stand on the first page already, above.
    listed.retain(|study| !visitor.is(&study.owner));
    let page = StudiesPage {
        frame: visitor.frame(Tab::Studies, visitor.language().text("study.title")),
        older,
        mine: tiles(&state, &mine).await?,
        listed: tiles(&state, &listed).await?,
        is_none_listed,
    };
    Ok(Html(page.render()?))
}

async fn tiles(state: &AppState, studies: &[StoredStudy]) -> Result<Vec<StudyTile>, PageError> {
    Ok(views_of(state, studies).await?.into_iter().map(StudyTile::new).collect())
}

pub(super) async fn one(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let stored = find(&state, &visitor, &id).await?;
    let lang = visitor.language();
    let owner = owner_of(&state, &stored).await?;
    let view = StudyView::new(&stored, owner.name.clone());
    let study = &stored.study;
    let (variant, start) = (study.game().variant(), study.start() as usize);
    let first = study.game().moves().get(..start).unwrap_or_default();
    let described = study.comments().first().map_or_else(
        || lang.fill("study.by", &[("name", &view.by)]),
        |comment| comment.text.chars().take(200).collect(),
    );
    let page = StudyPage {
        frame: visitor
            .frame(Tab::Studies, study.title())
            .described(described)
            .pictured(preview(&stored))
            .unlisted(!study.listing.is_listed()),
        day: words::day(lang, stored.changed_at),
        comments: serde_json::to_string(&view.comments).unwrap_or_default(),
        board: BoardDrawing::to_show(lang, Drawing::new(variant, &print_moves(first))),
        opening: OpeningLine::new(lang, study.game()),
        steps: steps(lang, &stored),
        analysis: analysis::address(variant, &view.moves),
        is_mine: visitor.is(&stored.owner),
        may_report: visitor.may_report(&owner),
        view,
    };
    Ok(Html(page.render()?))
}

/// The picture beside links to it.
fn preview(stored: &StoredStudy) -> String {
    format!("/api/v1/studies/{}.png", stored.id)
}

/// The positions that something is said of, the first and the last one.
fn steps(lang: Language, stored: &StoredStudy) -> Vec<StudyStep> {
    let study = &stored.study;
    let game = study.game();
    let step = |ply: u32| {
        let line = game.moves().get(..ply as usize).unwrap_or_default();
        let moved = line.last().filter(|_| ply > study.start()).map(|column| {
            let side = fourfold_engine::Side::to_move_at(ply - 1).into();
            let (ply, column) = (ply.to_string(), column.number().to_string());
            let values = [("ply", ply.as_str()), ("color", words::color(lang, side)), ("column", &column)];
            (DiscIcon::new(side), lang.fill("game.move_label", &values))
        });
        StudyStep {
            board: MiniBoard { drawing: Drawing::new(game.variant(), &print_moves(line)) },
            moved,
            comment: study.comment(ply).unwrap_or_default().to_owned(),
        }
    };
    let is_shown = |ply: &u32| *ply == study.start() || *ply == game.ply() || study.comment(*ply).is_some();
    (study.start()..=game.ply()).filter(is_shown).map(step).collect()
}

async fn find(state: &AppState, visitor: &Visitor, id: &str) -> Result<StoredStudy, PageError> {
    let nothing = || PageError::not_found(visitor.clone());
    let id: StudyId = id.parse().map_err(|_| nothing())?;
    match state.studies.show(&id).await {
        Ok(stored) => Ok(stored),
        Err(StudyError::NoSuchStudy) => Err(nothing()),
        Err(error) => Err(PageError::Read(error.to_string())),
    }
}

/// A new one: empty, of the moves that the address says, or a copy of another study.
pub(super) async fn new(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(asked): Query<AddressFields>,
) -> Page {
    if let Some(id) = asked.get("from") {
        let stored = find(&state, &visitor, id).await?;
        let draft = Draft { id: None, version: None, listed: false, ..draft_of(&state, &stored).await? };
        return desk(&visitor, draft);
    }
    let moves = asked.get("moves").map_or("", String::as_str);
    let read = analysis::read(visitor.language(), moves, asked.get("variant").map(String::as_str));
    let draft =
        Draft { variant: read.game.variant().to_string(), moves: read.game.notation(), ..Draft::default() };
    desk(&visitor, draft)
}

/// One of one's own.
pub(super) async fn edit(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let stored = find(&state, &visitor, &id).await?;
    if !visitor.is(&stored.owner) {
        return Err(PageError::not_found(visitor));
    }
    let draft = draft_of(&state, &stored).await?;
    desk(&visitor, draft)
}

async fn draft_of(state: &AppState, stored: &StoredStudy) -> Result<Draft, PageError> {
    let StudyView { id, title, by: _, variant, moves, start, comments, listed, version, .. } =
        view_of(state, stored).await?;
    let (id, version, variant) = (Some(id), Some(version), variant.0.to_string());
    Ok(Draft { id, version, title, variant, moves, start, comments, listed })
}

fn desk(visitor: &Visitor, draft: Draft) -> Page {
    let lang = visitor.language();
    let is_new = draft.id.is_none();
    let title = lang.text(if is_new { "study.make" } else { "study.edit" });
    let variant = draft.variant.parse().unwrap_or_default();
    let page = StudyDesk {
        frame: visitor.frame(Tab::Studies, title).unlisted(true),
        may_make: visitor.signed_in().is_some_and(|viewer| viewer.identity.kind == PlayerKind::Human),
        is_new,
        board: BoardDrawing::to_play(lang, Drawing::new(variant, &draft.moves)),
        draft: serde_json::to_string(&draft).unwrap_or_default(),
        title: draft.title,
        listed: draft.listed,
    };
    Ok(Html(page.render()?))
}
