//! Who is where. Each node keeps the players of all nodes in full, from what these say: soft state, which is never
//! asked of the database. A node numbers its changes; whoever misses one asks for the whole.

use std::collections::{BTreeMap, BTreeSet};

use super::Incarnation;
use crate::model::ids::PlayerId;

/// A change among the players of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// The first session of a player began.
    Came(PlayerId),
    /// Its last one ended.
    Went(PlayerId),
}

/// Sessions of this very node.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnSessions {
    version: u64,
    sessions: BTreeMap<PlayerId, u32>,
}

impl OwnSessions {
    /// A session began; what others are to be told.
    pub(crate) fn came(&mut self, player: &PlayerId) -> Option<(u64, Change)> {
        let sessions = self.sessions.entry(player.clone()).or_default();
        *sessions += 1;
        (*sessions == 1).then(|| self.changed(Change::Came(player.clone())))
    }

    /// A session ended; what others are to be told.
    pub(crate) fn went(&mut self, player: &PlayerId) -> Option<(u64, Change)> {
        let sessions = self.sessions.get_mut(player)?;
        *sessions = sessions.saturating_sub(1);
        if *sessions > 0 {
            return None;
        }
        self.sessions.remove(player);
        Some(self.changed(Change::Went(player.clone())))
    }

    fn changed(&mut self, change: Change) -> (u64, Change) {
        self.version += 1;
        (self.version, change)
    }

    /// All of it, for whoever has missed something.
    pub(crate) fn whole(&self) -> (u64, BTreeSet<PlayerId>) {
        (self.version, self.sessions.keys().cloned().collect())
    }
}

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    Applied,
    /// It is of before what is known.
    Old,
    /// Others before it are missing: ask for the whole.
    Missing,
}

/// The players of all nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Roster(BTreeMap<Incarnation, (u64, BTreeSet<PlayerId>)>);

impl Roster {
    /// A node says what has changed there.
    #[must_use = "what is missing must be asked for"]
    pub(crate) fn change(&mut self, node: Incarnation, version: u64, change: &Change) -> Heard {
        let (known, players) = self.0.entry(node).or_default();
        if version <= *known {
            return Heard::Old;
        }
        if version > *known + 1 {
            return Heard::Missing;
        }
        *known = version;
        match change {
            Change::Came(player) => players.insert(player.clone()),
            Change::Went(player) => players.remove(player),
        };
        Heard::Applied
    }

    /// A node says all; who came by it.
    pub(crate) fn whole(
        &mut self,
        node: Incarnation,
        version: u64,
        players: BTreeSet<PlayerId>,
    ) -> Vec<PlayerId> {
        let (known, before) = self.0.entry(node).or_default();
        if version < *known {
            return Vec::new();
        }
        *known = version;
        let came = players.difference(before).cloned().collect();
        *before = players;
        came
    }

    /// A node is gone, and its sessions with it.
    pub(crate) fn forget(&mut self, node: Incarnation) {
        self.0.remove(&node);
    }

    /// The nodes that have sessions of a player.
    pub(crate) fn nodes_of<'r>(&'r self, player: &'r PlayerId) -> impl Iterator<Item = Incarnation> + 'r {
        self.0.iter().filter(|(_, (_, players))| players.contains(player)).map(|(node, _)| *node)
    }

    /// Everybody who is somewhere.
    pub(crate) fn players(&self) -> BTreeSet<&PlayerId> {
        self.0.values().flat_map(|(_, players)| players).collect()
    }
}

mod tests {
    use proptest::prelude::*;

    use super::*;

    const NODE: Incarnation = Incarnation(1);

    fn player(number: u8) -> PlayerId {
        format!("p{number}").parse().unwrap()
    }

    #[test]
    fn a_player_with_two_sessions_is_there_until_both_have_ended() {
        let mut own = OwnSessions::default();
        assert_eq!(own.went(&player(1)), None);
        assert_eq!(own.came(&player(1)), Some((1, Change::Came(player(1)))));
        assert_eq!(own.came(&player(1)), None);
        assert_eq!(own.went(&player(1)), None);
        assert_eq!(own.whole(), (1, BTreeSet::from([player(1)])));
        assert_eq!(own.went(&player(1)), Some((2, Change::Went(player(1)))));
        assert_eq!(own.whole(), (2, BTreeSet::new()));
    }

    #[test]
    fn a_node_that_is_gone_has_nobody() {
        let mut roster = Roster::default();
        assert_eq!(roster.change(NODE, 1, &Change::Came(player(1))), Heard::Applied);
        assert_eq!(roster.whole(Incarnation(2), 7, BTreeSet::from([player(1), player(2)])).len(), 2);
        assert_eq!(roster.nodes_of(&player(1)).count(), 2);
        roster.forget(NODE);
        assert_eq!(roster.nodes_of(&player(1)).collect::<Vec<_>>(), [Incarnation(2)]);
        assert_eq!(roster.players().len(), 2);
        assert!(roster.whole(Incarnation(2), 6, BTreeSet::new()).is_empty(), "it is of before");
        assert_eq!(roster.players().len(), 2);
    }

    proptest! {
        /// Whatever of the changes is lost or doubled: who asks for the whole when told so knows what the node knows.
        #[test]
        fn what_is_missing_is_noticed_and_healed(
            steps in prop::collection::vec((any::<bool>(), 0..4_u8, 0..3_usize), 1..60)
        ) {
            let (mut own, mut roster) = (OwnSessions::default(), Roster::default());
            for (comes, number, copies) in steps {
                let player = player(number);
                let change = if comes { own.came(&player) } else { own.went(&player) };
                let Some((version, change)) = change else { continue };
                for _ in 0..copies {
                    if roster.change(NODE, version, &change) == Heard::Missing {
                        let (version, players) = own.whole();
                        roster.whole(NODE, version, players);
                    }
                }
                if copies > 0 {
                    let known: BTreeSet<PlayerId> = roster.players().into_iter().cloned().collect();
                    prop_assert_eq!(known, own.whole().1);
                }
            }
        }
    }
}
