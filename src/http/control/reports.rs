//! What players report about others, and what operators do with it.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::players::Reason;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::{JsonBody, PathParts, QueryParameters};
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::storage::Store;
use crate::storage::reports::{ReportQuery, ReportStep, ReportVerdict, StoredReport};
use crate::storage::store::{Refused, StoreError, Write};
use crate::storage::words::Word as _;
use crate::storage::writer::WriteError;

/// Most reports in one answer.
pub(super) const LIST_MAX: u32 = 500;

/// A report as operators read it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedReport {
    pub(crate) number: u64,
    /// Whom it is about, by the name that they have now.
    pub(crate) player: PlayerName,
    /// Who says so; none if it was a guest who has gone.
    pub(crate) reporter: Option<PlayerName>,
    pub(crate) game: Option<GameId>,
    /// `name`, `cheating`, `stalling`, `harassment` or `other`.
    pub(crate) reason: String,
    /// In the reporter's words.
    pub(crate) note: String,
    /// When it came, RFC 3339.
    pub(crate) at: String,
    /// `open`, `taken`, `dismissed` or `resolved`.
    pub(crate) state: String,
    /// The operator who has taken it or dealt with it.
    pub(crate) handled_by: Option<String>,
}

/// What was done with which report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct HandledReport {
    pub(crate) number: u64,
    /// What it is from now on.
    pub(crate) state: String,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/reports", get(list)), ("/control/v1/reports/{number}/{step}", post(handle))]
}

/// Those with which there is something to do, the oldest first; `all=true` lists every one, the newest first.
async fn list(
    State(control): State<Control>,
    parameters: QueryParameters,
) -> Result<Json<List<ListedReport>>, Refusal> {
    let all = parameters.optional::<bool>("all")?.unwrap_or_default();
    let query = if all { ReportQuery::All } else { ReportQuery::Open };
    Ok(Json(List::whole(listed(&*control.store, query, LIST_MAX).await?)))
}

/// Reports with the names of those who are in them.
async fn listed(store: &dyn Store, query: ReportQuery, limit: u32) -> Result<Vec<ListedReport>, StoreError> {
    let reports = store.reports(query, limit).await?;
    let ids = reports.iter().flat_map(|report| [Some(&report.player), report.reporter.as_ref()]);
    let ids: Vec<PlayerId> = ids.flatten().cloned().collect();
    let players = store.players(&ids).await?;
    let names: HashMap<PlayerId, PlayerName> =
        players.into_iter().map(|player| (player.id, player.name)).collect();
    Ok(reports.into_iter().filter_map(|report| ListedReport::new(report, &names)).collect())
}

impl ListedReport {
    fn new(report: StoredReport, names: &HashMap<PlayerId, PlayerName>) -> Option<Self> {
        Some(Self {
            number: report.number,
            player: names.get(&report.player)?.clone(),
            reporter: report.reporter.and_then(|reporter| names.get(&reporter).cloned()),
            game: report.game,
            reason: report.reason.word().to_owned(),
            note: report.note,
            at: report.at.to_string(),
            state: report.state.word().to_owned(),
            handled_by: report.handled_by,
        })
    }
}

async fn handle(
    State(control): State<Control>,
    PathParts(number, step): PathParts,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<HandledReport>, Refusal> {
    let because = because.checked()?;
    let number: u64 = number.parse("report")?;
    let step = ReportStep::from_word(&step.0).ok_or_else(|| ApiError::not_found("command"))?;
    let verdict = ReportVerdict { number, step, because };
    match control.writer.write(Write::HandleReport(verdict)).await {
        Ok(_) => Ok(Json(HandledReport { number, state: step.state().word().to_owned() })),
        Err(WriteError::Refused(Refused::NoSuchReport)) => {
            Err(Refusal::not_found(format!("there is no report {number}")))
        }
        Err(WriteError::Refused(Refused::ReportClosed)) => {
            Err(Refusal::conflict(format!("report {number} has been dealt with")))
        }
        Err(error) => Err(error.into()),
    }
}
