//! What a node is to do, by what it sees in the list of nodes.

use std::time::Duration;

use crate::cluster::distance;
use crate::cluster::succession::{self, Leader, Situation, Step};
use crate::storage::members::{Member, Roll, Standing};

/// What a node sees, as far as it has to do something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct View {
    pub(super) turn: Turn,
    /// Whether another node lives that would lead.
    pub(super) has_heir: bool,
    /// Nodes that live, this one too.
    pub(super) living: usize,
    /// Whether the database cannot be reached, so that all this is as it was last known.
    pub(super) is_cut_off: bool,
}

/// What a node is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Turn {
    /// Go on as it is.
    #[default]
    Stay,
    /// Nobody leads: try to.
    Lead,
    /// Take the lock again that was lost with the database's own life.
    Reclaim,
    /// Leave the lead to another one, as an operator wants, or because that one is nearer to the database.
    MakeWay,
    /// Another process leads, or has its name: it must end.
    Replaced,
}

/// What a node knows of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// Its key in the list.
    pub(super) key: i64,
    pub(super) standing: Standing,
    /// Whether it has reached the database without a break for a while.
    pub(super) is_steady: bool,
    /// After how long the database answers it, if that is known.
    pub(super) answers_after: Option<Duration>,
}

/// What a look came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub(super) view: View,
    /// A leader that must be ended.
    pub(super) replaces: Option<i64>,
    /// Whether the database is far from this node and near to another one that could lead.
    pub(super) is_farther: bool,
}

/// What a node sees in the list, and what it is to do.
pub(super) fn judge(own: &Own, roll: &Roll) -> Seen {
    let me = roll.member(own.key);
    let is_heir = |other: &&Member| other.key != own.key && other.is_able() && !other.is_drained;
    let heirs = || roll.members.iter().filter(is_heir);
    let has_heir = heirs().next().is_some();
    // One of another version may not know the database's form: nobody would lead while the two wait for each other.
    let equals = heirs().filter(|heir| me.is_some_and(|me| me.version == heir.version));
    let nearest = equals.filter_map(|heir| heir.answers_after).min();
    let is_farther = distance::is_farther(own.answers_after, nearest);
    let is_drained = me.is_some_and(|me| me.is_drained);
    let holds = me.is_some_and(|me| me.holds);
    let may_lead = succession::may_lead(holds, is_drained || is_farther, has_heir);
    let (turn, replaces) = match own.standing.writes_as {
        Some(incarnation) => (turn_of_leader(own.standing, incarnation, roll, may_lead), None),
        None => turn_of_follower(own, roll, may_lead),
    };
    let living = roll.members.iter().filter(|member| member.lives).count();
    Seen { view: View { turn, has_heir, living, is_cut_off: false }, replaces, is_farther }
}

fn turn_of_leader(standing: Standing, incarnation: i64, roll: &Roll, may_lead: bool) -> Turn {
    match roll.writer {
        // Its own way to the database says so too, but only when there is something to write.
        writer if standing.serves && writer != Some(incarnation) => Turn::Replaced,
        _ if standing.serves && !roll.is_locked => Turn::Reclaim,
        _ if !may_lead => Turn::MakeWay,
        _ => Turn::Stay,
    }
}

fn turn_of_follower(own: &Own, roll: &Roll, may_lead: bool) -> (Turn, Option<i64>) {
    let step = succession::next_step(&Situation {
        may_lead,
        is_locked: roll.is_locked,
        leader: roll
            .leader()
            .and_then(|leader| Some(Leader { incarnation: leader.standing.writes_as?, lives: leader.lives })),
        is_steady: own.is_steady,
    });
    match step {
        Step::Follow => (Turn::Stay, None),
        Step::Lead => (Turn::Lead, None),
        Step::Replace(incarnation) => (Turn::Stay, Some(incarnation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::members::tests::member;

    const NEAR: Option<Duration> = Some(Duration::from_millis(1));
    const FAR: Option<Duration> = Some(Duration::from_millis(200));
    const LEADS_AS: i64 = 7;

    /// Node 1 leads by a line like this, node 2 stands by.
    fn led(leader: Option<Duration>, other: Option<Duration>) -> Roll {
        let leader = Member { answers_after: leader, ..member(1, Some(LEADS_AS)) };
        let other = Member { answers_after: other, ..member(2, None) };
        Roll { members: vec![leader, other], writer: Some(LEADS_AS), is_locked: true }
    }

    fn seen_by(key: i64, roll: &Roll) -> Seen {
        let Member { standing, answers_after, .. } = roll.member(key).unwrap().clone();
        judge(&Own { key, standing, is_steady: true, answers_after }, roll)
    }

    #[track_caller]
    fn check(key: i64, roll: &Roll, expected: Turn) {
        assert_eq!(seen_by(key, roll).view.turn, expected, "{roll:?}");
    }

    /// The same list with the other node changed.
    fn with_other(mut roll: Roll, change: impl FnOnce(&mut Member)) -> Roll {
        change(&mut roll.members[1]);
        roll
    }

    #[test]
    fn a_leader_that_is_far_from_the_database_makes_way_for_one_that_is_near() {
        check(1, &led(FAR, NEAR), Turn::MakeWay);
        check(2, &led(FAR, NEAR), Turn::Stay);
        assert!(seen_by(1, &led(FAR, NEAR)).is_farther);
        for (leader, other) in [(NEAR, NEAR), (NEAR, FAR), (FAR, FAR), (FAR, None), (None, NEAR)] {
            check(1, &led(leader, other), Turn::Stay);
            assert!(!seen_by(1, &led(leader, other)).is_farther);
        }
    }

    #[test]
    fn it_leads_on_where_nobody_who_is_near_could_lead() {
        let led = || led(FAR, NEAR);
        check(1, &with_other(led(), |other| other.lives = false), Turn::Stay);
        check(1, &with_other(led(), |other| other.holds = false), Turn::Stay);
        check(1, &with_other(led(), |other| other.is_drained = true), Turn::Stay);
        check(1, &with_other(led(), |other| other.version = "of before".to_owned()), Turn::Stay);
    }

    #[test]
    fn where_nobody_leads_the_one_that_is_near_does() {
        let far = Member { answers_after: FAR, ..member(1, None) };
        let near = Member { answers_after: NEAR, ..member(2, None) };
        let roll = Roll { members: vec![far, near], writer: None, is_locked: false };
        check(1, &roll, Turn::Stay);
        check(2, &roll, Turn::Lead);
        check(1, &with_other(roll, |near| near.lives = false), Turn::Lead);
    }

    #[test]
    fn a_leader_goes_on_makes_way_or_ends() {
        let roll = || led(NEAR, NEAR);
        check(1, &roll(), Turn::Stay);
        check(1, &Roll { is_locked: false, ..roll() }, Turn::Reclaim);
        check(1, &Roll { writer: Some(LEADS_AS + 1), ..roll() }, Turn::Replaced);
        let mut drained = roll();
        drained.members[0].is_drained = true;
        check(1, &drained, Turn::MakeWay);
        assert!(!seen_by(1, &drained).is_farther, "it is drained, and says so");
        let seen = seen_by(2, &drained);
        assert_eq!((seen.view.has_heir, seen.view.living, seen.replaces), (false, 2, None));
        let mut silent = roll();
        silent.members[0].lives = false;
        assert_eq!(seen_by(2, &silent).replaces, Some(LEADS_AS));
    }
}
