//! Whose turn it is: duels that wait for their first game.
//!
//! Owners take turns, however many duels each has asked for, and those of one owner begin in the order in which they
//! were asked for. A duel whose bots are away or busy lets others pass and keeps its place.

use std::collections::{HashMap, VecDeque};

use tokio::time::Instant;

use crate::model::ids::{PairId, PlayerId};
use crate::play::host::GameOffer;

/// Duels of one owner that wait: an evening's worth of experiments.
pub(super) const OWNER_MAX: usize = 10;

/// All that wait: each is a few hundred bytes.
const WAITING_MAX: usize = 1_000;

/// A duel that waits.
#[derive(Clone, Debug)]
pub(crate) struct WaitingDuel {
    pub(crate) id: PairId,
    /// Whose bot asked, which is whose turn it takes.
    pub(crate) owner: PlayerId,
    pub(crate) offer: GameOffer,
    /// Since when its bots are not both there, if so.
    alone_since: Option<Instant>,
}

impl WaitingDuel {
    /// Asked for just now.
    pub(crate) fn new(id: PairId, owner: PlayerId, offer: GameOffer) -> Self {
        Self { id, owner, offer, alone_since: None }
    }

    /// Whether both of its bots were there at the last look.
    pub(super) fn is_complete(&self) -> bool {
        self.alone_since.is_none()
    }
}

/// Why a duel cannot wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum QueueFull {
    /// The owner has as many as may wait.
    #[error("{OWNER_MAX} duels of yours wait already, which is as many as may")]
    OfOwner,
    /// So has everybody together.
    #[error("too many duels wait already")]
    OfAll,
}

/// The duels that wait.
#[derive(Debug, Default)]
pub(super) struct DuelQueue {
    waiting: VecDeque<WaitingDuel>,
    /// When each owner's last duel began, as a count of all that began; of those who wait or play.
    served: HashMap<PlayerId, u64>,
    begun: u64,
}

impl DuelQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn add(&mut self, duel: WaitingDuel) -> Result<(), QueueFull> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(QueueFull::OfAll);
        }
        if self.waiting.iter().filter(|other| other.owner == duel.owner).count() >= OWNER_MAX {
            return Err(QueueFull::OfOwner);
        }
        self.waiting.push_back(duel);
        Ok(())
    }

    pub(super) fn get(&self, id: &PairId) -> Option<&WaitingDuel> {
        self.waiting.iter().find(|duel| duel.id == *id)
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &WaitingDuel> {
        self.waiting.iter()
    }

    /// Takes one out, which is given up.
    pub(super) fn remove(&mut self, id: &PairId) -> Option<WaitingDuel> {
        let place = self.waiting.iter().position(|duel| duel.id == *id)?;
        self.waiting.remove(place)
    }

    /// Takes one out, which has begun: the others of its owner wait for another turn.
    pub(super) fn begin(&mut self, id: &PairId) {
        if let Some(duel) = self.remove(id) {
            self.begun += 1;
            self.served.insert(duel.owner, self.begun);
        }
    }

    /// All that wait, in the order in which they begin if nobody else asks: by how many duels their owners have under
    /// way, then by whose turn was longest ago.
    pub(super) fn order(&self, running: &HashMap<PlayerId, usize>) -> Vec<PairId> {
        let mut turns: HashMap<&PlayerId, (usize, u64)> = HashMap::new();
        let mut left: HashMap<&PlayerId, VecDeque<&PairId>> = HashMap::new();
        // Owners in the order of their first duel, so that equals begin in that order.
        let mut owners: Vec<&PlayerId> = Vec::new();
        for duel in &self.waiting {
            left.entry(&duel.owner).or_default().push_back(&duel.id);
            if !owners.contains(&&duel.owner) {
                let under_way = running.get(&duel.owner).copied().unwrap_or_default();
                turns.insert(
                    &duel.owner,
                    (under_way, self.served.get(&duel.owner).copied().unwrap_or_default()),
                );
                owners.push(&duel.owner);
            }
        }
        let mut order = Vec::with_capacity(self.waiting.len());
        let mut begun = self.begun;
        while !owners.is_empty() {
            let Some(next) = owners.iter().copied().min_by_key(|owner| turns[owner]) else { break };
            let duels = left.entry(next).or_default();
            order.extend(duels.pop_front().cloned());
            if duels.is_empty() {
                owners.retain(|owner| *owner != next);
            }
            begun += 1;
            if let Some((under_way, turn)) = turns.get_mut(next) {
                (*under_way, *turn) = (*under_way + 1, begun);
            }
        }
        order
    }

    /// Notes which of them have both bots there, and takes those out that had not for so long.
    pub(super) fn look(
        &mut self,
        is_there: impl Fn(&PlayerId) -> bool,
        now: Instant,
        patience: std::time::Duration,
    ) -> Vec<WaitingDuel> {
        let mut given_up = Vec::new();
        for duel in &mut self.waiting {
            let players = &duel.offer.players;
            if is_there(&players.first.id) && is_there(&players.second.id) {
                duel.alone_since = None;
            } else if now.duration_since(*duel.alone_since.get_or_insert(now)) >= patience {
                given_up.push(duel.clone());
            }
        }
        self.waiting.retain(|duel| given_up.iter().all(|gone| gone.id != duel.id));
        given_up
    }

    /// Forgets whose turn it was of those who neither wait nor play.
    pub(super) fn forget_idle(&mut self, running: &HashMap<PlayerId, usize>) {
        let waiting = &self.waiting;
        self.served.retain(|owner, _| {
            running.contains_key(owner) || waiting.iter().any(|duel| duel.owner == *owner)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fourfold_engine::BySide;

    use super::*;
    use crate::model::clock::TimeControl;
    use crate::model::player::{Identity, PlayerKind};
    use crate::play::host::duel::first_game;
    use crate::storage::record::GamePair;

    fn duel(id: &str, owner: &str) -> WaitingDuel {
        let bot = |name: &str| Identity {
            id: name.parse().unwrap(),
            name: name.parse().unwrap(),
            kind: PlayerKind::Bot,
            owner: None,
        };
        let players = BySide { first: bot(&format!("bot-{owner}")), second: bot("target") };
        let pair = GamePair { id: id.parse().unwrap(), leg: 1, of: 20 };
        let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(100) };
        let (id, owner) = (pair.id.clone(), owner.parse().unwrap());
        WaitingDuel::new(id, owner, first_game(players, time, pair))
    }

    fn queue(duels: &[(&str, &str)]) -> DuelQueue {
        let mut queue = DuelQueue::default();
        for (id, owner) in duels {
            queue.add(duel(id, owner)).unwrap();
        }
        queue
    }

    fn order(queue: &DuelQueue, running: &[(&str, usize)]) -> Vec<String> {
        let running = running.iter().map(|(owner, count)| (owner.parse().unwrap(), *count)).collect();
        queue.order(&running).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn owners_take_turns_however_many_each_has_asked_for() {
        let mut queue = queue(&[("a1", "ada"), ("a2", "ada"), ("a3", "ada"), ("b1", "bob"), ("c1", "cy")]);
        assert_eq!(order(&queue, &[]), ["a1", "b1", "c1", "a2", "a3"]);
        assert_eq!(order(&queue, &[("ada", 1)]), ["b1", "c1", "a1", "a2", "a3"], "she plays already");
        queue.begin(&"a1".parse().unwrap());
        assert_eq!(order(&queue, &[]), ["b1", "c1", "a2", "a3"], "her turn was the last one");
        queue.add(duel("d1", "dee")).unwrap();
        assert_eq!(order(&queue, &[]), ["b1", "c1", "d1", "a2", "a3"]);
        queue.forget_idle(&HashMap::new());
        queue.begin(&"b1".parse().unwrap());
        queue.begin(&"c1".parse().unwrap());
        queue.begin(&"d1".parse().unwrap());
        queue.add(duel("d2", "dee")).unwrap();
        assert_eq!(order(&queue, &[]), ["a2", "d2", "a3"], "whose turn was longest ago, then the others");
    }

    #[test]
    fn nobody_fills_the_queue_alone() {
        let mut queue = DuelQueue::default();
        for number in 0..OWNER_MAX {
            queue.add(duel(&format!("a{number}"), "ada")).unwrap();
        }
        assert_eq!(queue.add(duel("a", "ada")), Err(QueueFull::OfOwner));
        queue.add(duel("b", "bob")).unwrap();
        for number in 0..WAITING_MAX - OWNER_MAX - 1 {
            queue.add(duel(&format!("x{number}"), &format!("owner{number}"))).unwrap();
        }
        assert_eq!(queue.add(duel("late", "late")), Err(QueueFull::OfAll));
    }

    #[tokio::test(start_paused = true)]
    async fn whose_bots_stay_away_is_given_up() {
        let mut queue = queue(&[("a1", "ada"), ("b1", "bob")]);
        let start = Instant::now();
        let patience = Duration::from_mins(10);
        let all_but_ada = |id: &PlayerId| id.to_string() != "bot-ada";
        assert!(queue.look(all_but_ada, start, patience).is_empty());
        assert!(queue.look(|_| true, start + patience, patience).is_empty(), "it came back");
        assert!(queue.look(all_but_ada, start + patience, patience).is_empty());
        let gone = queue.look(all_but_ada, start + 2 * patience, patience);
        assert_eq!(gone.iter().map(|duel| duel.id.to_string()).collect::<Vec<_>>(), ["a1"]);
        assert_eq!(order(&queue, &[]), ["b1"]);
    }
}
