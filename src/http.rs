//! The HTTP side: the accept loop with its time limits, the upgrade to a WebSocket, routes, who asks, what is refused
//! and how. Pages and the operator's socket are built on what is here.

pub(crate) mod admin;
mod animation;
mod answer;
pub(crate) mod api;
pub(crate) mod assets;
pub mod auth;
mod avatar;
mod balancer;
mod banned_networks;
pub(crate) mod client_address;
mod connection;
pub(crate) mod connection_limits;
pub(crate) mod control;
mod crosstable;
mod dumps;
mod endpoint;
pub(crate) mod error;
mod friendly_names;
mod kits;
mod layers;
mod leagues;
pub(crate) mod letters;
mod link;
pub(crate) mod listener;
mod manners;
pub(crate) mod metrics;
mod named_host;
pub(crate) mod notices;
mod openapi;
mod opening_names;
pub(crate) mod pages;
mod payer;
mod peer_stream;
pub(crate) mod picture;
pub(crate) mod preview;
mod programs;
mod proxy_protocol;
mod ranking;
mod raster;
mod record_query;
mod refusals;
pub(crate) mod relay;
pub(crate) mod request;
mod request_id;
pub(crate) mod router;
mod seasons;
mod shares;
pub mod site;
mod slow_peer;
pub(crate) mod state;
mod study_view;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod texts;
pub(crate) mod tls;
pub(crate) mod upgrade;
mod upgraded_stream;

pub(crate) use error::ApiCode;
pub(crate) use router::router;
pub(crate) use state::{AppState, ArenaView};
