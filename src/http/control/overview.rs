//! What operators look at on `/admin`: who came last, who is kept out, what bots did wrong last.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use serde::{Deserialize, Serialize};

use super::players::{ListedPlayer, listed_players};
use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::model::ids::{GameId, PlayerId, PlayerName};

/// Most items in each of these lists: what somebody looks through.
const LIST_MAX: u32 = 50;

/// A fault of a remote bot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedFault {
    pub(crate) bot: PlayerName,
    /// `illegal_move`, `illegal`, `time`, `left` or `disconnected`.
    pub(crate) kind: String,
    pub(crate) note: String,
    pub(crate) game: Option<GameId>,
    /// When that was, RFC 3339.
    pub(crate) at: String,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/newcomers", get(newcomers)),
        ("/control/v1/restricted", get(restricted)),
        ("/control/v1/faults", get(faults)),
    ]
}

/// Accounts and remote bots, those made last first.
async fn newcomers(State(control): State<Control>) -> Result<Json<List<ListedPlayer>>, Refusal> {
    let players = control.store.newest_registered(LIST_MAX).await?;
    Ok(Json(List::whole(listed_players(&control, players).await?)))
}

/// Those who are banned or muted, by name; also those whose time is over.
async fn restricted(State(control): State<Control>) -> Result<Json<List<ListedPlayer>>, Refusal> {
    let players = control.store.restricted(LIST_MAX).await?;
    Ok(Json(List::whole(listed_players(&control, players).await?)))
}

/// Faults of all remote bots, the newest first.
async fn faults(State(control): State<Control>) -> Result<Json<List<ListedFault>>, Refusal> {
    let faults = control.store.newest_faults(LIST_MAX).await?;
    let bots: Vec<PlayerId> = faults.iter().map(|fault| fault.bot.clone()).collect();
    let names = super::players::names_of(&control, &bots).await?;
    let items = faults.into_iter().filter_map(|fault| {
        Some(ListedFault {
            bot: names.get(&fault.bot)?.clone(),
            kind: fault.kind.as_str().to_owned(),
            note: fault.note,
            game: fault.game,
            at: fault.at.to_string(),
        })
    });
    Ok(Json(List::whole(items.collect())))
}
