//! Calls people to the tournaments that they have entered, on whichever page they are, a moment before these begin.

use std::collections::HashSet;
use std::time::Duration;

use super::Director;
use crate::competition::tournament::plans::PlannedTournament;
use crate::model::ids::SessionId;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::play::presence::Sessions;
use crate::protocol::ServerMessage;
use crate::protocol::server::{Notice, NoticeCode};

/// How long before its beginning: enough to finish a sentence, and no later game is given up for it.
pub(super) const SOON: Duration = Duration::from_mins(1);

impl Director {
    /// Tells each page once.
    pub(super) fn call(&mut self, now: UnixMillis) {
        let sessions = &self.deps.sessions;
        for plan in &mut self.plans {
            let left = plan.next.map(|due| due.after(now)).filter(|left| !left.is_zero() && *left <= SOON);
            match left {
                Some(left) => call(plan, left, sessions),
                None => plan.called.clear(),
            }
        }
    }
}

fn call(plan: &mut PlannedTournament, left: Duration, sessions: &Sessions) {
    let notice = Notice {
        text: Some(plan.config.name.clone()),
        tournament: plan.made.as_ref().map(|made| made.id.clone()),
        ..Notice::due(NoticeCode::Tournament, left)
    };
    let people = plan.entered.iter().filter(|who| who.kind != PlayerKind::Bot);
    let mut here: HashSet<SessionId> = HashSet::new();
    for session in people.flat_map(|who| sessions.of(&who.id)) {
        if !plan.called.contains(session.id()) {
            session.tell(ServerMessage::Notice(notice.clone()));
        }
        here.insert(session.id().clone());
    }
    // Sessions that are gone need no place.
    plan.called = here;
}
