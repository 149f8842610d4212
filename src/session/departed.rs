//! Sessions that have ended, for a while: what a client that comes back too late to resume has not heard yet. And those
//! that the process before has left when it was stopped as planned, whose clients come back to this one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::ids::{GameId, SessionId};
use crate::model::time::UnixMillis;
use crate::storage::left_sessions::LeftSession;

/// Sessions that are remembered, a few hundred bytes each. Of one that is forgotten it is only known when it began.
const DEPARTED_MAX: usize = 4_096;

/// How a session was left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Departure {
    /// The last ends of games that were queued, each with the number of its message.
    pub(super) ends: Vec<(u64, GameId)>,
    /// When it ended: no end of a game was queued after that.
    pub(super) at: UnixMillis,
}

/// Sessions that have ended, the last ones.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    /// A lock, for sessions end in tasks of their own, and openers look in between. It is held for one entry.
    inner: Mutex<DepartedInner>,
    /// Those that the process before has left. No game ended between its end and the beginning of this one.
    left: HashMap<SessionId, LeftSession>,
}

#[derive(Debug, Default)]
struct DepartedInner {
    by_id: HashMap<SessionId, Departure>,
    /// In the order in which they ended.
    order: VecDeque<SessionId>,
}

impl Departed {
    /// None yet, after a process that has left these.
    pub(crate) fn after(left: Vec<LeftSession>) -> Self {
        let left = left.into_iter().map(|left| (left.session.clone(), left)).collect();
        Self { left, ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, DepartedInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers how a session was left.
    pub(super) fn note(&self, session: &SessionId, departure: Departure) {
        let mut inner = self.lock();
        if inner.by_id.insert(session.clone(), departure).is_some() {
            return;
        }
        if inner.order.len() == DEPARTED_MAX
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.by_id.remove(&oldest);
        }
        inner.order.push_back(session.clone());
    }

    /// How a session was left, if it has ended not too long ago.
    pub(super) fn of(&self, session: &SessionId) -> Option<Departure> {
        self.lock().by_id.get(session).cloned()
    }

    /// How a session was left by the process before, after which this one began at that time; `None` if nobody knows
    /// what a client has missed that has heard its messages up to `seen`.
    pub(super) fn left_to_us(
        &self,
        session: &SessionId,
        seen: u64,
        started_at: UnixMillis,
    ) -> Option<Departure> {
        let left = self.left.get(session).filter(|left| left.after <= seen)?;
        Some(Departure { ends: left.ends.clone(), at: started_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_ones_are_remembered() {
        let departed = Departed::default();
        let id = |number: usize| format!("s{number}").parse::<SessionId>().unwrap();
        let left_at = |at: usize| Departure { ends: Vec::new(), at: UnixMillis(i64::try_from(at).unwrap()) };
        for number in 0..=DEPARTED_MAX {
            departed.note(&id(number), left_at(number));
        }
        departed.note(&id(2), left_at(9));
        assert_eq!(departed.of(&id(0)), None);
        assert_eq!(departed.of(&id(1)), Some(left_at(1)));
        assert_eq!(departed.of(&id(2)), Some(left_at(9)), "resumed after a restart, and left again");
        assert_eq!(departed.lock().order.len(), DEPARTED_MAX);
    }

    #[test]
    fn what_the_process_before_has_left_is_known_of_clients_that_heard_enough() {
        let session: SessionId = "s1".parse().unwrap();
        let ends = vec![(8, "g1".parse().unwrap())];
        let left = LeftSession { session: session.clone(), after: 6, ends: ends.clone() };
        let departed = Departed::after(vec![left]);
        let left_to_us = |session: &SessionId, seen| departed.left_to_us(session, seen, UnixMillis(4));
        assert_eq!(left_to_us(&session, 5), None);
        let departure = Departure { ends, at: UnixMillis(4) };
        assert_eq!(left_to_us(&session, 6), Some(departure));
        assert_eq!(left_to_us(&"s2".parse().unwrap(), 6), None);
        assert_eq!(departed.of(&session), None, "it may go on");
    }
}
