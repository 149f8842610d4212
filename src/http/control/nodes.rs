//! The nodes of a cluster: who leads, and who is to lead only if nobody else can.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::players::Reason;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::cluster::lease::LEASE;
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::{JsonBody, PathPart};
use crate::storage::members::{Member, NodeList, Roll};
use crate::storage::moderation::OrderKind;

/// A node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedNode {
    pub(crate) name: String,
    /// What it does, in words.
    pub(crate) role: String,
    /// Whether it leads only if nobody else can.
    pub(crate) drained: bool,
    /// Where other nodes pass connections on to.
    pub(crate) address: String,
    pub(crate) version: String,
    /// Since when it runs, RFC 3339.
    pub(crate) since: String,
    /// When the database last took word that it lives, RFC 3339.
    pub(crate) beat: String,
    /// After how many milliseconds the database answers it, if that is known.
    pub(crate) database_ms: Option<f64>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/nodes", get(list)),
        ("/control/v1/nodes/{name}/drain", post(drain)),
        ("/control/v1/nodes/balance", post(balance)),
    ]
}

impl ListedNode {
    fn of(member: &Member, roll: &Roll) -> Self {
        Self {
            name: member.name.clone(),
            role: roll.role(member).words().to_owned(),
            drained: member.is_drained,
            address: member.address.clone(),
            version: member.version.clone(),
            since: member.began_at.to_string(),
            beat: member.expires_at.before(LEASE).to_string(),
            database_ms: member.database_ms(),
        }
    }

    fn all(roll: &Roll) -> Json<List<Self>> {
        Json(List::whole(roll.members.iter().map(|member| Self::of(member, roll)).collect()))
    }
}

/// The list, which one node alone does not have.
fn nodes(control: &Control) -> Result<&Arc<dyn NodeList>, Refusal> {
    control.nodes.as_ref().ok_or_else(|| Refusal::conflict("this arena has one node alone"))
}

/// All nodes, in the order in which they joined; nothing where one is alone.
async fn list(State(control): State<Control>) -> Result<Json<List<ListedNode>>, Refusal> {
    match &control.nodes {
        Some(nodes) => Ok(ListedNode::all(&nodes.roll().await?)),
        None => Ok(Json(List::whole(Vec::new()))),
    }
}

/// Lets a node lead only if nobody else can. If it leads, another one takes its place at once: so that is noted before,
/// and nothing is asked after it.
async fn drain(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<List<ListedNode>>, Refusal> {
    let (because, nodes) = (because.checked()?, nodes(&control)?);
    let roll = nodes.roll().await?;
    let mut shown: Vec<ListedNode> =
        roll.members.iter().map(|member| ListedNode::of(member, &roll)).collect();
    let Some(node) = shown.iter_mut().find(|node| node.name == name) else {
        return Err(ApiError::not_found("node").into());
    };
    control.give(OrderKind::DrainNode { node: name.clone() }, because).await?;
    node.drained = nodes.drain(&name, true).await?;
    Ok(Json(List::whole(shown)))
}

/// Ends all drains.
async fn balance(
    State(control): State<Control>,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<List<ListedNode>>, Refusal> {
    let (because, nodes) = (because.checked()?, nodes(&control)?);
    control.give(OrderKind::UndoDrains, because).await?;
    for member in nodes.roll().await?.members.iter().filter(|member| member.is_drained) {
        nodes.drain(&member.name, false).await?;
    }
    Ok(ListedNode::all(&nodes.roll().await?))
}
