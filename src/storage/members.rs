//! The nodes of a cluster: one of them writes, the others stand by for it.

use thiserror::Error;

use super::store::StoreError;
use crate::model::time::UnixMillis;

/// A node that joins.
#[derive(Clone, Debug)]
pub(crate) struct NewMember {
    /// Its own among the nodes.
    pub(crate) name: String,
    /// Where other nodes pass connections on to, `HOST:PORT`.
    pub(crate) address: String,
    /// Whether it ever leads.
    pub(crate) holds: bool,
    /// The digest of the key that it signs with.
    pub(crate) key_digest: String,
}

/// Why a node cannot join.
#[derive(Debug, Error)]
pub(crate) enum BadMember {
    #[error("this node signs with another key than the cluster")]
    OtherKey,
    #[error(transparent)]
    Unasked(StoreError),
}

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Standing {
    /// As whom it has the right to write, if it has.
    pub(crate) writes_as: Option<i64>,
    /// Whether games are played at it.
    pub(crate) serves: bool,
}

/// A node of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) key: i64,
    pub(crate) name: String,
    /// Where connections are passed on to, `HOST:PORT`.
    pub(crate) address: String,
    pub(crate) version: String,
    pub(crate) began_at: UnixMillis,
    /// Whether it ever leads.
    pub(crate) holds: bool,
    /// Whether it leads only if nobody else can.
    pub(crate) is_drained: bool,
    /// Whether its last beat still counts.
    pub(crate) lives: bool,
    /// What it did at its last beat; whether it still may is said by [`Roll::leader`].
    pub(crate) standing: Standing,
}

impl Member {
    /// Whether it can lead if it must.
    pub(crate) fn is_able(&self) -> bool {
        self.lives && self.holds
    }
}

/// All nodes at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Roll {
    /// In the order in which they joined.
    pub(crate) members: Vec<Member>,
    /// Who began last to write and has not ended.
    pub(crate) writer: Option<i64>,
    /// Whether somebody holds the right to write.
    pub(crate) is_locked: bool,
}

impl Roll {
    /// The node that has the right to write, if it is one.
    pub(crate) fn leader(&self) -> Option<&Member> {
        let writer = self.writer?;
        self.members.iter().find(|member| member.standing.writes_as == Some(writer))
    }

    /// The node with this key.
    pub(crate) fn member(&self, key: i64) -> Option<&Member> {
        self.members.iter().find(|member| member.key == key)
    }
}
