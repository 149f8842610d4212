//! The connection to NATS, one for all that a process says and hears.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use thiserror::Error;
use tracing::{info, warn};

/// Between two pings: two that are not answered end a connection that is half open.
const PING_EVERY: Duration = Duration::from_secs(1);

/// Why there is no bus.
#[derive(Debug, Error)]
#[error("cluster.bus: {0}")]
pub struct NoBus(String);

/// Connects to one of these servers, now or as soon as one is there.
///
/// # Errors
///
/// A URL is none.
pub(crate) async fn connect(urls: &[String]) -> Result<Client, NoBus> {
    let servers: Vec<ServerAddr> = urls
        .iter()
        .map(|url| url.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: std::io::Error| NoBus(error.to_string()))?;
    let options = ConnectOptions::new()
        .name("fourfold")
        .ping_interval(PING_EVERY)
        .retry_on_initial_connect()
        .event_callback(|event| async move { note(&event) });
    options.connect(servers).await.map_err(|error| NoBus(error.to_string()))
}

/// Says how the bus stands, once for each change.
fn note(event: &Event) {
    match event {
        Event::Connected => info!("the bus is connected"),
        Event::Disconnected => {
            warn!("the bus is lost: it is tried again, and meanwhile nothing waits for it");
        }
        _ => {}
    }
}
