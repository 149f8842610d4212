//! Tournaments: a list, and each with standings, crosstable and games.

use std::fmt::Write as _;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, put};
use fourfold_arena::format::Format;
use fourfold_arena::report::RatedPlayer;
use fourfold_engine::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::person;
use super::tournament_plans;
use super::{CURSOR, LIMIT};
use crate::accounts::Authenticated;
use crate::competition::tournament::progress::ScheduleLine;
use crate::competition::tournament::{
    EntryError, PlanTerms, TournamentSummary, TournamentView, Upcoming, Wish,
};
use crate::http::answer::{Keep, List, keepable_json, table};
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerName, TournamentId};
use crate::model::result::GameResult;
use crate::model::tournament::TournamentFormat;
use crate::storage::tournaments::{EndedBecause, StoredTournament};
use crate::system::config::FormatName;

/// How a tournament stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Status")]
enum TournamentStatus {
    /// It goes on.
    Running,
    /// Everything was played.
    Complete,
    /// Too few entrants were left.
    Suspended,
    /// It was called off.
    Cancelled,
}

/// Who meets whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
struct FormatView {
    /// `round-robin`, `gauntlet`, `swiss`, `knockout`, `ladder`, `match` or `arena`.
    name: &'static str,
    /// Of a Swiss.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<u32>,
    /// Of an arena.
    #[serde(skip_serializing_if = "Option::is_none")]
    minutes: Option<u32>,
    /// How many of the first entrants play the gauntlet.
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds: Option<u32>,
}

/// A tournament in the list.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
struct TournamentRow {
    /// The last part of its link.
    id: TournamentId,
    name: String,
    status: TournamentStatus,
    format: FormatView,
    /// How many take part.
    entrants: usize,
    /// Games played and booked.
    games: u64,
    /// Who came first; null while it goes on.
    winner: Option<PlayerName>,
    started_at: String,
    /// Null while it goes on.
    ended_at: Option<String>,
}

/// A tournament.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
struct TournamentDetail {
    #[serde(flatten)]
    row: TournamentRow,
    /// Games of the schedule as far as it is known; further rounds follow from the results.
    games_known: u64,
    /// Pairs of games of each meeting; on the ladder of all.
    pairs: u64,
    /// Of openings and pairings.
    seed: u64,
    time: TimeControl,
    /// Whether its games count.
    rated: bool,
    /// When an arena begins no more games; null for other formats.
    ends_at: Option<String>,
    /// Why it was called off, if somebody said so.
    cancelled_because: Option<String>,
    /// By rank.
    standings: Vec<StandingRow>,
    /// Half points and games of the row's entrant against the column's, both by rank; null where they did not meet.
    crosstable: Vec<Vec<Option<[u64; 2]>>>,
    /// In the order of the schedule.
    schedule: Vec<ScheduledGame>,
    /// Why not to trust the ratings.
    warnings: Vec<String>,
}

/// One entrant's place.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct StandingRow {
    pub(in crate::http) rank: usize,
    pub(in crate::http) name: String,
    /// 3 points a win, 1 a draw; in an arena 2 and 1, twice as many behind two wins in a row.
    pub(in crate::http) score: u64,
    pub(in crate::http) wins: u64,
    /// Wins as the first side.
    pub(in crate::http) wins_first: u64,
    /// Wins as the second side.
    pub(in crate::http) wins_second: u64,
    pub(in crate::http) draws: u64,
    pub(in crate::http) losses: u64,
    pub(in crate::http) games: u64,
    /// Rating within the tournament, by a joint fit whose mean is 0; null in an arena.
    pub(in crate::http) elo: Option<f64>,
    /// Half the width of the interval that holds 95 %; null in an arena.
    pub(in crate::http) pm95: Option<f64>,
    /// Games lost by breaking off, or by not being there.
    pub(in crate::http) faults: u64,
    /// Whether it was taken out after faults.
    pub(in crate::http) suspended: bool,
    /// Whether it has withdrawn.
    pub(in crate::http) withdrawn: bool,
    /// Whether its next game counts double, in an arena.
    pub(in crate::http) doubles: bool,
}

/// A game of the schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct ScheduledGame {
    /// From 0; games 2k and 2k + 1 are a pair: one opening, both colours.
    pub(in crate::http) number: u64,
    pub(in crate::http) first: PlayerName,
    pub(in crate::http) second: PlayerName,
    /// Its record; null if it was lost without being played.
    pub(in crate::http) game: Option<GameId>,
    /// Null while it goes on.
    pub(in crate::http) result: Option<GameResult>,
    /// Whether it ended by a fault.
    pub(in crate::http) fault: bool,
}

/// A tournament that is to come.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
struct UpcomingView {
    /// The last part of its link, if somebody has made it; those of the configuration have one when they begin.
    id: Option<TournamentId>,
    /// Who has made it; null if the operators have.
    maker: Option<PlayerName>,
    name: String,
    /// `round-robin`, `gauntlet`, `swiss`, `knockout`, `ladder` or `arena`.
    format: FormatName,
    /// Of a Swiss; null if they follow from the number of entrants.
    rounds: Option<u32>,
    /// Of an arena; null for other formats.
    minutes: Option<u32>,
    /// Of each meeting; null for the usual number.
    games: Option<u32>,
    time: TimeControl,
    /// Whether its games count.
    rated: bool,
    /// When it begins, RFC 3339; null for those that wait for a command.
    at: Option<String>,
    /// Whether every bot that is open when it begins takes part.
    open_bots: bool,
    /// People who have entered; null if people do not take part.
    entered: Option<Vec<PlayerName>>,
    /// How many people may enter.
    people_max: usize,
}

/// Which tournament somebody enters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Its name, as `GET /api/v1/tournaments/upcoming` has it.
    name: String,
}

const ENTRY_REFUSALS: &[ApiCode] =
    &[ApiCode::Forbidden, ApiCode::Conflict, ApiCode::Busy, ApiCode::OriginNotAllowed];

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/tournaments",
        "Lists tournaments, the newest first",
        Content::Json(schema_of::<List<TournamentRow>>),
    )
    .parameters(&[LIMIT, CURSOR]);
    let one = Operation::get(
        "/api/v1/tournaments/{id}",
        "Shows a tournament's standings, crosstable and games, live too",
        Content::Json(schema_of::<TournamentDetail>),
    );
    let path = "/api/v1/tournaments/{id}/standings.csv";
    let file = Operation::get(path, "The standings as a file for spreadsheets", Content::Csv);
    let upcoming = Operation::get(
        "/api/v1/tournaments/upcoming",
        "Lists tournaments that are to come, the next first",
        Content::Json(schema_of::<List<UpcomingView>>),
    );
    let enter = Operation::put("/api/v1/tournaments/entry", "Enters one that is to come", Content::Nothing);
    let withdraw = Operation::delete(
        "/api/v1/tournaments/entry",
        "Withdraws from one that is to come",
        Content::Nothing,
    );
    let [enter, withdraw] = [enter, withdraw]
        .map(|operation| operation.status(204).body(schema_of::<Entry>).signed_in().refusals(ENTRY_REFUSALS));
    vec![
        Endpoint::new(
            "/api/v1/tournaments",
            get(tournaments).post(tournament_plans::make),
            [list, tournament_plans::making()],
        ),
        Endpoint::new("/api/v1/tournaments/upcoming", get(upcoming_list), [upcoming]),
        Endpoint::new(
            "/api/v1/tournaments/entry",
            put(enter_one).delete(withdraw_from_one),
            [enter, withdraw],
        ),
        Endpoint::new("/api/v1/tournaments/{id}", get(tournament), [one]),
        coming_and_going(),
        Endpoint::new(path, get(standings_file), [file]),
    ]
}

/// Who takes part in one, by its id.
fn coming_and_going() -> Endpoint {
    let path = "/api/v1/tournaments/{id}/entry";
    let come = Operation::put(
        path,
        "Enters one that somebody has made, or comes to one that goes on",
        Content::Nothing,
    );
    let go = Operation::delete(path, "Withdraws from it, also while it goes on", Content::Nothing);
    let both = [come, go].map(|operation| operation.status(204).signed_in().refusals(ENTRY_REFUSALS));
    Endpoint::new(path, put(come_to_one).delete(go_from_one), both)
}

async fn tournaments(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Json<List<TournamentRow>>, ApiError> {
    let limit = parameters.limit()?;
    let list = state.tournaments.list(parameters.cursor()?, limit).await?;
    let is_full = list.len() == limit as usize;
    let cursor = list.last().filter(|_| is_full).map(|(number, _)| number.to_string());
    let items = list.into_iter().map(|(_, summary)| row_of(summary)).collect();
    Ok(Json(List { items, cursor }))
}

async fn upcoming_list(State(state): State<AppState>) -> Json<List<UpcomingView>> {
    let view = |upcoming: Upcoming| {
        let Upcoming { id, maker, name, at, terms, open_bots, entered, people_max } = upcoming;
        let PlanTerms { format, rounds, minutes, games, time, rated } = terms;
        let (maker, at) = (maker.map(|maker| maker.name), at.map(|at| at.to_string()));
        UpcomingView {
            id,
            maker,
            name,
            format,
            rounds,
            minutes,
            games,
            time,
            rated,
            at,
            open_bots,
            entered,
            people_max,
        }
    };
    Json(List::whole(state.tournaments.upcoming().into_iter().map(view).collect()))
}

async fn enter_one(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(Entry { name }): JsonBody<Entry>,
) -> Result<StatusCode, ApiError> {
    wish(&state, session, &name, Wish::Enter).await
}

async fn withdraw_from_one(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(Entry { name }): JsonBody<Entry>,
) -> Result<StatusCode, ApiError> {
    wish(&state, session, &name, Wish::Withdraw).await
}

async fn wish(
    state: &AppState,
    session: Authenticated,
    name: &str,
    wish: Wish,
) -> Result<StatusCode, ApiError> {
    let who = person(session)?.identity;
    state.tournaments.enter(name, &who, wish).await.map_err(|error| match error {
        EntryError::Unknown(_) => ApiError::bad_field("name", error.to_string()),
        EntryError::Unavailable => refusal(&error),
        EntryError::Closed(_) | EntryError::Late(_) | EntryError::Full { .. } => refusal(&error).of("name"),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

fn refusal(error: &EntryError) -> ApiError {
    let code = match error {
        EntryError::Unknown(_) => return ApiError::not_found("tournament"),
        EntryError::Closed(_) => ApiCode::Forbidden,
        EntryError::Late(_) | EntryError::Full { .. } => ApiCode::Conflict,
        EntryError::Unavailable => ApiCode::Busy,
    };
    ApiError::new(code, error.to_string())
}

async fn come_to_one(state: State<AppState>, who: SignedIn, id: PathPart) -> Result<StatusCode, ApiError> {
    attend(state, who, id, Wish::Enter).await
}

async fn go_from_one(state: State<AppState>, who: SignedIn, id: PathPart) -> Result<StatusCode, ApiError> {
    attend(state, who, id, Wish::Withdraw).await
}

async fn attend(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(id): PathPart,
    wish: Wish,
) -> Result<StatusCode, ApiError> {
    let who = person(session)?.identity;
    let id: TournamentId = id.parse().map_err(|_| ApiError::not_found("tournament"))?;
    state.tournaments.attend(&id, &who, wish).await.map_err(|error| refusal(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

async fn tournament(
    State(state): State<AppState>,
    PathPart(id): PathPart,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id: TournamentId = id.parse().map_err(|_| ApiError::not_found("tournament"))?;
    let view = state.tournaments.view(&id).await?.ok_or_else(|| ApiError::not_found("tournament"))?;
    Ok(keepable_json(&headers, Keep::Settled, &detail(&view)))
}

async fn standings_file(State(state): State<AppState>, PathPart(id): PathPart) -> Result<Response, ApiError> {
    let id: TournamentId = id.parse().map_err(|_| ApiError::not_found("tournament"))?;
    let view = state.tournaments.view(&id).await?.ok_or_else(|| ApiError::not_found("tournament"))?;
    let mut text =
        "rank,name,score,wins,wins_first,wins_second,draws,losses,games,elo,pm95,faults\n".to_owned();
    // Names of players need no quotes.
    let or_nothing = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    for row in standing_rows(&view) {
        let StandingRow { rank, name, score, wins, wins_first, wins_second, draws, losses, .. } = &row;
        let StandingRow { games, elo, pm95, faults, .. } = &row;
        let [elo, pm95] = [*elo, *pm95].map(or_nothing);
        let _ = writeln!(
            text,
            "{rank},{name},{score},{wins},{wins_first},{wins_second},{draws},{losses},{games},{elo},{pm95},{faults}"
        );
    }
    Ok(table(&format!("tournament-{id}.csv"), text))
}

fn row_of(TournamentSummary { tournament, games, winner }: TournamentSummary) -> TournamentRow {
    row(&tournament, games, winner)
}

fn row(tournament: &StoredTournament, games: u64, winner: Option<PlayerName>) -> TournamentRow {
    TournamentRow {
        id: tournament.id.clone(),
        name: tournament.name.clone(),
        status: status(tournament),
        format: format_view(tournament.format),
        entrants: tournament.entrants.len(),
        games,
        winner,
        started_at: tournament.started_at.to_string(),
        ended_at: tournament.end.as_ref().map(|end| end.at.to_string()),
    }
}

fn status(tournament: &StoredTournament) -> TournamentStatus {
    match tournament.end.as_ref().map(|end| end.reason) {
        None => TournamentStatus::Running,
        Some(EndedBecause::Complete) => TournamentStatus::Complete,
        Some(EndedBecause::Suspended) => TournamentStatus::Suspended,
        Some(EndedBecause::Cancelled) => TournamentStatus::Cancelled,
    }
}

fn format_view(format: TournamentFormat) -> FormatView {
    let named = |name| FormatView { name, rounds: None, minutes: None, seeds: None };
    let format = match format {
        TournamentFormat::Arena { minutes } => {
            return FormatView { minutes: Some(minutes), ..named("arena") };
        }
        TournamentFormat::Schedule(format) => format,
    };
    match format {
        Format::Match => named("match"),
        Format::RoundRobin => named("round-robin"),
        Format::Gauntlet { seeds } => FormatView { seeds: Some(seeds), ..named("gauntlet") },
        Format::Swiss { rounds } => FormatView { rounds: Some(rounds), ..named("swiss") },
        Format::Knockout => named("knockout"),
        Format::Ladder => named("ladder"),
    }
}

fn detail(view: &TournamentView) -> TournamentDetail {
    let tournament = &view.tournament;
    let winner = tournament.end.as_ref().and_then(|end| end.winner.as_ref());
    let winner = winner.and_then(|winner| tournament.entrants.iter().position(|entrant| entrant == winner));
    TournamentDetail {
        row: row(tournament, view.games, winner.map(|place| view.names[place].clone())),
        games_known: view.known,
        pairs: tournament.pairs,
        seed: tournament.seed,
        time: tournament.time,
        rated: tournament.rated,
        ends_at: view.ends_at.map(|at| at.to_string()),
        cancelled_because: tournament.end.as_ref().and_then(|end| end.because.clone()),
        standings: standing_rows(view).collect(),
        crosstable: view.table.tournament.as_ref().map(|of| of.crosstable.clone()).unwrap_or_default(),
        schedule: view.lines.iter().map(|line| scheduled(view, line)).collect(),
        warnings: view.table.warnings.clone(),
    }
}

/// The standings, by rank.
fn standing_rows(view: &TournamentView) -> impl Iterator<Item = StandingRow> {
    view.table.players.iter().filter_map(|player| standing_row(view, player))
}

/// The place of a player, if the tournament has any.
pub(in crate::http) fn standing_row(view: &TournamentView, player: &RatedPlayer) -> Option<StandingRow> {
    let is_rated = view.ends_at.is_none();
    // Adding nothing makes of a negative zero one that reads as none.
    let tenths = |elo: f64| is_rated.then(|| (elo * 10.0).round() / 10.0 + 0.0);
    let standing = player.standing?;
    let place = view.names.iter().position(|name| name.as_str() == player.name);
    let state = place.and_then(|place| view.entrants.get(place)).copied().unwrap_or_default();
    Some(StandingRow {
        rank: standing.rank,
        name: player.name.clone(),
        score: standing.score,
        wins: player.wins,
        wins_first: standing.wins_first,
        wins_second: standing.wins_second,
        draws: player.draws,
        losses: player.losses,
        games: player.games,
        elo: tenths(player.elo),
        pm95: tenths(player.pm95),
        faults: standing.faults,
        suspended: standing.suspended,
        withdrawn: state.has_left,
        doubles: state.is_on_streak,
    })
}

pub(in crate::http) fn scheduled(view: &TournamentView, line: &ScheduleLine) -> ScheduledGame {
    let result = line.outcome.map(|outcome| match outcome.winner {
        Some(Side::First) => GameResult::First,
        Some(Side::Second) => GameResult::Second,
        None => GameResult::Draw,
    });
    ScheduledGame {
        number: line.number,
        first: view.names[line.seats.first].clone(),
        second: view.names[line.seats.second].clone(),
        game: line.game.clone(),
        result,
        fault: line.outcome.is_some_and(|outcome| outcome.is_fault),
    }
}
