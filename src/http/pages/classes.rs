//! Classes: the door, at which pupils type the code, the desk of the teacher, and the seat of a pupil.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::Page;
use super::characters::Cast;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::lessons::{rules_for, title_of};
use super::live::GameTile;
use super::time_choice::TimeChoice;
use crate::competition::classes::classroom::{Activity, ClassMember, Classroom, TIME};
use crate::http::friendly_names::example;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::class_code::ClassCode;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::study::lessons::LESSONS;

/// Lengths of arenas that are offered, in minutes, and the one that is chosen.
const MINUTES: [u32; 5] = [5, 10, 20, 30, 45];
const MINUTES_CHOSEN: u32 = 10;

/// Where a class is entered or opened.
#[derive(Template)]
#[template(path = "class-door.html")]
struct DoorPage {
    frame: LayoutFrame,
    /// The code of the link by which somebody came.
    code: String,
    /// Where a newcomer learns the rules and finds back.
    rules: String,
    /// Whether whoever enters chooses a name.
    is_guest: bool,
    /// Whether they may open a class themselves.
    may_open: bool,
    /// The class that they teach.
    own: Option<String>,
}

/// A length to choose.
struct MinutesChoice {
    minutes: u32,
    words: String,
    is_chosen: bool,
}

/// Somebody in the table.
struct PupilRow {
    rank: usize,
    /// What they are called, and by their account.
    name: String,
    account: String,
    points: u64,
    score: String,
    is_there: bool,
}

/// Where the teacher sees all boards, and says what is done.
#[derive(Template)]
#[template(path = "class-desk.html")]
struct DeskPage {
    frame: LayoutFrame,
    code: String,
    is_held: bool,
    /// Whether names are drawn, and what such a name is.
    names_are_drawn: bool,
    names_note: String,
    state: String,
    pupils: String,
    rows: Vec<PupilRow>,
    boards: Vec<GameTile>,
    times: Vec<TimeChoice>,
    minutes: Vec<MinutesChoice>,
    /// Names and titles of lessons.
    lessons: Vec<(&'static str, &'static str)>,
    /// The one that is held.
    lesson: String,
}

/// Where a pupil waits.
#[derive(Template)]
#[template(path = "class-seat.html")]
struct SeatPage {
    frame: LayoutFrame,
    code: String,
    name: String,
    teacher: String,
    state: String,
    rows: Vec<PupilRow>,
}

/// The door.
pub(super) async fn door(State(state): State<AppState>, visitor: Visitor) -> Page {
    at_the_door(&state, &visitor, "")
}

/// A class as whoever comes sees it. To those who are not in it, it is the door, whether there is such a class or not.
pub(super) async fn one(State(state): State<AppState>, visitor: Visitor, Path(code): Path<String>) -> Page {
    let Ok(code) = code.parse::<ClassCode>() else { return at_the_door(&state, &visitor, "") };
    let Some(class) = state.classes.get(&code) else { return at_the_door(&state, &visitor, code.as_str()) };
    if visitor.is(&class.teacher.id) {
        // It may have ended this moment, and is shown once more.
        state.classes.teacher_seen(&code, UnixMillis::now());
        state.classes.speaks(&code, visitor.language().tag());
        return desk(&state, &visitor, &code, &class);
    }
    let pupil = class.standings().into_iter().find(|pupil| visitor.is(&pupil.identity.id));
    let Some(pupil) = pupil else { return at_the_door(&state, &visitor, code.as_str()) };
    let lang = visitor.language();
    let page = SeatPage {
        frame: visitor.frame(Tab::Class, lang.fill("class.number", &[("code", &code)])),
        name: pupil.identity.name.spoken().to_owned(),
        teacher: class.teacher.name.to_string(),
        state: state_in_words(lang, &class),
        rows: rows(&class),
        code: code.to_string(),
    };
    Ok(Html(page.render()?))
}

fn at_the_door(state: &AppState, visitor: &Visitor, code: &str) -> Page {
    let lang = visitor.language();
    let person =
        visitor.signed_in().map(|viewer| &viewer.identity).filter(|who| who.kind == PlayerKind::Human);
    let page = DoorPage {
        frame: visitor.frame(Tab::Class, lang.text("class.title")).described(lang.text("class.lead")),
        code: code.to_owned(),
        rules: rules_for(format!("/class/{code}").trim_end_matches('/')),
        is_guest: visitor.signed_in().is_none(),
        may_open: person.is_some() && state.access.tournaments,
        own: person.and_then(|who| state.classes.of_teacher(&who.id)).map(|code| code.to_string()),
    };
    Ok(Html(page.render()?))
}

fn desk(state: &AppState, visitor: &Visitor, code: &ClassCode, class: &Classroom) -> Page {
    let lang = visitor.language();
    let cast = Cast::new(lang, &[]);
    let live = state.arena.live_games();
    let boards = live.iter().filter(|game| class.has_game(&game.game));
    let minutes = |minutes: u32| MinutesChoice {
        minutes,
        words: lang.count("class.minutes", minutes.into()),
        is_chosen: minutes == MINUTES_CHOSEN,
    };
    let rows = rows(class);
    let page = DeskPage {
        frame: visitor.frame(Tab::Class, lang.fill("class.number", &[("code", &code)])),
        code: code.to_string(),
        is_held: class.is_held,
        names_are_drawn: class.names_are_drawn,
        names_note: lang.fill("class.names_note", &[("name", example(lang))]),
        state: state_in_words(lang, class),
        pupils: lang.count("class.pupils", rows.len() as u64),
        rows,
        boards: boards.map(|game| GameTile::new(lang, game, &cast)).collect(),
        times: TimeChoice::all(lang, TIME),
        minutes: MINUTES.into_iter().map(minutes).collect(),
        lessons: LESSONS.iter().map(|lesson| (lesson.topic.name(), title_of(lang, lesson.topic))).collect(),
        lesson: match &class.activity {
            Activity::Lesson(lesson) => lesson.clone(),
            Activity::Waiting | Activity::Arena { .. } => String::new(),
        },
    };
    Ok(Html(page.render()?))
}

fn rows(class: &Classroom) -> Vec<PupilRow> {
    let row = |(place, pupil): (usize, &ClassMember)| PupilRow {
        rank: place + 1,
        name: pupil.identity.name.spoken().to_owned(),
        account: pupil.identity.name.to_string(),
        points: pupil.score.points,
        score: format!(
            "+{} ={} −{}",
            pupil.score.games.wins, pupil.score.games.draws, pupil.score.games.losses
        ),
        is_there: pupil.is_there,
    };
    class.standings().into_iter().enumerate().map(row).collect()
}

/// What the class does, in a sentence.
fn state_in_words(lang: Language, class: &Classroom) -> String {
    if class.is_held {
        return lang.text("class.held").to_owned();
    }
    match &class.activity {
        Activity::Waiting => lang.text("class.waiting").to_owned(),
        Activity::Arena { until } => {
            let minutes = (until.0 - UnixMillis::now().0).max(0).unsigned_abs().div_ceil(60_000);
            lang.fill("class.arena_left", &[("left", lang.count("class.minutes", minutes))])
        }
        Activity::Lesson(lesson) => {
            let title = LESSONS.iter().find(|other| other.topic.name() == lesson);
            let title = title.map(|lesson| title_of(lang, lesson.topic)).unwrap_or_default();
            lang.fill("class.lesson_now", &[("lesson", title)])
        }
    }
}
