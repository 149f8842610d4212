//! The desk: one node begins all games, so that nobody has two at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rand::seq::SliceRandom;

use super::super::words::{Call, Message};
use super::{Node, Season};
use crate::cluster::places::{Place, Role};
use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerId};
use crate::storage::conformance::spec;
use crate::storage::record::GameSpec;

/// Between two rounds of pairing.
const PAIR_EVERY: Duration = Duration::from_millis(500);

/// After so long a game whose beginning nobody has confirmed is sent again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Polls are numbered through all terms, so that answers to an earlier desk are known as such.
const POLLS_OF_A_TERM: u64 = 1_000_000;

/// Ids that are drawn for a game that should be at one node: with three of them hardly any is drawn in vain.
const DRAWS_MAX: usize = 20;

/// Long enough that nobody runs out of time while nodes are lost and found: a flag that falls is a fault.
const TIME: TimeControl = TimeControl { bank_ms: Some(600_000), increment_ms: 0, move_ms: None };

#[derive(Debug)]
struct Starting {
    spec: GameSpec,
    sent: Option<Instant>,
    /// The owner has answered, and the players are asked of the database from this poll on.
    answered: Option<u64>,
}

#[derive(Debug)]
pub(in crate::cluster::simulation) struct Desk {
    term: u32,
    next: Instant,
    polls: u64,
    /// The last poll that was answered.
    answered: u64,
    /// Players with a game, as the database has said in this term.
    busy: Option<BTreeSet<PlayerId>>,
    starting: BTreeMap<GameId, Starting>,
}

impl Desk {
    fn is_starting(&self, player: &PlayerId) -> bool {
        let mut players = self.starting.values().map(|starting| &starting.spec.players);
        players.any(|players| players.first == *player || players.second == *player)
    }
}

impl Node {
    pub(super) fn run_desk(&mut self, season: Season, now: Instant) {
        let place = Place::of_role(Role::Desk);
        let ours = self.places.tenure(place).filter(|tenure| tenure.owner == self.me);
        let Some(tenure) = ours.filter(|_| !self.leaving.contains(&place)) else {
            self.desk = None;
            return;
        };
        let desk = self.desk.take().filter(|desk| desk.term == tenure.term);
        let mut desk = desk.unwrap_or_else(|| Desk {
            term: tenure.term,
            next: now,
            polls: u64::from(tenure.term) * POLLS_OF_A_TERM,
            answered: u64::from(tenure.term) * POLLS_OF_A_TERM,
            busy: None,
            starting: BTreeMap::new(),
        });
        if now >= desk.next {
            desk.next = now + PAIR_EVERY;
            desk.polls += 1;
            self.call(Call::Seats { poll: desk.polls });
            self.call(Call::Balance);
            if season == Season::Open {
                self.pair(&mut desk);
            }
            self.send_starts(&mut desk, now);
        }
        self.desk = Some(desk);
    }

    /// Gives everybody who is free an opponent.
    fn pair(&mut self, desk: &mut Desk) {
        let Some(busy) = &desk.busy else { return };
        let players = self.roster.players().into_iter();
        let free = players.filter(|player| !busy.contains(*player) && !desk.is_starting(player));
        let mut free: Vec<PlayerId> = free.cloned().collect();
        free.shuffle(&mut self.chance);
        for two in free.chunks_exact(2) {
            let game = self.draw_id(&two[0]);
            let names = [&two[0], &two[1]].map(|id| id.as_str().trim_start_matches("id").to_owned());
            let spec = GameSpec { time: TIME, ..spec(game.as_str(), &names[0], &names[1]) };
            desk.starting.insert(game, Starting { spec, sent: None, answered: None });
        }
    }

    /// An id whose place belongs to a node where this player is, if chance wills it.
    fn draw_id(&mut self, player: &PlayerId) -> GameId {
        let nodes: BTreeSet<_> = self.roster.nodes_of(player).collect();
        let mut id = GameId::random(&mut self.chance);
        for _ in 0..DRAWS_MAX {
            if self.places.owner(Place::of(&id)).is_some_and(|owner| nodes.contains(&owner)) {
                break;
            }
            id = GameId::random(&mut self.chance);
        }
        id
    }

    fn send_starts(&mut self, desk: &mut Desk, now: Instant) {
        for (game, starting) in &mut desk.starting {
            let is_long_ago = |sent: Instant| now.saturating_duration_since(sent) >= START_AGAIN_AFTER;
            let is_due = starting.sent.is_none_or(is_long_ago);
            if starting.answered.is_some() || !is_due {
                continue;
            }
            starting.sent = Some(now);
            if let Some(owner) = self.places.owner(Place::of(game)) {
                let spec = Box::new(starting.spec.clone());
                self.send(owner, Message::Start { spec, desk_term: desk.term }, now);
            }
        }
    }

    pub(super) fn started(&mut self, game: &GameId) {
        let Some(desk) = &mut self.desk else { return };
        let polls = desk.polls;
        if let Some(starting) = desk.starting.get_mut(game) {
            starting.answered.get_or_insert(polls);
        }
    }

    /// The database has said who has a game; what was confirmed before it was asked is among it.
    pub(super) fn seats_known(&mut self, poll: u64, players: BTreeSet<PlayerId>) {
        let Some(desk) = self.desk.as_mut().filter(|desk| poll > desk.answered) else { return };
        desk.answered = poll;
        desk.busy = Some(players);
        desk.starting.retain(|_, starting| starting.answered.is_none_or(|before| before >= poll));
    }
}
