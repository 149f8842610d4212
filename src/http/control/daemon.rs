//! The running daemon itself: what it does, and what it is to begin.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::footprint;
use super::orders::OrdersShown;
use super::players::Reason;
use super::refusal::Refusal;
use super::reports;
use super::{Control, Route, RunningDaemon};
use crate::competition::fair_play::RatingAlarm;
use crate::competition::tournament::Canceller;
use crate::fourfold_version;
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart};
use crate::model::ids::{GameId, PlayerName, TournamentId};
use crate::model::time::UnixMillis;
use crate::operations::backups::BackupStanding;
use crate::operations::mail::MailStanding;
use crate::storage::reports::ReportQuery;
use crate::storage::store::GameQuery;

/// What a daemon is doing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DaemonStatus {
    pub(crate) version: String,
    pub(crate) pid: u32,
    /// When it began, RFC 3339.
    pub(crate) started_at: String,
    #[serde(default)]
    pub(crate) uptime_s: u64,
    /// That go on at the boards; rooms of games that are over are not counted.
    pub(crate) games: usize,
    /// Those with days for each move.
    #[serde(default)]
    pub(crate) correspondence: usize,
    /// Connected players, bots included.
    pub(crate) online: usize,
    /// Their connections; a person may have several.
    #[serde(default)]
    pub(crate) sessions: usize,
    /// Since it began, like the next two.
    #[serde(default)]
    pub(crate) games_finished: u64,
    #[serde(default)]
    pub(crate) moves: u64,
    #[serde(default)]
    pub(crate) commits: u64,
    /// Writes that wait for a commit.
    #[serde(default)]
    pub(crate) writer_queue: u64,
    /// Finished games that the judge has not looked at yet.
    #[serde(default)]
    pub(crate) unjudged: u64,
    /// Finished games in all.
    #[serde(default)]
    pub(crate) finished: u64,
    /// The hash of the last of them in their chain; empty if there is none.
    #[serde(default)]
    pub(crate) head: String,
    /// How far the bots that learn are behind.
    #[serde(default)]
    pub(crate) learners: Vec<LearnerBacklog>,
    /// Resident; not known on every system.
    #[serde(default)]
    pub(crate) memory_bytes: Option<u64>,
    /// The files of the data directory: with a file as the store, the database too.
    #[serde(default)]
    pub(crate) data_bytes: u64,
    /// Room on the disk under it.
    #[serde(default)]
    pub(crate) disk_free_bytes: Option<u64>,
    /// What operators have ordered.
    #[serde(default)]
    pub(crate) orders: OrdersShown,
    /// Reports of players about others with which there is something to do; 500 if there are more.
    #[serde(default)]
    pub(crate) open_reports: usize,
    /// Copies by the schedule.
    #[serde(default)]
    pub(crate) backups: BackupsShown,
    /// Mails, where the arena writes some.
    #[serde(default)]
    pub(crate) mails: Option<MailsShown>,
    /// Parts that have failed again and again and pause, one sentence each.
    #[serde(default)]
    pub(crate) pauses: Vec<String>,
    /// What the daemon leaves out for good, for it made a part panic; the last few.
    #[serde(default)]
    pub(crate) set_aside: Vec<String>,
    /// Rated games that look as if points were given away.
    pub(crate) rating_alarms: Vec<RatingAlarmView>,
}

/// Copies of the store that the daemon makes by itself.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BackupsShown {
    /// When the next one is due, RFC 3339; none without a schedule.
    pub(crate) due: Option<String>,
    /// When the newest was made, RFC 3339.
    pub(crate) made: Option<String>,
    /// Why the last attempt failed, if it did.
    pub(crate) failure: Option<String>,
}

impl From<BackupStanding> for BackupsShown {
    fn from(standing: BackupStanding) -> Self {
        let BackupStanding { due, made, failure } = standing;
        Self { due: due.map(|due| due.to_string()), made: made.map(|made| made.to_string()), failure }
    }
}

/// How mails are doing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MailsShown {
    /// Those that wait, or wait to be tried again.
    pub(crate) waiting: usize,
    /// Since the daemon began, like the next one.
    pub(crate) delivered: u64,
    /// Given up, or not even tried.
    pub(crate) lost: u64,
    /// When the last one was taken, RFC 3339.
    pub(crate) delivered_at: Option<String>,
    /// Why the last attempt failed, if it did.
    pub(crate) failure: Option<String>,
}

impl From<MailStanding> for MailsShown {
    fn from(standing: MailStanding) -> Self {
        let MailStanding { waiting, delivered, lost, delivered_at, failure } = standing;
        Self { waiting, delivered, lost, delivered_at: delivered_at.map(|at| at.to_string()), failure }
    }
}

/// How far a bot that learns is behind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LearnerBacklog {
    pub(crate) name: PlayerName,
    /// Finished games that it has not looked at.
    pub(crate) behind: u64,
}

/// Games for an operator to look at, and to void if need be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RatingAlarmView {
    /// What it looks like: sandbagging or boosting.
    pub(crate) habit: String,
    /// Whose results they are.
    pub(crate) player: String,
    /// Who gave the points, if it was one.
    pub(crate) opponent: Option<String>,
    pub(crate) variant: String,
    pub(crate) games: Vec<GameId>,
    /// When the last of them ended, RFC 3339.
    pub(crate) at: String,
}

impl From<&RatingAlarm> for RatingAlarmView {
    fn from(alarm: &RatingAlarm) -> Self {
        Self {
            habit: alarm.habit.as_str().to_owned(),
            player: alarm.player.name.to_string(),
            opponent: alarm.opponent.as_ref().map(|opponent| opponent.name.to_string()),
            variant: alarm.variant.to_string(),
            games: alarm.games.clone(),
            at: alarm.at.to_string(),
        }
    }
}

/// A tournament of the configuration that is to begin now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StartTournament {
    pub(super) name: String,
}

/// A tournament that has begun, or was called off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct StartedTournament {
    /// The last part of its link.
    pub(crate) id: TournamentId,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/status", get(status)),
        ("/control/v1/tournaments", post(start_tournament)),
        ("/control/v1/tournaments/{id}/cancel", post(cancel_tournament)),
    ]
}

/// A handler that asks for the daemon is refused where none runs.
impl FromRequestParts<Control> for RunningDaemon {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, control: &Control) -> Result<Self, ApiError> {
        let none = || ApiError::new(ApiCode::Conflict, "no daemon runs on this data directory");
        control.daemon.clone().ok_or_else(none)
    }
}

async fn status(daemon: RunningDaemon, State(control): State<Control>) -> Json<DaemonStatus> {
    let services = &daemon.services;
    let (metrics, data) = (services.metrics.totals(), &daemon.data);
    let newest = GameQuery { newest_first: true, limit: 1, ..GameQuery::default() };
    let newest = services.store.finished_games(&newest).await.unwrap_or_default().pop();
    let newest = newest.and_then(|game| game.settlement);
    let finished = newest.as_ref().map_or(0, |settlement| settlement.number);
    let open_reports = control.store.reports(ReportQuery::Open, reports::LIST_MAX).await.unwrap_or_default();
    let learners = control.learning.all().into_iter().map(|learner| LearnerBacklog {
        name: learner.name.clone(),
        behind: finished.saturating_sub(learner.covered),
    });
    Json(DaemonStatus {
        version: fourfold_version().to_owned(),
        pid: std::process::id(),
        started_at: services.started_at.to_string(),
        games: services.directory.live().len(),
        correspondence: services.directory.by_correspondence().len(),
        online: services.sessions.online(),
        uptime_s: UnixMillis::now().after(services.started_at).as_secs(),
        sessions: services.sessions.all().len(),
        games_finished: metrics.games_finished,
        moves: metrics.moves,
        commits: metrics.commits,
        writer_queue: metrics.writer_queue,
        unjudged: metrics.unjudged,
        finished,
        head: newest.and_then(|settlement| settlement.hash).map(|hash| hash.to_string()).unwrap_or_default(),
        learners: learners.collect(),
        memory_bytes: footprint::memory_bytes(),
        data_bytes: footprint::data_bytes(data),
        disk_free_bytes: footprint::disk_free_bytes(data),
        orders: OrdersShown::of(&services.host.orders().now()),
        open_reports: open_reports.len(),
        rating_alarms: daemon.rating_alarms.all().iter().map(RatingAlarmView::from).collect(),
        backups: daemon.backups.standing().into(),
        mails: daemon.mailer.as_ref().map(|mailer| mailer.standing().into()),
        pauses: daemon.supervision.pauses(),
        set_aside: daemon.supervision.things_set_aside(),
    })
}

/// Calls one off that goes on, or that somebody has made and that is to come.
async fn cancel_tournament(
    daemon: RunningDaemon,
    id: PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<StartedTournament>, Refusal> {
    let (id, because) = (id.parse::<TournamentId>("tournament")?, because.checked()?);
    let reason = because.reason.clone();
    daemon.tournaments.cancel(&id, Canceller::Operator(because), Some(reason)).await?;
    Ok(Json(StartedTournament { id }))
}

async fn start_tournament(
    daemon: RunningDaemon,
    JsonBody(StartTournament { name }): JsonBody<StartTournament>,
) -> Result<(StatusCode, Json<StartedTournament>), Refusal> {
    let id = daemon.tournaments.start(&name).await?;
    Ok((StatusCode::CREATED, Json(StartedTournament { id })))
}
