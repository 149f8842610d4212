//! The database of all nodes: truth, membership and fences, with the one statement per commit that PostgreSQL would
//! carry out. It also looks on: what it accepts of somebody whose term is over is a fault of the rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use fourfold_engine::{BySide, Side};
use futures::FutureExt;

use super::defect::Defect;
use super::words::{Call, Entry, Outcome, Reply, Stored};
use crate::cluster::Incarnation;
use crate::cluster::membership::Beat;
use crate::cluster::places::{NotTheOwner, Place, Places, Role, Tenure};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::MemoryStore;
use crate::storage::games::GameStore;
use crate::storage::record::{StoredEvent, StoredGame};
use crate::storage::store::Write;

/// A node that has ever joined.
#[derive(Debug)]
struct Row {
    /// The fence: what a node commits that is not alive has no effect.
    is_alive: bool,
    beat: Instant,
    has_session: bool,
    /// The last commit, and what it came to: it may be asked again.
    commits: u64,
    outcomes: Vec<Outcome>,
}

#[derive(Debug)]
pub(super) struct Database {
    pub(super) games: MemoryStore,
    nodes: BTreeMap<Incarnation, Row>,
    places: Places,
    /// Grows with every change among nodes and places.
    version: u64,
    /// Players of games that go on.
    seats: BTreeMap<GameId, BySide<PlayerId>>,
    /// Last events of games that have no number yet, in the order of their commits.
    unsettled: VecDeque<(GameId, Vec<StoredEvent>)>,
    /// Who ever had a place in a term, and the last term in which something of a game was written.
    tenures: BTreeMap<(Place, u32), Incarnation>,
    terms: BTreeMap<GameId, u32>,
    defect: Option<Defect>,
    pub(super) faults: Vec<String>,
    /// Commits that found their node replaced, and takings over.
    pub(super) fenced: u64,
    pub(super) taken_over: u64,
    pub(super) handed_over: u64,
}

/// A question to the store in memory, which never waits.
pub(super) fn at_once<T>(question: impl Future<Output = T>) -> T {
    question.now_or_never().expect("the store in memory answers at once")
}

impl Database {
    pub(super) fn new(defect: Option<Defect>) -> Self {
        Self {
            games: MemoryStore::new(),
            nodes: BTreeMap::new(),
            places: Places::default(),
            version: 0,
            seats: BTreeMap::new(),
            unsettled: VecDeque::new(),
            tenures: BTreeMap::new(),
            terms: BTreeMap::new(),
            defect,
            faults: Vec::new(),
            fenced: 0,
            taken_over: 0,
            handed_over: 0,
        }
    }

    pub(super) fn join(&mut self, now: Instant) -> Incarnation {
        let node = Incarnation(self.nodes.len() as u64 + 1);
        let row = Row { is_alive: true, beat: now, has_session: true, commits: 0, outcomes: Vec::new() };
        self.nodes.insert(node, row);
        self.give_away();
        node
    }

    /// The process has died, and its sessions with it.
    pub(super) fn lose_session(&mut self, node: Incarnation) {
        if let Some(row) = self.nodes.get_mut(&node) {
            row.has_session = false;
        }
    }

    fn living(&self) -> BTreeSet<Incarnation> {
        self.nodes.iter().filter(|(_, row)| row.is_alive).map(|(node, _)| *node).collect()
    }

    fn is_alive(&self, node: Incarnation) -> bool {
        self.nodes.get(&node).is_some_and(|row| row.is_alive)
    }

    /// Whether nothing goes on and nothing waits.
    pub(super) fn is_quiet(&self) -> bool {
        self.seats.is_empty() && self.unsettled.is_empty()
    }

    pub(super) fn live(&self) -> impl Iterator<Item = &GameId> {
        self.seats.keys().chain(self.unsettled.iter().map(|(game, _)| game))
    }

    /// Answers a call, if it is one that has an answer.
    pub(super) fn answer(&mut self, by: Incarnation, call: Call, now: Instant) -> Option<Reply> {
        Some(match call {
            Call::Beat { sent } => return Some(self.beat(by, sent, now)),
            Call::Beats => Reply::Beats(self.beats(now)),
            Call::TakeOver { whom } => {
                self.take_over(by, whom, now);
                self.told_places()
            }
            Call::Places => self.told_places(),
            Call::Balance => {
                let living = self.living();
                if self.is_alive(by) {
                    let before = self.places.clone();
                    self.places.balance(&living);
                    self.version += u64::from(self.places != before);
                }
                return None;
            }
            Call::Open { places } => Reply::Opened { games: self.games_of(&places), places },
            Call::Seat { session, player } => Reply::Seat { session, game: self.seat(&player) },
            Call::Seats { poll } => {
                let players = self.seats.values().flat_map(|two| [two.first.clone(), two.second.clone()]);
                Reply::Seats { poll, players: players.collect() }
            }
            Call::Commit { number, batch } => return self.commit(by, number, &batch),
            Call::Unsettled => {
                Reply::Unsettled(self.unsettled.iter().map(|(game, _)| game.clone()).collect())
            }
            Call::Settled { games } => Reply::Settled(
                games
                    .into_iter()
                    .filter_map(|game| {
                        let settlement = self.game(&game)?.settlement?;
                        Some((game, settlement))
                    })
                    .collect(),
            ),
            Call::Game { session, game } => Reply::Game { session, game: self.game(&game).map(Box::new) },
        })
    }

    fn beat(&mut self, by: Incarnation, sent: Instant, now: Instant) -> Reply {
        match self.nodes.get_mut(&by) {
            Some(row) if row.is_alive => {
                row.beat = now;
                Reply::Beaten { sent }
            }
            _ => Reply::Fenced,
        }
    }

    fn beats(&self, now: Instant) -> Vec<Beat> {
        let living = self.nodes.iter().filter(|(_, row)| row.is_alive);
        let beat = |(node, row): (&Incarnation, &Row)| Beat {
            node: *node,
            age: now.saturating_duration_since(row.beat),
            has_session: row.has_session,
        };
        living.map(beat).collect()
    }

    fn told_places(&self) -> Reply {
        Reply::Places { version: self.version, places: self.places.clone(), living: self.living() }
    }

    /// One transaction: the beat is looked at once more, the dead one's row is marked, its places are given away.
    fn take_over(&mut self, by: Incarnation, whom: Incarnation, now: Instant) {
        let is_over = self.beats(now).iter().any(|beat| beat.node == whom && beat.is_over());
        if !is_over || !self.is_alive(by) {
            return;
        }
        if let Some(row) = self.nodes.get_mut(&whom) {
            row.is_alive = false;
            self.taken_over += 1;
        }
        self.give_away();
    }

    fn give_away(&mut self) {
        self.places.take_over(&self.living());
        let all: Vec<Place> = self.places.tenures().map(|(place, _)| place).collect();
        for place in all {
            self.look_at_tenure(place);
        }
    }

    /// In each term a place has one owner.
    fn look_at_tenure(&mut self, place: Place) {
        self.version += 1;
        let Some(Tenure { owner, term, .. }) = self.places.tenure(place) else { return };
        let first = *self.tenures.entry((place, term)).or_insert(owner);
        if first != owner {
            self.faults.push(format!("I8: {place:?} has {first} and {owner} in term {term}"));
        }
    }

    /// A game with what has no number yet.
    pub(super) fn game(&self, id: &GameId) -> Option<StoredGame> {
        let mut game = at_once(self.games.game(id)).expect("readable games")?;
        if let Some((_, events)) = self.unsettled.iter().find(|(unsettled, _)| unsettled == id) {
            game.events.extend_from_slice(events);
        }
        Some(game)
    }

    fn games_of(&self, places: &[(Place, u32)]) -> Vec<StoredGame> {
        let is_there = |game: &GameId| places.iter().any(|(place, _)| *place == Place::of(game));
        let theirs = self.seats.keys().filter(|game| is_there(game));
        theirs.filter_map(|game| self.game(game)).collect()
    }

    fn seat(&self, player: &PlayerId) -> Option<GameId> {
        let has = |players: &BySide<PlayerId>| players.first == *player || players.second == *player;
        self.seats.iter().find(|(_, players)| has(players)).map(|(game, _)| game.clone())
    }

    /// One statement: all of it, or nothing if the node was replaced. One that comes again comes to the same, one that
    /// comes too late to nothing.
    fn commit(&mut self, by: Incarnation, number: u64, batch: &[Entry]) -> Option<Reply> {
        let row = self.nodes.get(&by)?;
        if !row.is_alive && self.defect != Some(Defect::FenceLeftOut) {
            self.fenced += 1;
            return Some(Reply::Fenced);
        }
        if number == row.commits {
            return Some(Reply::Committed { number, outcomes: row.outcomes.clone() });
        }
        if number < row.commits {
            return None;
        }
        let outcomes: Vec<Outcome> = batch.iter().map(|entry| self.carry_out(by, entry)).collect();
        let row = self.nodes.get_mut(&by)?;
        (row.commits, row.outcomes) = (number, outcomes.clone());
        Some(Reply::Committed { number, outcomes })
    }

    fn carry_out(&mut self, by: Incarnation, entry: &Entry) -> Outcome {
        let done = match &entry.write {
            Stored::Start { spec, desk_term } => {
                let desk = self.places.tenure(Place::of_role(Role::Desk));
                let is_the_desk = desk.is_some_and(|desk| desk.term == *desk_term);
                is_the_desk
                    && self.apply(Write::StartGame((**spec).clone()))
                    && self.seat_players(&spec.id, &spec.players)
            }
            Stored::Append { game, events } => {
                self.goes_on(game) && self.apply(Write::Append { game: game.clone(), events: events.clone() })
            }
            Stored::Finish { game, events } => self.finish(game, events),
            Stored::Settle { game } => self.settle(game),
            Stored::HandOver => return self.hand_over(by, entry.place),
        };
        if !done {
            return Outcome::Refused;
        }
        self.look_at(by, entry);
        Outcome::Done
    }

    fn hand_over(&mut self, by: Incarnation, place: Place) -> Outcome {
        match self.places.hand_over(place, by) {
            Ok(Some(to)) => {
                self.handed_over += 1;
                self.look_at_tenure(place);
                Outcome::GivenTo(to)
            }
            Ok(None) => Outcome::Done,
            Err(NotTheOwner) => Outcome::Refused,
        }
    }

    fn apply(&self, write: Write) -> bool {
        self.games.apply(&[write]).iter().all(Result::is_ok)
    }

    fn goes_on(&self, game: &GameId) -> bool {
        self.seats.contains_key(game)
    }

    fn seat_players(&mut self, game: &GameId, players: &BySide<PlayerId>) -> bool {
        for side in Side::BOTH {
            if let Some(other) = self.seat(&players[side]) {
                self.faults.push(format!("{:?} has {other} and {game} at a time", players[side]));
            }
        }
        self.seats.insert(game.clone(), players.clone());
        true
    }

    fn finish(&mut self, game: &GameId, events: &[StoredEvent]) -> bool {
        let Some(stored) = self.goes_on(game).then(|| self.game(game)).flatten() else { return false };
        let due = stored.events.last().map_or(0, |event| event.seq) + 1;
        if events.first().is_none_or(|event| event.seq != due) {
            return false;
        }
        self.seats.remove(game);
        self.unsettled.push_back((game.clone(), events.to_vec()));
        true
    }

    fn settle(&mut self, game: &GameId) -> bool {
        let Some(place) = self.unsettled.iter().position(|(unsettled, _)| unsettled == game) else {
            return false;
        };
        let events = self.unsettled[place].1.clone();
        let is_done = self.apply(Write::Finish { game: game.clone(), events });
        if !is_done {
            self.faults.push(format!("I4: {game} cannot be settled"));
        }
        if self.defect != Some(Defect::NumberedTwice) {
            self.unsettled.remove(place);
        }
        is_done
    }

    /// Looks at what was accepted: its writer must have the place, and terms of a game never fall.
    fn look_at(&mut self, by: Incarnation, entry: &Entry) {
        let Entry { place, term, write } = entry;
        if self.tenures.get(&(*place, *term)) != Some(&by) || self.places.owner(*place) != Some(by) {
            self.faults
                .push(format!("I8: {write:?} of {by} in term {term} was accepted, the place is another's"));
        }
        if let Stored::Append { game, .. } | Stored::Finish { game, .. } = write {
            let last = self.terms.insert(game.clone(), *term).unwrap_or_default();
            if last > *term {
                self.faults.push(format!("I8: term {term} was written in {game} after term {last}"));
            }
        }
    }
}
