//! What operators order for the whole arena: whether games begin, what every page says, from where nobody comes in.
//!
//! An order is kept in the log of all that operators do, with or without a daemon; a daemon follows it at once.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tracing::info;

use super::players::{Reason, line, until_days};
use super::refusal::Refusal;
use super::{Control, Route, RunningDaemon};
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::JsonBody;
use crate::model::time::UnixMillis;
use crate::play::orders::{BannedNetwork, Orders, StandingOrders};
use crate::storage::moderation::{Because, Order, OrderKind};
use crate::system::config::IpNetwork;

/// Characters of what every page says: two lines on a phone.
const TEXT_MAX: usize = 160;

/// Longest time that something is said, in hours: what holds for longer belongs on a page of its own.
const HOURS_MAX: u32 = 24 * 30;

/// How long a daemon drains if nobody says: games with a clock of a minute a side are over then.
const DRAIN_S: u32 = 120;

/// Longest time that it may take.
const DRAIN_S_MAX: u32 = 24 * 60 * 60;

/// Makes the daemon stop when its games are over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DrainArena {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "super::players::somebody")]
    pub(super) by: String,
    /// When it stops at the latest.
    pub(super) seconds: Option<u32>,
}

/// Says something on every page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnnounceText {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "super::players::somebody")]
    pub(super) by: String,
    /// One line; empty for nothing any more.
    pub(super) text: String,
    /// For so long; until something else is said without.
    pub(super) hours: Option<u32>,
}

/// Keeps a network out, or lets it in again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BanAddresses {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "super::players::somebody")]
    pub(super) by: String,
    /// An address or a range.
    pub(super) network: String,
    /// For so many; for good without.
    pub(super) days: Option<u32>,
}

/// What holds now.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OrdersShown {
    /// Why no game begins, if an operator has ordered so.
    pub(crate) paused_because: Option<String>,
    /// When the daemon stops at the latest, if it drains, RFC 3339.
    pub(crate) drains_until: Option<String>,
    /// What every page says.
    pub(crate) announcement: Option<String>,
    /// When that ends by itself, RFC 3339.
    pub(crate) announced_until: Option<String>,
}

/// A network from which nobody comes in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedNetwork {
    pub(crate) network: String,
    pub(crate) reason: String,
    pub(crate) by: String,
    /// Since when, RFC 3339.
    pub(crate) since: String,
    /// Until when, RFC 3339, if it ends by itself.
    pub(crate) until: Option<String>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/arena/pause", post(pause)),
        ("/control/v1/arena/resume", post(resume)),
        ("/control/v1/arena/drain", post(drain)),
        ("/control/v1/arena/announcement", post(announce)),
        ("/control/v1/networks", get(networks)),
        ("/control/v1/networks/ban", post(ban)),
        ("/control/v1/networks/unban", post(unban)),
    ]
}

impl Control {
    /// The orders of the daemon, or those of the log where none runs.
    pub(super) async fn orders(&self) -> Result<Orders, Refusal> {
        match &self.daemon {
            Some(daemon) => Ok(daemon.services.host.orders().clone()),
            None => Ok(Orders::read(&*self.store).await?),
        }
    }

    pub(super) async fn give(&self, kind: OrderKind, because: Because) -> Result<Orders, Refusal> {
        let orders = self.orders().await?;
        let (action, by) = (kind.action(), because.by.clone());
        orders.give(&self.writer, Order { kind, because }).await?;
        info!(?action, %by, "an operator has given an order");
        Ok(orders)
    }

    /// Gives an order, and shows what holds then.
    async fn order(&self, kind: OrderKind, because: Because) -> Result<Json<OrdersShown>, Refusal> {
        let orders = self.give(kind, because).await?;
        let shown = OrdersShown::of(&orders.now());
        Ok(Json(shown))
    }
}

impl OrdersShown {
    pub(super) fn of(standing: &StandingOrders) -> Self {
        let said = standing.announcement(UnixMillis::now());
        Self {
            paused_because: standing.pause().map(|because| because.reason.clone()),
            drains_until: standing.drain().map(|until| until.to_string()),
            announcement: said.map(|said| said.text.clone()),
            announced_until: said.and_then(|said| said.until).map(|until| until.to_string()),
        }
    }
}

async fn pause(
    State(control): State<Control>,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<OrdersShown>, Refusal> {
    control.order(OrderKind::Pause, because.checked()?).await
}

async fn resume(
    State(control): State<Control>,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<OrdersShown>, Refusal> {
    let because = because.checked()?;
    if control.orders().await?.now().games_begin() {
        return Err(Refusal::conflict("games begin: there is nothing to resume"));
    }
    control.order(OrderKind::Resume, because).await
}

async fn drain(
    _: RunningDaemon,
    State(control): State<Control>,
    JsonBody(DrainArena { reason, by, seconds }): JsonBody<DrainArena>,
) -> Result<Json<OrdersShown>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let seconds = seconds.unwrap_or(DRAIN_S);
    if !(1..=DRAIN_S_MAX).contains(&seconds) {
        return Err(ApiError::bad_field("seconds", format!("seconds are 1 to {DRAIN_S_MAX}")).into());
    }
    let until = later(because.at, Duration::from_secs(seconds.into()));
    control.order(OrderKind::Drain { until }, because).await
}

fn later(at: UnixMillis, by: Duration) -> UnixMillis {
    UnixMillis(at.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}

async fn announce(
    State(control): State<Control>,
    JsonBody(AnnounceText { reason, by, text, hours }): JsonBody<AnnounceText>,
) -> Result<Json<OrdersShown>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let text = if text.trim().is_empty() { String::new() } else { line(&text, "text", "a text", TEXT_MAX)? };
    let until = match hours {
        None => None,
        Some(hours) if (1..=HOURS_MAX).contains(&hours) => {
            Some(later(because.at, Duration::from_hours(hours.into())))
        }
        Some(_) => return Err(ApiError::bad_field("hours", format!("hours are 1 to {HOURS_MAX}")).into()),
    };
    control.order(OrderKind::Announce { text, until }, because).await
}

async fn networks(State(control): State<Control>) -> Result<Json<List<ListedNetwork>>, Refusal> {
    let orders = control.orders().await?;
    let items = orders.now().networks(UnixMillis::now()).map(ListedNetwork::from).collect();
    Ok(Json(List::whole(items)))
}

impl From<&BannedNetwork> for ListedNetwork {
    fn from(banned: &BannedNetwork) -> Self {
        Self {
            network: banned.network.to_string(),
            reason: banned.because.reason.clone(),
            by: banned.because.by.clone(),
            since: banned.because.at.to_string(),
            until: banned.until.map(|until| until.to_string()),
        }
    }
}

fn network(text: &str) -> Result<IpNetwork, ApiError> {
    text.parse().map_err(|error| ApiError::bad_field("network", format!("{error}")))
}

async fn ban(
    State(control): State<Control>,
    JsonBody(BanAddresses { reason, by, network: text, days }): JsonBody<BanAddresses>,
) -> Result<Json<ListedNetwork>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let (network, until) = (network(&text)?, until_days(because.at, days)?);
    control.give(OrderKind::BanNetwork { network, until }, because.clone()).await?;
    Ok(Json(ListedNetwork::from(&BannedNetwork { network, because, until })))
}

async fn unban(
    State(control): State<Control>,
    JsonBody(BanAddresses { reason, by, network: text, days: _ }): JsonBody<BanAddresses>,
) -> Result<Json<ListedNetwork>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let network = network(&text)?;
    let orders = control.orders().await?;
    let banned = orders.now().networks(UnixMillis::now()).find(|banned| banned.network == network).cloned();
    let Some(banned) = banned else {
        return Err(Refusal::conflict(format!("{network} is not banned")));
    };
    control.give(OrderKind::UnbanNetwork { network }, because).await?;
    Ok(Json(ListedNetwork::from(&banned)))
}
