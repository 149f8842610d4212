//! `/admin`: where operators look and act in a browser. It does nothing that the operator's socket does not: what is
//! shown and done goes through the same commands, in the operator's name.
//!
//! Whoever is no operator finds nothing here. An operator has signed in as everybody does, by a session cookie, and has
//! given a code of the second factor in this session; acting takes one that is fresh. That requests come from a page of
//! the site is checked for all that change something.

use std::sync::Arc;

use axum::extract::{Extension, FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use fourfold_arena::fair_play::Finding;
use serde::{Deserialize, Serialize};

use super::auth::{IdentityProof, Viewer};
use super::control::{
    Control, ControlClient, ControlError, DaemonStatus, FairPlayReport, ListedFault, ListedNetwork,
    ListedNode, ListedPlayer, ListedReport, LogEntry, Reason,
};
use super::error::{ApiCode, ApiError};
use super::pages::Visitor;
use super::pages::admin::{
    self as page, AdminShown, DecisionsRow, DecisionsShown, KeptOutRow, NodeRow, ReportRow, Row,
};
use super::request::JsonBody;
use super::state::AppState;
use super::texts::Language;
use crate::accounts::operators::Standing;
use crate::accounts::{Accounts, Authenticated};
use crate::model::ids::{GameId, PlayerName, StudyId, TournamentId};
use crate::model::player::PlayerKind;
use crate::storage::members::answer_words;
use crate::storage::record::TokenScope;

/// Entries of the log on the page.
const LOG_ENTRIES: u32 = 50;

/// Players on the page whose decisions say most.
const DECISIONS_SHOWN: usize = 20;

/// Games that are named of each.
const GAMES_SHOWN: usize = 5;

/// Below so much evidence no game says anything: one honest player in so many.
const EVIDENCE_SHOWN: f64 = 10.0;

/// Neither browsers nor anything between keep what is shown here.
const CACHING: HeaderValue = HeaderValue::from_static("no-store");

/// The field that names the second factor.
const CODE: &str = "code";

/// What the page works with.
#[derive(Clone, Debug)]
pub(crate) struct AdminState {
    client: ControlClient,
    accounts: Accounts,
    /// As they are in force, without secrets.
    settings: Arc<str>,
}

impl AdminState {
    pub(crate) fn new(control: Control, settings: impl Into<Arc<str>>) -> Self {
        let accounts = control.accounts.clone();
        Self { client: ControlClient::here(control), accounts, settings: settings.into() }
    }
}

pub(crate) fn router(admin: AdminState) -> Router<AppState> {
    Router::new()
        .route("/admin", get(show))
        .route("/admin/session", post(prove).delete(leave))
        .route("/admin/acts", post(act))
        .layer(Extension(admin))
        .layer(map_response(uncached))
}

async fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, CACHING);
    response
}

/// An operator's session, and what it may do now. For everybody else nothing is here.
struct Operator {
    session: Authenticated,
    standing: Standing,
}

impl FromRequestParts<AppState> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let viewer = <Viewer as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await?;
        let nothing = || ApiError::not_found("page");
        let session = person(viewer).ok_or_else(nothing)?;
        match state.accounts.standing(&session).await? {
            Standing::None => Err(nothing()),
            standing => Ok(Self { session, standing }),
        }
    }
}

/// The session of a person: tokens of bots and guests are none.
fn person(viewer: Option<Viewer>) -> Option<Authenticated> {
    match viewer? {
        Viewer { identity, credential: IdentityProof::Session(token) }
            if identity.kind == PlayerKind::Human =>
        {
            Some(Authenticated { identity, token, scope: TokenScope::Manage })
        }
        Viewer { .. } => None,
    }
}

async fn show(
    operator: Result<Operator, ApiError>,
    visitor: Visitor,
    Extension(admin): Extension<AdminState>,
) -> Result<Response, ApiError> {
    let operator = match operator {
        Ok(operator) => operator,
        Err(ApiError { code: ApiCode::NotFound, .. }) => return Ok(page::nothing(&visitor)),
        Err(error) => return Err(error),
    };
    match operator.standing {
        Standing::None => Ok(page::nothing(&visitor)),
        Standing::Unproven => Ok(page::ask_for_code(&visitor)),
        Standing::Sees | Standing::Acts => Ok(page::show(&visitor, admin.shown().await.map_err(refused)?)),
    }
}

/// A code of the second factor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    code: String,
}

async fn prove(
    Operator { session, .. }: Operator,
    Extension(admin): Extension<AdminState>,
    JsonBody(Code { code }): JsonBody<Code>,
) -> Result<StatusCode, ApiError> {
    admin.accounts.prove_operator(&session, &code).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn leave(Operator { session, .. }: Operator, Extension(admin): Extension<AdminState>) -> StatusCode {
    admin.accounts.forget_proof(&session.token);
    StatusCode::NO_CONTENT
}

/// What an operator does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ActKind {
    Ban,
    Unban,
    Mute,
    Unmute,
    Rename,
    ClearProfile,
    Void,
    CancelTournament,
    RemoveStudy,
    DrainNode,
    UndoDrains,
    Take,
    Dismiss,
    Resolve,
}

/// What is done, with its reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    act: ActKind,
    /// The name of a player or a node, or the id of a game that is voided, a tournament that is called off or a study
    /// that goes.
    subject: Option<String>,
    /// The report that it answers, which is resolved by it.
    report: Option<u64>,
    reason: String,
    /// Of a ban and a mute; without, until it is lifted.
    days: Option<u32>,
    /// By which a player is called from now on.
    name: Option<String>,
}

/// What was done.
#[derive(Debug, Serialize)]
struct Acted {
    done: bool,
}

async fn act(
    Operator { session, standing }: Operator,
    Extension(admin): Extension<AdminState>,
    JsonBody(decision): JsonBody<Decision>,
) -> Result<Json<Acted>, ApiError> {
    if standing != Standing::Acts {
        let message = "a fresh code of the second factor is needed";
        return Err(ApiError::new(ApiCode::Forbidden, message).of(CODE));
    }
    admin.act(&session.identity.name, decision).await?;
    Ok(Json(Acted { done: true }))
}

impl AdminState {
    async fn act(&self, by: &PlayerName, decision: Decision) -> Result<(), ApiError> {
        let Decision { act, subject, report, reason, days, name } = decision;
        let because = Reason { reason, by: by.to_string() };
        let step = match act {
            ActKind::Take => "take",
            ActKind::Dismiss => "dismiss",
            ActKind::Resolve => "resolve",
            ActKind::DrainNode => {
                let node = subject.ok_or_else(|| ApiError::bad_field("subject", "which node"))?;
                return self.client.drain_node(&node, &because).await.map(|_| ()).map_err(refused);
            }
            ActKind::UndoDrains => {
                return self.client.balance_nodes(&because).await.map(|_| ()).map_err(refused);
            }
            other => {
                let subject =
                    subject.ok_or_else(|| ApiError::bad_field("subject", "whom or what it is about"))?;
                self.act_on(other, &subject, days, name, because.clone()).await?;
                "resolve"
            }
        };
        match (report, act) {
            (Some(number), _) => {
                self.client.handle_report(number, step, &because).await.map_err(refused)?;
                Ok(())
            }
            (None, ActKind::Take | ActKind::Dismiss | ActKind::Resolve) => {
                Err(ApiError::bad_field("report", "the number of a report is needed"))
            }
            (None, _) => Ok(()),
        }
    }

    async fn act_on(
        &self,
        act: ActKind,
        subject: &str,
        days: Option<u32>,
        name: Option<String>,
        because: Reason,
    ) -> Result<(), ApiError> {
        if act == ActKind::Void {
            let bad = |_| ApiError::bad_field("subject", "the id of a game is needed");
            let game: GameId = subject.parse().map_err(bad)?;
            return self.client.void_game(&game, &because).await.map(|_| ()).map_err(refused);
        }
        if act == ActKind::CancelTournament {
            let bad = |_| ApiError::bad_field("subject", "the id of a tournament is needed");
            let tournament: TournamentId = subject.parse().map_err(bad)?;
            let done = self.client.cancel_tournament(&tournament, &because).await;
            return done.map(|_| ()).map_err(refused);
        }
        if act == ActKind::RemoveStudy {
            let bad = |_| ApiError::bad_field("subject", "the id of a study is needed");
            let study: StudyId = subject.parse().map_err(bad)?;
            return self.client.remove_study(&study, &because).await.map(|_| ()).map_err(refused);
        }
        self.spare_operators(subject).await?;
        let client = &self.client;
        let done = match act {
            ActKind::Ban => client.ban(subject, days, because).await,
            ActKind::Unban => client.unban(subject, &because).await,
            ActKind::Mute => client.mute(subject, days, because).await,
            ActKind::Unmute => client.unmute(subject, &because).await,
            ActKind::Rename => client.rename(subject, &name.unwrap_or_default(), because).await,
            ActKind::ClearProfile => client.clear_profile(subject, &because).await,
            ActKind::Void
            | ActKind::CancelTournament
            | ActKind::RemoveStudy
            | ActKind::DrainNode
            | ActKind::UndoDrains
            | ActKind::Take
            | ActKind::Dismiss
            | ActKind::Resolve => return Ok(()),
        };
        done.map(|_| ()).map_err(refused)
    }

    /// Operators are dealt with by the command alone, so that one whose session and phone are stolen does not put the
    /// others out.
    async fn spare_operators(&self, subject: &str) -> Result<(), ApiError> {
        let operators = self.client.operators().await.map_err(refused)?;
        if operators.iter().any(|operator| operator.name.as_str().eq_ignore_ascii_case(subject)) {
            let message = "operators are dealt with by `fourfold admin` alone";
            return Err(ApiError::new(ApiCode::Conflict, message).of("subject"));
        }
        Ok(())
    }

    async fn shown(&self) -> Result<AdminShown, ControlError> {
        let status = self.client.status().await.ok();
        let restricted = self.client.restricted().await?.into_iter();
        let networks = self.client.networks().await?.into_iter();
        Ok(AdminShown {
            reports: self.client.reports(false).await?.into_iter().map(ReportRow::from).collect(),
            kept_out: restricted.flat_map(kept_out).chain(networks.map(KeptOutRow::from)).collect(),
            decisions: self.client.fair_play(None).await.ok().map(DecisionsShown::from),
            newcomers: self.client.newcomers().await?.into_iter().map(newcomer).collect(),
            faults: self.client.faults().await?.into_iter().map(fault).collect(),
            troubles: status.as_ref().map(troubles).unwrap_or_default(),
            figures: status.as_ref().map(figures).unwrap_or_default(),
            // The page is of use where the list of nodes cannot be read, too.
            nodes: self.client.nodes().await.unwrap_or_default().into_iter().map(NodeRow::from).collect(),
            log: self.client.audit_log(LOG_ENTRIES).await?.into_iter().map(log_entry).collect(),
            settings: self.settings.to_string(),
        })
    }
}

/// A refusal of a command as a refusal of the request.
fn refused(error: ControlError) -> ApiError {
    match error {
        ControlError::Refused(refusal) => refusal,
        other => ApiError::internal(&other),
    }
}

impl From<ListedReport> for ReportRow {
    fn from(report: ListedReport) -> Self {
        Self {
            number: report.number,
            player: report.player.to_string(),
            reporter: report.reporter.map(|name| name.to_string()),
            game: report.game.map(|game| game.to_string()),
            reason: report.reason,
            note: report.note,
            at: minute(&report.at),
            taken_by: report.handled_by,
        }
    }
}

/// A ban and a mute, of whoever has them.
fn kept_out(player: ListedPlayer) -> Vec<KeptOutRow> {
    let name = player.name.to_string();
    let row = |what: &'static str, because: Option<String>, until: Option<String>| {
        because.map(|reason| KeptOutRow {
            who: name.clone(),
            is_player: true,
            what,
            reason,
            until: until.as_deref().map(minute),
        })
    };
    let ban = row("banned", player.banned_because, player.banned_until);
    let mute = row("muted", player.muted_because, player.muted_until);
    ban.into_iter().chain(mute).collect()
}

impl From<ListedNetwork> for KeptOutRow {
    fn from(network: ListedNetwork) -> Self {
        let ListedNetwork { network: who, reason, until, .. } = network;
        let until = until.as_deref().map(minute);
        Self { who, is_player: false, what: "network banned", reason, until }
    }
}

impl From<ListedNode> for NodeRow {
    fn from(node: ListedNode) -> Self {
        let ListedNode { name, role, drained, address, version, since, beat, database_ms } = node;
        let (since, beat, database) = (minute(&since), second(&beat), answer_words(database_ms));
        Self { name, role, drained, address, version, since, beat, database }
    }
}

/// A time to the second.
fn second(at: &str) -> String {
    at.get(..19).unwrap_or(at).replace('T', " ")
}

/// A time to the minute, as people read it in a list.
fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}

impl From<FairPlayReport> for DecisionsShown {
    fn from(report: FairPlayReport) -> Self {
        let FairPlayReport { at, games, waiting, players } = report;
        let solved = format!("{games} rated games between people");
        let rests_on = match (at, waiting) {
            (Some(at), 0) => format!("{solved}, read {}.", minute(&at)),
            (_, waiting) => format!("{solved}; {waiting} more are being solved."),
        };
        let decided = players.into_iter().filter(|finding| finding.hard > 0);
        Self { rests_on, rows: decided.take(DECISIONS_SHOWN).map(DecisionsRow::from).collect() }
    }
}

impl From<Finding> for DecisionsRow {
    fn from(finding: Finding) -> Self {
        let Finding { player, games, hard, kept, range: (from, to), evidence, look, weighing, .. } = finding;
        let games_shown = if evidence < EVIDENCE_SHOWN { 0 } else { GAMES_SHOWN };
        let weighing = weighing.into_iter().take(games_shown).map(|weighing| weighing.game);
        Self {
            player,
            games,
            hard,
            kept,
            usual: format!("{from:.0} to {to:.0}"),
            evidence: Language::English.number(whole(evidence)),
            look,
            weighing: weighing.collect(),
        }
    }
}

/// Evidence as a number that can be read; what is beyond all numbers is the largest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates, and is at least 1"
)]
fn whole(evidence: f64) -> u64 {
    evidence.round() as u64
}

fn newcomer(player: ListedPlayer) -> Row {
    let kind = player.owner.map_or_else(|| "account".to_owned(), |owner| format!("bot of {owner}"));
    Row { at: minute(&player.created_at), player: Some(player.name.to_string()), game: None, words: kind }
}

fn fault(fault: ListedFault) -> Row {
    let ListedFault { bot, kind, note, game, at } = fault;
    let game = game.map(|game| game.to_string());
    Row { at: minute(&at), player: Some(bot.to_string()), game, words: format!("{kind}: {note}") }
}

fn log_entry(entry: LogEntry) -> Row {
    let LogEntry { at, action, subject, detail, until, reason, by, .. } = entry;
    let detail = detail.map(|detail| format!(" {detail}")).unwrap_or_default();
    let until = until.map(|until| format!(" until {}", minute(&until))).unwrap_or_default();
    let by = by.map(|by| format!(" ({by})")).unwrap_or_default();
    Row {
        at: minute(&at),
        player: None,
        game: None,
        words: format!("{action} {subject}{detail}{until}: {reason}{by}"),
    }
}

fn troubles(status: &DaemonStatus) -> Vec<String> {
    let alarms = status.rating_alarms.iter().map(|alarm| {
        let with = alarm.opponent.as_ref().map(|name| format!(" with {name}")).unwrap_or_default();
        let games: Vec<&str> = alarm.games.iter().map(GameId::as_str).collect();
        format!("{}: {}{with}, games {}", alarm.habit, alarm.player, games.join(", "))
    });
    let mails = status.mails.iter().filter_map(|mails| mails.failure.as_ref());
    let mails = mails.map(|failure| format!("The last mail failed: {failure}"));
    status.pauses.iter().chain(&status.set_aside).cloned().chain(alarms).chain(mails).collect()
}

fn figures(status: &DaemonStatus) -> Vec<(&'static str, String)> {
    let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
    let optional = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), mebibytes);
    let mut figures = vec![
        ("Version", status.version.clone()),
        ("Running since", status.started_at.clone()),
        ("Games under way", status.games.to_string()),
        ("Players connected", status.online.to_string()),
        ("Connections", status.sessions.to_string()),
        ("Writes that wait", status.writer_queue.to_string()),
        ("Games to be judged", status.unjudged.to_string()),
        ("Memory", optional(status.memory_bytes)),
        ("Data directory", mebibytes(status.data_bytes)),
        ("Free on its disk", optional(status.disk_free_bytes)),
    ];
    if let Some(mails) = &status.mails {
        figures.push(("Mails delivered", mails.delivered.to_string()));
        figures.push(("Mails that wait", mails.waiting.to_string()));
        figures.push(("Mails lost", mails.lost.to_string()));
    }
    figures
}
