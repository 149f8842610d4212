//! Lessons: what there is to learn, and one lesson with positions to solve.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use fourfold_engine::{Side, Variant};
use serde::{Deserialize, Serialize};

use super::Page;
use super::characters::Character;
use super::drawing::{BoardDrawing, Drawing, MiniBoard};
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::words;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::study::lessons::{Exercise, LESSONS, Lesson, Task, Topic};

/// The title of a lesson, and what it says.
fn keys(topic: Topic) -> (&'static str, &'static str) {
    match topic {
        Topic::Rules => ("lessons.rules", "lessons.rules_text"),
        Topic::Block => ("lessons.block", "lessons.block_text"),
        Topic::OpenThree => ("lessons.open_three", "lessons.open_three_text"),
        Topic::Fork => ("lessons.fork", "lessons.fork_text"),
        Topic::Stacked => ("lessons.stacked", "lessons.stacked_text"),
        Topic::Centre => ("lessons.centre", "lessons.centre_text"),
        Topic::FirstMove => ("lessons.first_move", "lessons.first_move_text"),
        Topic::LastMove => ("lessons.last_move", "lessons.last_move_text"),
        Topic::OddAndEven => ("lessons.odd_and_even", "lessons.odd_and_even_text"),
        Topic::Zugzwang => ("lessons.zugzwang", "lessons.zugzwang_text"),
        Topic::ClaimEven => ("lessons.claim_even", "lessons.claim_even_text"),
        Topic::BaseInverse => ("lessons.baseinverse", "lessons.baseinverse_text"),
        Topic::Endings => ("lessons.endings", "lessons.endings_text"),
    }
}

/// What a lesson is called.
pub(super) fn title_of(lang: Language, topic: Topic) -> &'static str {
    lang.text(keys(topic).0)
}

fn side_to_move(moves: &str) -> Side {
    Side::to_move_at(u32::try_from(moves.len()).unwrap_or(u32::MAX))
}

/// What is asked of whoever is to move.
fn question(lang: Language, exercise: &Exercise) -> String {
    let key = match exercise.task {
        Task::Any => "lessons.ask_any",
        Task::WinNow => "lessons.ask_now",
        Task::WinFast => "lessons.ask_fast",
        Task::Win => "lessons.ask_win",
        Task::Stop => "lessons.ask_stop",
        Task::Hold => "lessons.ask_hold",
    };
    lang.fill(key, &[("color", words::color(lang, side_to_move(exercise.moves).into()))])
}

/// A lesson in the list of all.
struct Tile {
    name: &'static str,
    title: &'static str,
    number: usize,
    board: MiniBoard,
    exercises: u32,
}

impl Tile {
    fn new(lang: Language, number: usize, lesson: &Lesson) -> Self {
        // The last exercise has most on its board.
        let moves = lesson.exercises.last().map_or("", |exercise| exercise.moves);
        Self {
            name: lesson.topic.name(),
            title: title_of(lang, lesson.topic),
            number: number + 1,
            board: MiniBoard { drawing: Drawing::new(Variant::STANDARD, moves) },
            exercises: u32::try_from(lesson.exercises.len()).unwrap_or(u32::MAX),
        }
    }
}

#[derive(Template)]
#[template(path = "lessons.html")]
struct LessonsPage {
    frame: LayoutFrame,
    rules: Tile,
    lessons: Vec<Tile>,
}

/// An exercise as the page's module reads it.
#[derive(Serialize)]
struct ShownExercise {
    moves: &'static str,
    /// Which columns are right, see `web/static/lesson-page.js`.
    task: &'static str,
    own: usize,
    question: String,
    /// What is said of a right column, if it is not what the column is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    praise: Option<&'static str>,
}

/// Where one plays on from, and against whom.
struct Practice {
    moves: &'static str,
    /// One's own side, as the protocol has it.
    side: &'static str,
    bot: String,
    button: String,
}

#[derive(Template)]
#[template(path = "lesson.html")]
struct LessonPage {
    frame: LayoutFrame,
    name: &'static str,
    title: &'static str,
    text: &'static str,
    place: String,
    board: BoardDrawing,
    /// What is asked in the first exercise, for whoever has no script.
    question: String,
    exercises: String,
    practice: Option<Practice>,
    /// What the marks on the board stand for, in lessons about threats that wait.
    marks: Option<String>,
    /// The invitation that the visitor came from.
    back: Option<String>,
    /// Name and title of the one that follows.
    next: Option<(&'static str, &'static str)>,
}

pub(super) async fn index(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let mut tiles = LESSONS.iter().enumerate().map(|(number, lesson)| Tile::new(lang, number, lesson));
    let rules = tiles.next().ok_or_else(|| PageError::not_found(visitor.clone()))?;
    let lessons = tiles.collect();
    let page = LessonsPage { frame: visitor.frame(Tab::Lessons, lang.text("lessons.title")), rules, lessons };
    Ok(Html(page.render()?))
}

/// Where whoever learns the rules has come from.
#[derive(Debug, Deserialize)]
pub(super) struct CameFrom {
    from: Option<String>,
}

/// Pages that invite to a game, by the beginning of their addresses.
const INVITATIONS: [&str; 3] = ["/challenge/", "/tournament/", "/class"];

/// The rules for whoever is invited at this address, with the way back.
pub(super) fn rules_for(invited_at: &str) -> String {
    format!("/learn/rules?from={invited_at}")
}

/// The way back to an invitation, and to nowhere else that an address may name.
fn way_back(from: &str) -> Option<String> {
    let is_plain = from.chars().all(|letter| letter.is_ascii_alphanumeric() || "/-_".contains(letter));
    let is_invitation = INVITATIONS.iter().any(|page| from.starts_with(page));
    (is_plain && is_invitation && !from.contains("//")).then(|| from.to_owned())
}

pub(super) async fn one(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(came): Query<CameFrom>,
) -> Page {
    let Some(at) = LESSONS.iter().position(|lesson| lesson.topic.name() == name) else {
        return Err(PageError::not_found(visitor));
    };
    let lang = visitor.language();
    let lesson = &LESSONS[at];
    let (title, text) = keys(lesson.topic);
    let first = lesson.exercises.first();
    let shown: Vec<_> = lesson.exercises.iter().map(|exercise| shown(lang, exercise)).collect();
    let page = LessonPage {
        frame: visitor.frame(Tab::Lessons, lang.text(title)).described(lang.text(text)),
        name: lesson.topic.name(),
        title: lang.text(title),
        text: lang.text(text),
        place: lang.fill("lessons.place", &[("n", at + 1), ("all", LESSONS.len())]),
        board: BoardDrawing::to_play(
            lang,
            Drawing::new(Variant::STANDARD, first.map_or("", |exercise| exercise.moves)),
        ),
        question: first.map(|exercise| question(lang, exercise)).unwrap_or_default(),
        exercises: serde_json::to_string(&shown).unwrap_or_default(),
        practice: practice(&state, lang, lesson),
        marks: has_marks(lesson.topic).then(|| marks(lang)),
        back: came.from.as_deref().and_then(way_back),
        next: LESSONS.get(at + 1).map(|next| (next.topic.name(), title_of(lang, next.topic))),
    };
    Ok(Html(page.render()?))
}

/// Whether a lesson is about places where a four may come, and nobody is to find one of them by themselves.
fn has_marks(topic: Topic) -> bool {
    match topic {
        Topic::LastMove | Topic::OddAndEven | Topic::Zugzwang | Topic::ClaimEven | Topic::Endings => true,
        Topic::Rules
        | Topic::Block
        | Topic::OpenThree
        | Topic::Fork
        | Topic::Stacked
        | Topic::Centre
        | Topic::FirstMove
        | Topic::BaseInverse => false,
    }
}

fn marks(lang: Language) -> String {
    let color = |side: Side| words::color(lang, side.into());
    lang.fill("lessons.marks", &[("first", color(Side::First)), ("second", color(Side::Second))])
}

fn shown(lang: Language, exercise: &Exercise) -> ShownExercise {
    let Exercise { moves, task, own } = *exercise;
    // Whoever has stopped a four for the first time need not hear that it is a draw with best play.
    let praise = (task == Task::Stop).then(|| lang.text("lessons.stopped"));
    ShownExercise { moves, task: task.word(), own, question: question(lang, exercise), praise }
}

/// Against the strongest of those whom people choose from: what the lesson says must hold against it. Only whoever has
/// just learnt the rules meets the weakest, for a first win.
fn practice(state: &AppState, lang: Language, lesson: &Lesson) -> Option<Practice> {
    let mut rivals = Character::all(lang, &state.arena.open_bots());
    let first_opponent = lesson.topic == Topic::Rules;
    let rival = if first_opponent { rivals.into_iter().next() } else { rivals.pop() }?;
    let words = if lesson.practice.is_empty() { "lessons.whole_game" } else { "lessons.practise" };
    Some(Practice {
        moves: lesson.practice,
        side: words::key(side_to_move(lesson.practice).into()),
        bot: rival.program,
        button: lang.fill(words, &[("name", rival.name)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_leads_to_invitations_alone() {
        for page in ["/challenge/f3k9", "/tournament/t_1-x", "/class", "/class/AB12CD"] {
            assert_eq!(way_back(page).as_deref(), Some(page));
            assert!(rules_for(page).ends_with(page));
        }
        for other in
            ["", "/", "/account", "//evil.example", "/challenge/../x", "/challenge//evil", "/class?x=<b>"]
        {
            assert_eq!(way_back(other), None, "{other}");
        }
    }
}
