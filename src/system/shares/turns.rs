//! Waiting for one's turn where only some fit at a time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use tokio::sync::oneshot;

use super::ShareSettings;
use super::line::{Entered, Line, LineRule};
use super::network::network;

/// The line is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("too many wait already")]
pub(crate) struct Busy;

/// Lets networks take turns; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    hall: Arc<Mutex<Hall>>,
}

#[derive(Debug)]
struct Hall {
    line: Line,
    /// Those who wait, by the number that the line knows them by.
    waiting: HashMap<u64, oneshot::Sender<Turn>>,
    next_number: u64,
}

/// A turn: whoever waits may begin when it is dropped.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub(crate) struct Turn {
    turns: Turns,
    network: IpAddr,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.lock().line.leave(self.network);
        self.turns.call();
    }
}

/// Somebody who waits; going away frees the place.
struct Waiting<'t> {
    turns: &'t Turns,
    network: IpAddr,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut hall = self.turns.lock();
        if hall.waiting.remove(&self.number).is_some() {
            hall.line.give_up(self.network, self.number);
        }
    }
}

impl Turns {
    pub(super) fn new(rule: LineRule, settings: ShareSettings) -> Self {
        let hall = Hall { line: Line::new(rule, settings), waiting: HashMap::new(), next_number: 0 };
        Self { hall: Arc::new(Mutex::new(hall)) }
    }

    /// Waits for a turn of the network that the address belongs to. Whoever goes away while waiting has not waited.
    ///
    /// # Errors
    ///
    /// Too many wait, of this network or in all.
    pub(crate) async fn take(&self, address: IpAddr) -> Result<Turn, Busy> {
        let network = network(address);
        let (number, called) = {
            let mut hall = self.lock();
            let number = hall.next_number;
            hall.next_number += 1;
            match hall.line.enter(network, number) {
                Entered::Begins => return Ok(Turn { turns: self.clone(), network }),
                Entered::Full => return Err(Busy),
                Entered::Waits => {}
                Entered::Displaces(other) => drop(hall.waiting.remove(&other)),
            }
            let (call, called) = oneshot::channel();
            hall.waiting.insert(number, call);
            (number, called)
        };
        let _waiting = Waiting { turns: self, network, number };
        called.await.map_err(|_| Busy)
    }

    /// Calls everybody whose turn it is. Nobody is called under the lock: a turn whose receiver went away ends at once
    /// and takes the lock again.
    fn call(&self) {
        loop {
            let (call, network) = {
                let mut hall = self.lock();
                let Some((network, number)) = hall.line.next() else { return };
                (hall.waiting.remove(&number), network)
            };
            let turn = Turn { turns: self.clone(), network };
            if let Some(call) = call {
                // Who went away in this moment gives the turn back by dropping it.
                drop(call.send(turn));
            }
        }
    }

    /// The lock is held to count and to find who is next.
    fn lock(&self) -> MutexGuard<'_, Hall> {
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: LineRule = LineRule { at_work: 1, at_work_of_network: 1, waiting: 8, waiting_of_network: 4 };

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn turns(rule: LineRule) -> Turns {
        Turns::new(rule, ShareSettings::default())
    }

    /// Begins to wait.
    async fn queue(turns: &Turns, from: IpAddr) -> tokio::task::JoinHandle<Result<Turn, Busy>> {
        let turns = turns.clone();
        let waiting = tokio::spawn(async move { turns.take(from).await });
        tokio::task::yield_now().await;
        waiting
    }

    #[tokio::test]
    async fn a_flood_from_one_address_delays_another_by_one_job() {
        let turns = turns(RULE);
        let first = turns.take(address(1)).await.unwrap();
        let mut flood = Vec::new();
        for _ in 0..4 {
            flood.push(queue(&turns, address(1)).await);
        }
        assert_eq!(turns.take(address(1)).await.unwrap_err(), Busy);
        let other = queue(&turns, address(2)).await;
        drop(first);
        let second = flood.remove(0).await.unwrap().unwrap();
        assert!(!other.is_finished());
        drop(second);
        assert!(other.await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn who_goes_away_while_waiting_frees_the_place() {
        let turns = turns(RULE);
        let first = turns.take(address(1)).await.unwrap();
        for _ in 0..20 {
            let waiting = queue(&turns, address(1)).await;
            waiting.abort();
            assert!(waiting.await.unwrap_err().is_cancelled());
        }
        let last = queue(&turns, address(1)).await;
        drop(first);
        assert!(last.await.unwrap().is_ok());
        assert!(turns.lock().waiting.is_empty());
    }

    #[tokio::test]
    async fn a_turn_that_was_given_to_somebody_who_went_away_goes_on_to_the_next() {
        let turns = turns(RULE);
        let first = turns.take(address(1)).await.unwrap();
        let gone = queue(&turns, address(2)).await;
        let next = queue(&turns, address(3)).await;
        // Called and aborted before it ran again.
        drop(first);
        gone.abort();
        assert!(next.await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn whoever_is_displaced_is_told() {
        let turns = turns(LineRule { waiting: 2, ..RULE });
        let _first = turns.take(address(1)).await.unwrap();
        let _second = queue(&turns, address(1)).await;
        let third = queue(&turns, address(1)).await;
        let other = queue(&turns, address(2)).await;
        assert_eq!(third.await.unwrap().unwrap_err(), Busy);
        assert!(!other.is_finished());
    }
}
