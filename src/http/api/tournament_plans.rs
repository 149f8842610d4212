//! Tournaments that people make, until they begin.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{delete, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::person;
use crate::accounts::Authenticated;
use crate::competition::tournament::{Canceller, PlanDecision, PlanError, TournamentStartError};
use crate::http::auth::SignedIn;
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart};
use crate::http::state::AppState;
use crate::model::bounded::Bounded;
use crate::model::clock::TimeControl;
use crate::model::ids::TournamentId;
use crate::model::lookalike::Outline;
use crate::model::text::{Lines, check_text};
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::tournaments::TournamentPlan;
use crate::system::config::{ARENA_MINUTES, FormatName, check_tournament_name};
use crate::system::shares::{Payer, Share};

/// How far ahead one may be made, in seconds: two weeks. Who says what they do in a month?
const AHEAD_MAX_S: u32 = 14 * 24 * 3_600;

/// How much time there is at least to hand the link on, in seconds. Its maker may begin it sooner.
const AHEAD_MIN_S: u32 = 30;

/// When to ask again where as many are to come as may: some begin, or are given up, by then.
pub(super) const FULL_RETRY: Duration = Duration::from_mins(10);

/// When to ask again where nothing begins at the moment.
const UNAVAILABLE_RETRY: Duration = Duration::from_secs(5);

/// Games of a meeting at most: three pairs, which is half an hour of two people's evening.
const GAMES_MAX: u32 = 6;

/// Rounds of a Swiss at most.
const ROUNDS_MAX: u32 = 15;

/// Shortest and longest arena, in minutes: from a few quick games to an evening.
pub(in crate::http) const ARENA_MINUTES_OF_PEOPLE: [u32; 2] = [5, 180];

/// Shortest and longest bank, in milliseconds: from what a hand can play to an evening for a few games.
const BANK_MS: [u32; 2] = [10_000, 1_800_000];

/// How a tournament of people is held.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename = "TournamentForm")]
enum FormWish {
    /// Everybody against everybody.
    RoundRobin,
    /// Rounds against whoever has as many points.
    Swiss,
    /// Who loses a meeting is out.
    Knockout,
    /// For some time, whoever is free is paired again at once.
    Arena,
}

impl FormWish {
    fn name(self) -> FormatName {
        match self {
            Self::RoundRobin => FormatName::RoundRobin,
            Self::Swiss => FormatName::Swiss,
            Self::Knockout => FormatName::Knockout,
            Self::Arena => FormatName::Arena,
        }
    }
}

/// Each side's time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "TournamentTime")]
pub(super) struct TimeWish {
    /// For the whole game.
    bank_ms: Bounded<{ BANK_MS[0] }, { BANK_MS[1] }>,
    /// Added after each move.
    #[serde(default)]
    increment_ms: Bounded<0, 60_000>,
}

impl TimeWish {
    /// As a game has it.
    pub(super) fn control(self) -> TimeControl {
        TimeControl {
            bank_ms: Some(self.bank_ms.number()),
            increment_ms: self.increment_ms.number(),
            move_ms: None,
        }
    }
}

/// A tournament that somebody makes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTournament {
    /// 1 to 60 printable characters; no two that are to come share one.
    name: String,
    format: FormWish,
    /// Of a Swiss; as many as it needs to find one winner if left out.
    #[serde(default)]
    rounds: Option<Bounded<1, ROUNDS_MAX>>,
    /// How long an arena goes on; 30 if left out.
    #[serde(default)]
    minutes: Option<Bounded<{ ARENA_MINUTES_OF_PEOPLE[0] }, { ARENA_MINUTES_OF_PEOPLE[1] }>>,
    /// Of each meeting, always with both colours: 2, 4 or 6; 2 if left out. An arena has none.
    #[serde(default)]
    games: Option<Bounded<2, GAMES_MAX>>,
    /// Three minutes and two seconds a move if left out.
    #[serde(default)]
    time: Option<TimeWish>,
    /// Whether its games count for ratings; they do if left out.
    #[serde(default = "yes")]
    rated: bool,
    /// Whether every remote bot that is open when it begins takes part too.
    #[serde(default)]
    open_bots: bool,
    /// In how many seconds it begins.
    begins_in_s: Bounded<AHEAD_MIN_S, AHEAD_MAX_S>,
    /// Whether its maker takes part; so it is if left out.
    #[serde(default = "yes")]
    enter: bool,
}

fn yes() -> bool {
    true
}

/// Why a tournament is called off.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cancellation {
    /// Up to 200 printable characters, which its page says; nothing for no reason.
    #[serde(default)]
    reason: String,
}

/// A tournament that was made.
#[derive(Debug, Serialize, JsonSchema)]
struct MadeTournament {
    /// The last part of its link.
    id: TournamentId,
    /// Where it is shown, to be handed on.
    url: String,
}

const REFUSALS: &[ApiCode] =
    &[ApiCode::Forbidden, ApiCode::Conflict, ApiCode::Busy, ApiCode::OriginNotAllowed];

pub(super) fn endpoints() -> Vec<Endpoint> {
    let drop = Operation::delete(
        "/api/v1/tournaments/{id}/plan",
        "Gives up a tournament of one's own that is to come",
        Content::Nothing,
    );
    let begin = Operation::post(
        "/api/v1/tournaments/{id}/start",
        "Begins a tournament of one's own before its time, with those who are there",
        Content::Nothing,
    );
    let cancel = Operation::post(
        "/api/v1/tournaments/{id}/cancel",
        "Calls off a tournament of one's own, to come or under way; its page says why",
        Content::Nothing,
    )
    .body(schema_of::<Cancellation>)
    .status(204)
    .signed_in()
    .refusals(REFUSALS);
    let [drop, begin] = [drop, begin].map(|operation| operation.status(204).signed_in().refusals(REFUSALS));
    vec![
        Endpoint::new("/api/v1/tournaments/{id}/plan", delete(give_up), [drop]),
        Endpoint::new("/api/v1/tournaments/{id}/start", post(begin_now), [begin]),
        Endpoint::new("/api/v1/tournaments/{id}/cancel", post(call_off), [cancel]),
    ]
}

/// The operation that makes one; its path is that of the list.
pub(super) fn making() -> Operation {
    Operation::post(
        "/api/v1/tournaments",
        "Makes a tournament for people, which begins at its time with those who have entered and are there",
        Content::Json(schema_of::<MadeTournament>),
    )
    .body(schema_of::<NewTournament>)
    .signed_in()
    .refusals(REFUSALS)
}

pub(super) async fn make(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    SignedIn(session): SignedIn,
    JsonBody(wish): JsonBody<NewTournament>,
) -> Result<impl IntoResponse, ApiError> {
    let maker = allowed(&state, session).await?.identity;
    let name = name_of(&state, &wish.name)?;
    let games = wish.games.map_or(2, Bounded::number);
    if games % 2 == 1 {
        return Err(ApiError::bad_field("games", "games are played in pairs: 2, 4 or 6"));
    }
    let time = wish.time.map_or(TIME, TimeWish::control);
    let format = wish.format.name();
    if wish.rounds.is_some() && format != FormatName::Swiss {
        return Err(ApiError::bad_field("rounds", "only a swiss has a number of rounds"));
    }
    if wish.minutes.is_some() && format != FormatName::Arena {
        return Err(ApiError::bad_field("minutes", "only an arena has a number of minutes"));
    }
    if wish.games.is_some() && format == FormatName::Arena {
        return Err(ApiError::bad_field("games", "in an arena whoever is free plays"));
    }
    let minutes = wish.minutes.map_or(ARENA_MINUTES.number(), Bounded::number);
    let plan = TournamentPlan {
        id: TournamentId::random(&mut chance()),
        name,
        maker: maker.id.clone(),
        begins_at: UnixMillis(UnixMillis::now().0 + i64::from(wish.begins_in_s.number()) * 1_000),
        format,
        rounds: wish.rounds.map(Bounded::number),
        minutes: (format == FormatName::Arena).then_some(minutes),
        pairs: games / 2,
        time,
        rated: wish.rated,
        open_bots: wish.open_bots,
        entered: wish.enter.then(|| maker.id.clone()).into_iter().collect(),
    };
    let id = plan.id.clone();
    let place = state.shares.hold_and_spend(Share::Tournament, &Payer::stranger(from))?;
    state.tournaments.make(plan, &maker, place).await.map_err(|error| refuse(&error))?;
    let url = format!("/tournament/{id}");
    Ok((StatusCode::CREATED, [(header::LOCATION, url.clone())], Json(MadeTournament { id, url })))
}

/// Time of the games unless the maker says.
const TIME: TimeControl = TimeControl { bank_ms: Some(180_000), increment_ms: 2_000, move_ms: None };

/// Whoever may make tournaments, and open classes.
pub(super) async fn allowed(state: &AppState, session: Authenticated) -> Result<Authenticated, ApiError> {
    let session = person(session)?;
    if !state.access.tournaments {
        return Err(ApiError::new(
            ApiCode::Forbidden,
            "tournaments and classes are made by the operators of this arena",
        ));
    }
    match state.accounts.mute_of(&session.identity.id).await? {
        None => Ok(session),
        Some(mute) => {
            let message = format!("you may ask nobody now: {}", mute.reason);
            Err(ApiError::new(ApiCode::Forbidden, message))
        }
    }
}

/// A name by the rules for all tournaments and for names of people.
fn name_of(state: &AppState, name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    check_tournament_name(name).map_err(|message| ApiError::bad_field("name", message))?;
    refuse_unwanted(state, name, "name")?;
    Ok(name.to_owned())
}

/// Refuses words that this arena does not want where everybody reads them.
pub(super) fn refuse_unwanted(state: &AppState, text: &str, field: &'static str) -> Result<(), ApiError> {
    let outline = Outline::of(text);
    if state.access.forbidden_names.iter().any(|word| word.is_in(&outline)) {
        return Err(ApiError::bad_field(field, format!("this arena does not want such a {field}")));
    }
    Ok(())
}

/// Longest reason for calling a tournament off, in characters: a sentence.
const REASON_MAX: usize = 200;

async fn call_off(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(id): PathPart,
    JsonBody(Cancellation { reason }): JsonBody<Cancellation>,
) -> Result<StatusCode, ApiError> {
    let who = person(session)?.identity;
    let id: TournamentId = id.parse().map_err(|_| ApiError::not_found("tournament"))?;
    let reason = reason.trim();
    check_text(reason, REASON_MAX, Lines::One)
        .map_err(|bad| ApiError::bad_field("reason", format!("the reason {bad}")))?;
    refuse_unwanted(&state, reason, "reason")?;
    let because = (!reason.is_empty()).then(|| reason.to_owned());
    let by = Canceller::Maker(who.id);
    state.tournaments.cancel(&id, by, because).await.map_err(|error| refuse(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

async fn give_up(state: State<AppState>, session: SignedIn, id: PathPart) -> Result<StatusCode, ApiError> {
    decide(state, session, id, PlanDecision::Drop).await
}

async fn begin_now(state: State<AppState>, session: SignedIn, id: PathPart) -> Result<StatusCode, ApiError> {
    decide(state, session, id, PlanDecision::Begin).await
}

async fn decide(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(id): PathPart,
    decision: PlanDecision,
) -> Result<StatusCode, ApiError> {
    let who = person(session)?.identity;
    let id: TournamentId = id.parse().map_err(|_| ApiError::not_found("tournament"))?;
    state.tournaments.decide(&id, &who.id, decision).await.map_err(|error| refuse(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

fn refuse(error: &PlanError) -> ApiError {
    let message = error.to_string();
    match error {
        PlanError::NameTaken(_) => ApiError::new(ApiCode::Conflict, message).of("name"),
        PlanError::NotYours => ApiError::new(ApiCode::Forbidden, message),
        PlanError::Unknown => ApiError::not_found("tournament"),
        PlanError::TooMany { .. }
        | PlanError::Start(
            TournamentStartError::Alone(_)
            | TournamentStartError::GoesOn(_)
            | TournamentStartError::Unknown(_),
        ) => ApiError::new(ApiCode::Conflict, message),
        PlanError::Full { .. } => ApiError::new(ApiCode::Busy, message).retry_in(FULL_RETRY),
        PlanError::Unavailable | PlanError::Start(TournamentStartError::Unavailable) => {
            ApiError::new(ApiCode::Busy, message).retry_in(UNAVAILABLE_RETRY)
        }
    }
}
