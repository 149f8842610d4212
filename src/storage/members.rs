//! The nodes of a cluster: one of them writes, the others stand by for it.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
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
    /// For how long that beat counts, by the database's clock.
    pub(crate) expires_at: UnixMillis,
    /// What it did at its last beat; whether it still may is said by [`Roll::leader`].
    pub(crate) standing: Standing,
    /// After how long the database answers it, as it said with its last beat, to the microsecond. Nothing if it has not
    /// asked often enough yet, or is of a version that does not say.
    pub(crate) answers_after: Option<Duration>,
}

impl Member {
    /// Whether it can lead if it must.
    pub(crate) fn is_able(&self) -> bool {
        self.lives && self.holds
    }

    /// After how many milliseconds the database answers it, as it is shown.
    pub(crate) fn database_ms(&self) -> Option<f64> {
        self.answers_after.map(|after| after.as_secs_f64() * 1_000.0)
    }
}

/// After how many milliseconds the database answers a node, as people read it.
pub(crate) fn answer_words(database_ms: Option<f64>) -> String {
    database_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"))
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

    /// What a node of the list does.
    pub(crate) fn role(&self, member: &Member) -> Role {
        let leads = self.is_locked && self.leader() == Some(member);
        match member {
            _ if leads && member.standing.serves => Role::Leads,
            _ if leads => Role::Starts,
            Member { lives: false, .. } => Role::Gone,
            Member { holds: false, .. } => Role::PassesOn,
            _ => Role::StandsBy,
        }
    }

    /// The node with this key.
    pub(crate) fn member(&self, key: i64) -> Option<&Member> {
        self.members.iter().find(|member| member.key == key)
    }
}

/// What a node does, as it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// All games are played there.
    Leads,
    /// It is about to: it takes up the games that go on.
    Starts,
    /// It passes connections on, and leads when its turn comes.
    StandsBy,
    /// It passes connections on, and never leads.
    PassesOn,
    /// It has not beaten for too long.
    Gone,
}

impl Role {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Leads => "leads",
            Self::Starts => "starts to lead",
            Self::StandsBy => "stands by",
            Self::PassesOn => "passes on",
            Self::Gone => "gone",
        }
    }
}

/// The list of nodes, for whoever looks at it now and then.
#[async_trait]
pub(crate) trait NodeList: Debug + Send + Sync {
    /// All nodes as they are now.
    ///
    /// # Errors
    ///
    /// The list cannot be read.
    async fn roll(&self) -> Result<Roll, StoreError>;

    /// Lets a node lead only if nobody else can, or takes that back. False if there is no such node.
    ///
    /// # Errors
    ///
    /// The list cannot be written.
    async fn drain(&self, name: &str, is_drained: bool) -> Result<bool, StoreError>;
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A node that lives, may lead, and serves if it leads.
    pub(crate) fn member(key: i64, writes_as: Option<i64>) -> Member {
        Member {
            key,
            name: format!("node-{key}"),
            address: format!("10.0.0.{key}:4446"),
            version: "1".to_owned(),
            began_at: UnixMillis(0),
            holds: true,
            is_drained: false,
            lives: true,
            expires_at: UnixMillis(65_000),
            standing: Standing { writes_as, serves: true },
            answers_after: Some(Duration::from_micros(420)),
        }
    }

    /// So many nodes that live nowhere, of which the first leads.
    #[derive(Debug)]
    pub(crate) struct ListInMemory(Mutex<Vec<Member>>);

    impl ListInMemory {
        pub(crate) fn of(nodes: i64) -> Self {
            let writes_as = |key: i64| (key == 1).then_some(7);
            Self(Mutex::new((1..=nodes).map(|key| member(key, writes_as(key))).collect()))
        }
    }

    #[async_trait]
    impl NodeList for ListInMemory {
        async fn roll(&self) -> Result<Roll, StoreError> {
            Ok(Roll { members: self.0.lock().unwrap().clone(), writer: Some(7), is_locked: true })
        }

        async fn drain(&self, name: &str, is_drained: bool) -> Result<bool, StoreError> {
            let mut members = self.0.lock().unwrap();
            let Some(node) = members.iter_mut().find(|node| node.name == name) else { return Ok(false) };
            node.is_drained = is_drained;
            Ok(true)
        }
    }

    #[track_caller]
    fn check(member: &Member, is_locked: bool, expected: Role) {
        let roll = Roll { members: vec![member.clone()], writer: Some(7), is_locked };
        assert_eq!(roll.role(member), expected, "{member:?}");
    }

    #[test]
    fn a_node_leads_if_it_has_the_right_to_write_and_serves() {
        check(&member(1, Some(7)), true, Role::Leads);
        let starting = Standing { writes_as: Some(7), serves: false };
        check(&Member { standing: starting, ..member(1, None) }, true, Role::Starts);
        check(&member(1, Some(6)), true, Role::StandsBy);
        check(&member(1, Some(7)), false, Role::StandsBy);
        check(&Member { holds: false, ..member(1, None) }, true, Role::PassesOn);
        check(&Member { lives: false, ..member(1, None) }, true, Role::Gone);
    }
}
