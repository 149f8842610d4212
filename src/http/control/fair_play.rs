//! Who decides better than people of their rating: for operators to look at, never a verdict.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_arena::fair_play::Finding;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{Control, Route, RunningDaemon};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::QueryParameters;
use crate::model::ids::{PlayerId, PlayerName};

/// Most players in one answer: whoever comes behind has no evidence worth a look.
const LIST_MAX: usize = 100;

/// How people's decisions stand.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct FairPlayReport {
    /// When the games were read last, RFC 3339; null before they were for the first time.
    pub(crate) at: Option<String>,
    /// Games that it rests on.
    pub(crate) games: usize,
    /// Games that are still to be solved.
    pub(crate) waiting: usize,
    /// By name, those with the most evidence first.
    pub(crate) players: Vec<Finding>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/fair-play", get(report))]
}

/// Of all players, or of the `player` alone.
async fn report(
    daemon: RunningDaemon,
    State(control): State<Control>,
    parameters: QueryParameters,
) -> Result<Json<FairPlayReport>, Refusal> {
    let off = || ApiError::new(ApiCode::Conflict, "fair play is looked at where `judging.enabled` is true");
    let reader = daemon.evidence.ok_or_else(off)?;
    reader.ask();
    let evidence = reader.last();
    let findings: Vec<Finding> = match parameters.optional::<PlayerName>("player")? {
        Some(name) => {
            let missing = || ApiError::not_found("player");
            let player = control.store.player_by_name(&name).await?.ok_or_else(missing)?;
            evidence.of(&player.id).cloned().into_iter().collect()
        }
        None => evidence.findings.iter().take(LIST_MAX).cloned().collect(),
    };
    Ok(Json(FairPlayReport {
        at: evidence.at.map(|at| at.to_string()),
        games: evidence.games,
        waiting: evidence.waiting,
        players: named(&control, findings).await?,
    }))
}

/// With names in the place of ids; those who have gone are left out.
async fn named(control: &Control, findings: Vec<Finding>) -> Result<Vec<Finding>, Refusal> {
    let ids: Vec<PlayerId> = findings.iter().filter_map(|finding| finding.player.parse().ok()).collect();
    let names = super::players::names_of(control, &ids).await?;
    let by_name = |finding: Finding| {
        let id: PlayerId = finding.player.parse().ok()?;
        Some(Finding { player: names.get(&id)?.to_string(), ..finding })
    };
    Ok(findings.into_iter().filter_map(by_name).collect())
}
