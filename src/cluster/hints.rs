//! A word over the bus that something has changed in the list of nodes, so that nobody waits for the next look.
//!
//! Nothing rests on it. What has changed is in the database; a hint that is lost costs a fraction of a second, and one
//! that a stranger sends costs a look.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use thiserror::Error;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

/// Between two pings: two that are not answered end a connection that is half open.
const PING_EVERY: Duration = Duration::from_secs(1);

/// How long a hint may wait for its turn; later it says nothing any more.
const SEND_MAX: Duration = Duration::from_millis(200);

/// After so long a subscription that has ended is made anew.
const RETRY: Duration = Duration::from_secs(1);

/// Why there is no bus.
#[derive(Debug, Error)]
#[error("cluster.bus: {0}")]
pub struct NoBus(String);

/// A node's ear and mouth.
#[derive(Debug)]
pub(crate) struct Hints {
    client: Client,
    subject: String,
    heard: Option<Subscriber>,
}

impl Hints {
    /// Connects to one of these servers, now or as soon as one is there.
    ///
    /// # Errors
    ///
    /// A URL is none.
    pub(crate) async fn connect(urls: &[String], cluster: &str) -> Result<Self, NoBus> {
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
        let client = options.connect(servers).await.map_err(|error| NoBus(error.to_string()))?;
        Ok(Self { client, subject: format!("ff.{cluster}.changed"), heard: None })
    }

    /// Tells the other nodes that they should look.
    pub(crate) async fn tell(&self) {
        let sending = async {
            // While there is no bus it would be sent late, which does no harm.
            let _ = self.client.publish(self.subject.clone(), Bytes::new()).await;
            let _ = self.client.flush().await;
        };
        let _ = timeout(SEND_MAX, sending).await;
    }

    /// Ends when a node has told something.
    pub(crate) async fn told(&mut self) {
        loop {
            if let Some(subscriber) = &mut self.heard {
                if subscriber.next().await.is_some() {
                    return;
                }
                self.heard = None;
            }
            match self.client.subscribe(self.subject.clone()).await {
                Ok(subscriber) => self.heard = Some(subscriber),
                Err(error) => {
                    warn!(%error, "the bus is not listened to; nodes are found a little later");
                    sleep(RETRY).await;
                }
            }
        }
    }
}

/// Says how the bus stands, once for each change.
fn note(event: &Event) {
    match event {
        Event::Connected => info!("the bus is connected"),
        Event::Disconnected => warn!("the bus is lost: nodes hear of each other by the database alone"),
        _ => {}
    }
}
