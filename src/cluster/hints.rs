//! Words over the bus: that something has changed in the list of nodes, so that nobody waits for the next look, and who
//! leads, for a leader that cannot ask the database any more.
//!
//! Who writes is decided in the database. A word that is lost costs a fraction of a second, or as long as the database
//! is away; one that a stranger sends costs a look, or a node that is cut off from the database its lead.

use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::time::{sleep, timeout};
use tracing::warn;

/// How long a word may wait for its turn; later it says nothing any more.
const SEND_MAX: Duration = Duration::from_millis(200);

/// After so long a subscription that has ended is made anew.
const RETRY: Duration = Duration::from_secs(1);

/// What a node says, for the nodes of one cluster.
#[derive(Clone, Debug)]
pub(crate) struct Hints {
    client: Client,
    subject: String,
}

/// What a node hears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hint {
    /// The others should look.
    Changed,
    /// This one leads: the number of its life as a writer.
    Leads(i64),
}

impl Hints {
    /// Over this connection.
    pub(crate) fn new(client: Client, cluster: &str) -> Self {
        Self { client, subject: format!("ff.{cluster}.changed") }
    }

    /// Whether the bus is there, as far as is known.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Tells the other nodes something.
    pub(crate) async fn tell(&self, hint: Hint) {
        let sending = async {
            // While there is no bus it would be sent late, which does no harm.
            let _ = self.client.publish(self.subject.clone(), hint.encode()).await;
            let _ = self.client.flush().await;
        };
        let _ = timeout(SEND_MAX, sending).await;
    }

    /// Gives on what is said, one's own words too, for ever.
    pub(crate) async fn hear(&self, mut hear: impl FnMut(Hint)) {
        loop {
            match self.client.subscribe(self.subject.clone()).await {
                Ok(said) => Self::hear_all(said, &mut hear).await,
                Err(error) => {
                    warn!(%error, "the bus is not listened to; nodes are found a little later");
                    sleep(RETRY).await;
                }
            }
        }
    }

    async fn hear_all(mut said: Subscriber, hear: &mut impl FnMut(Hint)) {
        while let Some(message) = said.next().await {
            hear(Hint::decode(&message.payload));
        }
    }
}

impl Hint {
    fn encode(self) -> Bytes {
        match self {
            Self::Changed => Bytes::new(),
            Self::Leads(incarnation) => incarnation.to_string().into(),
        }
    }

    /// Whatever makes no sense costs a look.
    fn decode(payload: &[u8]) -> Self {
        let incarnation = std::str::from_utf8(payload).ok().and_then(|text| text.parse().ok());
        incarnation.map_or(Self::Changed, Self::Leads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_as_they_were_said() {
        for hint in [Hint::Changed, Hint::Leads(1), Hint::Leads(i64::MAX), Hint::Leads(i64::MIN)] {
            assert_eq!(Hint::decode(&hint.encode()), hint);
        }
        for nonsense in [&b"\xff"[..], b"9223372036854775808", b"1 ", b"{}"] {
            assert_eq!(Hint::decode(nonsense), Hint::Changed);
        }
    }
}
