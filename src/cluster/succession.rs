//! Who leads. One node at a time plays all games and writes; the others stand by, and one of them takes its place.
//!
//! Leading needs the database's lock, which one process alone can hold: whatever is decided here, two never lead. What
//! is decided is when to try, and when to stop waiting for a leader that stands still.

/// What a node sees of the cluster at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Situation {
    /// Whether this node is one that leads, as things are.
    pub(crate) may_lead: bool,
    /// Whether somebody has the right to write.
    pub(crate) is_locked: bool,
    /// Who that is, if it is a node: the number of its life.
    pub(crate) leader: Option<Leader>,
    /// Whether this node has reached the database without a break for a while.
    pub(crate) is_steady: bool,
}

/// The node that has the right to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Leader {
    pub(crate) incarnation: i64,
    /// Whether its last beat still counts.
    pub(crate) lives: bool,
}

/// What a node that stands by does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Somebody leads, or is about to.
    Follow,
    /// Nobody does: try to.
    Lead,
    /// The leader stands still, or is out of reach: end it.
    Replace(i64),
}

/// What a node that stands by does next.
pub(crate) fn next_step(seen: &Situation) -> Step {
    match seen.leader {
        _ if !seen.may_lead => Step::Follow,
        None if !seen.is_locked => Step::Lead,
        Some(leader) if !seen.is_locked && (seen.is_steady || !leader.lives) => Step::Lead,
        // The database has been away, and its leader is about to come back to it.
        Some(_) if !seen.is_locked => Step::Follow,
        Some(leader) if !leader.lives && seen.is_steady => Step::Replace(leader.incarnation),
        // It lives, or is a command or a daemon that knows of no cluster: those end by themselves.
        Some(_) | None => Step::Follow,
    }
}

/// Whether a leader gives up by what it hears over the bus: it cannot reach the database, and a later one can.
///
/// The database decides who writes, and fences this one off. But one that cannot ask would let its players wait until
/// it can. A word that is wrong costs no more than the lead of a node that is cut off anyhow.
pub(crate) fn gives_up(own: i64, is_cut_off: bool, leads: Option<i64>) -> bool {
    is_cut_off && leads.is_some_and(|incarnation| incarnation > own)
}

/// Whether a node leads where it must: one that is drained, or far from the database, does not while another one would.
pub(crate) fn may_lead(holds: bool, gives_way: bool, has_heir: bool) -> bool {
    holds && !(gives_way && has_heir)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LED: Situation = Situation {
        may_lead: true,
        is_locked: true,
        leader: Some(Leader { incarnation: 7, lives: true }),
        is_steady: true,
    };
    const GONE: Situation = Situation { is_locked: false, ..LED };
    const STILL: Situation = Situation { leader: Some(Leader { incarnation: 7, lives: false }), ..LED };

    #[test]
    fn who_stands_by_follows_a_leader_that_lives() {
        assert_eq!(next_step(&LED), Step::Follow);
    }

    #[test]
    fn where_nobody_has_the_right_to_write_somebody_tries() {
        assert_eq!(next_step(&GONE), Step::Lead);
        assert_eq!(next_step(&Situation { leader: None, ..GONE }), Step::Lead);
        assert_eq!(next_step(&Situation { may_lead: false, ..GONE }), Step::Follow);
    }

    #[test]
    fn after_an_outage_of_the_database_the_leader_comes_back_first() {
        let shaken = Situation { is_steady: false, ..GONE };
        assert_eq!(next_step(&shaken), Step::Follow);
        assert_eq!(next_step(&Situation { leader: STILL.leader, ..shaken }), Step::Lead, "it is gone");
        assert_eq!(next_step(&Situation { leader: None, ..shaken }), Step::Lead, "it has left");
    }

    #[test]
    fn a_leader_that_stands_still_is_replaced_by_who_has_beaten_well() {
        assert_eq!(next_step(&STILL), Step::Replace(7));
        assert_eq!(next_step(&Situation { is_steady: false, ..STILL }), Step::Follow, "all beat first");
        assert_eq!(next_step(&Situation { may_lead: false, ..STILL }), Step::Follow);
    }

    #[test]
    fn a_command_or_a_daemon_without_a_cluster_is_never_ended() {
        assert_eq!(next_step(&Situation { leader: None, ..LED }), Step::Follow);
    }

    #[test]
    fn a_leader_that_cannot_ask_believes_who_can() {
        assert!(gives_up(7, true, Some(8)));
        assert!(!gives_up(7, false, Some(8)), "the database says so itself, or not");
        assert!(!gives_up(7, true, Some(7)) && !gives_up(7, true, Some(6)) && !gives_up(7, true, None));
    }

    #[test]
    fn who_gives_way_leads_only_where_nobody_else_can() {
        assert!(may_lead(true, false, true) && may_lead(true, true, false));
        assert!(!may_lead(true, true, true) && !may_lead(false, false, false));
    }
}
