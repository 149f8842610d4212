//! A word over the bus that something has changed in the list of nodes, so that nobody waits for the next look.
//!
//! Nothing rests on it. What has changed is in the database; a hint that is lost costs a fraction of a second, and one
//! that a stranger sends costs a look.

use std::time::Duration;

use async_nats::{Client, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::time::{sleep, timeout};
use tracing::warn;

/// How long a hint may wait for its turn; later it says nothing any more.
const SEND_MAX: Duration = Duration::from_millis(200);

/// After so long a subscription that has ended is made anew.
const RETRY: Duration = Duration::from_secs(1);

/// A node's ear and mouth.
#[derive(Debug)]
pub(crate) struct Hints {
    client: Client,
    subject: String,
    heard: Option<Subscriber>,
}

impl Hints {
    /// Over this connection, for the nodes of one cluster.
    pub(crate) fn new(client: Client, cluster: &str) -> Self {
        Self { client, subject: format!("ff.{cluster}.changed"), heard: None }
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
