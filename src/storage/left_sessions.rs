//! How far the sessions that a planned stop has left had been told, so that whoever comes back afterwards is told what
//! was missed, and not once more what was heard.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::{GameId, SessionId};

/// A session that a planned stop has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftSession {
    pub(crate) session: SessionId,
    /// The number of the message from which on all is known. Of a client that has heard less nobody knows what it
    /// missed.
    pub(crate) after: u64,
    /// Games whose end one of the later messages told, each with the number of that message, in order.
    pub(crate) ends: Vec<(u64, GameId)>,
}

/// The part of a store that is about sessions which a planned stop has left.
#[async_trait]
pub trait LeftSessionStore {
    /// All of them, in the order of their ids. Damaged ones are left out, with a line in the log.
    async fn left_sessions(&self) -> Result<Vec<LeftSession>, StoreError>;
}
