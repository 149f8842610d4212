//! Classes: a teacher opens one, pupils join by its code, and all of them play, learn and look up together.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tournament_plans::{FULL_RETRY, TimeWish, allowed};
use crate::accounts::AccountError;
use crate::competition::classes::ClassError;
use crate::competition::classes::classroom::{Activity, Classroom, JoinError, TIME};
use crate::http::answer::table;
use crate::http::auth::{SignedIn, Viewer};
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::friendly_names::friendly_name;
use crate::http::request::{JsonBody, PathPart, PathParts};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::bounded::Bounded;
use crate::model::class_code::ClassCode;
use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::{Identity, PlayerKind};
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::study::lessons::LESSONS;
use crate::system::shares::{Payer, Share};

/// Longest arena, in minutes: two lessons.
const ARENA_MINUTES_MAX: u32 = 90;

/// Names that are drawn for one pupil before it is said that none is free: with numbers there are twelve thousand.
const DRAWS_MAX: u32 = 40;

/// When to ask again where no games begin: an operator has said so, or the daemon is about to stop.
const CLOSED_RETRY: Duration = Duration::from_secs(30);

/// A class that is open.
#[derive(Debug, Serialize, JsonSchema)]
struct OpenedClass {
    /// What pupils type, in capitals.
    code: String,
    /// Where its teacher and its pupils meet.
    url: String,
}

/// Somebody who joins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Joining {
    /// What a guest wants to be called; the name that they chose before if left out, else one by lot.
    #[serde(default)]
    name: Option<String>,
}

/// A round.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewRound {
    /// Five minutes and three seconds a move if left out.
    #[serde(default)]
    time: Option<TimeWish>,
}

/// An arena.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewArena {
    /// How long whoever is free is paired anew.
    minutes: Bounded<1, ARENA_MINUTES_MAX>,
    /// Five minutes and three seconds a move if left out.
    #[serde(default)]
    time: Option<TimeWish>,
}

/// A lesson for all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewLesson {
    /// Its name in `/learn/NAME`; null ends it.
    lesson: Option<String>,
}

/// Whether pupils are to look up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hold {
    /// True covers their boards, lets their games stand still, and nothing begin.
    held: bool,
}

/// Whether names are drawn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NameRule {
    /// True draws the names of all who join from now on, whatever they type.
    drawn: bool,
}

/// What a class does.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", rename = "ClassActivity")]
enum ActivityName {
    /// Nothing in common.
    Waiting,
    /// Whoever is free is paired anew.
    Arena,
    /// All are at one lesson.
    Lesson,
}

/// A pupil.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pupil")]
struct PupilView {
    /// What they are called.
    name: PlayerName,
    /// Whether a page of theirs is open.
    there: bool,
    /// The game in which they sit.
    game: Option<GameId>,
    /// Two for a win, one for a draw; doubled after two wins in a row.
    points: u64,
    /// Won since the standings began, with the first round or the last arena.
    wins: u64,
    /// Drawn since then.
    draws: u64,
    /// Lost since then.
    losses: u64,
}

/// A class, as somebody in it sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Class")]
struct ClassView {
    /// What pupils type.
    code: String,
    /// Who teaches.
    teacher: PlayerName,
    /// Whether that is who asks.
    teaches: bool,
    /// Whether pupils are to look up, and their games stand still.
    held: bool,
    /// Whether names are drawn.
    names_drawn: bool,
    /// What they do.
    activity: ActivityName,
    /// How long an arena goes on.
    left_ms: Option<i64>,
    /// The name of the lesson.
    lesson: Option<String>,
    /// The game in which whoever asks sits.
    game: Option<GameId>,
    /// The most points first.
    pupils: Vec<PupilView>,
}

impl ClassView {
    fn new(code: &ClassCode, class: &Classroom, viewer: &PlayerId) -> Self {
        let (activity, left_ms, lesson) = match &class.activity {
            Activity::Waiting => (ActivityName::Waiting, None, None),
            Activity::Arena { until } => {
                (ActivityName::Arena, Some((until.0 - UnixMillis::now().0).max(0)), None)
            }
            Activity::Lesson(lesson) => (ActivityName::Lesson, None, Some(lesson.clone())),
        };
        let pupils = class.standings().into_iter().map(|pupil| PupilView {
            name: pupil.identity.name.clone(),
            there: pupil.is_there,
            game: class.game_of(&pupil.identity.id).cloned(),
            points: pupil.score.points,
            wins: pupil.score.games.wins,
            draws: pupil.score.games.draws,
            losses: pupil.score.games.losses,
        });
        Self {
            code: code.to_string(),
            teacher: class.teacher.name.clone(),
            teaches: class.teacher.id == *viewer,
            held: class.is_held,
            names_drawn: class.names_are_drawn,
            activity,
            left_ms,
            lesson,
            game: class.game_of(viewer).cloned(),
            pupils: pupils.collect(),
        }
    }
}

const REFUSALS: &[ApiCode] = &[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed];
const JOINING_REFUSALS: &[ApiCode] = &[
    ApiCode::Unauthorized,
    ApiCode::Forbidden,
    ApiCode::NotFound,
    ApiCode::Conflict,
    ApiCode::NameTaken,
    ApiCode::NameReserved,
    ApiCode::RateLimited,
    ApiCode::OriginNotAllowed,
];

pub(super) fn endpoints() -> Vec<Endpoint> {
    [membership(), direction()].concat()
}

/// Who is in a class.
fn membership() -> Vec<Endpoint> {
    let open = Operation::post(
        "/api/v1/classes",
        "Opens a class, or finds the one that its teacher has",
        Content::Json(schema_of::<OpenedClass>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::Busy, ApiCode::OriginNotAllowed]);
    let see = Operation::get(
        "/api/v1/classes/{code}",
        "How a class stands, for those who are in it",
        Content::Json(schema_of::<ClassView>),
    )
    .refusals(&[ApiCode::Unauthorized, ApiCode::NotFound]);
    let end = directed(Operation::delete("/api/v1/classes/{code}", "Ends a class", Content::Nothing));
    let path = "/api/v1/classes/{code}/pupil";
    let join = Operation::put(
        path,
        "Joins a class, as a guest or with an account",
        Content::Json(schema_of::<ClassView>),
    )
    .body(schema_of::<Joining>)
    .refusals(JOINING_REFUSALS);
    let remove = Operation::delete(
        "/api/v1/classes/{code}/pupils/{name}",
        "Takes a pupil out; pupils may take out themselves",
        Content::Nothing,
    )
    .status(204)
    .refusals(JOINING_REFUSALS);
    vec![
        Endpoint::new("/api/v1/classes", post(open_class), [open]),
        Endpoint::new("/api/v1/classes/{code}", get(class).delete(end_class), [see, end]),
        Endpoint::new(path, put(join_class), [join]),
        Endpoint::new("/api/v1/classes/{code}/pupils/{name}", delete(remove_pupil), [remove]),
    ]
}

/// What its teacher does with a class.
fn direction() -> Vec<Endpoint> {
    let round = "/api/v1/classes/{code}/round";
    let pair = Operation::post(round, "Pairs all who are free, once", Content::Nothing);
    let arena = "/api/v1/classes/{code}/arena";
    let begin = Operation::post(
        arena,
        "Pairs whoever is free, for so many minutes, and begins the standings anew",
        Content::Nothing,
    );
    let lesson = "/api/v1/classes/{code}/lesson";
    let lead = Operation::put(lesson, "Takes all to a lesson, or ends it", Content::Nothing);
    let hold = "/api/v1/classes/{code}/hold";
    let cover = Operation::put(hold, "Lets all look up, or go on", Content::Nothing);
    let names = "/api/v1/classes/{code}/names";
    let draw = Operation::put(names, "Has all names drawn, or lets pupils choose", Content::Nothing);
    let file = "/api/v1/classes/{code}/results.csv";
    let read =
        Operation::get(file, "The standings as a file for spreadsheets, for the teacher", Content::Csv);
    vec![
        Endpoint::new(round, post(begin_round), [directed(pair).body(schema_of::<NewRound>)]),
        Endpoint::new(arena, post(begin_arena), [directed(begin).body(schema_of::<NewArena>)]),
        Endpoint::new(lesson, put(hold_lesson), [directed(lead).body(schema_of::<NewLesson>)]),
        Endpoint::new(hold, put(hold_class), [directed(cover).body(schema_of::<Hold>)]),
        Endpoint::new(names, put(name_pupils), [directed(draw).body(schema_of::<NameRule>)]),
        Endpoint::new(file, get(results), [directed(read).status(200)]),
    ]
}

/// For the teacher alone.
fn directed(operation: Operation) -> Operation {
    operation.status(204).signed_in().refusals(REFUSALS)
}

fn read(code: &str) -> Result<ClassCode, ApiError> {
    code.parse().map_err(|_| ApiError::not_found("class"))
}

fn refuse(error: ClassError) -> ApiError {
    match error {
        ClassError::Full => ApiError::new(ApiCode::Busy, error.to_string()).retry_in(FULL_RETRY),
        ClassError::Unknown => ApiError::not_found("class"),
        ClassError::NotYours => ApiError::new(ApiCode::Forbidden, error.to_string()),
    }
}

async fn open_class(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    SignedIn(session): SignedIn,
) -> Result<impl IntoResponse, ApiError> {
    let teacher = allowed(&state, session).await?.identity;
    let code = if let Some(code) = state.classes.of_teacher(&teacher.id) {
        code
    } else {
        let place = state.shares.hold_and_spend(Share::Class, &Payer::stranger(from))?;
        state.classes.open(teacher, place, UnixMillis::now()).map_err(refuse)?
    };
    let url = format!("/class/{code}");
    let opened = OpenedClass { code: code.to_string(), url: url.clone() };
    Ok((StatusCode::CREATED, [(header::LOCATION, url)], Json(opened)))
}

async fn class(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    PathPart(code): PathPart,
) -> Result<Json<ClassView>, ApiError> {
    let who = known(viewer)?;
    Ok(Json(seen_by(&state, &read(&code)?, &who.id)?))
}

/// A class as somebody in it sees it; for others there is none.
fn seen_by(state: &AppState, code: &ClassCode, who: &PlayerId) -> Result<ClassView, ApiError> {
    let class = state.classes.get(code).ok_or_else(|| ApiError::not_found("class"))?;
    let teaches = class.teacher.id == *who;
    if teaches {
        state.classes.teacher_seen(code, UnixMillis::now());
    } else if class.pupil(who).is_none() {
        return Err(ApiError::not_found("class"));
    }
    Ok(ClassView::new(code, &class, who))
}

fn known(viewer: Option<Viewer>) -> Result<Identity, ApiError> {
    let viewer = viewer.ok_or_else(|| ApiError::unauthorized("a guest is known by the site's cookie"))?;
    Ok(viewer.identity)
}

async fn join_class(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    viewer: Option<Viewer>,
    PathPart(code): PathPart,
    JsonBody(Joining { name }): JsonBody<Joining>,
) -> Result<Json<ClassView>, ApiError> {
    let mut who = known(viewer)?;
    // Codes are short, and must not be found by trying.
    state.accounts.note_invitation(from)?;
    let code = read(&code)?;
    let class = state.classes.get(&code).ok_or_else(|| ApiError::not_found("class"))?;
    match who.kind {
        PlayerKind::Bot => return Err(ApiError::new(ApiCode::Forbidden, "a class is for people")),
        PlayerKind::Guest if !state.access.guests => {
            let message = "guests do not play in this arena: sign in, then join";
            return Err(ApiError::new(ApiCode::Forbidden, message));
        }
        PlayerKind::Guest | PlayerKind::Human => {}
    }
    if who.kind == PlayerKind::Guest {
        who = named(&state, from, &class, who, name).await?;
    }
    let id = who.id.clone();
    let joined = state.classes.change(&code, |class| class.join(who)).map_err(refuse)?;
    joined.map_err(|error| match error {
        JoinError::Full | JoinError::IsTeacher => ApiError::new(ApiCode::Conflict, error.to_string()),
    })?;
    Ok(Json(seen_by(&state, &code, &id)?))
}

/// A guest under the name that they chose, or one by lot.
async fn named(
    state: &AppState,
    from: IpAddr,
    class: &Classroom,
    who: Identity,
    chosen: Option<String>,
) -> Result<Identity, ApiError> {
    let has_chosen_before = who.name.spoken() != who.name.as_str();
    if class.names_are_drawn {
        // Whoever is in it already keeps the name by which others know them.
        return if class.pupil(&who.id).is_some() { Ok(who) } else { drawn(state, from, class, &who).await };
    }
    match chosen.filter(|name| !name.is_empty()) {
        Some(name) if name != who.name.spoken() => Ok(state.accounts.name_guest(from, &who, &name).await?),
        Some(_) => Ok(who),
        None if has_chosen_before => Ok(who),
        None => drawn(state, from, class, &who).await,
    }
}

/// A guest under a name by lot, of those that nobody has.
async fn drawn(
    state: &AppState,
    from: IpAddr,
    class: &Classroom,
    who: &Identity,
) -> Result<Identity, ApiError> {
    let language = Language::of_tag(&class.language).unwrap_or_default();
    let mut attempt = 0;
    loop {
        let name = friendly_name(language, attempt, &mut chance());
        match state.accounts.name_guest(from, who, &name).await {
            Err(AccountError::NameTaken) if attempt < DRAWS_MAX => attempt += 1,
            named => return Ok(named?),
        }
    }
}

async fn remove_pupil(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    PathParts(PathPart(code), PathPart(name)): PathParts,
) -> Result<StatusCode, ApiError> {
    let who = known(viewer)?;
    let code = read(&code)?;
    let name: PlayerName = name.parse().map_err(|_| ApiError::not_found("pupil"))?;
    // Whoever has another name by now leaves as well.
    let removed = if who.name.key() == name.key() {
        state.classes.change(&code, |class| class.remove(&who.id))
    } else {
        state
            .classes
            .direct(&code, &who.id, |class| class.called(&name).is_some_and(|pupil| class.remove(&pupil)))
    };
    if removed.map_err(refuse)? { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::not_found("pupil")) }
}

/// Changes a class in its teacher's name.
fn direct(
    state: &AppState,
    session: &SignedIn,
    code: &str,
    change: impl FnOnce(&mut Classroom),
) -> Result<StatusCode, ApiError> {
    let SignedIn(session) = session;
    state.classes.direct(&read(code)?, &session.identity.id, change).map_err(refuse)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses to begin games while none begin in the whole arena: nobody would begin them afterwards.
fn check_open(state: &AppState) -> Result<(), ApiError> {
    match state.arena.closed() {
        None => Ok(()),
        Some(why) => Err(ApiError::new(ApiCode::Busy, why).retry_in(CLOSED_RETRY)),
    }
}

fn time_of(wish: Option<TimeWish>) -> TimeControl {
    wish.map_or(TIME, TimeWish::control)
}

async fn begin_round(
    State(state): State<AppState>,
    session: SignedIn,
    PathPart(code): PathPart,
    JsonBody(NewRound { time }): JsonBody<NewRound>,
) -> Result<StatusCode, ApiError> {
    check_open(&state)?;
    direct(&state, &session, &code, |class| class.begin_round(time_of(time)))
}

async fn begin_arena(
    State(state): State<AppState>,
    session: SignedIn,
    PathPart(code): PathPart,
    JsonBody(NewArena { minutes, time }): JsonBody<NewArena>,
) -> Result<StatusCode, ApiError> {
    check_open(&state)?;
    let until = UnixMillis(UnixMillis::now().0 + i64::from(minutes.number()) * 60_000);
    direct(&state, &session, &code, |class| class.begin_arena(until, time_of(time)))
}

async fn hold_lesson(
    State(state): State<AppState>,
    session: SignedIn,
    PathPart(code): PathPart,
    JsonBody(NewLesson { lesson }): JsonBody<NewLesson>,
) -> Result<StatusCode, ApiError> {
    let is_lesson = |name: &String| LESSONS.iter().any(|lesson| lesson.topic.name() == name);
    if lesson.as_ref().is_some_and(|name| !is_lesson(name)) {
        return Err(ApiError::bad_field("lesson", "there is no such lesson: /learn lists them"));
    }
    direct(&state, &session, &code, |class| class.hold_lesson(lesson))
}

async fn hold_class(
    State(state): State<AppState>,
    session: SignedIn,
    PathPart(code): PathPart,
    JsonBody(Hold { held }): JsonBody<Hold>,
) -> Result<StatusCode, ApiError> {
    direct(&state, &session, &code, |class| class.hold(held, UnixMillis::now()))
}

async fn name_pupils(
    State(state): State<AppState>,
    session: SignedIn,
    PathPart(code): PathPart,
    JsonBody(NameRule { drawn }): JsonBody<NameRule>,
) -> Result<StatusCode, ApiError> {
    direct(&state, &session, &code, |class| class.names_are_drawn = drawn)
}

async fn end_class(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(code): PathPart,
) -> Result<StatusCode, ApiError> {
    state.classes.end(&read(&code)?, &session.identity.id).map_err(refuse)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn results(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(code): PathPart,
) -> Result<Response, ApiError> {
    let code = read(&code)?;
    let class = state.classes.direct(&code, &session.identity.id, |class| class.clone()).map_err(refuse)?;
    let mut text = "rank,name,points,games,wins,draws,losses\n".to_owned();
    // Names of players need no quotes.
    for (place, pupil) in class.standings().into_iter().enumerate() {
        let (name, score) = (pupil.identity.name.spoken(), pupil.score.games);
        let (wins, draws, losses) = (score.wins, score.draws, score.losses);
        let (rank, points, games) = (place + 1, pupil.score.points, score.games());
        let _ = writeln!(text, "{rank},{name},{points},{games},{wins},{draws},{losses}");
    }
    Ok(table(&format!("class-{code}.csv"), text))
}
